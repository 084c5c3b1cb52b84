package pattern

import (
	"fmt"
	"slices"
	"testing"

	"slackline/model/schedule"
	"slackline/model/unit"
)

// brief writes operations as s3 (send to 3), r3 (receive from 3) and c (compute), a block a word.
func brief(p schedule.Program, rank int) string {
	var words []string
	for _, ops := range collect(p, rank) {
		word := ""
		for _, op := range ops {
			switch op.Kind {
			case schedule.Send:
				word += fmt.Sprintf("s%d", op.Peer)
			case schedule.Recv:
				word += fmt.Sprintf("r%d", op.Peer)
			case schedule.Calc:
				word += "c"
			case schedule.Collective:
				word += "C"
			}
		}
		words = append(words, word)
	}
	return fmt.Sprint(words)
}

func TestExchangesByHand(t *testing.T) {
	compute := unit.Microsecond
	for _, tc := range []struct {
		name string
		p    Params
		want []string // by rank
	}{
		{"ring", Params{Ranks: 3}, []string{"[s1 r2]", "[r0 s2]", "[r1 s0]"}},
		{"ring", Params{Ranks: 1}, []string{"[]"}},
		{"double-ring", Params{Ranks: 3}, []string{"[s1r2s2r1]", "[s2r0s0r2]", "[s0r1s1r0]"}},
		{"double-ring", Params{Ranks: 2}, []string{"[s1r1s1r1]", "[s0r0s0r0]"}},
		{"pipelined-ring", Params{Ranks: 3, Pieces: 2}, []string{"[s1s1]", "[r0s2r0s2]", "[r1r1]"}},
		{"pipelined-ring-dep", Params{Ranks: 3, Pieces: 2, Root: 2}, []string{"[r2s1r2s1]", "[r0r0]", "[s0s0]"}},
		{"pipelined-ring", Params{Ranks: 1}, []string{"[]"}},
		{"shift", Params{Ranks: 3}, []string{"[s1r2]", "[s2r0]", "[s0r1]"}},
		{"pingpong", Params{Ranks: 5, Compute: compute}, []string{"[c s2 r2]", "[c s3 r3]", "[c r0 s0]", "[c r1 s1]", "[c]"}},
		{"incast", Params{Ranks: 4, Root: 3, Senders: 2}, []string{"[s3]", "[s3]", "[]", "[r0r1]"}},
		{"incast", Params{Ranks: 3}, []string{"[r1r2]", "[s0]", "[s0]"}},
		{"halo2d", Params{Ranks: 4}, []string{"[s1r1s2r2]", "[s0r0s3r3]", "[s3r3s0r0]", "[s2r2s1r1]"}},
		{"halo2d", Params{Ranks: 3, Grid: []int{3, 1}, Periodic: true}, []string{"[s2r2s1r1]", "[s0r0s2r2]", "[s1r1s0r0]"}},
		{"sweep", Params{Ranks: 4, Compute: compute}, []string{"[c s1 s2]", "[r0 c s3]", "[r0 c s3]", "[r2 r1 c]"}},
		{"sweep", Params{Ranks: 4, Corners: 2}, []string{"[s1 s2 r1 r2]", "[r0 s3 r3 s0]", "[r0 s3 r3 s0]", "[r2 r1 s2 s1]"}},
		{"skeleton", Params{Ranks: 2, Iterations: 2}, []string{"[c s1r1s1r1 C c s1r1s1r1 C]", "[c s0r0s0r0 C c s0r0s0r0 C]"}},
		{"skeleton", Params{Ranks: 1, Iterations: 1}, []string{"[c C]"}},
		{"skeleton-overlap", Params{Ranks: 2, Iterations: 1, Pieces: 2}, []string{"[s1r1s1r1cc Ccc]", "[s0r0s0r0cc Ccc]"}},
		{"skeleton-overlap", Params{Ranks: 2, Iterations: 1, Pieces: 2, Without: []string{"p2p", "collectives"}}, []string{"[cc cc]", "[cc cc]"}},
		{"skeleton-overlap", Params{Ranks: 2, Iterations: 1, Compute: None}, []string{"[s1r1s1r1 C]", "[s0r0s0r0 C]"}},
	} {
		p := mustNew(t, tc.name, tc.p)
		for rank, want := range tc.want {
			if got := brief(p, rank); got != want {
				t.Errorf("%s, %d ranks, rank %d: %s, want %s", tc.name, tc.p.Ranks, rank, got, want)
			}
		}
	}
}

