package simulate

import "time"

// pacer decides how the threads of the window engine carry out their cores: together, as at the
// beginning, or the first one all of them.
type pacer interface {
	// looks reports whether next is to be called in a round.
	looks(round int) bool
	// next takes the number of visits so far and the time that all threads have waited, and reports
	// whether the first one is to go on alone.
	next(visits, waited int64) (alone bool)
}

// pace decides by measurement. Windows may be so small that the threads only wait for each other, the
// CPUs may be the two halves of one core, or others may use them: what counts is the time per visit.
// It is measured in spells of a few milliseconds. From time to time the other way is tried, less and
// less often if it is slower; and never while the threads hardly wait.
type pace struct {
	threads int
	alone   bool // the way that is in use

	clock          func() int64 // nanoseconds
	began, length  int64        // of the spell
	visits, waited int64        // before it
	warm           bool         // the spell only brings the hosts to the caches of their threads
	trial          bool         // it tells whether this way is faster than the other one,
	before         float64      // which took so long for a visit
	rest           int          // spells until the next trial
	patience       int          // spells to rest after a trial that has failed
}

const (
	firstSpell = 250 * time.Microsecond
	longSpell  = 4 * time.Millisecond
	// lookEvery is how many rounds pass between two looks at the clock.
	lookEvery    = 16
	shortestRest = 4
	longestRest  = 128
	// busyEnough is how many threads must be busy on average to make a trial pointless, also where
	// two of them share a core.
	busyEnough = 1.7
)

func newPace(threads int) *pace {
	began := time.Now()
	return &pace{
		threads: threads, alone: threads == 1, length: int64(firstSpell), patience: shortestRest,
		clock: func() int64 { return int64(time.Since(began)) },
	}
}

func (p *pace) looks(round int) bool { return p.threads > 1 && round%lookEvery == lookEvery-1 }

func (p *pace) next(visits, waited int64) (alone bool) {
	now := p.clock()
	wall := now - p.began
	if wall < p.length {
		return p.alone
	}
	cost := float64(wall) / float64(max(visits-p.visits, 1))
	busy := float64(p.threads) - float64(waited-p.waited)/float64(wall)
	p.began, p.visits, p.waited = now, visits, waited
	p.length = min(2*p.length, int64(longSpell))
	switch {
	case p.warm:
		p.warm = false
	case p.trial && cost < p.before:
		p.trial, p.patience, p.rest = false, shortestRest, shortestRest
	case p.trial:
		p.trial, p.patience, p.rest = false, min(2*p.patience, longestRest), p.patience
		p.turn()
	case p.rest > 0:
		p.rest--
	case p.alone || busy < busyEnough:
		p.trial, p.before = true, cost
		p.turn()
	}
	return p.alone
}

// turn goes over to the other way.
func (p *pace) turn() {
	p.alone = !p.alone
	p.warm = true
}
