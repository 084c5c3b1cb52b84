package collective

import (
	"math"
	"testing"

	"slackline/model/schedule"
)

// hints gives the values of the cost hints for 16 ranks, radix 4 and 5 segments.
var hints = map[string]float64{
	"1": 1, "2": 2, "P / 2": 8, "P - 1": 15, "2 (P - 1)": 30, "P + n - 2": 19,
	"2 lg P + n / 2": 10, "lg P": 4, "2 lg P": 8, "log_k P": 2, "lg P + 1": 5, "lg P + P - 1": 19, "lg P + n - 1": 8,
	"s": 1, "2 s": 2, "s lg P": 4, "s (k - 1) log_k P": 6,
	"2 s (P - 1) / P": 1.875, "s (1.5 - 1 / P)": 1.4375,
	"s P": 16, "s (P - 1)": 15, "s P / 2": 8, "s (P / 2) lg P": 32,
}

// The cost hints of all algorithms are what the messages of a run add up to.
func TestHints(t *testing.T) {
	const ranks, size = 16, 1600
	for _, a := range All() {
		if a.Op.IsNeighbor() {
			continue
		}
		segment := int64(-1)
		if a.Segmented {
			segment = size / 5
		}
		in, err := newInstance(&schedule.Call{Op: a.Op, Size: size}, ranks, a, segment, 0)
		if err != nil {
			t.Fatal(err)
		}
		c := &chains{depth: make([]int, ranks), sent: make([]int64, ranks)}
		if err := new(flow).run(ranks, func(int) *Instance { return in }, c); err != nil {
			t.Fatal(err)
		}
		unit := float64(size)
		if a.Op == schedule.Barrier {
			unit = barrierBytes
		}
		rounds, volume := 0, 0.0
		for r := range ranks {
			rounds = max(rounds, c.depth[r])
			volume = max(volume, float64(c.sent[r])/unit)
		}
		if want, ok := hints[a.Rounds]; !ok || rounds != int(want) {
			t.Errorf("%s %s: %d rounds, want %s (%v)", a.Op, a.Name, rounds, a.Rounds, want)
		}
		// The sizes are multiples of 1/16 of the vector, which float64 holds exactly.
		if want, ok := hints[a.Volume]; !ok || math.Abs(volume-want) > 0 {
			t.Errorf("%s %s: the busiest rank sends %v s, want %s (%v)", a.Op, a.Name, volume, a.Volume, want)
		}
	}
}

// chains follows the longest chain of messages that ends at each rank, and what the rank sends. A
// message waits for those that its sender received or sent in the steps before.
type chains struct {
	sizesOnly
	depth []int
	sent  []int64
}

func (c *chains) send(rank, _ int, size int64) (carried, error) {
	c.sent[rank] += size
	return carried{blocks: uint64(c.depth[rank])}, nil
}

func (c *chains) recv(rank, from int, _ int64, got carried) error {
	c.depth[rank] = max(c.depth[rank], int(got.blocks)+1)
	c.depth[from] = max(c.depth[from], int(got.blocks)+1)
	return nil
}
