package timeline

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"slackline/model/unit"
)

// startAndEnd are regions of a program that starts and ends MPI.
func (b *twoRanks) startAndEnd() (main, init, finalize RegionID) {
	return b.Region(Region{Name: "main"}), b.Region(Region{Name: "MPI_Init", Paradigm: MPI}),
		b.Region(Region{Name: "MPI_Finalize", Paradigm: MPI})
}

// startedRun is a run of two ranks whose MPI_Init ends at 400 and 450, and whose MPI_Finalize starts 200 and 100 before its end.
func startedRun(end unit.Duration, withFinalize bool) *Timeline {
	b := newTwoRanks()
	main, init, finalize := b.startAndEnd()
	for i, l := range b.l {
		l.Enter(0, main)
		l.Enter(100, init)
		l.Leave(unit.Duration(400 + 50*i))
		l.Enter(600, b.sendCall)
		l.Send(610, int32(1-i), b.world, 0, 1)
		l.Recv(690, int32(1-i), b.world, 0, 1)
		l.Leave(700)
		if withFinalize {
			l.Enter(end-unit.Duration(200-100*i), finalize)
			l.Leave(end - 50)
		}
		l.Leave(end)
	}
	return b.Finish(1)
}

// The start and the end of MPI are left out; all ranks still have their MPI_Init and MPI_Finalize, and the memory may be used again.
func TestCore(t *testing.T) {
	whole := startedRun(1000, true)
	tl := whole.Core(2, false)
	if tl.Start != 400 || tl.End != 900 || tl.LeftOut != (LeftOut{Before: 400, After: 100}) ||
		tl.LeftOut.String() != "MPI start (400ps) and end (100ps)" {
		t.Errorf("from %d to %d, without %s, want 400 to 900", tl.Start, tl.End, tl.LeftOut)
	}
	for i := range tl.Locations {
		c := &tl.Locations[i].Calls
		if c.Len() != 4 || c.Enter[1] != 400 || c.Leave[1] != unit.Duration(400+50*i) || c.Enter[3] != unit.Duration(800+100*i) ||
			c.Leave[3] != 900 {
			t.Errorf("location %d: calls %+v, want MPI_Init, a send and MPI_Finalize in main", i, c)
		}
	}
	if len(tl.Messages) != 2 || whole.Start != 0 || whole.LeftOut.Any() {
		t.Errorf("%d messages, the whole from %d without %s, want 2 and all of it", len(tl.Messages), whole.Start, whole.LeftOut)
	}
	if diff := gocmp.Diff(tl, whole.Core(1, true), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("with the memory of the whole (-own +its):\n%s", diff)
	}
}

// Of a run that crashed, or of which the recording was cut, the start is left out all the same.
func TestCoreWithoutEnd(t *testing.T) {
	tl := startedRun(1000, false).Core(1, false)
	if tl.Start != 400 || tl.End != 1000 || tl.LeftOut != (LeftOut{Before: 400}) {
		t.Errorf("from %d to %d, without %s, want 400 to 1000", tl.Start, tl.End, tl.LeftOut)
	}
}

// Simulated runs and those with a short start and end stay as they are.
func TestCoreOfOthers(t *testing.T) {
	simulated := startedRun(1000, true)
	simulated.Simulated = true
	for name, tl := range map[string]*Timeline{"simulated": simulated, "short start": startedRun(100_000, true)} {
		if c := tl.Core(1, false); c != tl {
			t.Errorf("%s: cut to %d .. %d", name, c.Start, c.End)
		}
	}
}

// A call without length that stands where the start of MPI ends, or where its end begins, is inside, with its message: a clock may be
// too coarse for it. So it is at the edges of any other part, and those around it are, too.
func TestCoreAtEdges(t *testing.T) {
	b := newTwoRanks()
	main, init, finalize := b.startAndEnd()
	for i, l := range b.l {
		l.Enter(0, main)
		l.Enter(100, init)
		l.Leave(400)
		for tag, at := range []unit.Duration{400, 900} {
			l.Enter(at, b.sendCall)
			if i == tag {
				l.Send(at, int32(1-i), b.world, int32(tag), 1)
			} else {
				l.Recv(at, int32(1-i), b.world, int32(tag), 1)
			}
			l.Leave(at)
		}
		l.Enter(900, finalize)
		l.Enter(900, b.work)
		l.Leave(900)
		l.Leave(1000)
		l.Leave(1000)
	}
	whole := b.Finish(1)
	for calls, tl := range map[int]*Timeline{6: whole.Core(1, false), 5: whole.Window(400, 900, 1)} {
		if tl.Start != 400 || tl.End != 900 || len(tl.Messages) != 2 || tl.Locations[0].Calls.Len() != calls {
			t.Errorf("from %d to %d, %d messages, %d calls, want 400 to 900, 2 and %d", tl.Start, tl.End, len(tl.Messages),
				tl.Locations[0].Calls.Len(), calls)
		}
	}
}
