package waits

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"slackline/model/unit"
)

// teamProgram is a random run with teams, threads that live for a while, for the whole run, or have calls of their own beside the teams,
// and times when recording is off.
func teamProgram(r *rand.Rand) string {
	const end = 100
	var b strings.Builder
	b.WriteString("slackline trace 1\nunit ms\n")
	moments := func(n, from, to int) []int {
		list := make([]int, n)
		for i := range list {
			list[i] = from + r.IntN(to-from+1)
		}
		slices.Sort(list)
		return list
	}
	threads := 2 + r.IntN(3)
	calls := []string{"work", "MPI_Barrier", "MPI_Recv", `"!$omp parallel"`, `"!$omp implicit barrier"`}
	// body writes calls between two moments; some go on for longer than they should.
	body := func(from, to int) {
		at := moments(2*r.IntN(3), from, to)
		for i := 0; i+1 < len(at); i += 2 {
			fmt.Fprintf(&b, "%d..%d %s\n", at[i], at[i+1], calls[r.IntN(len(calls))])
		}
	}
	teams := moments(2*(1+r.IntN(3)), 0, end)
	for thread := range threads {
		fmt.Fprintf(&b, "rank 0 thread %d\n", thread)
		at := 0
		off := false
		recording := func(t int) {
			if r.IntN(6) == 0 {
				off = !off
				fmt.Fprintf(&b, "@%d recording %s\n", t, map[bool]string{true: "off", false: "on"}[off])
			}
		}
		stay := thread > 0 && r.IntN(2) == 0 // without a lifetime
		alive := stay || thread == 0
		if thread == 0 {
			b.WriteString("0 main {\n")
		}
		live := func(t int) {
			if stay || thread == 0 {
				return
			}
			if alive = !alive || r.IntN(3) > 0; alive {
				fmt.Fprintf(&b, "@%d thread-begin\n", t)
			} else {
				fmt.Fprintf(&b, "@%d thread-end\n", t)
			}
		}
		if r.IntN(4) == 0 && len(teams) > 0 { // what comes before the thread begins
			at = r.IntN(teams[0] + 1)
			body(0, at)
		}
		member := thread == 0 || r.IntN(3) > 0
		for i := 0; i+1 < len(teams); i += 2 {
			fork, join := teams[i], teams[i+1]
			middle := moments(2, at, fork)
			live(middle[0])
			if r.IntN(2) == 0 {
				body(middle[0], middle[1])
			}
			recording(middle[1])
			if thread == 0 {
				fmt.Fprintf(&b, "@%d fork %d\n", fork, threads)
			}
			in := moments(2, fork, join)
			if member {
				fmt.Fprintf(&b, "@%d team-begin\n", in[0])
			}
			body(in[0], in[1])
			if r.IntN(5) == 0 {
				live(in[1])
			}
			if member && r.IntN(10) > 0 {
				fmt.Fprintf(&b, "@%d team-end\n", in[1])
			}
			recording(in[1])
			at = join
			if thread == 0 {
				fmt.Fprintf(&b, "@%d join\n", join)
			} else if r.IntN(4) == 0 { // the call goes on after the join
				next := end
				if i+2 < len(teams) {
					next = teams[i+2]
				}
				at = moments(1, join, next)[0]
				fmt.Fprintf(&b, "%d..%d %s\n", in[1], at, calls[r.IntN(len(calls))])
			}
		}
		if r.IntN(2) == 0 {
			body(at, end)
		}
		if thread == 0 {
			fmt.Fprintf(&b, "} %d\n", end)
		}
	}
	fmt.Fprintf(&b, "rank 1\n0..%d work\n", end+r.IntN(20))
	return b.String()
}

// Whatever threads do, and whatever part of it is looked at: no part of the composition is below 0 on any rank, and all sum up to the
// time of all threads.
func TestCompositionIsWhole(t *testing.T) {
	cases := 3000
	if testing.Short() {
		cases = 300
	}
	r := rand.New(rand.NewPCG(23, 3))
	for range cases {
		text := teamProgram(r)
		whole := analyzed(t, text).Timeline
		for _, cut := range [][2]unit.Duration{{0, 200}, {10, 90}, {33, 66}} {
			tl := whole.Window(cut[0]*unit.Millisecond, cut[1]*unit.Millisecond, 1)

			result, err := Analyze(t.Context(), tl, Options{})
			if err != nil {
				t.Fatal(err)
			}
			c := result.Profile().Composition(result.WaitTimes())
			sum := unit.Sum{}
			for _, p := range c.Parts {
				sum.AddSum(p.Time)
				for rank, time := range p.ByRank {
					if time.Sign() < 0 {
						t.Fatalf("%v: %s of rank %d is %v in\n%s", cut, p.Name, rank, time, text)
					}
				}
			}
			if sum != c.Total || sum != tl.Lifetimes() {
				t.Fatalf("%v: the parts are %v together, of %v, threads lived for %v in\n%s", cut, sum, c.Total, tl.Lifetimes(), text)
			}
		}
	}
}
