package machine

import (
	"fmt"
	"testing"
)

// BenchmarkClass shows what the class of a message costs by kind of placement.
func BenchmarkClass(b *testing.B) {
	const ranks = 1 << 16
	listed := make([]int32, ranks)
	for r := range listed {
		listed[r] = int32(r / 48)
	}
	for _, tc := range []struct {
		placement string
		perNode   int
		p         Placement
	}{
		{"block", 1, Placement{}},
		{"block", 64, Placement{}},
		{"block", 48, Placement{}},
		{"cyclic", 48, Placement{Cyclic: true}},
		{"list", 48, Placement{Nodes: listed}},
	} {
		b.Run(fmt.Sprintf("placement=%s/perNode=%d", tc.placement, tc.perNode), func(b *testing.B) {
			m := FromParams("m", params(1, 1, 1, 1, 0, NoLimit))
			m.RanksPerNode, m.NodesPerSwitch, m.Placement = tc.perNode, 16, tc.p
			l, err := m.Layout(ranks)
			if err != nil {
				b.Fatal(err)
			}
			var count [NumClasses]int
			r := 0
			for b.Loop() {
				count[l.Class(r, (r+1000)&(ranks-1))]++
				r = (r + 1) & (ranks - 1)
			}
			if count[Far] == 0 {
				b.Error("no far pair")
			}
		})
	}
}
