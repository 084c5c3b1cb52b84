package whatif

import (
	"context"
	"fmt"
	"testing"

	"slackline/analyze/simulate"
	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/pattern"
)

func BenchmarkAttribute(b *testing.B) {
	for _, ranks := range []int{1 << 10, 1 << 14} {
		b.Run(fmt.Sprintf("pattern=dissemination/ranks=%d", ranks), func(b *testing.B) {
			p, err := pattern.New("dissemination", pattern.Params{Ranks: ranks, Size: 1})
			if err != nil {
				b.Fatal(err)
			}
			m, err := machine.Find("cnl")
			if err != nil {
				b.Fatal(err)
			}
			profile, err := noise.Parse("1000Hz:100us")
			if err != nil {
				b.Fatal(err)
			}
			trace, err := profile.Detours(1)
			if err != nil {
				b.Fatal(err)
			}
			offsets := make([]int64, ranks)
			noise.Offsets{Seed: 1}.Draw(offsets, trace.Period())
			in, err := noise.NewInjection(trace, offsets)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := Attribute(context.Background(), p, m, simulate.Options{Noise: in}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
