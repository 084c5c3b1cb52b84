package explore

import (
	"fmt"
	"testing"

	"slackline/model/unit"
)

// The pieces of a stack add up to the calls: of each depth, none is lost and none is counted twice.
func TestStack(t *testing.T) {
	v := viewOf(t, halo(t, 4, 3), false)
	for _, width := range []int{1, 7, 300, MaxWidth} {
		for _, from := range []int64{0, int64(v.length()) / 3} {
			q, err := newQuery(fmt.Sprintf("location=2&width=%d&from=%d", width, from), []string{"location", "width", "from"})
			if err != nil {
				t.Fatal(err)
			}
			answer, err := answerStack(t.Context(), v, q)
			if err != nil {
				t.Fatal(err)
			}
			calls, _ := v.callsOf(2, v.tl.Start+unit.Duration(from), v.end(), 1<<20)
			want, got := map[int]int{}, map[int]int{}
			for _, c := range calls {
				want[c.Depth]++
			}
			end := map[int]int64{}
			step := (int64(v.length())-from-1)/int64(width) + 1
			for _, p := range answer.(*Stack).Pieces {
				got[p.Depth] += p.Calls
				if p.From < end[p.Depth] || p.Calls > 1 && p.To-p.From > step {
					t.Errorf("width %d: %+v after %d", width, p, end[p.Depth])
				}
				end[p.Depth] = p.To
			}
			if fmt.Sprint(got) != fmt.Sprint(want) || answer.(*Stack).Levels != len(want) {
				t.Errorf("width %d from %d: calls by depth %v in %d levels, want %v", width, from, got, answer.(*Stack).Levels, want)
			}
		}
	}
}

// A picture of some ranks has the rows that they have in the picture of all.
func TestRowsOfRanks(t *testing.T) {
	v := viewOf(t, halo(t, 9, 3), false)
	all, err := v.kinds.paint(t.Context(), 0, v.length(), 60, rows{last: 9}, 9)
	if err != nil {
		t.Fatal(err)
	}
	q, err := newQuery("ranks=1,4-6&first=1&last=4", []string{"ranks", "first", "last"})
	if err != nil {
		t.Fatal(err)
	}
	chosen := q.rows(v)
	if q.err != nil {
		t.Fatal(q.err)
	}
	some, err := v.kinds.paint(t.Context(), 0, v.length(), 60, chosen, 9)
	if err != nil {
		t.Fatal(err)
	}
	for row, rank := range []int{4, 5, 6} {
		got, want := some.cells[row*some.columns:][:some.columns], all.cells[rank*all.columns:][:all.columns]
		if fmt.Sprint(got) != fmt.Sprint(want) || !chosen.has(rank) || chosen.has(1) {
			t.Errorf("row %d = %v, want that of rank %d, %v", row, got, rank, want)
		}
	}
}
