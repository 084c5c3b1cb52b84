package timeline

import (
	"cmp"
	"slices"

	"slackline/internal/spill"
	"slackline/model/unit"
)

// SampledCall states that a call was made out of samples: it is a time in which a function was seen, not one of its calls.
type SampledCall struct {
	Call    int32
	Samples int32 // that saw the function, and nothing that it called
}

// EnterSampled is Enter of a call that was made out of samples.
func (l *LocationBuilder) EnterSampled(t unit.Duration, r RegionID) {
	l.Enter(t, r)
	if i := l.call(); i >= 0 {
		l.sampled = spill.Append(l.space, l.sampled, SampledCall{Call: i})
	}
}

// Seen records that so many samples saw the innermost open call. If that was not made out of samples, they do not matter.
func (l *LocationBuilder) Seen(samples int) {
	byCall := func(s SampledCall, call int32) int { return cmp.Compare(s.Call, call) }
	if i, found := slices.BinarySearchFunc(l.sampled, l.call(), byCall); found {
		l.sampled[i].Samples += int32(samples)
	}
}
