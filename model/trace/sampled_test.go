package trace

import (
	"testing"
	"testing/fstest"
)

// TestSampledCalls wants functions that samples found to be told from calls that were recorded.
func TestSampledCalls(t *testing.T) {
	const text = `slackline trace 1
unit ms
sample-period 1
stack main main
stack work work in main
rank 0
0..1 MPI_Init stack main
@2 sample work
@3 sample work
@4 sample main
5..6 MPI_Barrier stack main
6..7 region
@8 sample work
9..10 MPI_Finalize stack main
`
	tr, err := Open(fstest.MapFS{"run.trace": {Data: []byte(text)}}, "run.trace", Options{})
	if err != nil {
		t.Fatal(err)
	}
	tl, err := ToTimeline(tr, TimelineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	samples, sampled := map[string]int32{}, map[int32]bool{}
	l := &tl.Locations[0]
	for _, s := range l.Sampled {
		samples[tl.RegionOf(l.Calls.Path[s.Call]).Name] += s.Samples
		sampled[s.Call] = true
	}
	if samples["work"] != 3 || samples["main"] != 1 {
		t.Errorf("samples = %v, want 3 of work and 1 of main", samples)
	}
	for call := range l.Calls.Enter {
		name := tl.RegionOf(l.Calls.Path[call]).Name
		if want := name == "main" || name == "work"; sampled[int32(call)] != want {
			t.Errorf("%s sampled = %v, want %v", name, !want, want)
		}
	}
}
