package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"slackline/observe/mpi"
)

// An mpiFunction is a function that is wrapped.
type mpiFunction struct {
	mpi.Function
	early bool // as an extension of an MPI of before the standard that brought it, MPIX_...
}

// prefix is what the name of the function begins with.
func (f mpiFunction) prefix() string {
	if f.early {
		return "MPIX_"
	}
	return "MPI_"
}

// handWritten are the functions that the recorder wraps beside those of the table.
var handWritten = []string{"Init", "Init_thread", "Finalize", "Abort", "Session_init", "Session_finalize"}

// functionNames are the names of the functions, without MPI_, in the order of their numbers; number 0 is none.
func functionNames(list []mpi.Function) []string {
	names := append([]string{""}, handWritten...)
	for _, f := range list {
		names = append(names, f.Name)
		if f.Large {
			names = append(names, f.Name+"_c")
		}
	}
	return names
}

// functionNumbers writes the C header with the numbers and names of the functions.
func functionNumbers(list []mpi.Function) string {
	var b strings.Builder
	b.WriteString("#ifndef SL_FUNCTIONS_H\n#define SL_FUNCTIONS_H\nenum {\n")
	for i, name := range functionNames(list) {
		if i > 0 {
			fmt.Fprintf(&b, "    SL_FN_%s = %d,\n", name, i)
		}
	}
	fmt.Fprintf(&b, "};\n#define SL_FN_NAMES \"%s\"\n#endif\n", strings.Join(functionNames(list)[1:], "\", \""))
	return b.String()
}

// collectiveClass returns the collective that a class belongs to, and what follows it: a blocking one, one that is
// issued, or one that is prepared for MPI_Start.
func collectiveClass(class string) (base, after string, ok bool) {
	if _, ok := collectiveOps[class]; ok {
		return class, "AFTER_collective", true
	}
	if base, ok := strings.CutPrefix(class, "i"); ok {
		if _, ok := collectiveOps[base]; ok {
			return base, "AFTER_icollective", true
		}
	}
	if base, ok := strings.CutSuffix(class, "_init"); ok {
		if _, ok := collectiveOps[base]; ok {
			return base, "AFTER_collective_init", true
		}
	}
	return "", "", false
}

// class is what the macros of the recorder call the function: calls on windows and files are told apart more finely than in the table.
func (f mpiFunction) class() string {
	_, onFile, _ := fileCallOf(f.Name)
	return cmp.Or(onFile, windowCalls[strings.TrimSuffix(f.Name, "_c")].class, f.Class)
}

// needsStatus reports whether the status of a call is looked at.
func (f mpiFunction) needsStatus() bool {
	_, _, onFile := fileCallOf(f.Name)
	return !f.opaque() && !onFile
}

func (f mpiFunction) before(suffix string) string {
	class := f.class()
	if base, _, ok := collectiveClass(f.Class); ok {
		class = base
	}
	return fmt.Sprintf("BEFORE_%s(SL_FN_%s%s)", class, f.Name, suffix)
}

func (f mpiFunction) after() string {
	if _, after, ok := collectiveClass(f.Class); ok {
		return after
	}
	return "AFTER_" + f.class()
}

// opaque reports whether nothing but the time of a call is recorded.
func (f mpiFunction) opaque() bool {
	switch f.class() {
	case "local", "rma", "io", "iio":
		return true
	}
	return false
}

// wrapperFiles writes the C sources of all wrappers.
func wrapperFiles(list []mpi.Function) map[string]string {
	const perFile = 30
	const head = "#include \"calls.h\"\n#include \"fortran.h\"\n#include \"functions.h\"\n#include \"stack.h\"\n" +
		"#pragma GCC optimize (\"O1\") // there are hundreds of them, and they only pass arguments on\n" +
		"#pragma GCC diagnostic ignored \"-Wunused-variable\"\n#pragma GCC diagnostic ignored \"-Wunused-but-set-variable\"\n"
	files := mpi.WrapperFiles(list, perFile, head,
		func(b *strings.Builder, f mpi.Function, _ int, suffix string) {
			mpiFunction{Function: f}.writeC(b, suffix)
		},
		func(b *strings.Builder, f mpi.Function, _ int) { mpiFunction{Function: f}.writeFortran(b) })
	early := mpi.WrapperFiles(earlyFunctions(list), perFile, head+"#if defined(OPEN_MPI) && MPI_VERSION < 4\n",
		func(b *strings.Builder, f mpi.Function, _ int, suffix string) {
			params, _ := f.CParams()
			fmt.Fprintf(b, "\nint PMPIX_%s(%s) __attribute__((weak));", f.Name, params)
			mpiFunction{f, true}.writeC(b, suffix)
		},
		func(b *strings.Builder, f mpi.Function, _ int) { mpiFunction{f, true}.writeFortran(b) })
	for name, text := range early {
		files["early_"+name] = text + "#endif\n"
	}
	return files
}

