package waits

import (
	"slackline/model/timeline"
	"slackline/model/unit"
)

// holds says whether all members were inside at one instant.
func (o *oracle) holds(issues, dones []oracleOp) bool {
	for _, d := range dones {
		for _, i := range issues {
			if d.leave < i.enter {
				return false
			}
		}
	}
	return true
}

// findHeld finds the waits of operations that count only if they kept all members together.
func (o *oracle) findHeld() {
	for k := range o.tl.Collectives {
		c := &o.tl.Collectives[k]
		metric := None
		switch create, free := c.Op == timeline.OpCreateHandle || c.Op == timeline.OpAllocate || c.Op == timeline.OpCreateHandleAllocate,
			c.Op == timeline.OpDestroyHandle || c.Op == timeline.OpDeallocate || c.Op == timeline.OpDestroyHandleDeallocate; {
		case c.Scope == timeline.ByWindow && create:
			metric = windowCreate.metric
		case c.Scope == timeline.ByWindow && free:
			metric = windowFree.metric
		case c.Scope == timeline.ByWindow && c.Op == timeline.OpBarrier:
			metric = fence.metric
		case c.Scope == timeline.ByFile:
			metric = collectiveIO.metric
		case c.Op == timeline.OpCreateHandle:
			metric = commCreate.metric
		default:
			continue
		}
		var issues, dones []oracleOp
		members := o.tl.MembersOf(c)
		for _, m := range members {
			issues, dones = append(issues, o.op(m.Issuer(), m.Issue)), append(dones, o.op(m.Location, m.Complete))
		}
		if !o.holds(issues, dones) {
			continue
		}
		z := 0
		for i := range members {
			if issues[i].enter > issues[z].enter || issues[i].enter == issues[z].enter && o.rank(members[i].Location) < o.rank(members[z].Location) {
				z = i
			}
		}
		for i, m := range members {
			if i != z {
				o.wait(metric, min(issues[z].enter, dones[i].leave)-dones[i].enter, m.Location, m.Complete, members[z].Issuer(), members[z].Issue, 1,
					int(m.Seq), 0)
			}
			for j := range members {
				if i != j && !o.isTest(m.Location, m.Complete) {
					o.pair(dones[i], issues[j])
				}
			}
		}
	}
}

func (o *oracle) rank(location int32) int { return o.tl.Locations[location].Rank }

// findSparse finds the waits for those that send data to a member.
func (o *oracle) findSparse() {
	for k := range o.tl.Collectives {
		c := &o.tl.Collectives[k]
		sparse := c.Op == timeline.OpAlltoallv || c.Op == timeline.OpAlltoallw
		if c.Scope != timeline.ByComm || !sparse && !c.Op.IsNeighbor() {
			continue
		}
		metric := nxn.metric
		members, comm := o.tl.MembersOf(c), &o.tl.Comms[c.Comm]
		sources := make([][]int, len(members))
		whole := true
		for i := range members {
			counts := o.tl.CountsOf(&members[i])
			if sparse {
				whole = whole && len(counts) == 2*len(members)
				for j := range members {
					if whole && j != i && counts[len(members)+j] > 0 {
						sources[i] = append(sources[i], j)
					}
				}
				continue
			}
			metric = lateNeighbor.metric
			if comm.In == nil {
				continue
			}
			for e, j := range comm.In[i] {
				bytes := members[i].Received
				switch {
				case len(counts) == len(comm.Out[i])+len(comm.In[i]) && len(counts) > 0:
					bytes = counts[len(comm.Out[i])+e]
				case len(counts) == len(comm.In[i]) && len(counts) > 0:
					bytes = counts[e]
				case len(counts) > 0:
					bytes = 0
				}
				if bytes > 0 && j >= 0 && int(j) != i {
					sources[i] = append(sources[i], int(j))
				}
			}
		}
		for i, m := range members {
			z := -1
			for _, j := range sources[i] {
				if !whole {
					break
				}
				a, b := o.op(members[j].Location, members[j].Issue), oracleOp{}
				if z >= 0 {
					b = o.op(members[z].Location, members[z].Issue)
				}
				if z < 0 || a.enter > b.enter || a.enter == b.enter && o.rank(members[j].Location) < o.rank(members[z].Location) {
					z = j
				}
				if !o.isTest(m.Location, m.Complete) {
					o.pair(o.op(m.Location, m.Complete), a)
				}
			}
			if z >= 0 {
				done := o.op(m.Location, m.Complete)
				until := o.op(members[z].Location, members[z].Issue).enter
				o.wait(metric, min(until, done.leave)-done.enter, m.Location, m.Complete, members[z].Location, members[z].Issue, 1, int(m.Seq), 0)
			}
		}
	}
}

