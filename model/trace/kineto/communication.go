package kineto

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"slackline/model/timeline"
	"slackline/model/trace/device"
	"slackline/model/unit"
)

// What kernels of NCCL and RCCL do: the first of these that applies.
//
//  1. launched inside a call nccl:coalesced: what the record_param_comms calls of the thread say that launched no kernel themselves, since
//     the last such call: each of them is a message or collective of this one kernel;
//  2. its own Collective name;
//  3. that of the record_param_comms call around the launch;
//  4. the annotation nccl:... around it;
//  5. the name of the kernel.

const coalescedCall = "nccl:coalesced"

// stepSpan is a step of the profiler on a master.
type stepSpan struct {
	number     int64
	begin, end unit.Duration
}

// addCommunication finds the collectives and messages of all ranks.
func (b *builder) addCommunication() {
	if b.devices == nil {
		return
	}
	steps := b.commonSteps()
	var ops []device.Op
	lost := map[string]bool{}
	missing := map[int32]bool{}
	byRank := map[int32]*rankBuilder{}
	for _, r := range b.ranks {
		byRank[int32(r.rank)] = r
	}
	has := func(rank int32) bool { return byRank[rank] != nil }
	for i, r := range b.ranks {
		for _, op := range r.operations(b) {
			if op.Ranks == nil {
				lost[op.Group] = true
				continue
			}
			for _, rank := range op.Ranks {
				if !has(rank) {
					missing[rank] = true
				}
			}
			if (op.Name == device.Send || op.Name == device.Recv) && op.Peer < 0 {
				continue
			}
			if steps != nil && op.Takes {
				op.Takes = slices.ContainsFunc(steps[i], func(s stepSpan) bool { return s.begin <= op.Launched && op.Launched < s.end })
			}
			ops = append(ops, op)
		}
	}
	for _, group := range slices.Sorted(maps.Keys(lost)) {
		b.warn("group %q: its ranks are not known; its kernels are not analyzed", group)
	}
	if b.absent = len(missing) > 0; b.absent {
		b.warn("%d ranks of process groups have no file; they are left out of their groups", len(missing))
	}
	device.Match(b.devices, ops, has, b.warn)
}

// commonSteps returns by rank the steps that all ranks have; nil if some rank has none.
func (b *builder) commonSteps() [][]stepSpan {
	steps := make([][]stepSpan, len(b.ranks))
	seen := map[int64]int{}
	for i, r := range b.ranks {
		own := map[int64]bool{}
		for k := r.from[0]; k < r.from[1]; k++ {
			c := r.calls.at(r.sorted[k])
			m := stepName.FindStringSubmatch(r.names[c.name])
			if m == nil {
				continue
			}
			n, err := strconv.ParseInt(m[1], 10, 64)
			if err != nil {
				continue
			}
			steps[i] = append(steps[i], stepSpan{n, unit.Duration(c.begin) + r.shift, unit.Duration(c.end) + r.shift})
			if !own[n] {
				own[n] = true
				seen[n]++
			}
		}
		if len(own) == 0 {
			return nil
		}
	}
	for i := range steps {
		steps[i] = slices.DeleteFunc(steps[i], func(s stepSpan) bool { return seen[s.number] < len(b.ranks) })
	}
	return steps
}

// callsOfThread is what is needed of the calls of a thread to know what is around a launch.
type callsOfThread struct {
	around   []int32 // by call of the timeline: the call around it, -1: none
	launches []bool  // by call: a kernel was launched by it or inside of it
	comms    []int32 // calls record_param_comms with arguments, in order
}

