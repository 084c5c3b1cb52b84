package schedule

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"slackline/internal/chunk"
)

const (
	slkListPiece = 1 << 16 // entries in a piece of a list
	slkMaxString = 1 << 16 // bytes in a string
	slkMaxPath   = 1 << 10 // names in a path

	// slkRemembered bounds the memory of the writer: it forgets what it has written after so
	// many different lists or calls, and then writes some of them again.
	slkRemembered = 1 << 16
)

// slkDefinitions writes lists, groups, origins and calls, each one once, into chunks of
// definitions.
type slkDefinitions struct {
	groups []Group
	ranks  int
	buf    []byte
	emit   func(raw []byte)

	lists     map[[sha256.Size]byte]uint64 // number by content
	nextList  uint64
	calls     map[slkCall]int64
	nextCall  int64
	listBytes []byte
}

// slkCall is a call with numbers in place of its lists, as written in the file.
type slkCall struct {
	op                           Operation
	group, root                  int32
	size                         int64
	sizes, sources, destinations uint64
	tag                          uint32
	algorithm                    string
}

func newSLKDefinitions(groups []Group, ranks int, emit func([]byte)) *slkDefinitions {
	return &slkDefinitions{
		groups: groups, ranks: ranks, emit: emit,
		lists: make(map[[sha256.Size]byte]uint64), calls: make(map[slkCall]int64),
	}
}

// flush writes the definitions that have come together.
func (d *slkDefinitions) flush() {
	if len(d.buf) > 0 {
		d.emit(d.buf)
		d.buf = d.buf[:0]
	}
}

// record begins a record.
func (d *slkDefinitions) record(kind byte) {
	if len(d.buf) > slkChunk {
		d.flush()
	}
	d.buf = append(d.buf, kind)
}

func (d *slkDefinitions) uints(values ...uint64) {
	for _, v := range values {
		d.buf = binary.AppendUvarint(d.buf, v)
	}
}

// list writes a list, unless it has been written before, and returns its number.
func list[T int32 | int64](d *slkDefinitions, values []T) uint64 {
	if values == nil {
		return 0
	}
	b := d.listBytes[:0]
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	d.listBytes = b
	key := sha256.Sum256(b)
	if id, ok := d.lists[key]; ok {
		return id
	}
	last := int64(0)
	for at := 0; ; at += slkListPiece {
		piece := values[at:min(at+slkListPiece, len(values))]
		more := uint64(0)
		if at+len(piece) < len(values) {
			more = 1
		}
		d.record('l')
		d.uints(more, uint64(len(piece)))
		for _, v := range piece {
			d.buf = binary.AppendUvarint(d.buf, chunk.Zigzag(int64(v)-last))
			last = int64(v)
		}
		if more == 0 {
			break
		}
	}
	if len(d.lists) >= slkRemembered {
		clear(d.lists)
	}
	d.nextList++
	d.lists[key] = d.nextList
	return d.nextList
}

func (d *slkDefinitions) addGroup(g *Group) error {
	if err := checkGroup(g, d.ranks); err != nil {
		return err
	}
	id := list(d, g.Ranks)
	d.record('g')
	d.uints(id, uint64(g.First), uint64(g.Stride), uint64(g.Size))
	return nil
}

func (d *slkDefinitions) addOrigin(o Origin) error {
	if len(o.Path) > slkMaxPath {
		return fmt.Errorf("a call path of %d names is too long; the limit is %d", len(o.Path), slkMaxPath)
	}
	d.record('o')
	d.uints(uint64(len(o.Path)))
	for _, name := range append(o.Path[:len(o.Path):len(o.Path)], o.Call) {
		if len(name) > slkMaxString {
			return fmt.Errorf("a name of %d bytes is too long; the limit is %d", len(name), slkMaxString)
		}
		d.buf = chunk.AppendString(d.buf, name)
	}
	return nil
}

