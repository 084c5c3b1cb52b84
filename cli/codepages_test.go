package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/show/columns"
)

// wantPage wants the rest of a page, after the line that names the test, to be a text; -update-pages writes it.
func wantPage(t *testing.T, page, text string) {
	t.Helper()
	path := filepath.Join("..", "docs", filepath.FromSlash(page))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin := "<!-- from the code: go test ./cli -run " + t.Name() + " -update-pages -->\n"
	before, _, found := strings.Cut(string(data), begin)
	if !found {
		t.Fatalf("%s has no line\n%s", path, begin)
	}
	if text = before + begin + "\n" + text; text == string(data) {
		return
	}
	if !*updatePages {
		t.Fatalf("%s is not what the code says; run go test ./cli -run %s -update-pages", path, t.Name())
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestColumnPage wants the page of tables to list their columns.
func TestColumnPage(t *testing.T) {
	var b strings.Builder
	for i, table := range columns.Tables {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString("### " + table.Name + "\n\n" + strings.ToUpper(table.Meaning[:1]) + table.Meaning[1:] +
			".\n\n| column | type | meaning |\n| --- | --- | --- |\n")
		for _, c := range table.Columns {
			missing := ""
			if c.Missing {
				missing = ", may be missing"
			}
			b.WriteString("| `" + c.Name + "` | " + c.Type + missing + " | " + c.Meaning + " |\n")
		}
	}
	wantPage(t, "formats/columns.md", b.String())
}
