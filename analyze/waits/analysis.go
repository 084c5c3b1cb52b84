package waits

import (
	"sort"

	"slackline/analyze/profile"
	"slackline/analyze/waits/ledger"
	"slackline/internal/parallel"
	"slackline/internal/spill"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// analysis holds what the passes over a timeline share.
type analysis struct {
	tl      *timeline.Timeline
	paths   *profile.Paths
	windows *profile.Windows
	threads int
	meter   meter
	part    *timeline.Part // nil: the timeline is the whole run
	// causeless: there will be no backward pass, and nothing that only it needs
	causeless bool

	masters  []int32 // by rank: its location, -1 if it is missing
	tests    []bool  // by timeline.PathID: whether it ends in a call that only tests
	groups   []group // by communicator
	rules    []uint8 // by collective: number of its rule, 0 if it neither waits nor synchronizes
	points   []syncPoint
	joinings [][]joining // by location
	contacts []contacts  // by location that receives

	states []state // by location, then by call
	first  []int   // by location: its first state; one more at the end
	ends   []ends  // by location
	idle   []idlePhase
	inTeam []bool // by location: whether it ever was in a team

	pairs   []epochPair   // of runs with streams: calls of one-sided communication that depend on each other
	hosts   int           // locations from here on are streams
	devices *deviceStates // what only runs with streams have; nil: there are none

	completions ledger.Table

	// of parts
	bases     []int // by process: number of its first wait state among those of all; one more at the end
	idleBases []int // the same of idle phases
	rounds    int   // of the backward pass
	backward  *backward
}

// prepare finds what the passes need.
func (a *analysis) prepare() error {
	if a.windows == nil {
		var err error
		if a.paths, err = profile.NewPaths(a.tl); err != nil {
			return err
		}
		a.windows = profile.NewWindows(a.tl, a.paths, a.threads)
	}
	a.masters = mastersOf(a.tl)
	a.inTeam = make([]bool, len(a.tl.Locations))
	for i := range a.tl.Teams {
		for _, m := range a.tl.Teams[i].Members {
			a.inTeam[m.Location] = true
		}
	}
	a.tests = testsOf(a.tl)
	a.findGroups()
	a.findRules()
	for _, k := range kinds {
		if k.find != nil {
			k.find(a, k)
		}
	}
	if !a.causeless {
		a.findJoinings()
	}
	return nil
}

func (a *analysis) each(n int, work func(i int)) { parallel.Each(n, a.threads, work) }

func (a *analysis) calls(location int32) *timeline.Calls { return &a.tl.Locations[location].Calls }

func (a *analysis) rankOf(location int32) int { return a.tl.Locations[location].Rank }

// pathOf is the number of the call path of a call.
func (a *analysis) pathOf(location, call int32) int32 {
	return a.paths.Of[a.calls(location).Path[call]]
}

// isTest reports whether a call only tests: such calls never wait. One that represents earlier ones that found
// nothing is a wait.
func (a *analysis) isTest(location, call int32) bool {
	return a.tests[a.calls(location).Path[call]] && !a.tl.Locations[location].Polled(call)
}

// mastersOf finds the first location of every rank.
func mastersOf(tl *timeline.Timeline) []int32 {
	masters := make([]int32, tl.Ranks)
	for i := range masters {
		masters[i] = -1
	}
	for i := len(tl.Locations) - 1; i >= 0; i-- {
		masters[tl.Locations[i].Rank] = int32(i)
	}
	return masters
}

// testsOf finds the paths of calls that only test.
func testsOf(tl *timeline.Timeline) []bool {
	tests := make([]bool, len(tl.Paths))
	for id := 1; id < len(tests); id++ {
		tests[id] = timeline.IsTest(tl.Regions[tl.Paths[id].Region].Name)
	}
	return tests
}

// state is a wait state: its location sat idle from the enter of the call for the amount.
type state struct {
	enter, amount    unit.Duration
	first            unit.Duration // how much of the amount, from its start, belongs to the kind before the metric's
	subPart          unit.Duration // how much of it belongs to the sub-state
	since            unit.Duration // when waiting and causing location last synchronized; never: not before
	long             unit.Sum      // what later wait states cost that this one is responsible for
	indirect         int64         // how much of the amount is due to wait states of the cause
	propagating      int64         // the most that it contributes to a later wait state
	location, call   int32
	cause, causeCall int32
	reference        int32 // number of the message, synchronization point or exposure epoch; -1: none
	pending          int32 // later wait states that are not accounted for yet
	order            int32 // when it was accounted for, from 1 on; 0: not yet
	// number of the cause's wait states that begin before the operation that was late; if that is elsewhere, its number among those sent there
	before    int32
	metric    Metric
	sub       Metric // the sub-state that it belongs to; None if it has none
	uncertain bool   // shorter than the error of the clocks
	circular  bool   // part of a circle that process 0 accounted for
}

func (s *state) end() unit.Duration { return s.enter + s.amount }

func (a *analysis) newState(c *candidate) state {
	return state{
		enter: a.calls(c.location).Enter[c.call], amount: c.amount, first: c.before, since: never, sub: None,
		location: c.location, call: c.call, cause: c.cause, causeCall: c.causeCall,
		reference: c.reference, metric: c.metric,
		uncertain: c.amount < a.clockError(c.location, c.cause),
	}
}

// clockError is how wrong the difference of two locations' times may be; 0 if that is not known.
func (a *analysis) clockError(x, y int32) unit.Duration {
	lx, ly := &a.tl.Locations[x], &a.tl.Locations[y]
	if lx.Rank == ly.Rank {
		return 0
	}
	return max(lx.ClockError, 0) + max(ly.ClockError, 0)
}

// ends helps to find the wait states of a location in a window. It is empty if they end in the order in which
// they begin, as they do unless calls that wait contain others.
type ends []unit.Duration // by state: the latest end up to it

func endsOf(s *spill.Space, states []state) ends {
	ordered := true
	for i := 1; i < len(states); i++ {
		ordered = ordered && states[i-1].end() <= states[i].end()
	}
	if ordered {
		return nil
	}
	latest := ends(spill.Make[unit.Duration](s, len(states), len(states)))
	for i := range states {
		latest[i] = states[i].end()
		if i > 0 {
			latest[i] = max(latest[i], latest[i-1])
		}
	}
	return latest
}

// propagation is a wait state and how much of it lies in a window.
type propagation struct {
	state int
	part  unit.Duration
}

// statesBefore is the number of wait states of a location in calls before number before.
func (a *analysis) statesBefore(location, before int32) int {
	all := a.states[a.first[location]:a.first[location+1]]
	return sort.Search(len(all), func(i int) bool { return all[i].call >= before })
}

// statesIn appends the wait states of a location that lie between from and to at least partly, of the first high
// ones; in their order.
func (a *analysis) statesIn(list []propagation, location int32, from, to unit.Duration, high int) []propagation {
	base := a.first[location]
	all := a.states[base:a.first[location+1]]
	latest := a.ends[location]
	begin := high
	for begin > 0 {
		end := all[begin-1].end()
		if latest != nil {
			end = latest[begin-1]
		}
		if end <= from {
			break
		}
		begin--
	}
	for i := begin; i < high; i++ {
		s := &all[i]
		if part := min(s.end(), to) - max(s.enter, from); part > 0 && !a.isInner(base+i) {
			list = append(list, propagation{base + i, part})
		}
	}
	return list
}
