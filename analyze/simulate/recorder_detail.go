package simulate

import (
	"cmp"
	"slices"
	"strings"

	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// detailRecorder writes down what was done from when to when.
type detailRecorder struct {
	activities [][]timeline.Activity // by rank
	messages   []timeline.Transfer
	ofNode     []int32           // message of a node under way
	receive    []int32           // by message: position of its activity at the receiver
	posted     map[postKey]int64 // receives that have not been matched
	origins    []schedule.Origin
}

type postKey struct{ rank, index int32 }

func newDetailRecorder(ranks int, origins []schedule.Origin) *detailRecorder {
	return &detailRecorder{
		activities: make([][]timeline.Activity, ranks),
		posted:     make(map[postKey]int64),
		origins:    origins,
	}
}

func (r *detailRecorder) add(rank int32, kind timeline.Kind, op *schedule.Op, start, end int64, message int32) {
	a := timeline.Activity{
		Start: unit.Duration(start), End: unit.Duration(end), Kind: kind, Message: message,
	}
	if op != nil {
		a.CPU, a.Path, a.Call = op.CPU, op.Origin, op.Origin
	}
	r.activities[rank] = append(r.activities[rank], a)
}

func (r *detailRecorder) calc(rank int32, op *schedule.Op, start, end int64) {
	r.add(rank, timeline.Compute, op, start, end, -1)
}

// send writes down a send whose message is in node i.
func (r *detailRecorder) send(i, rank int32, op *schedule.Op, start, end, arrival int64) {
	m := int32(len(r.messages))
	r.messages = append(r.messages, timeline.Transfer{
		From: rank, To: op.Peer, Size: op.Size, Tag: op.Tag,
		SendStart: unit.Duration(start), SendEnd: unit.Duration(end),
		Arrival: unit.Duration(arrival), SendFinish: unit.Duration(end),
	})
	r.receive = append(r.receive, -1)
	for int(i) >= len(r.ofNode) {
		r.ofNode = append(r.ofNode, -1)
	}
	r.ofNode[i] = m
	r.add(rank, timeline.Send, op, start, end, m)
}

// message writes down that the message of node i takes the CPU of its receiver.
func (r *detailRecorder) message(i, rank int32, start, end int64) {
	m := r.ofNode[i]
	r.messages[m].RecvStart, r.messages[m].RecvEnd = unit.Duration(start), unit.Duration(end)
	r.receive[m] = int32(len(r.activities[rank]))
	r.add(rank, timeline.Receive, nil, start, end, m)
}

// post writes down that a receive is posted.
func (r *detailRecorder) post(rank, index int32, at int64) { r.posted[postKey{rank, index}] = at }

// match writes down that the message of node i has found operation index of its receiver.
func (r *detailRecorder) match(i, rank, index int32, op *schedule.Op, end int64) {
	m := &r.messages[r.ofNode[i]]
	k := postKey{rank, index}
	m.Posted, m.Completed = unit.Duration(r.posted[k]), unit.Duration(end)
	delete(r.posted, k)
	a := &r.activities[rank][r.receive[r.ofNode[i]]]
	a.CPU, a.Path, a.Call = op.CPU, op.Origin, op.Origin
}

// released writes down that the sender of a large message may go on.
func (r *detailRecorder) released(i, rank int32, end int64) {
	m := r.ofNode[i]
	msg := &r.messages[m]
	msg.SendFinish = unit.Duration(end)
	if msg.SendFinish > msg.SendEnd {
		r.activities[rank] = append(r.activities[rank], timeline.Activity{
			Start: msg.SendEnd, End: msg.SendFinish, Kind: timeline.Blocked, Message: m,
		})
	}
}

// timeline puts everything in order and returns it.
func (r *detailRecorder) collect(finish []unit.Duration, end unit.Duration) *timeline.Detail {
	order := make([]int32, len(r.messages))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		x, y := &r.messages[a], &r.messages[b]
		return cmp.Or(cmp.Compare(x.SendStart, y.SendStart), cmp.Compare(x.From, y.From))
	})
	t := &timeline.Detail{
		Tracks:   make([]timeline.Track, len(r.activities)),
		Messages: make([]timeline.Transfer, len(r.messages)),
		End:      end,
	}
	place := make([]int32, len(order))
	for to, from := range order {
		t.Messages[to] = r.messages[from]
		place[from] = int32(to)
	}
	paths, calls := r.names(t)
	for rank, list := range r.activities {
		for i := range list {
			a := &list[i]
			if a.Message >= 0 {
				a.Message = place[a.Message]
			}
			a.Path, a.Call = paths[a.Path], calls[a.Call]
		}
		slices.SortStableFunc(list, func(a, b timeline.Activity) int { return cmp.Compare(a.Start, b.Start) })
		t.Tracks[rank] = timeline.Track{Rank: rank, Activities: list, Finish: finish[rank]}
	}
	return t
}

// names fills the tables of call paths and calls and returns, by origin, the places in them.
func (r *detailRecorder) names(t *timeline.Detail) (paths, calls []uint32) {
	t.Paths, t.Calls = [][]string{nil}, []string{""}
	known := map[string]uint32{}
	number := func(key string, add func() int) uint32 {
		if n, ok := known[key]; ok {
			return n
		}
		n := uint32(add())
		known[key] = n
		return n
	}
	paths, calls = make([]uint32, max(len(r.origins), 1)), make([]uint32, max(len(r.origins), 1))
	for i, o := range r.origins {
		if len(o.Path) > 0 {
			paths[i] = number("path\x00"+strings.Join(o.Path, "\x00"), func() int {
				t.Paths = append(t.Paths, o.Path)
				return len(t.Paths) - 1
			})
		}
		if o.Call != "" {
			calls[i] = number("call\x00"+o.Call, func() int {
				t.Calls = append(t.Calls, o.Call)
				return len(t.Calls) - 1
			})
		}
	}
	return paths, calls
}
