package tracetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Random is a run of an MPI program that does all that traces can say, as far as the seed lets it: messages of all kinds, collectives,
// communicators with topologies and of two groups, windows, files, threads that come late and take requests of others, teams, time off
// and without a CPU, samples, counters, clocks that are apart, streams of accelerators, ranks that were killed and ranks that left
// nothing. Exotic: also with what OTF2 has no records for.
func Random(seed uint64, exotic bool) string {
	p := &player{rnd: rand.New(rand.NewPCG(seed, 11)), exotic: exotic}
	p.n = 3 + p.rnd.IntN(3)
	p.lost = p.rnd.IntN(3) // ranks after those that left something
	p.samples, p.devices = p.chance(3), p.chance(3)
	base := p.rnd.IntN(2) * 1_000_000
	for rank := range p.n {
		start := base + p.rnd.IntN(60)
		p.threads = append(p.threads, [2]*thread{{rank: rank, now: start, start: start}, {rank: rank}})
		p.threads[rank][0].line("%d main {", start)
		p.threads[rank][0].calls++
	}
	for range 25 {
		p.step()
	}
	return p.text()
}

type player struct {
	rnd                      *rand.Rand
	n, lost, requests        int
	exotic, samples, devices bool
	threads                  [][2]*thread
	activities               []string
}

// thread is a thread of a rank: what it did so far.
type thread struct {
	rank, now, start, calls, counted int
	text                             strings.Builder
}

func (t *thread) line(format string, args ...any) { fmt.Fprintf(&t.text, format+"\n", args...) }

func (p *player) chance(in int) bool { return p.rnd.IntN(in) == 0 }

// call makes a call; the records are those of its line.
func (p *player) call(t *thread, until int, name, records string) {
	t.now += p.rnd.IntN(4)
	from := t.now
	t.now = max(from, until) + 1 + p.rnd.IntN(30)
	stack := ""
	if p.samples {
		stack = " stack s0"
	}
	if t.line("  %d..%d %s%s%s", from, t.now, name, stack, records); p.samples && p.chance(2) {
		t.now++
		t.line("  @%d sample s%d", t.now, p.rnd.IntN(3))
	}
	t.calls++
}

// master is the first thread of a rank, other the second one, which comes late.
func (p *player) master(rank int) *thread { return p.threads[rank][0] }

func (p *player) other(rank int) *thread {
	t := p.threads[rank][1]
	if t.text.Len() == 0 {
		t.now = p.master(rank).now
		t.line("@%d thread-begin", t.now)
	}
	t.now = max(t.now, p.master(rank).now)
	return t
}

// together lets some ranks make a call in which they meet.
func (p *player) together(ranks []int, name string, records func(i int) string) {
	last := 0
	for _, rank := range ranks {
		last = max(last, p.master(rank).now)
	}
	for i, rank := range ranks {
		p.call(p.master(rank), last, name, records(i))
	}
}

