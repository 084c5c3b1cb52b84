package waits

import "slackline/model/timeline"

// Programs that do not know what comes next look for a message before they receive it: MPI_Probe and MPI_Mprobe wait for its send, and so does
// a loop of MPI_Iprobe, which a recorder keeps as one call. The receive after it finds the message there.

// probes marks the paths of calls that look for messages and of those that can receive one or make progress otherwise.
type probes struct {
	looks, communicates []bool // by path
}

// findProbes finds out whether a run looks for messages; nil if it does not.
func (a *analysis) findProbes() *probes {
	looks := a.pathsTo([]string{"MPI_Probe", "MPI_Mprobe", "MPI_Iprobe", "MPI_Improbe"})
	for _, look := range looks {
		if look {
			return &probes{looks, a.communicating()}
		}
	}
	return nil
}

// before returns the call that looked for a message which the given call received: the last communication call before it, if that is a
// probe; else -1.
func (p *probes) before(l *timeline.Location, receive int32) int32 {
	calls := &l.Calls
	for i := receive - 1; i >= 0; i-- {
		if path := calls.Path[i]; p.communicates[path] && calls.Skip[i] <= receive {
			if p.looks[path] {
				return i
			}
			return -1
		}
	}
	return -1
}

// readProbe finds the wait of the call that looked for a message, and its contact with the send.
func (a *analysis) readProbe(p *probes, m *timeline.Message, number int32, send operation, waits *candidates, list []found) []found {
	probe := p.before(&a.tl.Locations[m.To], m.Post)
	if probe < 0 || a.isTest(m.To, probe) {
		return list
	}
	look := a.operationOf(m.To, probe)
	if c, ok := meet(send, look); ok && !a.causeless {
		list = append(list, found{c, m.From})
	}
	if amount := min(send.enter, look.leave) - look.enter; amount > 0 && a.isHere(m.To) {
		waits.add(candidate{
			metric: lateSender.metric, amount: amount, location: m.To, call: probe, cause: m.From, causeCall: m.Send, reference: number, seq: m.RecvSeq,
		})
	}
	return list
}
