package tables

import (
	"math"
	"strings"
	"testing"

	"slackline/analyze/changes"
	"slackline/model/history"
)

func TestChanges(t *testing.T) {
	r := &changes.Result{Commits: []history.Commit{{ID: "0123456789abcdef"}, {ID: "r2"}}, Series: []*changes.Series{{
		CallPath: "solve", Metric: "time", Unit: "s", At: []int{0, 1}, Values: []float64{1, 2}, Law: "O(p)",
		Changes: []changes.Change{
			{Kind: changes.KindLevel, Before: 0, After: 1, From: 1, To: 2, Worse: true},
			{Kind: changes.KindNoise, Before: 0, After: 1, From: 0.02, To: 0.01},
			{Kind: changes.KindModel, Before: 0, After: 1, From: 1, To: 1.5, Worse: true, LawFrom: "O(1)", LawTo: "O(p)"},
		},
		Suspect: &changes.Change{Kind: changes.KindAppeared, Before: 0, After: 1, From: 0, To: 2, P: math.NaN(), Worse: true},
	}}}
	var rows []string
	for _, row := range Changes(r, AllChanges(r)).Rows {
		var cells []string
		for _, c := range row {
			cells = append(cells, c.Text)
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	want := []string{
		"worse|solve|time|level|1s|2s|2 x|0123456789..r2",
		"better|solve|time|noise|+-2 %|+-1 %|-50 %|0123456789..r2",
		"worse|solve|time|model|O(1)|O(p)|+50 %|0123456789..r2",
		"suspect|solve|time|appeared|0|2s|appeared|0123456789..r2",
	}
	if strings.Join(rows, "\n") != strings.Join(want, "\n") {
		t.Errorf("rows =\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
	if got := spark([]float64{0, 1, 2, 7}); got != "▁▂▃█" {
		t.Errorf("Spark = %s", got)
	}
}
