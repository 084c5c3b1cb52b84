package explore

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"slackline/analyze/profile"
	"slackline/internal/phrase"
	"slackline/internal/stat"
)

const (
	alike        = 0.05 // ranks are alike if the shares of their time differ by this much at most, half of the sum over call paths
	mostClusters = 20
)

// answerClusters puts ranks that behave alike together.
func answerClusters(_ *view, f *findings, _ *query) (any, error) { return f.clusters(), nil }

// makeClusters goes through the ranks: each joins the first cluster whose first rank it is like, or starts one. The representative
// of a cluster is the rank that is nearest to its mean.
func (v *view) makeClusters(f *findings) *Clusters {
	times := v.timesByRank(f)
	leaders, of := [][]float64{}, make([]int, len(times))
	for rank, t := range times {
		of[rank] = -1
		best, nearest := -1, 2.0
		for k, leader := range leaders {
			if d := distance(t, leader); d < nearest {
				best, nearest = k, d
			}
		}
		if best < 0 || nearest > alike && len(leaders) < mostClusters {
			best = len(leaders)
			leaders = append(leaders, t)
		}
		of[rank] = best
	}
	a := &Clusters{Clusters: make([]Cluster, len(leaders)), Notes: v.slowRanks(f)}
	for k := range leaders {
		mean := make([]float64, len(leaders[k]))
		var members []int32
		for rank, t := range times {
			if of[rank] == k {
				members = append(members, int32(rank))
				for i := range t {
					mean[i] += t[i]
				}
			}
		}
		for i := range mean {
			mean[i] /= float64(len(members))
		}
		c := &a.Clusters[k]
		c.Count, c.Ranks, c.Representative = len(members), listRanks(members), int(slices.MinFunc(members, func(x, y int32) int {
			return cmp.Compare(distance(times[x], mean), distance(times[y], mean))
		}))
		c.Computation, c.Waiting, c.Communication = v.sharesOf(mean)
	}
	slices.SortStableFunc(a.Clusters, func(x, y Cluster) int { return cmp.Compare(y.Count, x.Count) })
	return a
}

// timesByRank has for each rank the shares of its time: by call path, and behind them waiting.
func (v *view) timesByRank(f *findings) [][]float64 {
	n := v.paths.Len()
	times, totals := make([][]float64, v.tl.Ranks), make([]float64, v.tl.Ranks)
	for rank := range times {
		times[rank] = make([]float64, n+1)
	}
	for i := range v.run.Locations {
		totals[v.run.Locations[i].Rank] += float64(v.run.Lifetime(int32(i)))
	}
	for i := range f.profile.Entries {
		e := &f.profile.Entries[i]
		times[e.Rank][e.Path] += e.Exclusive.Float()
	}
	for _, w := range f.waiting {
		if !w.Unknown {
			times[w.Rank][n] += w.Time.Float()
			if !w.Idle {
				times[w.Rank][w.Path] -= w.Time.Float()
			}
		}
	}
	for rank, t := range times {
		for i := range t {
			t[i] /= max(totals[rank], 1)
		}
	}
	return times
}

func distance(x, y []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += max(x[i]-y[i], y[i]-x[i])
	}
	return sum / 2
}

// sharesOf sums up shares by call path.
func (v *view) sharesOf(t []float64) (computation, waiting, communication float64) {
	for path := range v.paths.Len() {
		switch class, _ := classOf(v.kindOfPath(path)); class {
		case "computation":
			computation += t[path]
		case "communication":
			communication += t[path]
		}
	}
	return computation, t[v.paths.Len()], communication
}

// A rank is slow everywhere if it takes longer than the average in functions that have most of the computation, by so much in all, and
// stands out among the ranks: their computation always differs a little.
const (
	everywhere = 0.8
	muchSlower = 1.05
	standsOut  = 3    // standard deviations from the median
	worthIt    = 0.01 // of the computation: functions that count
	mostSlow   = 5    // that have a line of their own
)

// slowRanks says which ranks are slow in nearly all that they compute, in a line each, the slowest first.
func (v *view) slowRanks(f *findings) []string {
	own, all := make([]map[int32]float64, v.tl.Ranks), make([]float64, v.tl.Ranks)
	for rank := range own {
		own[rank] = map[int32]float64{}
	}
	mean, usual := map[int32]float64{}, 0.0
	for i := range f.profile.Entries {
		if e := &f.profile.Entries[i]; v.kindOfPath(int(e.Path)) == profile.Computation {
			time := e.Exclusive.Float()
			own[e.Rank][e.Path] += time
			all[e.Rank] += time
			mean[e.Path] += time / float64(v.tl.Ranks)
			usual += time / float64(v.tl.Ranks)
		}
	}
	maps.DeleteFunc(mean, func(_ int32, m float64) bool { return m < worthIt*usual })
	notes := []string{}
	if len(mean) < 2 {
		return notes
	}
	middle, deviation := stat.Deviation(all)
	limit := max(muchSlower*usual, middle+standsOut*deviation)

	var slow []int32
	slower := make([]int, v.tl.Ranks)
	for rank, times := range own {
		share := 0.0
		for path, m := range mean {
			if times[path] > m {
				slower[rank]++
				share += m / usual
			}
		}
		if slower[rank] > 1 && share >= everywhere && all[rank] > limit {
			slow = append(slow, int32(rank))
		}
	}
	slices.SortStableFunc(slow, func(x, y int32) int { return cmp.Compare(all[y], all[x]) })
	costs := map[int32]float64{}
	for i := range f.ranked {
		costs[int32(f.ranked[i].Rank)] += f.result.Share(f.ranked[i].Sum())
	}
	shown := min(len(slow), mostSlow)
	for _, rank := range slow[:shown] {
		notes = append(notes, fmt.Sprintf("Rank %d is slow everywhere: it takes longer than the average rank in %d of %d functions that "+
			"compute, %s longer in all, and causes %s of all waiting.",
			rank, slower[rank], len(mean), phrase.Percent(all[rank]-usual, usual), phrase.Percent(costs[rank], 1)))
	}
	if rest := slow[shown:]; len(rest) > 0 {
		slices.Sort(rest)
		notes = append(notes, fmt.Sprintf("%s: %s.", phrase.Plural(len(rest), "further rank"), listRanks(rest)))
	}
	return notes
}
