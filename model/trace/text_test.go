package trace

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"slackline/model/timeline"
)

// parse reads a text.
func parse(text string) (*Trace, error) {
	return Open(fstest.MapFS{"a.trace": {Data: []byte(text)}}, "a.trace", Options{Strict: true})
}

// print writes a trace as text.
func print(t testing.TB, tr *Trace) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := writeText(&b, tr, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// example is the example of the grammar.
const example = `slackline trace 1
unit us
rank 0
0 main {
  0..30  compute
  30..32 MPI_Send: send to 1 size 8
  32..40 MPI_Barrier: barrier
} 40
rank 1
0 main {
  0..10  compute
  10..33 MPI_Recv: recv from 0 size 8    # waits for 20 us
  33..40 MPI_Barrier: barrier
} 40
`

func TestTextExample(t *testing.T) {
	source, err := os.ReadFile("text.go")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(example) {
		if !strings.Contains(string(source), "//\t"+line) {
			t.Errorf("the grammar has another example: %q is not in it", line)
		}
	}
	got, err := parse(example)
	if err != nil {
		t.Fatal(err)
	}
	const us = 1e6
	compare(t, got, newMemory(Definitions{
		Ranks:     2,
		Locations: []Location{{Events: 10}, {ID: 1, Rank: 1, Events: 10}},
		Regions: []timeline.Region{
			{Name: "main"}, {Name: "compute"}, {Name: "MPI_Send", Paradigm: timeline.MPI, Role: timeline.PointToPoint},
			{Name: "MPI_Barrier", Paradigm: timeline.MPI, Role: timeline.CollectiveCall},
			{Name: "MPI_Recv", Paradigm: timeline.MPI, Role: timeline.PointToPoint},
		},
		Comms:  []timeline.Comm{{Name: "MPI_COMM_WORLD", Members: []int32{0, 1}}},
		Stacks: []Stack{{}},
	}, [][]Event{{
		{Kind: Enter},
		{Kind: Enter, Region: 1}, {Time: 30 * us, Kind: Leave, Region: 1},
		{Time: 30 * us, Kind: Enter, Region: 2}, {Time: 30 * us, Kind: Send, Peer: 1, Size: 8}, {Time: 32 * us, Kind: Leave, Region: 2},
		{Time: 32 * us, Kind: Enter, Region: 3}, {Time: 40 * us, Kind: CollectiveEnd, Root: NoRoot}, {Time: 40 * us, Kind: Leave, Region: 3},
		{Time: 40 * us, Kind: Leave},
	}, {
		{Kind: Enter},
		{Kind: Enter, Region: 1}, {Time: 10 * us, Kind: Leave, Region: 1},
		{Time: 10 * us, Kind: Enter, Region: 4}, {Time: 33 * us, Kind: Recv, Size: 8}, {Time: 33 * us, Kind: Leave, Region: 4},
		{Time: 33 * us, Kind: Enter, Region: 3}, {Time: 40 * us, Kind: CollectiveEnd, Root: NoRoot}, {Time: 40 * us, Kind: Leave, Region: 3},
		{Time: 40 * us, Kind: Leave},
	}}))
}

func TestTextKeepsEverything(t *testing.T) {
	for seed := range uint64(20) {
		want := randomTrace(seed, 4, 2, 200)
		addUnsaid(want)
		text := print(t, want)
		got, err := parse(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		compare(t, got, want)
	}
}

// What is not well nested, and what is beyond the usual, can be said too.
func TestTextOddities(t *testing.T) {
	const text = `slackline trace 1
ranks 5
comm world 0-2 4
comm inter name "a name" 0 remote 1 2
region f
region f#2 name f user io at "a file.c" 3
region "odd: {" mpi p2p
stack 1 f
stack 2 "odd: {" in 1
cart world 2p 2
coordinates 0 1 1
coordinates 2 0 0

rank 0 thread 1 id 99 missing

rank 1 truncated
trip 0.1 -1 2 3
leave -0.5 f
0.001..0.002 "f#2" stack 2: @0.002 other; test 18446744073709551615
1 f {
  @1 send to -2 size 1KiB tag 5 comm inter request 0
  1 "odd: {" {
    enter 2 f
...
`
	got, err := parse(strings.Replace(text, "region f#2", `region "f#2"`, 1))
	if err != nil {
		t.Fatal(err)
	}
	again, err := parse(print(t, got))
	if err != nil {
		t.Fatalf("%v\n%s", err, print(t, got))
	}
	compare(t, again, got)
	if got.Ranks != 5 || !got.Locations[0].Missing || got.Locations[1].RoundTrips[0] != (RoundTrip{0, -1000, 2000, 3000}) ||
		got.Carts[0].Coords[1] != nil {
		t.Errorf("definitions = %+v", got.Definitions)
	}
	events, _ := eventsOf(got, 1)
	want := []Event{
		{Time: -500, Kind: Leave}, {Time: 1, Kind: Enter, Region: 1, Stack: 2}, {Time: 2, Kind: Other},
		{Time: 2, Kind: RequestTest, Request: 1<<64 - 1}, {Time: 2, Kind: Leave, Region: 1},
		{Time: 1000, Kind: Enter}, {Time: 1000, Kind: Isend, Peer: -2, Size: 1024, Tag: 5, Comm: 1},
		{Time: 1000, Kind: Enter, Region: 2}, {Time: 2000, Kind: Enter},
	}
	if !equalEvents(events, want) {
		t.Errorf("events = %+v, want %+v", events, want)
	}
}

func TestTextErrors(t *testing.T) {
	for text, want := range map[string]string{
		"1 000\n":                                 "a.trace:1: the text is in version \"1 000\" of the format; this slackline reads version 1",
		"2\n":                                     "a.trace:1: the text is in version \"2\" of the format; this slackline reads version 1",
		"1\n":                                     "a.trace:1: the trace has no rank",
		"1\nrank x":                               `a.trace:2: the rank: "x" is not a number`,
		"1\nrnak 0":                               `did you mean rank?`,
		"1\n0..1 f":                               "which rank?",
		"1\nrank 0\n5..4 f":                       "before it begins",
		"1\nrank 0\n0..4 f\n3..5 f":               "a.trace:4: time goes back: 3 ns is before",
		"1\nrank 0\n0..4 f 7":                     `"7" at the end of the line is too much`,
		"1\nrank 0\n0..4 MPI_\x00end":             "a.trace:3: a byte 0: a part of the file is lost",
		"1\nrank 0\n0 f":                          "needs { after it",
		"1\nrank 0\n0 f {":                        "the call of f is not closed",
		"1\nrank 0\n} 3":                          "no call is open",
		"1\nrank 0\n0..1 f: sned to 1":            `there is no record "sned"; did you mean send?`,
		"1\nrank 0\n0..1 f: send 1":               "a send needs the word to and a rank",
		"1\nrank 0\n0..1 f: send to 1 sise":       "did you mean size?",
		"1\nrank 0\n0..1 f: bcast rot 1":          "did you mean root?",
		"1\nrank 0\n0..1 f: send to":              "the rank is missing",
		"1\nrank 0\n0..1 f: sent; post 1":         "the request is missing",
		"1\nrank 0\n0..1 f: send to 0 comm b":     `there is no communicator "b"`,
		"1\nrank 0\n@1x sent 3":                   "unknown unit",
		"1\nrank 0\nrank 0":                       "thread 0 of rank 0 is there twice",
		"1\nrank 0\ntrip 1 1 2 3":                 "a.trace:3: there is no thread 0 of rank 1",
		"1\nunit parsec":                          "there is no unit",
		"1\nregion a\nregion a":                   "defined twice",
		"1\nregion a usr":                         "did you mean user?",
		"1\nregion \"a":                           "not ended",
		"1\ncomm w 3-1":                           "range of ranks",
		"1\nrank 0\n0..1 f: sample 7":             `there is no stack "7"`,
		"1\nrank 0\n0..1 f: recording maybe":      "on or off",
		"1\nrank 0\n0..1 f: alltoallv counts 1,x": `such as 8,0,16, got "x"`,
		"1\nrank 0\n0..1 f: alltoall sent -1":     `a.trace:3: size "-1" is negative; give 0 or more`,
		"1\ncoordinates 0 1":                      "no process grid",
		"1\nrank 0 nmae x":                        "did you mean name?",
		"1\nrank 0\n0..99999999s f":               "too large",
	} {
		_, err := parse("slackline trace " + text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want an error with %q", text, err, want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte(print(f, randomTrace(3, 2, 2, 60))))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := parse(string(data))
		if err != nil {
			return
		}
		lost := slices.ContainsFunc(got.Locations, func(l Location) bool { return l.Missing }) // a rank without calls: it is not written
		if got.Format != "trace-text" || got.Ranks > 1000 || lost {
			return
		}
		text := print(t, got)
		again, err := parse(text)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, text)
		}
		compare(t, again, got)
	})
}

// A rank without calls, as in a file that is cut off after its name, is not one that did nothing.
func TestTextWithoutCalls(t *testing.T) {
	for name, text := range map[string]string{
		"last":   "rank 0\n0 main {\n} 5\nrank 1\n",
		"first":  "rank 0\nrank 1\n0 main {\n} 5\n",
		"counts": "metric I unit \"#\"\nrank 0\n@0 count I 0\n",
	} {
		files := fstest.MapFS{"x.trace": {Data: []byte("slackline trace 1\n" + text)}}
		tr, err := Open(files, "x.trace", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ToTimeline(tr, TimelineOptions{}); err == nil || !strings.Contains(err.Error(), "x.trace: there is no call of rank") {
			t.Errorf("%s: %v, want that a rank has no call", name, err)
		}
	}
}
