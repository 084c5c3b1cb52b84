package paraver

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// part is what a call does with a message.
type part struct {
	call    int32
	what    PartKind
	message int32
}

// PartKind is what a call does with a message.
type PartKind uint8

// The kinds, in the order in which a call does them: three when it begins, three when it ends.
const (
	Sends      PartKind = iota // blocking
	StartsSend                 // the message is its own request
	Posts                      // a receive that another call ends
	EndsSend
	Receives // what another call has posted
	Receive  // blocking
)

// message reads a message: CPU, application, task, thread and two times of the sender, the same of the receiver, size and tag.
func (r *reader) message(f []int64) error {
	const want = 14
	if len(f) != want {
		return r.fail("a message of %d fields instead of %d", len(f), want)
	}
	from, err := r.thread(f[1:])
	if err != nil {
		return err
	}
	to, err := r.thread(f[7:])
	if err != nil {
		return err
	}
	m := Message{
		from: int32(from), to: int32(to), From: int32(r.Threads[from].Task), To: int32(r.Threads[to].Task), Size: f[12], Tag: int32(f[13]),
	}
	if m.Size < 0 || int64(m.Tag) != f[13] {
		return r.fail("a message of %d bytes with tag %d", f[12], f[13])
	}
	for _, t := range []struct {
		value int64
		to    *int64
	}{{f[4], &m.sent}, {f[10], &m.post}, {f[11], &m.recv}} {
		if *t.to, err = r.time(t.value); err != nil {
			return err
		}
	}
	r.Message = append(r.Message, m)
	return nil
}

// messages finds the calls of messages.
func (r *reader) messages() {
	found := r.Message[:0]
	for _, m := range r.Message {
		from, to := r.Threads[m.from], r.Threads[m.to]
		sending, posting, receiving := from.callAfter(m.sent), to.callAfter(m.post), to.callUntil(m.recv)
		if sending < 0 || receiving < 0 {
			continue
		}
		i, sends := int32(len(found)), Sends
		if startsSends(r.Names[from.Calls[sending].Name]) {
			sends = StartsSend
		}
		from.parts = append(from.parts, part{sending, sends, i})
		if posting < 0 || posting >= receiving {
			to.parts = append(to.parts, part{receiving, Receive, i})
		} else {
			to.parts = append(to.parts, part{posting, Posts, i}, part{receiving, Receives, i})
		}
		found = append(found, m)
	}
	if lost := len(r.Message) - len(found); lost > 0 {
		r.warn("%s: %d messages begin or end outside of MPI calls; they are left out", r.show, lost)
	}
	r.Message = found
	alone, of := 0, ""
	for _, t := range r.Threads {
		if len(t.open) == 1 {
			t.endCall(t.last)
		}
		sortParts(t.parts)
		parts := t.parts
		for _, call := range t.mpi {
			n := len(parts)
			for len(parts) > 0 && parts[0].call <= call {
				parts = parts[1:]
			}
			if name := r.Names[t.Calls[call].Name]; len(parts) == n && hasMessage[strings.ToLower(name)] {
				alone++
				of = cmp.Or(of, fmt.Sprintf("%s of task %d at %d", name, t.Task+1, t.Calls[call].Begin/r.scale))
			}
		}
		r.endSends(t)
		sortParts(t.parts)
	}
	if alone > 0 {
		r.warn("%s: %d calls that send or receive have no message, such as %s: it is for MPI_PROC_NULL or canceled, or its line (3:) is missing",
			r.show, alone, of)
	}
	r.rootsOfCollectives()
	if n, m := r.repeated(); n > 0 {
		r.warn("%s: %d messages have the same line (3:) as another, the first of task %d at %d: they count once more, which is wrong if lines "+
			"of the file are repeated", r.show, n, m.From+1, m.sent/r.scale)
	}
	if n := r.overtaking(); n > 0 {
		r.warn("%s: %d messages overtake others with the same tag: a trace of Paraver does not name their communicators, and they may be "+
			"taken for one another", r.show, n)
	}
}

// hasMessage are calls that send a message, or post or end the receive of one.
var hasMessage = map[string]bool{
	"mpi_send": true, "mpi_ssend": true, "mpi_rsend": true, "mpi_bsend": true, "mpi_recv": true, "mpi_sendrecv": true,
	"mpi_sendrecv_replace": true,
	"mpi_isend":            true, "mpi_issend": true, "mpi_irsend": true, "mpi_ibsend": true, "mpi_irecv": true,
}

func sortParts(list []part) {
	slices.SortFunc(list, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.call, b.call), cmp.Compare(a.what, b.what), cmp.Compare(a.message, b.message))
	})
}

