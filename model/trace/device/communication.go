// Package device finds which kernels of accelerators communicate with each other: the collectives and messages that kernels of NCCL and
// RCCL carry out, on which ranks, and how far clocks of ranks must be moved if these are impossible as recorded. The formats of traces with
// accelerators share it; it knows none of them.
package device

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// Op is a collective or one end of a message that a kernel carries out.
type Op struct {
	Rank     int32
	Stream   int32 // of the timeline
	Act      int32
	Order    int32  // of operations of the same kernel
	Name     string // of the operation, see operationName
	Group    string
	Ranks    []int32 // of the group, by rank in it
	Root     int64   // rank in the group, -1: not known
	Peer     int32   // world rank, of messages
	Sequence int64   // -1: not known
	Sent     int64   // bytes; 1 if they are not known
	Received int64
	Launched unit.Duration
	Takes    bool // it takes part where operations are counted: its launch is known and in a step that all ranks have
}

// OperationName brings the names of an operation together: all_reduce, allreduce, _AllReduce.
func OperationName(name string) string {
	return strings.ToLower(strings.ReplaceAll(name, "_", ""))
}

// The names of the ends of messages.
const (
	Send = "send"
	Recv = "recv"
)

// Operation is the collective operation of a name.
func Operation(name string) (timeline.Op, bool) {
	for _, known := range []struct {
		prefix string
		op     timeline.Op
	}{
		{"allreduce", timeline.OpAllreduce}, {"allgather", timeline.OpAllgather}, {"reducescatter", timeline.OpReduceScatter},
		{"alltoall", timeline.OpAlltoall},
	} {
		if strings.HasPrefix(name, known.prefix) {
			return known.op, true
		}
	}
	op, ok := map[string]timeline.Op{
		"barrier": timeline.OpBarrier, "broadcast": timeline.OpBcast, "scatter": timeline.OpScatter, "reduce": timeline.OpReduce,
		"gather": timeline.OpGather,
	}[name]
	return op, ok
}

// IsCommunication reports whether a kernel of this name communicates.
func IsCommunication(name string) bool {
	return strings.HasPrefix(name, "ncclKernel") || strings.HasPrefix(name, "ncclDevKernel") || strings.HasPrefix(name, "rcclDevKernel")
}

// KernelOperation is the operation that the name of a kernel tells, empty if it tells none.
func KernelOperation(kernel string) string {
	for _, op := range []string{"AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce"} {
		if strings.Contains(kernel, "_"+op) {
			return OperationName(op)
		}
	}
	return ""
}

// group is what the members of a group do.
type group struct {
	name    string
	members []int32         // world ranks that left a trace
	inGroup []int64         // their ranks in the group
	ops     map[int32][]*Op // collectives by rank, by launch
	sends   map[[2]int32][]*Op
	recvs   map[[2]int32][]*Op
}

