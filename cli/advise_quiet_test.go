//go:build quiet

package cli_test

import (
	"testing"

	"slackline/cli/clitest"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// advisedCases are all of them.
var advisedCases = append(quickAdvice, []advisedCase{
	{"neighbors", []string{"balance:even@main/neighbors/solve"}},
	{"halves", []string{"balance:even@main/halves/solve"}},
	{"serial", []string{"balance:even@main/serial/prepare"}},
	{"late_at_barrier", []string{"balance:even@main/late_at_barrier/solve"}},
	{"two_functions", []string{"balance:even@main/two_functions/solve"}},
	{"relay", []string{"send_first@main/relay/MPI_Send"}},
	{"ring", []string{"send_first@main/ring/MPI_Send"}},
	{"barrier_pairs", []string{"fewer_barriers:none@main/barrier_pairs/MPI_Barrier"}},
	{"stall", []string{"nonblocking_send@main/stall/MPI_Send", "eager_limit:1MiB"}},
	{"late_receive", []string{"early_receive@main/late_receive/MPI_Recv", "nonblocking_send@main/late_receive/MPI_Send", "eager_limit:1MiB"}},
	{"noise", []string{"noise:median"}},
}...)

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
