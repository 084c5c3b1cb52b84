package advise

import (
	"strings"
	"testing"
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