// Match finds the collectives and messages that kernels carry out together. Ranks are those that left a trace. Groups whose members
// disagree about their operations are left out, with a warning.
func Match(d *timeline.Devices, ops []Op, has func(rank int32) bool, warn func(format string, args ...any)) {
	groups := map[string]*group{}
	for i := range ops {
		op := &ops[i]
		key := fmt.Sprint(op.Group, op.Ranks)
		g := groups[key]
		if g == nil {
			g = &group{name: op.Group, ops: map[int32][]*Op{}, sends: map[[2]int32][]*Op{}, recvs: map[[2]int32][]*Op{}}
			for k, r := range op.Ranks {
				if has(r) && !slices.Contains(g.members, r) {
					g.members, g.inGroup = append(g.members, r), append(g.inGroup, int64(k))
				}
			}
			groups[key] = g
		}
		switch op.Name {
		case Send:
			g.sends[[2]int32{op.Rank, op.Peer}] = append(g.sends[[2]int32{op.Rank, op.Peer}], op)
		case Recv:
			g.recvs[[2]int32{op.Peer, op.Rank}] = append(g.recvs[[2]int32{op.Peer, op.Rank}], op)
		default:
			g.ops[op.Rank] = append(g.ops[op.Rank], op)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		g := groups[key]
		if len(g.members) < 2 {
			continue
		}
		comm := int32(len(d.Comms))
		d.Comms = append(d.Comms, timeline.Comm{Name: g.name, Members: g.members})
		if !g.addCollectives(d, comm) {
			warn("group %q: its members do not agree on the sequence of their collectives; they are left out", g.name)
		}
		g.addMessages(d, comm)
	}
	slices.SortStableFunc(d.Messages, func(x, y timeline.Message) int {
		return cmp.Or(cmp.Compare(x.To, y.To), cmp.Compare(x.Recv, y.Recv), cmp.Compare(x.RecvSeq, y.RecvSeq))
	})
}

// inOrder sorts operations by launch, and keeps those that take part.
func inOrder(list []*Op, all bool) []*Op {
	if !all {
		list = slices.DeleteFunc(slices.Clone(list), func(op *Op) bool { return !op.Takes })
	}
	slices.SortStableFunc(list, func(x, y *Op) int {
		return cmp.Or(cmp.Compare(x.Launched, y.Launched), cmp.Compare(x.Stream, y.Stream), cmp.Compare(x.Act, y.Act),
			cmp.Compare(x.Order, y.Order))
	})
	return list
}

// addCollectives finds the instances of collectives: those with the same sequence number, if all have one, else the k-th with the k-th.
// False if the members disagree.
func (g *group) addCollectives(d *timeline.Devices, comm int32) bool {
	numbered := true
	for _, list := range g.ops {
		numbered = numbered && !slices.ContainsFunc(list, func(op *Op) bool { return op.Sequence < 0 })
	}
	var instances [][]*Op
	if numbered {
		instances = g.bySequence()
	} else {
		least := -1
		lists := make([][]*Op, len(g.members))
		for i, r := range g.members {
			lists[i] = inOrder(g.ops[r], false)
			if least < 0 || len(lists[i]) < least {
				least = len(lists[i])
			}
		}
		for k := range max(least, 0) {
			var instance []*Op
			for i := range lists {
				instance = append(instance, lists[i][k])
			}
			instances = append(instances, instance)
		}
	}
	for _, instance := range instances {
		for _, op := range instance {
			if op.Name != instance[0].Name {
				return false
			}
		}
	}
	for _, instance := range instances {
		g.addInstance(d, comm, instance)
	}
	return true
}

// bySequence finds the operations of all members with the same sequence number.
func (g *group) bySequence() [][]*Op {
	found := map[int64][]*Op{}
	for i, r := range g.members {
		for _, op := range inOrder(g.ops[r], true) {
			if len(found[op.Sequence]) == i { // all members before have it
				found[op.Sequence] = append(found[op.Sequence], op)
			}
		}
	}
	var numbers []int64
	for n, list := range found {
		if len(list) == len(g.members) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	var instances [][]*Op
	for _, n := range numbers {
		instances = append(instances, found[n])
	}
	return instances
}

// addInstance adds a collective, unless its root is needed and not known.
func (g *group) addInstance(d *timeline.Devices, comm int32, instance []*Op) {
	op, ok := Operation(instance[0].Name)
	if !ok {
		return
	}
	c := timeline.Collective{Op: op, Comm: comm, Root: -1, First: len(d.Members)}
	if op.Rooted() {
		root := int64(-1)
		for _, m := range instance {
			if root < 0 {
				root = m.Root
			}
		}
		if c.Root = int32(slices.Index(g.inGroup, root)); c.Root < 0 {
			return
		}
	}
	for _, m := range instance {
		d.Members = append(d.Members, timeline.Member{Location: m.Stream, Issue: m.Act, Complete: m.Act, Seq: m.Order, Sent: m.Sent,
			Received: m.Received, Counts: -1})
	}
	d.Collectives = append(d.Collectives, c)
}

// addMessages matches the k-th send from one rank to another one with the k-th receive.
func (g *group) addMessages(d *timeline.Devices, comm int32) {
	for _, from := range g.members {
		for _, to := range g.members {
			sends, recvs := inOrder(g.sends[[2]int32{from, to}], false), inOrder(g.recvs[[2]int32{from, to}], false)
			for k := range min(len(sends), len(recvs)) {
				s, r := sends[k], recvs[k]
				d.Messages = append(d.Messages, timeline.Message{
					From: s.Stream, To: r.Stream, Send: s.Act, SendDone: s.Act, Post: r.Act, Recv: r.Act, SendDoneSeq: s.Order, RecvSeq: r.Order,
					Comm: comm, Size: s.Sent,
					Sent: d.Streams[s.Stream].Begin[s.Act], Received: d.Streams[r.Stream].End[r.Act],
				})
			}
		}
	}
}

// Clocks finds how far the clocks of ranks must be moved: not at all unless a kernel of a collective of all with all, or of a barrier,
// ended before another one began. Such collectives end together then. It returns what to add by rank; nil: nothing.
func Clocks(d *timeline.Devices, ranks int) []unit.Duration {
	type pair struct{ lo, hi, ends unit.Duration }
	offsets := make([]unit.Duration, ranks)
	moved := false
	byRank := make([][]int, ranks) // collectives
	for i := range d.Collectives {
		c := &d.Collectives[i]
		if c.Op.Rooted() {
			continue
		}
		for _, r := range d.Comms[c.Comm].Members {
			byRank[r] = append(byRank[r], i)
		}
	}
	span := func(m *timeline.Member) (b, e unit.Duration) {
		s := &d.Streams[m.Location]
		return s.Begin[m.Issue], s.End[m.Issue]
	}
	for rank := range byRank {
		var pairs []pair
		for _, i := range byRank[rank] {
			c := &d.Collectives[i]
			members := d.Members[c.First:][:d.Comms[c.Comm].Size()]
			own := slices.Index(d.Comms[c.Comm].Members, int32(rank))
			b, e := span(&members[own])
			for k, r := range d.Comms[c.Comm].Members {
				if int(r) < rank {
					begin, end := span(&members[k])
					o := offsets[r]
					pairs = append(pairs, pair{begin + o - e, end + o - b, end + o - e})
				}
			}
		}
		if len(pairs) == 0 {
			continue
		}
		lo, hi := pairs[0].lo, pairs[0].hi
		for _, p := range pairs {
			lo, hi = max(lo, p.lo), min(hi, p.hi)
		}
		if lo <= 0 && hi >= 0 {
			continue
		}
		slices.SortFunc(pairs, func(x, y pair) int { return cmp.Compare(x.ends, y.ends) })
		offsets[rank] = pairs[(len(pairs)-1)/2].ends
		if lo <= hi {
			offsets[rank] = min(max(offsets[rank], lo), hi)
		}
		moved = moved || offsets[rank] != 0
	}
	if !moved {
		return nil
	}
	return offsets
}
