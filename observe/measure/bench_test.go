package measure

import (
	"testing"

	"slackline/observe/mpi/mpitest"
)

// TestNoWarnings wants the compiler to have nothing to say about what runs inside jobs.
func TestNoWarnings(t *testing.T) {
	s, err := benchSource()
	if err != nil {
		t.Fatal(err)
	}
	mpitest.NoWarnings(t, s)
}
