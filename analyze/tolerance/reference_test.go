package tolerance

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/unit"
)

const referenceData = "../../testdata/tolerance"

// referenceCase is an entry of cases.json, or of the lists in extras.json.
type referenceCase struct {
	Name, File string
	L          unit.Nanoseconds `json:"L_ns"`
	Overhead   unit.Nanoseconds `json:"o_ns"`
	PerByte    float64          `json:"G_ns"`
	Gap        unit.Nanoseconds `json:"g_ns"`
	S, Ops     int64
	Percents   []json.Number       `json:"tolerance_percent"`
	Limit      unit.Nanoseconds    `json:"limit_ns"`
	Range      [2]unit.Nanoseconds `json:"range_ns"`
	Want       referenceWant
}

type referenceWant struct {
	T         unit.Nanoseconds `json:"T_ns"`
	LambdaL   int64            `json:"lambda_L"`
	Left      int64            `json:"lambda_L_left"`
	Bytes     int64            `json:"lambda_G_bytes"`
	LambdaO   int64            `json:"lambda_o"`
	Rho       float64          `json:"rho_L"`
	Tolerance []struct {
		L *unit.Nanoseconds `json:"L_ns"`
	}
	Limit struct {
		L          *unit.Nanoseconds `json:"L_ns"`
		Infeasible bool
	}
	Breakpoints []struct {
		L      unit.Nanoseconds `json:"L_ns"`
		Before int64            `json:"slope_before"`
		After  int64            `json:"slope_after"`
	}
	Slack [][]unit.Nanoseconds `json:"slack_ns"`
	Pairs []struct {
		A, B int
		L    int64 `json:"lambda_L"`
	}
	Profile *referenceProfile
	Error   string
}

type referenceProfile struct {
	Calc       unit.Nanoseconds `json:"calc_ns"`
	Overhead   unit.Nanoseconds `json:"overhead_ns"`
	Latency    unit.Nanoseconds `json:"latency_ns"`
	Bandwidth  unit.Nanoseconds `json:"bandwidth_ns"`
	Gap        unit.Nanoseconds `json:"gap_ns"`
	Switch     unit.Nanoseconds `json:"switch_ns"`
	CalcByRank []struct {
		Rank int
		NS   unit.Nanoseconds
	} `json:"calc_by_rank"`
	Path []Visit
}

func readReference(t testing.TB, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(referenceData, file))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// prepare reads the schedule of a case.
func (c *referenceCase) prepare(t testing.TB) (*Schedule, error) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(referenceData, c.File))
	if err != nil {
		t.Fatal(err)
	}
	g, err := schedule.Read(c.File, text)
	if err != nil {
		t.Fatal(err)
	}
	return Prepare(g, nil, 0)
}

