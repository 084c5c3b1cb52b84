package advise

import (
	"slices"
	"testing"
)

// TestSettle: a speedup pays from the smallest value that gains more than the noise; of eager limits the smallest counts that gains nearly
// as much as the one that is enough for all.
func TestSettle(t *testing.T) {
	faster := func(gains ...float64) *Advice {
		a := &Advice{Change: Change{Kind: "faster", Value: "10%"}, Gain: 0.1}
		for i, g := range gains {
			a.Variants = append(a.Variants, Variant{Value: []string{"1%", "2%", "5%"}[i], Gain: g})
		}
		a.settle(0.02)
		return a
	}
	for want, a := range map[string]*Advice{"1%": faster(0.02, 0.03, 0.05), "5%": faster(0.005, 0.01, 0.04), "10%": faster(0, 0.01, 0.01)} {
		if a.PaysFrom != want || a.Value != "10%" {
			t.Errorf("%+v pays from %s, want %s", a.Variants, a.PaysFrom, want)
		}
	}
	eager := &Advice{Change: Change{Kind: "eager_limit", Value: "1MiB"}, Gain: 0.2, Text: "eager_limit:1MiB", RunTime: 800,
		Variants: []Variant{{"64KiB", 900, 0.1}, {"128KiB", 809, 0.191}, {"256KiB", 800, 0.2}}}
	eager.settle(0.02)
	if eager.Value != "128KiB" || eager.Text != "eager_limit:128KiB" || eager.Gain != 0.191 || eager.RunTime != 809 {
		t.Errorf("%+v", eager)
	}
	none := &Advice{Change: Change{Kind: "eager_limit", Value: "1MiB"}, Gain: 0.2, Variants: []Variant{{"64KiB", 900, 0.1}}}
	if none.settle(0.02); none.Value != "1MiB" || none.Gain != 0.2 {
		t.Errorf("%+v", none)
	}
}

// TestSmallerLimits: powers of two between the present limit and the one that is enough, in rising order, at most six.
func TestSmallerLimits(t *testing.T) {
	for _, tc := range []struct {
		now    int64
		enough string
		want   []string
	}{
		{8192, "64KiB", []string{"16KiB", "32KiB"}},
		{8191, "64KiB", []string{"8KiB", "16KiB", "32KiB"}},
		{0, "8B", []string{"1B", "2B", "4B"}},
		{0, "1GiB", []string{"16MiB", "32MiB", "64MiB", "128MiB", "256MiB", "512MiB"}},
		{1 << 20, "64KiB", nil},
		{0, "much", nil},
	} {
		if got := (&study{eagerLimit: tc.now}).smallerLimits(tc.enough); !slices.Equal(got, tc.want) {
			t.Errorf("from %d to %s: %v, want %v", tc.now, tc.enough, got, tc.want)
		}
	}
}
