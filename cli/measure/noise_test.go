package measure

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slackline/cli/env"
	"slackline/internal/source"
	"slackline/model/noise"
	"slackline/model/unit"
	"slackline/observe/measure"
	"slackline/show/plot"
)

// twoCPUs are a CPU with detours of 1, 2 and 6 us in 1 ms, and one without any.
func twoCPUs() *measuredNoise {
	const us = unit.Microsecond
	return &measuredNoise{&measure.Noise{Method: measure.Selfish, CPUs: []measure.CPUNoise{
		{CPU: 3, Shortest: 12.34, SamplingLimit: 4e7, Duration: unit.Millisecond, Labels: []string{"other", "tick"},
			Detours: []measure.Detour{{Start: 10 * us, Length: 2 * us, Label: 1}, {Start: 20 * us, Length: us},
				{Start: 30 * us, Length: 6 * us, Label: 1}},
			Lines: []measure.Line{{Name: "tick", Count: 2, Lost: 8 * us}, {Name: measure.StealCause, Lost: 5 * us}},
			Host:  measure.HostState{InvoluntarySwitches: 4, SignalsBlocked: true, Steal: -1}},
		{CPU: 0, Shortest: 11, SamplingLimit: 5e7, Duration: 2 * unit.Millisecond, Labels: []string{"other"}, Host: measure.HostState{Steal: 7}},
	}}}
}

// The document has the smallest t_min, all detours, the mean overhead and the longest duration; what is not known is null.
func TestNoiseDocument(t *testing.T) {
	a := env.New(nil, nil, &bytes.Buffer{}, &bytes.Buffer{})
	value, err := twoCPUs().JSON(a)
	if err != nil {
		t.Fatal(err)
	}
	d := value.(*noiseDocument)
	if d.Shortest != 11 || d.Detours != 3 || d.Duration != 2*unit.Millisecond || d.SamplingLimit != 4e7 {
		t.Errorf("t_min %g, %d detours, %s, limit %g", d.Shortest, d.Detours, d.Duration, d.SamplingLimit)
	}
	if got, want := d.OverheadPercent, (0.9+0)/2; fmt.Sprintf("%.9f", got) != fmt.Sprintf("%.9f", want) { // 9 us of 1 ms, and nothing
		t.Errorf("overhead %g %%, want %g %%", got, want)
	}
	first, second := d.CPUs[0], d.CPUs[1]
	causes := []string{first.List[0].Cause, first.List[1].Cause, first.List[2].Cause}
	if first.Detours != 3 || !slices.Equal(causes, []string{"tick", "", "tick"}) || first.Delivered == nil || *first.Delivered != 0 ||
		first.Steal != nil {
		t.Errorf("CPU 3: %+v", first)
	}
	if second.Detours != 0 || second.Delivered != nil || second.Steal == nil || *second.Steal != 7 {
		t.Errorf("CPU 0: %+v", second)
	}
}

// Quantiles of 1, 2 and 6 us; a CPU without detours has none.
func TestNoiseTable(t *testing.T) {
	var out bytes.Buffer
	if err := twoCPUs().table().WriteCSV(&out); err != nil {
		t.Fatal(err)
	}
	const want = "cpu,t_min_ns,detours,rate_per_second,overhead_percent,median_ns,p99_ns,max_ns,duration_s,switches\n" +
		"3,12.34,3,3000,0.9,2000,5920,6000,0.001,4\n0,11,0,0,0,,,,0.002,0\n" // 2 + 0.98 (6 - 2) us
	if out.String() != want {
		t.Errorf("table\n%s\nwant\n%s", out.String(), want)
	}
	if got := perSecond(5, 0); got != 0 {
		t.Errorf("5 in no time are %g per second", got)
	}
}

