package scaling

import (
	"os"
	"path/filepath"
	"testing"
)

// exit codes of the verdicts
var codes = map[Verdict]int{Pass: 0, Fail: 3, Inconclusive: 4}

// TestWorkedVerdicts judges the worked cases.
func TestWorkedVerdicts(t *testing.T) {
	var want map[string]int
	loadJSON(t, "check/expected.json", &want)
	if len(want) != 9 {
		t.Fatalf("%d cases, want 9", len(want))
	}
	for name, code := range want {
		r := judgeFile(t, name)
		if codes[r.Verdict] != code {
			t.Errorf("%s: %s, want exit code %d", name, r.Verdict, code)
		}
	}
	r := judgeFile(t, "memory-wall")
	if c := r.Checks[0]; c.Wall != 5457 || c.Rank != NoMatch || c.Fit.Model.String() != "16 + 0.56 * p" {
		t.Errorf("memory wall at %v, rank %s, %s", c.Wall, c.Rank, &c.Fit.Model)
	}
	r = judgeFile(t, "rule-broken-later")
	// 1 + 0.02 p > 1.05 (20 + 6 log2 p) from about 8,000 on
	if x := r.Rules[0].Crossover; !(x > 1024 && x < 1024*1024) || len(r.Rules[0].Violated) != 0 {
		t.Errorf("crossover %v, violated at %v", x, r.Rules[0].Violated)
	}
}

func judgeFile(t *testing.T, name string) *Report {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(reference, "check", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := ParseExpectations(name+".yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Judge(e, load(t, "check/"+name+".json"), Options{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}
