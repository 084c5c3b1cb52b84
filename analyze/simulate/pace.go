package simulate

import "time"

// pacer decides in which way the threads of the window engine carry out their cores; at the beginning together.
type pacer interface {
	// next takes the number of visits up to a round and the time that all threads have waited, and returns the
	// way to go on, and the round in which it is to be called again.
	next(round int, visits, waited int64) (_ way, again int)
}

// pace decides by measurement. Windows may be so small that the threads only wait for each other, the
// CPUs may be the two halves of one core, or others may use them: what counts is the time per visit.
// It is measured in spells of a few milliseconds. From time to time the other way is tried, less and
// less often if it is slower, and so seldom that moving the hosts and slower trials cost a few percent at most;
// never while the threads hardly wait, and never together in windows that are too small for several threads.
//
// One thread alone is tried without moving the hosts, which may be many. If it is faster, the threads are tried
// together again: a program changes, and is slow at first, when its memory is new. Only if they are still slower
// are the hosts merged.
type pace struct {
	threads int
	way     way

	clock  func() int64 // nanoseconds
	looked int64        // when it was looked at
	every  int          // rounds between two looks

	spell  spell
	length int64 // of the spell

	stage    stage
	before   float64 // time for a visit in the way before the trial
	turned   int64   // when the way was changed
	through  int64   // and with how many visits
	lost     int64   // by the last trial
	again    int64   // time of the next trial at the earliest
	patience int64   // time to rest after a trial
}

// spell is when a spell began, and what had been before it.
type spell struct {
	began          int64 // never: it begins with the next look at the clock
	round          int
	visits, waited int64
}

// stage is what a spell is good for.
type stage int8

const (
	steady  stage = iota
	moving        // ends with the first look: the hosts are moved
	warming       // brings the hosts to the caches of their threads
	trial         // tells whether this way is faster than the other one
)

const (
	shortSpell = int64(250 * time.Microsecond)
	longSpell  = int64(4 * time.Millisecond)
	// The times between two looks at the clock, and the most rounds.
	soonLook, lateLook, rarest = int64(20 * time.Microsecond), int64(80 * time.Microsecond), 64

	shortRest = int64(16 * time.Millisecond)
	longRest  = int64(512 * time.Millisecond)
	// repay is how many times as long as it has cost a trial is followed by rest at first, and four times that
	// later: a run that is slow at first must not be judged by that for long.
	repay = 25
	// worthwhile is how many visits a window must have on average to try the threads together, and pointless how few
	// it has when one thread is faster for certain: waiting for each other takes as long as two visits or more; see
	// BenchmarkWindows.
	worthwhile, pointless = 8, 4
	// busyEnough is how many threads must be busy on average to make a trial pointless, also where
	// two of them share a core.
	busyEnough = 1.7
	// coreCost is how many nanoseconds each further core takes in a window when one thread has all of them, and
	// does not when they are merged; see BenchmarkWays.
	coreCost = 30
	// hopeless is how much slower a trial may be without being given up early, evident how much faster it must
	// be to try again as often as at first.
	hopeless, evident = 1.25, 0.9
)

func newPace(threads int) *pace {
	began := time.Now()
	return &pace{
		threads: threads, length: shortSpell, patience: shortRest, every: 1,
		clock: func() int64 { return int64(time.Since(began)) },
	}
}

func (p *pace) next(round int, visits, waited int64) (_ way, again int) {
	small := visits-p.spell.visits < worthwhile*int64(round-p.spell.round)
	if p.way == merged && p.stage == steady && small {
		p.spell = spell{never, round, visits, waited} // not worth a look at the clock
		return merged, round + rarest
	}
	now := p.clock()
	if p.spell.began == never || p.look(now, round, visits, waited) {
		p.spell = spell{now, round, visits, waited}
	}
	switch since := now - p.looked; {
	case since < soonLook:
		p.every = min(2*p.every, rarest)
	case since > lateLook:
		p.every = max(int(int64(p.every)*lateLook/since), 1)
	}
	p.looked = now
	return p.way, round + p.every
}

// look decides whether a spell ends, and with it the way.
func (p *pace) look(now int64, round int, visits, waited int64) (ends bool) {
	wall := now - p.spell.began
	spent := wall
	if p.way == alone {
		spent -= coreCost * int64((p.threads-1)*(round-p.spell.round))
	}
	cost := float64(spent) / float64(max(visits-p.spell.visits, 1))
	switch p.stage {
	case moving:
		if p.stage = warming; p.way == merged {
			p.stage = steady
			p.rest(now, p.lost+wall)
		}
	case warming:
		if wall < shortSpell {
			return false
		}
		p.stage = trial
	case trial:
		if wall < p.length && (wall < shortSpell || cost < hopeless*p.before) {
			return false
		}
		p.judge(cost, now, visits)
	default:
		if wall < p.length {
			return false
		}
		p.length = min(2*p.length, longSpell)
		switch busy := float64(p.threads) - float64(waited-p.spell.waited)/float64(wall); {
		case p.way == together && visits-p.spell.visits < pointless*int64(round-p.spell.round):
			p.way, p.stage, p.lost = merged, moving, 0
		case now < p.again:
		case p.way == together && busy < busyEnough:
			p.try(alone, cost, now, visits)
		case p.way == merged: // and the windows are large enough
			p.try(together, cost, now, visits)
		}
	}
	return true
}

// try begins the trial of a way. before is the time for a visit in the present one.
func (p *pace) try(w way, before float64, now, visits int64) {
	p.way, p.before, p.turned, p.through, p.stage = w, before, now, visits, moving
}

// judge ends a trial.
func (p *pace) judge(cost float64, now, visits int64) {
	p.stage = steady
	p.lost = now - p.turned - int64(float64(visits-p.through)*p.before)
	switch faster := cost < p.before; {
	case faster && p.way == alone:
		p.try(together, cost, now, visits)
	case faster: // and one thread alone is cheap to try
		if cost < evident*p.before {
			p.patience = shortRest
		}
		p.rest(now, 0)
	case p.way == alone:
		p.way = together
		p.rest(now, p.lost)
	default:
		p.way, p.stage = merged, moving
	}
}

// rest puts off the next trial after one that has cost some time.
func (p *pace) rest(now, cost int64) {
	p.again = now + max(p.patience, repay*cost*min(p.patience/shortRest, 4))
	p.patience = min(2*p.patience, longRest)
}