// earlyFunctions are the persistent collectives of MPI 4, which Open MPI 4.1 has as extensions.
func earlyFunctions(list []mpi.Function) (early []mpi.Function) {
	for _, f := range list {
		if _, after, ok := collectiveClass(f.Class); ok && after == "AFTER_collective_init" {
			f.Since, f.Large = "3", false
			early = append(early, f)
		}
	}
	return early
}

// writeC writes the wrapper of the C binding.
func (f mpiFunction) writeC(b *strings.Builder, suffix string) {
	params, args := f.CParams()
	call := fmt.Sprintf("real(%s)", args)
	fmt.Fprintf(b, "\nSL_EXPORT int %s%s%s(%s) {\n", f.prefix(), f.Name, suffix, params)
	fmt.Fprintf(b, "    SL_REAL(%s%s%s);\n    struct sl_thread *t = sl_enter();\n    if (t == NULL) return %s;\n",
		f.prefix(), f.Name, suffix, call)
	b.WriteString("    struct sl_frame frame = SL_CALLER;\n    enum { first_index = 0 };\n")
	f.writeComms(b, false)
	if f.class() == "file_open" {
		b.WriteString("    size_t filename_length = strlen(filename);\n")
	}
	if f.needsStatus() {
		for _, p := range f.Params {
			switch p.CType {
			case "MPI_Status *":
				fmt.Fprintf(b, "    MPI_Status own_status;\n    if (%s == MPI_STATUS_IGNORE) %s = &own_status;\n", p.Name, p.Name)
			case "MPI_Status[]":
				fmt.Fprintf(b, "    if (%s == MPI_STATUSES_IGNORE) %s = sl_room_for_statuses(t, %s);\n", p.Name, p.Name, f.Requests())
			}
		}
	}
	fmt.Fprintf(b, "    %s\n    r = sl_entered(t, r);\n    int result = %s;\n    uint64_t leave = sl_now();\n    %s\n    return result;\n}\n",
		f.before(suffix), call, f.after())
}

// writeComms gives the communicators of a call that makes one the names that the macros use, and says how it comes about.
func (f mpiFunction) writeComms(b *strings.Builder, fortran bool) {
	if f.Class == "icomm" {
		prefix := map[bool]string{true: "f_"}[fortran]
		fmt.Fprintf(b, "    const void *made_comm = %snewcomm;\n    const bool made_fortran = %v;\n", prefix, fortran)
		fmt.Fprintf(b, "    const struct sl_birth birth = %s;\n", f.birth())
		return
	}
	if !slices.Contains([]string{"newcomm", "newcomm_group", "spawn", "join"}, f.Class) {
		return
	}
	for _, p := range f.Params {
		switch {
		case (p.Name == "stringtag" || p.Name == "port_name") && !fortran: // those of Fortran have a length
			fmt.Fprintf(b, "    size_t %s_length = %s == NULL ? 0 : strlen(%s);\n", p.Name, p.Name, p.Name)
		case p.CType == "MPI_Comm *":
			fmt.Fprintf(b, "    MPI_Comm *new_comm = %s;\n", p.Name)
		}
	}
	if parent := f.parent(); parent != "" {
		fmt.Fprintf(b, "    MPI_Comm parent_comm = %s;\n", parent)
	}
	fmt.Fprintf(b, "    struct sl_birth birth = %s;\n", f.birth())
}

// parent is the communicator that a call makes another one of, "" if there is none.
func (f mpiFunction) parent() string {
	for _, p := range f.Params {
		if p.CType == "MPI_Comm" {
			return p.Name
		}
	}
	return ""
}

// birth is how a communicator comes about, in C.
func (f mpiFunction) birth() string {
	switch {
	case f.Name == "Comm_create_group":
		return "sl_birth_of_group(t, comm, tag)"
	case f.Name == "Intercomm_create":
		return "sl_birth_of_leaders(t, local_comm, local_leader, peer_comm, remote_leader, tag)"
	case f.Class == "newcomm_group":
		return "sl_birth_of_name(stringtag, stringtag_length)"
	case f.Class == "join":
		return "{.how = SL_FROM_CONNECTION, .parent = UINT32_MAX, .tag = SL_BY_JOIN}"
	case f.Class == "spawn" && strings.Contains(f.Name, "spawn"):
		return "sl_birth_of_spawn(t, parent_comm, root)"
	case f.Class == "spawn":
		by := map[string]string{"Comm_accept": "SL_BY_ACCEPT", "Comm_connect": "SL_BY_CONNECT"}[f.Name]
		return "sl_birth_of_port(t, " + by + ", parent_comm, root, port_name, port_name_length)"
	}
	return "sl_birth_on(t, " + f.parent() + ", SL_FROM_PARENT)"
}
