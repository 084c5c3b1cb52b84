package whatif

import (
	"math"
	"testing"

	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/pattern"
)

// The findings of the experiment of Beckman et al., as simulated by Hoefler, Schneider and Lumsdaine:
// one detour per millisecond on every rank, offsets independent. The sizes are small enough for a
// test; the replicas are few, but the seed is fixed.
const beckmanReplicas = 51

// beckman runs dissemination with 1-byte messages and returns the distributions by process count.
func beckman(t *testing.T, spec string, change func(*Series), counts ...int) []Distribution {
	t.Helper()
	s := seriesOf(t, "dissemination", spec, beckmanReplicas, counts...)
	if change != nil {
		change(s)
	}
	var list []Distribution
	for _, p := range runSeries(t, s) {
		list = append(list, p.Distribution())
	}
	return list
}

// added is the median time that the noise adds.
func added(d Distribution) float64 { return float64(d.Median - d.Noiseless) }

// correlation is that of two lists, after Pearson.
func correlation(x, y []float64) float64 {
	var sx, sy, sxx, syy, sxy float64
	n := float64(len(x))
	for i := range x {
		sx, sy = sx+x[i], sy+y[i]
		sxx, syy, sxy = sxx+x[i]*x[i], syy+y[i]*y[i], sxy+x[i]*y[i]
	}
	return (n*sxy - sx*sy) / math.Sqrt((n*sxx-sx*sx)*(n*syy-sy*sy))
}

func TestAddedTimeGrowsLinearlyWithTheDetour(t *testing.T) {
	var lengths, times []float64
	for _, d := range []struct {
		us   float64
		spec string
	}{{16, "1000Hz:16us"}, {50, "1000Hz:50us"}, {100, "1000Hz:100us"}, {200, "1000Hz:200us"}} {
		lengths, times = append(lengths, d.us), append(times, added(beckman(t, d.spec, nil, 1024)[0])*1e-6)
	}
	if r := correlation(lengths, times); r < 0.99 {
		t.Errorf("added times %.0f us for detours of %.0f us: correlation %.4f, want 0.99 or more", times, lengths, r)
	}
	// In a dissemination over 10 steps a few detours meet on the longest path.
	for i := range times {
		if hit := times[i] / lengths[i]; hit < 2 || hit > 7 {
			t.Errorf("a detour of %.0f us adds %.0f us, want 2 to 7 times as much", lengths[i], times[i])
		}
	}
}

func TestTimeGrowsLogarithmicallyWithRanks(t *testing.T) {
	var logs, times []float64
	// What an independent program gave for 50 other seeds.
	medians := []float64{4.46, 4.59, 4.91, 4.91, 4.99, 4.98, 5.08}
	for i, d := range beckman(t, "1000Hz:100us", nil, 32, 64, 128, 256, 512, 1024, 2048) {
		logs, times = append(logs, math.Log2(float64(d.Ranks))), append(times, float64(d.Median))
		if ratio := d.Slowdown.Median / medians[i]; ratio < 0.92 || ratio > 1.08 {
			t.Errorf("%d ranks: median slowdown %.2f, want %.2f within 8 %%", d.Ranks, d.Slowdown.Median, medians[i])
		}
	}
	if r := correlation(logs, times); r < 0.99 {
		t.Errorf("times %.3g over log2 of the ranks %v: correlation %.4f, want 0.99 or more", times, logs, r)
	}
}

func TestBroadcastSuffersLess(t *testing.T) {
	all := beckman(t, "1000Hz:100us", nil, 1024)[0]
	tree := beckman(t, "1000Hz:100us", func(s *Series) {
		s.Program = patternOf("bcast", pattern.Params{Size: 1, Algorithm: "binomial"})
	}, 1024)[0]
	if tree.Slowdown.Median < 1.5 || added(tree) > 0.7*added(all) {
		t.Errorf("noise adds %.0f us to a broadcast (slowdown %.2f) and %.0f us to dissemination; want at most 0.7 times as much",
			added(tree)*1e-6, tree.Slowdown.Median, added(all)*1e-6)
	}
}

func TestLargeMessagesHardlySuffer(t *testing.T) {
	large := beckman(t, "1000Hz:100us", func(s *Series) {
		s.Program = patternOf("dissemination", pattern.Params{Size: 1 << 20})
	}, 512)[0]
	if large.Slowdown.Max > 1.05 || large.Slowdown.Median <= 1 {
		t.Errorf("slowdown with 1 MiB: median %.3f, largest %.3f; want above 1 and at most 1.05", large.Slowdown.Median, large.Slowdown.Max)
	}
}

