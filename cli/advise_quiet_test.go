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
	{"neighbors", []string{"balance:even@main/neighbors/solve"}, 0},
	{"halves", []string{"balance:even@main/halves/solve"}, 0},
	{"serial", []string{"balance:even@main/serial/prepare"}, 0},
	{"late_at_barrier", []string{"balance:even@main/late_at_barrier/solve"}, 0},
	{"two_functions", []string{"balance:even@main/two_functions/solve"}, 0},
	{"relay", []string{"send_first@main/relay/MPI_Send"}, 0},
	{"ring", []string{"send_first@main/ring/MPI_Send"}, 0},
	{"barrier_pairs", []string{"fewer_barriers:none@main/barrier_pairs/MPI_Barrier"}, 0},
	{"stall", []string{"nonblocking_send@main/stall/MPI_Send", "eager_limit:1MiB"}, 0},
	{"late_receive", []string{
		"arrival_order@main/late_receive/MPI_Recv", "early_receive@main/late_receive/MPI_Recv", "nonblocking_send@main/late_receive/MPI_Send",
		"eager_limit:1MiB",
	}, 0},
	{"noise", []string{"noise:median"}, 0},
}...)

// callCases are those whose time is that of calls: what their fix gains depends on the CPUs and on what the library makes of it, so that
// only the first advice is compared.
var callCases = []advisedCase{
	{"small", []string{"combine@main/small/MPI_Send"}, 2}, // each rank needs a CPU
	{"loop", []string{"use_collective:bcast@main/loop/MPI_Send"}, 0},
}

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
		for _, tc := range callCases {
			t.Run(tc.name, func(t *testing.T) {
				clitest.Thrice(t, func() (string, bool) {
					wrong := checkAdvice(t, l, binary, tc, 0)
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