// callAfter is the call of MPI in which something began at a time, -1: none.
func (t *Thread) callAfter(time int64) int32 {
	i := sort.Search(len(t.mpi), func(i int) bool { return t.Calls[t.mpi[i]].Begin > time }) - 1
	if i < 0 || t.Calls[t.mpi[i]].End < time {
		return -1
	}
	return t.mpi[i]
}

// callUntil is the call of MPI in which something ended at a time, -1: none.
func (t *Thread) callUntil(time int64) int32 {
	i := sort.Search(len(t.mpi), func(i int) bool { return t.Calls[t.mpi[i]].End >= time })
	if i == len(t.mpi) || t.Calls[t.mpi[i]].Begin > time {
		return -1
	}
	return t.mpi[i]
}

// startsSends reports whether a call returns before its messages are sent.
func startsSends(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "mpi_i") || strings.HasPrefix(name, "mpi_start")
}

// endSends decides which calls end non-blocking sends, of which the trace says nothing: a call that waits for all ends all that are open,
// one that waits for a single request and receives nothing ends the oldest.
func (r *reader) endSends(t *Thread) {
	parts := t.parts
	var open []int32
	for _, call := range t.mpi {
		receives := false
		for len(parts) > 0 && parts[0].call == call {
			p := parts[0]
			parts = parts[1:]
			receives = receives || p.what == Receives
			if p.what == StartsSend {
				open = append(open, p.message)
			}
		}
		ended := 0
		switch strings.ToLower(r.Names[t.Calls[call].Name]) {
		case "mpi_waitall", "mpi_finalize":
			ended = len(open)
		case "mpi_wait", "mpi_waitany", "mpi_waitsome":
			if !receives {
				ended = min(1, len(open))
			}
		}
		for _, m := range open[:ended] {
			t.parts = append(t.parts, part{call, EndsSend, m})
		}
		open = open[ended:]
	}
}

// rootsOfCollectives gives collectives their roots, which only the root itself names: Number becomes the task.
func (r *reader) rootsOfCollectives() {
	for _, t := range r.Threads {
		for i := range t.Calls {
			c := &t.Calls[i]
			root := int32(-1)
			if c.Comm >= 0 && int(c.Comm) < len(r.roots) && int(c.Number) < len(r.roots[c.Comm]) {
				root = r.roots[c.Comm][c.Number]
			}
			c.Number = root
		}
	}
}

// Root is the rank of the root of a collective in its communicator, -1 if it has none.
func (t *Trace) Root(c *Call) int32 {
	return int32(slices.Index(t.Comms[c.Comm], c.Number))
}

// repeated counts messages that are equal to another one in all that their lines say, and returns the first of them.
func (r *reader) repeated() (n int, first Message) {
	order := make([]int32, len(r.Message))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, k int32) int {
		a, b := &r.Message[i], &r.Message[k]
		return cmp.Or(cmp.Compare(a.sent, b.sent), cmp.Compare(a.recv, b.recv), cmp.Compare(a.post, b.post), cmp.Compare(a.from, b.from),
			cmp.Compare(a.to, b.to), cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Size, b.Size))
	})
	for i := 1; i < len(order); i++ {
		if m := r.Message[order[i]]; m == r.Message[order[i-1]] {
			if n++; n == 1 {
				first = m
			}
		}
	}
	return n, first
}

// overtaking counts messages whose receive was posted before that of one that was sent earlier to the same task with the same tag.
func (r *reader) overtaking() int {
	type channel struct{ from, to, tag int32 }
	order := make([]int32, len(r.Message))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(r.Message[a].sent, r.Message[b].sent) })
	last := map[channel]int64{}
	count := 0
	for _, i := range order {
		m := &r.Message[i]
		c := channel{m.From, m.To, m.Tag}
		if m.post < last[c] {
			count++
		}
		last[c] = max(last[c], m.post)
	}
	return count
}

// Part is what a call does with a message.
type Part struct {
	What    PartKind
	Message int
}

// Parts calls yield with what a call does with messages when it begins or when it ends, from the at-th part of its thread on, and returns
// where the next ones are.
func (t *Thread) Parts(at int, call int32, ends bool, yield func(Part)) int {
	for at < len(t.parts) && t.parts[at].call < call {
		at++
	}
	for ; at < len(t.parts) && t.parts[at].call == call && (ends || t.parts[at].what < EndsSend); at++ {
		yield(Part{t.parts[at].what, int(t.parts[at].message)})
	}
	return at
}
