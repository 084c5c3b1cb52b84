//go:build quiet

package cli_test

import (
	"testing"

	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// On a quiet machine the waits are those that were planted within 10 %.
func TestPlantedCollectivesExactly(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) { checkLateCases(t, l, 0.9, 1.1) })
}
