package mpitest

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"slackline/observe/mpi"
)

// TestEveryFunctionIsKnown wants each function that a library declares to be in one of the two tables.
func TestEveryFunctionIsKnown(t *testing.T) {
	list, err := mpi.Functions()
	if err != nil {
		t.Fatal(err)
	}
	byHand := []string{"Init", "Init_thread", "Finalize", "Abort", "Pcontrol", "Session_init", "Session_finalize"}
	known := append(LocalFunctions(), byHand...)
	for _, f := range list {
		known = append(known, f.Name)
	}
	outside := regexp.MustCompile(`^(T_|.*_(c2f|f2c|f082c|f082f|f2f08|c2f08)$|DUP_FN$)`)
	Each(t, func(t *testing.T, l *mpi.Library) {
		found := Declared(t, l)
		if len(found) < 300 {
			t.Fatalf("%d functions are declared", len(found))
		}
		for _, name := range found {
			if !outside.MatchString(name) && !slices.Contains(known, name) && !slices.Contains(known, strings.TrimSuffix(name, "_c")) {
				t.Errorf("MPI_%s is in no table", name)
			}
		}
	})
}
