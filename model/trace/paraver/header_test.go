package paraver

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The header has many forms: with and without a unit, with and without nodes.
func TestHeader(t *testing.T) {
	const row = "LEVEL CPU SIZE 2\n1.a\n2.b\n\nLEVEL NODE SIZE 2\nalpha\nbeta\n\nLEVEL THREAD SIZE 1\nTHREAD 1.1.1\n"
	for _, tc := range []struct {
		name, header, want string // "ps of the end of a call at 7; tasks as threads@host"
	}{
		{"microseconds by default", "#Paraver (1/2/03 at 4:5):9:2(4,4):1:2(1:1,1:2)", "7000000; 1@alpha 1@beta"},
		{"nanoseconds", "#Paraver (1/2/03 at 4:5):9_ns:2(4,4):1:2(1:1,1:2),4", "7000; 1@alpha 1@beta"},
		{"milliseconds", "#Paraver (1/2/03 at 4:5):9_ms:2(4,4):1:1(3:2)", "7000000000; 3@beta"},
		{"no nodes", "#Paraver (1/2/03 at 4:5):9_us:0:1:1(2:0)", "7000000; 2@"},
		{"a node without a name", "#Paraver (1/2/03 at 4:5):9_us:1(4):1:2(1:1,2:3)", "7000000; 1@alpha 2@"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			body := tc.header + "\n2:1:1:1:1:5:50000001:1\n2:1:1:1:1:7:50000001:0\n"
			tr, err := Read(strings.NewReader(body), nil, strings.NewReader(row), "x.prv", true, nil)
			if err != nil {
				t.Fatal(err)
			}
			var tasks []string
			for _, k := range tr.Tasks {
				tasks = append(tasks, fmt.Sprintf("%d@%s", k.threads, k.Host))
			}
			marks := tr.Threads[0].Marks
			if got := fmt.Sprintf("%d; %s", marks[len(marks)-1].Time, strings.Join(tasks, " ")); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestNumber(t *testing.T) {
	const none = "none"
	for text, want := range map[string]string{
		"0": "0", "-7": "-7", "999999999999999999": "999999999999999999", "18446744073709551615": "-1", // addresses of 64 bits
		"18446744073709551616": none, "-1844674407370955161": none, "": none, "-": none, "1x": none, "+1": none, "000000000000000000001": none,
	} {
		got := none
		if n, ok := number([]byte(text)); ok {
			got = fmt.Sprint(n)
		}
		if got != want {
			t.Errorf("number(%q) = %s, want %s", text, got, want)
		}
		r := &reader{Trace: &Trace{}}
		r.record([]byte("c:" + text + ":5")) // too short for a communicator: the numbers of the line remain
		if got := fmt.Sprint(r.fields); got != "["+want+" 5]" && (want != none || got != "[]") {
			t.Errorf("a line with %q has the numbers %s, want %s first", text, got, want)
		}
	}
}

// Names are those of the type of an event, or of the type that all levels of callers share; places in brackets are left out.
func TestLabels(t *testing.T) {
	const pcf = `DEFAULT_OPTIONS

LEVEL               THREAD

VALUES
6   MPI_Waitall

EVENT_TYPE
9    50000001    MPI Point-to-point
9	50000002	MPI Collective
VALUES
1    MPI_Send
2	MPI_Recv
0    Outside MPI

EVENT_TYPE
0    70000000    Caller
VALUES
3   solve [a.c]
4   [unknown]
word  ignored
`
	all, err := (&reader{Trace: &Trace{}}).readLabels(strings.NewReader(pcf))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range [][2]int64{{50000001, 1}, {50000002, 2}, {50000001, 0}, {50000001, 9}, {70000000, 3}, {70000012, 3}, {70000100, 3},
		{70000001, 4}, {typeFunction, 8}} {
		got[fmt.Sprint(e[0], " ", e[1])] = all.name(e[0], e[1])
	}
	want := map[string]string{
		"50000001 1": "MPI_Send", "50000002 2": "MPI_Recv", "50000001 0": "MPI call 0 of type 50000001",
		"50000001 9": "MPI call 9 of type 50000001", "70000000 3": "solve", "70000012 3": "solve",
		"70000100 3": "MPI call 3 of type 70000100", "70000001 4": "[unknown]", fmt.Sprint(typeFunction, " 8"): "function 8",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if all.has(70000100, 3) || !all.has(70000001, 4) {
		t.Error("a name is found by a type that it does not belong to, or not by its own")
	}
}

// A byte 0 is no part of a name.
func TestLabelsWithZero(t *testing.T) {
	r := &reader{Trace: &Trace{}}
	if _, err := r.readLabels(strings.NewReader("EVENT_TYPE\n9 50000001 MPI\nVALUES\n2 M\x00I_Recv\n")); err != nil || len(r.Warnings) != 1 {
		t.Errorf("%v, warnings %q; want 1", err, r.Warnings)
	}
}

// A control character is damage in names of hosts as well.
func TestHostsWithControls(t *testing.T) {
	for _, name := range []string{"no\x00de", "no\x1bde", "no\x7fde", "no\u0085de"} {
		r := &reader{Trace: &Trace{Tasks: []Task{{}}}, show: "x.prv"}
		err := r.hosts(strings.NewReader("LEVEL NODE SIZE 1\n" + name + "\n"))
		if err != nil || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "the .row file is damaged: a control character") {
			t.Errorf("%q: %v, warnings %q", name, err, r.Warnings)
		}
	}
}
