package machine

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"slackline/internal/yamlfile"
	"slackline/model/unit"
)

// NCCL are the parameters of NCCL's collectives on a machine. The zero value has no delays and all bytes are data.
type NCCL struct {
	Channels  int // 0: as many as a node has ranks
	Protocols [numProtocols]Protocol
}

const numProtocols = 3

// protocolNames are the protocols by number, as package collective has them.
var protocolNames = [numProtocols]string{"LL", "LL128", "Simple"}

// Protocol is what a protocol of NCCL costs beside the parameters of a message.
type Protocol struct {
	Node, Far unit.Duration // CPU time after each round of messages, inside a node and between nodes
	Data      int64         // millionths of the bytes on the wire that are data; 0: the share that the form of the protocol allows
}

// millionths of the bytes of each protocol that are data: 4 of 8, 120 of 128, all.
var wireShares = [numProtocols]int64{500_000, 937_500, 1_000_000}

// share returns the millionths of the bytes on the wire that are data.
func (n *NCCL) share(protocol int) int64 {
	if s := n.Protocols[protocol].Data; s > 0 {
		return s
	}
	return wireShares[protocol]
}

// Channels is the number of channels that NCCL uses; 0: as many as a node has ranks.
func (l *Layout) Channels() int { return l.Machine.NCCL.Channels }

// Delay is the CPU time in ps that a protocol of NCCL needs after a round of messages.
func (l *Layout) Delay(protocol int, far bool) int64 {
	if p := &l.Machine.NCCL.Protocols[protocol]; far {
		return int64(p.Far)
	} else {
		return int64(p.Node)
	}
}

// Hop is the time in ps of a message without data.
func (l *Layout) Hop(protocol int, far bool) int64 {
	p := l.hopParams(far)
	return int64(p.Latency) + 2*int64(p.Overhead[0].Value) + l.Delay(protocol, far)
}

// Transfer is the time in ps that bytes occupy a link.
func (l *Layout) Transfer(far bool, size int64) int64 {
	d, ok := l.hopParams(far).PerByte.At(size).Times(size)
	if !ok {
		return math.MaxInt64
	}
	return int64(d)
}

func (l *Layout) hopParams(far bool) *Params {
	if far {
		return &l.Machine.Classes[Far]
	}
	return &l.Machine.Classes[Node]
}

// Wire is the number of bytes on the wire for bytes of data, rounded up.
func (l *Layout) Wire(protocol int, size int64) int64 {
	const all = 1_000_000
	share := uint64(l.Machine.NCCL.share(protocol))
	if share == all || size <= 0 {
		return size
	}
	hi, lo := bits.Mul64(uint64(size), all)
	lo, carry := bits.Add64(lo, share-1, 0)
	if hi += carry; hi >= share {
		return math.MaxInt64
	}
	wire, _ := bits.Div64(hi, lo, share)
	return int64(min(wire, math.MaxInt64))
}

var ncclKeys = yamlfile.Keys{
	Names:   []string{"channels", "LL", "LL128", "Simple"},
	Example: "Simple: {node: 2us, far: 5us}",
}

var protocolKeys = yamlfile.Keys{
	Names:   []string{"node", "far", "efficiency"},
	Example: "{node: 1us, far: 2us, efficiency: 0.5}",
}

// readNCCL reads the key nccl of a machine file.
func readNCCL(e yamlfile.Entry) (n NCCL) {
	for _, e := range e.Value.Mapping("nccl", &ncclKeys) {
		if e.Key == "channels" {
			n.Channels = count(e)
			continue
		}
		for i, name := range protocolNames {
			if name == e.Key {
				n.Protocols[i] = readProtocol(e)
			}
		}
	}
	return n
}

func readProtocol(e yamlfile.Entry) (p Protocol) {
	for _, v := range e.Value.Mapping(e.Key, &protocolKeys) {
		switch what := e.Key + " " + v.Key; v.Key {
		case "node":
			p.Node = parsed(v.Value, what, unit.ParseDuration)
		case "far":
			p.Far = parsed(v.Value, what, unit.ParseDuration)
		case "efficiency":
			p.Data = parsed(v.Value, what, parseShare)
		}
	}
	return p
}

// parseShare reads a share as millionths.
func parseShare(text string) (int64, error) {
	f, err := strconv.ParseFloat(text, 64)
	m := math.Round(f * 1e6)
	if err != nil || !(m >= 1 && m <= 1e6) || math.Abs(m-f*1e6) > 1e-6 {
		return 0, fmt.Errorf("%s is not a share; give a number above 0 and up to 1 with at most 6 decimals, e.g. 0.9375", yamlfile.Quote(text))
	}
	return int64(m), nil
}

// format writes the key nccl, unless nothing of it is given.
func (n *NCCL) format(b *strings.Builder) {
	if *n == (NCCL{}) {
		return
	}
	b.WriteString("nccl:\n")
	if n.Channels > 0 {
		fmt.Fprintf(b, "  channels: %d\n", n.Channels)
	}
	for i, name := range protocolNames {
		if p := n.Protocols[i]; p != (Protocol{}) {
			fmt.Fprintf(b, "  %s: {node: %s, far: %s", name, p.Node, p.Far)
			if p.Data > 0 {
				fmt.Fprintf(b, ", efficiency: %s", strconv.FormatFloat(float64(p.Data)/1e6, 'f', -1, 64))
			}
			b.WriteString("}\n")
		}
	}
}
