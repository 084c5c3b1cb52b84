package timeline

import "math/bits"

// pathTree is a tree of call paths that finds the child of a path by its region. Its zero value is a
// tree with the root alone.
type pathTree struct {
	nodes []Path
	slots []pathSlot // hash table, a power of two of them
	shift uint8
}

// pathSlot is a place in the hash table of a pathTree; child 0 (the root) means an empty one.
type pathSlot struct {
	parent PathID
	region RegionID
	child  PathID
}

// child returns the path of a region called from parent.
func (p *pathTree) child(parent PathID, r RegionID) PathID {
	if len(p.slots) == 0 {
		p.grow()
	}
	mask := uint64(len(p.slots) - 1)
	for h := pathHash(parent, r) >> p.shift; ; h++ {
		s := &p.slots[h&mask]
		if s.parent == parent && s.region == r && s.child != 0 {
			return s.child
		}
		if s.child == 0 {
			return p.add(s, parent, r)
		}
	}
}

// add makes a new path in an empty slot.
func (p *pathTree) add(s *pathSlot, parent PathID, r RegionID) PathID {
	id := PathID(len(p.nodes))
	p.nodes = append(p.nodes, Path{Parent: parent, Region: r, Depth: p.nodes[parent].Depth + 1})
	*s = pathSlot{parent, r, id}
	if 2*len(p.nodes) > len(p.slots) {
		p.grow()
	}
	return id
}

// grow makes the hash table twice as large, or as large as the paths need.
func (p *pathTree) grow() {
	if len(p.nodes) == 0 {
		p.nodes = append(p.nodes, Path{})
	}
	size := max(32, 2*len(p.slots))
	for size < 2*len(p.nodes) {
		size *= 2
	}
	p.slots = make([]pathSlot, size)
	p.shift = uint8(64 - bits.TrailingZeros(uint(size)))
	for id := 1; id < len(p.nodes); id++ {
		n := p.nodes[id]
		h := pathHash(n.Parent, n.Region) >> p.shift
		for p.slots[h&uint64(size-1)].child != 0 {
			h++
		}
		p.slots[h&uint64(size-1)] = pathSlot{n.Parent, n.Region, PathID(id)}
	}
}

// pathHash mixes a path and a region by a multiplication with 2^64 divided by the golden ratio.
func pathHash(parent PathID, r RegionID) uint64 {
	return (uint64(parent)<<32 | uint64(r)) * 0x9E3779B97F4A7C15
}
