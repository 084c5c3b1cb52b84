package whatif

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"slackline/analyze/simulate"
	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// exchange is one message between two processes that have something else to do before. All times are
// nanoseconds.
type exchange struct {
	l, o, perByte, cpuByte int64
	size                   int64
	rendezvous             bool
	send, receive          int64 // work before the send and before the receive is waited for
	sendNoise, recvNoise   int64 // detour in that work
	nonblocking            bool  // the receive is posted at 0, and waited for after the work
	overlap                int64 // of a non-blocking send: work between the send and its wait; -1: blocking
}

func drawExchange(t *rapid.T) exchange {
	ns := func(name string) int64 { return rapid.Int64Range(0, 5000).Draw(t, name) }
	e := exchange{
		l: ns("L"), o: ns("o"), perByte: rapid.Int64Range(0, 9).Draw(t, "G"), cpuByte: rapid.Int64Range(0, 9).Draw(t, "O"),
		size:        rapid.SampledFrom([]int64{1, 2, 100, 1000}).Draw(t, "size"),
		rendezvous:  rapid.Bool().Draw(t, "rendezvous"),
		send:        ns("T_s"),
		receive:     3 * ns("T_r"),
		nonblocking: rapid.Bool().Draw(t, "non-blocking receive"),
		overlap:     rapid.SampledFrom([]int64{-1, 0, 1000, 20000}).Draw(t, "overlap"),
	}
	if e.send > 0 {
		e.sendNoise = ns("noise before the send")
	}
	if e.receive > 0 {
		e.recvNoise = ns("noise before the receive")
	}
	return e
}

// goal writes the exchange as a schedule, with this much work in front.
func (e *exchange) goal(send, receive int64) string {
	text := fmt.Sprintf("num_ranks 2\nrank 0 {\nc: calc %d\ns: send %db to 1\ns requires c\n", send, e.size)
	if e.overlap >= 0 {
		text += fmt.Sprintf("d: calc %d\nd irequires s\nw: calc 0\nw requires d\nw requires s\n", e.overlap)
	}
	text += fmt.Sprintf("}\nrank 1 {\nc: calc %d\nr: recv %db from 0\nw: calc 0\nw requires c\nw requires r\n", receive, e.size)
	if !e.nonblocking {
		text += "r requires c\n"
	}
	return text + "}\n"
}

// run simulates the exchange. In loggops the noise is noise; loggps knows none, so it is more work.
func (e *exchange) run(t *rapid.T, model simulate.Model) *simulate.Result {
	send, receive := e.send, e.receive
	options := simulate.Options{Model: model}
	if model == simulate.LogGPS {
		send, receive = send+e.sendNoise, receive+e.recvNoise
	} else {
		in, err := noise.NewInjection(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for rank, d := range [][2]int64{{e.send, e.sendNoise}, {e.receive, e.recvNoise}} {
			if err := in.Delay(rank, d[0]/2*1000, d[1]*1000); err != nil {
				t.Fatal(err)
			}
		}
		options.Noise, options.Breakdown = in, true
	}
	format, err := schedule.Sniff("exchange", []byte(e.goal(send, receive)))
	if err != nil {
		t.Fatal(err)
	}
	graph, err := format.Read("exchange", []byte(e.goal(send, receive)))
	if err != nil {
		t.Fatal(err)
	}
	limit := int64(math.MaxInt64)
	if e.rendezvous {
		limit = 0
	}
	m := machine.FromParams("m", machine.Params{
		Latency: ns(e.l), Overhead: machine.One(ns(e.o)), PerByte: machine.One(unit.PerByte(e.perByte * 1_000_000)),
		CPUByte: unit.PerByte(e.cpuByte * 1_000_000), Eager: limit,
	})
	r, err := simulate.Run(t.Context(), graph, m, options)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func ns(n int64) unit.Duration { return unit.Duration(n) * unit.Nanosecond }

// TestWaitingLogGOPS holds the formulas of docs/models.md, section Waiting, for the model loggops.
func TestWaitingLogGOPS(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawExchange(t)
		r := e.run(t, simulate.LogGOPS)
		bytes, cpuBytes := (e.size-1)*e.perByte, (e.size-1)*e.cpuByte
		ts, tr := e.send+e.sendNoise, e.receive+e.recvNoise

		// The receiver: eager or not, blocking or not.
		n := e.o + e.l
		xr := max(ts+n-tr, 0)
		if got := r.Ranks[1].Waiting; got != ns(xr) {
			t.Errorf("%+v: X_r = %v, want %v", e, got, ns(xr))
		}
		if got, want := r.Finish[1], ns(tr+xr+e.o+max(bytes, cpuBytes)); got != want {
			t.Errorf("%+v: the receiver finishes at %v, want %v", e, got, want)
		}
		if got := r.Ranks[1].Noise; got != ns(e.recvNoise) {
			t.Errorf("%+v: noise of the receiver = %v", e, got)
		}

		// The sender waits for nobody, or until its message is matched.
		wait := ts + e.o + cpuBytes + max(e.overlap, 0)
		xs := int64(0)
		if e.rendezvous {
			// Also a receive that was posted long ago is matched only when the receiver has a CPU.
			xs = max(max(ts+e.o+e.l, tr)-wait, 0)
		}
		if got, want := r.Finish[0], ns(wait+xs); got != want {
			t.Errorf("%+v: the sender finishes at %v, want %v (X_s = %v)", e, got, want, ns(xs))
		}
	})
}

// TestWaitingLogGPS holds the formulas for the model loggps, in which nothing competes for a CPU.
func TestWaitingLogGPS(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawExchange(t)
		r := e.run(t, simulate.LogGPS)
		bytes := (e.size - 1) * e.perByte
		ts, tr := e.send+e.sendNoise, e.receive+e.recvNoise
		posted := tr
		if e.nonblocking {
			posted = 0
		}

		n := e.o + e.l + bytes
		sent, received := ts+e.o, max(posted, ts+n)+e.o
		if e.rendezvous {
			matched := max(ts+e.o+e.l, posted)
			sent = matched + e.l + 2*e.o + bytes
			received = sent + e.l + e.o
		}
		// The receiver: blocking, its overhead follows the waiting; non-blocking, it is hidden.
		if !e.rendezvous {
			xr := max(ts+n-tr, 0)
			end := tr + xr + e.o
			if e.nonblocking {
				xr = max(ts+n+e.o-tr, 0)
				end = tr + xr
			}
			if got := r.Finish[1]; got != ns(end) {
				t.Errorf("%+v: the receiver finishes at %v, want %v (X_r = %v)", e, got, ns(end), ns(xr))
			}
		}
		if got, want := r.Finish[1], ns(max(tr, received)); got != want {
			t.Errorf("%+v: the receiver finishes at %v, want %v", e, got, want)
		}
		if got, want := r.Finish[0], ns(max(ts+max(e.overlap, 0), sent)); got != want {
			t.Errorf("%+v: the sender finishes at %v, want %v", e, got, want)
		}
	})
}
