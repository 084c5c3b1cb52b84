package waits

import "slackline/model/timeline"

var latePost = kind{
	Info: Info{
		Name:    "late_post",
		Title:   "Late post",
		Short:   "waits for a target that has not opened its window yet",
		Because: "%s opened its window late",
		Meaning: "Time in MPI_Win_start, in an access or in MPI_Win_complete before the target entered MPI_Win_post, if the call had not ended by then: enter of the post - own enter. " +
			"The cause is the target, in start and complete the last of all targets.",
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
