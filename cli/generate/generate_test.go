package generate_test

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"slackline/cli/clitest"
	"slackline/model/pattern"
)

// listed is a list of the verb as rows without the heading.
func listed(t *testing.T, args ...string) [][]string {
	t.Helper()
	code, stdout, stderr := clitest.Run("", append([]string{"generate", "--list", "--format", "csv"}, args...)...)
	rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	if code != 0 || err != nil {
		t.Fatalf("exit code %d, %v\n%s", code, err, stderr)
	}
	return rows[1:]
}

// TestListColumns: lists in binary formats are not text, whose control characters would be escaped.
func TestListColumns(t *testing.T) {
	for _, of := range [][]string{nil, {"allreduce"}} {
		want := int64(len(listed(t, of...)))
		path := filepath.Join(t.TempDir(), "list")
		_, stdout, _ := clitest.Run("", append([]string{"generate", "--list", "--format", "parquet"}, of...)...)
		code, _, stderr := clitest.Run("", append([]string{"generate", "--list", "--format", "parquet", "--out", path}, of...)...)
		data, err := os.ReadFile(path)
		if code != 0 || err != nil || string(data) != stdout {
			t.Fatalf("%v: exit code %d, %v; a file of %d bytes, %d on the standard output\n%s", of, code, err, len(data), len(stdout), stderr)
		}
		f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if got := f.NumRows(); got != want || want == 0 {
			t.Errorf("%v: %d rows, want %d", of, got, want)
		}
		_, arrow, _ := clitest.Run("", append([]string{"generate", "--list", "--format", "arrow"}, of...)...)
		if !strings.HasPrefix(arrow, "ARROW1\x00\x00") {
			t.Errorf("%v: %.20q is not an Arrow file", of, arrow)
		}
	}
}

// TestList: every pattern is listed once, in its kind, and every collective with its algorithms.
func TestList(t *testing.T) {
	_, text, _ := clitest.Run("", "generate", "--list")
	rows := listed(t)
	if len(rows) != len(pattern.List()) {
		t.Errorf("%d rows for %d patterns", len(rows), len(pattern.List()))
	}
	for i, p := range pattern.List() {
		row := rows[i]
		algorithms := p.Kind == pattern.Collective && slices.Contains(p.Params, "algorithm")
		if row[0] != p.Name || row[1] != string(p.Kind) || algorithms != (row[4] != "") {
			t.Errorf("row %q of %s, a pattern of kind %s", row, p.Name, p.Kind)
		}
		if strings.Count(text, "\n  "+p.Name+" ") < 1 {
			t.Errorf("%s is not in the list for people", p.Name)
		}
		code, described, stderr := clitest.Run("", "generate", "--list", p.Name)
		if code != 0 || len(p.Params) > 0 && !strings.Contains(described, p.Params[0]) {
			t.Errorf("%s: exit code %d\n%s%s", p.Name, code, described, stderr)
		}
		for _, algorithm := range strings.Fields(row[4]) {
			if !strings.Contains(described, "\n  "+algorithm+" ") {
				t.Errorf("%s is described without its algorithm %s:\n%s", p.Name, algorithm, described)
			}
		}
	}
}

// TestAlgorithms: an algorithm that is listed for a collective can be generated for it.
func TestAlgorithms(t *testing.T) {
	for _, row := range listed(t) {
		for _, algorithm := range strings.Fields(row[4]) {
			code, stdout, stderr := clitest.Run("", "generate", row[0], "--algorithm", algorithm, "--ranks", "4", "--size", "64", "--to", "goal")
			if code != 0 || !strings.HasPrefix(stdout, "num_ranks 4\n") {
				t.Errorf("%s --algorithm %s: exit code %d\n%s", row[0], algorithm, code, stderr)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tc := range []struct {
		args string
		code int
		want string
	}{
		{"", 2, "INPUT (or --list)"},
		{"alreduce --list", 1, `there is no pattern "alreduce"; did you mean`},
		{"bcast", 2, "where to? Give --out FILE"},
		{"bcast --to gaol", 2, `--to: nothing can be written as "gaol"`},
		{"bcast --out x.txt", 2, `--out: no format has the suffix ".txt"; give --to with one of goal`},
		{"bcast --out /nowhere/x.goal", 1, "there is no directory /nowhere"},
		{"bcast --to slt", 2, `--to: nothing can be written as "slt"`}, // of traces, which generate does not write
	} {
		code, stdout, stderr := clitest.Run("", append([]string{"generate"}, strings.Fields(tc.args)...)...)
		if code != tc.code || !strings.Contains(stderr, tc.want) || stdout != "" {
			t.Errorf("generate %s: exit code %d, want %d\n%s%s", tc.args, code, tc.code, stdout, stderr)
		}
	}
	for args, want := range map[string]string{
		"--list --ranks 4":                       "--ranks has no influence with --list",
		"bcast --to goal --format csv --ranks 2": "--format has no influence without --list",
		"bcast --to slk --gamma 1ns --ranks 2":   "keeps its collectives in slk; give --expand",
		"ring --to slk --expand --ranks 2":       "has no collectives to be expanded",
	} {
		code, _, stderr := clitest.Run("", append([]string{"generate"}, strings.Fields(args)...)...)
		if code != 0 || !strings.Contains(stderr, want) {
			t.Errorf("generate %s: exit code %d, want a warning %q\n%s", args, code, want, stderr)
		}
	}
}