func TestCoSchedulingRemovesNoise(t *testing.T) {
	alone := beckman(t, "1000Hz:100us", nil, 1024)[0]
	together := beckman(t, "1000Hz:100us", func(s *Series) { s.Noise.Alignment = noise.CoScheduled }, 1024)[0]
	if together.Slowdown.Median > 1.01 || together.Slowdown.Max > 2 ||
		float64(together.Mean-together.Noiseless) > 0.1*float64(alone.Mean-alone.Noiseless) {
		t.Errorf("co-scheduled: slowdown %.2f, at most %.2f; independent: %.2f; want nearly none",
			together.Slowdown.Median, together.Slowdown.Max, alone.Slowdown.Median)
	}
}

func TestFasterNetworkGainsNothing(t *testing.T) {
	slow := beckman(t, "1000Hz:100us", nil, 2048)[0]
	fast := beckman(t, "1000Hz:100us", func(s *Series) {
		m, err := machine.ScaleNetwork(s.Machine, 10)
		if err != nil {
			t.Fatal(err)
		}
		s.Machine = m
	}, 2048)[0]
	quietGain, gain := float64(slow.Noiseless)/float64(fast.Noiseless), float64(slow.Median)/float64(fast.Median)
	if quietGain < 1.6 || gain > 1.1 {
		t.Errorf("a network 10 times as fast makes dissemination %.2f times as fast without noise and %.2f times with it; want 1.6 or more, "+
			"and at most 1.1", quietGain, gain)
	}
}

func TestBottleneck(t *testing.T) {
	search := func(change func(*Bottleneck)) *Found {
		b := &Bottleneck{Series: *seriesOf(t, "dissemination", "100Hz:100us", 9), Threshold: 2, From: 2, To: 512}
		change(b)
		f, err := b.Find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	slowdownAt := func(f *Found, ranks int) float64 {
		for _, p := range f.Points {
			if p.Ranks == ranks {
				return p.Distribution().Slowdown.Median
			}
		}
		t.Fatalf("%d ranks were not tried", ranks)
		return 0
	}
	rough := search(func(*Bottleneck) {})
	if rough.Ranks != 2*rough.Below || slowdownAt(rough, rough.Ranks) < 2 || slowdownAt(rough, rough.Below) >= 2 {
		t.Errorf("reached between %d and %d ranks", rough.Below, rough.Ranks)
	}
	fine := search(func(b *Bottleneck) { b.Precise = true })
	if fine.Ranks != fine.Below+1 || fine.Ranks > rough.Ranks || fine.Below < rough.Below || slowdownAt(fine, fine.Ranks) < 2 ||
		slowdownAt(fine, fine.Below) >= 2 {
		t.Errorf("reached between %d and %d ranks, roughly between %d and %d", fine.Below, fine.Ranks, rough.Below, rough.Ranks)
	}
	if at := search(func(b *Bottleneck) { b.From = 512 }); at.Ranks != 512 || at.Below != 0 {
		t.Errorf("from 512 on: between %d and %d ranks, want 0 and 512", at.Below, at.Ranks)
	}
	if none := search(func(b *Bottleneck) { b.Threshold, b.To = 50, 20 }); none.Ranks != 0 || none.Below != 20 {
		t.Errorf("50 times: between %d and %d ranks, want none", none.Below, none.Ranks)
	}
	job := search(func(b *Bottleneck) { b.JobSize, b.To = 256, 32 }).Relief
	if job == nil || !job.Needed || job.Slowdown < 2 {
		t.Fatalf("relief at 256 ranks: %+v", job)
	}
	for name, s := range map[string]Shrink{"length": job.Length, "rate": job.Rate} {
		if s.Factor <= 0 || s.Factor >= 1 || s.Above/s.Factor > 1.03 || s.Slowdown >= 2 || s.Noise == "" {
			t.Errorf("%s: %+v", name, s)
		}
	}
	// Lengths decide how long a detour holds up, the rate how many meet: for a slowdown of 2 instead
	// of about 3 the lengths halve.
	if f := job.Length.Factor; f < 0.3 || f > 0.8 {
		t.Errorf("lengths x %.3f", f)
	}
	if easy := search(func(b *Bottleneck) { b.JobSize, b.To = 2, 4 }).Relief; easy.Needed || easy.Slowdown >= 2 {
		t.Errorf("relief at 2 ranks: %+v", easy)
	}
	for _, bad := range []*Bottleneck{{Threshold: 1, From: 2, To: 4}, {Threshold: math.NaN(), From: 2, To: 4}, {Threshold: 2},
		{Threshold: 2, From: 4, To: 2}} {
		if _, err := bad.Find(t.Context()); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}
