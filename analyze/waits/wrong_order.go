package waits

import (
	"cmp"
	"slices"
	"sort"

	"slackline/internal/spill"
	"slackline/model/timeline"
	"slackline/model/unit"
)

var wrongOrder = kind{
	Info: Info{
		Name:    "late_sender_wrong_order",
		Title:   "Late sender, messages in the wrong order",
		Short:   "waits for a message although another one is there that it takes later",
		Because: "%s sent late, and a message sent before it was received later",
		Meaning: "The part of late_sender in which the location received another message later that had been sent earlier: it waited " +
			"although there was something to receive. The seconds are a part of late_sender and do not count twice.",
		Advice: "Receive messages in the order in which they arrive: MPI_ANY_SOURCE, MPI_Waitany, or receives posted in the order of the sends.",
		Within: "with messages in the wrong order",
		Color:  Color{"#5E2A4D", "#9A5C86"},
	},
	precedence: messageFirst,
	parent:     &lateSender,
	mark:       (*analysis).markWrongOrder,
}

// markWrongOrder marks the wait states whose message was sent after one that was received later. Kernels have none: a stream runs them in
// the order of their launches, and what a kernel waits for counts only where its device does nothing else.
func (a *analysis) markWrongOrder(k *kind) {
	first := a.messagesOf()
	a.each(a.hosts, func(l int) {
		states := a.states[a.first[l]:a.first[l+1]]
		late := func(s state) bool { return s.metric == k.parent.metric }
		if slices.ContainsFunc(states, late) {
			r := newReceptions(a.tl.Space, a.tl.Messages[first[l]:first[l+1]])
			r.mark(a, states, k)
			spill.Free(a.tl.Space, r.order)
			spill.Free(a.tl.Space, r.earliest)
		}
	})
}

// receptions are the messages that a location received, in the order of their reception.
type receptions struct {
	messages []timeline.Message
	order    []int32         // indices of messages
	earliest []unit.Duration // by place in order: the first time of sending from here on
}

func newReceptions(s *spill.Space, messages []timeline.Message) *receptions {
	r := &receptions{messages: messages, order: spill.Make[int32](s, len(messages), len(messages)),
		earliest: spill.Make[unit.Duration](s, len(messages)+1, len(messages)+1)}
	for i := range r.order {
		r.order[i] = int32(i)
	}
	byReception := func(x, y int32) int {
		a, b := &messages[x], &messages[y]
		return cmp.Or(cmp.Compare(a.Recv, b.Recv), cmp.Compare(a.RecvSeq, b.RecvSeq))
	}
	if !slices.IsSortedFunc(r.order, byReception) {
		slices.SortFunc(r.order, byReception)
	}
	r.earliest[len(messages)] = 1<<63 - 1
	for i := len(messages) - 1; i >= 0; i-- {
		r.earliest[i] = min(r.earliest[i+1], messages[r.order[i]].Sent)
	}
	return r
}

func (r *receptions) mark(a *analysis, states []state, k *kind) {
	for i := range states {
		s := &states[i]
		if s.metric != k.parent.metric {
			continue
		}
		m := &a.tl.Messages[s.reference]
		after := a.calls(s.location).Skip[s.call]
		place := sort.Search(len(r.order), func(i int) bool { return r.messages[r.order[i]].Recv >= after })
		if r.earliest[place] < m.Sent {
			s.sub, s.subPart = k.metric, s.amount
		}
	}
}
