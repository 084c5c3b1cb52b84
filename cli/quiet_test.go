//go:build quiet

package cli_test

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// The recorded schedule, simulated with the parameters of the network, takes as long as the program did: 5 % at most,
// 2 % as a rule (median of five runs).
func TestRunTimeIsPredicted(t *testing.T) {
	slackline := clitest.BuiltProgram(t)
	clitest.EachMPI(t, "testdata/quiet/halo.c", func(t *testing.T, mpi, program string) {
		dir := t.TempDir()
		machine, trace := filepath.Join(dir, "machine.yaml"), filepath.Join(dir, "run.slt")
		clitest.Thrice(t, func() (string, bool) {
			if err := clitest.MeasuredMachine(slackline, mpi, machine); err != nil {
				return err.Error(), false
			}
			var errors []float64
			for range 5 {
				out := clitest.Output(t, slackline, "record", "--force", "--quiet", "--out", trace, "--", "mpirun."+mpi, "-n", "2", program)
				own, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
				if err != nil {
					t.Fatal(err)
				}
				var result struct {
					Makespan float64 `json:"makespan_ns"`
				}
				if err := json.Unmarshal(clitest.Output(t, slackline, "simulate", trace, "--machine", machine, "--format", "json", "--quiet"),
					&result); err != nil {
					t.Fatal(err)
				}
				errors = append(errors, 100*(result.Makespan/own-1))
			}
			slices.SortFunc(errors, func(a, b float64) int { return int(math.Copysign(1, math.Abs(a)-math.Abs(b))) })
			text := "error of the simulated run time in per cent, five runs:"
			for _, e := range errors {
				text += strconv.FormatFloat(e, 'f', 2, 64) + " "
			}
			return text, math.Abs(errors[2]) <= 2
		})
	})
}
