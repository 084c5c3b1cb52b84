package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// deviceOp is a collective or one end of a message that a kernel carries out.
type deviceOp struct {
	rank     int32
	stream   int32 // of the timeline
	act      int32
	order    int32  // of operations of the same kernel
	name     string // of the operation, see operationName
	group    string
	ranks    []int32 // of the group, by rank in it
	root     int64   // rank in the group, -1: not known
	peer     int32   // world rank, of messages
	sequence int64   // -1: not known
	sent     int64   // bytes; 1 if they are not known
	received int64
	launched unit.Duration
	takes    bool // it takes part where operations are counted: its launch is known and in a step that all ranks have
}

// operationName brings the names of an operation together: all_reduce, allreduce, _AllReduce.
func operationName(name string) string {
	return strings.ToLower(strings.ReplaceAll(name, "_", ""))
}

// The names of the ends of messages.
const (
	opSend = "send"
	opRecv = "recv"
)

// deviceOperation is the collective operation of a name.
func deviceOperation(name string) (timeline.Op, bool) {
	for _, known := range []struct {
		prefix string
		op     timeline.Op
	}{
		{"allreduce", timeline.OpAllreduce}, {"allgather", timeline.OpAllgather}, {"reducescatter", timeline.OpReduceScatter}, {"alltoall", timeline.OpAlltoall},
	} {
		if strings.HasPrefix(name, known.prefix) {
			return known.op, true
		}
	}
	op, ok := map[string]timeline.Op{
		"barrier": timeline.OpBarrier, "broadcast": timeline.OpBcast, "scatter": timeline.OpScatter, "reduce": timeline.OpReduce, "gather": timeline.OpGather,
	}[name]
	return op, ok
}

// kernelOperation is the operation that the name of a kernel tells, empty if it tells none.
func kernelOperation(kernel string) string {
	for _, op := range []string{"AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce"} {
		if strings.Contains(kernel, "_"+op) {
			return operationName(op)
		}
	}
	return ""
}

// isRooted reports whether an operation has a root.
func isRooted(op timeline.Op) bool {
	return op == timeline.OpBcast || op == timeline.OpScatter || op == timeline.OpReduce || op == timeline.OpGather
}

// deviceGroup is what the members of a group do.
type deviceGroup struct {
	name    string
	members []int32               // world ranks that left a trace
	inGroup []int64               // their ranks in the group
	ops     map[int32][]*deviceOp // collectives by rank, by launch
	sends   map[[2]int32][]*deviceOp
	recvs   map[[2]int32][]*deviceOp
}

