package simulate

// generalShard runs the general core on the hosts of one thread of the window engine.
type generalShard struct {
	*general
	calendar *calendar
	lo, hi   int32
	first    []int32 // lists the ranks of the hosts lo..hi-1; see ranksByHost
	ranksOf  []int32

	thread int
	owner  func(host int32) int // thread of a host
	shards []*generalShard
	inbox  []int32     // by host: messages that have not been inserted yet
	out    [2][][]node // by round and thread: messages to other threads
	round  int
	acts   int64 // earliest message sent to another thread in this round
	visits int64
}

// newGeneralShards cuts the hosts into partitions, one for each thread.
func newGeneralShards(s *generalState, threads int, link *link) []*generalShard {
	first, ranksOf := ranksByHost(s.problem)
	inbox := make([]int32, s.hosts)
	bounds := splitHosts(s.hosts, threads)
	threads = len(bounds) - 1
	shards := make([]*generalShard, threads)
	owner := ownerOf(bounds)
	for t := range shards {
		shard := &generalShard{
			general:  newGeneral(s),
			lo:       bounds[t],
			hi:       bounds[t+1],
			calendar: newCalendar(bounds[t], bounds[t+1], s.window),
			first:    first,
			ranksOf:  ranksOf,
			thread:   t,
			owner:    owner,
			shards:   shards,
			inbox:    inbox,
		}
		shard.out[0], shard.out[1] = make([][]node, threads), make([][]node, threads)
		shard.general.deliver = shard.deliver
		shard.general.eager = true
		shard.ports.open(link)
		shards[t] = shard
	}
	return shards
}

// splitHosts returns the bounds of equal partitions of hosts, at most one per thread.
func splitHosts(hosts, threads int) []int32 {
	threads = max(min(threads, hosts), 1)
	bounds := make([]int32, threads+1)
	for t := range bounds {
		bounds[t] = int32(int64(hosts) * int64(t) / int64(threads))
	}
	return bounds
}

// ownerOf returns the function that finds the partition of a host.
func ownerOf(bounds []int32) func(host int32) int {
	hosts, threads := int64(bounds[len(bounds)-1]), int64(len(bounds)-1)
	return func(host int32) int {
		t := int64(host) * threads / max(hosts, 1)
		for host < bounds[t] {
			t--
		}
		for host >= bounds[t+1] {
			t++
		}
		return int(t)
	}
}

// ranksByHost lists the ranks of each host: ranks[first[h]:first[h+1]], ascending.
func ranksByHost(p *problem) (first, ranks []int32) {
	if !p.shared {
		return nil, nil
	}
	first, ranks = make([]int32, p.hosts+1), make([]int32, p.ranks)
	for r := range int32(p.ranks) {
		first[p.host(r)]++
	}
	sum := int32(0)
	for h := range first {
		sum += first[h]
		first[h] = sum
	}
	for r := int32(p.ranks) - 1; r >= 0; r-- {
		h := p.host(r)
		first[h]--
		ranks[first[h]] = r
	}
	return first, ranks
}

func (s *generalShard) begin() {
	for h := s.lo; h < s.hi; h++ {
		if s.shared {
			for _, r := range s.ranksOf[s.first[h]:s.first[h+1]] {
				s.start(r)
			}
		} else {
			s.start(h)
		}
		s.calendar.wakeNow(h)
	}
}

func (s *generalShard) runWindow() {
	end := s.calendar.end()
	s.calendar.now.drain(func(i int32) {
		h := s.lo + i
		s.visits++
		for m := s.inbox[h]; m != 0; {
			rest := s.nodes[m].next
			s.insert(h, m)
			m = rest
		}
		s.inbox[h] = 0
		if next := s.run(h, end); next != never {
			s.calendar.wake(h, next)
		}
	})
}

// deliver hands a message over: into the inbox of a host of this thread, or to the thread that
// owns the host.
func (s *generalShard) deliver(host, i int32) {
	n := &s.nodes[i]
	if host >= s.lo && host < s.hi {
		n.next = s.inbox[host]
		s.inbox[host] = i
		s.calendar.wake(host, n.time)
		return
	}
	t := s.owner(host)
	buffer := &s.out[s.round&1][t]
	*buffer = append(*buffer, *n)
	s.acts = min(s.acts, n.time)
	s.freeNode(i)
}

func (s *generalShard) setRound(round int) {
	s.round = round
	s.acts, s.departed = never, never
	for t := range s.out[round&1] {
		s.out[round&1][t] = s.out[round&1][t][:0]
	}
	s.ports.reset()
}

func (s *generalShard) collect(round int) {
	for _, from := range s.shards {
		for _, n := range from.out[round&1][s.thread] {
			if n.time != never {
				i := s.newNode()
				s.nodes[i] = n
				s.enter(i)
			}
		}
	}
	s.ports.take(func(p *envelope) { s.enter(s.arrive(p)) })
}

// enter puts a message that comes from elsewhere into the inbox of its host.
func (s *generalShard) enter(i int32) {
	n := &s.nodes[i]
	h := s.host(n.rank())
	n.next = s.inbox[h]
	s.inbox[h] = i
	if n.time < s.calendar.end() {
		s.calendar.wakeNow(h)
	} else {
		s.calendar.wake(h, n.time)
	}
}

func (s *generalShard) sent() int64                        { return min(s.acts, s.departed) }
func (s *generalShard) cal() *calendar                     { return s.calendar }
func (s *generalShard) post() *ports                       { return &s.ports }
func (s *generalShard) failed() bool                       { return s.overflow || s.large }
func (s *generalShard) progress() (messages, visits int64) { return s.stats.messages, s.visits }
