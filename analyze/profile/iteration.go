package profile

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"slackline/internal/parallel"
	"slackline/model/unit"
)

// Iterations is how a program that repeats itself develops: one iteration begins with each call of a certain
// call path on every rank, and lasts until the next one begins there.
type Iterations struct {
	Path     int32       `json:"-"` // whose calls they are
	CallPath string      `json:"callpath"`
	Covers   bool        `json:"calls_are_iterations" about:"else the last iteration has no known end and is left out"`
	List     []Iteration `json:"list"`
	spans    [][]span    // by rank and iteration
	waiting  []unit.Sum  // by iteration, see addWait

	begin, end int // the ranks that are here
}

// Iteration is one of them.
type Iteration struct {
	Begin          unit.Duration `json:"begin_s" about:"on the first rank"`
	Duration       unit.Duration `json:"duration_s" about:"from its beginning to that of the next one on the same rank; mean over ranks"`
	Computation    unit.Duration `json:"computation_s" about:"mean over ranks"`
	MaxComputation unit.Duration `json:"max_computation_s" about:"maximum of the ranks"`
	MPI            unit.Duration `json:"mpi_s" about:"mean over ranks, waiting included"`
	Waiting        unit.Duration `json:"waiting_s" about:"mean over ranks; a wait counts where it begins"`
}

// span is a part of a rank's time.
type span struct{ from, to unit.Duration }

// minIterations is how often something must happen to be called an iteration.
const minIterations = 4

// Iterations finds the iterations of a program: the calls that all ranks make equally often and that divide
// the most of the run most evenly. It returns nil if there are none.
func (p *Profile) Iterations() *Iterations {
	return p.iterations(func(func(rank int, at, amount unit.Duration)) {})
}

// iterations are Iterations with waiting times, which waits adds.
func (p *Profile) iterations(waits func(add func(rank int, at, amount unit.Duration))) *Iterations {
	path := p.rhythm()
	if path == 0 {
		return nil
	}
	it := p.newIterations(path)
	it.cut(covers(it.sums()), it.fewest())
	if len(it.List) == 0 { // other threads make the calls
		return nil
	}
	waits(it.addWait)
	it.finish(p.measure(it))
	return it
}

// newIterations finds the calls of a path on the ranks that are here.
func (p *Profile) newIterations(path int32) *Iterations {
	ranks := locationsByRank(p.Timeline)
	it := &Iterations{Path: path, CallPath: p.Paths.Names[path], spans: make([][]span, p.Timeline.Ranks)}
	it.begin, it.end = ownRanks(p.Timeline)
	p.each(it.end-it.begin, func(r int) {
		r += it.begin
		if len(ranks[r]) > 0 {
			it.spans[r] = p.callsOf(ranks[r][0], path)
		}
	})
	return it
}

// fewest is the smallest number of calls of a rank that is here; -1 if there is none.
func (it *Iterations) fewest() int {
	n := -1
	for _, list := range it.spans[it.begin:it.end] {
		if n < 0 || len(list) < n {
			n = len(list)
		}
	}
	return n
}

// cut decides whether the calls are the iterations, so that the last one has an end, and keeps as many as all ranks have.
func (it *Iterations) cut(covers bool, fewest int) {
	it.Covers = covers
	for _, list := range it.spans[it.begin:it.end] {
		for i := range max(len(list)-1, 0) {
			list[i].to = list[i+1].from
		}
	}
	if !covers {
		fewest--
	}
	it.List = make([]Iteration, max(fewest, 0))
	it.waiting = make([]unit.Sum, len(it.List))
}

func (p *Profile) each(n int, work func(i int)) { parallel.Each(n, p.threads, work) }

// rhythm finds the call path whose calls are the iterations; 0 if there is none.
func (p *Profile) rhythm() int32 {
	type visits struct {
		fewest, most int64
		ranks        int
	}
	of := make([]visits, p.Paths.Len())
	for i := range p.Entries {
		e := &p.Entries[i]
		v := &of[e.Path]
		calls := e.Visits + e.Pieces
		if v.ranks == 0 || calls < v.fewest {
			v.fewest = calls
		}
		v.most = max(v.most, calls)
		v.ranks++
	}
	ranks := locationsByRank(p.Timeline)
	if len(ranks) == 0 || len(ranks[0]) == 0 || p.RunTime() <= 0 {
		return 0
	}
	enters := map[int32][]unit.Duration{}
	c := &p.Timeline.Locations[ranks[0][0]].Calls
	for i, id := range c.Path {
		path := p.Paths.Of[id]
		if v := &of[path]; v.ranks == p.Timeline.Ranks && v.fewest == v.most && v.fewest >= minIterations {
			enters[path] = append(enters[path], c.Enter[i])
		}
	}
	best, most := int32(0), 0.0
	for path, list := range enters {
		if len(list) < minIterations {
			continue
		}
		if score := p.evenness(list); score > most || score == most && path < best {
			best, most = path, score
		}
	}
	if most < 0.25 {
		return 0
	}
	for { // calls around them that are made equally often have the whole iteration in them
		v, caller := &of[best], p.Paths.Parent[best]
		if around := &of[caller]; caller == 0 || *around != *v {
			return best
		}
		best = caller
	}
}

