package scaling

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"slackline/internal/cluster"
	"slackline/internal/stat"
	"slackline/model/dataset"
)

// Resampling describes how models are bootstrapped: the measurements are resampled
// again and again, and each resample gets a model by the same search.
type Resampling struct {
	Resamples int
	Seed      uint64
	Threads   int
	Group     cluster.Group         // the processes that share the resamples; all have the same data
	Progress  func(done, total int) // called on process 0 with how many resamples have a model; may be nil
}

// Bootstrap is what resampling shows about a model.
type Bootstrap struct {
	Drawn     string // what was drawn: repetitions, excesses or residuals
	Resamples int
	Failed    int // resamples without a model

	Same  float64     // share of the resamples with the leads and the form of the model
	Leads []LeadShare // of all, the most frequent first

	LeadLow, LeadHigh []Term   // by parameter: 95 % of the resamples have a lead between these
	Coefficient       float64  // of the leading term
	Interval          Interval // of that coefficient, in resamples with the same lead

	fit      *Fit
	outcomes []outcome
}

// LeadShare is the share of resamples with a lead.
type LeadShare struct {
	Leads []Term  `json:"-"`
	Form  Form    `json:"form"`
	Share float64 `json:"share"`
}

// Interval is where 95 % of the resamples are. It has no values if there are
// too few.
type Interval struct {
	Low  float64 `json:"low" nan:"null"`
	High float64 `json:"high" nan:"null"`
}

// The quantiles of the intervals, and how many values they need at least.
const (
	bootstrapLow  = 0.025
	bootstrapHigh = 0.975
	fewResamples  = 20
)

// newInterval returns the interval of values, which it sorts.
func newInterval(values []float64) Interval {
	if len(values) < fewResamples {
		return Interval{math.NaN(), math.NaN()}
	}
	slices.Sort(values)
	return Interval{stat.Quantile(values, bootstrapLow), stat.Quantile(values, bootstrapHigh)}
}

// outcome is the model of a resample: the place of its hypothesis, and its
// coefficients in the order of the columns.
type outcome struct {
	choice      int32 // failedResample: none
	coefficient [maxColumns]float64
}

const failedResample = -1

// resamplesAtOnce is how many resamples a task has.
const resamplesAtOnce = 50

// Resample bootstraps the models of a dataset, spread over threads and processes.
// The results are in the order of the series, nil for those without a model
// or with doubt about it; on other processes than the first there are none. Each resample has random
// numbers of its own, which depend on the seed, the name of the series and the
// number of the resample alone.
func Resample(ctx context.Context, d *dataset.Dataset, o Options, r Resampling) ([]*Bootstrap, error) {
	m, err := newModeler(d.Parameters, o)
	if err != nil {
		return nil, err
	}
	group := r.Group
	if group == nil {
		group = cluster.Alone()
	}
	series := make([]resampledSeries, len(d.Series))
	blocks := (r.Resamples + resamplesAtOnce - 1) / resamplesAtOnce
	outcomes := make([][]outcome, len(d.Series))
	done := 0
	work := func(_ context.Context, i int) ([]byte, error) {
		s := &series[i/blocks]
		s.once.Do(func() { s.prepare(m, d.Series[i/blocks]) })
		if s.fit == nil {
			return nil, nil
		}
		first := i % blocks * resamplesAtOnce
		return s.block(m, r.Seed, first, min(first+resamplesAtOnce, r.Resamples)), nil
	}
	take := func(i int, result []byte) error {
		count := min(resamplesAtOnce, r.Resamples-i%blocks*resamplesAtOnce)
		done += count
		if r.Progress != nil {
			r.Progress(done, len(d.Series)*r.Resamples)
		}
		return takeOutcomes(&outcomes[i/blocks], i%blocks*resamplesAtOnce, r.Resamples, count, result)
	}
	if err := cluster.Tasks(ctx, group, len(d.Series)*blocks, r.Threads, work, take); err != nil {
		return nil, err
	}
	if group.Rank() != 0 {
		return nil, nil
	}
	list := make([]*Bootstrap, len(d.Series))
	for i := range list {
		s := &series[i]
		if s.once.Do(func() { s.prepare(m, d.Series[i]) }); s.fit == nil {
			continue
		}
		if b := s.sumUp(outcomes[i]); b.Failed < b.Resamples {
			list[i] = b
		}
	}
	return list, nil
}

// resampledSeries is a series with what its resamples have in common.
type resampledSeries struct {
	once  sync.Once
	fit   *Fit // nil: there is no model that could be believed
	draws *resampler
	name  uint64
	pool  sync.Pool // of *resampleSpace
}

// resampleSpace holds what one resample needs and the next can use again.
type resampleSpace struct {
	workspace
	sample sample
}

func (s *resampledSeries) prepare(m *Modeler, series *dataset.Series) {
	f, err := m.fit(series)
	if err != nil || f.Doubt != "" {
		return
	}
	if s.draws, err = newResampler(f); err != nil {
		return
	}
	if s.fit = f; f.design != nil {
		f.design = f.design.listed()
	}
	s.named(series)
	s.pool.New = func() any { return s.newSpace() }
}

// named gives the series the number that represents its name.
func (s *resampledSeries) named(series *dataset.Series) {
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%s\x00%s", series.CallPath, series.Metric)
	s.name = hash.Sum64()
}

func (s *resampledSeries) newSpace() *resampleSpace {
	w := &resampleSpace{}
	w.sample = sample{at: s.fit.sample.at, params: s.fit.sample.params}
	for _, reps := range s.fit.sample.reps {
		w.sample.reps = append(w.sample.reps, make([]float64, len(reps)))
	}
	return w
}

