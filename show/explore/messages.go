package explore

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"slackline/internal/parallel"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// arrowIndex finds the messages that are on their way in a window. Those of each receiver are in the order in which
// they were received; blocks of them know when the first of each was sent.
type arrowIndex struct {
	first    []int             // by location: its first message in Timeline.Messages; one more at the end
	order    [][]int32         // by location: its messages by reception, counted from first; nil: they are in that order
	earliest [][]unit.Duration // by location and block: when the first was sent
}

const blockMessages = 64

// newArrowIndex prepares the messages of a run.
func newArrowIndex(tl *timeline.Timeline, threads int) *arrowIndex {
	n := len(tl.Locations)
	x := &arrowIndex{first: make([]int, n+1), order: make([][]int32, n), earliest: make([][]unit.Duration, n)}
	for location := range n + 1 {
		x.first[location] = sort.Search(len(tl.Messages), func(i int) bool { return int(tl.Messages[i].To) >= location })
	}
	parallel.Each(n, threads, func(location int) {
		list := tl.Messages[x.first[location]:x.first[location+1]]
		byReception := func(a, b timeline.Message) int { return cmp.Compare(a.Received, b.Received) }
		if !slices.IsSortedFunc(list, byReception) {
			order := make([]int32, len(list))
			for i := range order {
				order[i] = int32(i)
			}
			slices.SortStableFunc(order, func(a, b int32) int { return byReception(list[a], list[b]) })
			x.order[location] = order
		}
		for i := range list {
			sent := x.at(tl, location, i).Sent
			if i%blockMessages == 0 {
				x.earliest[location] = append(x.earliest[location], sent)
			}
			block := &x.earliest[location][i/blockMessages]
			*block = min(*block, sent)
		}
	})
	return x
}

// arrowsOf prepares the messages of the run, once.
func (v *view) arrowsOf() (*arrowIndex, error) {
	return v.arrows.get(func() (*arrowIndex, error) { return newArrowIndex(v.tl, v.threads), nil })
}

// at is the i-th message that a location received.
func (x *arrowIndex) at(tl *timeline.Timeline, location, i int) *timeline.Message {
	if order := x.order[location]; order != nil {
		i = int(order[i])
	}
	return &tl.Messages[x.first[location]+i]
}

// messageBlock is a part of the messages of a location that may be in a window.
type messageBlock struct{ location, from, to int }

// blocks lists what may be in a window; firsts of blocks that are sent too late are left out.
func (x *arrowIndex) blocks(tl *timeline.Timeline, r *rows, from, to unit.Duration) (list []messageBlock, messages int) {
	for row := r.first; row < r.last; row++ {
		location := r.at(row)
		n := x.first[location+1] - x.first[location]
		i := sort.Search(n, func(i int) bool { return x.at(tl, location, i).Received >= from })
		for i < n {
			end := min(n, (i/blockMessages+1)*blockMessages)
			if x.earliest[location][i/blockMessages] < to {
				list = append(list, messageBlock{location, i, end})
				messages += end - i
			}
			i = end
		}
	}
	return list, messages
}

// mostMessages is how many messages are looked at for one answer. If there are more, every n-th block is.
const mostMessages = 1 << 16

// answerMessages lists messages, or of very many those that matter most.
func answerMessages(ctx context.Context, v *view, q *query) (any, error) {
	from, to := q.span(v.length())
	limit := q.limit(1000)
	w := messageWindow{from: v.tl.Start + from, to: v.tl.Start + to, rows: q.rows(v), least: q.number("least", 0, math.MaxInt64, 0),
		tl: v.tl}
	w.sender, w.receiver = q.ranks("sender", v.tl.Ranks), q.ranks("receiver", v.tl.Ranks)
	if q.err != nil {
		return nil, q.err
	}
	x, err := v.arrowsOf()
	if err != nil {
		return nil, err
	}
	end, err := v.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	c := newChoice(v, limit)
	list, candidates := x.blocks(v.tl, &w.rows, w.from, w.to)
	stride := candidates/mostMessages + 1
	looked, total := 0, int64(0)
	for i := 0; i < len(list); i += stride {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		looked += list[i].to - list[i].from
		for k := list[i].from; k < list[i].to; k++ {
			if m := x.at(v.tl, list[i].location, k); w.has(m) {
				total++
				c.add(m)
			}
		}
	}
	if stride > 1 { // blocks are not of one size
		c.addWaited(x, w)
		total = int64(float64(total) * float64(candidates) / float64(looked))
	}
	a := &Messages{Total: total, Estimated: stride > 1, Chosen: stride > 1 || total > int64(limit)}
	a.Messages = v.listMessages(c.result())
	return a, nil
}

// messageWindow is what messages are asked for.
type messageWindow struct {
	from, to         unit.Duration
	rows             rows
	least            int64  // bytes
	sender, receiver []bool // by rank; nil: all
	tl               *timeline.Timeline
}

// has reports whether a message is on its way in the window, from and to locations of it.
func (w *messageWindow) has(m *timeline.Message) bool {
	if m.Size < w.least || w.sender != nil && !w.sender[w.tl.Locations[m.From].Rank] || w.receiver != nil &&
		!w.receiver[w.tl.Locations[m.To].Rank] {
		return false
	}
	return m.Sent < w.to && m.Received >= w.from && w.rows.has(int(m.From)) && w.rows.has(int(m.To))
}

// listMessages describes messages, by the time of their sending.
func (v *view) listMessages(found []weighed) []Message {
	slices.SortFunc(found, func(a, b weighed) int {
		x, y := a.message, b.message
		return cmp.Or(cmp.Compare(x.Sent, y.Sent), cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To), cmp.Compare(x.Received, y.Received),
			cmp.Compare(x.Send, y.Send), cmp.Compare(x.Recv, y.Recv))
	})
	list := []Message{}
	for _, f := range found {
		m := f.message
		message := Message{
			From: int(m.From), To: int(m.To), Sent: v.since(m.Sent), Received: v.since(m.Received), Size: m.Size, Tag: int(m.Tag),
			Send: int(m.Send), Recv: int(m.Recv), SendPath: v.pathOfCall(m.From, m.Send), RecvPath: v.pathOfCall(m.To, m.Recv), Wait: int64(f.wait),
		}
		if int(m.Comm) < len(v.tl.Comms) && m.Comm >= 0 {
			message.Comm = v.tl.Comms[m.Comm].Name
		}
		list = append(list, message)
	}
	return list
}

// pathOfCall is the call path of a call; 0 if there is none.
func (v *view) pathOfCall(location, call int32) int {
	c := &v.tl.Locations[location].Calls
	if call < 0 || int(call) >= c.Len() {
		return 0
	}
	return int(v.paths.Of[c.Path[call]])
}
