package advise

import (
	"math/bits"
	"slices"

	"slackline/internal/stat"
	"slackline/model/machine"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// Sizes of messages from which parameters are estimated.
const (
	smallMessage = 1024
	largeMessage = 16 << 10
)

// Estimate derives the parameters of the network from the messages of a recorded run: o from the usual time of calls that send small
// messages, L and G from messages whose receiver was waiting, S from sends that waited for their receiver. Of these, quick ones count (the
// lower quartile), as others waited for a CPU. Without messages, L comes from how long collectives take after the last rank has come;
// without these, all is 0.
func Estimate(tl *timeline.Timeline) *machine.Machine {
	var sends, small, eager, stalled []int64
	type sized struct{ time, size int64 }
	var large, waited []sized
	for i := range tl.Messages {
		m := &tl.Messages[i]
		from, to, poster := &tl.Locations[m.From].Calls, &tl.Locations[m.To].Calls, &tl.Locations[m.Poster()].Calls
		if m.Send < 0 || m.Recv < 0 || m.Post < 0 || m.From == m.To {
			continue
		}
		sent, left, posted := from.Enter[m.Send], from.Leave[m.Send], poster.Enter[m.Post]
		if m.Size <= smallMessage {
			sends = append(sends, int64(left-sent))
		}
		if posted <= sent {
			if took := int64(to.Leave[m.Recv] - sent); took < 0 { // the clocks differ by more than that
				continue
			} else if m.Size <= smallMessage {
				small = append(small, took)
			} else if m.Size >= largeMessage {
				large = append(large, sized{took, m.Size})
			}
		} else if r := tl.RegionOf(from.Path[m.Send]); r != nil && r.Name == "MPI_Send" && m.Size > 0 {
			if left < posted {
				eager = append(eager, m.Size)
				continue
			}
			stalled = append(stalled, m.Size)
			if m.Size >= largeMessage {
				waited = append(waited, sized{int64(left - posted), m.Size})
			}
		}
	}
	way := quartile(small)
	if len(small) == 0 {
		way = collectiveStep(tl)
	}
	overhead := way / 3
	if len(sends) > 0 {
		overhead = min(usual(sends), overhead)
	}
	p := machine.Params{
		Overhead: machine.One(whole(overhead)), Gap: whole(overhead), Latency: whole(max(way-2*overhead, 0)),
		PerByte: machine.One(unit.PerByte(0)), Eager: machine.NoLimit,
	}
	var perByte []int64 // in femtoseconds
	for _, l := range large {
		perByte = append(perByte, max(0, l.time-way)*1000/l.size)
	}
	for _, l := range waited {
		perByte = append(perByte, l.time*1000/l.size)
	}
	p.PerByte = machine.One(unit.PerByte(quartile(perByte) / 1000 * 1000))
	if len(stalled) > 0 {
		limit := slices.Min(stalled) - 1
		if len(eager) > 0 {
			limit = slices.Max(eager)
		}
		if limit < slices.Min(stalled) { // else S does not explain who waited
			p.Eager = limit
		}
	}
	return machine.FromParams("a machine estimated from the run", p)
}

// whole is a time in whole nanoseconds, so that flags can name it.
func whole(ps int64) unit.Duration {
	return unit.Duration(ps) / unit.Nanosecond * unit.Nanosecond
}

// usual is the mean without what took much longer than most: a rank without a CPU.
func usual(list []int64) int64 {
	slices.Sort(list)
	most := 10 * stat.QuantileInt(list, 1, 2)
	sum, n := int64(0), int64(0)
	for _, t := range list {
		if t <= most {
			sum += t
			n++
		}
	}
	return sum / max(n, 1)
}

func quartile(list []int64) int64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return stat.QuantileInt(list, 1, 4)
}

// collectiveStep is how long a message takes in collectives: from the last rank that comes to the last that leaves, for each of the
// steps of a tree.
func collectiveStep(tl *timeline.Timeline) int64 {
	var list []int64
	for i := range tl.Collectives {
		members := tl.MembersOf(&tl.Collectives[i])
		steps := int64(bits.Len(uint(len(members) - 1)))
		if steps == 0 {
			continue
		}
		var last, end unit.Duration
		for k := range members {
			m := &members[k]
			last = max(last, tl.Locations[m.Issuer()].Calls.Enter[m.Issue])
			end = max(end, tl.Locations[m.Location].Calls.Leave[m.Complete])
		}
		list = append(list, int64(end-last)/steps)
	}
	return quartile(list)
}
