package scaling

import (
	"math"
	"strings"
	"testing"

	"slackline/internal/needed"
)

// minExact are the exact-recovery rates of the cells, in per cent, that must be
// reached.
var minExact = map[string]float64{
	"p5-none": 100, "p5-g02": 69.2, "p5-g05": 58.3, "p5-g10": 44.2, "p5-x10": 68.3,
	"p6-none": 100, "p6-g02": 75, "p6-g05": 58.3, "p6-g10": 46.7, "p6-x10": 65.8,
	"p8-none": 100, "p8-g02": 80, "p8-g05": 68.3, "p8-g10": 58.3, "p8-x10": 71.7,
	"k6-none": 100, "k6-g05": 65, "k6-x10": 55, "k8-none": 100, "k8-g05": 65, "k8-x10": 71.7,
	"pq-none": 100, "pq-g02": 87, "pq-g05": 69,
}

type truth struct {
	Lead  *leadJSON           `json:"lead"`
	Leads map[string]leadJSON `json:"leads"`
	Form  string              `json:"form"`
	Class string              `json:"class"`
	Parts []struct {
		Term        leadJSON `json:"term"`
		Coefficient float64  `json:"coefficient"`
	} `json:"parts"`
}

type leadJSON struct{ Exp, Poly, Log string }

func (l leadJSON) term() Term { return term(l.Exp, l.Poly, l.Log) }

func (tr truth) term(parameter string) Term {
	if tr.Lead != nil {
		return tr.Lead.term()
	}
	return tr.Leads[parameter].term()
}

// TestRecovery compares the leads with the truth, and the confidence with how
// often it is right.
func TestRecovery(t *testing.T) {
	confident, confidentRight, models := 0, 0, 0
	for _, cell := range cells(t) {
		d := load(t, "cases/"+cell+".json")
		var truths map[string]truth
		loadJSON(t, "cases/"+cell+".truth.json", &truths)
		m := modeler(t, d, Options{})
		exact := 0
		for _, s := range d.Series {
			fit, err := m.fit(s)
			if err != nil {
				t.Fatal(err)
			}
			right := true
			for i, p := range d.Parameters {
				right = right && fit.Leads[i] == truths[s.CallPath].term(p)
			}
			models++
			if right {
				exact++
			}
			if fit.Confidence >= 0.9 {
				confident++
				if right {
					confidentRight++
				}
			}
		}
		rate := 100 * float64(exact) / float64(len(d.Series))
		if rate < minExact[cell]-0.05 {
			t.Errorf("%s: %.1f %% exact, want at least %.1f", cell, rate, minExact[cell])
		}
	}
	if share := float64(confident) / float64(models); share < 0.2 {
		t.Errorf("%.1f %% of the models have a confidence of 0.9, want a fifth", 100*share)
	}
	if right := float64(confidentRight) / float64(confident); right < 0.93 {
		t.Errorf("%.1f %% of the confident models are right, want 93", 100*right)
	}
	t.Logf("%d models, %d confident, %d of these right", models, confident, confidentRight)
}

