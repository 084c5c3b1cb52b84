package scaling

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"

	"slackline/internal/cluster"
	"slackline/internal/needed"
	"slackline/model/dataset"
)

// law is a truth from which measurements are made.
type law struct {
	lead        Term
	coefficient float64
	constant    float64
}

func (l law) at(x float64) float64 { return l.constant + l.coefficient*l.lead.Eval(x) }

var laws = []law{
	{term("0", "1", "0"), 0.2, 5},
	{term("0", "0", "1"), 3, 10},
	{term("0", "1", "1"), 0.05, 2},
	{term("0", "1/2", "0"), 2, 1},
	{term("0", "-1", "0"), 500, 3},
	{term("0", "2", "0"), 0.01, 4},
}

// gaussian and oneSided are kinds of noise of 5 %.
func gaussian(r *rand.Rand) float64 { return 1 + 0.05*r.NormFloat64() }
func oneSided(r *rand.Rand) float64 { return 1 + 0.05*r.ExpFloat64() }

// measured makes so many series of each law.
func measured(seed uint64, series, repetitions int, noise func(*rand.Rand) float64) (*dataset.Dataset, []law) {
	random := rand.New(rand.NewPCG(seed, 18))
	d := dataset.New("p")
	var truths []law
	for i := range series {
		for k, l := range laws {
			s := &dataset.Series{CallPath: fmt.Sprintf("law%d.%d", k, i), Metric: "time"}
			for x := 8.0; x <= 1024; x *= 2 {
				p := dataset.Point{At: []float64{x}}
				for range repetitions {
					p.Values = append(p.Values, l.at(x)*noise(random))
				}
				s.Points = append(s.Points, p)
			}
			d.Series = append(d.Series, s)
			truths = append(truths, l)
		}
	}
	return d, truths
}

// coverage counts in per cent how often the truth is in the intervals.
type coverage struct{ lead, near, far, coefficient float64 }

