package inject

import (
	"fmt"
	"strings"
)

// MPICH's mpif.h and module mpi call the functions of C, and so does its module mpi_f08 for calls with buffers: the C
// wrappers see them. Open MPI's bindings call MPI's inner functions, so that they need wrappers of their own, and so do
// calls of mpi_f08 without buffers in both. These make C arguments of Fortran's and call the C wrapper.

func (w wrapper) writeFortran(b *strings.Builder) {
	list, call := w.FortranParams()
	lower, upper := "mpi_"+strings.ToLower(w.Name), "MPI_"+strings.ToUpper(w.Name)
	if w.Buffered() {
		b.WriteString("#ifdef OPEN_MPI\n")
		defer b.WriteString("#endif\n")
	}
	fmt.Fprintf(b, "typedef void %s_t(%s);\nvoid p%s_(%s) __attribute__((weak));\n", lower, list, lower, list)
	fmt.Fprintf(b, "static void %s_inj(%s_t *real, int first_index, %s) {\n    (void)first_index;\n", lower, lower, list)
	b.WriteString("    MPI_Fint own_error = 0;\n    if (ierror == NULL) ierror = &own_error;\n")
	fmt.Fprintf(b, "    if (!atomic_load_explicit(&inj_active, memory_order_relaxed)) {\n        real(%s);\n        return;\n    }\n", call)
	switch w.treatment {
	case message, replace, persistent:
		w.writeConverted(b)
	case oneSided:
		w.writeFortranOneSided(b, call)
	default:
		w.writePassedOn(b, call)
	}
	b.WriteString("}\n#ifdef OPEN_MPI\n")
	fmt.Fprintf(b, "INJ_EXPORT void %s_(%s) { %s_inj(p%s_, 1, %s); }\nSL_FORTRAN_NAMES(%s, %s)\n", lower, list, lower, lower, call, lower,
		upper)
	fmt.Fprintf(b, "INJ_EXPORT void o%s_f(%s) { %s_inj(p%s_, 1, %s); }\n#endif\n", lower, list, lower, lower, call)
	if w.Buffered() {
		return
	}
	names := []string{"_f08_"}
	if w.Large { // what makes memory: the large form takes the same handles
		names = append(names, "_f08_large_", "_cptr_")
	}
	for _, suffix := range names {
		fmt.Fprintf(b, "INJ_EXPORT void %s%s(%s) {\n    static %s_t *real;\n", lower, suffix, list, lower)
		fmt.Fprintf(b, "    if (real == NULL) real = (%s_t *)dlsym(RTLD_NEXT, \"%s%s\");\n    %s_inj(real, %s, %s);\n}\n", lower, lower, suffix,
			lower, w.firstIndex(), call)
	}
}

// writeFortranOneSided is writeOneSided around the real function of Fortran.
func (w wrapper) writeFortranOneSided(b *strings.Builder, call string) {
	values, results := w.fortranValues()
	b.WriteString(values)
	real := fmt.Sprintf("real(%s);", call)
	if w.Name == "Win_test" {
		real = fmt.Sprintf("if (there) %s\n    else *f_flag = 0, *ierror = MPI_SUCCESS;", real)
	}
	w.writeOneSided(b, real, "*ierror", results)
}

// firstIndex is the number of the first element in the indices that mpi_f08 gives.
func (w wrapper) firstIndex() string {
	switch {
	case strings.HasSuffix(w.Class, "any"):
		return "inj_first_index_any()"
	case strings.HasSuffix(w.Class, "some"):
		return "inj_first_index_some()"
	}
	return "1"
}

// writePassedOn calls the real function.
func (w wrapper) writePassedOn(b *strings.Builder, call string) {
	if w.treatment == freeOp {
		b.WriteString("    if (inj_op_needed(PMPI_Op_f2c(*f_op))) {\n        *f_op = PMPI_Op_c2f(MPI_OP_NULL);\n        *ierror = " +
			"MPI_SUCCESS;\n        return;\n    }\n")
	}
	w.writeBefore(b)
	fmt.Fprintf(b, "    real(%s);\n", call)
	if w.made() != "" {
		handle := func(kind, name string) string {
			if kind == "" {
				return "*f_" + name
			}
			return fmt.Sprintf("PMPI_%s_f2c(*f_%s)", kind, name)
		}
		fmt.Fprintf(b, "    %sif (*ierror == MPI_SUCCESS) %s;\n", w.writeAfter(b), w.afterwards(handle))
	}
}

