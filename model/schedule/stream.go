package schedule

// Stream yields the blocks of each rank one after the other. It is what an engine runs: a program
// whose collectives have been turned into messages. The state of a rank is its cursor alone, so
// that an engine can hold a million of them.
type Stream interface {
	Ranks() int
	Shape() Shape
	// Next fills b with the block at the cursor (the zero cursor is the start of the program)
	// and returns the cursor after it, or false if the rank has come to its end. It skips empty
	// blocks. It may be called from several goroutines, each with a block of its own.
	Next(rank int, at Cursor, b *Block) (Cursor, bool)
}

// Exchanger is implemented by streams that know their commonest blocks, which an engine then gets without a block.
type Exchanger interface {
	// NextExchange is Next for a block of one send and one receive, which it returns with the cursor after it. If ok is
	// false, the block is another one, or it is not known: Next tells. The block b is the one given to Next.
	NextExchange(rank int, at Cursor, b *Block) (x Exchange, next Cursor, ok bool)
}

// Exchange is a send and a receive with the same tag and context, independent of each other.
type Exchange struct {
	Size     int64 // of the send
	To, From int32
	Tag      uint32
	Context  uint8
}

// Cursor is the position of a rank in a stream.
type Cursor struct {
	Step int32 // block of the program
	Sub  int32 // step inside a collective that is being expanded
}

// Blocks returns a program without collectives as a stream.
func Blocks(p Program) Stream {
	if s, ok := p.(*Packed); ok {
		return s
	}
	return blocks{p}
}

type blocks struct{ Program }

func (s blocks) Next(rank int, at Cursor, b *Block) (Cursor, bool) {
	for steps := s.Steps(rank); int(at.Step) < steps; {
		s.Block(rank, int(at.Step), b)
		at.Step++
		if len(b.Ops) > 0 {
			return at, true
		}
	}
	return at, false
}

// Materialize takes all blocks of a stream into memory, and the origins of its operations if it has
// them.
func Materialize(s Stream) *Graph {
	build := NewBuilder(s.Ranks())
	if named, ok := s.(interface{ Origins() []Origin }); ok {
		build.SetOrigins(named.Origins())
	}
	var b Block
	for rank := range s.Ranks() {
		for at, ok := s.Next(rank, Cursor{}, &b); ok; at, ok = s.Next(rank, at, &b) {
			build.Add(rank, &b)
		}
	}
	return build.Graph()
}
