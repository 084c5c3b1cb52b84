package waits

import (
	"slices"
	"testing"

	"slackline/model/unit"
)

// TestSummaries checks that all summaries have the same totals as the result, and their orders.
func TestSummaries(t *testing.T) {
	for seed := range uint64(50) {
		r := analyze(t, randomRun(seed), 1)
		waiting, delay := r.Totals.Waiting.Amount, r.Totals.Delay.Sum()
		var byPath, byState, byRank, caused, causedByRank unit.Duration
		share := 0.0
		for _, w := range r.WaitsByPath() {
			byPath += w.Amount.Duration()
			share += w.Share
			if w.Most.Cmp(w.Amount) > 0 || w.Most.Times(int64(w.Ranks)).Cmp(w.Amount) < 0 {
				t.Fatalf("seed %d: %v in %v: at most %v on each of %d ranks", seed, w.Amount, w.Metric, w.Most, w.Ranks)
			}
		}
		for _, m := range r.Occurring() {
			if !m.IsPart() {
				byState += r.Totals.ByMetric[m].Amount.Duration()
			}
		}
		for _, s := range r.ByRank() {
			byRank += s.Amount.Duration()
			causedByRank += s.Delay.Duration()
		}
		for _, d := range r.DelaysByPath() {
			caused += d.Sum().Duration()
			byWait := Cost{}
			for _, c := range d.ByWait {
				byWait.add(c.Cost)
			}
			if byWait != d.Cost {
				t.Fatalf("seed %d: delays by wait state sum up to %v, want %v", seed, byWait, d.Cost)
			}
		}
		if byPath != waiting.Duration() || byState != waiting.Duration() || byRank != waiting.Duration() || caused != delay.Duration() ||
			causedByRank != delay.Duration() {
			t.Fatalf("seed %d: waiting %v, by path %v, by state %v, by rank %v; delay %v, by path %v, by rank %v",
				seed, waiting, byPath, byState, byRank, delay, caused, causedByRank)
		}
		if waiting.Sign() > 0 && (share < 0.999 || share > 1.001) {
			t.Fatalf("seed %d: shares sum up to %v", seed, share)
		}
		longest := r.LongestWaits(nil)
		if !slices.IsSortedFunc(longest, func(x, y *Wait) int { return y.Amount.Cmp(x.Amount) }) {
			t.Fatalf("seed %d: the longest waits are not in order", seed)
		}
		for _, w := range r.LongestWaits([]int{0}) {
			if w.Rank != 0 || w.Metric.IsPart() {
				t.Fatalf("seed %d: a wait of rank %d in %s", seed, w.Rank, w.Metric)
			}
		}
	}
}
