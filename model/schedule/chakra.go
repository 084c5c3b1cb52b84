package schedule

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"

	"slackline/model/schedule/chakra"
)

// Chakra execution traces: one file for each rank, NAME.RANK.et, with a graph of nodes. Nodes run as in ASTRA-sim, for which most of them
// are written:
//
//   - A node starts when its data dependencies have ended and what carries it out is free: each thread of the host (tid), each stream of
//     the device, and, where the file names neither, one for computations and one for communication.
//   - A computation takes its duration. A send never waits for its receive.
//   - A collective is one of all ranks whose files have its process group (pg_name; none: all ranks). Those of a group are matched by
//     their order in the files. Its recorded duration is left out: the simulation says how long it takes.
//   - comm_size is what a rank has before the operation: of an all-gather its contribution, of an all-to-all and of a reduce-scatter
//     what it gives to all ranks together.
//   - The host's calls of collectives have no size; they are computations.
var chakraFormat = Format{
	Name: "chakra", Noun: "a Chakra execution trace", Info: "Chakra execution traces, a file for each rank", Suffixes: []string{".et"},
	Sniff: chakra.Sniff, Read: readChakra, Pack: packChakra, RankFiles: chakraFiles, ReadRanks: readChakraRanks,
}

// chakraName matches the name of a file of a rank.
var chakraName = regexp.MustCompile(`^(.*)\.([0-9]+)(\.et(?:\.gz)?)$`)

// chakraFiles implements Format.RankFiles.
func chakraFiles(base string, names []string) ([]string, error) {
	like := chakraName.FindStringSubmatch(base)
	if like == nil {
		return []string{base}, nil
	}
	byRank := map[int]string{}
	highest := 0
	for _, name := range names {
		m := chakraName.FindStringSubmatch(name)
		if m == nil || m[1] != like[1] || m[3] != like[3] {
			continue
		}
		rank, err := strconv.Atoi(m[2])
		if err != nil || strconv.Itoa(rank) != m[2] {
			return nil, &FileError{File: name, What: fmt.Sprintf("%q is not the number of a rank", m[2])}
		}
		byRank[rank] = name
		highest = max(highest, rank)
	}
	files := make([]string, 0, len(byRank))
	for rank := range highest + 1 {
		name, found := byRank[rank]
		if !found {
			return nil, &FileError{File: base, What: fmt.Sprintf("the file of rank %d, %s.%d%s, is missing; the files of all ranks belong "+
				"in one directory", rank, like[1], rank, like[3])}
		}
		files = append(files, name)
	}
	return files, nil
}

func readChakra(name string, data []byte) (*Graph, error) {
	return readChakraWithin(name, data, 0)
}

func readChakraWithin(name string, data []byte, memory int64) (*Graph, error) {
	open := func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	g, _, err := readChakraRanks([]string{name}, open, memory)
	return g, err
}

func packChakra(name string, file io.ReaderAt, size int64, o PackOptions) (*Packed, error) {
	data, err := o.readWhole(name, file, size)
	if err != nil {
		return nil, err
	}
	g, err := readChakraWithin(name, data, o.Memory)
	if err != nil {
		return nil, err
	}
	return Pack(g), nil
}

// readChakraRanks implements Format.ReadRanks.
func readChakraRanks(names []string, open func(name string) (io.ReadCloser, error), memory int64) (*Graph, []string, error) {
	r := &chakraReader{names: names, memory: memory, origins: []Origin{{}}, numbers: map[string]uint32{}}
	for rank, name := range names {
		if err := r.readRank(rank, name, open); err != nil {
			return nil, nil, err
		}
	}
	groups, calls, err := r.match()
	if err != nil {
		return nil, nil, err
	}
	build := NewBuilder(len(names))
	var cycles cycleFinder
	for rank := range r.ranks {
		k := &r.ranks[rank]
		k.block.Calls = calls
		k.link()
		if cycle := cycles.find(len(k.block.Ops), k.block.First, k.block.Dependents); cycle != nil {
			return nil, nil, &FileError{File: names[rank], What: fmt.Sprintf("node %d depends on itself, through %d other nodes",
				k.ids[cycle[0]], len(cycle)-1)}
		}
		build.Add(rank, &k.block)
		k.block, k.ids, k.waits = Block{}, nil, nil
	}
	build.SetGroups(groups)
	build.SetOrigins(r.origins)
	g := build.Graph()
	g.Names = &Names{File: names[0]}
	return g, r.warnings(), nil
}

