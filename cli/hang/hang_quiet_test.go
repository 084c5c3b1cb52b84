//go:build quiet

package hang

import (
	"testing"

	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestPlantedBoth has all planted programs under both MPIs.
func TestPlantedBoth(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		var list []*planted
		for i := range cases {
			list = append(list, &cases[i])
		}
		tryCases(t, l, list)
	})
}
