package tolerance

import "math/bits"

// envelope is a message under way in a pass: of which one end at least is in the block that its rank is in.
type envelope struct {
	from, to           int32
	sendOp, recvOp     uint32 // in their blocks
	sendIndex          uint32 // in their ranks
	recvIndex          uint32
	size               int64
	sendSlot, recvSlot uint32 // the start of the send, or its end if it does not wait for the receive; the start of the receive
	next               uint32 // in its channel, or of the free ones
	hasSend, hasRecv   bool
	buffered           bool
}

// channel is what messages have in common that are paired in their order: the ranks, and tag and context. It is not 0.
type channel struct{ ranks, tag uint64 }

func newChannel(from, to int32, tag uint32, context uint8) channel {
	const used = 1 << 63
	return channel{uint64(uint32(from))<<32 | uint64(uint32(to)), used | uint64(context)<<32 | uint64(tag)}
}

// channels pairs sends and receives as their blocks are read. An entry holds those that wait for their other end, in order.
type channels struct {
	envelopes []envelope // number 0 is none
	free      uint32
	table     []channelEntry
	used      int // entries of the table
	waiting   int // envelopes without their other end
	messages  int
	ranks     int
	shift     int // of a hash, to the size of the table
}

type channelEntry struct {
	channel
	head, tail uint32
}

// take returns the envelope of a send or of a receive, which may know the other end already.
func (c *channels) take(key channel, isSend bool) uint32 {
	if 2*c.used >= len(c.table) {
		c.grow()
	}
	e := c.find(key)
	if n := e.head; n != 0 && c.envelopes[n].hasSend != isSend {
		e.head = c.envelopes[n].next
		c.waiting--
		return n
	}
	n := c.new()
	if e.head == 0 {
		e.head = n
	} else {
		c.envelopes[e.tail].next = n
	}
	e.tail = n
	c.waiting++
	return n
}

// new returns an empty envelope.
func (c *channels) new() uint32 {
	c.messages++
	n := c.free
	if n == 0 {
		if len(c.envelopes) == 0 {
			c.envelopes = make([]envelope, 1, 64)
		}
		c.envelopes = append(c.envelopes, envelope{})
		return uint32(len(c.envelopes) - 1)
	}
	c.free = c.envelopes[n].next
	c.envelopes[n] = envelope{}
	return n
}

// release frees an envelope.
func (c *channels) release(n uint32) { c.envelopes[n], c.free = envelope{next: c.free}, n }

// find returns the entry of a channel, which is made if it is missing.
func (c *channels) find(key channel) *channelEntry {
	h := (key.ranks ^ key.tag*0xBF58476D1CE4E5B9) * 0x9E3779B97F4A7C15
	mask := uint64(len(c.table) - 1)
	for i := h >> c.shift; ; i = (i + 1) & mask {
		e := &c.table[i]
		if e.ranks == key.ranks && e.tag == key.tag {
			return e
		}
		if e.tag == 0 {
			e.channel = key
			c.used++
			return e
		}
	}
}

// grow makes the table larger. Channels that are empty are kept, since most are used again, unless there are very many.
func (c *channels) grow() {
	old := c.table
	live, keep := 0, len(old) < c.ranks*channelsPerRank
	for i := range old {
		if old[i].head != 0 || keep && old[i].tag != 0 {
			live++
		}
	}
	size := 64
	for size < 4*live {
		size *= 2
	}
	c.table, c.used, c.shift = make([]channelEntry, size), 0, 64-bits.TrailingZeros(uint(size))
	for i := range old {
		if old[i].head != 0 || keep && old[i].tag != 0 {
			e := c.find(old[i].channel)
			e.head, e.tail = old[i].head, old[i].tail
		}
	}
}

// channelsPerRank is the size of the table, per rank, from which on it does not keep empty channels.
const channelsPerRank = 32