// chakraReader collects what the ranks of a trace do.
type chakraReader struct {
	names   []string // of files, by rank
	memory  int64    // that may be used; 0: there is no limit
	used    int64
	ranks   []chakraRank
	origins []Origin
	numbers map[string]uint32 // of origins, by the names of nodes
}

// chakraRank is what one rank does.
type chakraRank struct {
	block Block // Size of a collective is its position in calls
	ids   []uint64
	waits []chakraWait
	calls []chakraCall
	cpus  map[chakraCPU]uint8

	cut           bool // the file ends too early
	untimed, lost int  // computations without a time, dependencies on nodes that are not there
}

// chakraWait is a dependency: an operation, and the number of the node that it waits for.
type chakraWait struct {
	op uint32
	on uint64
}

// chakraCall is the part of a rank in a collective.
type chakraCall struct {
	op    int // position in the block
	group string
	call  Call
}

// chakraCPU is what carries out a node.
type chakraCPU struct {
	onHost, communicates, numbered bool
	thread                         int64
}

// readRank reads the file of a rank.
func (r *chakraReader) readRank(rank int, name string, open func(name string) (io.ReadCloser, error)) error {
	file, err := open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	r.ranks = append(r.ranks, chakraRank{cpus: map[chakraCPU]uint8{}})
	k := &r.ranks[rank]
	k.cut, err = chakra.Read(file, func(n *chakra.Node) error {
		if what := r.add(k, n); what != "" {
			return fmt.Errorf("node %d, %s: %s", n.ID, quote([]byte(n.Name)), what)
		}
		return nil
	})
	if err != nil {
		return &FileError{File: name, What: err.Error()}
	}
	return nil
}

// add appends the operation of a node; what is wrong with it otherwise.
func (r *chakraReader) add(k *chakraRank, n *chakra.Node) (wrong string) {
	const perNode, perWait = 120, 48 // bytes of memory until the graph is there, with some slack for the growth of lists
	if r.used += perNode + perWait*int64(len(n.DataDeps)); r.memory > 0 && r.used > r.memory {
		return fmt.Sprintf("the nodes so far need more than %d MiB, half of the free memory; simulate fewer ranks", r.memory>>20)
	}
	if len(k.block.Ops) == MaxBlockOps {
		return "the file has too many nodes"
	}
	const perMicrosecond = 1_000_000 // picoseconds
	op := Op{Kind: Calc, Origin: r.originOf(n.Name)}
	communicates := true
	peer := chakra.Number{}
	switch n.Type {
	case chakra.Send:
		op.Kind, op.Context, peer = Send, Buffered, n.Destination
	case chakra.Recv:
		op.Kind, peer = Recv, n.Source
	case chakra.Collective:
		communicates = !n.OnHost
		if call, is := chakraCollective(n); is {
			op.Kind, op.Size = Collective, int64(len(k.calls))
			k.calls = append(k.calls, chakraCall{len(k.block.Ops), n.Group, call})
		}
	default:
		communicates = false
	}
	switch op.Kind {
	case Send, Recv:
		does := "sends to"
		if op.Kind == Recv {
			does = "receives from"
		}
		switch {
		case !peer.Given:
			return does + " a rank that is not named"
		case peer.Value < 0 || peer.Value >= int64(len(r.names)):
			return fmt.Sprintf("%s rank %d, which has no file; the files of all ranks belong in one directory", does, peer.Value)
		case n.Size.Value < 0:
			return fmt.Sprintf("a message of %d bytes", n.Size.Value)
		}
		op.Peer, op.Size, op.Tag = int32(peer.Value), n.Size.Value, uint32(n.Tag.Value)
		if n.Tag.Value < 0 || n.Tag.Value >= int64(AnyTag) {
			return fmt.Sprintf("the tag %d is not one of 0 to %d", n.Tag.Value, AnyTag-1)
		}
	case Calc:
		if n.Duration > math.MaxInt64/4/perMicrosecond {
			return fmt.Sprintf("a duration of %d us", n.Duration)
		}
		op.Size = int64(n.Duration) * perMicrosecond
		if n.Duration == 0 && n.Operations.Value > 0 {
			k.untimed++
		}
	}
	cpu := chakraCPU{onHost: n.OnHost, numbered: n.Thread.Given, thread: n.Thread.Value}
	if !cpu.numbered {
		cpu.communicates = communicates
	}
	number, known := k.cpus[cpu]
	if !known {
		if len(k.cpus) > 254 {
			return "the file has more than 255 threads and streams"
		}
		number = uint8(len(k.cpus))
		k.cpus[cpu] = number
	}
	op.CPU = number
	for _, on := range n.DataDeps {
		k.waits = append(k.waits, chakraWait{uint32(len(k.block.Ops)), on})
	}
	k.ids = append(k.ids, n.ID)
	k.block.Add(op)
	return ""
}

