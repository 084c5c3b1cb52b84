package simulate_test

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"slackline/analyze/simulate"
	"slackline/model/machine"
	"slackline/model/pattern"
	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// The applications of the noise paper, section V, on the machine and at the scale at which the
// paper measured them: shares of the run time in percent.
var applications = []struct {
	name          string
	ranks         int
	communication float64
	collectives   float64
}{
	{"sweep3d", 100, 17.2, 17.2 * 0.076},
	{"amg", 125, 9.72 / 0.55, 9.72}, // 45 % of the communication is point-to-point
	{"pop", 128, 77.2, 77},
}

// tolerance is what the calibration promises, in percentage points.
const tolerance = 1.0

// The share of communication is what an MPI profiler sees: everything but the computation, as a
// mean over the ranks.
func TestApplicationShares(t *testing.T) {
	if testing.Short() { // also under the race detector, which it would keep busy for minutes
		t.Skip("long runs")
	}
	for _, app := range applications {
		t.Run(app.name, func(t *testing.T) {
			r := runApplication(t, app.name, pattern.Params{Ranks: app.ranks}, simulate.Options{Breakdown: true})
			compute := 0.0
			for _, rank := range r.Ranks {
				compute += float64(rank.Compute)
			}
			got := 100 - 100*compute/float64(app.ranks)/float64(r.Makespan)
			t.Logf("makespan %s, %d messages, communication %.2f %%", r.Makespan.Short(), r.Messages, got)
			if math.Abs(got-app.communication) > tolerance {
				t.Errorf("communication = %.2f %% of the time, want %.2f", got, app.communication)
			}
		})
	}
}

// The share of the collectives includes the waiting in them. It is read off the timeline: the time
// up to the end of an activity that belongs to a collective, since the activity before it.
func TestApplicationCollectives(t *testing.T) {
	if testing.Short() {
		t.Skip("records timelines of a million messages")
	}
	for _, app := range applications {
		t.Run(app.name, func(t *testing.T) {
			r := runApplication(t, app.name, pattern.Params{Ranks: app.ranks}, simulate.Options{Detail: true})
			inside := unit.Duration(0)
			for _, location := range r.Detail.Tracks {
				inside += collectiveTime(r.Detail, location.Activities)
			}
			got := 100 * float64(inside) / float64(app.ranks) / float64(r.Makespan)
			t.Logf("collectives %.2f %%", got)
			if math.Abs(got-app.collectives) > tolerance {
				t.Errorf("collectives = %.2f %% of the time, want %.2f", got, app.collectives)
			}
		})
	}
}

func collectiveTime(tl *timeline.Detail, activities []timeline.Activity) unit.Duration {
	var inside, last unit.Duration
	for _, a := range activities {
		if isCollective(tl.Calls[a.Call]) {
			inside += a.End - last
		}
		last = a.End
	}
	return inside
}

func isCollective(call string) bool {
	op := strings.ToLower(strings.TrimPrefix(call, "MPI_"))
	return slices.ContainsFunc(schedule.Operations(), func(o schedule.Operation) bool { return o.String() == op })
}

// What a program sends is what its parts say, with and without either kind of communication.
func TestApplicationMessages(t *testing.T) {
	const ranks = 20
	for _, app := range applications {
		for _, without := range [][]string{nil, {pattern.PointToPoint}, {pattern.Collectives}} {
			t.Run(fmt.Sprint(app.name, " without ", without), func(t *testing.T) {
				p := pattern.Params{Ranks: ranks, Iterations: 2, Without: without}
				r := runApplication(t, app.name, p, simulate.Options{})
				if want := messages(t, app.name, p); r.Messages != want {
					t.Errorf("Messages = %d, want %d", r.Messages, want)
				}
			})
		}
	}
}

// messages adds what the collectives send under the default mapping to the messages of a pattern.
func messages(t *testing.T, name string, p pattern.Params) int64 {
	prog, err := pattern.New(name, p)
	if err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	collectives := map[schedule.Operation]int64{} // calls by rank 0
	var b schedule.Block
	for rank := range p.Ranks {
		for step := range prog.Steps(rank) {
			prog.Block(rank, step, &b)
			for _, op := range b.Ops {
				switch {
				case op.Kind == schedule.Send:
					n++
				case op.Kind == schedule.Collective && rank == 0:
					collectives[b.Calls[op.Size].Op]++
				}
			}
		}
	}
	rounds := int64(bits.Len(uint(p.Ranks - 1)))
	for op, calls := range collectives {
		switch op {
		case schedule.Allreduce, schedule.Barrier, schedule.Allgather: // dissemination, Bruck
			n += calls * int64(p.Ranks) * rounds
		case schedule.Bcast: // binomial
			n += calls * int64(p.Ranks-1)
		case schedule.Scan: // recursive doubling: the partner is there or not
			for r := range p.Ranks {
				for k := range rounds {
					if r^1<<k < p.Ranks {
						n += calls
					}
				}
			}
		default:
			t.Fatalf("no formula for %s", op)
		}
	}
	return n
}

func runApplication(t *testing.T, name string, p pattern.Params, o simulate.Options) *simulate.Result {
	t.Helper()
	xt4, err := machine.Named("xt4")
	if err != nil {
		t.Fatal(err)
	}
	prog, err := pattern.New(name, p)
	if err != nil {
		t.Fatal(err)
	}
	o.Threads = 1 // so few ranks gain nothing from more
	r, err := simulate.Run(context.Background(), prog, xt4, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
