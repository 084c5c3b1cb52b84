package advise

import (
	"cmp"
	"math"
	"slices"

	"slackline/analyze/whatif"
	"slackline/internal/stat"
	"slackline/model/unit"
)

// maxRefined is how many changes of a kind get variants.
const maxRefined = 3

// refine tries other values of the changes that pay: the other strategies of a balance, the smallest speedup that still pays, the smallest
// eager limit that is enough.
func (s *search) refine() {
	refined := map[string]int{}
	for _, list := range [][]Advice{s.r.Advice, s.r.Upgrades} {
		for _, i := range stat.Order(len(list), func(a, b int) int { return cmp.Compare(list[b].Gain, list[a].Gain) }) {
			a := &list[i]
			if a.Gain < s.r.Noise.Share || refined[a.Kind] == maxRefined {
				continue
			}
			var values []string
			switch a.Kind {
			case "balance":
				values = s.otherStrategies()
			case "faster":
				values = []string{"1%", "2%", "5%"}
			case "eager_limit":
				values = s.smallerLimits(a.Value)
			default:
				continue
			}
			refined[a.Kind]++
			var tries []candidate
			for _, v := range values {
				tries = append(tries, candidate{Change{a.Kind, v, a.Target}, unit.Duration(a.Bound * float64(s.runTime))})
			}
			for _, o := range s.tryEach(tries, math.MaxInt64) {
				if o.ok {
					a.Variants = append(a.Variants, Variant{o.change.Value, unit.Nanoseconds(o.time), s.gain(o.time)})
				}
			}
			a.settle(s.r.Noise.Share)
		}
	}
}

// settle draws the conclusion from the variants.
func (a *Advice) settle(noise float64) {
	switch a.Kind {
	case "faster":
		a.PaysFrom = a.Value
		for _, v := range a.Variants { // in rising order
			if v.Gain >= noise {
				a.PaysFrom = v.Value
				break
			}
		}
	case "eager_limit":
		for _, v := range a.Variants { // in rising order
			if v.Gain >= 0.95*a.Gain {
				a.Value, a.Gain, a.RunTime = v.Value, v.Gain, v.RunTime
				a.Text = a.Change.String()
				break
			}
		}
	}
}

// otherStrategies are those that the run allows, but the first.
func (s *study) otherStrategies() []string {
	var list []string
	for _, name := range whatif.Strategies()[1:] {
		if how, err := whatif.ParseStrategy(name); err == nil && (!how.NeedsGrid() || len(s.base.Grid) > 0) {
			list = append(list, name)
		}
	}
	return list
}

// smallerLimits are powers of two above the present limit and below the one that is enough for all.
func (s *study) smallerLimits(enough string) []string {
	most, err := unit.ParseSize(enough)
	if err != nil {
		return nil
	}
	var list []string
	for size := most / 2; size > unit.Size(s.eagerLimit) && len(list) < 6; size /= 2 {
		list = append(list, size.String())
	}
	slices.Reverse(list)
	return list
}
