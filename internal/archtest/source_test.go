package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// source is one Go file of the project.
type source struct {
	path   string // relative to the root of the project
	room   string // its package, as a path below the module
	test   bool
	text   []string // its lines
	set    *token.FileSet
	syntax *ast.File
}

func (f *source) imports() []string {
	var list []string
	for _, spec := range f.syntax.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			list = append(list, path)
		}
	}
	return list
}

func (f *source) position(n ast.Node) string { return f.set.Position(n.Pos()).String() }

func projectRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = parent
	}
}

// parsed are the files of the project, once one test has read them.
var parsed []*source

// sources parses all Go files of the project.
func sources(t *testing.T) []*source {
	t.Helper()
	if parsed != nil {
		return parsed
	}
	root := projectRoot(t)
	var list []*source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, rel, data, parser.ParseComments)
		if err != nil {
			return err
		}
		list = append(list, &source{
			path: rel, room: strings.TrimSuffix(rel, "/"+name), test: strings.HasSuffix(name, "_test.go"),
			text: strings.Split(strings.TrimSuffix(string(data), "\n"), "\n"), set: set, syntax: syntax,
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 20 {
		t.Fatalf("only %d Go files found below %s", len(list), root)
	}
	parsed = list
	return list
}

// The sizes beyond which a package or a file cannot be read in one go. Tests may be longer: they are looked up, not read.
const (
	maxFiles     = 40
	maxLines     = 500
	maxTestLines = 800
)

// manyFiles are the packages that may have more files: in each there is one for every algorithm.
var manyFiles = []string{"model/collective"}

func TestPackageSize(t *testing.T) {
	files := map[string]int{}
	for _, f := range sources(t) {
		if !f.test {
			files[f.room]++
		}
	}
	for room, n := range files {
		if n > maxFiles && !slices.Contains(manyFiles, room) {
			t.Errorf("package %s has %d files; find a part of it that can stand alone (at most %d)", room, n, maxFiles)
		}
	}
}

func TestFileLength(t *testing.T) {
	for _, f := range sources(t) {
		most := maxLines
		if f.test {
			most = maxTestLines
		}
		if len(f.text) > most {
			t.Errorf("%s has %d lines; split it by topic (at most %d)", f.path, len(f.text), most)
		}
	}
}

// maxColumns is the length of a line that fits on a screen, a tab counted as one.
const maxColumns = 140

// TestLineLength leaves out what cannot be broken: text in backquotes, and tables in comments.
func TestLineLength(t *testing.T) {
	for _, f := range sources(t) {
		quoted := f.quoted()
		for i, line := range f.text {
			if utf8.RuneCountInString(line) <= maxColumns || quoted[i+1] || strings.HasPrefix(line, "//\t") {
				continue
			}
			t.Errorf("%s:%d: %d columns; break the line (at most %d)", f.path, i+1, utf8.RuneCountInString(line), maxColumns)
		}
	}
}

// quoted are the numbers of the lines with text in backquotes.
func (f *source) quoted() map[int]bool {
	lines := map[int]bool{}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if text, ok := n.(*ast.BasicLit); ok && strings.HasPrefix(text.Value, "`") {
			for line := f.set.Position(text.Pos()).Line; line <= f.set.Position(text.End()).Line; line++ {
				lines[line] = true
			}
		}
		if tagged, ok := n.(*ast.Field); ok && tagged.Tag != nil {
			lines[f.set.Position(tagged.Tag.Pos()).Line] = true
		}
		return true
	})
	return lines
}

func TestPackageComments(t *testing.T) {
	documented := map[string]bool{}
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		documented[f.room] = documented[f.room] || f.syntax.Doc != nil
	}
	for room, ok := range documented {
		if !ok {
			t.Errorf("package %s has no package comment", room)
		}
	}
}
