package collective

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"slackline/internal/suggest"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// Mapping chooses algorithms by operation, size and number of ranks. It is a list of rules for
// each operation, of which the first one that fits decides, and a base that is asked if none fits.
// A mapping is not changed once it is made and may be used by several goroutines.
type Mapping struct {
	Name string
	Info string // one line for lists

	rules   map[schedule.Operation][]rule
	base    *Mapping
	network Network // of the machine, for the algorithms of NCCL; nil: not known
}

// rule defines which algorithm is used under which conditions.
type rule struct {
	size       bounds // of the call, as Call.Size means it; in a v-variant the mean
	total      bounds // the size times the number of ranks
	share      bounds // the size divided by the number of ranks, rounded down
	ranks      bounds
	powerOfTwo condition // the number of ranks
	varying    condition // the call is a v-variant
	use        choice
}

// bounds is a range of numbers, the end not included. An end of 0 is no end.
type bounds struct{ from, end int64 }

func (b bounds) has(v int64) bool { return v >= b.from && (b.end == 0 || v < b.end) }

// condition is a question with the answer that it asks for.
type condition uint8

const (
	either condition = iota
	yes
	no
)

func (c condition) holds(v bool) bool { return c == either || v == (c == yes) }

// choice is an algorithm with its parameters.
type choice struct {
	algorithm *Algorithm
	segment   int64 // negative: the algorithm's own
	radix     int   // 0: the algorithm's own
	protocol  Protocol
}

// choiceKeys are the parameters of a choice.
var choiceKeys = []string{"segment", "radix", "protocol"}

// parseChoice reads an algorithm of an operation with its parameters, such as "binomial",
// "knomial:radix=4", "chain:segment=64KiB" or "nccl-ring:protocol=LL128".
func parseChoice(op schedule.Operation, text string) (choice, error) {
	name, parameters, more := strings.Cut(text, ":")
	a, err := lookup(op, name)
	if err != nil {
		return choice{}, err
	}
	c := choice{algorithm: a, segment: -1, protocol: tuned}
	if !more {
		return c, nil
	}
	for _, p := range strings.Split(parameters, ",") {
		key, value, ok := strings.Cut(p, "=")
		if !ok {
			return choice{}, fmt.Errorf("%s %q: parameter %q has no value; write e.g. segment=64KiB", op, text, p)
		}
		switch key = strings.TrimSpace(key); key {
		case "segment":
			size, err := unit.ParseSize(strings.TrimSpace(value))
			if err != nil {
				return choice{}, fmt.Errorf("%s %q: segment: %w", op, text, err)
			}
			if size < 0 {
				return choice{}, fmt.Errorf("%s %q: segment %s is negative", op, text, size)
			}
			if !a.Segmented {
				return choice{}, fmt.Errorf("%s: algorithm %s has no segments; leave the segment size out", op, name)
			}
			c.segment = int64(size)
		case "radix":
			k, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil || k < 2 || k > maxRanks {
				return choice{}, fmt.Errorf("%s %q: radix %q is not a number in 2..%d", op, text, value, maxRanks)
			}
			if a.Radix == 0 {
				return choice{}, fmt.Errorf("%s: algorithm %s has no radix; leave it out", op, name)
			}
			c.radix = k
		case "protocol":
			p, ok := parseProtocol(strings.TrimSpace(value))
			if !ok {
				return choice{}, fmt.Errorf("%s %q: there is no protocol %q%s (known: %s)",
					op, text, value, protocolHint(value), strings.Join(protocolNames, ", "))
			}
			if !a.NCCL {
				return choice{}, fmt.Errorf("%s: algorithm %s has no protocol; leave it out", op, name)
			}
			c.protocol = p
		default:
			return choice{}, fmt.Errorf("%s %q: unknown parameter %q%s (known: %s)",
				op, text, key, suggest.Phrase(key, choiceKeys), strings.Join(choiceKeys, ", "))
		}
	}
	return c, nil
}

// CheckAlgorithm reports whether text names an algorithm of the operation, with valid parameters,
// in the form that Call.Algorithm takes: "binomial", "knomial:radix=4", "chain:segment=64KiB".
func CheckAlgorithm(op schedule.Operation, text string) error {
	_, err := parseChoice(op, text)
	return err
}

// On returns the mapping for a machine with ranks on it, whose nodes and protocols the algorithms of NCCL make use of. A nil mapping is
// the default mapping.
func (m *Mapping) On(n Network) *Mapping {
	if m == nil {
		m = DefaultMapping()
	}
	placed := *m
	placed.network = n
	return &placed
}

// Choose returns the call as an instance of the algorithm that it names or, if it names none, of
// the one that the mapping has for it, on a group of the first ranks. The instance refers to the lists of the call.
func (m *Mapping) Choose(call *schedule.Call, ranks int) (*Instance, error) {
	group := schedule.World(ranks)
	return m.instance(call, &group)
}

// instance is Choose for any group.
func (m *Mapping) instance(call *schedule.Call, group *schedule.Group) (*Instance, error) {
	use, err := m.choose(call, group.Len())
	if err != nil {
		return nil, err
	}
	in, err := newInstance(call, group.Len(), use.algorithm, use.segment, use.radix)
	if err == nil && use.algorithm.NCCL {
		in.placed(m.network, group, use.protocol)
	}
	return in, err
}

func (m *Mapping) choose(call *schedule.Call, ranks int) (choice, error) {
	if call.Algorithm != "" {
		return parseChoice(call.Op, call.Algorithm)
	}
	if ranks < 1 {
		return choice{}, checkCall(call, ranks)
	}
	size, total := callBytes(call, ranks)
	size, total = max(size, 0), max(total, 0) // NewInstance refuses negative sizes
	powerOfTwo := ranks&(ranks-1) == 0
	for ; m != nil; m = m.base {
		rules := m.rules[call.Op]
		for i := range rules {
			r := &rules[i]
			if r.size.has(size) && r.total.has(total) && r.share.has(size/int64(ranks)) && r.ranks.has(int64(ranks)) &&
				r.powerOfTwo.holds(powerOfTwo) && r.varying.holds(call.Sizes != nil) {
				return r.use, nil
			}
		}
	}
	return choice{}, fmt.Errorf("no mapping has an algorithm for %s of %d bytes on %d ranks", call.Op, size, ranks)
}

// callBytes returns the size of a call, in a v-variant the mean, and that times the number of ranks.
// If the sizes are not valid the values do not matter.
func callBytes(call *schedule.Call, ranks int) (size, total int64) {
	if call.Sizes == nil {
		if hi, lo := bits.Mul64(uint64(max(call.Size, 0)), uint64(ranks)); hi == 0 && lo < math.MaxInt64 {
			return call.Size, int64(lo)
		}
		return call.Size, math.MaxInt64
	}
	sum := int64(0)
	for _, s := range call.Sizes {
		sum += s
	}
	n := int64(max(len(call.Sizes), 1))
	if call.Op == schedule.Alltoall { // of one rank, not of all pairs
		return sum / n, sum / int64(ranks)
	}
	return sum / n, sum
}
