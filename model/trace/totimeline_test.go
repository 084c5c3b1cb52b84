package trace

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// memoryTrace makes a trace of events, one location for each rank.
func memoryTrace(regions []string, stacks []Stack, events ...[]Event) *Trace {
	d := Definitions{Ranks: len(events), Stacks: append([]Stack{{}}, stacks...)}
	for _, name := range regions {
		d.Regions = append(d.Regions, timeline.RegionNamed(name))
	}
	world := timeline.Comm{Name: "MPI_COMM_WORLD"}
	for r := range events {
		world.Members = append(world.Members, int32(r))
		d.Locations = append(d.Locations, Location{ID: uint64(r), Rank: r, Name: "rank", Host: "node", Events: uint64(len(events[r]))})
	}
	d.Comms = []timeline.Comm{world}
	return newMemory(d, events)
}

// toTimeline makes a timeline that must succeed.
func toTimeline(t testing.TB, tr *Trace, o TimelineOptions) *timeline.Timeline {
	t.Helper()
	tl, err := ToTimeline(tr, o)
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

// callsOf lists the calls of a location as "path begin end".
func callsOf(tl *timeline.Timeline, location int) []string {
	var list []string
	c := &tl.Locations[location].Calls
	for i := range c.Enter {
		list = append(list, strings.Join([]string{tl.PathName(c.Path[i]), text(c.Enter[i]), text(c.Leave[i])}, " "))
	}
	return list
}

func text(d unit.Duration) string { return strings.TrimSuffix(d.String(), "ps") }

// exchange is a rank that sends and receives.
func exchange(peer int32) []Event {
	return []Event{
		{Time: 0, Kind: ProgramBegin},
		{Time: 0, Kind: Enter, Region: 0},
		{Time: 100, Kind: Enter, Region: 1},
		{Time: 101, Kind: Send, Peer: peer, Tag: 3, Size: 10},
		{Time: 110, Kind: Leave, Region: 1},
		{Time: 120, Kind: Enter, Region: 2},
		{Time: 150, Kind: Recv, Peer: peer, Tag: 3, Size: 10},
		{Time: 150, Kind: Leave, Region: 2},
		{Time: 200, Kind: Leave, Region: 0},
		{Time: 205, Kind: ProgramEnd},
	}
}

var exchangeRegions = []string{"main", "MPI_Send", "MPI_Recv"}

// A communicator with a rank twice is refused; ranks that are not known may be there several times.
func TestRankTwice(t *testing.T) {
	for _, tc := range []struct {
		members, remote []int32
		want            string
	}{
		{[]int32{0, 1}, []int32{1, 0}, ""},
		{[]int32{timeline.UnknownRank, 0, timeline.UnknownRank}, nil, ""},
		{[]int32{0, 1, 0}, nil, "the communicator c\\u001b has rank 0 twice"},
		{[]int32{0}, []int32{1, 1}, "the communicator c\\u001b has rank 1 twice"},
	} {
		tr := memoryTrace(exchangeRegions, nil, exchange(1), exchange(0))
		tr.Comms = append(tr.Comms, timeline.Comm{Name: "c\x1b", Members: tc.members, Remote: tc.remote})
		if _, err := ToTimeline(tr, TimelineOptions{}); !strings.Contains(fmt.Sprint(err), tc.want) || tc.want == "" && err != nil {
			t.Errorf("%v, %v: error %v, want %q", tc.members, tc.remote, err, tc.want)
		}
	}
}

// Process grids that no ranks can be in are refused. A grid may have more places than the run has ranks.
func TestImpossibleGrid(t *testing.T) {
	for _, tc := range []struct {
		dims   []int
		coords [][]int
		want   string
	}{
		{[]int{2, 1}, [][]int{{0, 0}, {1, 0}}, ""},
		{[]int{16, 8, 8}, [][]int{nil, {15, 7, 0}}, ""},
		{nil, [][]int{{}, nil}, ""},
		{[]int{2, 0}, nil, "no process grid of [2 0] ranks"},
		{[]int{-2, -1}, nil, "no process grid of [-2 -1] ranks"},
		{[]int{1 << 24, 1 << 24, 1 << 24}, nil, "no process grid of"},
		{[]int{2, 1}, [][]int{{0, 0}, {2, 0}}, "place 1 of a process grid of [2 1] ranks has the coordinates [2 0]"},
		{[]int{2, 1}, [][]int{{0, -1}}, "place 0 of a process grid of [2 1] ranks has the coordinates [0 -1]"},
		{[]int{2, 1}, [][]int{{0}}, "place 0 of a process grid of [2 1] ranks has the coordinates [0]"},
	} {
		tr := memoryTrace(exchangeRegions, nil, exchange(1), exchange(0))
		tr.Comms = append(tr.Comms, timeline.Comm{Name: "c", Members: []int32{0, 1}})
		tr.Carts = []Cart{{Comm: uint32(len(tr.Comms) - 1), Dims: tc.dims, Periodic: make([]bool, len(tc.dims)), Coords: tc.coords}}
		if _, err := ToTimeline(tr, TimelineOptions{}); !strings.Contains(fmt.Sprint(err), tc.want) || tc.want == "" && err != nil {
			t.Errorf("%v, %v: error %v, want %q", tc.dims, tc.coords, err, tc.want)
		}
	}
}

// Times so far apart that their difference is below 0 are refused.
func TestTimesTooFarApart(t *testing.T) {
	late := exchange(0)
	for i := range late {
		late[i].Time += math.MaxInt64 - 1000
	}
	early := exchange(1)
	for i := range early {
		early[i].Time += math.MinInt64 + 1000
	}
	_, err := ToTimeline(memoryTrace(exchangeRegions, nil, early, late), TimelineOptions{})
	if err == nil || !strings.Contains(err.Error(), "longer than times can be (106 days)") {
		t.Errorf("error %v", err)
	}
}

func TestToTimeline(t *testing.T) {
	tl := toTimeline(t, memoryTrace(exchangeRegions, nil, exchange(1), exchange(0)), TimelineOptions{Strict: true})
	if diff := cmp.Diff([]string{"main 0 200", "main/MPI_Send 100 110", "main/MPI_Recv 120 150"}, callsOf(tl, 1)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if len(tl.Messages) != 2 || tl.End != 205 || tl.Locations[0].ClockError != -1 {
		t.Errorf("%d messages, end %d, clock error %d; want 2, 205, -1", len(tl.Messages), tl.End, tl.Locations[0].ClockError)
	}
	if diff := cmp.Diff(timeline.Problems{}, tl.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}