// call writes a call, unless it has been written before, and returns its number.
func (d *slkDefinitions) call(c *Call) (int64, error) {
	if err := checkCall(c, extremesOf(c.Sizes), extremesOf(c.Sources).union(extremesOf(c.Destinations)),
		d.groups, d.ranks); err != nil {
		return 0, err
	}
	key := slkCall{
		c.Op, c.Group, c.Root, c.Size,
		list(d, c.Sizes), list(d, c.Sources), list(d, c.Destinations), c.Tag, c.Algorithm,
	}
	if id, ok := d.calls[key]; ok {
		return id, nil
	}
	d.record('c')
	d.uints(uint64(c.Op), uint64(c.Group), uint64(c.Root), uint64(c.Size),
		key.sizes, key.sources, key.destinations, uint64(c.Tag))
	d.buf = chunk.AppendString(d.buf, c.Algorithm)
	if len(d.calls) >= slkRemembered {
		clear(d.calls)
	}
	id := d.nextCall
	d.calls[key] = id
	d.nextCall++
	return id, nil
}

// checkGroup reports what is wrong with a group of a program of so many ranks.
func checkGroup(g *Group, ranks int) error {
	if g.Size < 1 || g.Size > ranks {
		return fmt.Errorf("a group of %d ranks, but there are %d", g.Size, ranks)
	}
	if g.Ranks == nil {
		if g.First < 0 || g.First >= ranks || g.Stride < 0 || g.Stride > ranks || g.Rank(g.Size-1) >= ranks {
			return fmt.Errorf("%d ranks from %d on in steps of %d do not fit into %d ranks",
				g.Size, g.First, max(g.Stride, 1), ranks)
		}
		return nil
	}
	if len(g.Ranks) != g.Size || g.First != 0 || g.Stride != 0 {
		return fmt.Errorf("a group of size %d with %d ranks", g.Size, len(g.Ranks))
	}
	for _, r := range g.Ranks {
		if r < 0 || int(r) >= ranks {
			return fmt.Errorf("rank %d, but there are %d ranks", r, ranks)
		}
	}
	return nil
}

// checkCall reports what is wrong with a call, of which the extremes of its sizes and of its
// neighbors are known.
func checkCall(c *Call, sizes, neighbors extremes, groups []Group, ranks int) error {
	if c.Op >= numOperations {
		return fmt.Errorf("there is no collective operation %d", c.Op)
	}
	if c.Group < 0 || int(c.Group) >= max(len(groups), 1) {
		return fmt.Errorf("%s: group %d, but there are %d", c.Op, c.Group, max(len(groups), 1))
	}
	n := ranks
	if len(groups) > 0 {
		n = groups[c.Group].Len()
	}
	if c.Root < 0 || int(c.Root) >= n {
		return fmt.Errorf("%s: root %d in a group of %d ranks", c.Op, c.Root, n)
	}
	if c.Size < 0 {
		return fmt.Errorf("%s: size %d is negative", c.Op, c.Size)
	}
	if len(c.Algorithm) > slkMaxString {
		return fmt.Errorf("%s: a name of %d bytes is too long; the limit is %d", c.Op, len(c.Algorithm), slkMaxString)
	}
	if neighbors.min < 0 || neighbors.max >= int64(n) {
		return fmt.Errorf("%s: neighbors %d to %d in a group of %d ranks", c.Op, neighbors.min, neighbors.max, n)
	}
	if want := int64(n); c.Sizes != nil && int64(len(c.Sizes)) != want &&
		(c.Op != Alltoall || int64(len(c.Sizes)) != want*want) {
		return fmt.Errorf("%s: %d sizes in a group of %d ranks", c.Op, len(c.Sizes), n)
	}
	if sizes.min < 0 {
		return fmt.Errorf("%s: size %d is negative", c.Op, sizes.min)
	}
	return nil
}

// checkMember reports whether a rank makes a call on a group to which it does not belong.
func checkMember(c *Call, groups []Group, rank int) error {
	if len(groups) > 0 && groups[c.Group].Index(rank) < 0 {
		return fmt.Errorf("%s on group %d, of which the rank is not a member", c.Op, c.Group)
	}
	return nil
}

// extremes are the smallest and the largest value of a list and 0.
type extremes struct{ min, max int64 }

func extremesOf[T int32 | int64](values []T) (e extremes) {
	for _, v := range values {
		e = extremes{min(e.min, int64(v)), max(e.max, int64(v))}
	}
	return e
}

func (e extremes) union(o extremes) extremes {
	return extremes{min(e.min, o.min), max(e.max, o.max)}
}
