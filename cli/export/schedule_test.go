package export

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"slackline/cli/exit"
	"slackline/model/collective"
	"slackline/model/pattern"
	"slackline/model/schedule"
)

// --to names the format, else the suffix of --out does, whatever its case; what is neither says which there are.
func TestFormat(t *testing.T) {
	c := &cobra.Command{Use: "convert"}
	for _, tc := range []struct{ to, out, want string }{
		{"", "a.goal", "goal"}, {"", "A.GOAL", "goal"}, {"", "a.b.slk", "slk"}, {"", "a.gv", "dot"}, {"goal", "a.slk", "goal"},
		{"slk", "", "slk"},
		{"", "", "where to? Give --out FILE (" + strings.Join(FormatNames(), ", ") + ", extra by its suffix), or --to FORMAT"},
		{"", "a.xyz", `--out: no format has the suffix ".xyz"; give --to with one of ` + strings.Join(FormatNames(), ", ") + ", extra"},
		{"", "goal", `--out: no format has the suffix ""; give --to with one of `},
		{"gaol", "a.slk", `--to: nothing can be written as "gaol"; there are ` + strings.Join(FormatNames(),
			", ") + ", extra; did you mean goal?"},
	} {
		o := &ScheduleOutput{to: tc.to, Out: tc.out, Others: []string{"extra"}}
		f, err := o.Format(c)
		switch {
		case err == nil && f.Name != tc.want:
			t.Errorf("--to %q --out %q: %s, want %s", tc.to, tc.out, f.Name, tc.want)
		case err != nil && (!strings.HasPrefix(err.Error(), tc.want) || !errors.As(err, new(*exit.UsageError))):
			t.Errorf("--to %q --out %q: %v, want wrong usage: %s", tc.to, tc.out, err, tc.want)
		}
	}
	for _, name := range FormatNames() {
		if f, err := (&ScheduleOutput{to: name}).Format(c); err != nil || f.Name != name || f.Write == nil {
			t.Errorf("--to %s: %s, error %v", name, f.Name, err)
		}
	}
}

func TestColumnFormat(t *testing.T) {
	for _, tc := range []struct {
		to, out, name string
		is            bool
	}{
		{"", "a.parquet", "parquet", true}, {"", "a.ARROW", "arrow", true}, {"parquet", "a.arrow", "parquet", true},
		{"goal", "a.parquet", "goal", false},
		{"", "a.goal", "goal", false}, {"", "", "", false},
	} {
		if f, is := (&ScheduleOutput{to: tc.to, Out: tc.out}).ColumnFormat(); is != tc.is || string(f) != tc.name {
			t.Errorf("--to %q --out %q: %q, %v; want %q, %v", tc.to, tc.out, f, is, tc.name, tc.is)
		}
	}
}

// program is a pattern: ring has messages only, allreduce is a collective.
func program(t *testing.T, name string, ranks int) schedule.Program {
	t.Helper()
	p, err := pattern.New(name, pattern.Params{Ranks: ranks})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A program that does not fit into memory is refused before it takes it.
func TestTooManyOps(t *testing.T) {
	p := program(t, "ring", 5)
	const want = "more than 3 operations do not fit into memory"
	if _, err := materialize(t.Context(), schedule.Blocks(p), nil, 3); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	if most := mostOps(); most < 1 || most > maxOpsInMemory {
		t.Errorf("%d operations fit into memory", most)
	}
}

// A program in memory is the same text as the lazy one; collectives become messages.
func TestMaterialize(t *testing.T) {
	p := program(t, "ring", 5)
	g, err := materialize(t.Context(), schedule.Blocks(p), p.Origins(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if g.Ranks() != 5 || len(g.Origins()) != len(p.Origins()) {
		t.Errorf("%d ranks with %d origins, want 5 with %d", g.Ranks(), len(g.Origins()), len(p.Origins()))
	}
	mapping, err := collective.FindMapping("default")
	if err != nil {
		t.Fatal(err)
	}
	sum := program(t, "allreduce", 4)
	x, err := expanded(t.Context(), sum, mapping, 0)
	if err != nil {
		t.Fatal(err)
	}
	if sum.Shape().Collectives != true || x.Shape().Collectives {
		t.Error("the collective is still one after it was expanded")
	}
	goal, err := (&ScheduleOutput{to: "goal"}).Format(&cobra.Command{})
	if err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	if _, err := writeProgram(t.Context(), &a, goal, p); err != nil {
		t.Fatal(err)
	}
	if _, err := writeProgram(t.Context(), &b, goal, g); err != nil || a.String() != b.String() {
		t.Errorf("the lazy program and the one in memory differ, error %v:\n%s\n%s", err, a.String(), b.String())
	}
	// Each of 5 ranks sends one message to the next.
	if n := strings.Count(a.String(), "send"); n != 5 || !strings.HasPrefix(a.String(), "num_ranks 5\n") {
		t.Errorf("%d sends in\n%s", n, a.String())
	}
}

// An interrupt ends writing, and the work before it.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := program(t, "ring", 5)
	if _, err := materialize(ctx, schedule.Blocks(p), nil, 1<<20); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("materialize: error %v", err)
	}
	var b bytes.Buffer
	if n, err := (interruptible{ctx, &b}).Write([]byte("x")); n != 0 || err == nil || b.Len() > 0 {
		t.Errorf("%d bytes written, error %v", n, err)
	}
	if n, err := (interruptible{t.Context(), &b}).Write([]byte("xy")); n != 2 || err != nil || b.String() != "xy" {
		t.Errorf("%d bytes written, error %v", n, err)
	}
}
