package inject

import (
	"fmt"
	"slices"
	"strings"

	"slackline/observe/mpi"
)

// A treatment is what the library does with an MPI function.
type treatment int

const (
	leave      treatment = iota // not wrapped
	message                     // a call of the library's own, about messages and requests
	replace                     // a collective that becomes messages
	makeComm                    // makes a communicator
	persistent                  // makes a persistent collective, which becomes messages
	oneSided                    // MPI's own, and the calls that complete it return later
	unhandled                   // MPI's own, and its messages get no latency: counted
	drain                       // MPI's own, and blocks there
	detach                      // MPI_Buffer_detach
	freeOp                      // MPI_Op_free
)

var modes = map[string]string{"Send": "STANDARD", "Ssend": "SYNCHRONOUS", "Rsend": "READY", "Bsend": "BUFFERED"}

// sender is the C function, with its first argument, for a function that sends.
func sender(f mpi.Function) string {
	name := strings.TrimSuffix(f.Name, "_init")
	switch {
	case name != f.Name:
		return "inj_send_init(" + modes[name] + ", "
	case f.Class == "isend":
		rest := strings.TrimPrefix(name, "I")
		return "inj_send_later(" + modes[strings.ToUpper(rest[:1])+rest[1:]] + ", "
	}
	return "inj_send(" + modes[name] + ", "
}

// replaced are the collectives that become messages.
var replaced = []string{"barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv",
	"alltoallw", "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan",
	"neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw"}

// messageClasses are the classes of calls that the library has functions of its own for.
var messageClasses = []string{"send", "isend", "send_init", "recv", "irecv", "recv_init", "sendrecv", "sendrecv_replace", "isendrecv",
	"isendrecv_replace", "mrecv", "imrecv",
	"probe", "iprobe", "mprobe", "improbe", "wait", "waitall", "waitany", "waitsome", "test", "testall", "testany", "testsome", "status",
	"start", "startall", "request_free"}

func treatmentOf(f mpi.Function) treatment {
	switch {
	case f.Name == "Buffer_detach":
		return detach
	case f.Name == "Op_free":
		return freeOp
	case slices.Contains(messageClasses, f.Class):
		return message
	case slices.Contains(replaced, f.Class), f.Class[0] == 'i' && slices.Contains(replaced, f.Class[1:]):
		return replace
	case strings.HasPrefix(f.Class, "newcomm"):
		return makeComm
	case slices.Contains(replaced, strings.TrimSuffix(f.Class, "_init")):
		return persistent
	case f.Class == "rma", f.Class == "irma":
		if _, ok := oneSidedHooks[strings.TrimPrefix(f.Name, "R")]; ok || f.Class == "irma" {
			return oneSided
		}
		return leave
	case strings.HasSuffix(f.Class, "_init"):
		return unhandled
	case f.Class == "comm_free", f.Class == "io":
		return drain
	}
	return leave
}

// functions are the functions that are wrapped, in the order of their numbers in reports.
func functions() ([]mpi.Function, error) {
	all, err := mpi.Functions()
	if err != nil {
		return nil, err
	}
	opFree := mpi.Function{Name: "Op_free", Class: "op_free", Since: "3", Params: []mpi.Parameter{{CType: "MPI_Op *", Name: "op"}}}
	list := []mpi.Function{opFree}
	for _, f := range all {
		if treatmentOf(f) != leave {
			list = append(list, f)
		}
	}
	if len(list) > reportFunctions {
		return nil, fmt.Errorf("%d functions are too many for a report", len(list))
	}
	return list, nil
}

// wrapperFiles writes the C sources of the wrappers.
func wrapperFiles(list []mpi.Function) map[string]string {
	const perFile = 40
	of := func(f mpi.Function, number int) wrapper { return wrapper{f, treatmentOf(f), number} }
	return mpi.WrapperFiles(list, perFile, "#include \"wrappers.h\"\n#pragma GCC optimize (\"O1\")\n",
		func(b *strings.Builder, f mpi.Function, number int, suffix string) { of(f, number).writeC(b, suffix) },
		func(b *strings.Builder, f mpi.Function, number int) { of(f, number).writeFortran(b) })
}

type wrapper struct {
	mpi.Function
	treatment treatment
	number    int // in reports
}

