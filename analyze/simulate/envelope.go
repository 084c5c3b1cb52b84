package simulate

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"slackline/internal/chunk"
)

// envelope is a message or a release on its way to another process.
type envelope struct {
	time, birth int64
	load        uint64 // size, class and context, as the core has them
	own         int64  // when the CPU of a large send is done
	order       uint32 // generation and kind
	place       uint32 // CPU, NIC and what else the core wants
	from, to    int32  // ranks of the whole
	index       int32  // of the send
	tag         uint32
}

// What differs from the envelope before it, or rather from what one expects after it: the next sender,
// at the same time, to a receiver as far away. An envelope that differs in nothing is counted, not
// written, so that a million equal steps of a million ranks take a few bytes.
//
//	stream = { changes:byte values | 0 count:uint }
//
// The values are numbers of variable length in the order of the bits; all but load, place and tag are
// differences.
const (
	envelopeBirth = 1 << iota
	envelopeFlight
	envelopeFrom
	envelopeTo
	envelopeLoad
	envelopeOrder
	envelopeIndex // index and tag
	envelopeOwn   // own and place
)

// packer writes envelopes as bytes.
type packer struct {
	bytes []byte
	last  envelope
	equal uint64 // envelopes at the end that are not written yet
	count int64
}

// reset begins a new stream.
func (p *packer) reset() {
	p.bytes, p.last, p.equal, p.count = p.bytes[:0], envelope{}, 0, 0
}

// add appends an envelope.
func (p *packer) add(n *envelope) {
	p.count++
	l := &p.last
	changes := uint8(0)
	if n.birth != l.birth {
		changes |= envelopeBirth
	}
	if n.time-n.birth != l.time-l.birth {
		changes |= envelopeFlight
	}
	if n.from != l.from+1 {
		changes |= envelopeFrom
	}
	if n.to-n.from != l.to-l.from {
		changes |= envelopeTo
	}
	if n.load != l.load {
		changes |= envelopeLoad
	}
	if n.order != l.order {
		changes |= envelopeOrder
	}
	if n.index != l.index || n.tag != l.tag {
		changes |= envelopeIndex
	}
	if n.own != l.own || n.place != l.place {
		changes |= envelopeOwn
	}
	if changes == 0 {
		p.equal++
		l.time, l.birth, l.from, l.to = n.time, n.birth, n.from, n.to
		return
	}
	p.write(n, changes)
}

// write appends an envelope that is not as expected.
func (p *packer) write(n *envelope, changes uint8) {
	p.end()
	l, b := &p.last, append(p.bytes, changes)
	if changes&envelopeBirth != 0 {
		b = chunk.AppendInt(b, n.birth-l.birth)
	}
	if changes&envelopeFlight != 0 {
		b = chunk.AppendInt(b, (n.time-n.birth)-(l.time-l.birth))
	}
	if changes&envelopeFrom != 0 {
		b = chunk.AppendInt(b, int64(n.from)-int64(l.from)-1)
	}
	if changes&envelopeTo != 0 {
		b = chunk.AppendInt(b, int64(n.to-n.from)-int64(l.to-l.from))
	}
	if changes&envelopeLoad != 0 {
		b = binary.AppendUvarint(b, bits.RotateLeft64(n.load, 16)) // class and context are in front
	}
	if changes&envelopeOrder != 0 {
		b = binary.AppendUvarint(b, uint64(n.order))
	}
	if changes&envelopeIndex != 0 {
		b = chunk.AppendInt(b, int64(n.index)-int64(l.index))
		b = binary.AppendUvarint(b, uint64(n.tag))
	}
	if changes&envelopeOwn != 0 {
		b = chunk.AppendInt(b, n.own-l.own)
		b = binary.AppendUvarint(b, uint64(n.place))
	}
	p.bytes = b
	p.last = *n
}

// end writes the envelopes that have only been counted, and returns the stream.
func (p *packer) end() []byte {
	if p.equal > 0 {
		p.bytes = binary.AppendUvarint(append(p.bytes, 0), p.equal)
		p.equal = 0
	}
	return p.bytes
}

// errEnvelopes reports that what another process has sent is not a stream of envelopes.
var errEnvelopes = errors.New("what another process sent cannot be read: do all processes run the same version?")

// unpack calls take for every envelope of a stream. An envelope is valid during the call.
func unpack(stream []byte, take func(n *envelope)) error {
	var n envelope
	c := chunk.Column{B: stream}
	for c.Left() > 0 {
		changes := c.Bytes(1)[0]
		if changes == 0 {
			count := c.Uint()
			if c.Bad {
				return errEnvelopes
			}
			for range count {
				n.from, n.to = n.from+1, n.to+1
				take(&n)
			}
			continue
		}
		flight, distance := n.time-n.birth, n.to-n.from
		n.from++
		if changes&envelopeBirth != 0 {
			n.birth += c.Int()
		}
		if changes&envelopeFlight != 0 {
			flight += c.Int()
		}
		if changes&envelopeFrom != 0 {
			n.from += int32(c.Int())
		}
		if changes&envelopeTo != 0 {
			distance += int32(c.Int())
		}
		if changes&envelopeLoad != 0 {
			n.load = bits.RotateLeft64(c.Uint(), -16)
		}
		if changes&envelopeOrder != 0 {
			n.order = uint32(c.Uint())
		}
		if changes&envelopeIndex != 0 {
			n.index += int32(c.Int())
			n.tag = uint32(c.Uint())
		}
		if changes&envelopeOwn != 0 {
			n.own += c.Int()
			n.place = uint32(c.Uint())
		}
		if c.Bad {
			return errEnvelopes
		}
		n.time, n.to = n.birth+flight, n.from+distance
		take(&n)
	}
	return nil
}
