package noise

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	us := int64(1_000_000)
	for _, tc := range []struct {
		spec string
		want []Part
	}{
		{"1000Hz:100us", []Part{{Kind: KindPeriodic, Every: 1000 * us, Length: Fixed(100 * us)}}},
		{"1kHz:100us", []Part{{Kind: KindPeriodic, Every: 1000 * us, Length: Fixed(100 * us)}}},
		{"1ms:100us", []Part{{Kind: KindPeriodic, Every: 1000 * us, Length: Fixed(100 * us)}}},
		{"10Hz:2.5ms", []Part{{Kind: KindPeriodic, Every: 100_000 * us, Length: Fixed(2500 * us)}}},
		{"0.14Hz:10ms", []Part{{Kind: KindPeriodic, Every: 7_142_857_142_857, Length: Fixed(10_000 * us)}}},
		{"3Hz:1us", []Part{{Kind: KindPeriodic, Every: 333_333_333_333, Length: Fixed(us)}}},
		{"0.3Hz:0", []Part{{Kind: KindPeriodic, Every: 3_333_333_333_333, Length: Fixed(0)}}},
		{"6Hz:1us", []Part{{Kind: KindPeriodic, Every: 166_666_666_667, Length: Fixed(us)}}},
		{"1000Hz:100us,jitter=20%,phase=3us,label=tick",
			[]Part{{Label: "tick", Kind: KindPeriodic, Every: 1000 * us, Length: Fixed(100 * us), Jitter: 0.2, Phase: 3 * us}}},
		{"poisson:0.5Hz:exp:220us", []Part{{Kind: KindPoisson, Every: 2_000_000 * us, Length: Exponential{220 * us}}}},
		{"poisson:0.5Hz:pareto:1us:1.5", []Part{{Kind: KindPoisson, Every: 2_000_000 * us, Length: Pareto{us, 1000 * us, 1.5}}}},
		{"poisson:0.5Hz:pareto:1us:1.5:8us", []Part{{Kind: KindPoisson, Every: 2_000_000 * us, Length: Pareto{us, 8 * us, 1.5}}}},
		{"10Hz:list:1us:2us + 10Hz:uniform:1us:8us", []Part{
			{Kind: KindPeriodic, Every: 100_000 * us, Length: Empirical{us, 2 * us}},
			{Kind: KindPeriodic, Every: 100_000 * us, Length: Uniform{us, 8 * us}},
		}},
	} {
		p, err := Parse(tc.spec)
		if err != nil {
			t.Errorf("Parse(%q): %v", tc.spec, err)
			continue
		}
		if diff := cmp.Diff(tc.want, p.Parts); diff != "" {
			t.Errorf("Parse(%q): %s", tc.spec, diff)
		}
		again, err := Parse(p.Spec())
		if err != nil {
			t.Errorf("Parse(Spec of %q): %v", tc.spec, err)
			continue
		}
		for i := range again.Parts {
			again.Parts[i].Label = p.Parts[i].Label // a label is no part of the specification
		}
		if diff := cmp.Diff(p.Parts, again.Parts); diff != "" {
			t.Errorf("Parse(%q) differs: %s", p.Spec(), diff)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"":                           "empty",
		"1000Hz":                     "joined by a colon",
		"0Hz:1us":                    "above 0",
		"-5Hz:1us":                   "not a number",
		"1e3Hz:1us":                  "not a number",
		"xHz:1us":                    "not a number",
		"5kMHz:1us":                  "not a number",
		"1000:1us":                   "neither a frequency",
		"0.00000000001Hz:1us":        "not within",
		"1000000000000000Hz:1ps":     "not within",
		"1000Hz:1ms":                 "no work would ever end",
		"1000Hz:2ms":                 "no work would ever end",
		"1000Hz:600us+1000Hz:600us":  "no work would ever end",
		"poisson:1000Hz:exp:1ms":     "no work would ever end",
		"1000Hz:-1us":                "length",
		"1000Hz:exq:1us":             "did you mean exp?",
		"1000Hz:uniform:1us":         "values",
		"1000Hz:uniform:2us:1us":     "longer than",
		"1000Hz:pareto:1us":          "scale, a shape",
		"1000Hz:pareto:1us:0":        "shape",
		"1000Hz:pareto:1us:NaN":      "shape",
		"1000Hz:pareto:0:1":          "scale",
		"1000Hz:1us,jiter=1%":        "did you mean jitter?",
		"1000Hz:1us,jitter=101%":     "share from 0%",
		"1000Hz:1us,jitter":          "no value",
		"1000Hz:1us,phase=1ms":       "phase",
		"1000Hz:1us,phase=0,phase=0": "twice",
		"poisson:1Hz:1us,jitter=5%":  "neither phase nor jitter",
	} {
		_, err := Parse(spec)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %v, want an error with %q", spec, err, want)
		}
	}
}

