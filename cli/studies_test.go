package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"slackline/internal/needed"
)

// TestStudies recomputes values of the tables in docs/studies/README.md. In a row whose second
// column is a command and whose fourth column has values printed as code, the command must print
// these values, in their order. A command may end with any exit code: checks report by it.
func TestStudies(t *testing.T) {
	needed.Full(t, "the commands of the studies")
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(root, "docs", "studies", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	dir := t.TempDir()
	linkData(t, root, dir)
	rows := 0
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 5 {
			continue
		}
		command, ok := strings.CutPrefix(cells[1], "`")
		values := code.FindAllStringSubmatch(cells[3], -1)
		if !ok || len(values) == 0 {
			continue
		}
		rows++
		t.Run(strings.TrimPrefix(cells[0], "| "), func(t *testing.T) {
			got, _ := shell(dir, strings.TrimSuffix(command, "`"))
			rest := strings.Join(strings.Fields(got), " ")
			for _, v := range values {
				at := printed(v[1]).FindStringIndex(rest)
				if at == nil {
					t.Fatalf("$ %s\nprints no %q (in this order)\n%s", command, v[1], got)
				}
				rest = rest[at[1]:]
			}
		})
	}
	if rows < 25 {
		t.Errorf("only %d rows have values that can be recomputed, want 25", rows)
	}
}

var code = regexp.MustCompile("`([^`]+)`")

// printed matches a value as a word of its own.
func printed(value string) *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[\s(])` + regexp.QuoteMeta(value) + `(?:$|[\s,;:)])`)
}
