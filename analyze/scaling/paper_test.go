package scaling

import (
	"math"
	"strings"
	"testing"
)

// paperRow is a row of a table of the paper.
type paperRow struct {
	Function    string   `json:"function"`
	Machine     string   `json:"machine"`
	Expectation string   `json:"expectation"`
	Model       string   `json:"model"`
	Divergence  string   `json:"divergence"`
	Match       string   `json:"match"`
	AdjustedR2  *float64 `json:"adjusted_r2"`
	Constant    *float64 `json:"constant"`
	Coefficient *float64 `json:"coefficient"`
}

type paperTables struct {
	Table2, Table3, Table4 struct {
		Parameter string     `json:"parameter"`
		Limit     string     `json:"limit"`
		Rows      []paperRow `json:"rows"`
	}
	Guidelines []struct {
		Rule     string `json:"rule"`
		Machine  string `json:"machine"`
		Violated bool   `json:"violated_by_lead_terms"`
	} `json:"guidelines"`
	Wall struct {
		PerProcess struct {
			Constant    float64 `json:"constant"`
			Coefficient float64 `json:"coefficient"`
		} `json:"per_process_MB"`
		Processes float64 `json:"processes_per_node"`
		Node      float64 `json:"node_memory_GB"`
		Wall      float64 `json:"wall_processes_MiB"`
	} `json:"memory_wall"`
}

// TestPaperTables holds every rank and divergence of Tables 2, 3 and 4.
func TestPaperTables(t *testing.T) {
	var tables paperTables
	loadJSON(t, "paper_tables.json", &tables)
	rows := 0
	for _, table := range []struct {
		parameter, limit string
		rows             []paperRow
	}{
		{tables.Table2.Parameter, tables.Table2.Limit, tables.Table2.Rows},
		{tables.Table3.Parameter, tables.Table3.Limit, tables.Table3.Rows},
		{tables.Table4.Parameter, tables.Table4.Limit, tables.Table4.Rows},
	} {
		for _, row := range table.rows {
			rows++
			expected, model := mustTerm(t, row.Expectation), mustTerm(t, row.Model)
			limit := DefaultLimit(expected)
			if table.limit != "default" {
				limit = mustTerm(t, table.limit)
			}
			if got := RankOf(model, expected, limit); got.String() != row.Match {
				t.Errorf("%s on %s: rank %s, want %s", row.Function, row.Machine, got, row.Match)
			}
			if got := "O(" + Divergence(model, expected).landau(table.parameter) + ")"; got != row.Divergence {
				t.Errorf("%s on %s: divergence %s, want %s", row.Function, row.Machine, got, row.Divergence)
			}
		}
	}
	if rows != 43 {
		t.Errorf("%d rows, want 43", rows)
	}
	// The guidelines by lead terms.
	leads := map[string]Term{}
	for _, row := range tables.Table2.Rows {
		leads[row.Function+row.Machine] = mustTerm(t, row.Model)
	}
	for _, g := range tables.Guidelines {
		r, err := parseSums(g.Rule)
		if err != nil {
			t.Fatal(err)
		}
		left, right := leads[r.(*sums).left[0].function+g.Machine], Term{}
		for _, x := range r.(*sums).right {
			if l := leads[x.function+g.Machine]; l.cmp(right) > 0 {
				right = l
			}
		}
		if violated := left.cmp(right) > 0; violated != g.Violated {
			t.Errorf("%s on %s: violated %v, want %v", g.Rule, g.Machine, violated, g.Violated)
		}
	}
}

