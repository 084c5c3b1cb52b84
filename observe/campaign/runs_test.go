package campaign

import (
	"fmt"
	"strings"
	"testing"
)

// TestDesignOfLines: lines along each parameter from the smallest values on, and the middle values of several together.
func TestDesignOfLines(t *testing.T) {
	plan := func(design string) []string {
		t.Helper()
		p, err := parsePlan("plan.yaml", []byte("parameters: {p: 2^1..2^5, n: [10, 20, 30], m: 1..2}\ncommand: prog {p} {n} {m}\n"+
			"cores: 1\n"+design))
		if err != nil {
			t.Fatal(err)
		}
		runs, err := p.ordered()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, r := range runs {
			names = append(names, strings.TrimSuffix(r.Name, ".r1"))
		}
		return names
	}
	if got := len(plan("design: all")); got != 30 || len(plan("")) != 30 {
		t.Errorf("%d and %d of all combinations, want 30", got, len(plan("")))
	}
	want := "[p2.n10.m1 p2.n10.m2 p2.n20.m1 p2.n20.m2 p2.n30.m1 p4.n10.m1 p8.n10.m1 p8.n10.m2 p8.n20.m1 p8.n20.m2 p16.n10.m1 p32.n10.m1]"
	if got := fmt.Sprint(plan("design: lines")); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	want = "[p2.n10.m1 p2.n20.m1 p2.n30.m1 p4.n10.m1 p8.n10.m1 p8.n20.m1]"
	if got := fmt.Sprint(plan("design: lines\nonly: p <= 8 and m = 1")); got != want {
		t.Errorf("with a filter: %s", got)
	}
	_, err := parsePlan("plan.yaml", []byte("parameters: {p: 1..4}\ndesign: line\ncommand: prog {p}"))
	if err == nil || !strings.Contains(err.Error(), `plan.yaml:2:1: expected all or lines, got "line"`) {
		t.Errorf("a wrong word: %v", err)
	}
}
