package measure

import (
	"cmp"
	"math"
	"math/bits"
	"math/cmplx"
	"slices"
	"time"

	"slackline/internal/stat"
	"slackline/model/unit"
)

// Frequency is a frequency at which noise repeats.
type Frequency struct {
	Hertz     float64       `json:"hertz"`
	Amplitude unit.Duration `json:"amplitude_ns"` // of the noise per quantum that swings with it
}

// spectrum returns the strongest frequencies in equidistant samples, strongest first. It looks at
// the largest power of two of them.
func spectrum(samples []Sample, quantum time.Duration) []Frequency {
	const minSamples, maxFound, contrast = 16, 20, 5
	if len(samples) < minSamples {
		return nil
	}
	n := 1 << (bits.Len(uint(len(samples))) - 1)
	mean := 0.0
	for _, s := range samples[:n] {
		mean += float64(s.Noise) / float64(n)
	}
	values := make([]complex128, n)
	for i, s := range samples[:n] { // Hann's window: what does not fit into the time must not smear
		window := 1 - math.Cos(2*math.Pi*float64(i)/float64(n))
		values[i] = complex((float64(s.Noise)-mean)*window, 0)
	}
	transform(values)
	amplitudes := make([]float64, n/2+1)
	for i := range amplitudes {
		amplitudes[i] = 2 * cmplx.Abs(values[i]) / float64(n)
	}
	floor := contrast * stat.Sorted(amplitudes)[len(amplitudes)/2]
	var list []Frequency
	for i := 1; i < len(amplitudes)-1; i++ {
		if a := amplitudes[i]; a > floor && a >= amplitudes[i-1] && a > amplitudes[i+1] {
			list = append(list, Frequency{Hertz: float64(i) / float64(n) / quantum.Seconds(), Amplitude: unit.Duration(a)})
		}
	}
	slices.SortStableFunc(list, func(a, b Frequency) int { return cmp.Compare(b.Amplitude, a.Amplitude) })
	return list[:min(len(list), maxFound)]
}

// transform is the discrete Fourier transform in place, of a power of two of values.
func transform(v []complex128) {
	n := len(v)
	shift := 64 - (bits.Len(uint(n)) - 1)
	for i := range v {
		if j := int(bits.Reverse64(uint64(i)) >> shift); i < j {
			v[i], v[j] = v[j], v[i]
		}
	}
	for size := 2; size <= n; size *= 2 {
		for k := range size / 2 {
			w := cmplx.Rect(1, -2*math.Pi*float64(k)/float64(size))
			for a := k; a < n; a += size {
				b := a + size/2
				v[a], v[b] = v[a]+w*v[b], v[a]-w*v[b]
			}
		}
	}
}
