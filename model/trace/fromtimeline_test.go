package trace

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"slackline/model/timeline"
)

// A timeline that becomes a trace and a timeline again is the same.
func TestFromTimeline(t *testing.T) {
	cases, err := filepath.Glob(casesDir + "/*")
	if err != nil || len(cases) != 20 {
		t.Fatalf("%d cases, error %v", len(cases), err)
	}
	for _, dir := range cases {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			want := toTimeline(t, mustOpen(t, dir), TimelineOptions{Strict: true})
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
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(timeline.Location{}, "ClockError")); diff != "" {
				t.Errorf("the timeline differs (-want +got):\n%s", diff)
			}
			compare(t, mustOpen(t, write(t, tr, "slt")), tr)
		})
	}
}
