package mpi

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Function is an MPI function that a preloaded library may wrap: a row of functions.txt.
type Function struct {
	Name   string // without MPI_
	Class  string // what it does, e.g. send
	Since  string // version of MPI that brought it; "3" also for older ones
	Large  bool   // has a form with large counts, with the suffix _c
	Params []Parameter
}

// A Parameter is a parameter of a function in C.
type Parameter struct {
	CType string // with * and []: "const int[]"
	Name  string
}

//go:embed functions.txt
var functionText string

// Functions are the MPI functions that send, receive, wait or make communicators, windows and files, in the order of
// their table.
var Functions = sync.OnceValues(func() ([]Function, error) { return parseFunctions(functionText) })

func parseFunctions(text string) ([]Function, error) {
	var list []Function
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
		f := Function{Name: fields[0], Class: fields[1], Since: fields[2], Large: fields[3] == "large"}
		for _, p := range strings.Split(fields[4], ", ") {
			f.Params = append(f.Params, parseParameter(p))
		}
		list = append(list, f)
	}
	return list, nil
}

func parseParameter(text string) Parameter {
	suffix := ""
	if i := strings.IndexByte(text, '['); i >= 0 {
		text, suffix = text[:i], text[i:]
	}
	i := strings.LastIndexAny(text, " *") + 1
	return Parameter{CType: strings.TrimSpace(text[:i]) + suffix, Name: text[i:]}
}

// declaration declares the parameter in C.
func (p Parameter) declaration() string {
	if i := strings.IndexByte(p.CType, '['); i >= 0 {
		return p.CType[:i] + " " + p.Name + p.CType[i:]
	}
	if strings.HasSuffix(p.CType, "*") {
		return p.CType + p.Name
	}
	return p.CType + " " + p.Name
}

// Fortran passes everything by reference, handles as integers, the lengths of strings after all arguments, and the
// result in a last argument.

// fortranType is the type of the parameter as Fortran passes it, declared in C.
func (p Parameter) fortranType() string {
	switch {
	case strings.HasPrefix(p.CType, "const void *"), strings.HasPrefix(p.CType, "void *"):
		return "void *"
	case strings.HasPrefix(p.CType, "const char"), strings.HasPrefix(p.CType, "char *"):
		return "char *"
	case p.CType == "MPI_Aint", p.CType == "MPI_Offset", p.CType == "MPI_Count":
		return p.CType + " *"
	case p.CType == "const MPI_Aint[]":
		return "MPI_Aint *"
	}
	return "MPI_Fint *"
}

// Buffered reports whether the call takes data of the program, which the module mpi_f08 passes in a form of its own. The address of new
// memory is none.
func (f Function) Buffered() bool {
	return slices.ContainsFunc(f.Params, func(p Parameter) bool { return strings.Contains(p.CType, "void *") && p.Name != "baseptr" })
}

// FortranParams returns the parameters of the Fortran binding, declared in C with the prefix f_ and with those that
// Fortran adds, and the arguments by which they are handed on.
func (f Function) FortranParams() (params, args string) {
	var list, names []string
	lengths := 0
	for _, p := range f.Params {
		list, names = append(list, p.fortranType()+"f_"+p.Name), append(names, "f_"+p.Name)
		if p.fortranType() == "char *" {
			lengths++
		}
	}
	list, names = append(list, "MPI_Fint *ierror"), append(names, "ierror")
	for i := range lengths {
		list, names = append(list, fmt.Sprintf("size_t length%d", i)), append(names, fmt.Sprintf("length%d", i))
	}
	return strings.Join(list, ", "), strings.Join(names, ", ")
}

// withLargeCounts is the form of the function with counts of type MPI_Count.
func (f Function) withLargeCounts() Function {
	params := make([]Parameter, len(f.Params))
	for i, p := range f.Params {
		count := strings.Contains(p.Name, "count")
		switch {
		case p.CType == "int" && count:
			p.CType = "MPI_Count"
		case p.Name == "disp_unit":
			p.CType = "MPI_Aint"
		case p.CType == "const int[]" && count:
			p.CType = "const MPI_Count[]"
		case p.CType == "const int[]" && strings.Contains(p.Name, "displs"):
			p.CType = "const MPI_Aint[]"
		}
		params[i] = p
	}
	f.Params = params
	return f
}

// CParams returns the parameters of the C binding, declared, and the arguments by which they are handed on.
func (f Function) CParams() (params, args string) {
	var list, names []string
	for _, p := range f.Params {
		list, names = append(list, p.declaration()), append(names, p.Name)
	}
	return strings.Join(list, ", "), strings.Join(names, ", ")
}

// Requests is the expression for the number of requests of a call that takes an array of them.
func (f Function) Requests() string {
	if f.Params[0].Name == "incount" {
		return "incount"
	}
	return "count"
}