func coverageOf(t *testing.T, d *dataset.Dataset, truths []law, drawn string) coverage {
	t.Helper()
	list, err := Resample(context.Background(), d, Options{}, Resampling{Resamples: 200, Seed: 7, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	var c coverage
	n, right := 0.0, 0.0
	hit := func(i Interval, v float64) float64 {
		if i.Low <= v && v <= i.High {
			return 1
		}
		return 0
	}
	for i, b := range list {
		if b.Drawn != drawn {
			continue
		}
		n++
		l := truths[i]
		if b.LeadLow[0].cmp(l.lead) <= 0 && b.LeadHigh[0].cmp(l.lead) >= 0 {
			c.lead++
		}
		c.near += hit(b.Predict(64), l.at(64))
		c.far += hit(b.Predict(4096), l.at(4096))
		if b.fit.Leads[0] == l.lead {
			right++
			c.coefficient += hit(b.Interval, l.coefficient)
		}
	}
	if n < 0.6*float64(len(list)) || right < n/4 {
		t.Fatalf("of %d models %.0f draw %s, and %.0f of these have the right lead", len(list), n, drawn, right)
	}
	for _, v := range []*float64{&c.lead, &c.near, &c.far} {
		*v *= 100 / n
	}
	c.coefficient *= 100 / right
	t.Logf("%s: %.0f models: lead %.1f %%, at 64 %.1f %%, at 4096 %.1f %%; coefficient of %.0f with the right lead %.1f %%",
		drawn, n, c.lead, c.near, c.far, right, c.coefficient)
	return c
}

// TestBootstrapCoverage: intervals of 95 % hold the truth in about 95 % of cases. With one repetition nothing but the
// distance to the chosen law tells of the noise; the search has made that smaller.
func TestBootstrapCoverage(t *testing.T) {
	needed.Full(t, "long runs")
	for _, tc := range []struct {
		drawn       string
		repetitions int
		noise       func(*rand.Rand) float64
		least       float64
	}{
		{"repetitions", 5, gaussian, 91},
		{"repetitions", 3, gaussian, 91},
		{"excesses", 5, oneSided, 91},
		{"residuals", 1, gaussian, 85},
	} {
		d, truths := measured(3, 30, tc.repetitions, tc.noise)
		c := coverageOf(t, d, truths, tc.drawn)
		for what, got := range map[string]float64{"lead": c.lead, "value at 64": c.near, "value at 4096": c.far, "coefficient": c.coefficient} {
			if got < tc.least || what != "lead" && got > 99.5 {
				t.Errorf("%s of %d repetitions: the interval of the %s holds the truth in %.1f %% of cases", tc.drawn, tc.repetitions, what, got)
			}
		}
	}
}

// bare is a Bootstrap without what no comparison can see.
func bare(list []*Bootstrap) []Bootstrap {
	var all []Bootstrap
	for _, b := range list {
		if b != nil {
			c := *b
			c.fit = nil
			all = append(all, c)
		}
	}
	return all
}

// TestBootstrapIsTheSameEverywhere: threads, processes and the other series change nothing.
func TestBootstrapIsTheSameEverywhere(t *testing.T) {
	d, _ := measured(5, 1, 3, gaussian)
	d.Series = append(d.Series, &dataset.Series{CallPath: "negative", Points: []dataset.Point{{At: []float64{1}, Values: []float64{-1, 2}}}})
	how := Resampling{Resamples: 130, Seed: 9, Threads: 1}
	one, err := Resample(context.Background(), d, Options{}, how)
	if err != nil {
		t.Fatal(err)
	}
	if one[len(one)-1] != nil || one[0] == nil || one[0].Resamples != 130 {
		t.Fatalf("the last of %d, %+v, has no model; the first, %+v, has one", len(one), one[len(one)-1], one[0])
	}
	want := bare(one)
	how.Threads = 3
	again, err := Resample(context.Background(), d, Options{}, how)
	if err != nil || !reflect.DeepEqual(bare(again), want) {
		t.Errorf("three threads come to another result (%v)", err)
	}
	for _, size := range []int{2, 3, 5} {
		members := cluster.Local(size)
		var all sync.WaitGroup
		for p := range members {
			all.Go(func() {
				how := how
				how.Group = members[p]
				list, err := Resample(context.Background(), d, Options{}, how)
				if err != nil {
					t.Errorf("process %d of %d: %v", p, size, err)
					members[p].Break()
					return
				}
				if p == 0 && !reflect.DeepEqual(bare(list), want) || p > 0 && list != nil {
					t.Errorf("process %d of %d comes to another result", p, size)
				}
			})
		}
		all.Wait()
	}
	few := dataset.New("p")
	few.Series = d.Series[2:4]
	part, err := Resample(context.Background(), few, Options{}, how)
	if err != nil || !reflect.DeepEqual(bare(part), want[2:4]) {
		t.Errorf("two of the series come to another result (%v)", err)
	}
	how.Seed++
	other, err := Resample(context.Background(), d, Options{}, how)
	if err != nil || reflect.DeepEqual(bare(other), want) {
		t.Errorf("another seed comes to the same result (%v)", err)
	}
}

// TestBootstrapOfOddSeries: what cannot scatter does not; the method of the paper and two parameters are resampled, too.
func TestBootstrapOfOddSeries(t *testing.T) {
	d := dataset.New("p")
	add := func(name string, value func(x float64) []float64) {
		s := &dataset.Series{CallPath: name, Metric: "time"}
		for x := 8.0; x <= 256; x *= 2 {
			s.Points = append(s.Points, dataset.Point{At: []float64{x}, Values: value(x)})
		}
		d.Series = append(d.Series, s)
	}
	add("equal", func(float64) []float64 { return []float64{4, 4} })
	add("exact", func(x float64) []float64 { return []float64{1 + x, 1 + x} })
	add("mixed", func(x float64) []float64 { return []float64{x, x * 1.02, x * 0.99}[:1+int(x)/16%3] })
	how := Resampling{Resamples: 100, Threads: 2}
	list, err := Resample(context.Background(), d, Options{}, how)
	if err != nil {
		t.Fatal(err)
	}
	if b := list[0]; b.Same != 1 || b.Interval != (Interval{4, 4}) || b.Drawn != "nothing" || b.Predict(1000) != (Interval{4, 4}) {
		t.Errorf("equal values: %+v", b)
	}
	if b := list[1]; b.Same != 1 || math.Abs(b.Interval.Low-1) > 1e-5 || math.Abs(b.Interval.High-1) > 1e-5 {
		t.Errorf("exact values: %+v", b)
	}
	if b := list[2]; b.Drawn != "repetitions" || !(b.Interval.Low < 1 && b.Interval.High > 1) {
		t.Errorf("points with one and more repetitions: %+v", b)
	}
	if list, err = Resample(context.Background(), d, Options{Method: Paper}, how); err != nil {
		t.Fatal(err)
	}
	if b := list[2]; b.Same < 0.3 || !(b.Predict(128).Low < 130 && b.Predict(128).High > 126) {
		t.Errorf("method of the paper: %+v at 128: %+v", b, b.Predict(128))
	}
	two := load(t, "cases/pq-g05.json")
	two.Series = two.Series[:2]
	if list, err = Resample(context.Background(), two, Options{}, how); err != nil {
		t.Fatal(err)
	}
	for _, b := range list {
		sum := 0.0
		for _, l := range b.Leads {
			sum += l.Share
		}
		if len(b.LeadLow) != 2 || math.Abs(sum-1) > 1e-9 || !(b.Predict(512, 512).Low <= b.Predict(512, 512).High) {
			t.Errorf("two parameters: %+v", b)
		}
	}
	how.Resamples = fewResamples - 1
	if list, err = Resample(context.Background(), d, Options{}, how); err != nil || !math.IsNaN(list[2].Interval.Low) {
		t.Errorf("%d resamples give the interval %v (%v), want none", how.Resamples, list[2].Interval, err)
	}
}

// TestStability: clear cases keep their verdict, cases at the limit do not.
func TestStability(t *testing.T) {
	d, _ := measured(5, 1, 5, gaussian)
	e, err := ParseExpectations("e.yaml", []byte(strings.Join([]string{"expectations:",
		" - {function: law0.0, expect: O(p)}",
		" - {function: law5.0, expect: O(log p)}",
		" - {function: law3.0, expect: O(1), limit: p^(1/2)}",
		" - {function: other, expect: O(1), optional: true}"}, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	var first string
	for _, threads := range []int{1, 3} {
		r, err := Judge(e, d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Resample(context.Background(), d, Options{}, Resampling{Resamples: 200, Seed: 1, Threads: threads}); err != nil {
			t.Fatal(err)
		}
		sure, broken, limit := r.Checks[0].Stability, r.Checks[1].Stability, r.Checks[2].Stability
		if sure.Share(Pass) < 0.99 || broken.Share(Fail) < 0.99 || r.Checks[3].Stability != nil {
			t.Errorf("clear verdicts: %+v, %+v, %+v", sure, broken, r.Checks[3].Stability)
		}
		if limit.Share(Pass) == 1 || limit.Count[0]+limit.Count[1]+limit.Count[2] != 200 {
			t.Errorf("a verdict at the limit: %+v", limit)
		}
		text := fmt.Sprint(*sure, *broken, *limit)
		if first == "" {
			first = text
		} else if first != text {
			t.Errorf("%d threads: %s, want %s", threads, text, first)
		}
	}
}

// BenchmarkBootstrap resamples on one core.
func BenchmarkBootstrap(b *testing.B) {
	for _, cell := range []string{"p6-g05", "p8-x10", "pq-g05"} {
		b.Run("cell="+cell, func(b *testing.B) {
			d := load(b, "cases/"+cell+".json")
			d.Series = d.Series[:20]
			const resamples = 100
			for b.Loop() {
				if _, err := Resample(context.Background(), d, Options{}, Resampling{Resamples: resamples, Threads: 1}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(resamples*len(d.Series)*b.N)/b.Elapsed().Seconds(), "resamples/s")
		})
	}
}
