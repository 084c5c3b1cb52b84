package tolerance

import (
	"math"
	"slices"
	"strings"
	"testing"

	"slackline/model/schedule"
	"slackline/model/unit"
)

// Values are at equal distances, rounded down, with both ends, also where differences are as large as they can be.
func TestSpaced(t *testing.T) {
	for _, tc := range []struct {
		from, to int64
		n        int
		want     []int64
	}{
		{0, 10, 2, []int64{0, 10}}, {0, 10, 3, []int64{0, 5, 10}}, {0, 10, 4, []int64{0, 3, 6, 10}}, {5, 7, 9, []int64{5, 6, 7}},
		{0, math.MaxInt64, 3, []int64{0, math.MaxInt64 / 2, math.MaxInt64}},
	} {
		if got := spaced(tc.from, tc.to, tc.n); !slices.Equal(got, tc.want) {
			t.Errorf("spaced(%d, %d, %d) = %v, want %v", tc.from, tc.to, tc.n, got, tc.want)
		}
	}
}

func TestPercents(t *testing.T) {
	var p percents
	if err := p.Set("1%, 0.25%,100%"); err != nil || p.String() != "1%,0.25%,100%" {
		t.Errorf("%s, error %v", p.String(), err)
	}
	for _, text := range []string{"", "1%,", "-1%", "x%", "1e3%"} {
		if err := p.Set(text); err == nil {
			t.Errorf("%q is read as %s", text, p.String())
		}
	}
	if p.String() != "1%,0.25%,100%" {
		t.Errorf("%s after lists that cannot be read", p.String())
	}
}

// Without a number there are nine values.
func TestGridOfG(t *testing.T) {
	var g gridOfG
	if err := g.Set("0:8ns"); err != nil || len(g.values) != 9 || g.values[1] != unit.PerByte(1_000_000) || g.String() != "0:8ns" {
		t.Errorf("values %v, error %v", g.values, err)
	}
	if err := g.Set("1ns:2ns:2"); err != nil || len(g.values) != 2 {
		t.Errorf("values %v, error %v", g.values, err)
	}
	for text, want := range map[string]string{"2ns:1ns": "smaller end", "0:1ns:1": "at least 2", "0:1ns:201": "at most 200",
		"1ns": "0.01ns:0.1ns:5"} {
		if err := g.Set(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}

// Ranges are read in the unit of the parameter.
func TestParseRange(t *testing.T) {
	for _, tc := range []struct {
		parameter, text string
		from, to        int64
	}{{"L", "1ns:2us", 1000, 2_000_000}, {"o", "0:1ps", 0, 1}, {"G", "0:1ns", 0, 1_000_000}, {"G", "0.000001ns:1ns", 1, 1_000_000}} {
		o := questionOptions{parameter: tc.parameter, span: tc.text}
		if from, to, err := o.parseRange(); err != nil || from != tc.from || to != tc.to {
			t.Errorf("--parameter %s --range %s: %d to %d, error %v; want %d to %d", tc.parameter, tc.text, from, to, err, tc.from, tc.to)
		}
	}
}

// A call that is the last name of its path is named once; one of which the last name only ends in its name is not.
func TestOriginName(t *testing.T) {
	origins := []schedule.Origin{
		{}, {Call: "MPI_Send"}, {Path: []string{"main", "solve"}}, {Path: []string{"main"}, Call: "MPI_Send"},
		{Path: []string{"main", "MPI_Send"}, Call: "MPI_Send"}, {Path: []string{"main", "my_MPI_Send"}, Call: "MPI_Send"},
	}
	for i, want := range []string{"-", "MPI_Send", "main/solve", "main/MPI_Send", "main/MPI_Send", "main/my_MPI_Send/MPI_Send", "-"} {
		if got := originName(origins, uint32(i)); got != want {
			t.Errorf("origin %d is called %q, want %q", i, got, want)
		}
	}
}
