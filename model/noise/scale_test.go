package noise

import (
	"math"
	"testing"
)

func TestScaled(t *testing.T) {
	for _, tc := range []struct {
		spec         string
		length, rate float64
		want         string
	}{
		{"1000Hz:100us", 0.5, 1, "1000Hz:50us"},
		{"1000Hz:100us", 1, 0.5, "500Hz:100us"},
		{"1000Hz:100us,jitter=20%,phase=100us", 2, 2, "2000Hz:200us,jitter=20%,phase=50us"},
		{"poisson:0.5Hz:exp:220us", 0.25, 0.1, "poisson:0.05Hz:exp:55us"},
		{"10Hz:uniform:1us:8us+1Hz:list:1us:2us", 0.5, 1, "10Hz:uniform:500ns:4us+1Hz:list:500ns:1us"},
		{"10Hz:pareto:2us:1.5", 0.5, 1, "10Hz:pareto:1us:1.5"},
		{"10Hz:1us", 1e-9, 1, "10Hz:0"},
	} {
		p, err := Parse(tc.spec)
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.Scaled(tc.length, tc.rate)
		if err != nil {
			t.Errorf("%s: %v", tc.spec, err)
			continue
		}
		if got := s.Spec(); got != tc.want {
			t.Errorf("Scaled(%s, %g, %g) = %s, want %s", tc.spec, tc.length, tc.rate, got, tc.want)
		}
		if got := p.Spec(); got != tc.spec {
			t.Errorf("the profile itself became %s", got)
		}
	}
}

func TestScaledTrace(t *testing.T) {
	p := &Profile{Name: "t", Parts: []Part{{Kind: KindTrace, Trace: &Trace{Period: 10000, List: []Detour{{0, 1000}, {5000, 2000}}}}}}
	s, err := p.Scaled(2, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	got := s.Parts[0].Trace
	if got.Period != 20000 || got.List[0] != (Detour{0, 2000}) || got.List[1] != (Detour{10000, 4000}) {
		t.Errorf("scaled trace = %+v", got)
	}
	if s.Name != "t, lengths x 2, rate x 0.5" {
		t.Errorf("name = %q", s.Name)
	}
}

func TestScaledErrors(t *testing.T) {
	p, err := Parse("1000Hz:100us")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range [][2]float64{{0, 1}, {1, 0}, {-1, 1}, {math.NaN(), 1}, {1, math.Inf(1)}, {10, 1}, {1, 20}, {1e30, 1}, {1, 1e-30}} {
		if s, err := p.Scaled(f[0], f[1]); err == nil {
			t.Errorf("Scaled(%g, %g) = %s, want an error", f[0], f[1], s.Spec())
		}
	}
}
