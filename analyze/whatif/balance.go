package whatif

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"slackline/model/unit"
)

// Strategy is a way to balance the computation of a call path: who gives how much of it to whom. Its zero value is Even.
type Strategy struct {
	kind     *strategyKind
	quantile float64 // of cap
}

// strategyKind is an entry of the table of strategies.
type strategyKind struct {
	name    string
	help    string // what it does, for help texts: "NAME: ..."
	outcome string // of the call path in a sentence: "PATH is ..."
	grid    bool   // whether it needs the process grid
	// spread returns the computation of each rank afterwards, in ps. All times are at least 0, their sum is positive.
	spread func(s *Strategy, times []int64, grid []int) []int64
}

// strategies is the table: one entry, one way to balance.
var strategies = []strategyKind{
	{"even", "every rank gets the mean", "spread evenly over the ranks", false, spreadEven},
	{"neighbors", "neighbors on the grid share", "shared with the neighbors on the grid", true, spreadNeighbors},
	{"columns", "columns of the grid, which share its last coordinate, get the same", "moved between the columns of the grid " +
		"until they have the same", true, spreadColumns},
	{"cap", "ranks above a quantile (cap:0.75; 0.9 if none is given) give the rest to those below", "capped at a quantile", false, spreadCap},
}

const defaultQuantile = 0.9

// Strategies lists the names of all strategies.
func Strategies() []string {
	var names []string
	for _, k := range strategies {
		names = append(names, k.name)
	}
	return names
}

// StrategyHelp describes all strategies.
func StrategyHelp() string {
	var list []string
	for _, k := range strategies {
		list = append(list, k.name+": "+k.help)
	}
	return strings.Join(list, "; ")
}

// ParseStrategy reads a name, with a quantile for cap: cap:0.75.
func ParseStrategy(text string) (Strategy, error) {
	name, parameter, given := strings.Cut(text, ":")
	i := slices.IndexFunc(strategies, func(k strategyKind) bool { return k.name == name })
	if i < 0 {
		return Strategy{}, fmt.Errorf("there is no strategy %q; take %s", name, strings.Join(Strategies(), ", "))
	}
	s := Strategy{kind: &strategies[i], quantile: defaultQuantile}
	if !given {
		return s, nil
	}
	var err error
	if s.quantile, err = strconv.ParseFloat(parameter, 64); name != "cap" || err != nil || !(s.quantile > 0 && s.quantile < 1) {
		return Strategy{}, fmt.Errorf("expected a quantile between 0 and 1 as in cap:0.75, got %q", text)
	}
	return s, nil
}

func (s *Strategy) entry() *strategyKind { return cmp.Or(s.kind, &strategies[0]) }

// String returns the strategy as ParseStrategy reads it.
func (s *Strategy) String() string {
	if k := s.entry(); k.name != "cap" {
		return k.name
	}
	return "cap:" + strconv.FormatFloat(s.quantile, 'g', -1, 64)
}

// Outcome says what becomes of a call path: "PATH is ...".
func (s *Strategy) Outcome() string {
	if k := s.entry(); k.name != "cap" {
		return k.outcome
	}
	return fmt.Sprintf("capped at the %s quantile of the ranks", strconv.FormatFloat(s.quantile, 'g', -1, 64))
}

// IsEven reports whether all ranks get the same.
func (s *Strategy) IsEven() bool { return s.entry() == &strategies[0] }

// NeedsGrid reports whether the strategy needs the process grid.
func (s *Strategy) NeedsGrid() bool { return s.entry().grid }

// spreadEven gives each rank the mean.
func spreadEven(_ *Strategy, times []int64, _ []int) []int64 {
	total := unit.Sum{}
	for _, t := range times {
		total.Add(unit.Duration(t))
	}
	return slices.Repeat([]int64{int64(total.Mean(len(times)).Duration())}, len(times))
}

// spreadNeighbors moves (t(j) - t(i))/(2d+1) from each rank j to each neighbor i on a grid of d dimensions, rounded towards
// 0: a rank that has all 2d neighbors gets the mean of itself and them. The sum stays.
func spreadNeighbors(_ *Strategy, times []int64, grid []int) []int64 {
	out := slices.Clone(times)
	share := int64(2*len(grid) + 1)
	stride := len(times)
	for _, n := range grid {
		stride /= n
		for i := range times {
			if i/stride%n == n-1 {
				continue
			}
			flow := (times[i] - times[i+stride]) / share
			out[i] -= flow
			out[i+stride] += flow
		}
	}
	return out
}

// spreadColumns multiplies the times of a column, the ranks with the same last coordinate, so that all columns have the same
// sum: what a program does that can only move the boundaries between its columns. Empty columns stay empty.
func spreadColumns(_ *Strategy, times []int64, grid []int) []int64 {
	columns := grid[len(grid)-1]
	sums := make([]unit.Sum, columns)
	total, used := unit.Sum{}, 0
	for i, t := range times {
		sums[i%columns].Add(unit.Duration(t))
		total.Add(unit.Duration(t))
	}
	for _, s := range sums {
		used += s.Sign()
	}
	mean := total.Mean(max(used, 1)).Big()
	out := make([]int64, len(times))
	for i, t := range times {
		if s := sums[i%columns].Big(); s.Sign() > 0 {
			more := new(big.Int).Mul(big.NewInt(t), mean) // t * mean / s, rounded half up
			if more.Quo(more.Add(more, new(big.Int).Rsh(s, 1)), s); !more.IsInt64() {
				more.SetInt64(math.MaxInt64)
			}
			out[i] = more.Int64()
		}
	}
	return out
}

// spreadCap cuts times to their quantile, and gives what was cut to the ranks below it, in proportion to what they lack of
// it. If they lack less than that, all get the mean.
func spreadCap(s *Strategy, times []int64, _ []int) []int64 {
	sorted := slices.Sorted(slices.Values(times))
	limit := sorted[min(int(s.quantile*float64(len(sorted))), len(sorted)-1)]
	cut, room := unit.Sum{}, unit.Sum{}
	for _, t := range times {
		cut.Add(unit.Duration(max(t-limit, 0)))
		room.Add(unit.Duration(max(limit-t, 0)))
	}
	if cut.Cmp(room) >= 0 {
		return spreadEven(s, times, nil)
	}
	out := make([]int64, len(times))
	for i, t := range times {
		more := new(big.Int).Mul(big.NewInt(max(limit-t, 0)), cut.Big())
		out[i] = min(t, limit) + more.Quo(more, room.Big()).Int64() // less than limit-t, because cut < room
	}
	return out
}
