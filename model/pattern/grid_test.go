package pattern

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"slackline/model/schedule"
)

func TestNearCube(t *testing.T) {
	for _, tc := range []struct {
		ranks, dimensions int
		want              []int
	}{
		{1, 2, []int{1, 1}}, {2, 2, []int{2, 1}}, {3, 2, []int{2, 2}}, {100, 2, []int{10, 10}},
		{128, 2, []int{16, 8}}, {16384, 2, []int{128, 128}}, {16000, 2, []int{128, 125}},
		{32000, 2, []int{200, 160}}, {127, 2, []int{12, 11}}, {1 << 30, 2, []int{1 << 15, 1 << 15}},
		{125, 3, []int{5, 5, 5}}, {16000, 3, []int{32, 25, 20}}, {12, 3, []int{3, 2, 2}},
		{1, 3, []int{1, 1, 1}}, {127, 3, []int{6, 5, 5}}, {24, 3, []int{4, 3, 2}},
	} {
		if got := nearCube(tc.ranks, tc.dimensions); !slices.Equal(got, tc.want) {
			t.Errorf("nearCube(%d, %d) = %v, want %v", tc.ranks, tc.dimensions, got, tc.want)
		}
	}
}

// A chosen grid holds all ranks, is hardly larger than needed, and is nowhere much longer than
// wide.
func TestNearCubeIsNear(t *testing.T) {
	for ranks := 1; ranks <= 3000; ranks++ {
		for _, dimensions := range []int{2, 3} {
			dims := nearCube(ranks, dimensions)
			places := 1
			for _, n := range dims {
				places *= n
			}
			last := dims[dimensions-1]
			if places < ranks || places-places/last >= ranks {
				t.Errorf("nearCube(%d, %d) = %v: too small, or the last plane is empty", ranks, dimensions, dims)
			}
			if longest := slices.Max(dims); longest > 2*slices.Min(dims) {
				t.Errorf("nearCube(%d, %d) = %v is too long", ranks, dimensions, dims)
			}
		}
	}
}

// drawGrid returns any grid that may be asked for or chosen, incomplete ones included.
func drawGrid(t *rapid.T) *grid {
	dims := rapid.SliceOfN(rapid.IntRange(1, 6), 2, 3).Draw(t, "dims")
	places, row := 1, 1
	for d, n := range dims {
		places *= n
		if d < len(dims)-1 {
			row *= n
		}
	}
	ranks := rapid.IntRange(places-row+1, places).Draw(t, "ranks")
	g := &grid{ranks: ranks, dims: dims, periodic: uint8(rapid.IntRange(0, 7).Draw(t, "periodic"))}
	stride := 1
	for _, n := range dims {
		g.strides = append(g.strides, stride)
		stride *= n
	}
	return g
}

// Neighbors are mutual, never the rank itself, and as many as links says.
func TestNeighborsAreMutual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrid(t)
		for d := range g.dims {
			links := 0
			for r := range g.ranks {
				n := g.neighbor(r, d, +1)
				if n < 0 {
					continue
				}
				links++
				if n == r || n >= g.ranks || g.neighbor(n, d, -1) != r {
					t.Fatalf("%+v: dimension %d: %d has %d after it, which has %d before it", g, d, r, n, g.neighbor(n, d, -1))
				}
			}
			if got := g.links(d); got != links {
				t.Fatalf("%+v: links(%d) = %d, want %d", g, d, got, links)
			}
			before := 0
			for r := range g.ranks {
				if g.neighbor(r, d, -1) >= 0 {
					before++
				}
			}
			if before != links {
				t.Fatalf("%+v: %d ranks have one after them, %d one before", g, links, before)
			}
		}
	})
}

func TestBoxCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrid(t)
		if len(g.dims) != 3 {
			return
		}
		x := &box{grid: g}
		total := int64(0)
		for i, o := range offsets {
			n := 0
			for r := range g.ranks {
				at := [3]int{r % g.dims[0], r / g.strides[1] % g.dims[1], r / g.strides[2]}
				peer := x.peer(r, at, o)
				if peer < 0 {
					continue
				}
				n++
				back := [3]int{at[0] + o[0], at[1] + o[1], at[2] + o[2]}
				if x.peer(peer, back, offsets[25-i]) != r {
					t.Fatalf("%+v: %d has neighbor %d at %v, but not the other way", g, r, peer, o)
				}
			}
			total += int64(n)
			if i >= 13 && x.pairs(o) != n {
				t.Fatalf("%+v: pairs(%v) = %d, want %d", g, o, x.pairs(o), n)
			}
		}
		if x.messages() != total {
			t.Fatalf("%+v: messages = %d, want %d", g, x.messages(), total)
		}
	})
}

// The graph of a grid that is not complete is still in one piece.
func TestIncompleteGridIsConnected(t *testing.T) {
	for _, ranks := range []int{7, 13, 127, 131, 1009} {
		for _, dimensions := range []int{2, 3} {
			t.Run(fmt.Sprint(ranks, " in ", dimensions), func(t *testing.T) {
				g, err := newGrid(ranks, dimensions, nil, 0)
				if err != nil {
					t.Fatal(err)
				}
				seen, queue := map[int]bool{0: true}, []int{0}
				for len(queue) > 0 {
					r := queue[0]
					queue = queue[1:]
					for d := range g.dims {
						for _, n := range []int{g.neighbor(r, d, -1), g.neighbor(r, d, +1)} {
							if n >= 0 && !seen[n] {
								seen[n] = true
								queue = append(queue, n)
							}
						}
					}
				}
				if len(seen) != ranks {
					t.Errorf("%d ranks can be reached in %v, want %d", len(seen), g.dims, ranks)
				}
			})
		}
	}
}

// A pattern on a grid says where its ranks are: the neighbors of a rank are those that it exchanges messages with.
func TestGridOfPattern(t *testing.T) {
	for _, tc := range []struct {
		name    string
		params  Params
		sides   []int
		periods []bool
	}{
		{"halo2d", Params{Ranks: 12, Grid: []int{4, 3}}, []int{4, 3}, []bool{false, false}},
		{"halo3d", Params{Ranks: 24, Periodic: true}, []int{4, 3, 2}, []bool{true, true, true}},
		{"pop", Params{Ranks: 8}, []int{4, 2}, []bool{true, false}},
		{"sweep3d", Params{Ranks: 6}, []int{3, 2}, []bool{false, false}},
		{"amg", Params{Ranks: 8}, []int{2, 2, 2}, []bool{false, false, false}},
		{"skeleton", Params{Ranks: 16, Tile: 4}, nil, nil},
		{"ring", Params{Ranks: 4}, nil, nil},
	} {
		p, err := New(tc.name, tc.params)
		if err != nil {
			t.Fatal(err)
		}
		sides, periodic, at := p.(schedule.Gridded).Grid()
		if !slices.Equal(sides, tc.sides) || !slices.Equal(periodic, tc.periods) {
			t.Errorf("%s: grid = %v, periodic %v, want %v, %v", tc.name, sides, periodic, tc.sides, tc.periods)
		}
		if tc.name != "halo2d" {
			continue
		}
		var b schedule.Block
		for rank := range tc.params.Ranks {
			for step := range p.Steps(rank) {
				p.Block(rank, step, &b)
				for _, op := range b.Ops {
					if op.Kind == schedule.Calc {
						continue
					}
					distance, here, there := 0, at(rank), at(int(op.Peer))
					for d := range here {
						distance += max(here[d]-there[d], there[d]-here[d])
					}
					if distance != 1 {
						t.Errorf("rank %d at %v has a message with rank %d at %v", rank, here, op.Peer, there)
					}
				}
			}
		}
	}
}
