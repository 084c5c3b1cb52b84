package simulate

// generalShard runs the general core on the hosts of one thread of the window engine.
type generalShard struct {
	*general
	calendar *calendar
	first    []int32 // lists the ranks of the hosts; see ranksByHost
	ranksOf  []int32

	thread int
	deal   *deal // which thread has which hosts
	shards []*generalShard
	inbox  []int32    // by host: messages that have not been inserted yet
	mail   mail[node] // to other threads
	visits int64
}

// newGeneralShards cuts the hosts into partitions, one for each thread.
func newGeneralShards(s *generalState, threads int, link *link) []*generalShard {
	first, ranksOf := ranksByHost(s.problem)
	inbox := make([]int32, s.hosts)
	shares := dealHosts(s.hosts, threads)
	shards := make([]*generalShard, shares.threads)
	for t := range shards {
		shard := &generalShard{
			general:  newGeneral(s),
			calendar: newCalendar(s.hosts, s.window),
			first:    first,
			ranksOf:  ranksOf,
			thread:   t,
			deal:     &shares,
			shards:   shards,
			inbox:    inbox,
		}
		shard.mail.open(shares.threads)
		shard.general.deliver = shard.deliver
		shard.general.eager = true
		shard.ports.open(link)
		shards[t] = shard
	}
	return shards
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
	s.deal.each(s.thread, func(h int32) {
		if s.shared {
			for _, r := range s.ranksOf[s.first[h]:s.first[h+1]] {
				s.start(r)
			}
		} else {
			s.start(h)
		}
		s.calendar.wakeNow(h)
	})
}

func (s *generalShard) runWindow() {
	end := s.calendar.end()
	s.calendar.now.drain(func(h int32) {
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
	t := s.deal.owner(host)
	if t == s.thread {
		n.next = s.inbox[host]
		s.inbox[host] = i
		s.calendar.wake(host, n.time)
		return
	}
	if s.mail.direct {
		s.shards[t].take(n)
	} else {
		s.mail.add(t, n, n.time)
	}
	s.freeNode(i)
}

// take takes a message that another thread has sent to a host of this one.
func (s *generalShard) take(n *node) {
	if n.time != never {
		i := s.newNode()
		s.nodes[i] = *n
		s.enter(i)
	}
}

func (s *generalShard) beginRound(round int) {
	s.mail.begin(round)
	s.departed = never
	s.ports.reset()
}

func (s *generalShard) collect(from, round int) {
	list := s.shards[from].mail.to(s.thread, round)
	for i := range list {
		s.take(&list[i])
	}
}

func (s *generalShard) takeArrived() {
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

func (s *generalShard) post() (*sent, *ports) {
	s.mail.acts = min(s.mail.acts, s.departed)
	return &s.mail.sent, &s.ports
}

func (s *generalShard) setDirect(on bool)                  { s.mail.direct = on }
func (s *generalShard) merge(bool) bool                    { return false }
func (s *generalShard) cal() *calendar                     { return s.calendar }
func (s *generalShard) failed() bool                       { return s.overflow || s.large }
func (s *generalShard) progress() (messages, visits int64) { return s.stats.messages, s.visits }
