package measure

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"slackline/internal/stat"
	"slackline/model/dataset"
)

// Reduction makes one time of those of all processes.
type Reduction string

// The five reductions.
const (
	ByRoot Reduction = "root" // of a designated process, rank 0
	ByMax  Reduction = "max"  // of the slowest process
	BySpan Reduction = "span" // from the first start to the last end; needs a common clock
	ByMean Reduction = "mean"
	ByMin  Reduction = "min"
)

// Reductions are all reductions.
var Reductions = []Reduction{ByMax, ByRoot, BySpan, ByMean, ByMin}

// time reduces the times of all processes; they are those of so many executions.
func (r *Repetition) time(how Reduction, executions int) float64 {
	took := make([]float64, len(r.Start))
	for i := range took {
		took[i] = float64(r.End[i] - r.Start[i])
	}
	var t float64
	switch how {
	case ByRoot:
		t = took[0]
	case BySpan:
		t = float64(slices.Max(r.End) - slices.Min(r.Start))
	case ByMean:
		t = stat.Mean(took)
	case ByMin:
		t = slices.Min(took)
	default:
		t = slices.Max(took)
	}
	return t / float64(executions)
}

// executions is how many executions are timed together.
func (o *CollectiveOptions) executions() int {
	if o.Scheme.Single() {
		return 1
	}
	return o.Loop
}

// Own is the reduction that a scheme uses.
func (s Scheme) Own() Reduction {
	if s == MPPTest || s == MPBench {
		return ByRoot
	}
	return ByMax
}

// Summary describes the times of a point by one reduction, ns.
type Summary struct {
	Reduction     Reduction `json:"-"`
	Count         int       `json:"-"`
	Median        float64   `json:"median_ns"`
	Low           *float64  `json:"low_ns"` // the median lies between Low and High with 95 %; nil: there are too few
	High          *float64  `json:"high_ns"`
	Min           float64   `json:"min_ns"`
	Q1            float64   `json:"q1_ns"`
	Q3            float64   `json:"q3_ns"`
	LaunchMedians []float64 `json:"launch_medians_ns"` // of the launches that count, in their order
}

// Refused reports whether too few launches gave enough valid repetitions.
func (p *CollectivePoint) Refused() bool {
	good := countOf(p.Runs, func(r *CollectiveRun) bool { return !r.Refused })
	return good == 0 || 2*good < len(p.Runs)
}

// Counts are how many repetitions are valid, of how many.
func (p *CollectivePoint) Counts() (valid, tried int) {
	for i := range p.Runs {
		valid += p.Runs[i].ValidCount()
		tried += len(p.Runs[i].Repetitions)
	}
	return valid, tried
}

// times are the times of the valid repetitions of each launch that counts.
func (c *Collectives) times(p *CollectivePoint, how Reduction) [][]float64 {
	var list [][]float64
	for i := range p.Runs {
		if p.Runs[i].Refused {
			continue
		}
		var times []float64
		for k := range p.Runs[i].Repetitions {
			if r := &p.Runs[i].Repetitions[k]; r.valid() {
				times = append(times, r.time(how, c.Options.executions()))
			}
		}
		list = append(list, times)
	}
	return list
}

// Summarize describes a point; it is not ok if the point is refused.
func (c *Collectives) Summarize(p *CollectivePoint, how Reduction) (s Summary, ok bool) {
	s.Reduction = how
	if p.Refused() {
		return s, false
	}
	var all []float64
	for _, times := range c.times(p, how) {
		s.LaunchMedians = append(s.LaunchMedians, stat.Quantile(stat.Sorted(times), 0.5))
		all = append(all, times...)
	}
	slices.Sort(all)
	s.Count, s.Median, s.Min, s.Q1, s.Q3 = len(all), stat.Quantile(all, 0.5), all[0], stat.Quantile(all, 0.25), stat.Quantile(all, 0.75)
	if low, high, sure := stat.MedianInterval(len(all)); sure {
		s.Low, s.High = &all[low], &all[high]
	}
	return s, true
}

// Overlap is the median over the launches of how much of a non-blocking operation computation hides, in %.
func (p *CollectivePoint) Overlap() (float64, bool) {
	var list []float64
	for i := range p.Runs {
		if v := p.Runs[i].Overlap; v != nil && !p.Runs[i].Refused {
			list = append(list, *v)
		}
	}
	return stat.Quantile(stat.Sorted(list), 0.5), len(list) > 0
}

// Verdict is an error if nothing can be trusted, with the reasons.
func (c *Collectives) Verdict() error {
	reasons := []struct {
		flag, count int
		text        string
	}{{StartLate, 0, "a rank missed the start"}, {Jitter, 0, "a rank began late"}, {TooLong, 0, "the window was too short"}}
	for _, p := range c.Points {
		if !p.Refused() {
			return nil
		}
		for i := range p.Runs {
			for k := range p.Runs[i].Repetitions {
				all := 0
				for _, f := range p.Runs[i].Repetitions[k].Flags {
					all |= f
				}
				for j := range reasons {
					if all&reasons[j].flag != 0 {
						reasons[j].count++
					}
				}
			}
		}
	}
	var parts []string
	for _, r := range reasons {
		if r.count > 0 {
			parts = append(parts, fmt.Sprintf("in %d %s", r.count, r.text))
		}
	}
	if len(parts) == 0 {
		parts = []string{"the time was over"}
	}
	return errors.Join(ErrTooFewValid, fmt.Errorf("%s; measure a quiet machine with no more ranks than CPUs, or allow more "+
		"(--tolerance, --budget)", strings.Join(parts, ", ")))
}

// Dataset has the valid times by a reduction, ns, over p and size; size is left out if there is only one. What
// moves no data is listed at every size. Overlaps are a metric of their own.
func (c *Collectives) Dataset(how Reduction) *dataset.Dataset {
	names := []string{"p"}
	if len(c.Options.Sizes) > 1 {
		names = append(names, "size")
	}
	d := dataset.New(names...)
	for _, p := range c.Points {
		if p.Refused() {
			continue
		}
		sizes := []int{p.Size}
		if !p.Operation.Sized {
			sizes = c.Options.Sizes
		}
		for _, size := range sizes {
			at := []float64{float64(p.Ranks), float64(size)}[:len(names)]
			d.Get(p.Operation.Name, "time").Unit = "ns"
			for _, times := range c.times(p, how) {
				d.Get(p.Operation.Name, "time").Add(at, times...)
			}
			if overlap, ok := p.Overlap(); ok {
				d.Get(p.Operation.Name, "overlap").Unit = "%"
				d.Get(p.Operation.Name, "overlap").Add(at, overlap)
			}
		}
	}
	return d
}
