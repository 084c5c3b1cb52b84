package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/observe/record"
)

// TestCallPage wants the page of MPI calls to be what the tables of the recorder say.
func TestCallPage(t *testing.T) {
	path := filepath.Join("..", "docs", "mpi-calls.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	coverage, err := record.Coverage()
	if err != nil {
		t.Fatal(err)
	}
	const begin = "<!-- from the tables of the recorder: go test ./cli -run TestCallPage -update-pages -->\n"
	before, _, found := strings.Cut(string(data), begin)
	if !found {
		t.Fatalf("%s has no line\n%s", path, begin)
	}
	text := before + begin + "\n" + coverage
	if text == string(data) {
		return
	}
	if !*updatePages {
		t.Fatalf("%s is not what the tables say; run go test ./cli -run TestCallPage -update-pages", path)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
