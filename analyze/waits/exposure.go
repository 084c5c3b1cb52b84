package waits

import (
	"slackline/model/timeline"
)

var latePost = kind{
	Info: Info{
		Name:    "late_post",
		Title:   "Late post",
		Short:   "waits for a target that has not opened its window yet",
		Because: "%s opened its window late",
		Meaning: "Time in MPI_Win_start, in an access or in MPI_Win_complete before the target entered MPI_Win_post, if the call had " +
			"not ended by then: enter of the post - own enter. The cause is the target, in start and complete the last of all targets.",
		Advice: "Let targets post earlier, or put work between MPI_Win_start and the first access.",
		Color:  Color{"#00798C", "#2FA7BA"},
	},
	precedence: exposureBegin,
	epochs:     (*analysis).findLatePosts,
}

func (a *analysis) findLatePosts(e *epochs) {
	exposures := a.tl.Epochs.Exposures
	for i := range a.tl.Epochs.Accesses {
		epoch := &a.tl.Epochs.Accesses[i]
		post := func(k int) (location, call int32) {
			x := &exposures[epoch.Exposures[k]]
			return x.Location, x.Post.Call
		}
		if z := e.lastEntered(len(epoch.Exposures), post); z >= 0 {
			target, call := post(z)
			e.waitForPost(epoch.Location, epoch.Start, target, call)
			e.waitForPost(epoch.Location, epoch.Complete, target, call)
		}
		for k := range epoch.Exposures {
			target, call := post(k)
			e.meet(epoch.Location, epoch.Start.Call, target, call)
			e.meet(epoch.Location, epoch.Complete.Call, target, call)
			for _, op := range epoch.Operations {
				if op.Target == target {
					e.waitForPost(epoch.Location, op.EpochCall, target, call)
					e.meet(epoch.Location, op.Call, target, call)
				}
			}
		}
	}
}

// waitForPost lets a call wait for a post that was entered before the call was left.
func (e *epochs) waitForPost(location int32, c timeline.EpochCall, target, post int32) {
	if c.Call < 0 {
		return
	}
	call, posted := e.a.spanOf(location, c.Call), e.a.calls(target).Enter[post]
	if posted < call.leave {
		e.wait(location, c, target, post, posted-call.enter, -1)
	}
}

var earlyWait = kind{
	Info: Info{
		Name:    "early_wait",
		Title:   "Early wait",
		Short:   "waits for origins that still access its window",
		Because: "%s completed its accesses late",
		Meaning: "Time in MPI_Win_wait before the last origin entered MPI_Win_complete: min(enter of the complete, own leave) - own enter. The " +
			"cause is that origin.",
		Advice: "Let origins complete their epochs earlier, or let the target work before it waits (MPI_Win_test).",
		Color:  Color{"#1B998B", "#4CC4B7"},
	},
	precedence: exposureEnd,
	epochs:     (*analysis).findEarlyWaits,
}

var lateComplete = kind{
	Info: Info{
		Name:    "late_complete",
		Title:   "Early wait, late complete",
		Short:   "waits for origins although none of them accesses its window any more",
		Because: "%s did not complete its epoch after the last access",
		Meaning: "The part of early_wait after the last access of any origin had ended: the epoch was open though nothing happened in it. " +
			"The seconds are a part of early_wait and do not count twice.",
		Advice: "Call MPI_Win_complete right after the last access.",
		Within: "after the last access",
		Color:  Color{"#0B5D54", "#3C8F86"},
	},
	precedence: exposureEnd,
	parent:     &earlyWait,
	mark:       (*analysis).markLateComplete,
}

func (a *analysis) findEarlyWaits(e *epochs) {
	accesses := a.tl.Epochs.Accesses
	for i := range a.tl.Epochs.Exposures {
		epoch := &a.tl.Epochs.Exposures[i]
		if epoch.Wait.Call < 0 {
			continue
		}
		complete := func(k int) (location, call int32) {
			x := &accesses[epoch.Accesses[k]]
			return x.Location, x.Complete.Call
		}
		for k := range epoch.Accesses {
			origin, call := complete(k)
			e.meet(epoch.Location, epoch.Wait.Call, origin, call)
		}
		z := e.lastEntered(len(epoch.Accesses), complete)
		if z < 0 {
			continue
		}
		origin, call := complete(z)
		wait := a.spanOf(epoch.Location, epoch.Wait.Call)
		amount := min(a.calls(origin).Enter[call], wait.leave) - wait.enter
		e.wait(epoch.Location, epoch.Wait, origin, call, amount, int32(i))
	}
}

// markLateComplete finds how much of the waits came after the last access.
func (a *analysis) markLateComplete(k *kind) {
	for i := range a.states {
		s := &a.states[i]
		if s.metric != k.parent.metric {
			continue
		}
		last := s.enter
		for _, number := range a.tl.Epochs.Exposures[s.reference].Accesses {
			access := &a.tl.Epochs.Accesses[number]
			for _, op := range access.Operations {
				if op.Target == s.location {
					last = max(last, a.calls(access.Location).Leave[op.Call])
				}
			}
		}
		if part := s.end() - max(last, s.enter); part > 0 {
			s.sub, s.subPart = k.metric, part
		}
	}
}
