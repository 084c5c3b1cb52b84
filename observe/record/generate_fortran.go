package record

import (
	"fmt"
	"strings"
)

// Fortran passes everything by reference, handles as integers, the lengths of texts after all arguments, and the
// result in a last argument. Three families of names lead to the same wrapper: those of mpif.h and of the module mpi
// (mpi_send_), those that most of Open MPI's module mpi_f08 calls (ompi_send_f), and those of the module mpi_f08 itself
// for calls without buffers (mpi_wait_f08_), which in MPICH, and for some calls in Open MPI, reach no other wrapper. Open MPI's module mpi
// has names of its own for the calls that make memory (mpi_win_allocate_cptr_).

func (f mpiFunction) writeFortran(b *strings.Builder) {
	list, call := f.FortranParams()
	lower := strings.ToLower(f.prefix() + f.Name)
	upper := strings.ToUpper(f.prefix() + f.Name)

	fmt.Fprintf(b, "\ntypedef void %s_t(%s);\nvoid p%s_(%s) __attribute__((weak));\n", lower, list, lower, list)
	fmt.Fprintf(b, "static __attribute__((noinline)) void %s_real(%s_t *real, struct sl_frame frame, %s) {\n", lower, lower, list)
	fmt.Fprintf(b, "    struct sl_thread *t = sl_enter();\n    if (t == NULL) {\n        real(%s);\n        return;\n    }\n", call)
	b.WriteString("    MPI_Fint own_error = 0;\n    if (ierror == NULL) ierror = &own_error;\n")
	f.writeConversions(b)
	fmt.Fprintf(b, "    %s\n    r = sl_entered(t, r);\n    real(%s);\n    uint64_t leave = sl_now();\n    int result = *ierror;\n",
		f.before(""), call)
	f.writeResults(b)
	fmt.Fprintf(b, "    %s\n}\n", f.after())
	real := fmt.Sprintf("SL_REAL_FORTRAN(%s_t, %s_)", lower, lower)
	fmt.Fprintf(b, "SL_EXPORT void %s_(%s) { %s_real(%s, SL_CALLER, %s); }\n", lower, list, lower, real, call)
	for _, other := range []string{lower + "__", lower, upper} {
		fmt.Fprintf(b, "SL_ALIAS(%s_, %s)\n", lower, other)
	}
	fmt.Fprintf(b, "#ifdef OPEN_MPI\nSL_EXPORT void o%s_f(%s) { %s_real(%s, SL_CALLER, %s); }\n#endif\n", lower, list, lower, real, call)
	names := []string{lower + "_f08_"}
	switch {
	case f.Name == "Buffer_detach": // the buffer is a type(c_ptr) in mpi_f08; Open MPI has a name of its own for it
		names = append(names, lower+"_f08_large_", "o"+lower+"_f08")
	case f.Buffered():
		return
	case f.Large: // what makes memory: the large form takes the same handles
		names = append(names, lower+"_f08_large_", lower+"_cptr_")
	}
	for _, name := range names {
		fmt.Fprintf(b, "SL_EXPORT void %s(%s) {\n    static %s_t *real;\n", name, list, lower)
		fmt.Fprintf(b, "    if (real == NULL) real = (%s_t *)dlsym(RTLD_NEXT, \"%s\");\n    %s_real(real, SL_CALLER, %s);\n}\n",
			lower, name, lower, call)
	}
}

// requestIn lists the classes that take a request; the others make one.
var requestIn = map[string]bool{"wait": true, "test": true, "start": true, "cancel": true, "request_free": true}

// freedBy are the classes that free what a pointer to a handle leads to; the others make it.
var freedBy = map[string]string{"MPI_File *": "file_close", "MPI_Win *": "win_free", "MPI_Comm *": "comm_free"}

