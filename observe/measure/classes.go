package measure

import (
	"cmp"
	"math"
	"slices"
)

// Class is a set of pairs of ranks that are equally far from each other.
type Class struct {
	Name  string // node, switch, far: as machine files have them
	Pairs [][2]int
	Half  float64 // median of half a round trip of a byte, ns
	Usual [2]int  // the pair whose half round trip is nearest to it
}

// farther is how much longer a message takes to another switch, at least.
const farther = 1.3

// Classify measures half a round trip between rank 0 and every other one, and sorts the pairs: those on one
// host, and those on different ones, near and far if they fall into two clear groups.
func Classify(j *Job, repeat int) ([]Class, error) {
	var same, other []pairTime
	for rank := 1; rank < len(j.Hosts); rank++ {
		times, err := j.Link(0, rank).Burst(1, 0, 1, repeat)
		if err != nil {
			return nil, err
		}
		p := pairTime{[2]int{0, rank}, median(times) / 2}
		if j.Hosts[rank] == j.Hosts[0] {
			same = append(same, p)
		} else {
			other = append(other, p)
		}
	}
	return classesOf(same, other), nil
}

type pairTime struct {
	pair [2]int
	half float64
}

// classesOf divides the pairs of different hosts where their times have the largest gap, if it is clear.
func classesOf(same, other []pairTime) []Class {
	var list []Class
	add := func(name string, pairs []pairTime) {
		if len(pairs) == 0 {
			return
		}
		c := Class{Name: name}
		times := make([]float64, len(pairs))
		for i, p := range pairs {
			c.Pairs = append(c.Pairs, p.pair)
			times[i] = p.half
		}
		slices.SortFunc(c.Pairs, func(a, b [2]int) int { return cmp.Compare(a[1], b[1]) })
		c.Half = median(times)
		nearest := math.Inf(1)
		for _, p := range pairs {
			if d := math.Abs(p.half - c.Half); d < nearest {
				c.Usual, nearest = p.pair, d
			}
		}
		list = append(list, c)
	}
	add("node", same)
	slices.SortStableFunc(other, func(a, b pairTime) int { return cmp.Compare(a.half, b.half) })
	cut, ratio := 0, farther
	for i := 1; i < len(other); i++ {
		if r := other[i].half / other[i-1].half; r > ratio {
			cut, ratio = i, r
		}
	}
	add("switch", other[:cut])
	add("far", other[cut:])
	return list
}
