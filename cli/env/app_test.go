package env

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/internal/provenance"
	"slackline/internal/table"
)

// called is a call of the program, with what it writes.
func called(args ...string) (a *Env, stdout, stderr *bytes.Buffer) {
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	return New(args, nil, stdout, stderr), stdout, stderr
}

// Warnings are reported once and kept for the result; notes are neither kept nor printed for users in a hurry.
func TestRemarks(t *testing.T) {
	for _, tc := range []struct {
		quiet bool
		want  string
	}{
		{false, "slackline: 3 ranks\nslackline: warning: 50 % lost\nslackline: warning: other\nslackline: again\nslackline: again\n"},
		{true, "slackline: warning: 50 % lost\nslackline: warning: other\n"},
	} {
		a, stdout, stderr := called()
		a.Quiet = tc.quiet
		a.Note("%d ranks", 3)
		a.Warn("%d %% lost", 50)
		a.Warn("50 %% lost")
		a.Warn("other")
		a.Note("again")
		a.Note("again")
		if stderr.String() != tc.want || stdout.Len() > 0 {
			t.Errorf("quiet %v: stderr %q, stdout %q; want %q", tc.quiet, stderr, stdout, tc.want)
		}
		if got := strings.Join(a.Record().Warnings, "|"); got != "50 % lost|other" {
			t.Errorf("quiet %v: the result has the warnings %q", tc.quiet, got)
		}
	}
}

// Who asks for remarks gets all of them, and the user none.
func TestOnRemark(t *testing.T) {
	a, _, stderr := called()
	var got []Remark
	a.OnRemark = func(r Remark) { got = append(got, r) }
	a.Quiet = true
	a.Note("a %d", 1)
	a.Warn("b")
	a.Warn("b")
	want := []Remark{{"a 1", false}, {"b", true}, {"b", true}}
	if len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] || stderr.Len() > 0 || len(a.Warnings) > 0 {
		t.Errorf("remarks %v, stderr %q, warnings %q; want %v and nothing", got, stderr, a.Warnings, want)
	}
}

// Only flags that were given are void.
func TestWarnOfVoid(t *testing.T) {
	a, _, stderr := called()
	c := &cobra.Command{Use: "x"}
	a.AddGroup(c, "Flags", func(fs *pflag.FlagSet) {
		fs.Int("a", 1, "")
		fs.Int("b", 1, "")
		fs.Bool("c", false, "")
	})
	if err := c.ParseFlags([]string{"--a=1", "--c=false"}); err != nil { // also if they have the value that they have anyway
		t.Fatal(err)
	}
	a.WarnOfVoid(c, " here", "c", "b", "a")
	if want := "slackline: warning: --c has no influence here\nslackline: warning: --a has no influence here\n"; stderr.String() != want {
		t.Errorf("%q, want %q", stderr, want)
	}
	if g := a.Groups[c]; len(g) != 1 || g[0].Title != "Flags" || !g[0].Flags.HasFlags() {
		t.Errorf("groups %v", g)
	}
}

// Headings are bold if that is asked for, or on a terminal, which a buffer is not.
func TestBold(t *testing.T) {
	for _, tc := range []struct{ color, text, want string }{
		{"always", "Title", "\x1b[1mTitle\x1b[0m"}, {"always", "", ""}, {"never", "Title", "Title"}, {"auto", "Title", "Title"},
	} {
		a, stdout, _ := called()
		a.Color = tc.color
		if _, err := a.Stdout.Write([]byte(a.Bold(tc.text))); err != nil {
			t.Fatal(err)
		}
		if stdout.String() != tc.want {
			t.Errorf("--color %s: %q, want %q", tc.color, stdout, tc.want)
		}
	}
	// Names that look like our marks stay what they are, and those with control sequences do no harm.
	a, stdout, _ := called()
	a.Color = "always"
	if _, err := a.Stdout.Write([]byte("<b>\x1b[31m</b>")); err != nil || strings.Contains(stdout.String(), "\x1b") {
		t.Errorf("%q, error %v: a control sequence reached the terminal", stdout, err)
	}
}