// operations finds what the kernels of a rank do.
func (r *rankBuilder) operations(b *builder) []device.Op {
	argsOf := map[int32]int32{} // by number of the call in the file
	for i := range r.args {
		if r.args[i].call >= 0 {
			argsOf[r.args[i].call] = int32(i)
		}
	}
	threads := map[int32]*callsOfThread{}
	var ops []device.Op
	for i, a := range r.acts.all {
		if !r.communicates(a) {
			continue
		}
		stream := r.made[a.stream].b
		op := device.Op{Rank: int32(r.rank), Stream: stream.Index, Act: stream.Places[r.numbers[i]], Peer: -1}
		launch := r.launchOf(a.correlation)
		var calls *callsOfThread
		if a.args >= 0 && r.args[a.args].alone {
			op.Takes, op.Launched = true, unit.Duration(a.begin)+r.shift
		}
		if launch.Known() {
			op.Takes, op.Launched = true, b.tl.Locations[launch.Thread].Calls.Enter[launch.Call]
			if calls = threads[launch.Thread]; calls == nil {
				calls = r.callsOf(b, launch.Thread, argsOf)
				threads[launch.Thread] = calls
			}
		}
		for k, args := range r.whatItDoes(a, launch, calls, argsOf) {
			op.Order = int32(k)
			if x, ok := r.operation(b, op, args); ok {
				ops = append(ops, x)
			}
		}
	}
	return ops
}

// callsOf looks at the calls of a thread.
func (r *rankBuilder) callsOf(b *builder, thread int32, argsOf map[int32]int32) *callsOfThread {
	c := &b.tl.Locations[thread].Calls
	k := &callsOfThread{around: make([]int32, c.Len()), launches: make([]bool, c.Len())}
	open := int32(-1)
	for i := range k.around {
		for open >= 0 && c.Skip[open] <= int32(i) {
			open = k.around[open]
		}
		k.around[i] = open
		open = int32(i)
		if _, ok := argsOf[r.numberOf(timeline.Launch{Thread: thread, Call: int32(i)})]; ok {
			k.comms = append(k.comms, int32(i))
		}
	}
	for _, a := range r.acts.all {
		if l := r.launchOf(a.correlation); a.kind == kindKernel && l.Known() && l.Thread == thread {
			for call := l.Call; call >= 0 && !k.launches[call]; call = k.around[call] {
				k.launches[call] = true
			}
		}
	}
	return k
}

// rawName is the name of a call as it is in the file; empty: the outermost call of the master.
func (r *rankBuilder) rawName(l timeline.Launch) string {
	if i := r.numberOf(l); i >= 0 {
		return r.names[r.calls.at(i).name]
	}
	return ""
}

// whatItDoes lists the operations of a kernel by their arguments.
func (r *rankBuilder) whatItDoes(a *activity, launch timeline.Launch, calls *callsOfThread, argsOf map[int32]int32) []commArgs {
	empty := noArgs
	around, annotation, coalesced := empty, "", int32(-1)
	if launch.Known() {
		found := false
		for call := launch.Call; call >= 0; call = calls.around[call] {
			at := timeline.Launch{Thread: launch.Thread, Call: call}
			name := r.rawName(at)
			if i, ok := argsOf[r.numberOf(at)]; ok && !found {
				around, found = r.args[i], true
			}
			if name == coalescedCall && coalesced < 0 {
				coalesced = call
			}
			if strings.HasPrefix(name, "nccl:") && annotation == "" {
				annotation = name
			}
		}
	}
	if coalesced >= 0 {
		return r.batch(launch, coalesced, calls, argsOf)
	}
	args := empty
	if a.args >= 0 {
		args = r.args[a.args]
	}
	args.fill(&around)
	if args.collective != "" {
		return []commArgs{args}
	}
	if m := messageName.FindStringSubmatch(annotation); m != nil {
		args.collective = m[1]
		if peer, err := strconv.ParseInt(m[3], 10, 32); err == nil && m[1] == device.Send {
			args.destination = peer
		} else if err == nil {
			args.source = peer
		}
		return []commArgs{args}
	}
	if name, ok := strings.CutPrefix(annotation, "nccl:"); ok {
		args.collective = name
	} else {
		args.collective = device.KernelOperation(r.names[a.name])
	}
	return []commArgs{args}
}

