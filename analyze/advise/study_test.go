package advise

import (
	"testing"

	"slackline/model/unit"
)

func TestRanksInWords(t *testing.T) {
	for _, tc := range []struct {
		ranks []int
		want  string
	}{
		{nil, "no rank"}, {[]int{4}, "rank 4"}, {[]int{4, 5}, "ranks 4 to 5"}, {[]int{0, 1, 2, 3}, "ranks 0 to 3"},
		{[]int{0, 2}, "ranks 0 and 2"},
		{[]int{1, 3, 4}, "ranks 1, 3 and 4"}, {[]int{0, 2, 4, 6, 8, 10}, "ranks 0, 2, 4, 6, 8 and 10"},
		{[]int{1, 3, 5, 7, 9, 11, 13}, "7 ranks, the first is 1"},
	} {
		if got := ranksInWords(tc.ranks); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.ranks, got, tc.want)
		}
	}
}

// TestHeavy: ranks that have more than half way from the mean to the most.
func TestHeavy(t *testing.T) {
	for _, tc := range []struct {
		times []unit.Duration
		want  string
	}{
		{[]unit.Duration{100, 100, 100, 400}, "rank 3"},
		{[]unit.Duration{5}, "rank 0"},
		{[]unit.Duration{7, 7, 7}, "ranks 0 to 2"},
		{[]unit.Duration{0, 0, 0}, "ranks 0 to 2"},
		{[]unit.Duration{10, 0, 8, 0}, "ranks 0 and 2"}, // the mean is 4, half way to 10 is 7
	} {
		c := &computation{byRank: tc.times}
		for _, d := range tc.times {
			c.total, c.max = c.total+d, max(c.max, d)
		}
		if got := c.heavy(); got != tc.want {
			t.Errorf("%v: %s, want %s", tc.times, got, tc.want)
		}
	}
}

func TestPlace(t *testing.T) {
	s := &study{}
	if s.place("") != "the program" || s.place("main/f`") != "`main/f'`" {
		t.Errorf("%s, %s", s.place(""), s.place("main/f`"))
	}
	s.source = func(path string) string { return map[string]string{"main": "m.c:3"}[path] }
	if s.place("main") != "`main` (m.c:3)" || s.place("other") != "`other`" {
		t.Errorf("%s, %s", s.place("main"), s.place("other"))
	}
	if parentOf("a/b/c") != "a/b" || parentOf("a") != "" || capital("rank 3") != "Rank 3" {
		t.Errorf("%s, %s, %s", parentOf("a/b/c"), parentOf("a"), capital("rank 3"))
	}
}
