package collective

import (
	"fmt"
	"strings"
	"testing"

	"slackline/model/schedule"
	"slackline/model/unit"
)

// scripted is a program of given blocks, the same on all ranks.
type scripted struct {
	ranks  int
	blocks []func(rank int, b *schedule.Block)
	groups []schedule.Group
	graphs bool
	same   bool // claim that all steps are the same call
}

func (s *scripted) Ranks() int    { return s.ranks }
func (s *scripted) Steps(int) int { return len(s.blocks) }
func (s *scripted) Block(rank, step int, b *schedule.Block) {
	b.Reset()
	s.blocks[step](rank, b)
}
func (s *scripted) Shape() schedule.Shape {
	return schedule.Shape{CPUs: 1, NICs: 1, Graphs: s.graphs, Collectives: true}
}
func (s *scripted) Groups() []schedule.Group   { return s.groups }
func (s *scripted) Origins() []schedule.Origin { return nil }
func (s *scripted) SameCall(int) bool          { return s.same }

// text writes the stream of a rank: blocks in brackets, dependencies behind.
func text(x *Expansion, rank int) string {
	var out strings.Builder
	var b schedule.Block
	for at, ok := x.Next(rank, schedule.Cursor{}, &b); ok; at, ok = x.Next(rank, at, &b) {
		out.WriteString("[")
		for i, op := range b.Ops {
			if i > 0 {
				out.WriteString(" ")
			}
			switch op.Kind {
			case schedule.Calc:
				fmt.Fprintf(&out, "c%d", op.Size)
			default:
				fmt.Fprintf(&out, "%c%d:%d/%d.%d", op.Kind.String()[0], op.Peer, op.Size, op.Context, op.Tag)
			}
			if op.Origin != 0 {
				fmt.Fprintf(&out, "@%d", op.Origin)
			}
		}
		if !b.IsPhase() {
			out.WriteString(" |")
			for i := range b.Ops {
				for _, d := range b.Dependents[b.First[i]:b.First[i+1]] {
					arrow := "<"
					if d.OnStart() {
						arrow = "<~"
					}
					fmt.Fprintf(&out, " %d%s%d", d.Index(), arrow, i)
				}
			}
		}
		out.WriteString("]")
	}
	return out.String()
}