// lastOf is the last of some operations to begin; of several that of the lowest rank.
func (o *oracle) lastOf(ops []oracleOp) int {
	z := -1
	for i, op := range ops {
		if z < 0 || op.enter > ops[z].enter || op.enter == ops[z].enter && o.rank(op.location) < o.rank(ops[z].location) {
			z = i
		}
	}
	return z
}

// findEpochs finds the waits of general active target synchronization.
func (o *oracle) findEpochs() {
	e := &o.tl.Epochs
	for i := range e.Accesses {
		a := &e.Accesses[i]
		var posts []oracleOp
		var calls []int32
		for _, x := range a.Exposures {
			posts = append(posts, o.op(e.Exposures[x].Location, e.Exposures[x].Post.Call))
			calls = append(calls, e.Exposures[x].Post.Call)
		}
		late := func(c timeline.EpochCall, p int) {
			if c.Call < 0 {
				return
			}
			call := o.op(a.Location, c.Call)
			if posts[p].enter < call.leave {
				o.wait(latePost.metric, posts[p].enter-call.enter, a.Location, c.Call, posts[p].location, calls[p], 4, int(c.Seq), 0)
			}
		}
		if z := o.lastOf(posts); z >= 0 {
			late(a.Start, z)
			late(a.Complete, z)
		}
		for p := range posts {
			for _, c := range []timeline.EpochCall{a.Start, a.Complete} {
				if c.Call >= 0 && !o.isTest(a.Location, c.Call) {
					o.pair(o.op(a.Location, c.Call), posts[p])
				}
			}
			for _, op := range a.Operations {
				if op.Target == posts[p].location {
					late(op.EpochCall, p)
					if !o.isTest(a.Location, op.Call) {
						o.pair(o.op(a.Location, op.Call), posts[p])
					}
				}
			}
		}
	}
	for i := range e.Exposures {
		x := &e.Exposures[i]
		if x.Wait.Call < 0 || o.isTest(x.Location, x.Wait.Call) {
			continue
		}
		wait := o.op(x.Location, x.Wait.Call)
		var completes []oracleOp
		var calls []int32
		last := wait.enter
		for _, k := range x.Accesses {
			a := &e.Accesses[k]
			if a.Complete.Call >= 0 {
				completes, calls = append(completes, o.op(a.Location, a.Complete.Call)), append(calls, a.Complete.Call)
				o.pair(wait, completes[len(completes)-1])
			}
			for _, op := range a.Operations {
				if op.Target == x.Location {
					last = max(last, o.op(a.Location, op.Call).leave)
				}
			}
		}
		if z := o.lastOf(completes); z >= 0 {
			amount := min(completes[z].enter, wait.leave) - wait.enter
			n := len(o.waits)
			o.wait(earlyWait.metric, amount, x.Location, x.Wait.Call, completes[z].location, calls[z], 3, int(x.Wait.Seq), 0)
			if len(o.waits) > n {
				o.waits[n].after = max(0, wait.enter+amount-last)
			}
		}
	}
}

