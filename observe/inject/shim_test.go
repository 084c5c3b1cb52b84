package inject

import (
	"testing"

	"slackline/observe/mpi/mpitest"
)

// TestNoWarnings wants the compiler to have nothing to say about the library.
func TestNoWarnings(t *testing.T) {
	s, err := source()
	if err != nil {
		t.Fatal(err)
	}
	mpitest.NoWarnings(t, s)
}
