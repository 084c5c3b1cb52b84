package cli_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"slackline/cli"
	"slackline/internal/arrowfile/arrowtest"
	"slackline/internal/needed"
)

// Results as Arrow have the rows of their CSV, in the same order, with the units that the names of their columns tell.
func TestArrowIsCSV(t *testing.T) {
	needed.Full(t, "engines that read Arrow")
	data := filepath.Join("..", "testdata", "scaling", "check", "memory-wall")
	var want [][][]string
	var paths []string
	for i, command := range []string{
		"simulate ring --ranks 64 --machine chic",
		"simulate dissemination --ranks 8,16 --machine chic --noise chic --replicas 3 --seed 1",
		"tolerance ring --ranks 4 --machine chic",
		"waits " + filepath.Join("..", "testdata", "waits", "cases", "01-figure3"),
		"profile halo2d --ranks 16 --machine chic",
		"scaling " + data + ".json",
		"check " + data + ".yaml " + data + ".json",
		"machine list",
	} {
		var text, stderr bytes.Buffer
		cli.Main(append(strings.Fields(command), "--format", "csv"), nil, &text, &stderr)
		records, err := csv.NewReader(&text).ReadAll()
		if err != nil || len(records) < 2 {
			t.Fatalf("%s: %d lines, %v, %s", command, len(records), err, &stderr)
		}
		want = append(want, records)
		paths = append(paths, filepath.Join(t.TempDir(), fmt.Sprint(i, ".arrow")))
		text.Reset()
		cli.Main(append(strings.Fields(command), "--format", "arrow"), nil, &text, &stderr)
		if err := os.WriteFile(paths[i], text.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for i, file := range arrowtest.Read(t, paths...) {
		if len(file.Rows) != len(want[i])-1 || len(file.Fields) != len(want[i][0]) {
			t.Errorf("%s: %d rows and %d columns, want %d and %d", paths[i], len(file.Rows), len(file.Fields), len(want[i])-1, len(want[i][0]))
			continue
		}
		for j, f := range file.Fields {
			if f.Name != want[i][0][j] || strings.HasSuffix(f.Name, "_ns") && (f.Metadata["unit"] != "ns" || f.Type != "Float64") {
				t.Errorf("%s: column %+v, want %s", paths[i], f, want[i][0][j])
			}
			for k, row := range file.Rows {
				if text := want[i][k+1][j]; !sameValue(row[j], text) {
					t.Errorf("%s: row %d has %v in %s, that of CSV %q", paths[i], k, row[j], f.Name, text)
				}
			}
		}
	}
}

// sameValue reports whether a value is what a text says; an empty one may be missing.
func sameValue(v any, text string) bool {
	if v == nil {
		return text == ""
	}
	a, err1 := strconv.ParseFloat(fmt.Sprint(v), 64)
	b, err2 := strconv.ParseFloat(text, 64)
	return fmt.Sprint(v) == text || err1 == nil && err2 == nil && a == b
}
