package collective

import (
	"fmt"
	"strconv"
	"testing"

	"slackline/model/schedule"
	"slackline/model/unit"
)

// Steps are computed from their arguments alone: without allocation, and after the last step there
// is none.
func TestStepAccess(t *testing.T) {
	for _, a := range All() {
		call := schedule.Call{Size: 100_000}
		if a.Op.IsNeighbor() {
			call.Sources, call.Destinations = []int32{1, 2}, []int32{3}
		}
		in := mustInstance(t, a, 37, call)
		for _, free := range []bool{false, true} {
			in.FreeReduce = free
			var b schedule.Block
			for me := range in.Ranks {
				n := 0
				for ; ; n++ {
					b.Reset()
					if !a.Step(in, me, n, &b) {
						break
					}
				}
				for _, beyond := range []int{n, n + 1, n + 2, n + 3, n + 1000, 1 << 30} {
					b.Reset()
					if a.Step(in, me, beyond, &b) || len(b.Ops) > 0 {
						t.Fatalf("%s %s: rank %d has %d steps, but also step %d", a.Op, a.Name, me, n, beyond)
					}
				}
				if allocs := testing.AllocsPerRun(1, func() {
					for step := range n {
						b.Reset()
						a.Step(in, me, n-1-step, &b)
					}
				}); allocs != 0 {
					t.Fatalf("%s %s: %v allocations", a.Op, a.Name, allocs)
				}
			}
		}
	}
}

func TestRegistry(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range All() {
		key := fmt.Sprint(a.Op, " ", a.Name)
		if seen[key] {
			t.Errorf("%s is listed twice", key)
		}
		seen[key] = true
		if a.Info == "" || a.Rounds == "" || a.Volume == "" || a.Step == nil {
			t.Errorf("%s is not complete", key)
		}
		if got, err := lookup(a.Op, a.Name); err != nil || got != a {
			t.Errorf("Lookup(%s) = %v, %v", key, got, err)
		}
	}
	for _, op := range schedule.Operations() {
		if len(Algorithms(op)) == 0 {
			t.Errorf("%s has no algorithm", op)
		}
		if got, err := lookupOperation(op.String()); err != nil || got != op {
			t.Errorf("LookupOperation(%s) = %v, %v", op, got, err)
		}
	}
	if _, err := lookupOperation("allredcue"); err == nil {
		t.Error("LookupOperation knows allredcue")
	}
}

func BenchmarkStep(b *testing.B) {
	const ranks = 65536
	for _, a := range []*Algorithm{
		&barrierDissemination, &allreduceDissemination, &allreduceRecursiveDoubling, &allreduceRing,
		&allreduceRabenseifner, &allgatherBruck, &allgatherRing, &alltoallPairwise, &alltoallBruck, &bcastBinomial, &bcastChain,
	} {
		b.Run(fmt.Sprintf("op=%s/algorithm=%s", a.Op, a.Name), func(b *testing.B) {
			in := mustInstance(b, a, ranks, schedule.Call{Size: 1 << 20})
			in.FreeReduce = true
			var block schedule.Block
			me := 0
			b.ReportAllocs()
			for b.Loop() {
				me = (me + 12345) % ranks
				block.Reset()
				a.Step(in, me, me&7, &block)
			}
		})
	}
}

// TestParameters checks that the defaults of parameters can be given in words.
func TestParameters(t *testing.T) {
	for _, a := range All() {
		p := ""
		switch {
		case a.Segmented:
			p = ":segment=" + unit.Size(a.Segment).String()
		case a.Radix != 0:
			p = ":radix=" + strconv.Itoa(a.Radix)
		}
		if err := CheckAlgorithm(a.Op, a.Name+p); err != nil {
			t.Error(err)
		}
	}
}
