package measure

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"slackline/model/dataset"
)

// madeUp are measurements as a job could have given them: random times, some repetitions invalid, some launches refused.
func madeUp(seed uint64, scheme Scheme) *Collectives {
	random := rand.New(rand.NewPCG(seed, 4))
	o := DefaultCollectives()
	o.Scheme, o.Sizes, o.Ranks, o.Launches, o.Loop = scheme, []int{8, 64}, []int{2, 3}, 1+random.IntN(3), 4
	o.Operations, _ = ParseOperations([]string{"barrier", "bcast", "allreduce"})
	c := &Collectives{Options: o}
	for _, op := range o.Operations {
		for _, ranks := range o.Ranks {
			for _, size := range o.sizesOf(&op) {
				p := &CollectivePoint{Operation: op, Ranks: ranks, Size: size}
				for launch := range o.Launches {
					run := CollectiveRun{Launch: launch, Refused: random.IntN(4) == 0}
					for range 1 + random.IntN(4) {
						r := Repetition{}
						for range ranks {
							start, flags := random.Int64N(1000), 0
							if random.IntN(8) == 0 {
								flags = StartLate
							}
							r.Start, r.End, r.Flags = append(r.Start, start), append(r.End, start+random.Int64N(5000)), append(r.Flags, flags)
						}
						run.Repetitions = append(run.Repetitions, r)
					}
					run.Repetitions = append(run.Repetitions, Repetition{make([]int64, ranks), make([]int64, ranks), make([]int, ranks)})
					p.Runs = append(p.Runs, run)
				}
				c.Points = append(c.Points, p)
			}
		}
	}
	return c
}

// pointsOf lists the values of a dataset by call path, metric and point, in an order of their own.
func pointsOf(d *dataset.Dataset) map[string][]float64 {
	list := map[string][]float64{}
	for _, s := range d.Series {
		for _, p := range s.Points {
			list[fmt.Sprintln(s.CallPath, s.Metric, p.At)] = slices.Sorted(slices.Values(p.Values))
		}
	}
	return list
}

