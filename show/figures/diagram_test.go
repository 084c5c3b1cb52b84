package figures

import (
	"slices"
	"testing"

	"slackline/analyze/whatif"
)

func TestWithout(t *testing.T) {
	delays := []whatif.Delay{{From: 10, Length: 5}, {From: 30, Length: 10}}
	for _, tc := range []struct {
		s    span
		want []span
	}{
		{span{0, 5}, []span{{0, 5}}},
		{span{0, 12}, []span{{0, 10}}},
		{span{5, 20}, []span{{5, 10}, {15, 20}}},
		{span{12, 14}, nil},
		{span{10, 50}, []span{{15, 30}, {40, 50}}},
		{span{15, 30}, []span{{15, 30}}},
	} {
		if got := without(tc.s, delays); !slices.Equal(got, tc.want) {
			t.Errorf("without(%v) = %v, want %v", tc.s, got, tc.want)
		}
	}
}
