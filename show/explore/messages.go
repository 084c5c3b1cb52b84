package explore

import (
	"cmp"
	"context"
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
func (x *arrowIndex) blocks(tl *timeline.Timeline, first, last int, from, to unit.Duration) (list []messageBlock, messages int) {
	for location := first; location < last; location++ {
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
const mostMessages = 1 << 18

// answerMessages lists messages, or bundles of them.
func answerMessages(ctx context.Context, v *view, q *query) (any, error) {
	if v.tl == nil {
		return nil, errNoRun
	}
	from, to := q.span(v.length())
	first, last := q.locations(len(v.tl.Locations))
	rows := int(q.number("rows", 1, MaxRows, 512))
	limit := q.limit(1000)
	if q.err != nil {
		return nil, q.err
	}
	x, err := v.arrows.get(func() (*arrowIndex, error) { return newArrowIndex(v.tl, v.threads), nil })
	if err != nil {
		return nil, err
	}
	end, err := v.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	from, to = v.tl.Start+from, v.tl.Start+to
	list, candidates := x.blocks(v.tl, first, last, from, to)
	stride := candidates/mostMessages + 1
	var found []*timeline.Message
	for i := 0; i < len(list); i += stride {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for k := list[i].from; k < list[i].to; k++ {
			m := x.at(v.tl, list[i].location, k)
			if m.Sent < to && int(m.From) >= first && int(m.From) < last {
				found = append(found, m)
			}
		}
	}
	a := &Messages{Total: int64(len(found)) * int64(stride), Estimated: stride > 1, Messages: []Message{}, Bundles: []Bundle{}}
	a.Group = (last - first + rows - 1) / rows
	if stride == 1 && len(found) <= limit {
		v.listMessages(a, found)
	} else {
		v.bundle(a, found, first, from, to, int64(stride), limit)
	}
	return a, nil
}

// listMessages lists single messages by the time of their sending.
func (v *view) listMessages(a *Messages, found []*timeline.Message) {
	slices.SortStableFunc(found, func(x, y *timeline.Message) int {
		return cmp.Or(cmp.Compare(x.Sent, y.Sent), cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To), cmp.Compare(x.Received, y.Received))
	})
	for _, m := range found {
		message := Message{
			From: int(m.From), To: int(m.To), Sent: v.since(m.Sent), Received: v.since(m.Received), Size: m.Size, Tag: int(m.Tag),
			Send: int(m.Send), Recv: int(m.Recv), SendPath: v.pathOfCall(m.From, m.Send), RecvPath: v.pathOfCall(m.To, m.Recv),
		}
		if int(m.Comm) < len(v.tl.Comms) && m.Comm >= 0 {
			message.Comm = v.tl.Comms[m.Comm].Name
		}
		a.Messages = append(a.Messages, message)
	}
}

// pathOfCall is the call path of a call; 0 if there is none.
func (v *view) pathOfCall(location, call int32) int {
	c := &v.tl.Locations[location].Calls
	if call < 0 || int(call) >= c.Len() {
		return 0
	}
	return int(v.paths.Of[c.Path[call]])
}

// bundle puts messages between the same rows together. Each stands for so many.
func (v *view) bundle(a *Messages, found []*timeline.Message, first int, from, to unit.Duration, each int64, limit int) {
	type pair struct{ from, to int }
	bundles := map[pair]*Bundle{}
	for _, m := range found {
		p := pair{(int(m.From) - first) / a.Group, (int(m.To) - first) / a.Group}
		b := bundles[p]
		if b == nil {
			b = &Bundle{From: first + p.from*a.Group, To: first + p.to*a.Group, First: v.since(to), Last: v.since(from)}
			bundles[p] = b
		}
		b.Count += each
		b.Bytes += each * m.Size
		b.First = min(b.First, v.since(max(m.Sent, from)))
		b.Last = max(b.Last, v.since(min(m.Received, to)))
	}
	for _, b := range bundles {
		a.Bundles = append(a.Bundles, *b)
	}
	slices.SortFunc(a.Bundles, func(x, y Bundle) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To))
	})
	a.Cut = len(a.Bundles) > limit
	a.Bundles = a.Bundles[:min(limit, len(a.Bundles))]
}
