package collective

import (
	"math"
	"math/bits"

	"slackline/model/schedule"
)

// tune chooses what the call and the user left open, as NCCL does: the algorithm and the protocol for which steps times latency
// and bytes over bandwidth add up to the least time. Where NCCL has tables of latencies and bandwidths, the parameters of the machine
// stand here. Without a machine it is the ring and Simple. On a tie the order is ring, tree and Simple, LL128, LL.
func (in *Instance) tune() {
	in.picked = in.Algorithm
	candidates := in.Algorithm.tunes
	if candidates == nil {
		candidates = []*Algorithm{in.Algorithm}
	}
	protocols := []Protocol{Simple, LL128, LL}
	if in.protocol != tuned {
		protocols = []Protocol{in.protocol}
	}
	in.picked, in.protocol = candidates[0], protocols[0]
	if in.network != nil {
		best := int64(math.MaxInt64)
		for _, a := range candidates {
			for _, p := range protocols {
				if t := in.predict(a, p); t < best {
					in.picked, in.protocol, best = a, p, t
				}
			}
		}
	}
	if len(candidates) > 1 {
		in.Segment = in.picked.Segment
	}
}

// predict returns the time in ps that the tuning expects.
func (in *Instance) predict(a *Algorithm, protocol Protocol) int64 {
	p, nodes := int64(in.Ranks), int64(in.nodes())
	near, far, bytes := p-nodes, nodes-1, in.Size // steps inside and between nodes, bytes through the busiest link
	switch {
	case a.Name == allreduceNCCLTree.Name: // of which NCCL takes 0.92 of the bandwidth: 25/23 of the bytes
		near, far, bytes = 2*int64(in.local-1), 2*int64(bits.Len64(uint64(nodes-1))), 2*(bytes+bytes/23*2)
	case a.Op == schedule.Allreduce:
		near, far, bytes = 2*near, 2*far, 2*(bytes-bytes/p)
	case byRank(a.Op):
		_, total := callBytes(&in.Call, in.Ranks)
		bytes = total - total/p
	}
	if bytes > math.MaxInt64/8 {
		bytes = math.MaxInt64 / 8 // far beyond any crossing
	}
	bytes = in.network.Wire(int(protocol), bytes)
	t := near*in.network.Hop(int(protocol), false) + far*in.network.Hop(int(protocol), true)
	if a.Segmented { // a hop for each further segment, where NCCL corrects its bandwidths by a table
		cut := Instance{Call: in.Call, Segment: a.Segment, nccl: in.nccl}
		flows := in.paths
		if a.Name == allreduceNCCLTree.Name {
			flows *= 2
		}
		t += int64(evenSegments(&cut, flows)/flows-1) * in.network.Hop(int(protocol), nodes > 1)
	}
	link := int64(0)
	if in.local > 1 {
		link = in.network.Transfer(false, bytes)
	}
	if nodes > 1 {
		link = max(link, in.network.Transfer(true, bytes/int64(in.paths)))
	}
	if t > math.MaxInt64-link {
		return math.MaxInt64 - 1
	}
	return t + link
}
