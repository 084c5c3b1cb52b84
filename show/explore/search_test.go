package explore

import (
	"strconv"
	"strings"
	"testing"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// slowRun is a run of four ranks on two hosts in which rank 2 takes twice as long in all functions.
func slowRun() *timeline.Timeline {
	b := timeline.NewBuilder(4)
	world := b.Comm(timeline.Comm{Name: "MPI_COMM_WORLD", Members: []int32{0, 1, 2, 3}})
	b.Comm(timeline.Comm{Name: "odd ranks", Members: []int32{1, 3}})
	main, barrier := b.Region(timeline.RegionNamed("main")), b.Region(timeline.RegionNamed("MPI_Barrier"))
	for rank := range 4 {
		l := b.Location(rank, 0, "", []string{"node1", "node2"}[rank/2])
		l.Enter(0, main)
		at := unit.Duration(0)
		for _, name := range []string{"pack", "solve", "unpack", "solve"} {
			l.Enter(at, b.Region(timeline.RegionNamed(name)))
			if at += unit.Millisecond; rank == 2 {
				at += unit.Millisecond
			}
			l.Leave(at)
		}
		l.Enter(at, barrier)
		l.Collective(8*unit.Millisecond+1, timeline.OpBarrier, world, -1, 0, 0, nil)
		l.Leave(8*unit.Millisecond + 1)
		l.Leave(9 * unit.Millisecond)
	}
	return b.Finish(1)
}

func TestSearch(t *testing.T) {
	s, h := serverOf(t, slowRun())
	for text, want := range map[string]string{
		"PACK": "function pack ;function unpack ;", "main/sol": "path main/solve ;", "rank 3": "rank rank 3 3;", "node2": "host node2 2-3;",
		"odd": "communicator odd ranks 1,3;", "nothing": "",
	} {
		got := ""
		for _, m := range get[Matches](t, s, h, "/api/search?text="+strings.ReplaceAll(text, " ", "%20")).Matches {
			got += m.Kind + " " + m.Name + " " + m.Ranks + ";"
		}
		if got != want {
			t.Errorf("%q finds %q, want %q", text, got, want)
		}
	}
}

// All calls of a function are met in the order of time, forward and backward.
func TestOccurrence(t *testing.T) {
	s, h := serverOf(t, slowRun())
	m := get[Matches](t, s, h, "/api/search?text=solve").Matches[0]
	o := Occurrence{Location: -1}
	var places []Occurrence
	for range 20 {
		if o = *get[Occurrence](t, s, h, "/api/occurrence?paths="+strconv.Itoa(m.Paths[0])+"&time="+strconv.Itoa(int(o.Enter))+"&location="+
			strconv.Itoa(o.Location)); o.Location < 0 {
			break
		}
		places = append(places, o)
	}
	if len(places) != 8 || places[0].Count != 8 || places[7].Location != 2 || places[7].Enter != int64(6*unit.Millisecond) ||
		places[7].Number != 8 {
		t.Fatalf("calls of solve: %+v, want 8, the last on rank 2 at 6 ms", places)
	}
	for i := 7; i > 0; i-- {
		back := get[Occurrence](t, s, h, "/api/occurrence?back=1&paths="+strconv.Itoa(m.Paths[0])+"&time="+strconv.Itoa(int(places[i].Enter))+
			"&location="+strconv.Itoa(places[i].Location))
		if back.Location != places[i-1].Location || back.Enter != places[i-1].Enter {
			t.Errorf("before %+v there is %+v, want %+v", places[i], back, places[i-1])
		}
	}
}

// Of ranks whose work differs by chance only a few that stand out are called slow; a rank that is slow in one function is not.
func TestNotSlow(t *testing.T) {
	run := func(slow func(rank, function int) bool) []string {
		b := timeline.NewBuilder(100)
		for rank := range 100 {
			l := b.Location(rank, 0, "", "")
			at := unit.Duration(0)
			for i, name := range []string{"pack", "solve", "unpack"} {
				l.Enter(at, b.Region(timeline.RegionNamed(name)))
				at += unit.Millisecond + unit.Duration((rank*37)%100)*2*unit.Microsecond
				if slow(rank, i) {
					at += unit.Millisecond
				}
				l.Leave(at)
			}
		}
		s, h := serverOf(t, b.Finish(1))
		return get[Clusters](t, s, h, "/api/clusters").Notes
	}
	if notes := run(func(int, int) bool { return false }); len(notes) != 0 {
		t.Errorf("work that differs by up to 20 %%: %q", notes)
	}
	if notes := run(func(rank, i int) bool { return rank == 0 && i == 1 }); len(notes) != 0 {
		t.Errorf("one rank slow in one function: %q", notes)
	}
	notes := run(func(rank, _ int) bool { return rank >= 20 && rank < 28 })
	if len(notes) != mostSlow+1 || !strings.Contains(notes[0], "is slow everywhere: it takes longer than the average rank in 3 of 3") ||
		!strings.HasPrefix(notes[mostSlow], "3 further ranks: 2") {
		t.Errorf("eight slow ranks: %q", notes)
	}
}

// Three ranks are alike, the fourth is slow everywhere and the cause of all waiting.
func TestClusters(t *testing.T) {
	s, h := serverOf(t, slowRun())
	a := get[Clusters](t, s, h, "/api/clusters")
	if len(a.Clusters) != 2 || a.Clusters[0].Ranks != "0-1,3" || a.Clusters[1].Representative != 2 {
		t.Errorf("clusters %+v, want 0-1,3 and 2", a.Clusters)
	}
	if len(a.Notes) != 1 || !strings.HasPrefix(a.Notes[0],
		"Rank 2 is slow everywhere: it takes longer than the average rank in 3 of 4 functions") {
		t.Errorf("notes %q, want a line on rank 2", a.Notes)
	}
	w := get[Waits](t, s, h, "/api/waits?limit=1")
	if len(w.ByRank) != 1 || w.ByRank[0].Rank != 2 || w.AllCauses < 3 || !w.Cut {
		t.Errorf("causes by rank %+v of %d, cut %v, want rank 2 of at least 3", w.ByRank, w.AllCauses, w.Cut)
	}
}
