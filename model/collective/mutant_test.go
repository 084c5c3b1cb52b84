package collective

import (
	"slices"
	"testing"

	"slackline/model/schedule"
)

// TestProofNotices changes every algorithm in ways that leave all messages matched, and wants the
// proof to fail: it follows the data and not only the messages.
func TestProofNotices(t *testing.T) {
	for _, a := range All() {
		if a.Op.IsNeighbor() {
			continue
		}
		for _, m := range mutants(a) {
			t.Run(a.Op.String()+"/"+a.Name+"/"+m.name, func(t *testing.T) {
				for _, p := range []int{4, 5, 6, 7, 8, 11, 16} {
					changed := *a
					changed.Step = m.step
					if err := prove(new(flow), &changed, p, 1, 0, 1000, false); err == nil {
						t.Errorf("P = %d: the proof accepts it", p)
					}
				}
			})
		}
	}
}

type mutant struct {
	name string
	step func(in *Instance, me, step int, b *schedule.Block) bool
}

func mutants(a *Algorithm) []mutant {
	list := []mutant{{"rank 2 leaves out its first step", func(in *Instance, me, step int, b *schedule.Block) bool {
		if me == 2 {
			step++
		}
		return a.Step(in, me, step, b)
	}}}
	if rooted(a.Op) {
		list = append(list, mutant{"another root", func(in *Instance, me, step int, b *schedule.Block) bool {
			c := *in
			c.Root = (c.Root + 2) % int32(c.Ranks)
			return a.Step(&c, me, step, b)
		}})
	}
	if reduces(a.Op) {
		list = append(list, mutant{"reductions forgotten", func(in *Instance, me, step int, b *schedule.Block) bool {
			ok := a.Step(in, me, step, b)
			ops := slices.DeleteFunc(slices.Clone(b.Ops), func(op schedule.Op) bool { return op.Kind == schedule.Calc })
			b.Reset()
			for _, op := range ops {
				b.Add(op)
			}
			return ok
		}})
	}
	// In a vector all blocks are equal, but blocks of ranks are not.
	if byRank(a.Op) || a.Op == schedule.Alltoall {
		list = append(list, mutant{"blocks shifted by one", func(in *Instance, me, step int, b *schedule.Block) bool {
			c := *in
			c.Sizes = append(slices.Clone(in.Sizes[1:]), in.Sizes[0])
			c.makePartition()
			return a.Step(&c, me, step, b)
		}})
	}
	if a.parts != nil && !a.Segmented {
		list = append(list, mutant{"a block stays behind", func(in *Instance, me, step int, b *schedule.Block) bool {
			c := *in
			c.ends = slices.Clone(in.ends)
			for i := range c.ends[1:] { // block 0 has no bytes
				c.ends[i+1] -= in.part(0)
			}
			c.Size = c.ends[len(c.ends)-1]
			return a.Step(&c, me, step, b)
		}})
	}
	return list
}