// findLocks finds the waits of passive target synchronization.
func (o *oracle) findLocks() {
	locks := o.tl.Epochs.Locks
	unlock := func(l *timeline.LockEpoch) (oracleOp, int32) {
		call := l.Calls[len(l.Calls)-1].Call
		return o.op(l.Location, call), call
	}
	for i := range locks {
		w := &locks[i]
		own, _ := unlock(w)
		asked := o.op(w.Location, w.Calls[0].Call)
		var z *timeline.LockEpoch
		var released unit.Duration
		for k := range locks {
			f := &locks[k]
			if f.Window != w.Window || f.Target != w.Target || f.Location == w.Location || !f.Exclusive && !w.Exclusive {
				continue
			}
			u, call := unlock(f)
			before := u.leave < own.leave || u.leave == own.leave && o.rank(f.Location) < o.rank(w.Location)
			if !before || u.enter <= asked.enter {
				continue
			}
			for _, c := range w.Calls {
				if op := o.op(w.Location, c.Call); op.enter < u.enter && u.enter < op.leave && !o.isTest(w.Location, c.Call) {
					o.pair(op, o.op(f.Location, call))
				}
			}
			if z == nil || u.enter > released || u.enter == released && o.rank(f.Location) < o.rank(z.Location) {
				z, released = f, u.enter
			}
		}
		if z != nil {
			_, call := unlock(z)
			for _, c := range w.Calls {
				if op := o.op(w.Location, c.Call); op.enter < released && released < op.leave {
					o.wait(lockContention.metric, released-op.enter, w.Location, c.Call, z.Location, call, 5, int(c.Seq), 0)
				}
			}
		}
		o.findProgress(w)
	}
}

// findProgress finds the waits of a lock epoch for its target to enter MPI.
func (o *oracle) findProgress(l *timeline.LockEpoch) {
	if l.Target == l.Location {
		return
	}
	calls := &o.tl.Locations[l.Target].Calls
	for k, c := range l.Calls {
		if l.All && (k == 0 || k == len(l.Calls)-1 && !l.Accesses) || o.isTest(l.Location, c.Call) {
			continue
		}
		op := o.op(l.Location, c.Call)
		next, inside := int32(-1), false
		for m := range int32(calls.Len()) {
			if !o.tl.Regions[o.tl.Paths[calls.Path[m]].Region].Communicates() {
				continue
			}
			inside = inside || calls.Enter[m] <= op.enter && op.enter < calls.Leave[m]
			if next < 0 && calls.Enter[m] > op.enter {
				next = m
			}
		}
		if !inside && next >= 0 && calls.Enter[next] < op.leave {
			o.wait(waitForProgress.metric, calls.Enter[next]-op.enter, l.Location, c.Call, l.Target, next, 6, int(c.Seq), 0)
			o.pair(op, o.op(l.Target, next))
		}
	}
}

// isCollectiveOfRanks says whether the first rules are about a collective: one of the ranks of one communicator.
func (o *oracle) isCollectiveOfRanks(c *timeline.Collective) bool {
	return c.Scope == timeline.ByComm && c.Op != timeline.OpCreateHandle
}

// betweenGroups keeps of the members that one of an intercommunicator can wait for those of the other group.
func (o *oracle) betweenGroups(c *timeline.Collective, i, j int) bool {
	comm := &o.tl.Comms[c.Comm]
	return len(comm.Remote) == 0 || (i < len(comm.Members)) != (j < len(comm.Members))
}

// findSessions finds the waits at the end of programs with sessions: none of their ranks has an MPI_Finalize here.
func (o *oracle) findSessions() {
	var calls []int32
	var ops []oracleOp
	for _, l := range o.masters {
		found := int32(-1)
		for i := range int32(o.tl.Locations[l].Calls.Len()) {
			if o.name(l, i) == "MPI_Session_finalize" {
				found = i
			}
		}
		if found < 0 {
			return
		}
		calls, ops = append(calls, found), append(ops, o.op(l, found))
	}
	if len(calls) > 1 && o.holds(ops, ops) {
		o.allOf(finalize.metric, o.masters, calls)
	}
}
