//go:build quiet

package cli_test

import (
	"path/filepath"
	"slices"
	"testing"

	"slackline/cli/clitest"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// furtherCauses look for messages and use files and windows in other ways.
var furtherCauses = []planted{
	{"windows", "free", "win_free", 0.45, 0.45},
	{"files", "open", "collective_io", 0.45, 0.45}, {"probes", "probe", "late_sender", 0.45, 0.45},
	{"probes", "sleep", "late_sender", 0.45, 0.45}, {"probes", "improbe", "late_sender", 0.45, 0.45},
}

// TestPlantedCosts wants the cost of planted causes within 10 %.
func TestPlantedCosts(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		for _, p := range slices.Concat(plantedCauses, furtherCauses) {
			t.Run(p.program+"-"+p.argument, func(t *testing.T) {
				binary := mpitest.Build(t, l, filepath.Join("../testdata/waits/planted", p.program+".c"), "-g", "-finstrument-functions")
				clitest.Thrice(t, func() (string, bool) {
					wrong := findPlanted(t, l, binary, p, 0.9, 1.1)
					return wrong, wrong == ""
				})
			})
		}
	})
}
