package history

import (
	"testing"

	"slackline/analyze/changes"
	"slackline/cli/exit"
	"slackline/model/dataset"
	"slackline/model/history"
	"slackline/show/tables"
)

// reported are changes of one series of two commits.
func reported(last int, list ...changes.Change) *checkReport {
	s := &changes.Series{Metric: "time", At: []int{0, last}, Values: []float64{1, 2}}
	for _, c := range list {
		if c.LawFrom == "suspect" {
			s.Suspects = append(s.Suspects, c)
		} else {
			s.Changes = append(s.Changes, c)
		}
	}
	r := &changes.Result{Commits: []history.Commit{{ID: "a"}, {ID: "b"}, {ID: "c"}}, Series: []*changes.Series{s}}
	return &checkReport{Result: r, list: tables.AllChanges(r)}
}

// What got worse decides; then what may have; then whether the last commit was compared at all.
func TestVerdict(t *testing.T) {
	worse, better := changes.Change{Worse: true}, changes.Change{}
	suspect, better2 := changes.Change{Worse: true, LawFrom: "suspect"}, changes.Change{LawFrom: "suspect"}
	for _, tc := range []struct {
		name   string
		report *checkReport
		want   string
		text   string
	}{
		{"nothing", reported(2), "unchanged", "unchanged: no change in 1 series over 3 commits"},
		{"worse and better", reported(2, better, worse), "worse", "worse: 1 worse, 1 better in 1 series over 3 commits"},
		{"better", reported(2, better), "better", "better: 1 better in 1 series over 3 commits"},
		{"suspect", reported(2, better, suspect), "suspect", "suspect: 1 better, 1 suspect in 1 series over 3 commits"},
		{"a last value that is better", reported(2, better2), "unchanged", "unchanged: 1 suspect for the better in 1 series over 3 commits"},
		{"the last commit has no values", reported(1), "inconclusive", "inconclusive: no change in 1 series over 3 commits"},
		{"worse before", reported(1, worse), "worse", "worse: 1 worse in 1 series over 3 commits"},
		{"better before", reported(1, better), "inconclusive", "inconclusive: 1 better in 1 series over 3 commits"},
	} {
		if got := tc.report.verdict(); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
		if got := tc.report.summary(); got != tc.text {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.text)
		}
	}
}

func TestWanted(t *testing.T) {
	s := &dataset.Series{CallPath: "main->solve", Metric: "time"}
	for _, tc := range []struct {
		o    search
		want bool
	}{
		{search{}, true}, {search{metric: "time"}, true}, {search{metric: "tim"}, false}, {search{path: "solve"}, true},
		{search{path: "main->"}, true}, {search{path: "Solve"}, false}, {search{metric: "time", path: "x"}, false},
	} {
		if got := tc.o.wanted(s); got != tc.want {
			t.Errorf("metric %q, path %q: %v, want %v", tc.o.metric, tc.o.path, got, tc.want)
		}
	}
}

// A metric that no commit has is misspelt.
func TestCheckNames(t *testing.T) {
	states := []*history.State{{Data: &dataset.Dataset{Series: []*dataset.Series{{Metric: "bandwidth"}, {Metric: "time"}}}}}
	if err := (&search{better: []string{"time", "bandwidth"}}).checkNames(states); err != nil {
		t.Error(err)
	}
	err := (&search{better: []string{"bandwith"}}).checkNames(states)
	if want := "--larger-is-better: the history has no metric bandwith; did you mean bandwidth?"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, usage := err.(*exit.UsageError); !usage {
		t.Errorf("%T is not wrong usage", err)
	}
}
