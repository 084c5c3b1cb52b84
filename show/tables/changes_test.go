package tables

import (
	"math"
	"strings"
	"testing"
	"time"

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
		Suspects: []changes.Change{{Kind: changes.KindAppeared, Before: 0, After: 1, From: 0, To: 2, P: math.NaN(), Worse: true}},
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
}

// The smallest value is the lowest block, the largest the highest; of many values the last 16 are drawn.
func TestSpark(t *testing.T) {
	long := make([]float64, 20)
	for i := range long {
		long[i] = float64(i)
	}
	for _, tc := range []struct {
		values []float64
		want   string
	}{
		{nil, ""}, {[]float64{3}, "▅"}, {[]float64{3, 3}, "▅▅"}, {[]float64{0, 1, 2, 7}, "▁▂▃█"}, {[]float64{-1e-9, 1e-9}, "▁█"},
		{[]float64{9, 2}, "█▁"},
		{long, "▁▁▁▂▂▃▃▄▄▅▅▆▆▇▇█"}, // 4 to 19: block i*7/15
	} {
		if got := spark(tc.values); got != tc.want {
			t.Errorf("spark(%v) = %s, want %s", tc.values, got, tc.want)
		}
	}
}

// A series is shown with its last value and its changes; one without a law or changes has a dash there.
func TestHistorySeries(t *testing.T) {
	r := &changes.Result{Commits: []history.Commit{{ID: "0123456789abcdef"}, {ID: "r2"}}, Series: []*changes.Series{
		{CallPath: "<root>", Metric: "time", Unit: "s", At: []int{0, 1}, Values: []float64{1, 2}, Law: "O(p)",
			Changes: []changes.Change{{Kind: changes.KindLevel, Before: 0, After: 1, From: 1, To: 2, Worse: true}}},
		{CallPath: "solve", Metric: "bytes", Unit: "B", At: []int{0}, Values: []float64{4096}},
	}}
	wantText(t, HistorySeries(r).Pick("callpath", "metric", "commits", "last", "law", "changes"), `
callpath         metric  commits   last  law   changes
(the whole run)  time          2     2s  O(p)  2 x at r2
solve            bytes         1  4 KiB  -     -`)
}

// Programs get whole names of commits, times in UTC, and values with all digits.
func TestHistoryValues(t *testing.T) {
	east := time.FixedZone("east", 2*60*60)
	r := &changes.Result{
		Commits: []history.Commit{{ID: "0123456789abcdef", Time: time.Date(2026, 1, 1, 1, 2, 3, 0, east)}, {ID: "b", Time: time.Unix(0, 0)}},
		Series:  []*changes.Series{{CallPath: "main/a,b", Metric: "time", Unit: "s", At: []int{1, 0}, Values: []float64{1.0 / 3, 2}}},
	}
	const want = "callpath,metric,unit,commit,time,value\n\"main/a,b\",time,s,b,1970-01-01T00:00:00Z,0.3333333333333333\n" +
		"\"main/a,b\",time,s,0123456789abcdef,2025-12-31T23:02:03Z,2\n"
	if got := csvOf(t, HistoryValues(r)); got != want {
		t.Errorf("values\n%s\nwant\n%s", got, want)
	}
}

// What is suspect comes last, and a probability that is not known is empty.
func TestChangeRows(t *testing.T) {
	r := &changes.Result{Commits: []history.Commit{{ID: "0123456789abcdef"}, {ID: "r2"}}, Series: []*changes.Series{
		{CallPath: "a", Metric: "m", Suspects: []changes.Change{{Kind: changes.KindLevel, Before: 0, After: 1, From: 1, To: 1.5, P: 0.0123,
			Worse: true}}},
		{CallPath: "b", Metric: "m", Unit: "s", Changes: []changes.Change{
			{Kind: changes.KindModel, Before: 0, After: 1, From: 1, To: 2, P: math.NaN(), LawFrom: "O(1)", LawTo: "O(p)"}}},
	}}
	const want = "verdict,callpath,metric,unit,kind,before,after,from,to,p,law_from,law_to\n" +
		"better,b,m,s,model,0123456789abcdef,r2,1,2,,O(1),O(p)\nsuspect,a,m,,level,0123456789abcdef,r2,1,1.5,0.0123,,\n"
	if got := csvOf(t, ChangeRows(r, AllChanges(r))); got != want {
		t.Errorf("changes\n%s\nwant\n%s", got, want)
	}
}