// batch lists what the calls before a launch inside nccl:coalesced said.
func (r *rankBuilder) batch(launch timeline.Launch, coalesced int32, calls *callsOfThread, argsOf map[int32]int32) []commArgs {
	since := int32(-1)
	for call := coalesced - 1; call >= 0; call-- {
		if r.rawName(timeline.Launch{Thread: launch.Thread, Call: call}) == coalescedCall {
			since = call
			break
		}
	}
	var list []commArgs
	for _, call := range calls.comms {
		if call > since && call < launch.Call && !calls.launches[call] {
			list = append(list, r.args[argsOf[r.numberOf(timeline.Launch{Thread: launch.Thread, Call: call})]])
		}
	}
	return list
}

// operation completes an operation by its arguments; false if they tell nothing. Ranks are nil if they are not known.
func (r *rankBuilder) operation(b *builder, op device.Op, args commArgs) (device.Op, bool) {
	op.Name = device.OperationName(args.collective)
	_, collective := device.Operation(op.Name)
	if op.Name != device.Send && op.Name != device.Recv && !collective {
		return op, false
	}
	op.Group, op.Root, op.Sequence = args.group, args.root, args.sequence
	op.Sent, op.Received = dataBytes(args.in, args.dtype), dataBytes(args.out, args.dtype)
	op.Ranks = r.groupRanks(b, &args)
	if op.Ranks == nil {
		return op, true
	}
	peer := int64(-1)
	switch op.Name {
	case device.Send:
		peer = args.destination
	case device.Recv:
		peer = args.source
	default:
		return op, true
	}
	if peer < 0 {
		peer = args.root
	}
	if peer >= 0 && peer < int64(len(op.Ranks)) {
		op.Peer = op.Ranks[peer]
	}
	return op, true
}

// groupRanks are the ranks of a group: as its list says, its configuration, its first rank and stride, or all. Nil: they are not known.
func (r *rankBuilder) groupRanks(b *builder, args *commArgs) []int32 {
	if list, ok := rankList(args.ranks); ok {
		return list
	}
	for _, g := range r.info.Groups {
		if fmt.Sprint(g.Name) == args.group && args.group != "" && len(g.Ranks) > 0 {
			return g.Ranks
		}
	}
	if args.start >= 0 && args.start < maxKinetoRank && args.size > 0 && args.size <= maxKinetoRank && args.stride < maxKinetoRank &&
		(args.stride > 0 || args.size == 1) && args.start+args.stride*(args.size-1) < maxKinetoRank {
		list := make([]int32, args.size)
		for i := range list {
			list[i] = int32(args.start + args.stride*int64(i))
		}
		return list
	}
	if args.size >= 0 && args.size != int64(b.world) {
		return nil
	}
	var list []int32
	for _, r := range b.ranks {
		list = append(list, int32(r.rank))
	}
	return list
}

// rankList reads a list such as [0, 1, 2]; false if there is none, or if it was cut.
func rankList(text string) ([]int32, bool) {
	text, opened := strings.CutPrefix(strings.TrimSpace(text), "[")
	text, closed := strings.CutSuffix(text, "]")
	if !opened || !closed || strings.TrimSpace(text) == "" {
		return nil, false
	}
	var list []int32
	for _, word := range strings.Split(text, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(word), 10, 32)
		if err != nil || n < 0 || n >= maxKinetoRank {
			return nil, false
		}
		list = append(list, int32(n))
	}
	return list, true
}

// dataBytes are the bytes of a number of elements; 1 if that is not known.
func dataBytes(elements int64, dtype string) int64 {
	if elements < 0 {
		return 1
	}
	size := int64(1)
	switch dtype {
	case "Short", "Half", "BFloat16":
		size = 2
	case "Int", "Float":
		size = 4
	case "Long", "Double", "ComplexFloat":
		size = 8
	case "ComplexDouble":
		size = 16
	}
	return min(elements, 1<<40) * size
}

// moveClocks moves the clocks of ranks whose kernels would be impossible otherwise.
func (b *builder) moveClocks() {
	if b.devices == nil || b.oneClock {
		return
	}
	offsets := device.Clocks(b.devices, b.tl.Ranks)
	if offsets == nil {
		return
	}
	b.tl.MoveRanks(offsets)
	for rank, d := range offsets {
		if d != 0 {
			b.warn("the clock of rank %d is wrong: its kernels of collectives ended before others began; its times are moved by %v", rank, d)
		}
	}
}
