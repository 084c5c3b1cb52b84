//go:build quiet

package cli_test

import (
	"testing"

	"slackline/cli/clitest"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestAdviceComesTrue wants the planted cause first, and the predicted gain within 10 % of that of the fixed program; nothing is
// advised to a program without a cause.
func TestAdviceComesTrue(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		binary := mpitest.Build(t, l, "../testdata/advise/planted.c", "-g", "-finstrument-functions")
		for _, tc := range advisedCases {
			t.Run(tc.name, func(t *testing.T) {
				clitest.Thrice(t, func() (string, bool) {
					wrong := checkAdvice(t, l, binary, tc, 0.1)
					return wrong, wrong == ""
				})
			})
		}
		t.Run("balanced", func(t *testing.T) {
			clitest.Thrice(t, func() (string, bool) {
				wrong := checkAdvice(t, l, binary, advisedCase{name: "balanced"}, 0)
				return wrong, wrong == "no advice"
			})
		})
	})
}
