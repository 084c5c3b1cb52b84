package noise

import "sort"

// segment is an interval of trace time whose noise counts for one source. Segments ascend, do not
// overlap and lie within the period.
type segment struct {
	start, end int64
	label      int32
}

// sources defines which noise counts for whom. It is made when it is first asked for.
type sources struct {
	segments  []segment
	blockLen  int
	blockSums []int64 // noise by label before each block of segments
	totals    []int64 // noise by label of a period
}

// bySource adds to sums the noise of each source in [from, to) of trace time, from <= to, which may
// span several periods. sums has an entry for each label. It may be called from several threads.
//
// Noise under several detours counts for the one that began last: of an interrupt that came while
// another program ran, the time of the interrupt counts for the interrupt. So the sum over all
// sources is exactly the time without CPU.
func (t *Detours) bySource(from, to int64, sums []int64) {
	if from >= to || t.Empty() {
		return
	}
	t.sourcesOnce.Do(t.makeSources)
	s := &t.sources
	if periods := to/t.period - from/t.period; periods > 0 {
		for l, n := range s.totals {
			sums[l] += periods * n
		}
	}
	s.addUntil(to%t.period, 1, sums)
	s.addUntil(from%t.period, -1, sums)
}

// addUntil adds sign times the noise of [0, at) to sums.
func (s *sources) addUntil(at, sign int64, sums []int64) {
	n := sort.Search(len(s.segments), func(i int) bool { return s.segments[i].end > at })
	block := n / s.blockLen
	labels := len(s.totals)
	for l, sum := range s.blockSums[block*labels : (block+1)*labels] {
		sums[l] += sign * sum
	}
	for _, g := range s.segments[block*s.blockLen : n] {
		sums[g.label] += sign * (g.end - g.start)
	}
	if n < len(s.segments) && s.segments[n].start < at {
		sums[s.segments[n].label] += sign * (at - s.segments[n].start)
	}
}

// makeSources goes through the detours by start and keeps those that are under way on a stack: the
// top one began last.
func (t *Detours) makeSources() {
	type active struct {
		end   int64
		label int32
	}
	s := &t.sources
	var stack []active
	at := -t.period
	advance := func(to int64) {
		for at < to && len(stack) > 0 {
			top := stack[len(stack)-1]
			if top.end <= at {
				stack = stack[:len(stack)-1]
				continue
			}
			end := min(top.end, to)
			if end > 0 {
				s.segments = append(s.segments, segment{max(at, 0), end, top.label})
			}
			at = end
		}
		at = to
	}
	// Those of the period before, as far as they reach into this one, then those of this period.
	for _, shift := range []int64{t.period, 0} {
		for i := range t.list {
			d, label := t.At(i)
			if shift > 0 && d.Length <= t.period-d.Start {
				continue
			}
			start := d.Start - shift
			advance(start)
			end := t.period
			if d.Length < t.period-start {
				end = start + d.Length
			}
			stack = append(stack, active{end, int32(label)})
		}
	}
	advance(t.period)
	s.makeBlocks(len(t.labels))
}

// makeBlocks sums up the segments. A block has at least as many segments as there are labels, so
// that the sums take no more room than the segments.
func (s *sources) makeBlocks(labels int) {
	s.blockLen = max(64, labels)
	s.totals = make([]int64, labels)
	for i, g := range s.segments {
		if i%s.blockLen == 0 {
			s.blockSums = append(s.blockSums, s.totals...)
		}
		s.totals[g.label] += g.end - g.start
	}
	if len(s.segments)%s.blockLen == 0 {
		s.blockSums = append(s.blockSums, s.totals...)
	}
}
