// Package arrowtest reads Arrow files by engines that have nothing to do with the writer: Arrow's own library for JavaScript, from
// the footer and from front to back, and Polars, which maps files. For tests only.
package arrowtest

import (
	_ "embed"
	"reflect"
	"testing"

	"slackline/internal/needed"
)

// File is what Arrow's own library finds in a file.
type File struct {
	Metadata map[string]string
	Fields   []Field
	Batches  []int   // numbers of rows
	Rows     [][]any // strings as Polars writes values of their type; nil: missing

	FrontToBack [][]any
	Polars      [][]any
}

// Field is a column of a file.
type Field struct {
	Name, Type string // type as Arrow's library calls it
	Nullable   bool
	Metadata   map[string]string
}

//go:embed read.js
var read string

//go:embed query.js
var query string

// Read reads files. All engines must find the same rows.
func Read(t testing.TB, paths ...string) []File {
	t.Helper()
	var files []File
	needed.Node(t, read, []string{"apache-arrow", "nodejs-polars"}, paths, &files)
	for i, f := range files {
		for by, rows := range map[string][][]any{"read from front to back": f.FrontToBack, "read by Polars": f.Polars} {
			if !reflect.DeepEqual(rows, f.Rows) {
				t.Errorf("%s, %s, has %d rows that are not the %d rows of the file: %.500v; %.500v", paths[i], by, len(rows), len(f.Rows), rows, f.Rows)
			}
		}
	}
	return files
}

// Question is a statement of SQL about the files of a directory, which are tables with their names.
type Question struct{ Dir, Statement string }

// Query returns the rows that Polars answers questions with.
func Query(t testing.TB, questions []Question) [][][]any {
	t.Helper()
	var answers [][][]any
	needed.Node(t, query, []string{"nodejs-polars"}, questions, &answers)
	return answers
}
