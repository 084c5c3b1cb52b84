package campaign

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPlaces: which runs a directory holds, which ended well, and where a file of one is.
func TestPlaces(t *testing.T) {
	file := campaignOf(t, twoPoints, map[string]string{
		"p1.r1/" + orderFile:  `{"run":"p1.r1","attempt":2,"command":["x"],"point":[{"name":"p","value":1}]}`,
		"p1.r1/" + resultFile: `{"attempt":2,"status":"ended","exit":0}`,
		"p1.r1/a/b/trace.slt": "",
		"p2.r1/" + orderFile:  `{"run":"p2.n0.5.r1","attempt":2,"command":["x"]}`,
		"p2.r1/" + resultFile: `{"attempt":1,"status":"ended","exit":0}`, // of an attempt before
		"p3.r1/" + orderFile:  `{"run":"p3.r1","attempt":1,"command":["x"],"point":[{"name":"p","value":3}]}`,
		"p3.r1/" + resultFile: `{"attempt":1,"status":"ended","exit":1}`,
		"p4.r1/" + orderFile:  `{"run":"p4.r1","attempt":1,"command":["x"],"point":[{"name":"p","value":4}]}`,
		"p4.r1/" + resultFile: `{"attempt":1,"status":"timeout","exit":0}`,
		"p5.r1/" + orderFile:  `{"run":"p5.r1","attempt":1}`, // no command: damaged
		"p6.n3.r1/order.json": "",
		"p7.r1/" + orderFile:  `{"run":"p7.r1","attempt":1,"command":["x"]}`,
		"p7.r1/" + resultFile: `{"attempt":1,"status":"end`,
		"p8.r1/x":             "",
	}, head)
	dir := filepath.Join(filepath.Dir(file), "plan.runs")
	for path, want := range map[string][]Value{
		"runs/p1.r1":                   {{"p", 1}},
		"runs/p1.r1/stdout":            {{"p", 1}},
		"runs/p1.r1/a/b/trace.slt":     {{"p", 1}},
		"runs/p1.r1/a/b/c/d/trace.slt": nil, // deeper than a run makes directories
		"runs/p2.r1/x":                 {{"p", 2}, {"n", 0.5}},
		"runs/p5.r1/x":                 {{"p", 5}},
		"runs/p6.n3.r1/stdout":         {{"p", 6}, {"n", 3}},
		"x":                            nil,
	} {
		if got := PointOf(filepath.Join(dir, path)); !slices.Equal(got, want) {
			t.Errorf("%s is at %v, want %v", path, got, want)
		}
	}
	finished, others, err := FinishedRuns(dir)
	if want := []string{filepath.Join(dir, "runs", "p1.r1")}; !slices.Equal(finished, want) || len(others) != 6 ||
		filepath.Base(others[0]) != "p2.r1" {
		t.Errorf("finished %q, not %q; want %q, and 6 others", finished, others, want)
	}
	for _, name := range []string{"p5.r1", "p6.n3.r1", "p7.r1"} { // the damaged ones
		run := filepath.Join(dir, "runs", name)
		if err == nil || !strings.HasPrefix(err.Error(), run+"/") || !strings.HasSuffix(err.Error(), "move "+run+" away to leave this run out") {
			t.Errorf("%s: %v, want what is damaged and a way out", name, err)
		}
		if err := os.RemoveAll(run); err != nil {
			t.Fatal(err)
		}
		_, _, err = FinishedRuns(dir)
	}
	if err != nil {
		t.Error(err)
	}
	if !IsDir(dir) || IsDir(filepath.Join(dir, "runs")) || IsDir(filepath.Join(dir, "none")) {
		t.Error("the directory of a campaign is not known, or another one is")
	}
	if _, _, err := FinishedRuns(filepath.Join(dir, "none")); !os.IsNotExist(err) {
		t.Errorf("a directory that is not there: %v", err)
	}
}
