package replay

import (
	"slices"
	"sync/atomic"

	"slackline/internal/parallel"
	"slackline/model/timeline"
)

// messagesPerTask is how many messages a thread looks at at a time.
const messagesPerTask = 1 << 14

// findMessages decides which messages become operations, and sorts them by sender.
func (c *converter) findMessages() {
	n, locations := len(c.t.Messages), len(c.t.Locations)
	c.usable = make([]bool, n)
	c.recvFirst, c.sendFirst = make([]int, locations+1), make([]int, locations+1)
	if !c.options.WithoutMessages {
		var threads, outside, local atomic.Int64
		parallel.Each((n+messagesPerTask-1)/messagesPerTask, c.threads, func(task int) {
			otherThreads, notMPI, toItself := int64(0), int64(0), int64(0)
			for i := task * messagesPerTask; i < min((task+1)*messagesPerTask, n); i++ {
				m := &c.t.Messages[i]
				switch {
				case !c.masters[m.From] || !c.masters[m.To]:
					otherThreads++
				case !c.insideMPI(m):
					notMPI++
				case c.toItself(m):
					toItself++
				default:
					c.usable[i] = true
				}
			}
			threads.Add(otherThreads)
			outside.Add(notMPI)
			local.Add(toItself)
		})
		c.report.OtherThreads += threads.Load()
		c.report.OutsideMPI += outside.Load()
		c.report.ToItself += local.Load()
	}
	for i := range c.t.Messages {
		m := &c.t.Messages[i]
		c.recvFirst[m.To+1] = i + 1 // they are sorted by receiver
		if c.usable[i] {
			c.sendFirst[m.From+1]++
			c.report.Messages++
			if m.Channel != 0 {
				c.report.Partitioned++
			}
			if c.modes.waiting[c.t.Locations[m.From].Calls.Path[m.Send]] {
				c.report.Synchronous++
			}
			if c.modes.of(c.t, m) == startMixed {
				c.report.MixedStarts++
			}
		}
	}
	for l := range locations {
		c.recvFirst[l+1] = max(c.recvFirst[l+1], c.recvFirst[l])
		c.sendFirst[l+1] += c.sendFirst[l]
	}
	c.sends = make([]uint32, c.report.Messages)
	next := append([]int(nil), c.sendFirst...)
	for i := range c.t.Messages {
		if c.usable[i] {
			from := c.t.Messages[i].From
			c.sends[next[from]] = uint32(i)
			next[from]++
		}
	}
	c.tags = c.newTagCode()
}

// withoutHanded leaves of requests that one thread handed to another one what the schedule has of them, in which each rank has one thread:
// receives and collectives are posted and issued where they are completed, sends are not completed.
func withoutHanded(t *timeline.Timeline) *timeline.Timeline {
	if !slices.ContainsFunc(t.Messages, func(m timeline.Message) bool { return m.DoneBy != 0 || m.PostedBy != 0 }) &&
		!slices.ContainsFunc(t.Members, func(m timeline.Member) bool { return m.IssuedBy != 0 }) {
		return t
	}
	own := *t
	own.Messages, own.Members = slices.Clone(t.Messages), slices.Clone(t.Members)
	for i := range own.Messages {
		m := &own.Messages[i]
		if m.DoneBy != 0 {
			m.SendDone, m.SendDoneSeq, m.DoneBy = -1, -1, 0
		}
		if m.PostedBy != 0 {
			m.Post, m.PostedBy = m.Recv, 0
		}
	}
	for i := range own.Members {
		if m := &own.Members[i]; m.IssuedBy != 0 {
			m.Issue, m.IssuedBy = m.Complete, 0
		}
	}
	return &own
}

// insideMPI reports whether all records of a message are in MPI calls.
func (c *converter) insideMPI(m *timeline.Message) bool {
	sender, receiver := &c.t.Locations[m.From].Calls, &c.t.Locations[m.To].Calls
	return c.inMPI(sender, m.Send) && (m.SendDone < 0 || c.inMPI(sender, m.SendDone)) &&
		c.inMPI(receiver, m.Post) && c.inMPI(receiver, m.Recv)
}

// toItself reports whether a rank sent a message to itself, which crosses no network: its calls take as long as they took in the run.
func (c *converter) toItself(m *timeline.Message) bool {
	return m.From == m.To && !c.options.WithoutMessages && c.masters[m.From] && c.insideMPI(m)
}

func (c *converter) inMPI(calls *timeline.Calls, call int32) bool {
	return call >= 0 && c.kinds[calls.Path[call]].isMPI()
}
