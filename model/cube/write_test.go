package cube

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func exampleReport() *Report {
	return &Report{
		Attributes: [][2]string{{"Creator", "slackline <test>"}},
		Regions:    []Region{{Name: "main", File: "a.c", Line: 3}, {Name: "f<int>"}, {Name: "MPI_Recv", Paradigm: "mpi", Role: "point2point"}},
		Nodes:      []Node{{-1, 0}, {0, 1}, {0, 2}, {1, 2}, {-1, 1}},
		Processes:  []Process{{0, "a", []string{"master", "worker"}}, {1, "a", []string{"master"}}, {2, "b", []string{"master"}}},
		Grid:       &Grid{Dims: []int{3, 1}, Periodic: []bool{true, false}, Coords: [][]int{{0, 0}, nil, {2, 0}}},
		Metrics: []Values{
			{Name: "time", Title: "Time", Unit: "sec", Rows: map[int][]float64{0: {1, 2, 3, 4}, 3: {0.5, 0, 0, 0.25}}},
			{Name: "visits", Title: "Visits", Unit: "occ", Whole: true, Rows: map[int][]float64{2: {7, 0, 9, 1}, 4: {1, 1, 1, 1}}},
			{Name: "empty", Title: "Empty", Unit: "sec"},
		},
	}
}

func TestWriteRead(t *testing.T) {
	var b bytes.Buffer
	report := exampleReport()
	if err := Write(&b, report); err != nil {
		t.Fatal(err)
	}
	if !IsCube(b.Bytes()) {
		t.Error("what was written is not taken for a Cube file")
	}
	f, err := Read("x.cubex", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Warnings) > 0 || f.Attributes["Creator"] != "slackline <test>" {
		t.Errorf("warnings %v, attributes %v", f.Warnings, f.Attributes)
	}
	var ranks []int
	for _, l := range f.Locations {
		ranks = append(ranks, l.Rank)
	}
	if diff := cmp.Diff([]int{0, 0, 1, 2}, ranks); diff != "" {
		t.Errorf("ranks of the locations (-want +got):\n%s", diff)
	}
	for i, m := range f.Metrics {
		for _, n := range f.Nodes {
			want := report.Metrics[i].Rows[n.ID]
			if want == nil {
				want = []float64{0, 0, 0, 0}
			}
			if diff := cmp.Diff(want, f.Exclusive(m, n)); diff != "" {
				t.Errorf("%s of node %d (-want +got):\n%s", m.Name, n.ID, diff)
			}
		}
	}
	for _, n := range f.Nodes {
		if n.ID == 3 && strings.Join(n.Path(), "/") != "main/f<int>/MPI_Recv" {
			t.Errorf("path of node 3 = %v", n.Path())
		}
	}
	if text := b.String(); !strings.Contains(text, `<coord locId="3">2 0</coord>`) || !strings.Contains(text, `<dim size="3" periodic="true"/>`) {
		t.Error("the grid is missing")
	}
}

func TestWriteRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*Report){
		"no location":      func(r *Report) { r.Processes = nil },
		"wrong parent":     func(r *Report) { r.Nodes[1].Parent = 1 },
		"wrong region":     func(r *Report) { r.Nodes[1].Region = 9 },
		"wrong length":     func(r *Report) { r.Metrics[0].Rows[0] = []float64{1} },
		"values of no one": func(r *Report) { r.Metrics[0].Rows[99] = []float64{1, 2, 3, 4} },
	} {
		r := exampleReport()
		spoil(r)
		if err := Write(&bytes.Buffer{}, r); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
