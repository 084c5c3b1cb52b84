package record

import (
	"fmt"
	"slices"
	"strings"
)

// An mpiFunction is a row of the table of wrapped functions.
type mpiFunction struct {
	name, class string
	since       string // version of MPI that brought it
	large       bool   // has a form with large counts, with the suffix _c
	params      []parameter
}

type parameter struct {
	ctype string // with * and []: "const int []"
	name  string
}

// parseFunctions reads the table of wrapped functions.
func parseFunctions(text string) ([]mpiFunction, error) {
	var list []mpiFunction
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, " | ")
		if len(fields) != 5 {
			return nil, fmt.Errorf("functions.txt:%d: %d fields, want 5", number, len(fields))
		}
		f := mpiFunction{name: fields[0], class: fields[1], since: fields[2], large: fields[3] == "large"}
		for _, p := range strings.Split(fields[4], ", ") {
			f.params = append(f.params, parseParameter(p))
		}
		list = append(list, f)
	}
	return list, nil
}

func parseParameter(text string) parameter {
	suffix := ""
	if i := strings.IndexByte(text, '['); i >= 0 {
		text, suffix = text[:i], text[i:]
	}
	i := strings.LastIndexAny(text, " *") + 1
	return parameter{ctype: strings.TrimSpace(text[:i]) + suffix, name: text[i:]}
}

func (p parameter) declaration() string {
	if i := strings.IndexByte(p.ctype, '['); i >= 0 {
		return p.ctype[:i] + " " + p.name + p.ctype[i:]
	}
	if strings.HasSuffix(p.ctype, "*") {
		return p.ctype + p.name
	}
	return p.ctype + " " + p.name
}

// handWritten are the functions that the recorder wraps beside those of the table.
var handWritten = []string{"Init", "Init_thread", "Finalize", "Abort"}

// functionNames are the names of the functions, without MPI_, in the order of their numbers; number 0 is none.
func functionNames(list []mpiFunction) []string {
	names := append([]string{""}, handWritten...)
	for _, f := range list {
		names = append(names, f.name)
	}
	return names
}

// functionNumbers writes the C header with the numbers of the functions.
func functionNumbers(list []mpiFunction) string {
	var b strings.Builder
	b.WriteString("#ifndef SL_FUNCTIONS_H\n#define SL_FUNCTIONS_H\nenum {\n")
	for i, name := range functionNames(list) {
		if i > 0 {
			fmt.Fprintf(&b, "    SL_FN_%s = %d,\n", name, i)
		}
	}
	b.WriteString("};\n#endif\n")
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

func (f mpiFunction) before() string {
	if base, _, ok := collectiveClass(f.class); ok {
		return fmt.Sprintf("BEFORE_%s(SL_FN_%s)", base, f.name)
	}
	return fmt.Sprintf("BEFORE_%s(SL_FN_%s)", f.class, f.name)
}

func (f mpiFunction) after() string {
	if _, after, ok := collectiveClass(f.class); ok {
		return after
	}
	return "AFTER_" + f.class
}

// opaque reports whether nothing but the time of a call is recorded.
func (f mpiFunction) opaque() bool {
	switch f.class {
	case "local", "rma", "io", "irma", "iio", "icomm":
		return true
	}
	return false
}

// wrapperFiles writes the C sources of all wrappers, in several files that can be compiled side by side.
func wrapperFiles(list []mpiFunction) map[string]string {
	const perFile = 30
	files := map[string]string{}
	for i, part := range slices.Collect(slices.Chunk(list, perFile)) {
		files[fmt.Sprintf("wrappers%d.c", i)] = wrappers(part)
	}
	return files
}

// wrappers writes the C source of wrappers.
func wrappers(list []mpiFunction) string {
	var b strings.Builder
	b.WriteString("#include \"calls.h\"\n#include \"fortran.h\"\n#include \"functions.h\"\n" +
		"#pragma GCC optimize (\"O1\") // there are hundreds of them, and they only pass arguments on\n" +
		"#pragma GCC diagnostic ignored \"-Wunused-variable\"\n#pragma GCC diagnostic ignored \"-Wunused-but-set-variable\"\n")
	for _, f := range list {
		if f.since != "3" {
			fmt.Fprintf(&b, "\n#if MPI_VERSION >= %s", f.since)
		}
		f.writeC(&b, "")
		f.writeFortran(&b)
		if f.since != "3" {
			b.WriteString("#endif\n")
		}
		if f.large {
			b.WriteString("\n#if MPI_VERSION >= 4")
			f.withLargeCounts().writeC(&b, "_c")
			b.WriteString("#endif\n")
		}
	}
	return b.String()
}

// withLargeCounts is the form of a function with counts of type MPI_Count.
func (f mpiFunction) withLargeCounts() mpiFunction {
	params := make([]parameter, len(f.params))
	for i, p := range f.params {
		count := strings.Contains(p.name, "count")
		switch {
		case p.ctype == "int" && count:
			p.ctype = "MPI_Count"
		case p.ctype == "const int[]" && count:
			p.ctype = "const MPI_Count[]"
		case p.ctype == "const int[]" && strings.Contains(p.name, "displs"):
			p.ctype = "const MPI_Aint[]"
		}
		params[i] = p
	}
	f.params = params
	return f
}

// writeC writes the wrapper of the C binding.
func (f mpiFunction) writeC(b *strings.Builder, suffix string) {
	var params, args []string
	for _, p := range f.params {
		params = append(params, p.declaration())
		args = append(args, p.name)
	}
	call := fmt.Sprintf("PMPI_%s%s(%s)", f.name, suffix, strings.Join(args, ", "))
	fmt.Fprintf(b, "\nSL_EXPORT int MPI_%s%s(%s) {\n", f.name, suffix, strings.Join(params, ", "))
	fmt.Fprintf(b, "    struct sl_thread *t = sl_enter();\n    if (t == NULL) return %s;\n", call)
	b.WriteString("    struct sl_frame frame = SL_CALLER;\n    enum { first_index = 0 };\n    uint64_t enter = sl_now();\n")
	f.writeComms(b)
	if !f.opaque() {
		for _, p := range f.params {
			switch p.ctype {
			case "MPI_Status *":
				fmt.Fprintf(b, "    MPI_Status own_status;\n    if (%s == MPI_STATUS_IGNORE) %s = &own_status;\n", p.name, p.name)
			case "MPI_Status[]":
				fmt.Fprintf(b, "    if (%s == MPI_STATUSES_IGNORE) %s = sl_room_for_statuses(t, %s);\n", p.name, p.name, f.count())
			}
		}
	}
	fmt.Fprintf(b, "    %s\n    int result = %s;\n    uint64_t leave = sl_now();\n    %s\n    return result;\n}\n", f.before(), call, f.after())
}

// writeComms gives the communicators of a call that makes one the names that the macros use.
func (f mpiFunction) writeComms(b *strings.Builder) {
	if f.class != "newcomm" && f.class != "newcomm_group" {
		return
	}
	for _, p := range f.params {
		if p.ctype == "MPI_Comm" {
			fmt.Fprintf(b, "    MPI_Comm parent_comm = %s;\n", p.name)
			break
		}
	}
	fmt.Fprintf(b, "    MPI_Comm *new_comm = %s;\n", f.params[len(f.params)-1].name)
}

// count is the expression for the number of requests of a call.
func (f mpiFunction) count() string {
	if f.params[0].name == "incount" {
		return "incount"
	}
	return "count"
}
