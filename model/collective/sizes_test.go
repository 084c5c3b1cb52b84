package collective

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"slackline/model/schedule"
)

// steps returns all steps of all ranks of an instance, one after the other.
func steps(in *Instance) [][]schedule.Op {
	var list [][]schedule.Op
	var b schedule.Block
	for me := range in.Ranks {
		for step := 0; ; step++ {
			b.Reset()
			if !in.Algorithm.Step(in, me, step, &b) {
				break
			}
			list = append(list, slices.Clone(b.Ops))
		}
	}
	return list
}

func mustInstance(t testing.TB, a *Algorithm, ranks int, call schedule.Call) *Instance {
	t.Helper()
	call.Op = a.Op
	in, err := newInstance(&call, ranks, a, -1, 0)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// hasVariant reports whether an operation has a v-variant.
func hasVariant(op schedule.Operation) bool { return byRank(op) || op == schedule.Alltoall }

// The proof follows v-variants. The plain form is the v-variant with equal sizes.
func TestPlainFormIsVariantWithEqualSizes(t *testing.T) {
	for _, a := range All() {
		if !hasVariant(a.Op) {
			continue
		}
		for p := 1; p <= 40; p++ {
			n := p
			if a.Op == schedule.Alltoall {
				n = p * p
			}
			root := int32(p / 3)
			if !rooted(a.Op) {
				root = 0
			}
			const size = 7
			plain := steps(mustInstance(t, a, p, schedule.Call{Root: root, Size: size}))
			variant := steps(mustInstance(t, a, p, schedule.Call{Root: root, Sizes: slices.Repeat([]int64{size}, n)}))
			if !slices.EqualFunc(plain, variant, slices.Equal) {
				t.Fatalf("%s %s, P = %d: the plain form differs from the one with sizes", a.Op, a.Name, p)
			}
		}
	}
}

// Random sizes, zeros among them: all messages match, nothing stops, and a message has the bytes of
// the blocks that the proof found in it.
func TestRandomSizes(t *testing.T) {
	for _, a := range All() {
		if !hasVariant(a.Op) {
			continue
		}
		t.Run(a.Op.String()+"/"+a.Name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			for p := 1; p <= 33; p++ {
				n, tracked := p, batch{0, p}
				if a.Op == schedule.Alltoall {
					n, tracked = p*p, batch{rng.IntN(p * p), 0}
					tracked.n = min(maxTracked, n-tracked.first)
				}
				root := int32(0)
				if rooted(a.Op) {
					root = int32(rng.IntN(p))
				}
				sizes := make([]int64, n)
				for i := range tracked.n {
					if rng.IntN(3) > 0 {
						sizes[tracked.first+i] = rng.Int64N(1 << 40)
					}
				}
				in := mustInstance(t, a, p, schedule.Call{Root: root, Sizes: sizes})
				var f flow
				if err := f.run(p, func(int) *Instance { return in }, sizesOnly{}); err != nil {
					t.Fatalf("P = %d, root %d, sizes %v: %v", p, root, sizes, err)
				}
				blocks := mustInstance(t, a, p, schedule.Call{Root: root, Sizes: tracked.sizes(n)})
				got, want := messages(in), messages(blocks)
				if len(got) != len(want) {
					t.Fatalf("P = %d: %d messages with random sizes, want %d", p, len(got), len(want))
				}
				for i := range got {
					sum := int64(0)
					for bit := range tracked.n {
						if want[i].Size>>bit&1 != 0 {
							sum += sizes[tracked.first+bit]
						}
					}
					if got[i].Size != sum {
						t.Fatalf("P = %d: a message of %d bytes carries blocks of %d", p, got[i].Size, sum)
					}
				}
			}
		})
	}
}

// messages returns all sends and receives of an instance. Reductions are left out, because there
// is none for blocks without bytes.
func messages(in *Instance) []schedule.Op {
	var list []schedule.Op
	for _, step := range steps(in) {
		for _, op := range step {
			if op.Kind != schedule.Calc {
				list = append(list, op)
			}
		}
	}
	return list
}

// Vectors and messages of any size, in segments of any size: all messages match, and the bytes of
// the parts add up.
func TestRandomVectors(t *testing.T) {
	var list []*Algorithm
	for _, a := range All() {
		if !hasVariant(a.Op) && !a.Op.IsNeighbor() {
			list = append(list, a)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SampledFrom(list).Draw(t, "algorithm")
		p := rapid.IntRange(1, 40).Draw(t, "ranks")
		call := schedule.Call{Op: a.Op, Size: rapid.Int64Range(0, 5000).Draw(t, "size")}
		if rooted(a.Op) {
			call.Root = int32(rapid.IntRange(0, p-1).Draw(t, "root"))
		}
		segment, radix := int64(-1), 0
		if a.Segmented {
			segment = rapid.Int64Range(0, 6000).Draw(t, "segment")
		}
		if a.Radix != 0 {
			radix = rapid.IntRange(2, 50).Draw(t, "radix")
		}
		in, err := newInstance(&call, p, a, segment, radix)
		if err != nil {
			t.Fatal(err)
		}
		in.FreeReduce = rapid.Bool().Draw(t, "free")
		sum := int64(0)
		for i := range in.parts {
			part := in.part(i)
			sum += part
			if part < 0 || in.Segment > 0 && part > in.Segment {
				t.Fatalf("part %d of %d has %d bytes, segment %d", i, in.parts, part, in.Segment)
			}
			if in.Segment == 0 && (part < in.Size/int64(in.parts) || part > in.Size/int64(in.parts)+1) {
				t.Fatalf("part %d of %d has %d of %d bytes", i, in.parts, part, in.Size)
			}
		}
		if sum != call.Size {
			t.Fatalf("the %d parts add up to %d bytes, want %d", in.parts, sum, call.Size)
		}
		if err := new(flow).run(p, func(int) *Instance { return in }, sizesOnly{}); err != nil {
			t.Fatal(err)
		}
	})
}