// blocks is the number of blocks that a collective with a type for each of them sends or receives.
func (w wrapper) blocks(sends bool) string {
	switch {
	case strings.Contains(w.Class, "neighbor_"):
		return fmt.Sprintf("inj_neighbors(comm, %t)", sends)
	case sends:
		return "inj_blocks(comm, sendbuf == MPI_IN_PLACE)"
	}
	return "inj_blocks(comm, false)"
}

// requestIn lists the classes that take a request; the others make one.
var requestIn = map[string]bool{"wait": true, "test": true, "start": true, "request_free": true}

// writeConverted calls the C wrapper with arguments made of Fortran's, and hands back what it gave.
func (w wrapper) writeConverted(b *strings.Builder) {
	var before, late, after, args []string
	add := func(list *[]string, format string, a ...any) {
		*list = append(*list, fmt.Sprintf("    "+format+"\n", a...))
	}
	for _, p := range w.Params {
		n := p.Name
		arg := n
		switch p.CType {
		case "const void *", "void *":
			add(&before, "void *%s = sl_c_buffer(f_%s);", n, n)
		case "int":
			add(&before, "int %s = *f_%s;", n, n)
		case "MPI_Datatype":
			add(&before, "MPI_Datatype %s = PMPI_Type_f2c(*f_%s);", n, n)
		case "MPI_Comm", "MPI_Info", "MPI_Op", "MPI_Request":
			add(&before, "%s %s = P%s_f2c(*f_%s);", p.CType, n, p.CType, n)
		case "const MPI_Aint[]":
			add(&before, "MPI_Aint *%s = (MPI_Aint *)f_%s;", n, n)
		case "const int[]", "int[]":
			add(&before, "int *%s = (int *)f_%s;", n, n)
		case "int *":
			add(&before, "int c_%s = 0, *%s = &c_%s;", n, n, n)
			if n == "index" {
				add(&after, "*f_index = c_index == MPI_UNDEFINED ? MPI_UNDEFINED : c_index + first_index;")
			} else {
				add(&after, "*f_%s = c_%s;", n, n)
			}
		case "MPI_Request *":
			add(&before, "MPI_Request c_request = MPI_REQUEST_NULL, *request = &c_request;")
			if requestIn[w.Class] {
				add(&before, "c_request = PMPI_Request_f2c(*f_request);")
			}
			add(&after, "*f_request = PMPI_Request_c2f(c_request);")
		case "MPI_Request[]":
			add(&before, "MPI_Request *%s = inj_requests_in(%s, f_%s);", n, w.Requests(), n)
			add(&after, "inj_requests_out(%s, %s, f_%s);", w.Requests(), n, n)
		case "MPI_Message *":
			add(&before, "MPI_Message c_message = PMPI_Message_f2c(*f_message), *message = &c_message;")
			add(&after, "*f_message = PMPI_Message_c2f(c_message);")
		case "MPI_Status *":
			add(&before, "MPI_Status c_status, *status = &c_status;\n    memset(status, 0, sizeof c_status);\n    if (!sl_ignored(f_status)) "+
				"PMPI_Status_f2c(f_status, status);")
			add(&after, "if (!sl_ignored(f_status)) PMPI_Status_c2f(status, f_status);")
		case "MPI_Status[]":
			add(&before, "MPI_Status *%s = inj_statuses_in(%s, f_%s);", n, w.Requests(), n)
			add(&after, "inj_statuses_out(%s, %s, f_%s);", w.Requests(), n, n)
		case "const MPI_Datatype[]":
			add(&late, "MPI_Datatype *%s = inj_types_in(%s, f_%s);", n, w.blocks(n == "sendtypes"), n)
			add(&after, "free(%s);", n)
		}
		args = append(args, arg)
	}
	if strings.HasSuffix(w.Class, "some") {
		add(&after, "for (int i = 0; c_outcount != MPI_UNDEFINED && i < c_outcount; i++) array_of_indices[i] += first_index;")
	}
	for _, part := range [][]string{before, late} {
		b.WriteString(strings.Join(part, ""))
	}
	fmt.Fprintf(b, "    *ierror = MPI_%s(%s);\n%s", w.Name, strings.Join(args, ", "), strings.Join(after, ""))
}
