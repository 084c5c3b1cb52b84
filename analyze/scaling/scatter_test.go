package scaling

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"slackline/internal/needed"
	"slackline/internal/stat"
	"slackline/model/dataset"
)

var updateScatter = flag.Bool("update-scatter", false, "write testdata/scaling/scatter again")

// scatteredRow draws measurements of a row of the paper around exact ones: the points scatter so much that the fit of the printed
// law has the printed adjusted R2, and each point has the first quartile of ten runs there. It returns the lead that the
// method of the paper finds in its search space, too.
func scatteredRow(row *paperRow, exact *dataset.Series, seed uint64) (*dataset.Series, Term) {
	const runs, spread = 10, 0.03
	target := min(*row.AdjustedR2, 0.9985) // is printed as 1.00
	random := rand.New(rand.NewPCG(seed, 2015))
	lead, err := ParseTerm(row.Model)
	if err != nil {
		panic(err)
	}
	c := &sample{params: 1}
	draws := make([]float64, len(exact.Points))
	for _, p := range exact.Points {
		c.at = append(c.at, p.At)
	}
	c.value = make([]float64, len(draws))
	n := float64(len(draws))
	fitted := func(size float64) float64 {
		for i, p := range exact.Points {
			c.value[i] = p.Values[0] * max(1+size*draws[i], 0.1)
		}
		_, tss := meanAndSquares(c.value)
		_, _, rss, _ := leastSquares(c, lead)
		return 1 - rss/tss*(n-1)/(n-2)
	}
	for fit := 1.0; fit > target+0.001; { // some draws fit the law at any size: the largest point decides
		for i := range draws {
			draws[i] = random.NormFloat64()
		}
		low, high := 0.0, 1.0
		for range 50 {
			if middle := (low + high) / 2; fitted(middle) > target {
				low = middle
			} else {
				high = middle
			}
		}
		fit = fitted(low)
	}
	s := &dataset.Series{CallPath: exact.CallPath, Metric: exact.Metric}
	for i, v := range c.value {
		values := make([]float64, runs)
		for j := range values {
			values[j] = random.ExpFloat64()
		}
		quartile := stat.Quantile(stat.Sorted(values), 0.25)
		for j := range values {
			values[j] = v * (1 + spread*(values[j]-quartile))
		}
		s.Points = append(s.Points, dataset.Point{At: c.at[i], Values: values})
	}
	m, err := newModeler([]string{"p"}, Options{Method: Paper})
	if err != nil {
		panic(err)
	}
	f, err := m.fitWith(s, NamedSpace(SpacePaper).Only)
	if err != nil {
		panic(err)
	}
	return s, f.Leads[0]
}

// TestScatter says how often the method of the paper finds the lead from which scattered measurements were made, or at least one of
// the same match, and how often the evidence does. With -update-scatter it writes those of the first seed for which the paper's does.
func TestScatter(t *testing.T) {
	needed.Full(t, "1,850 draws of measurements")
	var tables paperTables
	loadJSON(t, "paper_tables.json", &tables)
	const seeds = 50
	rows := append(tables.Table2.Rows, tables.Table3.Rows...)
	total := 0
	var leads, matches [2]int // by method: that of the paper, evidence
	files := map[string]map[string]map[string][]map[string]any{}
	for i := range rows {
		row := &rows[i]
		exact := load(t, "paper/"+paperMachines[row.Machine]+".json").Find(row.callPath(), "")
		series, hits := exact, 0
		if row.AdjustedR2 != nil {
			series = nil
			m, err := newModeler([]string{"p"}, Options{Further: NamedSpace(SpacePaper).Only})
			if err != nil {
				t.Fatal(err)
			}
			expected, lead := mustTerm(t, row.Expectation), mustTerm(t, row.Model)
			for seed := range uint64(seeds) {
				s, found := scatteredRow(row, exact, seed+1)
				f, err := m.fit(s)
				if err != nil {
					t.Fatal(err)
				}
				total++
				for k, got := range []Term{found, f.Leads[0]} {
					if got == lead {
						leads[k]++
					}
					if RankOf(got, expected, mustTerm(t, tables.Table2.Limit)).String() == row.Match {
						matches[k]++
					}
				}
				if found == lead {
					if hits++; series == nil {
						series = s
					}
				}
			}
			if series == nil {
				t.Fatalf("%s on %s: none of %d draws has the lead %s", row.Function, row.Machine, seeds, row.Model)
			}
			t.Logf("%s on %s, %s, adjusted R2 %.2f: %d of %d", row.Function, row.Machine, row.Model, *row.AdjustedR2, hits, seeds)
		}
		var points []map[string]any
		for _, p := range series.Points {
			var values []json.Number
			for _, v := range p.Values {
				values = append(values, json.Number(fmt.Sprintf("%.6g", v)))
			}
			points = append(points, map[string]any{"point": p.At, "values": values})
		}
		if files[row.Machine] == nil {
			files[row.Machine] = map[string]map[string][]map[string]any{}
		}
		files[row.Machine][series.CallPath] = map[string][]map[string]any{series.Metric: points}
	}
	if total != 1850 || leads != [2]int{548, 1020} || matches != [2]int{1083, 1288} {
		t.Errorf("of %d draws %d leads and %d matches (paper, evidence); docs/studies/scaling.md has other numbers", total, leads, matches)
	}
	if !*updateScatter {
		return
	}
	for machine, series := range files {
		data, err := json.Marshal(map[string]any{"parameters": []string{"p"}, "measurements": series})
		if err != nil {
			t.Fatal(err)
		}
		data = slices.Concat(data, []byte("\n"))
		if err := os.WriteFile(filepath.Join(reference, "scatter", paperMachines[machine]+".json"), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
