package profile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"slackline/model/unit"
)

// looped is a run in which rank 0 calls step at the given times for so long each, and rank 1 the same or a bit later.
func looped(t *testing.T, end, length, later unit.Duration, starts ...unit.Duration) *Profile {
	t.Helper()
	var text strings.Builder
	for rank := range unit.Duration(2) {
		fmt.Fprintf(&text, "rank %d\n0 main {\n", rank)
		for _, s := range starts {
			s += rank * later
			fmt.Fprintf(&text, "  %d step {\n    %d..%d MPI_Barrier: barrier\n  } %d\n", s, s+length-1, s+length, s+length)
		}
		fmt.Fprintf(&text, "} %d\n", end)
	}
	return runOf(t, text.String())
}

// TestIterationsThatCover: calls that fill nine tenths of their time are the iterations themselves, all of them; worked out by hand.
func TestIterationsThatCover(t *testing.T) {
	p := looped(t, 60, 10, 2, 0, 10, 20, 30, 40)
	it := p.Iterations()
	if it == nil || it.CallPath != "main/step" || !it.Covers || len(it.List) != 5 {
		t.Fatalf("%+v", it)
	}
	for k, i := range it.List {
		want := Iteration{Begin: unit.Duration(10 * k), Duration: 10, Computation: 9, MaxComputation: 9, MPI: 1}
		if i != want {
			t.Errorf("iteration %d: %+v, want %+v", k, i, want)
		}
	}
}

// TestIterationsUntilTheNext: calls that fill less of it last until the next one; the last one has no end and is left out.
func TestIterationsUntilTheNext(t *testing.T) {
	it := looped(t, 60, 8, 0, 0, 10, 20, 30, 40).Iterations()
	if it == nil || it.Covers || len(it.List) != 4 {
		t.Fatalf("%+v", it)
	}
	if want := (Iteration{Begin: 30, Duration: 10, Computation: 9, MaxComputation: 9, MPI: 1}); it.List[3] != want {
		t.Errorf("%+v, want %+v", it.List[3], want)
	}
}

// TestIterationsNeedRhythm: three calls are not enough, nor is what divides less than a quarter of the run evenly, nor what the ranks
// do not do equally often.
func TestIterationsNeedRhythm(t *testing.T) {
	const f = "0..10 f\n10..20 f\n20..30 f\n30..40 f\n"
	for name, p := range map[string]*Profile{
		"three calls":       looped(t, 40, 10, 0, 0, 10, 20),
		"a small part":      looped(t, 1000, 10, 0, 0, 10, 20, 30, 40),
		"uneven":            looped(t, 100, 1, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 90),
		"not equally often": runOf(t, "rank 0\n"+f+"rank 1\n0..10 f\n10..20 f\n20..30 f\n30..35 f\n35..40 f\n"),
		"not on all ranks":  runOf(t, "rank 0\n"+f+"rank 1\n0..40 g\n"),
		"all at one time":   runOf(t, "rank 0\n0..0 f\n0..0 f\n0..0 f\n0..0 f\n0..9 g\n"),
		"on another thread": runOf(t, "rank 0\n"+f+"rank 1\n0..40 g\nrank 1 thread 1\n"+f),
	} {
		if it := p.Iterations(); it != nil {
			t.Errorf("%s: %d iterations of %s", name, len(it.List), it.CallPath)
		}
	}
}

// TestIterationsAddUp: ranks that lag do not prolong iterations, and the calls around those that divide the run most evenly are the
// iterations, so that the last one has an end, too.
func TestIterationsAddUp(t *testing.T) {
	var text strings.Builder
	for rank, lag := range []int{0, 300} {
		fmt.Fprintf(&text, "rank %d\n", rank)
		for k := range 5 {
			at := lag + 100*k
			fmt.Fprintf(&text, "%d step {\n%d..%d solve\n%d..%d MPI_Barrier: barrier\n} %d\n", at, at+k%2, at+80, at+80, at+90, at+98)
		}
	}
	it := runOf(t, text.String()).Iterations()
	if it == nil || it.CallPath != "step" || !it.Covers || len(it.List) != 5 {
		t.Fatalf("%+v", it)
	}
	sum := unit.Duration(0)
	for _, i := range it.List {
		sum += i.Duration
	}
	if last := it.List[4]; sum != 498 || last.Begin != 400 || last.Duration != 98 {
		t.Errorf("the iterations take %v, the last one is %+v; want 498, and 98 from 400 on", sum, last)
	}
}

// TestAddWait: a wait counts for the iteration in which it begins, from its first to before its last moment.
func TestAddWait(t *testing.T) {
	p := looped(t, 60, 9, 2, 0, 10, 20, 30, 40) // until the next call, on rank 1 2 ps later
	it := p.Iterations()
	if it == nil || len(it.List) != 5 || !it.Covers {
		t.Fatalf("%+v", it)
	}
	for i, w := range []struct {
		rank int
		at   unit.Duration
	}{{0, 0}, {0, 8}, {0, 9}, {0, 10}, {1, 1}, {1, 2}, {1, 50}, {1, 51}, {1, 42}, {0, 1 << 60}} {
		it.addWait(w.rank, w.at, 1<<i) // so that each differs from the others
	}
	var got []unit.Duration
	for _, w := range it.waiting {
		got = append(got, w.Duration())
	}
	// Rank 0: [0,10) [10,20) ... [40,49); rank 1: [2,12) [12,22) ... [42,51). The moments 1 and 51 of rank 1 are in none.
	if want := []unit.Duration{1 + 2 + 4 + 32, 8, 0, 0, 64 + 256}; !slices.Equal(got, want) {
		t.Errorf("waiting %v, want %v", got, want)
	}
}

func TestIterations(t *testing.T) {
	p, err := New(ringRun(3, 8), Options{})
	if err != nil {
		t.Fatal(err)
	}
	it := p.iterations(func(add func(rank int, at, amount unit.Duration)) {
		add(1, p.Iterations().List[2].Begin+5, 9)
	})
	if it == nil {
		t.Fatal("no iterations were found")
	}
	if len(it.List) != 7 || it.Covers {
		t.Fatalf("%d iterations of %s, covered: %v; want 7 between calls", len(it.List), p.Paths.Names[it.Path], it.Covers)
	}
	for k, i := range it.List {
		if i.Duration < 100 || i.Duration > 102 || i.MaxComputation < i.Computation || i.Computation < 30 {
			t.Errorf("iteration %d = %+v", k, i)
		}
		if k != 2 && i.Waiting != 0 || k == 2 && i.Waiting != 3 { // the mean of three ranks
			t.Errorf("waiting of iteration %d = %v", k, i.Waiting)
		}
	}
}

// TestNoIterations checks that a program without repetition has none.
func TestNoIterations(t *testing.T) {
	p, err := New(ringRun(2, 2), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if it := p.Iterations(); it != nil {
		t.Errorf("found %d iterations of %s", len(it.List), p.Paths.Names[it.Path])
	}
}
