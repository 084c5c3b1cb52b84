package simulate

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"slackline/model/machine"
	"slackline/model/schedule"
)

// Two ranks send each other a large message, blocking and not. With L = 100, o = 20, bG = 400 a rendezvous of which both
// ends are ready at 1000 and 3000 takes its sender until 3000 + 100 + 40 + 400, its receiver 120 longer. A computation that
// does not wait for the send starts with it.
func TestStaticCalls(t *testing.T) {
	m := machine.FromParams("m", plainParams(100_000, 20_000, 0, 1_000_000, 10))
	g := readGoal(t, `num_ranks 2
rank 0 {
a: calc 1000
s: send 401b to 1
b: calc 500
s requires a
b requires s
}
rank 1 {
a: calc 3000
r: recv 401b from 0
r requires a
}`)
	r, err := Run(t.Context(), g, m, Options{Model: LogGPS, Calls: true})
	if err != nil {
		t.Fatal(err)
	}
	expectCalls(t, r.Calls, 0, "compute 0 1000\nMPI_Send 1000 3540\ncompute 3540 4040")
	expectCalls(t, r.Calls, 1, "compute 0 3000\nMPI_Recv 3000 3660")

	g = readGoal(t, `num_ranks 2
rank 0 {
a: calc 1000
s: send 401b to 1
b: calc 500
s requires a
b requires a
}
rank 1 {
a: calc 3000
r: recv 401b from 0
b: calc 100
r requires a
b requires a
}`)
	if r, err = Run(t.Context(), g, m, Options{Model: LogGPS, Calls: true}); err != nil {
		t.Fatal(err)
	}
	expectCalls(t, r.Calls, 0, "compute 0 1000\nMPI_Isend 1000 1000\ncompute 1000 1500\nMPI_Wait 1500 3540")
	expectCalls(t, r.Calls, 1, "compute 0 3000\nMPI_Irecv 3000 3000\ncompute 3000 3100\nMPI_Wait 3100 3660")
}

// tagMessages gives each message a tag of its own: the model pairs messages in file order, a timeline in the order of time.
func tagMessages(t *rapid.T, g *schedule.Graph) {
	matching, err := schedule.Match(g)
	if err != nil {
		t.Fatal(err)
	}
	ops := g.Ops()
	for i := range ops {
		if ops[i].Kind == schedule.Send {
			ops[i].Tag, ops[matching.Partner[i]].Tag = uint32(i), uint32(i)
		}
	}
}

// The calls of any graph fill the time of its ranks, and every message is there.
func TestStaticCallsOfRandomPrograms(t *testing.T) {
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		g, m := drawStatic(t), drawClasses(t)
		plain, err := Run(context.Background(), g, m, Options{Model: LogGPS})
		var cycle *schedule.CycleError
		if errors.As(err, &cycle) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		runs++
		tagMessages(t, g)
		r, err := Run(context.Background(), g, m, Options{Model: LogGPS, Calls: true})
		if err != nil {
			t.Fatal(err)
		}
		if r.Makespan != plain.Makespan {
			t.Errorf("makespan = %s, want %s as without calls", r.Makespan, plain.Makespan)
		}
		if err := checkCallsOf(r); err != nil {
			t.Fatal(err)
		}
		if n := int64(len(r.Calls.Messages)); n != r.Messages {
			t.Errorf("%d messages, want %d", n, r.Messages)
		}
	})
	if runs == 0 {
		t.Error("every graph had a cycle")
	}
}
