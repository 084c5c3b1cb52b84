package scaling

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"slackline/model/dataset"
)

const reference = "../../testdata/scaling/"

// load reads a dataset of the reference.
func load(t testing.TB, path string) *dataset.Dataset {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(reference, path))
	if err != nil {
		t.Fatal(err)
	}
	d, _, err := dataset.Read(path, data, "")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func loadJSON(t testing.TB, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(reference, path))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// cells are the names of the synthetic data sets.
func cells(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(reference + "cases/*.truth.json")
	if err != nil || len(files) != 24 {
		t.Fatalf("%d cells, want 24 (%v)", len(files), err)
	}
	sort.Strings(files)
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".truth.json"))
	}
	return names
}

func triple(t Term) string { return fmt.Sprintf("%s %s %s", t.Exp, t.Poly, t.Log) }

func modeler(t testing.TB, d *dataset.Dataset, o Options) *Modeler {
	t.Helper()
	m, err := newModeler(d.Parameters, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestReferenceLeads holds every lead, form and confidence against two other
// implementations of the algorithm, and that the weights of all leads are all there is.
func TestReferenceLeads(t *testing.T) {
	var want map[string]map[string][]any
	loadJSON(t, "reference_leads.json", &want)
	for _, cell := range cells(t) {
		d := load(t, "cases/"+cell+".json")
		m := modeler(t, d, Options{})
		for _, s := range d.Series {
			fit, err := m.fit(s)
			if err != nil {
				t.Errorf("%s %s: %v", cell, s.CallPath, err)
				continue
			}
			var got []any
			for _, lead := range fit.Leads {
				got = append(got, triple(lead))
			}
			if len(d.Parameters) == 2 {
				got = append(got, fit.Form.String())
			}
			ref := want[cell][s.CallPath]
			if fmt.Sprint(got...) != fmt.Sprint(ref[:len(ref)-1]...) {
				t.Errorf("%s %s: %v, want %v", cell, s.CallPath, got, ref)
			}
			if confidence := ref[len(ref)-1].(float64); math.Abs(confidence-fit.Confidence) > 2e-4 {
				t.Errorf("%s %s: confidence %.5f, want %v", cell, s.CallPath, fit.Confidence, confidence)
			}
			left := 1.0
			for _, g := range fit.Groups {
				left -= g.Weight
			}
			if math.Abs(left) > 1e-6 {
				t.Errorf("%s %s: weights of %.3g are in no group", cell, s.CallPath, left)
			}
		}
	}
}
