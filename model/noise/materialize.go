package noise

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"slackline/internal/stat"
)

// How long a trace of random parts is. These numbers are ours: long enough that ranks at random
// offsets see different noise and that the rare long detours, which decide at scale, are there
// many times; short enough for the caches.
const (
	usualDetours = 100_000 // of a trace of the noise paper
	rareDetours  = 100     // wanted of the rarest part
	softDetours  = 1 << 18 // more are made only for fewest
	fewest       = 10      // of the rarest part; else the parts differ too much
	hardDetours  = 1 << 22
	longestTrace = 1e18    // picoseconds, 11 days: no run reaches its end
	exactDetours = 1 << 17 // a mixture of regular parts up to here is exact
)

// Detours returns the periodic trace of the profile.
//
// A single trace, and a single periodic part of fixed length without jitter, give exactly
// themselves. A mixture of such parts is exact if their common period has at most 131,072 detours.
// Everything else is made from the seed (PCG), in whole nanoseconds, for a period in which the
// rarest part appears at least 100 times and all together 100,000 times, as far as 262,144 detours
// allow; a part of which even 4,194,304 detours hold fewer than 10 is an error. A random part has
// as many detours in the period as it has on average, and one length from each of as many equally
// likely slices of its distribution, in random order: so even the few detours of a rare part have
// the rate and the lengths of the model. Overlapping detours merge. At the end of the period a
// regular part may break off early or come too soon, once.
func (p *Profile) Detours(seed uint64) (*Detours, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if len(p.Parts) == 0 {
		return NewDetours(1e12, nil)
	}
	period, err := p.period()
	if err != nil {
		return nil, err
	}
	m := material{period: period}
	for i := range p.Parts {
		m.add(&p.Parts[i], rand.New(rand.NewPCG(seed, mix(seed, uint64(i)))))
	}
	order := stat.Order(len(m.list), func(a, b int) int { return cmp.Compare(m.list[a].Start, m.list[b].Start) })
	list := make([]Detour, len(order))
	of := make([]int32, len(order))
	for i, o := range order {
		list[i], of[i] = m.list[o], m.of[o]
	}
	if len(m.labels) == 1 {
		of = nil
	}
	d, err := NewLabeled(period, list, of, m.labels)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.title(), err)
	}
	return d, nil
}

// period chooses the period of the trace.
func (p *Profile) period() (int64, error) {
	exact := true
	for i := range p.Parts {
		exact = exact && p.Parts[i].exact()
	}
	if exact {
		if period, ok := p.commonPeriod(); ok {
			return period, nil
		}
	}
	total, rarest := 0.0, math.Inf(1) // detours per picosecond
	rare := 0
	base, longest := int64(1000), 0.0
	for i := range p.Parts {
		part := &p.Parts[i]
		rate := part.rate()
		total += rate
		if rate > 0 && rate < rarest {
			rarest, rare = rate, i
		}
		if part.Kind != KindPoisson {
			base = max(base, part.ownPeriod())
		}
		if part.Kind != KindTrace {
			longest = max(longest, float64(part.Length.longest()), part.Length.Mean())
		}
	}
	if total == 0 {
		return base, nil // traces without detours
	}
	length := max(usualDetours/total, rareDetours/rarest)
	length = min(length, softDetours/total)
	length = max(length, min(fewest/rarest, hardDetours/total))
	length = min(length, longestTrace)
	// No detour may fill the period, and a regular part is not to be cut in its only period.
	length = max(length, 10*longest, float64(base))
	if length*rarest < fewest*0.99 {
		return 0, fmt.Errorf("noise: %s: part %d is so rare that a trace of %d detours in %.3g s holds fewer than %d of it; leave it out, "+
			"or what is frequent",
			p.title(), rare+1, int64(length*total), length*1e-12, fewest)
	}
	if length*total > 2*hardDetours || length > maxSpan/2 {
		return 0, fmt.Errorf("noise: %s: a trace of it would need %.3g detours in %.3g s, more than is possible",
			p.title(), length*total, length*1e-12)
	}
	times := int64(math.Ceil(length / float64(base)))
	return max(times, 1) * base, nil
}

// rate is the number of detours per picosecond.
func (p *Part) rate() float64 {
	if p.Kind == KindTrace {
		return float64(len(p.Trace.List)) / float64(p.Trace.Period)
	}
	return 1 / float64(p.Every)
}

// ownPeriod is the period of a trace or a regular part.
func (p *Part) ownPeriod() int64 {
	if p.Kind == KindTrace {
		return p.Trace.Period
	}
	return p.Every
}

// commonPeriod returns the least common multiple of the periods, if a trace of that length has few
// enough detours.
func (p *Profile) commonPeriod() (int64, bool) {
	common := uint64(1)
	for i := range p.Parts {
		own := uint64(p.Parts[i].ownPeriod())
		hi, lo := bits.Mul64(common, own/gcd(common, own))
		if hi != 0 || lo > maxSpan {
			return 0, false
		}
		common = lo
	}
	total := 0.0
	for i := range p.Parts {
		total += p.Parts[i].rate()
	}
	if len(p.Parts) > 1 && total*float64(common) > exactDetours {
		return 0, false
	}
	return int64(common), true
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// material collects the detours of the parts.
type material struct {
	period int64
	list   []Detour
	of     []int32
	labels []string
}

func (m *material) add(p *Part, random *rand.Rand) {
	label := int32(len(m.labels))
	if p.Kind == KindTrace {
		m.labels = append(m.labels, p.Trace.labels(p.label())...)
		for from := int64(0); from < m.period; from += p.Trace.Period {
			for i, d := range p.Trace.List {
				if d.Start += from; d.Start < m.period {
					of := label
					if p.Trace.Of != nil {
						of += p.Trace.Of[i]
					}
					m.list, m.of = append(m.list, d), append(m.of, of)
				}
			}
		}
		return
	}
	m.labels = append(m.labels, p.label())
	starts := p.starts(m.period, random)
	for _, start := range starts {
		m.list, m.of = append(m.list, Detour{Start: start}), append(m.of, label)
	}
	p.drawLengths(m.list[len(m.list)-len(starts):], random)
}

// starts returns the starts of the detours of a part in [0, period).
func (p *Part) starts(period int64, random *rand.Rand) []int64 {
	var list []int64
	if p.Kind == KindPoisson {
		n := max(int64(math.Round(float64(period)/float64(p.Every))), 1)
		for range n {
			list = append(list, random.Int64N((period-1)/1000+1)*1000)
		}
		return list
	}
	for at := p.Phase; at < period; at += p.Every {
		start := at
		if p.Jitter > 0 {
			start += wholeNS(random.Float64() * p.Jitter * float64(p.Every))
			if start >= period {
				start -= period
			}
		}
		list = append(list, start)
	}
	return list
}

// drawLengths gives each detour its length.
func (p *Part) drawLengths(list []Detour, random *rand.Rand) {
	n := float64(len(list))
	_, fixed := p.Length.(Fixed)
	for i := range list {
		slice := 0.0
		if !fixed {
			slice = random.Float64()
		}
		list[i].Length = p.Length.quantile((float64(i) + slice) / n)
	}
	if fixed {
		return
	}
	random.Shuffle(len(list), func(i, j int) {
		list[i].Length, list[j].Length = list[j].Length, list[i].Length
	})
}
