package schedule

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// meantOp is an operation with all numbers replaced by what they mean, so that programs with
// different tables can be compared.
type meantOp struct {
	Op
	Call     Call
	Members  []int // world ranks of the call's group
	Origin   string
	Waits    []Dependent
	InPhase  bool
	BlockOps int
}

// meaning returns what a rank does, block by block, as rank rank+shift of a larger program.
func meaning(p Program, rank, shift int) (blocks [][]meantOp) {
	groups, origins := p.Groups(), p.Origins()
	if len(groups) == 0 {
		groups = []Group{World(p.Ranks())}
	}
	for step := range p.Steps(rank) {
		var b Block // a fresh one: nothing may be left from the block before
		p.Block(rank, step, &b)
		block := []meantOp{}
		for i, op := range b.Ops {
			m := meantOp{Op: op, InPhase: b.IsPhase(), BlockOps: len(b.Ops)}
			if len(origins) > 0 {
				m.Origin = fmt.Sprint(origins[op.Origin])
			} else {
				m.Origin = fmt.Sprint(Origin{})
			}
			m.Op.Origin = 0
			switch op.Kind {
			case Send, Recv:
				if op.Peer != AnySource {
					m.Peer += int32(shift)
				}
			case Collective:
				m.Call = b.Calls[op.Size]
				g := &groups[m.Call.Group]
				for r := range g.Len() {
					m.Members = append(m.Members, g.Rank(r)+shift)
				}
				m.Call.Group, m.Op.Size = 0, 0
			}
			if !b.IsPhase() {
				m.Waits = append([]Dependent{}, b.Dependents[b.First[i]:b.First[i+1]]...)
			}
			block = append(block, m)
		}
		blocks = append(blocks, block)
	}
	return blocks
}

func TestConcat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(1, 4).Draw(t, "ranks")
		var parts []Program
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			if len(parts) > 0 && rapid.Bool().Draw(t, "again") {
				parts = append(parts, parts[0])
			} else {
				parts = append(parts, drawGraph(t, ranks))
			}
		}
		got, err := Concat(parts...)
		if err != nil {
			t.Fatal(err)
		}
		for rank := range ranks {
			var want [][]meantOp
			for _, p := range parts {
				want = append(want, meaning(p, rank, 0)...)
			}
			if m := meaning(got, rank, 0); !reflect.DeepEqual(m, want) {
				t.Fatalf("rank %d: %+v, want %+v", rank, m, want)
			}
		}
		checkComposed(t, got, parts)
	})
}

func TestRepeat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawGraph(t, rapid.IntRange(1, 4).Draw(t, "ranks"))
		n := rapid.IntRange(1, 4).Draw(t, "n")
		got, err := Repeat(p, n)
		if err != nil {
			t.Fatal(err)
		}
		for rank := range p.Ranks() {
			var want [][]meantOp
			for range n {
				want = append(want, meaning(p, rank, 0)...)
			}
			if m := meaning(got, rank, 0); !reflect.DeepEqual(m, want) {
				t.Fatalf("rank %d: %+v, want %+v", rank, m, want)
			}
		}
		checkComposed(t, got, []Program{p})
	})
}

func TestSideBySide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var jobs []Program
		for range rapid.IntRange(1, 5).Draw(t, "jobs") {
			if len(jobs) > 0 && rapid.Bool().Draw(t, "again") {
				jobs = append(jobs, jobs[0])
			} else {
				jobs = append(jobs, drawGraph(t, rapid.IntRange(1, 4).Draw(t, "ranks")))
			}
		}
		got, err := SideBySide(jobs...)
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for _, p := range jobs {
			for rank := range p.Ranks() {
				if m, want := meaning(got, at+rank, 0), meaning(p, rank, at); !reflect.DeepEqual(m, want) {
					t.Fatalf("rank %d: %+v, want %+v", at+rank, m, want)
				}
			}
			at += p.Ranks()
		}
		if got.Ranks() != at {
			t.Fatalf("%d ranks, want %d", got.Ranks(), at)
		}
		checkComposed(t, got, jobs)
	})
}

