package record

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"slackline/model/trace"
	"slackline/observe/counters"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

func events(t *testing.T, names ...string) []counters.Event {
	t.Helper()
	list, err := counters.Parse(names)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// grown is by how much a metric grew outside of MPI and inside, after a location's first call.
func (r *recording) grown(t *testing.T, location int, name string) (outside, inside uint64) {
	t.Helper()
	depth, last, known := 0, uint64(0), false
	for _, e := range r.events(t, location) {
		switch {
		case e.Kind == trace.Enter && strings.HasPrefix(r.Regions[e.Region].Name, "MPI_"):
			depth++
		case e.Kind == trace.Leave && strings.HasPrefix(r.Regions[e.Region].Name, "MPI_"):
			depth--
		case e.Kind == trace.Count && r.Metrics[e.Object].Name == name:
			switch {
			case known && e.Request < last:
				t.Errorf("location %d: %s falls from %d to %d", location, name, last, e.Request)
			case known && depth > 0:
				inside += e.Request - last
			case known:
				outside += e.Request - last
			}
			last, known = e.Request, true
		}
	}
	return outside, inside
}

// TestCounters wants what each thread counts between its calls of MPI, and nothing of what is counted inside of them: fresh pages are
// touched a known number of times. The recorder's own pages are touched when records are written.
func TestCounters(t *testing.T) {
	const steps = 50
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "counters.c", "-O1", "-g", "-pthread")
		o := sampled(append(mpitest.Launch(l, 2), program, "descriptors")...)
		o.Counters = events(t, "page-faults", "context-switches", "task-clock")
		r := recorded(t, o)
		if len(r.Metrics) != 3 || r.Metrics[2].Unit != "ns" || len(r.Locations) != 4 {
			t.Fatalf("metrics %v of %d locations, want 3 of 4", r.Metrics, len(r.Locations))
		}
		for i, l := range r.Locations {
			want := uint64(steps * (200 + 200*l.Rank)) // rank 1 touches 100 more before it tests
			if l.Thread > 0 {
				want = uint64(2 * steps * (400 + 100*l.Rank)) // one after the other
			}
			got, _ := r.grown(t, i, "page-faults")
			if got < want || got > want+want/20 {
				t.Errorf("rank %d thread %d: %d page faults between calls, want %d to %d", l.Rank, l.Thread, got, want, want+want/20)
			}
			outside, inside := r.grown(t, i, "task-clock")
			if ran := outside + inside; ran == 0 || ran > uint64(r.result.Elapsed) {
				t.Errorf("rank %d thread %d: a task clock of %d ns, want at most that of the run, %d", l.Rank, l.Thread, ran, r.result.Elapsed)
			}
		}
		checkDescriptors(t, r.stdout, append(mpitest.Launch(l, 2), program, "descriptors"))
	})
}

// checkDescriptors wants that a child and the end of the program see no descriptor of a counter.
func checkDescriptors(t *testing.T, got string, command []string) {
	t.Helper()
	want := recorded(t, sampled(command...)).stdout
	sorted := func(text string) []string { return slices.Sorted(strings.Lines(text)) }
	if !slices.Equal(sorted(got), sorted(want)) || strings.Count(want, "\n") != 4 {
		t.Errorf("open descriptors:\n%swant as without counters:\n%s", got, want)
	}
}

// TestCountersRefused wants a run that is recorded where counters are not permitted, and one sentence that says why.
func TestCountersRefused(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "counters.c", "-O1", "-g", "-pthread")
		o := sampled(append(mpitest.Launch(l, 2), program)...)
		o.Counters = events(t, "page-faults")
		o.Counters = append(o.Counters, counters.Event{Name: "unknown", Type: o.Counters[0].Type, Config: 1 << 20})
		r := recorded(t, o)
		if len(r.Metrics) != 1 || r.Metrics[0].Name != "page-faults" {
			t.Errorf("metrics = %v, want page-faults", r.Metrics)
		}
		if got, _ := r.grown(t, 0, "page-faults"); got == 0 {
			t.Error("page faults were not counted")
		}
		said := strings.Join(r.talk, "\n")
		if want := counters.Refusal([]string{"unknown"}, syscall.EINVAL); !strings.Contains(said, want) &&
			!strings.Contains(said, counters.Refusal([]string{"unknown"}, syscall.ENOENT)) || strings.Count(said, "unknown") != 1 {
			t.Errorf("said %q, want %q once", said, want)
		}
	})
}