// evenness rates how well moments divide the run: by how much of it lies between them and how even the
// distances are; 1 is best.
func (p *Profile) evenness(moments []unit.Duration) float64 {
	n := float64(len(moments) - 1)
	whole := float64(moments[len(moments)-1] - moments[0])
	mean := whole / n
	if mean == 0 {
		return 0
	}
	squares := 0.0
	for i := 1; i < len(moments); i++ {
		d := float64(moments[i]-moments[i-1]) - mean
		squares += d * d
	}
	recorded, _ := p.recorded()
	return whole / float64(recorded) / (1 + math.Sqrt(squares/n)/mean)
}

// callsOf lists the calls of a path on a location.
func (p *Profile) callsOf(location, path int32) []span {
	c := &p.Timeline.Locations[location].Calls
	var list []span
	for i, id := range c.Path {
		if p.Paths.Of[id] == path {
			list = append(list, span{c.Enter[i], c.Leave[i]})
		}
	}
	return list
}

// sums are the times inside of the calls, and from the first to the last one.
func (it *Iterations) sums() (inside, whole unit.Sum) {
	for _, list := range it.spans[it.begin:it.end] {
		for _, s := range list {
			inside.Add(s.to - s.from)
		}
		if n := len(list); n > 0 {
			whole.Add(list[n-1].to - list[0].from)
		}
	}
	return inside, whole
}

// covers reports whether the calls fill nine tenths of the time from the first to the last one.
func covers(inside, whole unit.Sum) bool { return inside.Float() >= 0.9*whole.Float() }

// iterationSum is an iteration, summed over ranks.
type iterationSum struct {
	Begin, Most                         unit.Duration
	Duration, Computation, MPI, Waiting unit.Sum
}

// noIteration is the sum over no ranks.
var noIteration = iterationSum{Begin: math.MaxInt64}

// add adds what other ranks did.
func (s *iterationSum) add(o iterationSum) {
	s.Begin = min(s.Begin, o.Begin)
	s.Duration.AddSum(o.Duration)
	s.Computation.AddSum(o.Computation)
	s.Most = max(s.Most, o.Most)
	s.MPI.AddSum(o.MPI)
	s.Waiting.AddSum(o.Waiting)
}

// measure sums the iterations up over the ranks that are here.
func (p *Profile) measure(it *Iterations) []iterationSum {
	ranks := locationsByRank(p.Timeline)
	sums := make([]*Sums, p.threads)
	measured := make([][]iterationSum, it.end-it.begin)
	parallel.EachWorker(len(measured), p.threads, func(worker, i int) {
		if sums[worker] == nil {
			sums[worker] = NewSums(p.Paths)
		}
		r := it.begin + i
		measured[i] = make([]iterationSum, len(it.List))
		for k := range it.List {
			measured[i][k] = p.measureOne(sums[worker], ranks[r][0], it.spans[r][k])
		}
	})
	total := make([]iterationSum, len(it.List))
	for k := range total {
		total[k] = noIteration
		total[k].Waiting = it.waiting[k]
		for i := range measured {
			total[k].add(measured[i][k])
		}
	}
	return total
}

// measureOne measures an iteration of one rank.
func (p *Profile) measureOne(s *Sums, location int32, of span) iterationSum {
	enter := p.Timeline.Locations[location].Calls.Enter
	before := int32(sort.Search(len(enter), func(i int) bool { return enter[i] >= of.to }))
	s.Clear()
	p.Windows.Add(s, location, of.from, of.to, before)
	sum := iterationSum{Begin: of.from, Duration: unit.SumOf(of.to - of.from)}
	for _, path := range s.Touched {
		switch kind := p.kindOf(path); {
		case kind == Computation:
			sum.Most += s.First(path)
		case kind >= PointToPoint && kind <= OtherMPI:
			sum.MPI.Add(s.First(path))
		}
	}
	sum.Computation.Add(sum.Most)
	return sum
}

// finish fills the numbers of the iterations from the sums over all ranks.
func (it *Iterations) finish(sums []iterationSum) {
	mean := func(s unit.Sum) unit.Duration { return s.Mean(len(it.spans)).Duration() }
	for k := range it.List {
		s := &sums[k]
		it.List[k] = Iteration{
			Begin: s.Begin, Duration: mean(s.Duration), Computation: mean(s.Computation), MaxComputation: s.Most,
			MPI: mean(s.MPI), Waiting: mean(s.Waiting),
		}
	}
}

// addWait adds a wait of a rank's master to the iteration in which it began.
func (it *Iterations) addWait(rank int, at, amount unit.Duration) {
	list := it.spans[rank]
	k, _ := slices.BinarySearchFunc(list, at, func(s span, at unit.Duration) int { return cmp.Compare(s.to, at+1) })
	if k < len(it.List) && at >= list[k].from {
		it.waiting[k].Add(amount)
	}
}