// writeConversions makes C values of the arguments, for the macros.
func (f mpiFunction) writeConversions(b *strings.Builder) {
	if f.opaque() {
		return
	}
	line := func(format string, args ...any) { fmt.Fprintf(b, "    "+format+"\n", args...) }
	for _, p := range f.Params {
		n := p.Name
		switch p.CType {
		case "const void *", "void *":
			line("void *%s = f_%s;", n, n)
		case "int", "MPI_Aint", "MPI_Offset", "MPI_Count":
			line("%s %s = *f_%s;", p.CType, n, n)
		case "MPI_Datatype":
			line("MPI_Datatype %s = PMPI_Type_f2c(*f_%s);", n, n)
		case "MPI_Comm", "MPI_Group", "MPI_Win", "MPI_File", "MPI_Op", "MPI_Request":
			line("%s %s = P%s_f2c(*f_%s);", p.CType, n, p.CType, n)
		case "const int[]", "int[]", "int *":
			line("int *%s = (int *)f_%s;", n, n)
		case "MPI_Request *":
			line("MPI_Request c_request = MPI_REQUEST_NULL, *request = &c_request;")
			if requestIn[f.Class] {
				line("c_request = PMPI_Request_f2c(*f_request);")
			}
		case "MPI_Request[]":
			line("MPI_Request *%s = sl_convert_requests(t, %s, f_%s);", n, f.Requests(), n)
		case "MPI_Status *":
			if !f.needsStatus() {
				break
			}
			line("MPI_Fint own_status[SL_STATUS_INTS];")
			line("if (sl_ignored(f_%s)) f_%s = own_status;", n, n)
		case "MPI_Status[]":
			line("if (sl_all_ignored(f_%s)) f_%s = sl_room_for_fortran(t, %s * SL_STATUS_INTS);", n, n, f.Requests())
		case "MPI_Message *":
			line("MPI_Message c_message = MPI_MESSAGE_NULL, *message = &c_message;")
			if strings.HasSuffix(f.Class, "mrecv") {
				line("c_message = PMPI_Message_f2c(*f_message);")
			}
		case "const char *":
			line("const char *%s = f_%s;\n    size_t %s_length = sl_trimmed(f_%s, length0);", n, n, n, n)
		case "MPI_File *", "MPI_Win *", "MPI_Comm *":
			handle := strings.TrimSuffix(p.CType, " *")
			line("%s c_%s = %s_NULL, *%s = &c_%s;", handle, n, strings.ToUpper(handle), n, n)
			if f.class() == freedBy[p.CType] {
				line("c_%s = P%s_f2c(*f_%s);", n, handle, n)
			}
		}
	}
	f.writeTypes(b)
	f.writeComms(b, true)
}

// writeTypes converts the arrays of types of MPI_Alltoallw and its relatives, whose length the communicator tells.
func (f mpiFunction) writeTypes(b *strings.Builder) {
	neighbor := strings.Contains(f.Class, "neighbor")
	for _, p := range f.Params {
		if p.CType != "const MPI_Datatype[]" {
			continue
		}
		number := "sl_comm(t, comm)->peers"
		ignored := "false"
		if p.Name == "sendtypes" {
			ignored = "sl_in_place(sendbuf)"
		}
		if neighbor {
			number = map[string]string{"sendtypes": "sl_comm(t, comm)->targets", "recvtypes": "sl_comm(t, comm)->sources"}[p.Name]
		}
		fmt.Fprintf(b, "    int n_%s = %s ? 0 : %s;\n    MPI_Datatype %s[n_%s + 1];\n", p.Name, ignored, number, p.Name, p.Name)
		fmt.Fprintf(b, "    for (int i = 0; i < n_%s; i++) %s[i] = PMPI_Type_f2c(f_%s[i]);\n", p.Name, p.Name, p.Name)
	}
}

// writeResults makes C values of what the call has filled in.
func (f mpiFunction) writeResults(b *strings.Builder) {
	if f.opaque() {
		return
	}
	line := func(format string, args ...any) { fmt.Fprintf(b, "    "+format+"\n", args...) }
	switch {
	case strings.HasSuffix(f.Class, "any"):
		line("int first_index = sl_first_index(f_array_of_requests, before, count, *index != MPI_UNDEFINED, index);")
	case strings.HasSuffix(f.Class, "some"):
		line("int first_index = sl_first_index(f_array_of_requests, before, count, " +
			"*outcount == MPI_UNDEFINED ? 0 : *outcount, array_of_indices);")
	}
	for _, p := range f.Params {
		n := p.Name
		switch {
		case p.CType == "MPI_Request *" && (!requestIn[f.Class] || f.Class == "start"):
			line("c_request = PMPI_Request_f2c(*f_request);")
		case p.CType == "MPI_Status *" && f.needsStatus():
			line("MPI_Status c_status, *status = &c_status;")
			line("PMPI_Status_f2c(f_%s, status);", n)
		case p.CType == "MPI_Status[]":
			filled := f.Requests()
			if strings.HasSuffix(f.Class, "some") {
				filled = "*outcount == MPI_UNDEFINED ? 0 : *outcount"
			}
			line("MPI_Status *%s = sl_convert_statuses(t, %s, f_%s);", n, filled, n)
		case f.Class == "startall" && p.CType == "MPI_Request[]":
			line("for (int i = 0; i < count; i++) %s[i] = sl_request_moved(before[i], PMPI_Request_f2c(f_%s[i]));", n, n)
		case p.CType == "MPI_Message *" && !strings.HasSuffix(f.Class, "mrecv"):
			line("c_message = PMPI_Message_f2c(*f_message);")
		case freedBy[p.CType] != "" && f.class() != freedBy[p.CType] && f.Class != "icomm":
			line("c_%s = P%s_f2c(*f_%s);", n, strings.TrimSuffix(p.CType, " *"), n)
		}
	}
}
