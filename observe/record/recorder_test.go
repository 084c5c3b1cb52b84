package record

import (
	"slices"
	"strings"
	"testing"

	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestNoWarnings wants the compiler to have nothing to say about the recorder.
func TestNoWarnings(t *testing.T) {
	s, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	mpitest.NoWarnings(t, s)
}

// TestTable wants every function of the table to have macros for its class, and names to be unique.
func TestTable(t *testing.T) {
	list, err := mpi.Functions()
	if err != nil {
		t.Fatal(err)
	}
	s, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	macros := ""
	for _, text := range s.Files {
		macros += text
	}
	names := functionNames(list)
	all := len(names)
	slices.Sort(names)
	if len(slices.Compact(names)) != all {
		t.Error("a function stands twice in the table")
	}
	for _, f := range list {
		w := mpiFunction{Function: f}
		before, _, _ := strings.Cut(w.before(""), "(")
		for _, macro := range []string{before, w.after()} {
			if !strings.Contains(macros, "#define "+macro) {
				t.Errorf("%s: there is no macro %s", f.Name, macro)
			}
		}
	}
}

func TestHeader(t *testing.T) {
	text, err := Header()
	if err != nil || !strings.Contains(text, "slackline_region_begin") {
		t.Errorf("Header = %q, %v", text, err)
	}
}