func upTo(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

func (p *player) step() {
	a, b := p.rnd.IntN(p.n), p.rnd.IntN(p.n-1)
	if b >= a {
		b++
	}
	from, to := p.master(a), p.master(b)
	all, size := upTo(p.n), 8*p.rnd.IntN(5)
	p.requests++
	request := p.requests
	same := func(text string) func(int) string { return func(int) string { return text } }
	switch k := p.rnd.IntN(20); k {
	case 0, 1:
		p.call(from, 0, "solve", "")
		if p.devices && a == 0 {
			p.activities = append(p.activities, fmt.Sprintf("device activity 0 %d000 %d000 0 %d kernel", from.now, from.now+1, from.calls-1))
		}
	case 2:
		p.call(from, 0, "MPI_Send", fmt.Sprintf(": send to %d size %d", b, size))
		p.call(to, from.now-20, "MPI_Recv", fmt.Sprintf(": recv from %d size %d", a, size))
	case 3:
		p.call(to, 0, "MPI_Irecv", fmt.Sprintf(": post %d", request))
		p.call(from, 0, "MPI_Isend", fmt.Sprintf(": send to %d size %d tag 3 request %d", b, size, request))
		waiter := to
		if p.chance(2) {
			waiter = p.other(b)
		}
		p.call(waiter, from.now, "MPI_Wait", fmt.Sprintf(": recv from %d size %d tag 3 request %d", a, size, request))
		p.call(from, waiter.now-10, "MPI_Wait", fmt.Sprintf(": sent %d", request))
	case 4:
		p.call(from, 0, "MPI_Test", ": polls 7")
		from.now += 12
		from.line("  @%d no-cpu 10", from.now)
	case 5:
		p.together(all, "MPI_Allreduce", same(": begin; allreduce sent 8 received 8"))
	case 6:
		p.together(all, "MPI_Bcast", same(fmt.Sprintf(": begin; bcast root %d sent 8 received 8", a)))
	case 7:
		p.together([]int{0, p.n - 1}, "MPI_Ibarrier", same(fmt.Sprintf(": issue %d", request)))
		p.together([]int{0, p.n - 1}, "MPI_Wait", same(fmt.Sprintf(": barrier comm sub request %d", request)))
	case 8:
		p.together(all, "MPI_Win_fence", same(": win-fence w"))
		p.call(from, 0, "MPI_Put", fmt.Sprintf(": put w to %d size %d", b, size))
		p.together(all, "MPI_Win_fence", same(": win-fence w"))
	case 9:
		p.call(to, 0, "MPI_Win_post", fmt.Sprintf(": win-post w %d", a))
		p.call(from, to.now, "MPI_Win_start", fmt.Sprintf(": win-start w %d", b))
		p.call(from, 0, "MPI_Get", fmt.Sprintf(": get w from %d size %d", b, size))
		p.call(from, 0, "MPI_Win_complete", ": win-complete w")
		p.call(to, from.now, "MPI_Win_wait", ": win-wait w")
	case 10:
		p.call(from, 0, "MPI_Win_lock", fmt.Sprintf(": win-lock w %d exclusive", b))
		p.call(from, 0, "MPI_Accumulate", fmt.Sprintf(": atomic w at %d sent 8 received 4", b))
		if p.chance(2) {
			p.call(from, 0, "MPI_Win_flush", fmt.Sprintf(": win-flush w %d", b))
		}
		p.call(from, 0, "MPI_Win_unlock", fmt.Sprintf(": win-unlock w %d", b))
	case 11:
		p.together(all, "MPI_File_write_all", same(fmt.Sprintf(": file-begin f %d size 64; file-end f %d", request, request)))
	case 12:
		p.together(all, "MPI_Barrier", same(": begin; barrier comm bridge"))
	case 13:
		if p.exotic {
			p.together(all, "MPI_Neighbor_alltoall", same(": begin; neighbor_alltoall sent 8 received 8 comm ring"))
		}
	case 14:
		if p.exotic {
			counts := strings.TrimSuffix(strings.Repeat("8,", 2*p.n), ",")
			p.together(all, "MPI_Alltoallv", same(": begin; alltoallv sent 8 received 8 counts "+counts))
		}
	case 15:
		if p.exotic {
			channel := 1 + p.rnd.IntN(2)
			p.call(to, 0, "MPI_Start", fmt.Sprintf(": post %d", request))
			p.call(from, 0, "MPI_Pready", fmt.Sprintf(": send to %d size 8 tag 9 request %d channel %d", b, request, channel))
			p.call(to, from.now, "MPI_Wait", fmt.Sprintf(": recv from %d size 8 tag 9 request %d channel %d", a, request, channel))
			p.call(from, 0, "MPI_Wait", fmt.Sprintf(": sent %d", request))
		}
	case 16: // time off
		from.now++
		from.line("  @%d recording off", from.now)
		from.now += 20
		from.line("  @%d skipped 2 sends to %d tag 5\n  @%d recording on", from.now, b, from.now)
		to.now++
		to.line("  @%d recording off", to.now)
		to.now += 25
		to.line("  @%d skipped 2 receives from %d tag 5\n  @%d recording on", to.now, a, to.now)
	case 17:
		worker := p.other(a)
		start := worker.now
		from.line("  @%d fork 2\n  @%d team-begin", start, start)
		worker.line("@%d team-begin", start)
		from.now = start
		for _, t := range []*thread{from, worker} {
			p.call(t, start, "solve", "")
			p.call(t, start+60, `"!$omp implicit barrier"`, "")
		}
		from.now = max(from.now, worker.now)
		worker.now = from.now
		from.line("  @%d team-end\n  @%d join", from.now, from.now)
		worker.line("@%d team-end", worker.now)
	case 18:
		from.counted += p.rnd.IntN(1000)
		from.line("  @%d count instructions %d", from.now, from.counted)
	default:
		p.call(from, 0, "MPI_Probe", "")
	}
}

// text is the run.
func (p *player) text() string {
	var b strings.Builder
	ranks, last := p.n+p.lost, p.n-1
	fmt.Fprintf(&b, "slackline trace 1\nranks %d\ncomm MPI_COMM_WORLD 0-%d\ncomm sub 0 %d\n", ranks, last, last)
	fmt.Fprintf(&b, "comm ring 0-%d\ncomm bridge 0 remote 1-%d\n", last, last)
	if p.lost > 0 {
		fmt.Fprintf(&b, "comm whole 0-%d\n", ranks-1)
	}
	if p.exotic {
		for rank := range p.n {
			fmt.Fprintf(&b, "neighbors ring %d from %d to %d\n", rank, (rank+p.n-1)%p.n, (rank+1)%p.n)
		}
	}
	b.WriteString("comm children 0 ? ?\ncart MPI_COMM_WORLD")
	fmt.Fprintf(&b, " %dp\nwindow w comm MPI_COMM_WORLD\nfile f comm MPI_COMM_WORLD\nmetric instructions unit \"#\"\n", p.n)
	if p.samples {
		b.WriteString("stack s0 main\nstack s1 solve in s0\nstack s2 inner in s1\nsample-period 10\ncallpaths full\n")
	}
	end := 0
	for rank := range p.threads {
		end = max(end, p.master(rank).now)
	}
	killed := p.rnd.IntN(2 * p.n)
	apart := p.chance(3)
	for rank := range p.threads {
		for i := range p.threads[rank] {
			t := p.threads[rank][i]
			if t.text.Len() == 0 {
				continue
			}
			fmt.Fprintf(&b, "\nrank %d thread %d name t%d host h%d", rank, i, i, rank/2)
			if rank == killed {
				b.WriteString(" truncated")
			}
			b.WriteByte('\n')
			if apart && rank > 0 {
				fmt.Fprintf(&b, "offset %d %d\noffset %d %d\n", t.start, 3*rank, t.start+1_000_000, 4*rank)
			}
			b.WriteString(t.text.String())
			switch {
			case rank == killed && i == 0:
				b.WriteString("...\n")
			case i == 0:
				fmt.Fprintf(&b, "} %d\n", end+p.rnd.IntN(9))
			case p.chance(2):
				fmt.Fprintf(&b, "@%d thread-end\n", t.now)
			}
		}
	}
	if p.lost > 1 {
		fmt.Fprintf(&b, "\nrank %d missing\n", p.n)
	}
	if len(p.activities) > 0 {
		fmt.Fprintf(&b, "device host 0 %d000\ndevice stream 0 0 \"CUDA[0:7]\"\n", p.master(0).start)
		b.WriteString(strings.Join(p.activities, "\n") + "\n")
	}
	return b.String()
}
