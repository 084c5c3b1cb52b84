package advise

import (
	"strings"
	"testing"

	"slackline/model/machine"
	"slackline/model/unit"
)

// TestKinds: every kind has a name of its own and says what it is, what it assumes and how to make it.
func TestKinds(t *testing.T) {
	seen := map[string]bool{}
	for i, k := range Kinds() {
		if k.Name == "" || seen[k.Name] || k.Name != strings.ToLower(k.Name) || strings.ContainsAny(k.Name, "-:@ ") {
			t.Errorf("the name %q is used twice, or cannot be parsed", k.Name)
		}
		seen[k.Name] = true
		if k.Short == "" || k.Meaning == "" || k.Advice == "" || !strings.HasPrefix(k.Form, k.Name) {
			t.Errorf("%s: %+v", k.Name, k)
		}
		if table[i].propose == nil || table[i].apply == nil || table[i].sentence == nil || kindOf(k.Name) != &table[i] {
			t.Errorf("%s: something is missing", k.Name)
		}
	}
}

// TestParse: a change is read as it is written.
func TestParse(t *testing.T) {
	for text, want := range map[string]Change{
		"balance":                         {Kind: "balance"},
		"balance:even":                    {Kind: "balance", Value: "even"},
		"balance:even@main/solve":         {Kind: "balance", Value: "even", Target: "main/solve"},
		"combine@main/MPI_Send":           {Kind: "combine", Target: "main/MPI_Send"},
		"faster:10%@Grid<int>::run@plt":   {Kind: "faster", Value: "10%", Target: "Grid<int>::run@plt"},
		"eager_limit:1MiB":                {Kind: "eager_limit", Value: "1MiB"},
		"fewer_barriers:none@a/b:c":       {Kind: "fewer_barriers", Value: "none", Target: "a/b:c"},
		"use_collective:bcast@x/MPI_Send": {Kind: "use_collective", Value: "bcast", Target: "x/MPI_Send"},
	} {
		c, err := Parse(text)
		if err != nil || c != want {
			t.Errorf("%s: %+v, %v; want %+v", text, c, err, want)
		}
		if c.String() != text {
			t.Errorf("%s is written as %s", text, c)
		}
	}
	if c, err := Parse("eager-limit:8KiB"); err != nil || c.Kind != "eager_limit" {
		t.Errorf("with a hyphen: %+v, %v", c, err)
	}
	for text, want := range map[string]string{"balanced:even": "did you mean balance?", "": "there is no kind", "@main": "there is no kind"} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if err := (Change{Kind: "faster", Value: "x"}).badValue(); !strings.Contains(err.Error(), `got "faster:x"`) {
		t.Errorf("%v", err)
	}
}

// TestThreads: what a message costs from rank 0 to the others when pairs of ranks become processes. On the machine, node, switch and far
// have latencies of 1, 2 and 3.
func TestThreads(t *testing.T) {
	list := machine.Placement{Nodes: []int32{0, 0, 0, 0, 1, 1, 1, 1}}
	for _, tc := range []struct {
		change           string
		inNode, inSwitch int
		placement        machine.Placement
		want             string // by rank
	}{
		{"threads:2", 1, 0, machine.Placement{}, "00333333"},
		{"threads:2", 4, 0, machine.Placement{}, "00113333"},
		{"threads:2", 4, 2, machine.Placement{}, "00113333"}, // four classes are too many
		{"threads:4", 4, 2, machine.Placement{}, "00002222"},
		{"threads:2", 2, 2, machine.Placement{}, "00223333"},
		{"threads:4", 2, 3, machine.Placement{}, "00003333"}, // six ranks are no processes of four
		{"threads:4", 6, 0, machine.Placement{}, "00003333"},
		{"threads:8", 4, 2, machine.Placement{}, "00000000"},
		{"threads:2", 4, 0, machine.Placement{Cyclic: true}, "00113333"},
		{"threads:2", 4, 0, list, "00333333"},
		{"threads:1", 2, 0, machine.Placement{}, "01333333"},
	} {
		m := &machine.Machine{RanksPerNode: tc.inNode, NodesPerSwitch: tc.inSwitch, Placement: tc.placement, SharedNIC: true}
		for i := range m.Classes {
			m.Classes[i].Latency = unit.Duration(1 + i)
		}
		c, err := Parse(tc.change)
		if err != nil {
			t.Fatal(err)
		}
		x, err := Scenario{Machine: m}.Apply(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		l, err := x.Machine.Layout(8)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for rank := range 8 {
			got += string(rune('0' + l.Params(0, rank).Latency))
		}
		if got != tc.want || !x.Machine.SharedNIC || m.RanksPerNode != tc.inNode {
			t.Errorf("%s, %d ranks in a node, %d nodes in a switch, %+v: %s, want %s", tc.change, tc.inNode, tc.inSwitch, tc.placement, got, tc.want)
		}
	}
	for _, change := range []string{"threads", "threads:0", "threads:two"} {
		c, _ := Parse(change)
		_, err := Scenario{Machine: &machine.Machine{}}.Apply(t.Context(), c)
		if err == nil || !strings.Contains(err.Error(), "threads:NUMBER") {
			t.Errorf("%s: %v", change, err)
		}
	}
}
