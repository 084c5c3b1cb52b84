package figures

import (
	"slices"
	"testing"

	"slackline/analyze/whatif"
	"slackline/model/timeline"
	"slackline/show/plot"
)

func TestWithout(t *testing.T) {
	delays := []whatif.Delay{{From: 10, Length: 5}, {From: 30, Length: 10}}
	for _, tc := range []struct {
		s    span
		want []span
	}{
		{span{0, 5}, []span{{0, 5}}},
		{span{0, 12}, []span{{0, 10}}},
		{span{5, 20}, []span{{5, 10}, {15, 20}}},
		{span{12, 14}, nil},
		{span{10, 50}, []span{{15, 30}, {40, 50}}},
		{span{15, 30}, []span{{15, 30}}},
	} {
		if got := without(tc.s, delays); !slices.Equal(got, tc.want) {
			t.Errorf("without(%v) = %v, want %v", tc.s, got, tc.want)
		}
	}
}

// Rank 1 computes from 0 to 20 and loses the CPU from 5 to 8; its send is as it was. What a delay reaches beyond the end of
// the run is cut, and a delay of another rank or after the end is not drawn.
func TestDiagram(t *testing.T) {
	detail := &timeline.Detail{End: 30, Tracks: []timeline.Track{
		{Rank: 0, Finish: 25, Activities: []timeline.Activity{{Start: 10, End: 12, Kind: timeline.Receive}}},
		{Rank: 1, Finish: 30, Activities: []timeline.Activity{{Start: 0, End: 20, Kind: timeline.Compute},
			{Start: 20, End: 22, Kind: timeline.Send}}},
	}, Messages: []timeline.Transfer{{From: 1, To: 0, Size: 8, SendEnd: 22, Arrival: 24}}}
	d := Diagram(detail, []whatif.Delay{
		{Rank: 1, From: 5, Length: 3}, {Rank: 1, From: 28, Length: 100}, {Rank: 1, From: 30, Length: 1}, {Rank: 1, From: 2},
		{Rank: 7, From: 1, Length: 1},
	})
	want := []plot.Span{
		{Row: 0, Start: 10, End: 12, Kind: plot.Receive},
		{Row: 1, Start: 5, End: 8, Kind: plot.Noise}, {Row: 1, Start: 28, End: 30, Kind: plot.Noise},
		{Row: 1, Start: 0, End: 5, Kind: plot.Compute}, {Row: 1, Start: 8, End: 20, Kind: plot.Compute},
		{Row: 1, Start: 20, End: 22, Kind: plot.Send},
	}
	if !slices.Equal(d.Spans, want) {
		t.Errorf("spans %+v, want %+v", d.Spans, want)
	}
	if len(d.Rows) != 2 || d.Rows[1].Label != "1" || d.Rows[1].Finish != 30 || !d.Rows[0].Finished {
		t.Errorf("rows %+v", d.Rows)
	}
	if want := []plot.Arrow{{From: 1, To: 0, Depart: 22, Arrive: 24}}; !slices.Equal(d.Arrows, want) {
		t.Errorf("arrows %+v, want %+v", d.Arrows, want)
	}
}

// What takes no time is not drawn, so that the legend does not have it.
func TestDiagramOfNoOverhead(t *testing.T) {
	d := Diagram(&timeline.Detail{End: 50, Tracks: []timeline.Track{{Activities: []timeline.Activity{
		{Kind: timeline.Compute, Start: 0, End: 20}, {Kind: timeline.Send, Start: 20, End: 20},
	}}}}, nil)
	if len(d.Spans) != 1 || d.Spans[0].Kind != plot.Compute {
		t.Errorf("spans %+v, want that of the computation", d.Spans)
	}
}

// Sizes are written at the arrows only if those of messages that are not empty differ, and at these. A message that arrives before its
// send ends, as long ones do, departs when it arrives at the latest.
func TestDiagramLabels(t *testing.T) {
	for _, tc := range []struct {
		sizes []int64
		want  []string
	}{
		{[]int64{8, 8}, []string{"", ""}}, {[]int64{8, 2048}, []string{"8B", "2KiB"}},
		{[]int64{0, 1}, []string{"", ""}}, {[]int64{0, 1, 2}, []string{"", "1B", "2B"}},
		{[]int64{7}, []string{""}},
	} {
		detail := &timeline.Detail{}
		for _, size := range tc.sizes {
			detail.Messages = append(detail.Messages, timeline.Transfer{Size: size, SendEnd: 9, Arrival: 5})
		}
		for i, a := range Diagram(detail, nil).Arrows {
			if a.Label != tc.want[i] || a.Depart != 5 || a.Arrive != 5 {
				t.Errorf("sizes %v: arrow %d is %+v, want the label %q", tc.sizes, i, a, tc.want[i])
			}
		}
	}
}