func TestExpansion(t *testing.T) {
	calc := func(ps int64) func(int, *schedule.Block) {
		return func(_ int, b *schedule.Block) { b.Calc(ps) }
	}
	call := func(c schedule.Call) func(int, *schedule.Block) {
		return func(_ int, b *schedule.Block) { b.Ops[b.Call(c)].Origin = 9 }
	}
	odd := schedule.NewGroup([]int32{5, 1, 3})
	for _, tc := range []struct {
		name string
		p    *scripted
		// gamma in fs per byte
		gamma unit.PerByte
		rank  int
		want  string
	}{
		{"between computations", &scripted{ranks: 4, blocks: []func(int, *schedule.Block){
			calc(7), call(schedule.Call{Op: schedule.Barrier, Algorithm: "dissemination"}), calc(8),
		}}, 0, 1, "[c7][s2:1/1.0@9 r0:1/1.0@9][s3:1/1.0@9 r3:1/1.0@9][c8]"},
		{"one rank", &scripted{ranks: 1, blocks: []func(int, *schedule.Block){
			calc(7), call(schedule.Call{Op: schedule.Allreduce, Size: 8}), calc(8),
		}}, 0, 0, "[c7][c8]"},
		{"reductions cost time", &scripted{ranks: 2, blocks: []func(int, *schedule.Block){
			call(schedule.Call{Op: schedule.Allreduce, Size: 8, Algorithm: "recursive-doubling"}),
		}}, 2000, 0, "[s1:8/1.0@9 r1:8/1.0@9][c16@9]"},
		{"reductions cost nothing", &scripted{ranks: 2, blocks: []func(int, *schedule.Block){
			call(schedule.Call{Op: schedule.Allreduce, Size: 8, Algorithm: "recursive-doubling"}),
		}}, 0, 0, "[s1:8/1.0@9 r1:8/1.0@9]"},
		{"tag", &scripted{ranks: 2, blocks: []func(int, *schedule.Block){
			call(schedule.Call{Op: schedule.Bcast, Size: 3, Tag: 42, Algorithm: "linear"}),
		}}, 0, 0, "[s1:3/1.42@9]"},
		{"group", &scripted{ranks: 6, groups: []schedule.Group{schedule.World(6), odd}, blocks: []func(int, *schedule.Block){
			func(rank int, b *schedule.Block) {
				if rank%2 == 1 {
					b.Call(schedule.Call{Op: schedule.Bcast, Group: 1, Size: 3, Algorithm: "linear"})
				}
			},
		}}, 0, 5, "[s1:3/1.0 s3:3/1.0]"},
		{"not in the group", &scripted{ranks: 6, groups: []schedule.Group{schedule.World(6), odd}, blocks: []func(int, *schedule.Block){
			func(rank int, b *schedule.Block) {
				if rank%2 == 1 {
					b.Call(schedule.Call{Op: schedule.Bcast, Group: 1, Size: 3, Algorithm: "linear"})
				}
			}, calc(1),
		}}, 0, 2, "[c1]"},
		{"a barrier after neighbors is a barrier", &scripted{ranks: 4, blocks: []func(int, *schedule.Block){
			call(schedule.Call{Op: schedule.NeighborAllgather, Size: 5, Sources: []int32{3}, Destinations: []int32{1}}),
			call(schedule.Call{Op: schedule.Barrier}),
		}}, 0, 0, "[r3:5/1.0@9 s1:5/1.0@9][s1:1/1.0@9 r3:1/1.0@9][s2:1/1.0@9 r2:1/1.0@9]"},
		{"beside computation", &scripted{ranks: 4, graphs: true, blocks: []func(int, *schedule.Block){
			func(_ int, b *schedule.Block) {
				post := b.Calc(1)
				c := b.Call(schedule.Call{Op: schedule.Barrier, Algorithm: "dissemination"})
				work := b.Calc(5)
				wait := b.Calc(2)
				b.Require(c, post)
				b.RequireStart(work, c)
				b.Require(wait, work)
				b.Require(wait, c)
				b.Link()
			},
		}}, 0, 0, "[c1 s1:1/1.0 r3:1/1.0 s2:1/1.0 r2:1/1.0 c5 c2 | 1<0 2<0 5<~1 3<1 4<1 3<2 4<2 6<3 6<4 6<5]"},
		{"beside computation on one rank", &scripted{ranks: 1, graphs: true, blocks: []func(int, *schedule.Block){
			func(_ int, b *schedule.Block) {
				c := b.Call(schedule.Call{Op: schedule.Barrier})
				b.Require(b.Calc(5), c)
				b.Link()
			},
		}}, 0, 0, "[c0 c5 | 1<0]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := text(Expand(tc.p, nil, tc.gamma), tc.rank); got != tc.want {
				t.Errorf("rank %d does\n%s, want\n%s", tc.rank, got, tc.want)
			}
		})
	}
}

// A program that says that all ranks make the same call is asked less often, with the same result.
func TestExpansionOfSameCalls(t *testing.T) {
	for _, ranks := range []int{1, 2, 7, 16} {
		build := func(same bool) *scripted {
			return &scripted{ranks: ranks, same: same, blocks: []func(int, *schedule.Block){
				func(_ int, b *schedule.Block) {
					b.Ops[b.Call(schedule.Call{Op: schedule.Allreduce, Size: 64})].Origin = 3
				},
				func(_ int, b *schedule.Block) {
					b.Call(schedule.Call{Op: schedule.Gather, Size: 10, Root: 0})
				},
				func(_ int, b *schedule.Block) {
					b.Call(schedule.Call{Op: schedule.Allreduce, Size: 1 << 20, Tag: 4})
				},
			}}
		}
		for rank := range ranks {
			got, want := text(Expand(build(true), nil, 1000), rank), text(Expand(build(false), nil, 1000), rank)
			if got != want {
				t.Errorf("%d ranks: rank %d does\n%s, want\n%s", ranks, rank, got, want)
			}
		}
	}
}