// matchDeviceOps finds the collectives and messages that kernels carry out together. Ranks are those that left a trace. Groups whose members
// disagree about their operations are left out, with a warning.
func matchDeviceOps(d *timeline.Devices, ops []deviceOp, has func(rank int32) bool, warn func(format string, args ...any)) {
	groups := map[string]*deviceGroup{}
	for i := range ops {
		op := &ops[i]
		key := fmt.Sprint(op.group, op.ranks)
		g := groups[key]
		if g == nil {
			g = &deviceGroup{name: op.group, ops: map[int32][]*deviceOp{}, sends: map[[2]int32][]*deviceOp{}, recvs: map[[2]int32][]*deviceOp{}}
			for k, r := range op.ranks {
				if has(r) && !slices.Contains(g.members, r) {
					g.members, g.inGroup = append(g.members, r), append(g.inGroup, int64(k))
				}
			}
			groups[key] = g
		}
		switch op.name {
		case opSend:
			g.sends[[2]int32{op.rank, op.peer}] = append(g.sends[[2]int32{op.rank, op.peer}], op)
		case opRecv:
			g.recvs[[2]int32{op.peer, op.rank}] = append(g.recvs[[2]int32{op.peer, op.rank}], op)
		default:
			g.ops[op.rank] = append(g.ops[op.rank], op)
		}
	}
	keys := make([]string, 0, len(groups))
	for key := range groups {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
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
func inOrder(list []*deviceOp, all bool) []*deviceOp {
	if !all {
		list = slices.DeleteFunc(slices.Clone(list), func(op *deviceOp) bool { return !op.takes })
	}
	slices.SortStableFunc(list, func(x, y *deviceOp) int {
		return cmp.Or(cmp.Compare(x.launched, y.launched), cmp.Compare(x.stream, y.stream), cmp.Compare(x.act, y.act), cmp.Compare(x.order, y.order))
	})
	return list
}

// addCollectives finds the instances of collectives: those with the same sequence number, if all have one, else the k-th with the k-th.
// False if the members disagree.
func (g *deviceGroup) addCollectives(d *timeline.Devices, comm int32) bool {
	numbered := true
	for _, list := range g.ops {
		numbered = numbered && !slices.ContainsFunc(list, func(op *deviceOp) bool { return op.sequence < 0 })
	}
	var instances [][]*deviceOp
	if numbered {
		instances = g.bySequence()
	} else {
		least := -1
		lists := make([][]*deviceOp, len(g.members))
		for i, r := range g.members {
			lists[i] = inOrder(g.ops[r], false)
			if least < 0 || len(lists[i]) < least {
				least = len(lists[i])
			}
		}
		for k := range max(least, 0) {
			var instance []*deviceOp
			for i := range lists {
				instance = append(instance, lists[i][k])
			}
			instances = append(instances, instance)
		}
	}
	for _, instance := range instances {
		for _, op := range instance {
			if op.name != instance[0].name {
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
func (g *deviceGroup) bySequence() [][]*deviceOp {
	found := map[int64][]*deviceOp{}
	for i, r := range g.members {
		for _, op := range inOrder(g.ops[r], true) {
			if len(found[op.sequence]) == i { // all members before have it
				found[op.sequence] = append(found[op.sequence], op)
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
	var instances [][]*deviceOp
	for _, n := range numbers {
		instances = append(instances, found[n])
	}
	return instances
}

// addInstance adds a collective, unless its root is needed and not known.
func (g *deviceGroup) addInstance(d *timeline.Devices, comm int32, instance []*deviceOp) {
	op, ok := deviceOperation(instance[0].name)
	if !ok {
		return
	}
	c := timeline.Collective{Op: op, Comm: comm, Root: -1, First: len(d.Members)}
	if isRooted(op) {
		root := int64(-1)
		for _, m := range instance {
			if root < 0 {
				root = m.root
			}
		}
		if c.Root = int32(slices.Index(g.inGroup, root)); c.Root < 0 {
			return
		}
	}
	for _, m := range instance {
		d.Members = append(d.Members, timeline.Member{Location: m.stream, Issue: m.act, Complete: m.act, Seq: m.order, Sent: m.sent, Received: m.received, Counts: -1})
	}
	d.Collectives = append(d.Collectives, c)
}

// addMessages matches the k-th send from one rank to another one with the k-th receive.
func (g *deviceGroup) addMessages(d *timeline.Devices, comm int32) {
	for _, from := range g.members {
		for _, to := range g.members {
			sends, recvs := inOrder(g.sends[[2]int32{from, to}], false), inOrder(g.recvs[[2]int32{from, to}], false)
			for k := range min(len(sends), len(recvs)) {
				s, r := sends[k], recvs[k]
				d.Messages = append(d.Messages, timeline.Message{
					From: s.stream, To: r.stream, Send: s.act, SendDone: s.act, Post: r.act, Recv: r.act, SendDoneSeq: s.order, RecvSeq: r.order, Comm: comm, Size: s.sent,
					Sent: d.Streams[s.stream].Begin[s.act], Received: d.Streams[r.stream].End[r.act],
				})
			}
		}
	}
}

// deviceClocks finds how far the clocks of ranks must be moved: not at all unless a kernel of a collective of all with all, or of a barrier,
// ended before another one began. Such collectives end together then. It returns what to add by rank; nil: nothing.
func deviceClocks(d *timeline.Devices, ranks int) []unit.Duration {
	type pair struct{ lo, hi, ends unit.Duration }
	offsets := make([]unit.Duration, ranks)
	moved := false
	byRank := make([][]int, ranks) // collectives
	for i := range d.Collectives {
		c := &d.Collectives[i]
		if isRooted(c.Op) {
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
