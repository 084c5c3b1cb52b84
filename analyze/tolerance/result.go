package tolerance

import (
	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// Point is T at one value of the variable, with the slopes on both sides. T is in picoseconds if the
// variable is L or o; if it is G, T is in femtoseconds, because b*G is not rounded then. Slopes count
// latencies, bytes or overheads.
type Point struct {
	X, T        int64
	Left, Right int64
}

// Fraction is the number Whole + Num/Den, with 0 <= Num < Den and nothing to cancel.
type Fraction struct {
	Whole    int64
	Num, Den int64
}

// Breakpoint is where the slope of T changes.
type Breakpoint struct {
	X             Fraction
	Before, After int64
}

// Largest is the largest value of the variable with T within a bound.
type Largest struct {
	X          int64
	Unbounded  bool // every value qualifies
	Infeasible bool // not even the smallest value does
}

// Lambda are the derivatives of T at the given parameters, each to the right and by itself: the
// largest number of latencies, bytes and overheads on any critical path; LLeft is the smallest
// number of latencies.
type Lambda struct {
	L, LLeft int64
	Bytes    int64 // of G
	O        int64
}

// Profile splits time on a path by what it was spent on.
type Profile struct {
	Calc, Overhead, Latency, Bandwidth, Gap, Switch unit.Duration
}

// CriticalPath is the canonical critical path: among the longest ones that with the most latencies,
// then bytes, then overheads.
type CriticalPath struct {
	T       unit.Duration
	Profile Profile // adds up to T
	// CalcByRank lists the ranks that compute on the path, ascending.
	CalcByRank []RankTime
	// Path lists the operations that the path visits, in order.
	Path []Visit
	// Kinds are the kinds of these operations.
	Kinds []schedule.Kind `json:"-"`
	// Pairs lists the latencies and bytes by pair of ranks, ascending by A, then B.
	Pairs []Pair
	// LByClass splits the latencies by class of the pair.
	LByClass [machine.NumClasses]int64
	// ByRank and ByOrigin split the path by where its time is spent: the rank and the origin of the
	// operation that computes or whose message is on the way (that of the receive). Both ascend.
	ByRank   []RankProfile
	ByOrigin []OriginProfile
}

// RankTime is a time on a rank.
type RankTime struct {
	Rank int           `json:"rank"`
	Time unit.Duration `json:"ns"`
}

// Visit is an operation on the critical path: its rank, and its position there.
type Visit struct {
	Rank int `json:"rank"`
	Op   int `json:"op"`
}

// Pair is what the critical path holds of messages between two ranks, in either direction.
type Pair struct {
	A     int   `json:"a"`
	B     int   `json:"b"` // A <= B
	L     int64 `json:"lambda_L"`
	Bytes int64 `json:"-"`
}

// RankProfile is the part of the critical path on one rank.
type RankProfile struct {
	Rank int
	Profile
}

// OriginProfile is the part of the critical path with one origin (an index into Program.Origins).
type OriginProfile struct {
	Origin uint32
	Profile
}

// newFraction returns whole + num/den, for num >= 0 and den > 0.
func newFraction(whole, num, den int64) Fraction {
	whole += num / den
	num %= den
	common := gcd(den, num)
	return Fraction{whole, num / common, den / common}
}

// gcd returns the greatest common divisor of two numbers; that of 0 and another one is the other one.
func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}
