package collective

import "slackline/model/schedule"

// exchange puts together the messages of one step of a rank over all channels: those to the same rank share a message.
type exchange struct {
	in    *Instance
	b     *schedule.Block
	me    int
	works bool // the step is the one after the messages
	far   bool // a message came from another node
	some  bool // a message came
}

func (x *exchange) send(to int, size int64) {
	if !x.works {
		x.add(schedule.Send, to, size)
	}
}

func (x *exchange) recv(from int, size int64) {
	if !x.works {
		x.add(schedule.Recv, from, size)
		return
	}
	x.some = true
	x.far = x.far || x.in.far(from, x.me)
}

func (x *exchange) add(kind schedule.Kind, peer int, size int64) {
	for i := range x.b.Ops {
		if op := &x.b.Ops[i]; op.Kind == kind && int(op.Peer) == peer {
			op.Size += size
			return
		}
	}
	if kind == schedule.Send {
		x.b.Send(peer, size, 0)
	} else {
		x.b.Recv(peer, size, 0)
	}
}

// finish makes the block of a step: the messages, with their bytes on the wire, or what the rank does after them: it reduces
// and waits for the protocol.
func (x *exchange) finish(reduced int64) {
	n, protocol := x.in.network, int(x.in.protocol)
	if x.works {
		x.in.reduce(x.b, reduced)
		if n != nil && x.some {
			if d := n.Delay(protocol, x.far); d > 0 {
				x.b.Add(schedule.Op{Kind: schedule.Calc, Size: d, Tag: delayTag})
			}
		}
		return
	}
	if n == nil {
		return
	}
	for i := range x.b.Ops {
		x.b.Ops[i].Size = n.Wire(protocol, x.b.Ops[i].Size)
	}
}

// delayTag marks calculations whose size is a time already.
const delayTag = 2

// ringShare is what a rank at a position of a channel's ring sends and receives in a round, and whether it combines what it received.
type ringShare func(in *Instance, channel, position, round int) (sent, received int64, combines bool)

// ringStep is a step of an algorithm in which every rank passes data to the next one on the ring of each channel.
func ringStep(in *Instance, me, step, rounds int, share ringShare, b *schedule.Block) bool {
	round, works := in.turn(step)
	if round >= rounds {
		return false
	}
	x, reduced := exchange{in: in, b: b, me: me, works: works}, int64(0)
	for c := range in.paths {
		q := in.position(c, me)
		sent, received, combines := share(in, c, q, round)
		x.send(in.at(c, wrap(q+1, in.Ranks)), sent)
		x.recv(in.at(c, wrap(q-1, in.Ranks)), received)
		if combines {
			reduced += received
		}
	}
	x.finish(reduced)
	return true
}

// chainStep is a step of an algorithm in which segments travel along the ring of each channel, from the rank that is shift ranks
// after the root on to the one before it. Segment i leaves the rank that is number v of the chain in round i + v.
func chainStep(in *Instance, me, step, shift int, combines bool, b *schedule.Block) bool {
	p, flows := in.Ranks, in.paths
	turn, works := in.turn(step)
	segments := (in.parts + flows - 1) / flows
	first, last := 2*p, -1
	for c := range flows {
		v := in.link(c, me, shift)
		first = min(first, max(v-1, 0))
		last = max(last, segments-1+min(v, p-2))
	}
	round := turn + first
	if p < 2 || round > last {
		return false
	}
	x, reduced := exchange{in: in, b: b, me: me, works: works}, int64(0)
	for c := range flows {
		v, q := in.link(c, me, shift), in.position(c, me)
		if j := (round-v)*flows + c; v < p-1 && j >= c && j < in.parts {
			x.send(in.at(c, wrap(q+1, p)), in.part(j))
		}
		if j := (round-v+1)*flows + c; v > 0 && j >= c && j < in.parts {
			x.recv(in.at(c, wrap(q-1, p)), in.part(j))
			if combines {
				reduced += in.part(j)
			}
		}
	}
	x.finish(reduced)
	return true
}

// link returns which rank of a chain a rank is.
func (in *Instance) link(channel, me, shift int) int {
	return wrap(in.position(channel, me)-wrap(in.position(channel, int(in.Root))+shift, in.Ranks), in.Ranks)
}

// evenSegments cuts a vector into as many equal parts for each of the flows as the segment size asks for. The segments of channels
// that share a flow travel together.
func evenSegments(in *Instance, flows int) int {
	if in.Segment <= 0 {
		return flows
	}
	segment := in.Segment
	if in.network != nil {
		segment *= int64(max(1, min(in.network.Channels(), maxChannels)/flows))
	}
	each := (in.Size + int64(flows) - 1) / int64(flows)
	return flows * int(max(1, (each+segment-1)/segment))
}
