package dataset_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"slackline/model/dataset"
)

// Values of a run are means over ranks, in the order of the metrics; the run time is not divided.
func TestFromRun(t *testing.T) {
	d := dataset.FromRun(4, 4, 3, []dataset.RunPath{
		{Name: "main/solve", Measured: map[string]float64{"time": 8, "bytes": 40}},
		{Name: "", Measured: map[string]float64{"time": 2}},
	})
	want := "p\n<root> run_time [s] [4]=[3]\nmain->solve time [s] [4]=[2]\n<root> time [s] [4]=[0.5]\nmain->solve bytes [B] [4]=[10]"
	if got := text(d); got != want {
		t.Fatalf("dataset =\n%s\nwant\n%s", got, want)
	}
	d.SumRanks()
	want = "p\n<root> run_time [s] [4]=[3]\nmain->solve time [s] [4]=[8]\n<root> time [s] [4]=[2]\nmain->solve bytes [B] [4]=[40]"
	if got := text(d); got != want {
		t.Errorf("sums =\n%s\nwant\n%s", got, want)
	}
}

func TestReadProfile(t *testing.T) {
	checkReading(t, "profile", []reading{
		{name: "visits that were not counted",
			input: `{"run":{"ranks":2,"time_s":1},"composition":[],"callpaths":[{"callpath":"f","exclusive_s":1}]}`,
			want:  "p\n<root> run_time [s] [2]=[1]\nf time [s] [2]=[0.5]\nf messages [2]=[0]\nf bytes [B] [2]=[0]"},
		{name: "no time",
			input: `{"run":{"ranks":2,"time_s":1},"composition":[],"callpaths":[{"callpath":"f"}]}`, want: "x:", bad: true},
		{name: "no ranks", input: `{"run":{"time_s":1},"composition":[],"callpaths":[]}`, want: "x:", bad: true},
		{name: "fewer than no ranks missing", input: `{"run":{"ranks":2,"time_s":1,"incomplete_ranks":-1},"composition":[],"callpaths":[]}`,
			want: "x:", bad: true},
		{name: "a start of less than no time", input: `{"run":{"ranks":2,"time_s":1,"kept_before_s":-1},"composition":[],"callpaths":[]}`,
			want: "x:", bad: true},
	})
}

func TestReadWaits(t *testing.T) {
	checkReading(t, "waits", []reading{
		{name: "wait states are summed, wrong order is a part of late sender", input: `{"waits":[
{"metric":"late_sender","callpath":"r","seconds":3},{"metric":"late_sender_wrong_order","callpath":"r","seconds":2},{"metric":"nxn","callpath":"r","seconds":1}],
"delays":[],"run":{"ranks":2,"time_s":9}}`, want: "p\n<root> run_time [s] [2]=[9]\nr waiting [s] [2]=[2]"},
		{name: "both costs of a delay",
			input: `{"waits":[],"delays":[{"callpath":"f","short_s":1,"long_s":2},{"callpath":"f","short_s":3,"long_s":0}],"run":{"ranks":2,"time_s":9}}`,
			want:  "p\n<root> run_time [s] [2]=[9]\nf delay [s] [2]=[3]"},
		{name: "no seconds",
			input: `{"waits":[{"metric":"nxn","callpath":"r"}],"delays":[],"run":{"ranks":2,"time_s":9}}`, want: "x:", bad: true},
		{name: "a wait without a call path",
			input: `{"waits":[{"metric":"nxn","seconds":1}],"delays":[],"run":{"ranks":2,"time_s":9}}`, want: "x:", bad: true},
		{name: "a delay without a call path",
			input: `{"waits":[],"delays":[{"short_s":1,"long_s":2}],"run":{"ranks":2,"time_s":9}}`, want: "x:", bad: true},
		{name: "half a cost",
			input: `{"waits":[],"delays":[{"callpath":"f","short_s":1}],"run":{"ranks":2,"time_s":9}}`, want: "x:", bad: true},
	})
}

// With SumLocations the values of a run are sums over ranks.
func TestSumLocationsOfRuns(t *testing.T) {
	const input = `{"waits":[],"delays":[{"callpath":"f","short_s":1,"long_s":2}],"run":{"ranks":3,"time_s":9}}`
	d, _, err := dataset.ReadNamed("x", []byte(input), dataset.Options{SumLocations: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := text(d), "p\n<root> run_time [s] [3]=[9]\nf delay [s] [3]=[3]"; got != want {
		t.Errorf("dataset =\n%s\nwant\n%s", got, want)
	}
}

// TestWaitsListCallPaths: of call paths that a result of waits lists and says nothing of, waiting and delay are 0; delays of --forward are
// not known, and results of older versions list none.
func TestWaitsListCallPaths(t *testing.T) {
	const text = `{"waits": [{"metric": "late_sender", "callpath": "a/b", "seconds": 4}], "delays": [], "totals": {}, "run": {"ranks": 2, "time_s": 9},
		"callpaths": [{"callpath": "a", "exclusive_s": 1}, {"callpath": "a/b", "exclusive_s": 5}]}`
	for _, tc := range []struct{ text, want string }{
		{text, "<root> run_time 9, a waiting 0, a delay 0, a->b waiting 2, a->b delay 0"},
		{strings.Replace(text, `"totals": {}`, `"totals": {"forward": true}`, 1), "<root> run_time 9, a waiting 0, a->b waiting 2"},
		{strings.Replace(text, `"callpaths"`, `"paths"`, 1), "<root> run_time 9, a->b waiting 2"},
	} {
		d, _, err := dataset.Read("x", []byte(tc.text), "")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range d.Series {
			got = append(got, fmt.Sprintf("%s %s %g", s.CallPath, s.Metric, s.Points[0].Values[0]))
		}
		wanted := strings.Split(tc.want, ", ")
		slices.Sort(got)
		slices.Sort(wanted)
		if !slices.Equal(got, wanted) {
			t.Errorf("%q, want %q", got, wanted)
		}
	}
}
