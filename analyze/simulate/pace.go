package simulate

import "time"

// pacer decides in which way the threads of the window engine carry out their cores; at the beginning together.
type pacer interface {
	// looks reports whether next is to be called in a round.
	looks(round int) bool
	// next takes the number of visits so far and the time that all threads have waited, and returns the
	// way to go on.
	next(visits, waited int64) way
}

// pace decides by measurement. Windows may be so small that the threads only wait for each other, the
// CPUs may be the two halves of one core, or others may use them: what counts is the time per visit.
// It is measured in spells of a few milliseconds. From time to time the other way is tried, less and
// less often if it is slower, and so seldom that moving the hosts and slower trials cost a few percent at most; and
// never while the threads hardly wait.
//
// One thread alone is tried without moving the hosts, which may be many. If it is faster they are merged.
type pace struct {
	threads int
	way     way

	clock  func() int64 // nanoseconds
	round  int          // the last one in which it was looked at,
	looked int64        // and when
	every  int          // rounds between two looks

	began, length  int64 // of the spell
	visits, waited int64 // before it

	stage    stage
	before   float64 // time for a visit in the way before the trial
	turned   int64   // when the way was changed,
	through  int64   // with so many visits,
	moved    int64   // and how long it took to move the hosts
	again    int64   // time of the next trial at the earliest
	patience int64   // time to rest after a trial
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
	// repay is how many times as long as it has cost a trial is followed by rest.
	repay = 50
	// busyEnough is how many threads must be busy on average to make a trial pointless, also where
	// two of them share a core.
	busyEnough = 1.7
	// mergedCost is what a visit costs when one thread has all hosts in one core, if it costs 1 when it
	// has them in several: from instructions and times of programs with small windows.
	mergedCost = 0.93
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

func (p *pace) looks(round int) bool {
	if p.threads == 1 || round-p.round < p.every {
		return false
	}
	p.round = round
	return true
}

func (p *pace) next(visits, waited int64) way {
	now := p.clock()
	switch since := now - p.looked; {
	case since < soonLook:
		p.every = min(2*p.every, rarest)
	case since > lateLook:
		p.every = max(int(int64(p.every)*lateLook/since), 1)
	}
	p.looked = now
	wall := now - p.began
	cost := float64(wall) / float64(max(visits-p.visits, 1))
	if p.way == alone {
		cost *= mergedCost
	}
	switch p.stage {
	case moving:
		p.moved = wall
		p.stage = warming
	case warming:
		if wall < shortSpell {
			return p.way
		}
		p.stage = trial
	case trial:
		if wall < p.length && (wall < shortSpell || cost < hopeless*p.before) {
			return p.way
		}
		p.judge(cost, now, visits)
	default:
		if wall < p.length {
			return p.way
		}
		p.length = min(2*p.length, longSpell)
		busy := float64(p.threads) - float64(waited-p.waited)/float64(wall)
		if now >= p.again && (p.way != together || busy < busyEnough) {
			p.before, p.turned, p.through, p.stage = cost, now, visits, moving
			p.turn()
		}
	}
	p.began, p.visits, p.waited = now, visits, waited
	return p.way
}

// judge ends a trial.
func (p *pace) judge(cost float64, now, visits int64) {
	p.stage = steady
	p.patience = min(2*p.patience, longRest)
	spent := p.moved
	switch {
	case cost >= p.before:
		spent += now - p.turned - int64(float64(visits-p.through)*p.before)
		p.turn()
	case cost < evident*p.before:
		p.patience = shortRest
	}
	if p.way == alone { // it was tried, and is faster
		p.way = merged
	}
	p.again = now + max(p.patience, repay*spent)
}

// turn goes over to the other way.
func (p *pace) turn() {
	if p.way == together {
		p.way = alone
	} else {
		p.way = together
	}
}
