package timeline

import (
	"slices"
	"testing"
)

// TestSampled: samples count for the innermost call if that was made out of samples, and for none otherwise.
func TestSampled(t *testing.T) {
	b := NewBuilder(1)
	main, inner := b.Region(Region{Name: "main"}), b.Region(Region{Name: "inner"})
	l := b.Location(0, 0, "", "")
	l.Seen(100) // in no call
	l.EnterSampled(0, main)
	l.Seen(2)
	l.EnterSampled(10, inner)
	l.Seen(1)
	l.Seen(3)
	l.Leave(20)
	l.Enter(20, inner) // a call of its own
	l.Seen(50)
	l.Leave(30)
	l.Seen(4)
	l.Leave(40)
	tl := b.Finish(1)
	if got, want := tl.Locations[0].Sampled, []SampledCall{{0, 6}, {1, 4}}; !slices.Equal(got, want) {
		t.Errorf("samples = %v, want %v", got, want)
	}
	if got, want := laterSamples(), []SampledCall{{0, 2}}; !slices.Equal(got, want) {
		t.Errorf("samples after the first call = %v, want %v", got, want)
	}
	w := tl.Window(25, 35, 1) // main is call 0 there, inner call 1, which is not sampled
	if got, want := w.Locations[0].Sampled, []SampledCall{{0, 6}}; !slices.Equal(got, want) {
		t.Errorf("samples of the window = %v, want %v", got, want)
	}
}

// laterSamples are those of the second of two calls, as a window has them that holds it alone.
func laterSamples() []SampledCall {
	b := NewBuilder(1)
	main := b.Region(Region{Name: "main"})
	l := b.Location(0, 0, "", "")
	for k := range 2 {
		l.EnterSampled(dur(10 * k)[0], main)
		l.Seen(k + 1)
		l.Leave(dur(10*k + 5)[0])
	}
	return b.Finish(1).Window(10, 15, 1).Locations[0].Sampled
}
