package replay

import (
	"fmt"
	"math"
	"slices"

	"slackline/model/schedule"
)

// maxSizes is how many numbers the lists of sizes may have together if there are copies: 256 MiB.
const maxSizes = 1 << 25

// WithRanks returns the schedule with another number of ranks, a multiple of those of the run; see
// Options. Both share the operations.
func (p *Program) WithRanks(ranks int) (*Program, error) {
	if err := checkRanks(ranks, p.recorded); err != nil {
		return nil, err
	}
	q := *p
	q.copies = ranks / p.recorded
	q.report.Ranks, q.report.Averaged = ranks, 0
	if err := q.setGroups(); err != nil {
		return nil, err
	}
	q.setCalls()
	return &q, nil
}

// checkRanks refuses a number of ranks that is not a multiple of the recorded one.
func checkRanks(n, recorded int) error {
	switch {
	case n > math.MaxInt32:
		return fmt.Errorf("%d ranks are too many; the limit is %d", n, math.MaxInt32)
	case n < recorded:
		return fmt.Errorf("a run of %d ranks cannot become one of %d; give a multiple of %d", recorded, n, recorded)
	case n%recorded != 0:
		return fmt.Errorf("a run of %d ranks is extrapolated by copies of all of them, so that %d ranks are not possible; the "+
			"nearest are %d and %d",
			recorded, n, n/recorded*recorded, (n/recorded+1)*recorded)
	}
	return nil
}

// setGroups makes the groups of all copies.
func (p *Program) setGroups() error {
	g := p.table
	partial := len(g.members) - g.global
	if partial > 0 && p.copies > math.MaxInt32/partial-g.global {
		return fmt.Errorf("%d copies of a run with %d communicators are too many; take fewer ranks", p.copies, len(g.members))
	}
	p.partial = int32(partial)
	p.groups = append(make([]schedule.Group, 0, g.global+p.copies*partial), schedule.World(p.Ranks()))
	for _, members := range g.members[1:g.global] {
		all := make([]int32, 0, p.Ranks())
		for j := range p.copies {
			all = appendShifted(all, members, j*p.recorded)
		}
		p.groups = append(p.groups, schedule.NewGroup(all))
	}
	for j := range p.copies {
		for _, members := range g.members[g.global:] {
			p.groups = append(p.groups, groupOf(members, j*p.recorded))
		}
	}
	return nil
}

// groupOf returns the group of some ranks, all larger by shift. Most are regular, and need no list.
func groupOf(members []int32, shift int) schedule.Group {
	stride := int(members[1] - members[0])
	for i := 1; i < len(members); i++ {
		if stride < 1 || int(members[i]-members[i-1]) != stride {
			return schedule.NewGroup(appendShifted(nil, members, shift))
		}
	}
	return schedule.Group{First: int(members[0]) + shift, Stride: stride, Size: len(members)}
}

func appendShifted(to, ranks []int32, shift int) []int32 {
	for _, r := range ranks {
		to = append(to, r+int32(shift))
	}
	return to
}

// setCalls makes the calls of all copies: where a call works on all ranks, its sizes by rank are repeated
// for the copies. Where that is too much, all ranks get the mean; so they do in an alltoall, for
// what copies send to each other is unknown.
func (p *Program) setCalls() {
	if p.copies == 1 {
		p.calls = p.recordedCalls
		return
	}
	p.calls = slices.Clone(p.recordedCalls)
	repeated, room := map[*int64][]int64{}, 0
	for i := range p.calls {
		call := &p.calls[i]
		if len(call.Sizes) == 0 || int(call.Group) >= p.table.global {
			continue
		}
		list, known := repeated[&call.Sizes[0]]
		switch {
		case known:
			call.Sizes = list
		case call.Op == schedule.Alltoall || len(call.Sizes)*p.copies > maxSizes-room:
			call.Size, call.Sizes = mean(call.Sizes), nil
			p.report.Averaged++
		default:
			list = slices.Repeat(call.Sizes, p.copies)
			repeated[&call.Sizes[0]] = list
			call.Sizes = list
			room += len(list)
		}
	}
}

// mean is the mean of some sizes, rounded up.
func mean(sizes []int64) int64 {
	n := int64(len(sizes))
	whole, rest := int64(0), int64(0)
	for _, s := range sizes {
		whole, rest = whole+s/n, rest+s%n
	}
	return whole + (rest+n-1)/n
}