// TestRawIsTheDataset: the raw data of any measurement, read again, are its data. The lines of the file may be in any order: each says
// what it is of.
func TestRawIsTheDataset(t *testing.T) {
	for seed := range uint64(60) {
		c := madeUp(seed, Schemes[seed%uint64(len(Schemes))])
		var raw bytes.Buffer
		if err := WriteRaw(&raw, []*Collectives{c}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(raw.String()), "\n")
		rows := lines[1:]
		rand.New(rand.NewPCG(seed, 5)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		want := pointsOf(c.Dataset(c.Options.Scheme.Own()))
		for how, text := range map[string]string{"as written": raw.String(), "shuffled": strings.Join(lines, "\n")} {
			got, format, err := dataset.Read("raw.csv", []byte(text), "")
			if err != nil || format.Name != "measured" {
				t.Fatalf("seed %d, %s: %v, %v", seed, how, format, err)
			}
			if diff := gocmp.Diff(want, pointsOf(got)); diff != "" {
				t.Errorf("seed %d, %s: %s (-measured +read):\n%s", seed, how, c.Options.Scheme, diff)
			}
		}
	}
}

// TestSummaries: a summary has the order statistics of all valid times of the launches that count.
func TestSummaries(t *testing.T) {
	run := func(refused bool, times ...int64) CollectiveRun {
		r := CollectiveRun{Refused: refused}
		for _, took := range times {
			flags := []int{0}
			if took < 0 {
				took, flags[0] = -took, TooLong
			}
			r.Repetitions = append(r.Repetitions, Repetition{[]int64{7}, []int64{7 + took}, flags})
		}
		return r
	}
	for _, c := range []struct {
		name         string
		runs         []CollectiveRun
		refused      bool
		count        int
		min, median  float64
		q1, q3       float64
		medians      []float64
		valid, tried int
	}{
		{"no launch", nil, true, 0, 0, 0, 0, 0, nil, 0, 0},
		{"one time", []CollectiveRun{run(false, 5)}, false, 1, 5, 5, 5, 5, []float64{5}, 1, 1},
		{"five times in any order", []CollectiveRun{run(false, 50, 10, 40, 20, 30)}, false, 5, 10, 30, 20, 40, []float64{30}, 5, 5},
		{"an invalid one", []CollectiveRun{run(false, 1, -2, 3)}, false, 2, 1, 2, 1.5, 2.5, []float64{2}, 2, 3},
		{"two launches", []CollectiveRun{run(false, 1, 3), run(false, 10)}, false, 3, 1, 3, 2, 6.5, []float64{2, 10}, 3, 3},
		{"half of them refused", []CollectiveRun{run(true, 1, 1), run(false, 4)}, false, 1, 4, 4, 4, 4, []float64{4}, 3, 3},
		{"most of them refused", []CollectiveRun{run(true, 1), run(false, 4), run(true, 1)}, true, 0, 0, 0, 0, 0, nil, 3, 3},
	} {
		p := &CollectivePoint{Ranks: 1, Runs: c.runs}
		s, ok := (&Collectives{Options: DefaultCollectives()}).Summarize(p, ByMax)
		if ok == c.refused || s.Count != c.count || s.Min != c.min || s.Median != c.median || s.Q1 != c.q1 || s.Q3 != c.q3 ||
			!slices.Equal(s.LaunchMedians, c.medians) {
			t.Errorf("%s: %+v, %t", c.name, s, ok)
		}
		if s.Low != nil {
			t.Errorf("%s: an interval of the median of %d times", c.name, c.count)
		}
		if valid, tried := p.Counts(); valid != c.valid || tried != c.tried {
			t.Errorf("%s: %d of %d are valid, want %d of %d", c.name, valid, tried, c.valid, c.tried)
		}
	}
}

// TestOverlap is the median of those of the launches that count and have one.
func TestOverlap(t *testing.T) {
	percent := func(x float64) *float64 { return &x }
	p := &CollectivePoint{Runs: []CollectiveRun{{Overlap: percent(10)}, {Overlap: percent(90), Refused: true}, {}, {Overlap: percent(30)}}}
	if got, ok := p.Overlap(); !ok || got != 20 {
		t.Errorf("overlap %v, %t, want 20", got, ok)
	}
	if _, ok := (&CollectivePoint{Runs: []CollectiveRun{{}}}).Overlap(); ok {
		t.Error("a blocking operation has an overlap")
	}
}

// TestVerdict names what made repetitions invalid, each repetition once for each reason.
func TestVerdict(t *testing.T) {
	flagged := func(flags ...[]int) *Collectives {
		run := CollectiveRun{Refused: true}
		for _, f := range flags {
			run.Repetitions = append(run.Repetitions, Repetition{make([]int64, len(f)), make([]int64, len(f)), f})
		}
		return &Collectives{Points: []*CollectivePoint{{Runs: []CollectiveRun{run}}}}
	}
	for want, c := range map[string]*Collectives{
		"in 1 a rank missed the start, in 2 a rank began late;": flagged([]int{StartLate, StartLate | Jitter}, []int{0, Jitter}),
		"in 1 the window was too short;":                        flagged([]int{0, 0}, []int{TooLong, TooLong}),
		"the time was over;":                                    flagged([]int{0, 0}),
	} {
		if err := c.Verdict(); !errors.Is(err, ErrTooFewValid) || !strings.Contains(err.Error(), "\n"+want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	good := flagged([]int{Jitter})
	good.Points = append(good.Points, &CollectivePoint{Runs: []CollectiveRun{{}}})
	if err := good.Verdict(); err != nil {
		t.Errorf("one point is good: %v", err)
	}
}

// TestRepetitionsOf: stamps come by rank, then by repetition; an answer of another length is none.
func TestRepetitionsOf(t *testing.T) {
	got, err := repetitionsOf([]int64{2, 99, 1, 2, 0, 3, 4, 1, 5, 6, 0, 7, 8, 2}, 2)
	want := []Repetition{{[]int64{1, 5}, []int64{2, 6}, []int{0, 0}}, {[]int64{3, 7}, []int64{4, 8}, []int{1, 2}}}
	if diff := gocmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, values := range [][]int64{nil, {1}, {0, 9}, {-1, 9}, {1, 9, 1, 2}, {1, 9, 1, 2, 0, 3}, {1 << 62, 9, 1, 2, 0}} {
		if list, err := repetitionsOf(values, 1); err == nil {
			t.Errorf("%v: %v", values, list)
		}
	}
}
