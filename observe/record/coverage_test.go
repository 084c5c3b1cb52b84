package record

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"slackline/internal/table"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// A detail is what is recorded of the functions of some classes beside their time.
type detail struct {
	what    string
	classes []string
}

var details = []detail{
	{"messages: peer, tag, communicator, bytes, request", []string{"send", "isend", "send_init", "recv", "irecv", "recv_init", "sendrecv",
		"sendrecv_replace",
		"isendrecv", "isendrecv_replace", "mrecv", "imrecv"}},
	{"partitioned messages: as other messages, with their channel; the last partition is the send", []string{"psend_init", "precv_init",
		"pready",
		"pready_range", "pready_list", "parrived"}},
	{"completion: which requests, what came; runs of unsuccessful calls with their number", []string{"wait", "waitall", "waitany", "waitsome",
		"test",
		"testall", "testany", "testsome", "status", "start", "startall", "cancel", "request_free"}},
	{"probes: the call, runs of unsuccessful ones with their number; the receive after them names the message", []string{"probe", "iprobe",
		"mprobe", "improbe"}},
	{"collectives: communicator, root, bytes, bytes by peer where they differ, request", nil},
	{"exchanges with neighbors: as collectives, with the neighbors of grids and graphs", nil},
	{"communicators: the old one and the new one, with its members and topology", []string{"newcomm", "newcomm_group", "icomm", "comm_free",
		"spawn", "join"}},
	{"one-sided communication: window, target or group, bytes, request", []string{"rma", "irma"}},
	{"files: file, communicator, bytes, request of collective operations", []string{"io", "iio"}},
}

// detailOf is the number of what is recorded of a function; -1: only its time.
func detailOf(f mpi.Function) int {
	if (mpiFunction{Function: f}).opaque() {
		return -1
	}
	for i, d := range details {
		base, _, collective := collectiveClass(f.Class)
		neighbor := strings.HasPrefix(base, "neighbor")
		if slices.Contains(d.classes, f.Class) || collective && !neighbor && strings.HasPrefix(d.what, "collectives") ||
			collective && neighbor && strings.HasPrefix(d.what, "exchanges") {
			return i
		}
	}
	return -1
}

// coverage is a page in Markdown of what is recorded of each MPI function: in detail, as time, or not at all.
func coverage() (string, error) {
	list, err := mpi.Functions()
	if err != nil {
		return "", err
	}
	by := make([][]string, len(details)+1)
	for _, f := range list {
		i := detailOf(f)
		if i < 0 {
			i = len(details)
		}
		name := f.Name
		if f.Large {
			name += "(_c)"
		}
		by[i] = append(by[i], name)
	}
	by[len(details)] = append(by[len(details)], handWritten...)
	var b strings.Builder
	b.WriteString("## In detail\n")
	for i, d := range details {
		if len(by[i]) == 0 {
			continue
		}
		what, rest, _ := strings.Cut(d.what, ": ")
		fmt.Fprintf(&b, "\n**%s%s**: %s.\n\n%s\n", strings.ToUpper(what[:1]), what[1:], rest, paragraph(by[i]))
	}
	fmt.Fprintf(&b, "\n## As time\n\nThe call, its call path, when it began and ended.\n\n%s\n", paragraph(by[len(details)]))
	fmt.Fprintf(&b, "\n## Not at all\n\nCalls that work in their own process, and the interface for tools (`MPI_T_...`). Their time is part "+
		"of the function that calls them.\n\n%s\n",
		paragraph(mpitest.LocalFunctions()))
	return b.String(), nil
}

// paragraph lists functions in lines.
func paragraph(names []string) string {
	var words []string
	for _, name := range slices.Sorted(slices.Values(names)) {
		words = append(words, "`MPI_"+name+"`")
	}
	return strings.Join(table.Wrap(strings.Join(words, ", "), 130), "\n")
}

var updatePages = flag.Bool("update-pages", false, "write the page of MPI calls")

// TestCallPage wants the page of MPI calls to be what the tables of the recorder say.
func TestCallPage(t *testing.T) {
	text, err := coverage()
	if err != nil {
		t.Fatal(err)
	}
	const path, begin = "../../docs/mpi-calls.md", "<!-- from the code: go test ./observe/record -run TestCallPage -update-pages -->\n"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(page), begin)
	want := before + begin + "\n" + text
	switch {
	case !found:
		t.Fatalf("%s has no line\n%s", path, begin)
	case want == string(page):
	case !*updatePages:
		t.Fatalf("%s is not what the code says; run go test ./observe/record -run TestCallPage -update-pages", path)
	default:
		if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
