package trace

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"slackline/model/timeline"
)

// A timeline that becomes a trace and a timeline again is the same. The makings of communicators inside of one group are records that no
// timeline keeps: where there are some, the numbers of the others differ.
func TestFromTimeline(t *testing.T) {
	cases, err := filepath.Glob(casesDir + "/*")
	if err != nil || len(cases) != 20 {
		t.Fatalf("%d cases, error %v", len(cases), err)
	}
	wider, err := filepath.Glob(widerCasesDir + "/*/trace.txt")
	if err != nil || len(wider) < 30 {
		t.Fatalf("%d wider cases, error %v", len(wider), err)
	}
	numbers := cmp.Options{
		cmpopts.IgnoreFields(timeline.Member{}, "Seq"), cmpopts.IgnoreFields(timeline.EpochCall{}, "Seq"),
		cmpopts.IgnoreFields(timeline.Message{}, "SendDoneSeq", "RecvSeq"),
	}
	for i, file := range append(cases, wider...) {
		options := cmp.Options{cmpopts.EquateEmpty(), cmpopts.IgnoreFields(timeline.Location{}, "ClockError")}
		name := filepath.Base(file)
		if i >= len(cases) {
			options, name = append(options, numbers), filepath.Base(filepath.Dir(file))
		}
		t.Run(name, func(t *testing.T) {
			want := toTimeline(t, mustOpen(t, file), TimelineOptions{Strict: true})
			want.Metrics = nil // simulated runs count nothing
			for i := range want.Locations {
				want.Locations[i].Counts = nil
			}
			want.Simulated = true
			tr := FromTimeline(want)
			for i := range tr.Locations {
				if events, _ := eventsOf(tr, i); uint64(len(events)) != tr.Locations[i].Events {
					t.Errorf("location %d has %d events, but announces %d", i, len(events), tr.Locations[i].Events)
				}
			}
			got := toTimeline(t, tr, TimelineOptions{Strict: true})
			if diff := cmp.Diff(want, got, options); diff != "" {
				t.Errorf("the timeline differs (-want +got):\n%s", diff)
			}
			compare(t, mustOpen(t, write(t, tr, "slt")), tr)
		})
	}
}