// writeC writes the wrapper of the C binding.
func (w wrapper) writeC(b *strings.Builder, suffix string) {
	params, args := w.CParams()
	if w.treatment == persistent {
		w.writeStarter(b, suffix)
	}
	real := fmt.Sprintf("PMPI_%s%s(%s)", w.Name, suffix, args)
	fmt.Fprintf(b, "\nINJ_EXPORT int MPI_%s%s(%s) {\n    if (!atomic_load_explicit(&inj_active, memory_order_relaxed)) return %s;\n", w.Name,
		suffix, params, real)
	line := func(format string, args ...any) { fmt.Fprintf(b, "    "+format+"\n", args...) }
	switch w.treatment {
	case message:
		line("return %s;", w.ownCall(args))
	case replace:
		if w.prefix() != "" {
			line("if (request == NULL) return %s;", real)
		}
		line("int result = inj_%s(%s);", strings.TrimPrefix(strings.ToLower(w.Class), w.prefix()), w.collectiveArgs())
		line("if (result != INJ_LEFT) {\n        inj_count_replaced(%d);\n        return result;\n    }", w.number)
		line("inj_count_left(%d, comm);\n    return %s;", w.number, real)
	case persistent:
		w.writePersistent(b, suffix, real)
	case oneSided:
		if w.Name == "Win_test" {
			real = "result = there ? " + real + " : (*flag = 0, MPI_SUCCESS)"
		} else {
			real = "result = " + real
		}
		w.writeOneSided(b, "int "+real+";", "result", "")
		line("return result;")
	case freeOp:
		line("if (inj_op_needed(*op)) {\n        *op = MPI_OP_NULL;\n        return MPI_SUCCESS;\n    }\n    return %s;", real)
	default:
		w.writeBefore(b)
		line("int result = %s;", real)
		if made := w.made(); made != "" {
			handle := func(_, name string) string {
				if name == made {
					return "*" + name
				}
				return name
			}
			line("%sif (result == MPI_SUCCESS) %s;", w.writeAfter(b), w.afterwards(handle))
		}
		line("return result;")
	}
	b.WriteString("}\n")
}

// prefix is what the class of a non-blocking collective has in front.
func (w wrapper) prefix() string {
	if slices.Contains(replaced, w.Class) {
		return ""
	}
	return "i"
}

// ownCall calls the library's function instead of MPI's.
func (w wrapper) ownCall(args string) string {
	switch w.Class {
	case "send", "isend", "send_init":
		return sender(w.Function) + args + ")"
	}
	return fmt.Sprintf("inj_%s(%s)", w.Name, args)
}

// collectiveArgs are the arguments of the library's function for a collective: counts and displacements come in two
// widths, and without a request it blocks.
func (w wrapper) collectiveArgs() string {
	var list []string
	for _, p := range w.Params {
		switch p.CType {
		case "const int[]":
			kind := "counts"
			if strings.Contains(p.Name, "displs") {
				kind = "places"
			}
			list = append(list, fmt.Sprintf("(struct %s){%s, NULL}", kind, p.Name))
		case "const MPI_Count[]":
			list = append(list, fmt.Sprintf("(struct counts){NULL, %s}", p.Name))
		case "const MPI_Aint[]":
			list = append(list, fmt.Sprintf("(struct places){NULL, %s}", p.Name))
		default:
			list = append(list, p.Name)
		}
	}
	if w.prefix() == "" {
		list = append(list, "NULL")
	}
	return strings.Join(list, ", ")
}

// writeBefore writes what comes before a call that is left to MPI.
func (w wrapper) writeBefore(b *strings.Builder) {
	switch w.treatment {
	case detach:
		b.WriteString("    inj_buffered_end();\n")
	case unhandled:
		fmt.Fprintf(b, "    inj_add(&inj_report->unhandled[%d], 1);\n    inj_drain();\n", w.number)
	case makeComm:
		b.WriteString("    inj_drain();\n    inj_making++;\n")
	case drain:
		b.WriteString("    inj_drain();\n")
	}
}

// writeAfter writes what comes after such a call, and returns the condition of what follows: a binding may call another one.
func (w wrapper) writeAfter(b *strings.Builder) string {
	if w.treatment != makeComm {
		return ""
	}
	b.WriteString("    inj_making--;\n")
	return "if (inj_making == 0) "
}

// made is the parameter for what the call makes: a communicator, or a persistent request.
func (w wrapper) made() string {
	last := w.Params[len(w.Params)-1]
	if w.treatment == makeComm || w.treatment == unhandled && strings.HasSuffix(w.Class, "_init") {
		return last.Name
	}
	return ""
}

// afterwards is the call by which the library learns of what was made. A handle is given as a binding has it, by its kind and
// the name of its parameter.
func (w wrapper) afterwards(handle func(kind, name string) string) string {
	made := w.made()
	switch {
	case w.treatment != makeComm:
		return fmt.Sprintf("inj_foreign(%s)", handle("Request", made))
	case w.Name == "Comm_create_group":
		return fmt.Sprintf("inj_group_made(%s, %s, %s, %s)", handle("Comm", "comm"), handle("Group", "group"), handle("", "tag"),
			handle("Comm", made))
	case strings.HasPrefix(w.Name, "Intercomm_"), w.Name == "Comm_create_from_group":
		return fmt.Sprintf("inj_comm_made(MPI_COMM_NULL, %s)", handle("Comm", made))
	}
	return fmt.Sprintf("inj_comm_made(%s, %s)", handle("Comm", w.Params[0].Name), handle("Comm", made))
}