// A single regular part and a single trace are exactly themselves.
func TestDetoursExact(t *testing.T) {
	trace := &Trace{Period: 100, List: []Detour{{3, 5}, {4, 5}, {50, 7}}, Of: []int32{1, 0, 1}, Labels: []string{"x", "y"}}
	for _, tc := range []struct {
		p      *Profile
		period int64
		list   []Detour
	}{
		{mustParse(t, "1000Hz:100us"), 1e9, []Detour{{0, 1e8}}},
		{mustParse(t, "1000Hz:100us,phase=10us"), 1e9, []Detour{{1e7, 1e8}}},
		{mustParse(t, "1000Hz:0us"), 1e9, nil},
		{mustParse(t, "1kHz:10us+500Hz:20us,phase=1ms+500Hz:1us"), 2e9, []Detour{{0, 1e7}, {0, 1e6}, {1e9, 1e7}, {1e9, 2e7}}},
		{&Profile{Parts: []Part{{Kind: KindTrace, Trace: trace}}}, 100, trace.List},
		{&Profile{}, 1e12, nil},
	} {
		d, err := tc.p.Detours(7)
		if err != nil {
			t.Errorf("%s: %v", tc.p.Spec(), err)
			continue
		}
		if d.period != tc.period || !slices.Equal(d.list, tc.list) {
			t.Errorf("%s: period %d, detours %v; want %d, %v", tc.p.Spec(), d.period, d.list, tc.period, tc.list)
		}
	}
	p := &Profile{Parts: []Part{{Kind: KindTrace, Trace: trace}}}
	d, err := p.Detours(1)
	if err != nil {
		t.Fatal(err)
	}
	if _, label := d.At(0); label != 1 || d.Labels()[1] != "y" {
		t.Errorf("the sources of the trace are lost: %v", d.of)
	}
}

func mustParse(t testing.TB, spec string) *Profile {
	t.Helper()
	p, err := Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Random parts have the rate, the mean and the spread of their model; equal seeds give equal traces.
func TestDetoursRandom(t *testing.T) {
	for _, spec := range []string{
		"poisson:0.5Hz:exp:220us", "poisson:100Hz:pareto:1us:1.5", "poisson:100Hz:pareto:1us:1:8us",
		"1000Hz:uniform:1us:8us", "10Hz:2.5ms,jitter=20%", "1kHz:list:1us:5us+poisson:1Hz:1ms",
		"3Hz:1us+1kHz:1us", "poisson:0.0001Hz:1ms",
	} {
		p := mustParse(t, spec)
		a, err := p.Detours(1)
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		b, _ := p.Detours(1)
		c, _ := p.Detours(2)
		if !slices.Equal(a.list, b.list) || !slices.Equal(a.of, b.of) || a.period != b.period {
			t.Errorf("%s: equal seeds give different traces", spec)
		}
		exact := spec == "3Hz:1us+1kHz:1us"
		if slices.Equal(a.list, c.list) != exact {
			t.Errorf("%s: different seeds give equal traces: %v, want %v", spec, !exact, exact)
		}
		rate, load := 0.0, 0.0
		for i := range p.Parts {
			rate += p.Parts[i].rate()
			load += p.Parts[i].load()
		}
		if got := float64(a.Len()) / float64(a.period); math.Abs(got/rate-1) > 0.001 {
			t.Errorf("%s: %g detours per ps, want %g", spec, got, rate)
		}
		sum := 0.0
		for _, d := range a.list {
			sum += float64(d.Length)
		}
		// One length from each slice of the distribution: far closer than independent draws.
		if got := sum / float64(a.period); math.Abs(got/load-1) > 0.005 {
			t.Errorf("%s: load %g, want %g", spec, got, load)
		}
		for _, d := range a.list {
			if d.Start%1000 != 0 && !exact {
				t.Errorf("%s: a detour starts at %d ps, no whole ns", spec, d.Start)
				break
			}
		}
	}
}

func TestDetoursTooRare(t *testing.T) {
	for _, spec := range []string{"1MHz:1ns+poisson:0.001Hz:1ms", "poisson:0.0000009Hz:1ms"} {
		if _, err := mustParse(t, spec).Detours(1); err == nil || !strings.Contains(err.Error(), "so rare") {
			t.Errorf("%s = %v, want an error", spec, err)
		}
	}
}

// The serial overhead of the embedded profiles is that of Table I of the noise paper.
func TestEmbeddedOverhead(t *testing.T) {
	want := map[string]float64{"chic": 0.21, "altix": 0.05, "zeptoos": 0.08, "jaguar": 0.02, "cnk": 0, "chic-1ppn": 0.26, "zeptoos-1ppn": 0.02}
	if len(Names()) != len(want) {
		t.Errorf("Names = %v", Names())
	}
	for _, name := range Names() {
		p, err := Named(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for seed := range uint64(3) {
			d, err := p.Detours(seed)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if s := Stats(d); math.Abs(s.OverheadPercent-want[name]) > 0.002 {
				t.Errorf("%s: overhead %.4f %%, want %.2f", name, s.OverheadPercent, want[name])
			}
		}
		for _, word := range []string{"Given:", "SC 2010", "Machine:"} {
			if !strings.Contains(p.Note, word) {
				t.Errorf("the note of %s lacks %q", name, word)
			}
		}
		if name != "cnk" && (!strings.Contains(p.Note, "Inferred:") || !strings.Contains(p.Note, "Left to test:") ||
			!strings.Contains(p.Note, "Model, not a measurement")) {
			t.Errorf("the note of %s does not say what was inferred, what is left to test, and that it is a model", name)
		}
	}
}

func TestFind(t *testing.T) {
	for _, word := range []string{"chic", "1000Hz:100us", "testdata/two.txt"} {
		if _, err := Find(word); err != nil {
			t.Errorf("Find(%q): %v", word, err)
		}
	}
	for word, want := range map[string]string{
		"chik":                          "did you mean chic?",
		"":                              "neither",
		"no/such/file":                  "no/such/file",
		"1000Hz:":                       "length",
		"1000Hz;100us":                  "specification",
		"testdata":                      "directory",
		"poison:1Hz:1us":                "neither a frequency",
		strings.Repeat("5Hz:1us+", 100): "joined by a colon",
	} {
		if _, err := Find(word); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Find(%q) = %v, want an error with %q", word, err, want)
		}
	}
}

// A model that is written as a profile file is read as the same.
func TestYAMLRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &Profile{Name: rapid.StringN(1, 10, 20).Draw(t, "name"), Note: strings.TrimSpace(rapid.String().Draw(t, "note"))}
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			p.Parts = append(p.Parts, drawPart(t))
		}
		if p.Check() != nil {
			t.Skip("too much load")
		}
		var b bytes.Buffer
		if err := writeYAML(&b, p); err != nil {
			t.Fatal(err)
		}
		got, err := Read("x.yaml", b.Bytes())
		if err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
		if diff := cmp.Diff(p, got); diff != "" {
			t.Fatalf("%s\nin\n%s", diff, b.String())
		}
	})
}