// TestFalseAlarms expects the truth, with two limits: no failure in all p cells by the weight of
// the evidence. Laws that decrease towards a floor fail for that reason alone.
func TestFalseAlarms(t *testing.T) {
	needed.Full(t, "long runs")
	inconclusive, floors := map[string]int{}, 0
	for _, cell := range cells(t) {
		if cell[0] != 'p' || strings.HasPrefix(cell, "pq") {
			continue
		}
		d := load(t, "cases/"+cell+".json")
		var truths map[string]truth
		loadJSON(t, "cases/"+cell+".truth.json", &truths)
		for _, limit := range []string{"", "sqrt(p)"} {
			e := &Expectations{}
			for _, s := range d.Series {
				e.Checks = append(e.Checks, expect(t, s.CallPath, truths[s.CallPath].term("p").landau("p"), limit))
			}
			r, err := Judge(e, d, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range r.Checks {
				switch c.Verdict {
				case Fail:
					if c.Over < failAt && c.Floor >= floorAt && truths[c.Function].Class == "decreasing" {
						floors++ // a law that decreases towards a floor: another reason to fail
						continue
					}
					t.Errorf("%s %s: false alarm (%s, limit %q)", cell, c.Function, c.Reason, limit)
				case Inconclusive:
					inconclusive[cell[3:]+" "+limit]++
				}
			}
		}
	}
	for key, most := range map[string]int{"g02 ": 13, "g05 ": 29, "g10 ": 59, "x10 ": 20} {
		if inconclusive[key] > most {
			t.Errorf("%s: %d inconclusive, want at most %d", key, inconclusive[key], most)
		}
	}
	t.Log("inconclusive:", inconclusive, "floors:", floors)
}

func expect(t testing.TB, function, text, limit string) *Expectation {
	t.Helper()
	x := &Expectation{Function: function}
	var err error
	if x.Expect, err = ParseExpression(text); err != nil {
		t.Fatal(err)
	}
	if limit != "" {
		if x.Limit, err = ParseExpression(limit); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

// TestDetection expects a law that grows less by x^(3/4), with the limit x^(1/4).
func TestDetection(t *testing.T) {
	found, of, passed := map[string]int{}, map[string]int{}, map[string]int{}
	for _, cell := range cells(t) {
		if cell[0] != 'p' || strings.HasPrefix(cell, "pq") {
			continue
		}
		d := load(t, "cases/"+cell+".json")
		var truths map[string]truth
		loadJSON(t, "cases/"+cell+".truth.json", &truths)
		e := &Expectations{}
		for _, s := range d.Series {
			expected := truths[s.CallPath].term("p").Div(mustTerm2("p^(3/4)"))
			if expected.growth() >= 0 {
				e.Checks = append(e.Checks, expect(t, s.CallPath, expected.landau("p"), "p^(1/4)"))
			}
		}
		r, err := Judge(e, d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		noise := cell[3:]
		for _, c := range r.Checks {
			of[noise]++
			switch c.Verdict {
			case Fail:
				found[noise]++
			case Pass:
				passed[noise]++
			}
		}
	}
	for noise, least := range map[string]int{"none": 159, "g02": 145, "g05": 139, "g10": 108, "x10": 126} {
		if found[noise] < least {
			t.Errorf("%s: %d of %d found, want %d", noise, found[noise], of[noise], least)
		}
	}
	t.Log("found", found, "of", of, "passed", passed)
}

func mustTerm2(text string) Term {
	x, err := ParseTerm(text)
	if err != nil {
		panic(err)
	}
	return x
}

// TestPruning shows that leaving out hypotheses early changes no result.
func TestPruning(t *testing.T) {
	needed.Full(t, "long runs")
	for _, cell := range cells(t) {
		d := load(t, "cases/"+cell+".json")
		fast, slow := modeler(t, d, Options{}), modeler(t, d, Options{noPruning: true})
		for _, s := range d.Series {
			a, err := fast.fit(s)
			if err != nil {
				t.Fatal(err)
			}
			b, err := slow.fit(s)
			if err != nil {
				t.Fatal(err)
			}
			if a.Model.String() != b.Model.String() || a.Confidence != b.Confidence || a.Form != b.Form || len(a.Groups) != len(b.Groups) {
				t.Errorf("%s %s: %s (%v) with pruning, %s (%v) without", cell, s.CallPath, &a.Model, a.Confidence, &b.Model, b.Confidence)
				continue
			}
			for i := range a.Groups {
				if math.Abs(a.Groups[i].Weight-b.Groups[i].Weight) > 1e-15 {
					t.Errorf("%s %s: weight %v with pruning, %v without", cell, s.CallPath, a.Groups[i].Weight, b.Groups[i].Weight)
				}
			}
		}
	}
}
