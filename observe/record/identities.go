package record

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
)

// birth is how a communicator came about: the call that made it, as far as its members see the same. Comms are those of the same rank.
type birth struct {
	how                    birthKind
	parent, sequence, peer uint32
	tag, leader, farLeader int32
	name                   uint64
	enter                  int64 // of the call, ns
}

// birthKind is enum sl_origin of comms.h.
type birthKind int32

const (
	fromElsewhere birthKind = iota
	fromParent
	fromGroup
	fromLeaders
	fromName
	fromConnection
	fromStart
)

// The calls by which other processes come in stand in place of the tag.
const (
	bySpawn = iota + 1
	byAccept
	byConnect
	byJoin
)

// noComm stands for a communicator that is not known.
const noComm = math.MaxUint32

// parseBirth reads the end of a definition from a word on; recorders of before do not write it.
func parseBirth(rec *rawRecord, at int) birth {
	how := birthKind(rec.low(at))
	if how < fromElsewhere || how > fromStart {
		how = fromElsewhere
	}
	return birth{
		how: how, parent: uint32(rec.high(at)), sequence: uint32(rec.low(at + 1)), tag: rec.high(at + 1), leader: rec.low(at + 2),
		farLeader: rec.high(at + 2), peer: uint32(rec.word(at + 3)), name: rec.word(at + 3), enter: int64(rec.word(at + 4)),
	}
}

// commOf is a communicator as one rank knows it.
type commOf struct {
	rank int
	id   uint32
}

// identities finds which communicators of different ranks are the same. No rank told another: one is known by its members and by the call
// that made it, as MPI orders them. Calls of all members of a communicator have the same order on all of them, so that one is known by that
// communicator and by how many came before on it. Calls with a tag are ordered among those with the same communicator, tag and
// members; those that make an intercommunicator are known by what its leaders said. What was made in other ways, and all in recordings
// without that, is known by how many communicators with the same members were made before.
type identities struct {
	comms       map[int]map[uint32]rawComm // by rank
	ids         map[int][]uint32           // in the order of their making
	connections map[commOf]uint32          // numbers of those that join two worlds and whose sides are known
	before      map[commOf]int             // on its rank, with the same origin
	joined      map[int]map[uint32][]uint32
	numbers     map[string]uint32 // of all that is told apart
	known       map[commOf]uint32
	key         []byte
}

func newIdentities(comms map[int]map[uint32]rawComm, connections map[commOf]uint32) *identities {
	x := &identities{
		comms: comms, connections: connections, ids: map[int][]uint32{}, before: map[commOf]int{}, joined: map[int]map[uint32][]uint32{},
		numbers: map[string]uint32{}, known: map[commOf]uint32{},
	}
	for rank, list := range comms {
		x.ids[rank] = slices.Sorted(maps.Keys(list))
		x.joined[rank] = map[uint32][]uint32{}
		seen := map[uint32]int{}
		for _, id := range x.ids[rank] {
			c := list[id]
			b := &c.birth
			var origin uint32
			switch b.how {
			case fromElsewhere:
				origin = x.number('e', x.groups(&c))
			case fromGroup:
				origin = x.number('g', b.parent, uint32(b.tag), x.groups(&c))
			case fromLeaders:
				origin = x.number('l', b.peer, uint32(b.tag), uint32(b.farLeader))
				x.joined[rank][b.sequence] = append(x.joined[rank][b.sequence], id)
			case fromName:
				origin = x.number('n', uint32(b.name), uint32(b.name>>32), x.groups(&c))
			default:
				continue
			}
			x.before[commOf{rank, id}] = seen[origin]
			seen[origin]++
		}
	}
	return x
}

// number is the same for the same values.
func (x *identities) number(kind byte, values ...uint32) uint32 {
	x.key = append(x.key[:0], kind)
	for _, v := range values {
		x.key = binary.LittleEndian.AppendUint32(x.key, v)
	}
	return x.numberOfKey()
}

func (x *identities) numberOfKey() uint32 {
	n, known := x.numbers[string(x.key)]
	if !known {
		n = uint32(len(x.numbers))
		x.numbers[string(x.key)] = n
	}
	return n
}