// In a periodic halo exchange every rank has all its neighbors, whatever the number of ranks,
// as long as there are two ranks in each dimension.
func TestPeriodicHalo(t *testing.T) {
	for _, tc := range []struct {
		name  string
		ranks int
		want  int
	}{{"halo2d", 4, 8}, {"halo2d", 16, 8}, {"halo2d", 12, 8}, {"halo3d", 8, 12}, {"halo3d", 60, 12}} {
		p := mustNew(t, tc.name, Params{Ranks: tc.ranks, Periodic: true})
		for rank := range tc.ranks {
			if got := len(collect(p, rank)[0]); got != tc.want {
				t.Errorf("%s, %d ranks: rank %d has %d operations, want %d", tc.name, tc.ranks, rank, got, tc.want)
			}
		}
	}
}

// The benchmark of the engines: the number of messages is part of its name.
func TestSkeletonMessages(t *testing.T) {
	p := mustNew(t, "skeleton", Params{Ranks: 16384, Iterations: 340})
	totals, _ := Count(p)
	if got, want := totals.Messages+totals.Calls[schedule.Allreduce]*16384*14, int64(100_270_080); got != want {
		t.Errorf("messages = %d, want %d", got, want)
	}
}

// A wave from a corner reaches all ranks in the order of their distance from it.
func TestSweepDirections(t *testing.T) {
	const nx, ny = 4, 3
	for corner, direction := range corners(4) {
		g, err := newGrid(nx*ny, 2, []int{nx, ny}, 0)
		if err != nil {
			t.Fatal(err)
		}
		sources := 0
		for rank := range nx * ny {
			upstream := 0
			for d := range 2 {
				if g.neighbor(rank, d, -direction[d]) >= 0 {
					upstream++
				}
			}
			if upstream == 0 {
				sources++
			}
		}
		if sources != 1 {
			t.Errorf("corner %d: the wave has %d sources, want 1", corner, sources)
		}
	}
	if got := len(corners(8)); got != 8 {
		t.Errorf("len(corners(8)) = %d", got)
	}
}

func TestPermutation(t *testing.T) {
	for _, size := range []uint64{1, 2, 3, 4, 5, 17, 64, 1000, 1 << 14} {
		p := permutation{size: size, seed: 42 + size}
		seen := make([]bool, size)
		for i := range size {
			v := p.at(i)
			if v >= size || seen[v] {
				t.Fatalf("size %d: %d is hit twice or out of range", size, v)
			}
			seen[v] = true
			if back := p.inverse(v); back != i {
				t.Fatalf("size %d: inverse(at(%d)) = %d", size, i, back)
			}
		}
	}
}

// Pairs are mutual, of different ranks, complete, and others in each iteration and for each seed.
func TestRandomPairs(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 10, 11, 70, 1001} {
		p := &pairs{ranks: ranks, seed: 7}
		for step := range 3 {
			alone := 0
			for rank := range ranks {
				partner, first := p.partner(rank, step)
				if partner < 0 {
					alone++
					continue
				}
				if back, alsoFirst := p.partner(partner, step); partner == rank || back != rank || first == alsoFirst {
					t.Fatalf("%d ranks: %d and %d are no pair", ranks, rank, partner)
				}
			}
			if alone != ranks%2 {
				t.Errorf("%d ranks: %d are alone", ranks, alone)
			}
		}
	}
	partners := func(seed uint64, step int) (list []int) {
		p := &pairs{ranks: 100, seed: seed}
		for rank := range 100 {
			partner, _ := p.partner(rank, step)
			list = append(list, partner)
		}
		return list
	}
	if slices.Equal(partners(1, 0), partners(1, 1)) || slices.Equal(partners(1, 0), partners(2, 0)) {
		t.Error("the pairs do not depend on step and seed")
	}
	if !slices.Equal(partners(1, 0), partners(1, 0)) {
		t.Error("equal seeds give different pairs")
	}
	// Every other rank is about equally likely: 99 partners, 9900 draws.
	counts := map[int]int{}
	p := &pairs{ranks: 100, seed: 3}
	for step := range 9900 {
		partner, _ := p.partner(0, step)
		counts[partner]++
	}
	for rank := 1; rank < 100; rank++ {
		if n := counts[rank]; n < 50 || n > 160 { // five deviations of 100 +- 10
			t.Errorf("rank 0 met rank %d in %d of 9900 iterations", rank, n)
		}
	}
}