// block makes resamples from .. to-1 and encodes their models.
func (s *resampledSeries) block(m *Modeler, seed uint64, from, to int) []byte {
	w := s.pool.Get().(*resampleSpace)
	defer s.pool.Put(w)
	var data []byte
	for b := from; b < to; b++ {
		s.draws.draw(resampleRandom(seed, s.name, b), w.sample.reps)
		out := m.refit(s.fit, w)
		data = binary.LittleEndian.AppendUint32(data, uint32(out.choice))
		for _, c := range out.coefficient {
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(c))
		}
	}
	return data
}

// outcomeSize is the size of an outcome in bytes.
const outcomeSize = 4 + maxColumns*8

// takeOutcomes decodes the models of count resamples from first on, of total ones.
func takeOutcomes(all *[]outcome, first, total, count int, data []byte) error {
	if len(data) == 0 {
		return nil // there is no model
	}
	if len(data) != count*outcomeSize {
		return cluster.ErrGarbled
	}
	if *all == nil {
		*all = make([]outcome, total)
	}
	for b := range count {
		out, piece := &(*all)[first+b], data[b*outcomeSize:]
		out.choice = int32(binary.LittleEndian.Uint32(piece))
		for k := range out.coefficient {
			out.coefficient[k] = math.Float64frombits(binary.LittleEndian.Uint64(piece[4+8*k:]))
		}
	}
	return nil
}

// resampleRandom are the random numbers of a resample.
func resampleRandom(seed, name uint64, resample int) *rand.Rand {
	return rand.New(rand.NewPCG(scramble(seed), scramble(name+scramble(uint64(resample)))))
}

// scramble is the step of SplitMix64: neighboring numbers become unlike ones.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// sumUp makes the result of all resamples.
func (s *resampledSeries) sumUp(outcomes []outcome) *Bootstrap {
	f := s.fit
	b := &Bootstrap{Drawn: s.draws.kind.String(), Resamples: len(outcomes), fit: f, outcomes: outcomes}
	if s.draws.pool == nil {
		b.Drawn = "nothing"
	}
	counts := map[int32]int{} // by choice
	var coefficients []float64
	for _, out := range outcomes {
		if out.choice == failedResample {
			b.Failed++
			continue
		}
		counts[out.choice]++
	}
	models := map[int32]*hypothesisTerms{}
	for choice, n := range counts {
		h := f.hypothesis(choice)
		models[choice] = h
		b.count(h, n)
	}
	if b.Failed == b.Resamples {
		return b
	}
	b.share(len(outcomes) - b.Failed)
	own := f.leadTerm(f.Model.factors())
	b.Coefficient = f.Model.Terms[own].Coefficient
	for _, out := range outcomes {
		if h := models[out.choice]; h != nil && h.form == f.Form && slices.Equal(h.leads, f.Leads) {
			coefficients = append(coefficients, out.coefficient[f.leadTerm(h.factors)])
		}
	}
	b.Interval = newInterval(coefficients)
	b.leadInterval(models)
	return b
}

// count adds n resamples with a hypothesis to those with its lead.
func (b *Bootstrap) count(h *hypothesisTerms, n int) {
	for i := range b.Leads {
		if l := &b.Leads[i]; l.Form == h.form && slices.Equal(l.Leads, h.leads) {
			l.Share += float64(n)
			return
		}
	}
	b.Leads = append(b.Leads, LeadShare{h.leads, h.form, float64(n)})
}

// share turns numbers into shares.
func (b *Bootstrap) share(total int) {
	slices.SortFunc(b.Leads, func(x, y LeadShare) int {
		return cmp.Or(cmp.Compare(y.Share, x.Share), cmp.Compare(x.Form, y.Form), slices.CompareFunc(x.Leads, y.Leads, Term.cmp))
	})
	for i := range b.Leads {
		l := &b.Leads[i]
		if l.Share /= float64(total); l.Form == b.fit.Form && slices.Equal(l.Leads, b.fit.Leads) {
			b.Same = l.Share
		}
	}
}

// leadInterval finds the terms between which 95 % of the leads are, for each parameter.
func (b *Bootstrap) leadInterval(models map[int32]*hypothesisTerms) {
	for p := range b.fit.Parameters {
		var terms []Term
		for _, out := range b.outcomes {
			if h := models[out.choice]; h != nil {
				terms = append(terms, h.leads[p])
			}
		}
		slices.SortFunc(terms, Term.cmp)
		last := float64(len(terms) - 1)
		b.LeadLow = append(b.LeadLow, terms[int(math.Floor(bootstrapLow*last))])
		b.LeadHigh = append(b.LeadHigh, terms[int(math.Ceil(bootstrapHigh*last))])
	}
}

// Predict returns where the models of 95 % of the resamples are at a place. It may
// be infinite far away.
func (b *Bootstrap) Predict(at ...float64) Interval {
	bases := map[int32][maxColumns]float64{} // what the coefficients are multiplied with
	var values []float64
	for _, out := range b.outcomes {
		if out.choice == failedResample {
			continue
		}
		base, known := bases[out.choice]
		if !known {
			for k, factors := range b.fit.hypothesis(out.choice).factors {
				base[k] = (&ModelTerm{1, factors}).eval(at)
			}
			bases[out.choice] = base
		}
		sum := 0.0
		for k, c := range out.coefficient {
			if c != 0 {
				sum += c * base[k]
			}
		}
		values = append(values, sum)
	}
	return newInterval(values)
}