// swapped reports whether the remote group of an intercommunicator is its first one in the trace.
func (c *rawComm) swapped() bool { return len(c.remote) > 0 && slices.Compare(c.remote, c.members) < 0 }

// groups is the number of the group of a communicator, or of both, in either order.
func (x *identities) groups(c *rawComm) uint32 {
	a, b := c.members, c.remote
	if c.swapped() {
		a, b = b, a
	}
	x.key = binary.LittleEndian.AppendUint32(append(x.key[:0], 'm'), uint32(len(a)))
	for _, list := range [2][]int32{a, b} {
		for _, r := range list {
			x.key = binary.LittleEndian.AppendUint32(x.key, uint32(r))
		}
	}
	return x.numberOfKey()
}

// identity is the same number for what is the same communicator.
func (x *identities) identity(rank int, id uint32) uint32 {
	of := commOf{rank, id}
	if n, known := x.known[of]; known {
		return n
	}
	x.known[of] = x.number('?', uint32(rank), id) // of what depends on itself, which damaged files may say
	n := x.find(of)
	x.known[of] = n
	return n
}

func (x *identities) find(of commOf) uint32 {
	c := x.comms[of.rank][of.id]
	b, before := &c.birth, uint32(x.before[of])
	switch b.how {
	case fromGroup:
		return x.number('G', x.parent(of, b), uint32(b.tag), before, x.groups(&c))
	case fromLeaders:
		if n, known := x.leaders(of, b); known {
			return n
		}
		return x.number('L', uint32(b.tag), b.sequence, x.groups(&c))
	case fromName:
		return x.number('N', uint32(b.name), uint32(b.name>>32), before, x.groups(&c))
	case fromElsewhere:
		return x.number('E', before, x.groups(&c))
	case fromParent:
		return x.number('P', x.parent(of, b), b.sequence, x.groups(&c))
	}
	if n, known := x.connections[of]; known {
		return x.number('W', n)
	}
	return x.side(of)
}

// side is the identity of what its own side of a connection knows of it.
func (x *identities) side(of commOf) uint32 {
	c := x.comms[of.rank][of.id]
	switch b := &c.birth; {
	case b.how == fromStart:
		return x.number('S', x.identity(of.rank, 0))
	case b.how == fromConnection && b.parent == noComm:
		return x.number('J', uint32(of.rank), of.id)
	case b.how == fromConnection:
		return x.number('C', x.parent(of, b), b.sequence)
	}
	own := c
	own.remote = nil
	return x.number('U', uint32(x.before[of]), x.groups(&own), uint32(len(c.remote)))
}

// parent is the identity of the communicator that another one was made of.
func (x *identities) parent(of commOf, b *birth) uint32 {
	if _, known := x.comms[of.rank][b.parent]; !known {
		return x.number('0')
	}
	return x.identity(of.rank, b.parent)
}

// leaders is the identity of an intercommunicator by what its leaders know: the communicator between them, their ranks in it, and the tag.
// Both say the same.
func (x *identities) leaders(of commOf, b *birth) (identity uint32, known bool) {
	local, known := x.comms[of.rank][b.parent]
	if !known || b.leader < 0 || int(b.leader) >= len(local.members) {
		return 0, false
	}
	leader := int(local.members[b.leader])
	for _, id := range x.joined[leader][b.sequence] {
		at := commOf{leader, id}
		l := x.comms[leader][id].birth
		peer, known := x.comms[leader][l.peer]
		if !known || l.leader != b.leader || l.farLeader < 0 || x.parent(at, &l) != x.parent(of, b) {
			continue
		}
		own, far := uint32(peer.rank), uint32(l.farLeader)
		return x.number('I', x.identity(leader, l.peer), uint32(l.tag), min(own, far), max(own, far), uint32(x.before[at])), true
	}
	return 0, false
}

// commsOf are the communicators of each rank, as its threads define them.
func commsOf(files []*threadFiles) map[int]map[uint32]rawComm {
	all := map[int]map[uint32]rawComm{}
	for _, f := range files {
		if all[f.rank] == nil {
			all[f.rank] = map[uint32]rawComm{}
		}
		maps.Copy(all[f.rank], f.definitions.comms)
	}
	return all
}