// checkComposed checks what holds for all compositions: the shape covers the parts, the program
// can be written and read, and composing it once more changes nothing of its inside.
func checkComposed(t *rapid.T, p Program, parts []Program) {
	shape := p.Shape()
	for _, q := range parts {
		if shape.union(q.Shape()) != shape {
			t.Fatalf("shape %v does not cover %v", shape, q.Shape())
		}
	}
	g, err := ReadSLK("composed.slk", slkBytes(t, p))
	if err != nil {
		t.Fatal(err)
	}
	if d := difference(g, p); d != "" {
		t.Fatal(d)
	}
	twice, err := Concat(p, p)
	if err == nil {
		twice, err = SideBySide(twice, twice)
	}
	if err != nil {
		t.Fatal(err)
	}
	last := p.Ranks() - 1
	want := append(meaning(p, last, p.Ranks()), meaning(p, last, p.Ranks())...)
	if m := meaning(twice, p.Ranks()+last, 0); !reflect.DeepEqual(m, want) {
		t.Fatalf("composed twice: %+v, want %+v", m, want)
	}
}

// One block, used again and again for all parts in turn, must not keep anything of the block
// before, and must not change the programs behind it.
func TestComposedBlocksAreShared(t *testing.T) {
	p := rapid.Custom(func(t *rapid.T) *Graph { return drawGraph(t, 3) }).Example(1)
	q := rapid.Custom(func(t *rapid.T) *Graph { return drawGraph(t, 2) }).Example(2)
	before := slkBytes(t, p)
	s, err := SideBySide(p, q, p)
	if err != nil {
		t.Fatal(err)
	}
	want := make([][][]meantOp, s.Ranks())
	for rank := range want {
		want[rank] = meaning(s, rank, 0)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			var b Block
			for rank := range s.Ranks() {
				for step := range s.Steps(rank) {
					s.Block(rank, step, &b)
					for i, op := range b.Ops {
						if w := want[rank][step][i]; op.Kind != w.Kind || op.Tag != w.Tag || op.Kind != Collective && op.Size != w.Size {
							t.Errorf("rank %d block %d operation %d is %v, want %v", rank, step, i, op, w)
						}
					}
				}
			}
		})
	}
	wait.Wait()
	if string(slkBytes(t, p)) != string(before) {
		t.Error("the program behind it has changed")
	}
}

// empty is a program of so many ranks and blocks without operations.
type empty struct{ ranks, steps int }

func (e empty) Ranks() int               { return e.ranks }
func (e empty) Steps(int) int            { return e.steps }
func (e empty) Block(_, _ int, b *Block) { b.Reset() }
func (e empty) Shape() Shape             { return Shape{CPUs: 1, NICs: 1} }
func (e empty) Groups() []Group          { return nil }
func (e empty) Origins() []Origin        { return nil }

func TestComposeErrors(t *testing.T) {
	for _, tc := range []struct {
		name    string
		compose func() (Program, error)
		want    string
	}{
		{"nothing to concatenate", func() (Program, error) { return Concat() }, "no programs"},
		{"other ranks", func() (Program, error) { return Concat(empty{2, 1}, empty{3, 1}) }, "part 1 has 3, part 0 has 2"},
		{"long", func() (Program, error) { return Concat(empty{2, math.MaxInt32}, empty{2, 1}) }, "too many blocks"},
		{"zero times", func() (Program, error) { return Repeat(empty{1, 1}, 0) }, "0 times"},
		{"too often", func() (Program, error) { return Repeat(empty{1, 3}, 1<<30) }, "are too many"},
		{"nothing side by side", func() (Program, error) { return SideBySide() }, "no jobs"},
		{"too many ranks", func() (Program, error) { return SideBySide(empty{math.MaxInt32, 1}, empty{1, 1}) }, "too many ranks"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := tc.compose(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want it to contain %q", err, tc.want)
			}
		})
	}
}
