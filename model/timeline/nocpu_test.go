package timeline

import (
	"math/rand/v2"
	"slices"
	"testing"

	"slackline/model/unit"
)

// lackNames describes the times without a CPU of a location with the names of their paths.
func lackNames(tl *Timeline, location int) (list []string) {
	for _, s := range tl.Locations[location].NoCPU {
		list = append(list, s.From.String()+".."+s.To.String()+" "+tl.PathName(s.Path))
	}
	return list
}

// TestNoCPU: times without a CPU are cut where calls begin and end, belong to the innermost call, and to no call at all outside.
func TestNoCPU(t *testing.T) {
	b := NewBuilder(1)
	main, work := b.Region(Region{Name: "main"}), b.Region(Region{Name: "work"})
	l := b.Location(0, 0, "", "")
	l.Enter(10, main)
	l.NoCPU(15, 10) // began before the first event
	l.Enter(20, work)
	l.NoCPU(45, 30) // 15..45: across the start of work and its end
	l.Leave(40)
	l.NoCPU(44, 9)  // inside of what is known already
	l.NoCPU(48, 9)  // its rest
	l.NoCPU(50, 0)  // no time at all
	l.NoCPU(50, -5) // nor this
	l.Leave(60)
	l.Event(70)
	l.NoCPU(80, 15) // 65..80: after the last call and the last event
	tl := b.Finish(1)
	want := []string{"10ps..15ps main/no CPU", "15ps..20ps main/no CPU", "20ps..40ps main/work/no CPU", "40ps..45ps main/no CPU",
		"45ps..48ps main/no CPU", "65ps..70ps no CPU"}
	if got := lackNames(tl, 0); !slices.Equal(got, want) {
		t.Errorf("times without a CPU = %q, want %q", got, want)
	}
	if r := tl.Regions[len(tl.Regions)-1]; !tl.HasLacks() || r.Name != NoCPUName || r.Paradigm != NoCPU {
		t.Errorf("the last region is %+v, want that of times without a CPU", r)
	}
	if lack, life := tl.WithoutCPU(); lack != unit.SumOf(43) || life != unit.SumOf(60) {
		t.Errorf("without a CPU for %v of %v, want 43 of 60", lack, life)
	}
	w := tl.Window(30, 46, 1)
	want = []string{"30ps..40ps main/work/no CPU", "40ps..45ps main/no CPU", "45ps..46ps main/no CPU"}
	if got := lackNames(w, 0); !slices.Equal(got, want) || w.Locations[0].Lacked != 16 {
		t.Errorf("in the window: %q, %v together, want %q, 16", got, w.Locations[0].Lacked, want)
	}
}

// TestNoCPUAroundATeam: after a team a worker is in the call that it was in before, below no call of the master.
func TestNoCPUAroundATeam(t *testing.T) {
	b := NewBuilder(2)
	main, work := b.Region(Region{Name: "main"}), b.Region(Region{Name: "work"})
	master, worker := b.Location(0, 0, "", ""), b.Location(0, 1, "", "")
	master.Enter(0, main)
	master.Fork(10)
	master.TeamBegin(10)
	master.TeamEnd(20)
	master.Join(20)
	master.Leave(40)
	worker.Enter(0, work)
	worker.TeamBegin(10)
	worker.Enter(12, main)
	worker.Leave(18)
	worker.TeamEnd(20)
	worker.NoCPU(30, 5)
	worker.Leave(40)
	if got, want := lackNames(b.Finish(1), 1), []string{"25ps..30ps work/no CPU"}; !slices.Equal(got, want) {
		t.Errorf("times without a CPU = %q, want %q", got, want)
	}
}

// TestNoCPUBeforeAThread: a thread lacks nothing before it lives.
func TestNoCPUBeforeAThread(t *testing.T) {
	b := NewBuilder(1)
	l := b.Location(0, 0, "", "")
	l.Event(0)
	l.ThreadBegin(50)
	l.NoCPU(60, 40)
	l.ThreadEnd(70)
	tl := b.Finish(1)
	if got, want := lackNames(tl, 0), []string{"50ps..60ps no CPU"}; !slices.Equal(got, want) {
		t.Errorf("times without a CPU = %q, want %q", got, want)
	}
}

// TestNoCPUWhileOff: when recording is off, threads neither lack anything nor live.
func TestNoCPUWhileOff(t *testing.T) {
	b := NewBuilder(1)
	off, work := b.Region(NotRecorded), b.Region(Region{Name: "work"})
	l := b.Location(0, 0, "", "")
	l.Off(0, off)
	l.NoCPU(20, 10)
	l.On(50)
	l.Enter(50, work)
	l.NoCPU(55, 15) // 40..55
	l.Leave(60)
	l.Off(60, off)
	l.NoCPU(70, 15) // 55..70
	l.On(100)
	l.Event(110)
	tl := b.Finish(1)
	if got, want := lackNames(tl, 0), []string{"50ps..55ps work/no CPU", "55ps..60ps work/no CPU"}; !slices.Equal(got, want) {
		t.Errorf("times without a CPU = %q, want %q", got, want)
	}
	if lack, life := tl.WithoutCPU(); lack != unit.SumOf(10) || life != unit.SumOf(20) {
		t.Errorf("without a CPU for %v of %v, want 10 of 20", lack, life)
	}
}

func TestNoLacks(t *testing.T) {
	b := NewBuilder(1)
	b.Region(Region{Name: NoCPUName}) // a function that happens to have the name
	l := b.Location(0, 0, "", "")
	l.NoCPU(10, 10) // there is no event
	if tl := b.Finish(1); tl.HasLacks() || len(tl.Locations[0].NoCPU) > 0 || tl.LackShare() != 0 {
		t.Errorf("without events: %+v", tl.Locations[0].NoCPU)
	}
	if tl := NewBuilder(0).Finish(1); tl.HasLacks() {
		t.Error("a run without regions has times without a CPU")
	}
}

// TestLacksBelongToTheInnermostCall compares random times and calls with the definition, moment by moment.
func TestLacksBelongToTheInnermostCall(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 3))
		b := NewBuilder(1)
		regions := []RegionID{b.Region(Region{Name: "a"}), b.Region(Region{Name: "b"})}
		l := b.Location(0, 0, "", "")
		const end = 60
		var without [end]bool
		last := 0
		for now := range unit.Duration(end + 1) {
			for range random.IntN(3) {
				if random.IntN(2) == 0 {
					l.Enter(now, regions[random.IntN(2)])
				} else if l.Depth() > 0 {
					l.Leave(now)
				}
			}
			if random.IntN(4) == 0 {
				long := 1 + random.IntN(12)
				l.NoCPU(now, unit.Duration(long))
				for k := max(int(now)-long, last, 0); k < int(now); k++ {
					without[k] = true
				}
				last = int(now)
			}
		}
		l.Event(end)
		l.SetTruncated()
		tl := b.Finish(1)
		c := &tl.Locations[0].Calls
		var got [end]string
		for _, s := range tl.Locations[0].NoCPU {
			for k := s.From; k < s.To; k++ {
				got[k] = tl.PathName(s.Path)
			}
		}
		for k := range unit.Duration(end) {
			want := ""
			if without[k] && k >= tl.Locations[0].First {
				want = NoCPUName
				for i := range c.Len() { // the last call that is open is the innermost one
					if c.Enter[i] <= k && c.Leave[i] > k {
						want = tl.PathName(c.Path[i]) + "/" + NoCPUName
					}
				}
			}
			if got[k] != want {
				t.Fatalf("seed %d: at %v the thread is without a CPU in %q, want %q", seed, k, got[k], want)
			}
		}
	}
}
