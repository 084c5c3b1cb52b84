package simulate

import (
	"encoding/binary"
	"fmt"
	"time"

	"slackline/internal/chunk"
)

// Whether sharing a run pays. Processes that share it exchange something at the end of every window. If a window holds
// little work, or the network is slow, that takes longer than the work that the others save: one process would be
// faster. Process 0 finds out while they run. It knows how long each round took, and all tell it how long they
// computed in it; one process would have needed the sum, with as many threads. When the processes have lost more than
// they would have needed alone, and still lose, process 0 tells all to stop, in the exchange that ends a round, so that
// all know it at the same moment. What has been simulated is dropped: process 0 begins anew, alone, with the result
// that they would have come to. A run that begins with little work in a window and has more of it later loses little
// until then, for windows pass quickly.

// sharePatience is how long the processes may lose time before process 0 does without them: long enough for a
// disturbance, and short for a user who waits.
const sharePatience = 250 * time.Millisecond

// SlowerError ends a shared run, on all processes, that process 0 is to carry out alone because it is faster by itself.
type SlowerError struct {
	Rounds int64         // so far; on process 0
	Took   time.Duration // what they took
	Alone  time.Duration // what one process would have needed for them
}

func (e *SlowerError) Error() string {
	return fmt.Sprintf("%d windows took %s, but one process would have needed %s for them", e.Rounds, e.Took, e.Alone)
}

// payoff measures what sharing costs and saves.
type payoff struct {
	leave func() bool // process 0: may it do without the others?
	begun time.Time   // when the round began
	ended time.Time   // when its computation was done
	stop  bool        // process 0: tell the others to stop

	rounds      int64
	took, alone time.Duration // so far
	// The same when rounds was the last power of two.
	tookBefore, aloneBefore time.Duration
}

// begin starts the first round of a link.
func (p *payoff) begin() {
	if p != nil {
		p.begun = time.Now()
	}
}

// computed ends the computation of a round.
func (p *payoff) computed() {
	if p != nil {
		p.ended = time.Now()
	}
}

// partFor begins the part that process rank has for process q: it tells process 0 how long it has computed, and process
// 0 tells the others whether to stop.
func (p *payoff) partFor(part []byte, rank, q int) []byte {
	switch part = part[:0]; {
	case p == nil:
	case q == 0:
		part = binary.AppendUvarint(part, uint64(p.ended.Sub(p.begun)))
	case rank == 0 && p.stop:
		part = append(part, 1)
	case rank == 0:
		part = append(part, 0)
	}
	return part
}

// hear takes the beginnings off the parts that have come.
func (p *payoff) hear(in [][]byte, rank int) error {
	if p == nil {
		return nil
	}
	stop, busy := p.stop, time.Duration(0)
	for q := range in {
		c := chunk.Column{B: in[q]}
		switch {
		case rank == 0:
			busy += time.Duration(c.Uint())
		case q == 0:
			stop = c.Byte() != 0
		}
		if c.Bad {
			return errParcels
		}
		in[q] = in[q][c.At:]
	}
	if stop {
		return &SlowerError{p.rounds, p.took, p.alone}
	}
	now := time.Now()
	if rank == 0 {
		p.add(now.Sub(p.begun), busy)
	}
	p.begun = now
	return nil
}

// add takes in a round, and decides whether to stop.
func (p *payoff) add(took, alone time.Duration) {
	p.rounds++
	p.took += took
	p.alone += alone
	if p.leave != nil && p.took-p.alone > sharePatience+p.alone && p.took-p.tookBefore > p.alone-p.aloneBefore {
		p.stop = p.leave()
		p.leave = nil // it is asked once
	}
	if p.rounds&(p.rounds-1) == 0 {
		p.tookBefore, p.aloneBefore = p.took, p.alone
	}
}
