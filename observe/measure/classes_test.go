package measure

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestClassesOf: pairs of different hosts are near and far if one gap between their times is clear, and all far otherwise.
func TestClassesOf(t *testing.T) {
	pairs := func(halves ...float64) (list []pairTime) {
		for i, half := range halves {
			list = append(list, pairTime{[2]int{0, i + 1}, half})
		}
		return list
	}
	for _, c := range []struct {
		name        string
		same, other []pairTime
		want        []Class
	}{
		{"one rank", nil, nil, nil},
		{"one host", pairs(100, 300, 200), nil, []Class{{"node", [][2]int{{0, 1}, {0, 2}, {0, 3}}, 200, [2]int{0, 3}}}},
		{"no clear gap", nil, pairs(1000, 1300, 1690), []Class{{"far", [][2]int{{0, 1}, {0, 2}, {0, 3}}, 1300, [2]int{0, 2}}}},
		{"a clear gap", nil, pairs(2100, 1000, 1100, 2000), []Class{
			{"switch", [][2]int{{0, 2}, {0, 3}}, 1050, [2]int{0, 2}}, {"far", [][2]int{{0, 1}, {0, 4}}, 2050, [2]int{0, 4}}}},
		{"the largest of two gaps", nil, pairs(1000, 2000, 10000), []Class{
			{"switch", [][2]int{{0, 1}, {0, 2}}, 1500, [2]int{0, 1}}, {"far", [][2]int{{0, 3}}, 10000, [2]int{0, 3}}}},
		{"all three", pairs(100), pairs(1000, 1000, 3000), []Class{
			{"node", [][2]int{{0, 1}}, 100, [2]int{0, 1}}, {"switch", [][2]int{{0, 1}, {0, 2}}, 1000, [2]int{0, 1}},
			{"far", [][2]int{{0, 3}}, 3000, [2]int{0, 3}}}},
	} {
		if diff := gocmp.Diff(c.want, classesOf(c.same, c.other)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
