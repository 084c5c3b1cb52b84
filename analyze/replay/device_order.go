package replay

import (
	"cmp"
	"slices"

	"slackline/model/schedule"
	"slackline/model/unit"
)

// A rank sends one message after the other (the gap g), in a static model in the order of its operations. Here these come from several
// chains, so that those that send are put into the order of the run. For all members of a collective that is the moment at which the last
// one began: then no two ranks have two collectives in different orders and wait for each other.

// sending is an operation that sends, or a collective.
type sending struct {
	op   uint32
	at   unit.Duration
	call int64 // of kernels at the same time, the collective with the lower number goes first; -1: none
}

// workPart is an operation of a kernel.
type workPart struct {
	schedule.Op
	at unit.Duration // when the last member of the collective began
}

// called notes what the first thread sends in a call.
func (d *deviceWalk) called(call int32) {
	w, b := d.w, &d.w.block
	collectives := slices.DeleteFunc(slices.Clone(w.records.of(call, w.calls.Skip[call])), func(r record) bool {
		return r.kind != issueCall && r.kind != blockingCall
	})
	for ; d.noted < len(b.out.ops)-b.start; d.noted++ {
		s := sending{uint32(d.noted), w.calls.Enter[call], -1}
		switch b.out.ops[b.start+d.noted].Kind {
		case schedule.Collective:
			if len(collectives) > 0 {
				s.at = d.run.begun[w.partFirst[w.location]+int(collectives[0].at)]
				collectives = collectives[1:]
			}
		case schedule.Send:
		default:
			continue
		}
		d.sends = append(d.sends, s)
	}
}

// keepOrder lets what the first thread sends keep its order: nothing comes after what follows it.
func (d *deviceWalk) keepOrder() {
	for i := len(d.sends) - 2; i >= 0; i-- {
		d.sends[i].at = min(d.sends[i].at, d.sends[i+1].at)
	}
}

// sortSends puts what the rank sends into order. Only these operations change places.
func (d *deviceWalk) sortSends() {
	inOrder := slices.Clone(d.sends)
	slices.SortStableFunc(inOrder, func(x, y sending) int {
		return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.call, y.call))
	})
	b := &d.w.block
	ops := b.out.ops[b.start:]
	old := slices.Clone(ops)
	place := make([]uint32, len(ops))
	for i := range place {
		place[i] = uint32(i)
	}
	for i := range inOrder {
		from, to := inOrder[i].op, d.sends[i].op
		ops[to], place[from] = old[from], to
	}
	for i := range b.edges {
		e := &b.edges[i]
		*e = edge{place[e.on], schedule.NewDependent(int(place[e.dep.Index()]), e.dep.OnStart())}
	}
}
