package schedule

import (
	"testing"

	"pgregory.net/rapid"
)

func TestNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Many prefixes, numbers at the limits, leading zeros, no numbers, no labels.
		labels := rapid.SliceOf(rapid.OneOf(
			rapid.StringMatching(`[a-f]?[1-9]?[0-9]{0,2}`),
			rapid.StringMatching(`[a-z]{1,3}(0|00|07|536870911|536870912|999999999|4294967296)`),
			rapid.StringMatching(`[A-Za-z][A-Za-z0-9_]{0,5}`),
		)).Draw(t, "labels")
		names := &Names{}
		for i, label := range labels {
			names.add([]byte(label), i+1)
		}
		for i, label := range labels {
			if got := string(names.appendLabel([]byte("x"), i)); got != "x"+label {
				t.Fatalf("label %d = %q, want %q", i, got[1:], label)
			}
		}
		if got := string(names.appendLabel(nil, len(labels))); got != "" {
			t.Fatalf("label of no operation = %q", got)
		}
	})
}

func TestNamesOfGraph(t *testing.T) {
	g := mustReadGOAL(t, "num_ranks 2\nrank 1 {\nl7: calc 1\ncalc 2\n}\nrank 0 {\nx: calc 3\n}\n")
	for _, tc := range []struct {
		rank, index int
		name        string
		line        int
	}{{1, 0, "l7", 3}, {1, 1, "#1", 4}, {0, 0, "x", 7}} {
		if name, line := g.Name(tc.rank, tc.index), g.Line(tc.rank, tc.index); name != tc.name || line != tc.line {
			t.Errorf("operation %d of rank %d is %s in line %d, want %s in line %d", tc.index, tc.rank, name, line, tc.name, tc.line)
		}
	}
	g.Names = nil
	if name, line := g.Name(1, 0), g.Line(1, 0); name != "#0" || line != 0 {
		t.Errorf("without names the operation is %s in line %d, want #0 in line 0", name, line)
	}
}
