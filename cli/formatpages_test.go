package cli

import (
	"bytes"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// formatPages are the pages of docs/formats with the source files whose comment they show: the
// grammar of a format stands where its reader is, and nowhere a second time.
var formatPages = map[string][]string{
	"slk.md":        {"model/schedule/slk.go", "internal/chunk/chunk.go"},
	"slt.md":        {"model/trace/slt.go", "internal/chunk/chunk.go"},
	"trace-text.md": {"model/trace/text.go"},
	"chrome.md":     {"model/trace/kineto/chrome.go"},
	"noise.md":      {"model/noise/yaml.go", "model/noise/binary.go"},
	"dataset.md":    {"model/dataset/own.go"},
}

// TestFormatPages holds the pages of docs/formats against the comments of the readers.
func TestFormatPages(t *testing.T) {
	root := ".."
	for name, sources := range formatPages {
		path := filepath.Join(root, "docs", "formats", name)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		for _, source := range sources {
			begin := "<!-- from " + source + ": go test ./cli -run TestFormatPages -update-pages -->\n"
			const end = "<!-- end -->\n"
			before, rest, found := strings.Cut(text, begin)
			_, after, closed := strings.Cut(rest, end)
			if !found || !closed {
				t.Fatalf("%s has no part\n%s%s", path, begin, end)
			}
			text = before + begin + "\n" + formatComment(t, filepath.Join(root, source)) + "\n" + end + after
		}
		if text == string(data) {
			continue
		}
		if !*updatePages {
			t.Errorf("%s is not what the readers' comments say; run go test ./cli -run TestFormatPages -update-pages", path)
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// formatComment returns the longest comment of a Go file in Markdown; it is that of the format.
func formatComment(t *testing.T, path string) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var longest *ast.CommentGroup
	for _, c := range file.Comments {
		if longest == nil || c.End()-c.Pos() > longest.End()-longest.Pos() {
			longest = c
		}
	}
	var p comment.Parser
	printer := comment.Printer{HeadingLevel: 3, HeadingID: func(*comment.Heading) string { return "" }}
	return string(bytes.TrimRight(printer.Markdown(p.Parse(longest.Text())), "\n")) + "\n"
}
