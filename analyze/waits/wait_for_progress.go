package waits

import (
	"sort"

	"slackline/model/timeline"
	"slackline/model/unit"
)

var waitForProgress = kind{
	Info: Info{
		Name:    "wait_for_progress",
		Title:   "Wait for progress",
		Short:   "waits until the target enters MPI",
		Because: "%s, the target, was not in MPI",
		Meaning: "Time in a call of a lock epoch (access, flush, unlock) before the target entered its next communication call, if the call had not ended by then: " +
			"the library made no progress at the target while that computed. The cause is the target.",
		Advice: "Let the target call MPI now and then, or use a library with asynchronous progress or hardware support for one-sided communication.",
		Color:  Color{"#C9553D", "#E8836B"},
	},
	precedence: progressLast,
	epochs:     (*analysis).findWaitsForProgress,
}

func (a *analysis) findWaitsForProgress(e *epochs) {
	var communicating []bool // by path
	calls := map[int32]*progress{}
	for i := range a.tl.Epochs.Locks {
		l := &a.tl.Epochs.Locks[i]
		if l.Target == l.Location {
			continue
		}
		if communicating == nil {
			communicating = a.communicating()
		}
		at := calls[l.Target]
		if at == nil {
			at = newProgress(a.calls(l.Target), communicating)
			calls[l.Target] = at
		}
		for k, c := range l.Calls {
			if l.All && (k == 0 || k == len(l.Calls)-1 && !l.Accesses) {
				continue
			}
			call := a.spanOf(l.Location, c.Call)
			m := at.next(call.enter)
			if m < 0 || e.a.isTest(l.Location, c.Call) {
				continue
			}
			if entered := at.calls.Enter[m]; entered < call.leave {
				e.wait(l.Location, c, l.Target, m, entered-call.enter, -1)
				e.meet(l.Location, c.Call, l.Target, m)
			}
		}
	}
}

// communicating marks the paths of calls that let MPI make progress.
func (a *analysis) communicating() []bool {
	marks := make([]bool, len(a.tl.Paths))
	for id := 1; id < len(marks); id++ {
		marks[id] = a.tl.Regions[a.tl.Paths[id].Region].Communicates()
	}
	return marks
}

// progress are the communication calls of a location, in order.
type progress struct {
	calls  *timeline.Calls
	list   []int32
	latest []unit.Duration // by place in the list: the latest leave up to it
}

func newProgress(calls *timeline.Calls, communicating []bool) *progress {
	p := &progress{calls: calls}
	last := never
	for i, path := range calls.Path {
		if communicating[path] {
			last = max(last, calls.Leave[i])
			p.list, p.latest = append(p.list, int32(i)), append(p.latest, last)
		}
	}
	return p
}

// next is the first communication call after a moment, if none goes on then; else -1.
func (p *progress) next(at unit.Duration) int32 {
	i := sort.Search(len(p.list), func(i int) bool { return p.calls.Enter[p.list[i]] > at })
	if i > 0 && p.latest[i-1] > at || i == len(p.list) {
		return -1
	}
	return p.list[i]
}
