package inject

import (
	"fmt"
	"strings"

	"slackline/observe/mpi"
)

type parameter = mpi.Parameter

// collectiveParams are the parameters of a persistent collective that its starts need: without the info and the request.
func (w wrapper) collectiveParams() []parameter { return w.Params[:len(w.Params)-2] }

// significant is the condition under which a parameter has a meaning on this rank.
func (w wrapper) significant(p parameter) string {
	sends := strings.HasPrefix(p.Name, "send") || p.Name == "sdispls" || p.Name == "displs" && strings.HasPrefix(w.Class, "scatterv")
	rooted := strings.HasPrefix(w.Class, "gather") || strings.HasPrefix(w.Class, "scatter")
	inPlace := !strings.Contains(w.Class, "neighbor")
	switch {
	case strings.Contains(p.Name, "datatype"):
		return "true"
	case rooted && sends == strings.HasPrefix(w.Class, "scatter"):
		return "root == s->rank"
	case rooted && !sends:
		return "recvbuf != MPI_IN_PLACE"
	case sends && inPlace:
		return "sendbuf != MPI_IN_PLACE"
	}
	return "true"
}

// elements is the number of elements of an array parameter on this rank.
func (w wrapper) elements(p parameter) string {
	n := "s->size"
	if strings.Contains(w.Class, "neighbor") {
		n = fmt.Sprintf("inj_neighbors(comm, %t)", strings.HasPrefix(p.Name, "s"))
	}
	return fmt.Sprintf("%s ? %s : 0", w.significant(p), n)
}

// writeStarter writes the function that starts a persistent collective with the arguments that were kept.
func (w wrapper) writeStarter(b *strings.Builder, suffix string) {
	plain := w
	plain.Params = append(append([]parameter{}, w.collectiveParams()...), parameter{CType: "MPI_Request *", Name: "request"})
	plain.Class = "i" + strings.TrimSuffix(w.Class, "_init")
	name := strings.ToLower(w.Name) + suffix
	fmt.Fprintf(b, "\nstruct %s_arguments {", name)
	var values []string
	for _, p := range w.collectiveParams() {
		kind, isArray := strings.CutSuffix(p.CType, "[]")
		if isArray {
			kind += " *"
		}
		fmt.Fprintf(b, " %s %s;", kind, p.Name)
		values = append(values, fmt.Sprintf("    %s %s = a->%s;\n    (void)%s;\n", kind, p.Name, p.Name, p.Name))
	}
	fmt.Fprintf(b, " };\nstatic int %s_start(const void *arguments, MPI_Request *request) {\n    const struct %s_arguments *a = "+
		"arguments;\n%s    return inj_%s(%s);\n}\n",
		name, name, strings.Join(values, ""), plain.Class[1:], plain.collectiveArgs())
}

// writePersistent writes the body of the wrapper: the arguments are kept, unless the collective is left to MPI.
func (w wrapper) writePersistent(b *strings.Builder, suffix, real string) {
	line := func(format string, args ...any) { fmt.Fprintf(b, "    "+format+"\n", args...) }
	name := strings.ToLower(w.Name) + suffix
	line("inj_drain();\n    struct schedule *s = inj_persistent(comm, %d, %s_start, sizeof(struct %s_arguments));", w.number, name, name)
	line("if (s == NULL) {\n        int result = %s;\n        inj_count_left(%d, comm);", real, w.number)
	line("    if (result == MPI_SUCCESS) inj_foreign(*request);\n        return result;\n    }")
	line("struct %s_arguments *a = s->arguments;", name)
	op := "MPI_OP_NULL"
	for _, p := range w.collectiveParams() {
		kind, isArray := strings.CutSuffix(p.CType, "[]")
		value := p.Name
		switch {
		case kind == "const MPI_Datatype":
			value = fmt.Sprintf("inj_types(s, %s, %s)", p.Name, w.elements(p))
		case isArray:
			value = fmt.Sprintf("inj_copied(s, %s, (int64_t)sizeof *%s * (%s))", p.Name, p.Name, w.elements(p))
		case p.CType == "MPI_Datatype":
			value = fmt.Sprintf("%s ? inj_type(s, %s) : %s", w.significant(p), p.Name, p.Name)
		case p.CType == "MPI_Op":
			op = p.Name
		}
		line("a->%s = %s;", p.Name, value)
	}
	line("return inj_persistent_made(s, %s, comm, request);", op)
}