func drawPart(t *rapid.T) Part {
	p := Part{
		Label: rapid.StringN(0, 10, 20).Draw(t, "label"),
		Kind:  rapid.SampledFrom([]Kind{KindPeriodic, KindPoisson}).Draw(t, "kind"),
		Every: rapid.Int64Range(1000, 1e13).Draw(t, "every"),
	}
	short := rapid.Int64Range(1, max(p.Every/20, 1))
	switch rapid.IntRange(0, 4).Draw(t, "lengths") {
	case 0:
		p.Length = Fixed(short.Draw(t, "length"))
	case 1:
		a := short.Draw(t, "min")
		p.Length = Uniform{a, a + short.Draw(t, "more")}
	case 2:
		p.Length = Exponential{short.Draw(t, "mean")}
	case 3:
		a := short.Draw(t, "scale")
		p.Length = Pareto{a, a + short.Draw(t, "more"), rapid.Float64Range(0.1, 5).Draw(t, "shape")}
	case 4:
		p.Length = Empirical(rapid.SliceOfN(short, 1, 5).Draw(t, "list"))
	}
	if p.Kind == KindPeriodic {
		p.Jitter = rapid.Float64Range(0, 1).Draw(t, "jitter")
		p.Phase = rapid.Int64Range(0, p.Every-1).Draw(t, "phase")
	}
	return p
}

func TestLengthMeans(t *testing.T) {
	for _, l := range []Lengths{Fixed(5e6), Uniform{1e6, 8e6}, Exponential{3e6}, Pareto{1e6, 1e9, 1.5}, Pareto{1e6, 8e6, 1},
		Pareto{1e6, 1e6, 2}, Pareto{1e6, 1e8, 0.5}, Empirical{1e6, 2e6, 6e6}} {
		const n = 300_000
		sum := 0.0
		before := int64(0)
		for i := range n {
			q := l.quantile((float64(i) + 0.5) / n)
			if _, list := l.(Empirical); q < before && !list {
				t.Errorf("%s: the quantile falls at %d", l, i)
				break
			}
			before = q
			sum += float64(q)
		}
		if got := sum / n; math.Abs(got/l.Mean()-1) > 0.002 {
			t.Errorf("%s: mean of the quantiles %g, want %g", l, got, l.Mean())
		}
	}
}
