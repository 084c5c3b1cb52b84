package simulate

// deal says which thread has which hosts. Every thread gets several stretches of neighbors, dealt
// round the threads: neighbors mostly talk to each other without leaving their thread, and when only
// a part of the hosts has something to do, as in a wavefront or behind a detour, all threads have
// their share of it. No two threads have hosts of the same granule, whose data share cache lines.
type deal struct {
	threads int
	shift   uint8    // a granule is 1<<shift hosts
	owners  []uint16 // by granule
	hosts   int32
}

const (
	// stretches of a thread, if there are enough hosts.
	stretches = 8
	// granules of a stretch, if there are enough hosts: so much may stretches differ in size.
	granules   = 4
	maxThreads = 1 << 16
)

// dealHosts deals hosts to threads, at most one for each host.
func dealHosts(hosts, threads int) deal {
	threads = max(min(threads, hosts, maxThreads), 1)
	d := deal{threads: threads, hosts: int32(hosts)}
	for hosts>>(d.shift+1) >= threads*stretches*granules {
		d.shift++
	}
	n := (hosts + 1<<d.shift - 1) >> d.shift
	d.owners = make([]uint16, n)
	count := max(min(n, threads*stretches), 1)
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
