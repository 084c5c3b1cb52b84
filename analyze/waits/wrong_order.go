package waits

import (
	"cmp"
	"slices"
	"sort"

	"slackline/model/timeline"
	"slackline/model/unit"
)

var wrongOrderInfo = Info{
	Name:    "late_sender_wrong_order",
	Title:   "Late sender, messages in the wrong order",
	Short:   "waits for a message although another one is there that it takes later",
	Because: "%s sent late, and a message sent before it was received later",
	Meaning: "The part of late_sender in which the location received another message later that had been sent earlier: it waited " +
		"although there was something to receive. The seconds are a part of late_sender and do not count twice.",
	Advice: "Receive messages in the order in which they come: MPI_ANY_SOURCE, MPI_Waitany, or receives posted in the order of the sends.",
}

// wrongOrder says whether a late sender's message was taken before one that had been sent earlier.
type wrongOrder uint8

const (
	inOrder wrongOrder = iota
	sameSource
	differentSources
)

// findWrongOrder marks the wait states whose message was sent after one that was received later.
func (a *analysis) findWrongOrder() {
	first := a.messagesOf()
	a.each(len(a.tl.Locations), func(l int) {
		states := a.states[a.first[l]:a.first[l+1]]
		late := func(s state) bool { return s.metric == LateSender }
		if slices.ContainsFunc(states, late) {
			newReceptions(a.tl.Messages[first[l]:first[l+1]], first[l]).mark(a, states)
		}
	})
}

// receptions are the messages that a location received, in the order of their reception.
type receptions struct {
	messages []timeline.Message
	offset   int             // number of the first message
	order    []int32         // indices of messages
	earliest []unit.Duration // by place in order: the first time of sending from here on
	blocks   []unit.Duration // the first time of sending in blocks of places
}

// receptionBlock is the size of a block of places.
const receptionBlock = 256

func newReceptions(messages []timeline.Message, offset int) *receptions {
	r := &receptions{messages: messages, offset: offset, order: make([]int32, len(messages)), earliest: make([]unit.Duration, len(messages)+1)}
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
	for i := range r.order {
		if i%receptionBlock == 0 {
			r.blocks = append(r.blocks, r.sent(i))
		}
		last := len(r.blocks) - 1
		r.blocks[last] = min(r.blocks[last], r.sent(i))
	}
	return r
}

func (r *receptions) mark(a *analysis, states []state) {
	for i := range states {
		s := &states[i]
		if s.metric != LateSender {
			continue
		}
		m := &r.messages[int(s.reference)-r.offset]
		after := a.calls(s.location).Skip[s.call]
		place := sort.Search(len(r.order), func(i int) bool { return r.messages[r.order[i]].Recv >= after })
		if r.earliest[place] >= m.Sent {
			continue
		}
		s.wrongOrder = differentSources
		if r.messages[r.order[r.firstSentBefore(place, m.Sent)]].From == m.From {
			s.wrongOrder = sameSource
		}
	}
}

// firstSentBefore finds the first message from a place on that was sent before t; there is one.
func (r *receptions) firstSentBefore(place int, t unit.Duration) int {
	for r.sent(place) >= t {
		if place++; place%receptionBlock == 0 {
			for r.blocks[place/receptionBlock] >= t {
				place += receptionBlock
			}
		}
	}
	return place
}

// sent is when the message at a place was sent.
func (r *receptions) sent(place int) unit.Duration { return r.messages[r.order[place]].Sent }