// originOf returns the number of the origin of a node.
func (r *chakraReader) originOf(name string) uint32 {
	if name == "" {
		return 0
	}
	number, known := r.numbers[name]
	if !known {
		number = uint32(len(r.origins))
		r.origins = append(r.origins, Origin{Path: []string{name}})
		r.numbers[name] = number
	}
	return number
}

// chakraOperations are the operations by comm_type.
var chakraOperations = map[int64]Operation{
	chakra.AllReduce: Allreduce, chakra.Reduce: Reduce, chakra.AllGather: Allgather, chakra.Gather: Gather, chakra.Scatter: Scatter,
	chakra.Broadcast: Bcast, chakra.AllToAll: Alltoall, chakra.ReduceScatter: ReduceScatter, chakra.ReduceScatterBlock: ReduceScatter,
	chakra.Barrier: Barrier,
}

// chakraCollective returns the collective of a node; false if it is a call of the host.
func chakraCollective(n *chakra.Node) (Call, bool) {
	op, known := chakraOperations[n.Operation.Value]
	if !known || !n.Operation.Given || op != Barrier && (!n.Size.Given || n.Size.Value < 0) {
		return Call{}, false
	}
	return Call{Op: op, Size: n.Size.Value, Root: int32(min(max(n.Root.Value, 0), math.MaxInt32))}, true
}

// link turns the dependencies on nodes into those on operations.
func (k *chakraRank) link() {
	at := make(map[uint64]int, len(k.ids))
	for i, id := range k.ids {
		at[id] = i
	}
	for _, w := range k.waits {
		if on, found := at[w.on]; found {
			k.block.Require(int(w.op), on)
		} else {
			k.lost++
		}
	}
	k.block.Link()
}

// match finds out which calls of the ranks are one collective. It returns the groups and the calls, and lets the operations refer to these.
func (r *chakraReader) match() ([]Group, []Call, error) {
	groups, calls := []Group{World(len(r.ranks))}, []Call(nil)
	members := map[string][]int32{}
	parts := map[string][][]int{} // by group and member: positions in the calls of the rank
	var names []string
	for rank := range r.ranks {
		for i := range r.ranks[rank].calls {
			name := r.ranks[rank].calls[i].group
			m := members[name]
			if m == nil {
				names = append(names, name)
			}
			if len(m) == 0 || m[len(m)-1] != int32(rank) {
				members[name], parts[name] = append(m, int32(rank)), append(parts[name], nil)
			}
			last := len(parts[name]) - 1
			parts[name][last] = append(parts[name][last], i)
		}
	}
	for _, name := range names {
		m := members[name]
		group := 0
		if len(m) < len(r.ranks) {
			group = len(groups)
			groups = append(groups, NewGroup(m))
		}
		count, err := r.countCalls(name, m, parts[name])
		if err != nil {
			return nil, nil, err
		}
		for k := range count {
			call, err := r.joinCalls(m, parts[name], k)
			if err != nil {
				return nil, nil, err
			}
			call.Group, call.Tag = int32(group), uint32(len(calls)+1)
			for i, rank := range m {
				of := &r.ranks[rank]
				of.block.Ops[of.calls[parts[name][i][k]].op].Size = int64(len(calls))
			}
			calls = append(calls, call)
		}
		for i, rank := range m { // what a cut file leaves without partners
			of := &r.ranks[rank]
			for _, at := range parts[name][i][count:] {
				op := &of.block.Ops[of.calls[at].op]
				op.Kind, op.Size = Calc, 0
			}
		}
	}
	return groups, calls, nil
}