// The text has a table of causes; what the hypervisor took has no single detours.
func TestNoiseText(t *testing.T) {
	var out bytes.Buffer
	a := env.New(nil, nil, &out, &bytes.Buffer{})
	twoCPUs().Text(a, &out)
	for _, want := range []string{
		"noise: method selfish, 2 CPUs, 0.45 % lost on average\n",
		"sampling limit (Nyquist): 40000000Hz, half of one per t_min; faster noise only makes samples longer\n",
		"  3  tick                           2  2000Hz   8us\n", "  3  hypervisor (steal time)        -       -   5us\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	quiet := twoCPUs()
	quiet.noise.CPUs = quiet.noise.CPUs[1:]
	quiet.noise.Method, quiet.noise.Runs = measure.FixedQuantum, []float64{0.5, 0}
	out.Reset()
	quiet.Text(a, &out)
	if text := out.String(); strings.Contains(text, "cause") || !strings.Contains(text, "half of one per quantum") ||
		!strings.Contains(text, "1 CPU, 0 % lost on average in the quietest of 2 runs (0.5 %, 0 %)") {
		t.Errorf("a quiet CPU:\n%s", text)
	}
}

// Figures have a name for each CPU if there are several; without noise there is nothing to draw.
func TestNoiseFigure(t *testing.T) {
	r := twoCPUs()
	fig, _, _, err := r.Figure(nil)
	if err != nil {
		t.Fatal(err)
	}
	layers := fig.(*plot.Chart).Layers
	if p := layers[0].(*plot.Points); len(layers) != 1 || p.Name != "CPU 3" || !slices.Equal(p.Y, []float64{2e6, 1e6, 6e6}) {
		t.Errorf("%d layers, the first %+v", len(layers), p)
	}
	r.noise.CPUs = r.noise.CPUs[1:]
	r.noise.CPUs[0].Samples = []measure.Sample{{Start: 5}} // a quantum that lost nothing
	if _, _, _, err := r.Figure(nil); err == nil || !strings.Contains(err.Error(), "nothing to draw") {
		t.Errorf("without noise: error %v", err)
	}
}

// Profiles of several CPUs have their numbers in the names, and are read back with the same detours.
func TestNoiseProfiles(t *testing.T) {
	dir := t.TempDir()
	a := env.New(nil, nil, &bytes.Buffer{}, &bytes.Buffer{})
	if err := twoCPUs().writeProfiles(a, filepath.Join(dir, "a.b", "noise.txt")); err == nil {
		t.Error("a directory that does not exist is written to")
	}
	if err := twoCPUs().writeProfiles(a, filepath.Join(dir, "noise.txt")); err != nil {
		t.Fatal(err)
	}
	p, err := noise.LoadFrom(source.Disk, filepath.Join(dir, "noise-cpu3.txt"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.Detours(0)
	if err != nil || d.Len() != 3 {
		t.Fatalf("%d detours, error %v", d.Len(), err)
	}
	if last, _ := d.At(2); last != (noise.Detour{Start: 30e6, Length: 6e6}) || d.Period() != int64(unit.Millisecond) {
		t.Errorf("the last detour is %+v in %d ps", last, d.Period())
	}
	if _, err := os.Stat(filepath.Join(dir, "noise-cpu0.txt")); err != nil {
		t.Error(err)
	}
	one := twoCPUs()
	one.noise.CPUs = one.noise.CPUs[:1]
	if err := one.writeProfiles(a, filepath.Join(dir, "one.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "one.txt")); err != nil {
		t.Errorf("the profile of a single CPU has another name: %v", err)
	}
}

// CPUs are taken as they are given, each once; without a list it is the last one.
func TestParseCPUs(t *testing.T) {
	allowed := []int{0, 1, 2, 3, 6}
	for _, tc := range []struct {
		text string
		want []int
		err  string
	}{
		{"", []int{6}, ""}, {"all", allowed, ""}, {"2", []int{2}, ""}, {"3,0,3", []int{3, 0}, ""}, {"1-3", []int{1, 2, 3}, ""},
		{"4", nil, "this process may not use CPU 4, only [0 1 2 3 6]"}, {"0-6", nil, "this process may not use CPU 4"},
		{"x", nil, `expected a list of CPUs such as 0,2-3, or all, got "x"`}, {"-1", nil, "expected a list of CPUs"},
	} {
		got, err := parseCPUs(tc.text, allowed)
		if !slices.Equal(got, tc.want) || (err == nil) != (tc.err == "") || err != nil && !strings.HasPrefix(err.Error(), tc.err) {
			t.Errorf("%q: %v, error %v; want %v, %q", tc.text, got, err, tc.want, tc.err)
		}
	}
	if _, err := parseCPUs("all", nil); err == nil {
		t.Error("a system without CPUs")
	}
}