// Volumes and numbers of messages that are known from the literature, for 16 ranks and 1600 bytes.
func TestVolumes(t *testing.T) {
	for _, tc := range []struct {
		op       schedule.Operation
		name     string
		messages int
		bytes    int64
	}{
		{schedule.Barrier, "dissemination", 16 * 4, 16 * 4},
		{schedule.Barrier, "binomial", 2 * 15, 2 * 15},
		{schedule.Bcast, "binomial", 15, 15 * 1600},
		{schedule.Bcast, "scatter-allgather", 15 + 16*15, 32*100 + 16*15*100},
		{schedule.Allreduce, "dissemination", 16 * 4, 16 * 4 * 1600},
		{schedule.Allreduce, "recursive-doubling", 16 * 4, 16 * 4 * 1600},
		{schedule.Allreduce, "ring", 16 * 30, 16 * 30 * 100},
		{schedule.Allreduce, "rabenseifner", 16 * 8, 16 * 30 * 100},
		{schedule.Allreduce, "reduce-bcast", 2 * 15, 2 * 15 * 1600},
		{schedule.Reduce, "rabenseifner", 16*4 + 15, 16*15*100 + 32*100},
		{schedule.Allgather, "bruck", 16 * 4, 16 * 15 * 1600},
		{schedule.Allgather, "neighbor-exchange", 16 * 8, 16 * 15 * 1600},
		{schedule.Alltoall, "bruck", 16 * 4, 16 * 4 * 8 * 1600},
		{schedule.Alltoall, "pairwise", 16 * 15, 16 * 15 * 1600},
		{schedule.Gather, "binomial", 15, 32 * 1600},
		{schedule.ReduceScatter, "recursive-halving", 16 * 4, 16 * 15 * 1600},
		{schedule.Scan, "recursive-doubling", 16 * 4, 16 * 4 * 1600},
		{schedule.Scan, "linear", 15, 15 * 1600},
	} {
		a, err := lookup(tc.op, tc.name)
		if err != nil {
			t.Fatal(err)
		}
		in := mustInstance(t, a, 16, schedule.Call{Size: 1600})
		var f flow
		if err := f.run(16, func(int) *Instance { return in }, sizesOnly{}); err != nil {
			t.Fatal(err)
		}
		if f.message != tc.messages || f.bytes != tc.bytes {
			t.Errorf("%s %s: %d messages with %d bytes, want %d with %d", tc.op, tc.name, f.message, f.bytes, tc.messages, tc.bytes)
		}
	}
}

// The form of the dissemination pattern on which published figures rest.
func TestDisseminationForm(t *testing.T) {
	for _, a := range []*Algorithm{&barrierDissemination, &allreduceDissemination} {
		for _, p := range []int{1, 2, 3, 8, 13} {
			in := mustInstance(t, a, p, schedule.Call{Size: 1})
			in.FreeReduce = true
			var b schedule.Block
			for me := range p {
				round := 0
				for distance := 1; distance < p; distance *= 2 {
					b.Reset()
					if !a.Step(in, me, round, &b) || len(b.Ops) != 2 {
						t.Fatalf("%s, P = %d, rank %d, round %d: %v", a.Op, p, me, round, b.Ops)
					}
					want := []schedule.Op{
						{Kind: schedule.Send, Peer: int32((me + distance) % p), Size: 1},
						{Kind: schedule.Recv, Peer: int32((me - distance + p) % p), Size: 1},
					}
					if !slices.Equal(b.Ops, want) {
						t.Errorf("%s, P = %d, rank %d, round %d: %v, want %v", a.Op, p, me, round, b.Ops, want)
					}
					round++
				}
				b.Reset()
				if a.Step(in, me, round, &b) {
					t.Errorf("%s, P = %d, rank %d: more than %d rounds", a.Op, p, me, round)
				}
			}
		}
	}
}

// Neighbors of any kind, also oneself and the same one twice: all messages match.
func TestNeighborhoods(t *testing.T) {
	for _, op := range []schedule.Operation{schedule.NeighborAllgather, schedule.NeighborAlltoall} {
		for _, a := range Algorithms(op) {
			rapid.Check(t, func(t *rapid.T) {
				p := rapid.IntRange(1, 12).Draw(t, "ranks")
				calls := make([]schedule.Call, p)
				edges := rapid.IntRange(0, 30).Draw(t, "edges")
				for range edges {
					from, to := rapid.IntRange(0, p-1).Draw(t, "from"), rapid.IntRange(0, p-1).Draw(t, "to")
					calls[from].Destinations = append(calls[from].Destinations, int32(to))
					calls[to].Sources = append(calls[to].Sources, int32(from))
				}
				ins := make([]*Instance, p)
				for r := range ins {
					calls[r].Op, calls[r].Size = op, 10
					in, err := newInstance(&calls[r], p, a, -1, 0)
					if err != nil {
						t.Fatal(err)
					}
					ins[r] = in
				}
				var f flow
				if err := f.run(p, func(r int) *Instance { return ins[r] }, sizesOnly{}); err != nil {
					t.Fatal(err)
				}
				if f.message != edges || f.bytes != int64(10*edges) {
					t.Fatalf("%d messages with %d bytes, want %d of 10 bytes", f.message, f.bytes, edges)
				}
			})
		}
	}
}
