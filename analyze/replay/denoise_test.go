package replay

import (
	"slices"
	"testing"

	"slackline/model/schedule"
	"slackline/model/unit"
)

// TestDenoiser: repetitions of a computation get their quantile; what occurs less than three times stays as it is.
func TestDenoiser(t *testing.T) {
	ops := []schedule.Op{{Size: 10}, {Size: 100}, {Size: 30}, {Size: 7}, {Size: 20}, {Size: 9}}
	a, b := repetition{path: 1}, repetition{path: 2}
	for _, tc := range []struct {
		quantile float64
		want     int64
	}{{0.5, 25}, {0, 10}, {1, 100}} {
		list := slices.Clone(ops)
		var d denoiser
		d.clear()
		for i, r := range []repetition{a, a, a, b, a, b} {
			d.note(uint32(i), r)
		}
		var report walkReport
		d.replace(list, tc.quantile, &report)
		for i, op := range list {
			want := tc.want
			if i == 3 || i == 5 {
				want = ops[i].Size
			}
			if op.Size != want {
				t.Errorf("quantile %g: operation %d takes %d, want %d", tc.quantile, i, op.Size, want)
			}
		}
		if report.denoised != 4 || report.before != 160 || report.after != 4*unit.Duration(tc.want) {
			t.Errorf("quantile %g: %+v", tc.quantile, report)
		}
	}
}
