package collective

import (
	"strings"

	"slackline/internal/suggest"
	"slackline/model/schedule"
)

// The algorithms of NCCL, a library for collectives between accelerators, work on a machine with nodes: inside a
// node messages are cheap, and every rank has a port of its own to the other nodes. They split the data among
// channels that run side by side, each of which enters a node at another rank.
//
// What is modelled, and what is not:
//
//   - A channel visits the ranks of a node one after the other and begins with another rank than the channel before,
//     so that the ports of all ranks are used. Channels beyond the ranks of a node take the same paths again; they
//     would send at the same times between the same ranks, so that they share a message here, whose segment is as much longer.
//   - A protocol is a share of the bytes on the wire that is data, and time that a rank needs after each round of
//     messages it received, beside what the machine says of a message. Both are parameters of the machine.
//   - All messages of a round start together: channels do not drift apart. In rings a chunk is the share of a rank
//     and a channel; NCCL's loops over a smaller buffer, which overlap, are not distinguished.
//   - NVLS, CollNet, PAT and the graph search that finds rings over PCI switches are left out.

// Protocol is how NCCL moves data through its buffers.
type Protocol uint8

// The protocols of NCCL.
const (
	LL           Protocol = iota // 4 bytes of data with 4 bytes of flag each
	LL128                        // 120 bytes of data with 8 bytes of flag each
	Simple                       // all bytes are data; a fence and a flag follow each chunk
	numProtocols = 3
	tuned        = Protocol(255) // the one that the tuning finds
)

var protocolNames = []string{"LL", "LL128", "Simple"}

// String returns the name as NCCL_PROTO takes it.
func (p Protocol) String() string { return protocolNames[p] }

// parseProtocol reads the name of a protocol.
func parseProtocol(text string) (Protocol, bool) {
	for p, name := range protocolNames {
		if strings.EqualFold(name, text) {
			return Protocol(p), true
		}
	}
	return 0, false
}

// protocolHint suggests a protocol for a name that is none.
func protocolHint(text string) string { return suggest.Phrase(text, protocolNames) }

// Network is what the algorithms of NCCL need to know of a machine with ranks on it. machine.Layout is one. Protocols are numbered
// as above; far means between nodes.
type Network interface {
	Node(rank int) int                   // of a world rank
	Channels() int                       // that NCCL uses; 0: as many as a node has ranks
	Hop(protocol int, far bool) int64    // ps that a message without data takes: overheads, latency and the delay of the protocol
	Delay(protocol int, far bool) int64  // ps that a rank needs after a round of messages
	Wire(protocol int, size int64) int64 // bytes on the wire for bytes of data
	Transfer(far bool, size int64) int64 // ps that bytes on the wire occupy a link
}

// maxPaths bounds the channels that take different paths, maxChannels all of them.
const (
	maxPaths    = 64
	maxChannels = 1024
)

// nccl is what an instance of one of NCCL's algorithms knows beside its call.
type nccl struct {
	network  Network // nil: every rank is a node, and messages cost what they do elsewhere
	protocol Protocol
	local    int        // ranks of a node, at least 1; the last node may have fewer
	paths    int        // channels that take different paths, at least 1
	picked   *Algorithm // by the tuning
	trees    *doubleTree
}

// Protocol returns the protocol of an instance of one of NCCL's algorithms.
func (in *Instance) Protocol() (p Protocol, ok bool) { return in.protocol, in.Algorithm.NCCL }

// placed puts an instance on a network, with the protocol given.
func (in *Instance) placed(network Network, group *schedule.Group, protocol Protocol) {
	in.network, in.protocol, in.local, in.paths = network, protocol, 1, 1
	if network != nil {
		if in.local = localRanks(network, group); in.local < in.Ranks {
			in.paths = min(in.local, maxPaths)
			if c := network.Channels(); c > 0 {
				in.paths = min(c, in.paths)
			}
		}
	}
	if in.tune(); in.picked.Name == allreduceNCCLTree.Name {
		in.trees = newDoubleTree(in)
	}
	in.makePartition()
}

// localRanks returns how many ranks of a group follow one another on each node; 1 if that is not regular.
func localRanks(network Network, group *schedule.Group) int {
	n, local := group.Len(), 1
	for local < n && network.Node(group.Rank(local)) == network.Node(group.Rank(0)) {
		local++
	}
	for i := local; i < n; i++ {
		if same := network.Node(group.Rank(i)) == network.Node(group.Rank(i-1)); same != (i%local != 0) {
			return 1
		}
	}
	return local
}

// nodes returns the number of nodes of the group.
func (in *Instance) nodes() int { return (in.Ranks + in.local - 1) / in.local }

// nodeSize returns the number of ranks of a node.
func (in *Instance) nodeSize(node int) int { return min(in.local, in.Ranks-node*in.local) }

// at returns the rank at a position of the ring of a channel, and position is its inverse: the nodes in order, in each the ranks
// in order, beginning with another one in each channel.
func (in *Instance) at(channel, position int) int {
	if channel == 0 {
		return position
	}
	node := position / in.local
	n := in.nodeSize(node)
	return node*in.local + (position-node*in.local+channel)%n
}

func (in *Instance) position(channel, rank int) int {
	if channel == 0 {
		return rank
	}
	node := rank / in.local
	n := in.nodeSize(node)
	return node*in.local + (rank-node*in.local+n-channel%n)%n
}

// far reports whether two ranks are on different nodes.
func (in *Instance) far(a, b int) bool { return a/in.local != b/in.local }

// turn splits a step into the round of messages and whether it is the one that follows them: reductions, and the delay of the protocol.
func (in *Instance) turn(step int) (round int, works bool) {
	if in.FreeReduce && !in.delays() {
		return step, false
	}
	return step >> 1, step&1 != 0
}

// delays reports whether the protocol has a delay.
func (in *Instance) delays() bool {
	return in.network != nil && (in.network.Delay(int(in.protocol), false) > 0 || in.network.Delay(int(in.protocol), true) > 0)
}
