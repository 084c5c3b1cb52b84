package dataset_test

import (
	"bytes"
	"fmt"
	"testing"

	"slackline/model/dataset"
)

func TestReadSimulation(t *testing.T) {
	checkReading(t, "simulation", []reading{
		{name: "one run", input: `{"input":"bcast","ranks":8,"makespan_ns":5e8}`, want: "p\nbcast makespan [s] [8]=[0.5]"},
		{name: "replicas are repetitions",
			input: `{"input":"a","results":[{"ranks":2,"replicas":2,"noiseless_ns":1,"median_ns":7e8,"samples_ns":[5e8,1e9]}]}`,
			want:  "p\na makespan [s] [2]=[0.5 1]"},
		{name: "without samples the median is all there is",
			input: `{"input":"a","results":[{"ranks":2,"replicas":3,"noiseless_ns":1,"median_ns":5e8}]}`,
			want:  "p\na makespan [s] [2]=[0.5]", warnings: 1},
		{name: "a run without ranks", input: `{"input":"a","makespan_ns":1}`, want: "x:", bad: true},
		{name: "a result without times", input: `{"input":"a","results":[{"ranks":2,"noiseless_ns":1}]}`, want: "x:", bad: true},
		{name: "no result", input: `{"input":"a","results":[],"noiseless_ns":1}`, want: "x:", bad: true},
	})
}

// TestSimulatedMachines: results of different machines are not points of one law. Those of a machine whose note alone differs are.
func TestSimulatedMachines(t *testing.T) {
	of := func(ranks int, machine string) string {
		return fmt.Sprintf(`{"input":"bcast","ranks":%d,"makespan_ns":3,"provenance":{"command":[],"machine":%s}}`, ranks, machine)
	}
	const chic = `{"name":"chic","description":"name: chic\nnote: a\nL: 1us\n"}`
	for machine, want := range map[string]string{
		chic: "", `{"name":"chic","description":"name: chic\nnote: b\nL: 1us\n"}`: "", `null`: "", `"chic"`: "",
		`{"name":"chic","description":"name: chic\nnote: a\nL: 2us\n"}`: "b is of the machine chic (81c0625b), a is of chic (9375cdb5)",
		`{"name":"altix"}`: "b is of the machine altix (00000000), a is of chic (9375cdb5)",
	} {
		all := dataset.New()
		for i, text := range []string{of(4, chic), of(8, machine)} {
			d, _, err := dataset.Read(string(rune('a'+i)), []byte(text), "")
			if err != nil {
				t.Fatal(err)
			}
			all.Merge(d)
		}
		if got := all.Series[0].Doubt(); got != want {
			t.Errorf("%s: %q, want %q", machine, got, want)
		}
		var b bytes.Buffer
		if err := all.WriteJSON(&b, nil); err != nil {
			t.Fatal(err)
		}
		if again, _, err := dataset.Read("all", b.Bytes(), ""); err != nil || again.Series[0].Doubt() != want {
			t.Errorf("%s: written and read again %v, %v", machine, again, err)
		}
	}
}