// countCalls returns how many collectives of a group all its members have. Only a file that is cut may have fewer than others.
func (r *chakraReader) countCalls(name string, members []int32, parts [][]int) (int, error) {
	least, most := 0, 0
	for i := range parts {
		if len(parts[i]) < len(parts[least]) {
			least = i
		}
		if len(parts[i]) > len(parts[most]) {
			most = i
		}
	}
	count := len(parts[least])
	if slices.ContainsFunc(r.ranks, func(k chakraRank) bool { return k.cut }) {
		return count, nil
	}
	if name == "" && len(members) < len(r.ranks) {
		without := slices.IndexFunc(r.ranks, func(k chakraRank) bool {
			return !slices.ContainsFunc(k.calls, func(c chakraCall) bool { return c.group == "" })
		})
		return 0, &FileError{File: r.names[without], What: fmt.Sprintf("no collective without a process group, but %s has %d; all ranks "+
			"take part in these", r.names[members[most]], len(parts[most]))}
	}
	if count < len(parts[most]) {
		return 0, &FileError{File: r.names[members[least]], What: fmt.Sprintf("%d collectives of process group %s, but %s has %d; "+
			"all ranks of a group take part in all of them", count, quote([]byte(name)), r.names[members[most]], len(parts[most]))}
	}
	return count, nil
}

// joinCalls returns collective k of a group, in which its members may differ in size only where MPI allows it.
func (r *chakraReader) joinCalls(members []int32, parts [][]int, k int) (Call, error) {
	part := func(i int) *chakraCall { return &r.ranks[members[i]].calls[parts[i][k]] }
	call, n := part(0).call, int64(len(members))
	same := true
	for i := range members {
		other := &part(i).call
		sizes := other.Size == call.Size || call.Op == Allgather || call.Op == Gather || call.Op == Alltoall && n <= maxUneven
		if other.Op != call.Op || other.Root != call.Root || !sizes {
			return call, &FileError{File: r.names[members[i]], What: fmt.Sprintf("node %d is %s of %d bytes, but the same collective in %s, "+
				"node %d, is %s of %d bytes", r.ranks[members[i]].ids[part(i).op], other.Op, other.Size, r.names[members[0]],
				r.ranks[members[0]].ids[part(0).op], call.Op, call.Size)}
		}
		same = same && other.Size == call.Size
	}
	if int64(call.Root) >= n {
		return call, &FileError{File: r.names[members[0]], What: fmt.Sprintf("node %d has rank %d as its root, but its group has %d ranks",
			r.ranks[members[0]].ids[part(0).op], call.Root, n)}
	}
	if !same {
		for i := range members {
			if size := part(i).call.Size; call.Op == Alltoall {
				call.Sizes = append(call.Sizes, slices.Repeat([]int64{size / n}, int(n))...)
			} else {
				call.Sizes = append(call.Sizes, size)
			}
		}
	}
	if call.Op == Alltoall || call.Op == ReduceScatter || call.Op == Scatter {
		call.Size /= n
	}
	return call, nil
}

// maxUneven is the largest group whose all-to-all may have another size on each rank: that takes a number for each pair.
const maxUneven = 1024

// warnings describes what was lost.
func (r *chakraReader) warnings() []string {
	cut, untimed, lost, first := 0, 0, 0, ""
	alone := false
	for i := range r.ranks {
		k := &r.ranks[i]
		if k.cut {
			if cut++; cut == 1 {
				first = r.names[i]
			}
		}
		untimed, lost = untimed+k.untimed, lost+k.lost
		alone = alone || len(r.ranks) == 1 && len(k.calls) > 0
	}
	var list []string
	if cut > 0 {
		list = append(list, fmt.Sprintf("%d of %d files end too early, the first is %s; what comes after is missing", cut, len(r.ranks), first))
	}
	if lost > 0 {
		list = append(list, fmt.Sprintf("%d dependencies are on nodes that are not in the files, and were left out", lost))
	}
	if untimed > 0 {
		list = append(list, fmt.Sprintf("%d computations have a number of operations but no duration; they take no time", untimed))
	}
	if alone {
		list = append(list, "there is the file of one rank only, on which collectives take no time; give the files of all ranks")
	}
	return list
}
