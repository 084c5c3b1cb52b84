package simulate

import "slackline/model/machine"

// This file brings messages and releases of the general core to other processes and back.

// depart takes a message or a release to a rank of another process; host is its host.
func (g *general) depart(host, rank, i int32) {
	n := &g.nodes[i]
	if n.time != never {
		g.departed = min(g.departed, n.time)
		if g.leaving != nil {
			g.leaving(host, n)
		}
		g.ports.send(host+g.firstHost, &parcel{
			time: n.time, birth: n.birth, load: uint64(n.size), own: n.own,
			order: leanOrder(n.gen(), uint32(n.kind())),
			place: uint32(n.cpu) | uint32(n.nic)<<8 | uint32(n.ctx)<<16 | uint32(n.class)<<24,
			from:  n.a(), to: rank, index: n.b(), tag: n.tag,
		})
	}
	g.freeNode(i)
}

// arrive takes a message or a release from another process and returns its node.
func (g *general) arrive(p *parcel) int32 {
	i := g.newNode()
	g.nodes[i] = node{
		time: p.time, birth: p.birth,
		who:  whoKey(p.order>>2, int(p.order&3), g.local(p.to)),
		what: uint64(uint32(p.from))<<32 | uint64(uint32(p.index)),
		size: int64(p.load), own: p.own, tag: p.tag,
		cpu: uint8(p.place), nic: uint8(p.place >> 8), ctx: uint8(p.place >> 16), class: machine.Class(p.place >> 24),
	}
	return i
}
