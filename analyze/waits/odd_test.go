package waits

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// barrierRun is a barrier of ranks that come one after the other and leave together.
func barrierRun(ranks int, step unit.Duration, order []int) *timeline.Builder {
	b := timeline.NewBuilder(ranks)
	world := timeline.Comm{}
	for r := range ranks {
		world.Members = append(world.Members, int32(r))
	}
	b.Comm(world)
	main := b.Region(timeline.Region{Name: "main"})
	barrier := b.Region(timeline.Region{Name: "MPI_Barrier", Paradigm: timeline.MPI})
	for _, r := range order {
		l := b.Location(r, 0, fmt.Sprint("rank ", r), "")
		l.SetClockError(10)
		l.Enter(0, main)
		l.Enter(unit.Duration(r)*step, barrier)
		l.Collective(unit.Duration(ranks)*step, timeline.OpBarrier, 0, -1, 0, 0, nil)
		l.Leave(unit.Duration(ranks) * step)
		l.Leave(unit.Duration(ranks) * step)
	}
	return b
}

func TestWaitsShorterThanTheClockError(t *testing.T) {
	r := analyze(t, barrierRun(3, 15, []int{0, 1, 2}).Finish(1), 1)
	if r.Totals.Waiting.Amount != unit.SumOf(45) || r.Totals.Uncertain != unit.SumOf(15) {
		t.Errorf("waiting %v, uncertain %v, want 45ps and 15ps: the clocks are wrong by up to 20ps", r.Totals.Waiting.Amount, r.Totals.Uncertain)
	}
	for _, s := range r.Largest(5) {
		if s.Uncertain != (s.Amount < 20) {
			t.Errorf("a wait of %v is uncertain: %v", s.Amount, s.Uncertain)
		}
	}
}

// TestLongWaits: waits that are longer than 106 days together are summed and charged as those of a shorter run.
func TestLongWaits(t *testing.T) {
	const ranks, longer = 7, 1 << 50
	short := analyze(t, barrierRun(ranks, 1<<10, []int{0, 1, 2, 3, 4, 5, 6}).Finish(1), 1)
	long := analyze(t, barrierRun(ranks, 1<<10*longer, []int{0, 1, 2, 3, 4, 5, 6}).Finish(2), 2)
	if w := long.Totals.Waiting.Amount; w.High == 0 && w.Low < 1<<63 {
		t.Fatalf("all wait for %v, want more than 106 days", w)
	}
	checkLaws(t, "long", long)
	if len(long.Delays) != len(short.Delays) || long.Totals.Waiting.Amount != short.Totals.Waiting.Amount.Times(longer) {
		t.Fatalf("%d delays, waiting %v, want %d and %v times %d", len(long.Delays), long.Totals.Waiting.Amount, len(short.Delays),
			short.Totals.Waiting.Amount, longer)
	}
	for i, d := range long.Delays {
		if want := short.Delays[i]; d.Place != want.Place || d.Short != want.Short.Times(longer) || d.Long != want.Long.Times(longer) {
			t.Errorf("delay %+v, want %d times %+v", d, longer, want)
		}
	}
}

func TestOrderOfLocationsDoesNotMatter(t *testing.T) {
	want := summary(analyze(t, barrierRun(6, 100, []int{0, 1, 2, 3, 4, 5}).Finish(1), 1))
	got := summary(analyze(t, barrierRun(6, 100, []int{3, 5, 0, 4, 2, 1}).Finish(2), 2))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("in another order (-want +got):\n%s", diff)
	}
}

// TestThreadWaits checks that the waits of threads sum up to those of ranks.
func TestThreadWaits(t *testing.T) {
	threads := 0
	for seed := range runs() / 4 {
		r := analyze(t, randomRun(seed), 1)
		sums := map[waitKey]unit.Duration{}
		for _, w := range r.ThreadWaits() {
			sums[waitKey{w.Metric, w.Rank, w.Path, 0}] += w.Amount.Duration()
			if w.Thread > 0 {
				threads++
			}
		}
		for _, w := range r.Waits {
			key := waitKey{w.Metric, w.Rank, w.Path, 0}
			if sums[key] != w.Amount.Duration() {
				t.Fatalf("seed %d: threads wait %v in %s, want %v", seed, sums[key], w.Metric, w.Amount)
			}
			delete(sums, key)
		}
		if len(sums) > 0 {
			t.Fatalf("seed %d: threads have waits that ranks have not: %v", seed, sums)
		}
	}
	if threads == 0 {
		t.Error("no thread waits")
	}
}

// TestCompletion checks the time after the last one came, by hand: the last enters at 30, the first leaves at 31.
func TestCompletion(t *testing.T) {
	b := timeline.NewBuilder(3)
	b.Comm(timeline.Comm{Members: []int32{0, 1, 2}})
	barrier := b.Region(timeline.Region{Name: "MPI_Barrier", Paradigm: timeline.MPI})
	for r, times := range [][2]unit.Duration{{10, 31}, {20, 40}, {30, 36}} {
		l := b.Location(r, 0, "", "")
		l.Enter(times[0], barrier)
		l.Collective(times[1], timeline.OpBarrier, 0, -1, 0, 0, nil)
		l.Leave(times[1])
	}
	r := analyze(t, b.Finish(1), 1)
	var got []string
	for _, c := range r.Completions {
		got = append(got, fmt.Sprintf("%s rank %d %v", c.Kind, c.Rank, c.Time))
	}
	if diff := cmp.Diff([]string{"barrier_completion rank 1 9ps", "barrier_completion rank 2 5ps"}, got); diff != "" {
		t.Errorf("completion (-want +got):\n%s", diff)
	}
}

// pollRun is a message that rank 0 sends late and rank 1 finds by MPI_Test, which stands for so many calls.
func pollRun(calls int64) *timeline.Timeline {
	b := timeline.NewBuilder(2)
	b.Comm(timeline.Comm{Members: []int32{0, 1}})
	work := b.Region(timeline.Region{Name: "work"})
	send := b.Region(timeline.Region{Name: "MPI_Send", Paradigm: timeline.MPI})
	post := b.Region(timeline.Region{Name: "MPI_Irecv", Paradigm: timeline.MPI})
	test := b.Region(timeline.Region{Name: "MPI_Test", Paradigm: timeline.MPI})
	l := b.Location(0, 0, "rank 0", "")
	l.Enter(0, work)
	l.Leave(100)
	l.Enter(100, send)
	l.Send(100, 1, 0, 0, 8)
	l.Leave(110)
	l = b.Location(1, 0, "rank 1", "")
	l.Enter(0, post)
	l.Post(0, 1)
	l.Leave(10)
	l.Enter(20, test)
	if calls > 1 {
		l.Polls(calls)
	}
	l.IrecvDone(120, 0, 0, 0, 8, 1)
	l.Leave(120)
	return b.Finish(1)
}

// One test never waits; a run of them that found nothing does.
func TestRunOfTestsWaits(t *testing.T) {
	for calls, want := range map[int64]unit.Duration{1: 0, 1000: 80} {
		if got := analyze(t, pollRun(calls), 1).Totals.Waiting.Amount; got != unit.SumOf(want) {
			t.Errorf("an MPI_Test that stands for %d calls waits %v, want %v", calls, got, want)
		}
	}
}