func TestExpansionErrors(t *testing.T) {
	for _, tc := range []struct {
		name string
		call schedule.Call
		want string
	}{
		{"algorithm", schedule.Call{Op: schedule.Bcast, Algorithm: "binomal"}, "binomial"},
		{"group", schedule.Call{Op: schedule.Bcast, Group: 3}, "group 3"},
		{"root", schedule.Call{Op: schedule.Bcast, Root: 8}, "root 8"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			x := Expand(&scripted{ranks: 4, blocks: []func(int, *schedule.Block){
				func(_ int, b *schedule.Block) { b.Call(tc.call) },
			}}, nil, 0)
			var b schedule.Block
			if _, ok := x.Next(2, schedule.Cursor{}, &b); ok {
				t.Error("Next goes on after an error")
			}
			if err := x.Err(); err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "rank 2") {
				t.Errorf("Err = %v, want one about rank 2 and %q", err, tc.want)
			}
		})
	}
}

// An exchange is the block that Next yields, in short.
func TestExchangesAreBlocks(t *testing.T) {
	for _, a := range All() {
		if a.Exchange == nil {
			continue
		}
		for _, ranks := range []int{1, 2, 3, 8, 13, 64} {
			t.Run(fmt.Sprintf("%s-%s/ranks=%d", a.Op, a.Name, ranks), func(t *testing.T) {
				p := &scripted{ranks: ranks, same: true, blocks: []func(int, *schedule.Block){
					func(_ int, b *schedule.Block) {
						b.Call(schedule.Call{Op: a.Op, Size: 24, Algorithm: a.Name})
					},
				}}
				x := Expand(p, nil, 0)
				var b schedule.Block
				exchanges := 0
				for rank := range ranks {
					for at, ok := x.Next(rank, schedule.Cursor{}, &b); ok; {
						e, after, known := x.NextExchange(rank, at, &b)
						next, more := x.Next(rank, at, &b)
						if known != more {
							t.Fatalf("rank %d at %v: NextExchange says %t, Next %t", rank, at, known, more)
						}
						if !more {
							break
						}
						exchanges++
						if len(b.Ops) != 2 || b.Ops[0].Kind != schedule.Send || b.Ops[1].Kind != schedule.Recv ||
							b.Ops[0].Peer != e.To || b.Ops[1].Peer != e.From || b.Ops[0].Size != e.Size ||
							b.Ops[0].Context != e.Context || b.Ops[0].Tag != e.Tag || next != after {
							t.Fatalf("rank %d at %v: exchange %+v, but the block is %v", rank, at, e, b.Ops)
						}
						at = next
					}
				}
				if ranks > 2 && exchanges == 0 {
					t.Error("no exchange was known")
				}
			})
		}
	}
	// With costs of reductions, tags or groups there is more to say than an exchange can.
	p := &scripted{ranks: 8, same: true, blocks: []func(int, *schedule.Block){
		func(_ int, b *schedule.Block) {
			b.Call(schedule.Call{Op: schedule.Allreduce, Size: 24, Tag: 3, Algorithm: "dissemination"})
		},
	}}
	x := Expand(p, nil, 0)
	var b schedule.Block
	at, _ := x.Next(0, schedule.Cursor{}, &b)
	if _, _, ok := x.NextExchange(0, at, &b); ok {
		t.Error("NextExchange yields a message with a tag")
	}
}