func mustTerm(t *testing.T, text string) Term {
	t.Helper()
	x, err := ParseTerm(text)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestMemoryWall is the wall that the paper found on Juropa.
func TestMemoryWall(t *testing.T) {
	var tables paperTables
	loadJSON(t, "paper_tables.json", &tables)
	w := tables.Wall
	m := newModel([]string{"p"}, []ModelTerm{{w.PerProcess.Coefficient, []Term{mustTerm(t, "p")}}, {w.PerProcess.Constant, []Term{{}}}})
	if got := m.String(); got != "16 + 0.56 * p" {
		t.Errorf("formula %s", got)
	}
	if got := m.Wall(w.Node*1024/w.Processes, 0, []float64{1}); got != w.Wall {
		t.Errorf("wall at %v, want %v", got, w.Wall)
	}
	if got := m.Wall(1, 0, []float64{1}); got != 0 {
		t.Errorf("wall of too small a budget = %v, want 0", got)
	}
	if got := m.Wall(1e30, 0, []float64{1}); !math.IsInf(got, 1) {
		t.Errorf("wall of a huge budget = %v, want none", got)
	}
	down := newModel([]string{"p"}, []ModelTerm{{100, []Term{mustTerm(t, "1/p")}}, {2, []Term{{}}}})
	if got := down.Wall(3, 0, []float64{1}); !math.IsInf(got, 1) {
		t.Errorf("wall of what decreases = %v, want none", got)
	}
}

// paperMachines are the machines of Tables 2 and 3, and the names of their files.
var paperMachines = map[string]string{"Juqueen": "juqueen", "Juropa": "juropa", "Piz Daint": "piz-daint"}

// callPath is the function of a row as the built-in expectations name it.
func (r *paperRow) callPath() string {
	if name := map[string]string{"Bcast (BT)": "bcast_binary_tree", "MPI memory": "MPI_memory"}[r.Function]; name != "" {
		return name
	}
	return "MPI_" + r.Function
}

// TestPaperStudy judges values computed from the models of Tables 2 and 3 by the
// built-in expectations: every match and divergence is that of the paper, and the
// litmus test is noted where it fails. With scatter, the method of the paper in its search
// space finds the printed adjusted R2 as well.
func TestPaperStudy(t *testing.T) {
	t.Run("exact", func(t *testing.T) { paperStudy(t, "paper", Options{}) })
	t.Run("scatter", func(t *testing.T) {
		paperStudy(t, "scatter", Options{Method: Paper, Space: NamedSpace(SpacePaper), TwoSided: true})
	})
}

func paperStudy(t *testing.T, dir string, o Options) {
	var tables paperTables
	loadJSON(t, "paper_tables.json", &tables)
	e, err := ParseExpectations("mpi", MPIExpectations())
	if err != nil {
		t.Fatal(err)
	}
	byMachine := map[string]*Report{}
	for machine, file := range paperMachines {
		if byMachine[machine], err = Judge(e, load(t, dir+"/"+file+".json"), o); err != nil {
			t.Fatal(err)
		}
	}
	rows := append(tables.Table2.Rows, tables.Table3.Rows...)
	for _, row := range rows {
		name := row.callPath()
		found := false
		for _, c := range byMachine[row.Machine].Checks {
			if c.Function != name {
				continue
			}
			found = true
			if divergence := "O(" + c.Delta[0].landau("p") + ")"; c.Rank.String() != row.Match || divergence != row.Divergence {
				t.Errorf("%s on %s: %s, %s, want %s, %s", name, row.Machine, c.Rank, divergence, row.Match, row.Divergence)
			}
			if r2 := row.AdjustedR2; o.Method == Paper && r2 != nil && math.Abs(c.Fit.AdjustedR2-*r2) > 0.005 {
				t.Errorf("%s on %s: adjusted R2 %.3f, want %.2f", name, row.Machine, c.Fit.AdjustedR2, *r2)
			}
			if failed := row.Match == "none"; failed != (c.Verdict == Fail) {
				t.Errorf("%s on %s: verdict %s with match %s", name, row.Machine, c.Verdict, row.Match)
			}
		}
		if !found {
			t.Errorf("no expectation of %s", name)
		}
	}
	for _, g := range tables.Guidelines {
		for _, c := range byMachine[g.Machine].Rules {
			if strings.ReplaceAll(c.Rule.Text, "MPI_", "") == g.Rule && g.Violated != (c.Verdict == Inconclusive && !math.IsNaN(c.Crossover)) {
				t.Errorf("%s on %s: %s, crossover %v, violated by lead terms: %v", g.Rule, g.Machine, c.Verdict, c.Crossover, g.Violated)
			}
		}
	}
	for machine, r := range byMachine {
		for _, c := range r.Checks {
			if noted := len(c.Notes) > 0; noted != (machine != "Juqueen" && c.Verdict == Fail && !c.Litmus) {
				t.Errorf("%s on %s: notes %q", c.Function, machine, c.Notes)
			}
		}
	}
}

// TestPaperSpace wants the search space of the paper's MPI study, and the method to find a law without a constant in it.
func TestPaperSpace(t *testing.T) {
	terms := NamedSpace(SpacePaper).Only
	if len(terms) != 26 || terms[0] != (Term{}) || terms[25] != mustTerm(t, "p^2 log p") {
		t.Errorf("%d terms from %s to %s, want 26 from 1 to p^2 log p", len(terms), terms[0].landau("p"), terms[len(terms)-1].landau("p"))
	}
	if around := NamedSpace(SpaceAround).Around(mustTerm(t, "p")); len(around) != 17 {
		t.Errorf("%d terms around p, want 17", len(around))
	}
	e, err := ParseExpectations("exact", []byte("expectations: [{function: MPI_Win_create, expect: O(p), space: paper}]"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Judge(e, load(t, "paper/juqueen.json"), Options{Method: Paper})
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Checks[0]; c.Verdict != Pass || c.Fit == nil || c.Fit.Model.String() != "96 * p" {
		t.Errorf("verdict %s, reason %q, want 96 * p", c.Verdict, c.Reason)
	}
}

// TestFastestCandidate: with a limit beyond the search space nothing could fail; then the largest candidate is no pass.
func TestFastestCandidate(t *testing.T) {
	for _, tc := range []struct {
		function, space string
		want            Verdict
	}{{"linear", SpaceAround, Inconclusive}, {"linear", SpacePaper, Fail}, {"log", SpaceAround, Pass}, {"log", SpacePaper, Pass}} {
		e, err := ParseExpectations("x.yaml", []byte("expectations: [{function: "+tc.function+", expect: O(log p), limit: sqrt(p)}]"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Judge(e, data(lawsOfTest), Options{Method: Paper, Space: NamedSpace(tc.space)})
		if err != nil || r.Verdict != tc.want {
			t.Errorf("%s in the space %s: %v, %v, want %v", tc.function, tc.space, r.Verdict, err, tc.want)
		}
	}
}
