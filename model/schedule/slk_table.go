package schedule

import (
	"cmp"
	"fmt"
	"math"

	"slackline/internal/chunk"
	"slackline/internal/plain"
)

// slkTable is what the definitions of a file have given so far.
type slkTable struct {
	ranks       int
	wantGroups  uint64
	wantOrigins uint64
	groups      []Group
	origins     []Origin
	calls       []Call
	lists       []slkList
	piece       slkList // of which the last piece is missing
	pending     bool    // whether there is such a list
	last        int64   // its last entry
}

// slkList is a list of sizes or ranks. What is made of it is kept, so that a thousand groups or
// calls with the same list need no more memory than one.
type slkList struct {
	values []int64
	extremes
	ranks []int32
	group Group
}

// read takes in a chunk of definitions.
func (t *slkTable) read(raw []byte) error {
	c := chunk.Column{B: raw}
	for c.Left() > 0 && !c.Bad {
		kind := c.Byte()
		if t.pending && kind != 'l' {
			return fmt.Errorf("a list is not ended")
		}
		var err error
		switch kind {
		case 'l':
			err = t.readList(&c)
		case 'g':
			err = t.readGroup(&c)
		case 'o':
			err = t.readOrigin(&c)
		case 'c':
			err = t.readCall(&c)
		default:
			return fmt.Errorf("there is no definition of kind %q", kind)
		}
		if c.Bad {
			break
		}
		if err != nil {
			return err
		}
	}
	if c.Bad {
		return fmt.Errorf("a definition is cut off or has a number that is too large")
	}
	return nil
}

// complete reports whether all groups and origins are there.
func (t *slkTable) complete() bool {
	return uint64(len(t.groups)) == t.wantGroups && uint64(len(t.origins)) == t.wantOrigins && !t.pending
}

func (t *slkTable) readList(c *chunk.Column) error {
	more, n := c.Uint(), c.Uint()
	if more > 1 || n > uint64(c.Left()) {
		return fmt.Errorf("a list of %d entries in %d bytes", n, c.Left())
	}
	for range n {
		t.last += chunk.Unzigzag(c.Uint())
		t.piece.values = append(t.piece.values, t.last)
		t.piece.extremes = t.piece.union(extremes{t.last, t.last})
	}
	if t.pending = more == 1; !t.pending {
		if t.piece.values == nil {
			t.piece.values = []int64{}
		}
		t.lists = append(t.lists, t.piece)
		t.piece, t.last = slkList{}, 0
	}
	return nil
}

// list returns the list with a number, an empty one for 0.
func (t *slkTable) list(id uint64) (*slkList, error) {
	if id > uint64(len(t.lists)) {
		return nil, fmt.Errorf("list %d, but there are %d", id, len(t.lists))
	}
	if id == 0 {
		return &slkList{}, nil
	}
	return &t.lists[id-1], nil
}

// rankList returns the list with a number, which must be one of ranks.
func (t *slkTable) rankList(id uint64) (*slkList, error) {
	l, err := t.list(id)
	if err != nil || l.values == nil || l.ranks != nil {
		return l, err
	}
	if l.min < 0 || l.max >= int64(t.ranks) {
		return nil, fmt.Errorf("list %d has ranks %d to %d, but there are %d ranks", id, l.min, l.max, t.ranks)
	}
	l.ranks = make([]int32, len(l.values))
	for i, v := range l.values {
		l.ranks[i] = int32(v)
	}
	return l, nil
}

func (t *slkTable) readGroup(c *chunk.Column) error {
	id, first, stride, size := c.Uint(), c.Uint(), c.Uint(), c.Uint()
	if c.Bad || uint64(len(t.groups)) >= t.wantGroups {
		return fmt.Errorf("more than the %d groups announced", t.wantGroups)
	}
	if max(first, stride, size) > uint64(t.ranks) {
		return fmt.Errorf("group %d: %d ranks from %d on in steps of %d, but there are %d ranks", len(t.groups), size, first, stride, t.ranks)
	}
	l, err := t.rankList(id)
	if err != nil {
		return fmt.Errorf("group %d: %w", len(t.groups), err)
	}
	g := Group{Ranks: l.ranks, First: int(first), Stride: int(stride), Size: int(size)}
	if err := checkGroup(&g, t.ranks); err != nil {
		return fmt.Errorf("group %d: %w", len(t.groups), err)
	}
	if l.ranks != nil {
		if l.group.Ranks == nil {
			l.group = NewGroup(l.ranks)
		}
		if g = l.group; len(g.index) != len(l.ranks) {
			return fmt.Errorf("group %d: a rank is in it twice", len(t.groups))
		}
	}
	t.groups = append(t.groups, g)
	return nil
}

func (t *slkTable) readOrigin(c *chunk.Column) error {
	n := c.Uint()
	if c.Bad || uint64(len(t.origins)) >= t.wantOrigins {
		return fmt.Errorf("more than the %d origins announced", t.wantOrigins)
	}
	if n > uint64(c.Left()) {
		return fmt.Errorf("origin %d: a path of %d names in %d bytes", len(t.origins), n, c.Left())
	}
	var o Origin
	if n > 0 {
		o.Path = make([]string, n)
	}
	for i := range o.Path {
		o.Path[i] = plain.Name(c.String()) // others wrote it
	}
	o.Call = plain.Name(c.String())
	t.origins = append(t.origins, o)
	return nil
}

func (t *slkTable) readCall(c *chunk.Column) error {
	op, group, root, size := c.Uint(), c.Uint(), c.Uint(), c.Uint()
	sizes, sources, destinations, tag := c.Uint(), c.Uint(), c.Uint(), c.Uint()
	algorithm := c.String()
	if c.Bad {
		return nil
	}
	if !t.complete() {
		return fmt.Errorf("a call before the groups and origins")
	}
	if op >= uint64(numOperations) || max(group, root) > math.MaxInt32 || size > math.MaxInt64 || tag > math.MaxUint32 {
		return fmt.Errorf("call %d: operation %d, group %d, root %d, size %d, tag %d: out of range",
			len(t.calls), op, group, root, size, tag)
	}
	call := Call{
		Op: Operation(op), Group: int32(group), Root: int32(root), Size: int64(size),
		Tag: uint32(tag), Algorithm: algorithm,
	}
	s, err := t.list(sizes)
	from, err2 := t.rankList(sources)
	to, err3 := t.rankList(destinations)
	if err := cmp.Or(err, err2, err3); err != nil {
		return fmt.Errorf("call %d: %w", len(t.calls), err)
	}
	call.Sizes, call.Sources, call.Destinations = s.values, from.ranks, to.ranks
	if err := checkCall(&call, s.extremes, from.union(to.extremes), t.groups, t.ranks); err != nil {
		return fmt.Errorf("call %d: %w", len(t.calls), err)
	}
	t.calls = append(t.calls, call)
	return nil
}