// The name of a file with a line break cannot start a line of its own.
func TestMarkedNames(t *testing.T) {
	a, _, stderr := called("simulate", "a\nslackline: all is well")
	a.Say("cannot read a\nslackline: all is well")
	if strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("%q has more than one line", stderr)
	}
}

// Without a terminal, text has 100 columns.
func TestWidthOf(t *testing.T) {
	if got := WidthOf(&bytes.Buffer{}); got != 100 {
		t.Errorf("a buffer has %d columns", got)
	}
	a, stdout, _ := called()
	a.WriteWrapped(stdout, strings.Repeat("word ", 50))
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if len(lines) != 3 || len(lines[0]) != 99 || len(lines[1]) != 99 { // 20 words of 5 columns, without the last blank
		t.Errorf("50 words are on %d lines, the first of %d columns", len(lines), len(lines[0]))
	}
}

// A table is the same rows in each form: text is rounded, JSON and CSV are exact.
func TestTableForms(t *testing.T) {
	tab := table.Of("name", ">value")
	tab.Add("a,b", table.Cell{Text: "1.2 ms", Value: 1.23456789})
	tab.Add("", table.Cell{Text: "-"})
	for format, want := range map[string]string{
		FormatText: "name   value\na,b   1.2 ms\n           -\n",
		FormatJSON: "[\n  {\"name\": \"a,b\", \"value\": 1.23456789},\n  {\"name\": \"\", \"value\": null}\n]\n",
		FormatCSV:  "name,value\n\"a,b\",1.23456789\n,\n",
	} {
		a, stdout, _ := called()
		o := &ResultFlags{}
		o.Format = format
		if err := a.WriteResult("list", Table{tab}, o, nil); err != nil || stdout.String() != want {
			t.Errorf("%s: error %v\n%q\nwant\n%q", format, err, stdout, want)
		}
	}
	a, stdout, _ := called()
	if err := a.WriteForm(stdout, "list", Table{table.Of("name")}, FormatJSON); err != nil || stdout.String() != "[]\n" {
		t.Errorf("no rows: %q, error %v; want an empty list", stdout, err)
	}
}

// A figure needs a format that can be drawn, and a file that is not that of the result; both are found out before any work.
func TestResultFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, tc := range []struct {
		o    ResultFlags
		want string
	}{
		{ResultFlags{Out: "a.json", Plot: "a.svg"}, ""},
		{ResultFlags{}, ""},
		{ResultFlags{Plot: "a.gif"}, "--plot: "},
		{ResultFlags{Out: "a.svg", Plot: "./a.svg"}, "--out and --plot name the same file, ./a.svg; give each a file of its own"},
		{ResultFlags{Out: "none/a.json"}, "none/a.json: there is no directory none"},
		{ResultFlags{Out: "."}, ". is a directory; give the name of a file"},
	} {
		err := tc.o.Check(nil)
		if (err == nil) != (tc.want == "") || err != nil && !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%+v: error %v, want %q", tc.o, err, tc.want)
		}
	}
	var o ResultFlags
	fs := pflag.NewFlagSet("x", pflag.ContinueOnError)
	o.AddFlags(fs, "")
	if err := fs.Parse([]string{"--format", "json"}); err != nil || !o.IsJSON() {
		t.Errorf("--format json: %v, is JSON %v", err, o.IsJSON())
	}
	if err := fs.Parse([]string{"--format", "xml"}); err == nil {
		t.Error("--format xml is accepted")
	}
	if o := (ResultFlags{Format: "html"}); o.IsJSON() {
		t.Error("HTML is JSON")
	}
}

// The provenance of a result has its inputs and the words of the command line.
func TestRecord(t *testing.T) {
	a, _, _ := called("waits", "a.slt")
	r := a.Record(provenance.Input{Path: "a.slt", Kind: "trace"})
	if len(r.Inputs) != 1 || r.Inputs[0].Path != "a.slt" || len(r.Warnings) != 0 || r.Cluster != nil {
		t.Errorf("record %+v", r)
	}
}

func TestIsColumns(t *testing.T) {
	for format, want := range map[string]bool{"parquet": true, "arrow": true, "csv": false, "json": false, "": false, "Parquet": false} {
		if IsColumns(format) != want {
			t.Errorf("IsColumns(%q) = %v, want %v", format, !want, want)
		}
	}
}
