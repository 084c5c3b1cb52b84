package simulate

import (
	"slackline/internal/cluster"
	"slackline/model/machine"
)

// partition is what one process of several simulates: some of the hosts with their ranks. Inside
// of it an engine numbers its hosts and ranks from 0, in the order of the whole; only what is in
// messages, what the program is asked and what the user sees has the numbers of the whole. The zero
// value is everything.
type partition struct {
	firstHost int32
	firstRank int32   // unless scattered is there
	scattered []int32 // by rank of the partition: its number in the whole; nil: they follow firstRank
	localOf   []int32 // by rank of the whole: its number in the partition that has it; only with scattered
}

// global returns the number in the whole of a rank of the partition.
func (s *partition) global(rank int32) int32 {
	if s.scattered == nil {
		return rank + s.firstRank
	}
	return s.scattered[rank]
}

// local returns the number in the partition of a rank of the whole that belongs to it.
func (s *partition) local(rank int32) int32 {
	if s.scattered == nil {
		return rank - s.firstRank
	}
	return s.localOf[rank]
}

// part is the place of one process in a layout.
type part struct {
	partition
	hosts, ranks int
}

// partOf returns what process p of size simulates. Hosts are shared out evenly, so that a NIC that
// several ranks use stays on one process.
func partOf(layout *machine.Layout, p, size int) part {
	first, last := cluster.Share(layout.Hosts(), p, size)
	if !layout.Machine.SharedNIC {
		return part{partition{firstHost: int32(first), firstRank: int32(first)}, last - first, last - first}
	}
	t := part{partition: partition{firstHost: int32(first)}, hosts: last - first}
	var list []int32
	for rank := range layout.Ranks {
		if h := layout.Host(rank); h >= first && h < last {
			list = append(list, int32(rank))
		}
	}
	t.ranks = len(list)
	if t.ranks == 0 {
		return t
	}
	if int(list[t.ranks-1]-list[0]) == t.ranks-1 {
		t.firstRank = list[0]
		return t
	}
	t.scattered = list
	t.localOf = make([]int32, layout.Ranks)
	for i, rank := range list {
		t.localOf[rank] = int32(i)
	}
	return t
}

// RanksOf returns which ranks process p of size simulates on a machine: has(rank) reports it for any
// rank. The processes need the operations of no others.
func RanksOf(m *machine.Machine, ranks, p, size int) (has func(rank int) bool, err error) {
	layout, err := m.Layout(ranks)
	if err != nil {
		return nil, err
	}
	first, last := cluster.Share(layout.Hosts(), p, size)
	return func(rank int) bool {
		h := layout.Host(rank)
		return h >= first && h < last
	}, nil
}

// deal says which thread has which hosts. Every thread gets several ranges of neighbors, dealt
// round the threads: neighbors mostly talk to each other without leaving their thread, and when only
// a part of the hosts has something to do, as in a wavefront or after a detour, all threads have
// their share of it. No two threads have hosts of the same granule, whose data share cache lines.
type deal struct {
	threads int
	shift   uint8    // a granule is 1<<shift hosts
	owners  []uint16 // by granule
	hosts   int32
}

const (
	// rangesPerThread holds if there are enough hosts.
	rangesPerThread = 8
	// granules of a range, if there are enough hosts: so much may ranges differ in size.
	granules   = 4
	maxThreads = 1 << 16
)

// dealHosts deals hosts to threads, at most one for each host.
func dealHosts(hosts, threads int) deal {
	threads = max(min(threads, hosts, maxThreads), 1)
	d := deal{threads: threads, hosts: int32(hosts)}
	for hosts>>(d.shift+1) >= threads*rangesPerThread*granules {
		d.shift++
	}
	n := (hosts + 1<<d.shift - 1) >> d.shift
	d.owners = make([]uint16, n)
	count := max(min(n, threads*rangesPerThread), 1)
	for s := range count {
		for g := n * s / count; g < n*(s+1)/count; g++ {
			d.owners[g] = uint16(s % threads)
		}
	}
	return d
}

// owner returns the thread of a host.
func (d *deal) owner(host int32) int { return int(d.owners[uint32(host)>>d.shift]) }

// each calls f for the hosts of a thread, in ascending order.
func (d *deal) each(thread int, f func(host int32)) {
	for g, owner := range d.owners {
		if int(owner) == thread {
			for h := int32(g) << d.shift; h < min(int32(g+1)<<d.shift, d.hosts); h++ {
				f(h)
			}
		}
	}
}
