package pattern

import (
	"slices"
	"strings"
	"testing"

	"slackline/model/collective"
	"slackline/model/schedule"
)

// executor carries out a program without time: it only looks whether all operations can happen.
// With synchronous sends a send waits until its receive is posted, as a rendezvous does.
type executor struct {
	t           *testing.T
	stream      schedule.Stream
	synchronous bool

	ranks    []execRank
	inFlight map[channel]int // sent and not received
	posted   map[channel]int // receives posted and not matched
	sent     map[channel][]int64
	received map[channel][]int64

	messages int64 // of the user
	inside   int64 // of collectives
}

type channel struct {
	from, to int32
	tag      uint32
	context  uint8
}

type execRank struct {
	cursor  schedule.Cursor
	block   schedule.Block
	waiting []int // dependencies that an operation still waits for
	state   []execState
	left    int
	done    bool
}

type execState uint8

const (
	execNew execState = iota
	execPosted
	execDone
)

// execute runs a program to its end and returns the executor, or fails the test.
func execute(t *testing.T, p schedule.Program, synchronous bool) *executor {
	t.Helper()
	x := collective.Expand(p, nil, 0)
	e := &executor{
		t: t, stream: x, synchronous: synchronous,
		ranks:    make([]execRank, p.Ranks()),
		inFlight: map[channel]int{}, posted: map[channel]int{},
		sent: map[channel][]int64{}, received: map[channel][]int64{},
	}
	for progress := true; progress; {
		progress = false
		for r := range e.ranks {
			for e.advance(r) {
				progress = true
			}
		}
	}
	if err := x.Err(); err != nil {
		t.Fatal(err)
	}
	for r := range e.ranks {
		if !e.ranks[r].done {
			t.Fatalf("rank %d of %d is stuck at %+v: %+v", r, len(e.ranks), e.ranks[r].cursor, e.ranks[r].block.Ops)
		}
	}
	for c, n := range e.inFlight {
		if n != 0 {
			t.Fatalf("%d messages never received: %+v", n, c)
		}
	}
	return e
}

// advance does what a rank can do now and reports whether that was anything.
func (e *executor) advance(rank int) bool {
	r := &e.ranks[rank]
	if r.done {
		return false
	}
	if r.left == 0 {
		next, ok := e.stream.Next(rank, r.cursor, &r.block)
		if !ok {
			r.done = true
			return true
		}
		r.cursor = next
		r.begin()
		return true
	}
	progress := false
	for i := range r.block.Ops {
		if r.waiting[i] == 0 && r.state[i] != execDone && e.try(rank, i) {
			progress = true
		}
	}
	return progress
}

func (r *execRank) begin() {
	n := len(r.block.Ops)
	r.left = n
	r.waiting, r.state = make([]int, n), make([]execState, n)
	for _, d := range r.block.Dependents {
		r.waiting[d.Index()]++
	}
}

// try posts or finishes an operation.
func (e *executor) try(rank, i int) bool {
	r := &e.ranks[rank]
	op := &r.block.Ops[i]
	before := r.state[i]
	switch op.Kind {
	case schedule.Send:
		c := channel{int32(rank), op.Peer, op.Tag, op.World()}
		if e.synchronous && !op.IsBuffered() && e.posted[c] == 0 {
			return false
		}
		if e.synchronous {
			e.posted[c]--
		}
		e.inFlight[c]++
		if op.World() == schedule.UserContext {
			e.messages++
			e.sent[c] = append(e.sent[c], op.Size)
		} else {
			e.inside++
		}
	case schedule.Recv:
		c := channel{op.Peer, int32(rank), op.Tag, op.Context}
		if before == execNew {
			e.posted[c]++
			r.state[i] = execPosted
			if op.Context == schedule.UserContext {
				e.received[c] = append(e.received[c], op.Size)
			}
		}
		if e.inFlight[c] == 0 {
			return before == execNew
		}
		e.inFlight[c]--
		if !e.synchronous {
			e.posted[c]--
		}
	}
	r.state[i] = execDone
	r.left--
	if len(r.block.First) > 0 {
		for _, d := range r.block.Dependents[r.block.First[i]:r.block.First[i+1]] {
			r.waiting[d.Index()]--
		}
	}
	return true
}

// small returns parameters that keep a pattern small, whatever its default.
func small(ranks int) Params { return Params{Ranks: ranks, Iterations: 2, Seed: 5} }

// Every pattern runs to its end on any number of ranks, also if all its sends are synchronous;
// every message has its receive, of the same size; and Count knows the number.
func TestRunsToItsEnd(t *testing.T) {
	for _, info := range List() {
		t.Run(info.Name, func(t *testing.T) {
			t.Parallel()
			for ranks := 1; ranks <= 70; ranks++ {
				long := info.Kind == Application || testing.Short() && strings.HasPrefix(info.Name, "clocks")
				if long && ranks > 12 && ranks%29 != 0 {
					continue
				}
				checkExecution(t, info, small(ranks))
			}
		})
	}
}

func TestRunsPeriodic(t *testing.T) {
	for _, name := range []string{"halo2d", "halo3d", "neighbor_alltoall"} {
		info := mustFind(t, name).Info
		for ranks := 1; ranks <= 40; ranks++ {
			p := small(ranks)
			p.Periodic = true
			checkExecution(t, info, p)
			p.Grid = []int{ranks, 1}
			if name == "halo3d" {
				p.Grid = []int{1, 1, ranks}
			}
			checkExecution(t, info, p)
		}
	}
}

func checkExecution(t *testing.T, info Info, p Params) {
	t.Helper()
	prog := mustNew(t, info.Name, p)
	totals, ok := Count(prog)
	if !ok {
		t.Fatal("Count does not know the program")
	}
	compare(t, prog, false, totals.Messages)
	if info.Kind == Collective {
		return // the algorithms are tested where they are
	}
	p.Without = []string{Collectives}
	compare(t, mustNew(t, info.Name, p), true, totals.Messages)
}

// compare executes a program and looks at its point-to-point messages.
func compare(t *testing.T, prog schedule.Program, synchronous bool, messages int64) {
	t.Helper()
	e := execute(t, prog, synchronous)
	if e.messages != messages {
		t.Fatalf("%d ranks: %d messages, Count says %d", prog.Ranks(), e.messages, messages)
	}
	for c, sizes := range e.sent {
		if got := e.received[c]; !slices.Equal(got, sizes) {
			t.Fatalf("%d ranks: %+v: sizes sent %v, received %v", prog.Ranks(), c, sizes, got)
		}
	}
}

func mustNew(t testing.TB, name string, p Params) schedule.Program {
	t.Helper()
	prog, err := New(name, p)
	if err != nil {
		t.Fatal(err)
	}
	return prog
}

func mustFind(t testing.TB, name string) *definition {
	t.Helper()
	d, err := find(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