// prepared is the schedule of a case that has one.
func (c *referenceCase) prepared(t testing.TB) *Schedule {
	t.Helper()
	s, err := c.prepare(t)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// evaluated is a case that has a result, with its own parameters.
func (c *referenceCase) evaluated(t testing.TB) (*Schedule, *Evaluation) {
	t.Helper()
	s := c.prepared(t)
	e, err := s.Evaluate(network(t, s, c.params()))
	if err != nil {
		t.Fatal(err)
	}
	return s, e
}

// params returns the parameters of a case.
func (c *referenceCase) params() machine.Params {
	return machine.Params{
		Latency:  unit.Duration(c.L),
		Gap:      unit.Duration(c.Gap),
		Overhead: machine.One(unit.Duration(c.Overhead)),
		PerByte:  machine.One(unit.PerByte(math.Round(c.PerByte * 1e6))),
		Eager:    c.S,
	}
}

// network returns a network on which the same parameters hold for all.
func network(t testing.TB, s *Schedule, p machine.Params) Network {
	t.Helper()
	layout, err := machine.FromParams("test", p).Layout(s.graph.Ranks())
	if err != nil {
		t.Fatal(err)
	}
	return Network{Layout: layout}
}

func TestReference(t *testing.T) {
	var cases []referenceCase
	readReference(t, "cases.json", &cases)
	if len(cases) < 22 {
		t.Fatalf("%d cases, want 22 or more", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			s, err := c.prepare(t)
			var e *Evaluation
			if err == nil {
				e, err = s.Evaluate(network(t, s, c.params()))
			}
			if c.Want.Error != "" {
				if err == nil || !strings.Contains(err.Error(), c.Want.Error) {
					t.Fatalf("error %v, want one with %q", err, c.Want.Error)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			c.checkEvaluation(t, e)
			g, err := s.Build(network(t, s, c.params()), Variable{})
			if err != nil {
				t.Fatal(err)
			}
			c.checkGraph(t, g)
		})
	}
}

// checkEvaluation compares all that one evaluation gives.
func (c *referenceCase) checkEvaluation(t *testing.T, e *Evaluation) {
	t.Helper()
	want := Lambda{L: c.Want.LambdaL, LLeft: c.Want.Left, Bytes: c.Want.Bytes, O: c.Want.LambdaO}
	if e.T != unit.Duration(c.Want.T) || e.Lambda != want {
		t.Errorf("T = %v, lambda %+v, want %v, %+v", e.T, e.Lambda, unit.Duration(c.Want.T), want)
	}
	if c.Want.Slack == nil {
		return
	}
	slack, err := e.Slack()
	if err != nil {
		t.Fatal(err)
	}
	g := slack.Graph
	got := make([][]unit.Nanoseconds, g.Ranks())
	for rank := range got {
		got[rank] = []unit.Nanoseconds{}
		for _, d := range slack.Ops[g.FirstOp(rank):g.FirstOp(rank+1)] {
			got[rank] = append(got[rank], unit.Nanoseconds(d))
		}
	}
	if diff := cmp.Diff(c.Want.Slack, got); diff != "" {
		t.Errorf("slack (-want +got):\n%s", diff)
	}
}

// checkGraph compares all that the graph over L gives.
func (c *referenceCase) checkGraph(t *testing.T, g *Graph) {
	t.Helper()
	search := g.Search()
	p, err := search.At(int64(c.L))
	if err != nil {
		t.Fatal(err)
	}
	if p.T != int64(c.Want.T) || p.Right != c.Want.LambdaL || c.L > 0 && p.Left != c.Want.Left {
		t.Errorf("At(%d) = %+v, want T %d, slopes %d and %d", c.L, p, c.Want.T, c.Want.Left, c.Want.LambdaL)
	}
	for i, number := range c.Percents {
		percent, err := ParsePercent(number.String())
		if err != nil {
			t.Fatal(err)
		}
		got, err := search.Tolerance(int64(c.L), percent)
		checkLargest(t, "tolerance "+percent.String(), got, err, c.Want.Tolerance[i].L, false)
	}
	bound, err := g.inUnits(unit.Duration(c.Limit))
	if err != nil {
		t.Fatal(err)
	}
	got, err := search.largest(bound)
	checkLargest(t, "limit", got, err, c.Want.Limit.L, c.Want.Limit.Infeasible)
	list, err := g.breakpointsWithin(int64(c.Range[0]), int64(c.Range[1]), 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != len(c.Want.Breakpoints) {
		t.Fatalf("%d breakpoints, want %d", len(list), len(c.Want.Breakpoints))
	}
	for i, w := range c.Want.Breakpoints {
		if b := list[i]; b.X.Whole != int64(w.L) || b.Before != w.Before || b.After != w.After {
			t.Errorf("breakpoint %d = %+v, want %+v", i, b, w)
		}
	}
}

func checkLargest(t *testing.T, what string, got Largest, err error, want *unit.Nanoseconds, infeasible bool) {
	t.Helper()
	wanted := Largest{Unbounded: want == nil && !infeasible, Infeasible: infeasible}
	if want != nil {
		wanted.X = int64(*want)
	}
	if err != nil || got != wanted {
		t.Errorf("%s = %+v (error %v), want %+v", what, got, err, wanted)
	}
}

func TestReferenceCriticalPath(t *testing.T) {
	var extras struct {
		Cases []referenceCase `json:"critical_path"`
	}
	readReference(t, "extras.json", &extras)
	if len(extras.Cases) < 7 {
		t.Fatalf("%d cases, want 7 or more", len(extras.Cases))
	}
	for _, c := range extras.Cases {
		t.Run(c.File, func(t *testing.T) {
			_, e := c.evaluated(t)
			path, err := e.criticalPath()
			if err != nil {
				t.Fatal(err)
			}
			c.checkPath(t, path)
		})
	}
}

func (c *referenceCase) checkPath(t *testing.T, path *CriticalPath) {
	t.Helper()
	var pairs []Pair
	for _, p := range path.Pairs {
		if p.L > 0 {
			pairs = append(pairs, Pair{A: p.A, B: p.B, L: p.L})
		}
	}
	var want []Pair
	for _, p := range c.Want.Pairs {
		want = append(want, Pair{A: p.A, B: p.B, L: p.L})
	}
	if diff := cmp.Diff(want, pairs); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
	p, w := path.Profile, c.Want.Profile
	if got, want := p, (Profile{unit.Duration(w.Calc), unit.Duration(w.Overhead), unit.Duration(w.Latency),
		unit.Duration(w.Bandwidth), unit.Duration(w.Gap), unit.Duration(w.Switch)}); got != want || got.Total() != path.T {
		t.Errorf("profile = %+v, want %+v", got, want)
	}
	var ranks []RankTime
	for _, r := range w.CalcByRank {
		ranks = append(ranks, RankTime{r.Rank, unit.Duration(r.NS)})
	}
	if diff := cmp.Diff(ranks, path.CalcByRank); diff != "" {
		t.Errorf("calculation by rank (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(w.Path, path.Path); diff != "" {
		t.Errorf("path (-want +got):\n%s", diff)
	}
}
