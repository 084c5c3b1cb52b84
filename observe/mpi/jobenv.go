package mpi

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// JobVariable is the variable by which a user keeps slackline from joining a job (off) or makes it join one of a single
// process too (on), and by which the bridge lets its child know that it has joined one.
const JobVariable = "SLACKLINE_MPI_JOB"

// Start is how a launcher has started this process as one of a job.
type Start struct {
	Kind     Kind   // of the launcher, or for srun of the library that most likely understands it
	Any      bool   // srun: programs of another kind may understand it, too
	Launcher string // as a user calls it
	Rank     int
	Size     int
}

// StartedIn finds out from the environment whether a launcher has started this process as one of an MPI job that it has
// not joined yet. It is an error if the launcher has started several processes that cannot find each other.
func StartedIn(getenv func(string) string) (s Start, is bool, err error) {
	if mark := getenv(JobVariable); mark == "off" || strings.HasPrefix(mark, joinedMark) {
		return Start{}, false, nil
	} else if mark != "" && mark != "on" {
		return Start{}, false, fmt.Errorf("%s: %q is neither on nor off", JobVariable, mark)
	}
	numbers := func(rank, size string) bool {
		var errRank, errSize error
		s.Rank, errRank = strconv.Atoi(getenv(rank))
		s.Size, errSize = strconv.Atoi(getenv(size))
		return errRank == nil && errSize == nil && s.Rank >= 0 && s.Rank < s.Size
	}
	step := getenv("SLURM_STEP_ID") != ""
	switch {
	case numbers("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"):
		s.Kind, s.Launcher = OpenMPI, "mpirun of Open MPI"
	case !step && numbers("PMI_RANK", "PMI_SIZE"):
		s.Kind, s.Launcher = MPICH, "mpiexec of MPICH"
	case step && numbers("PMI_RANK", "PMI_SIZE"):
		s.Kind, s.Any, s.Launcher = MPICH, true, "srun"
	case step && numbers("PMIX_RANK", "SLURM_STEP_NUM_TASKS"), step && numbers("PMIX_RANK", "SLURM_NTASKS"):
		s.Kind, s.Any, s.Launcher = OpenMPI, true, "srun"
	case step && numbers("SLURM_PROCID", "SLURM_STEP_NUM_TASKS") && s.Size > 1:
		return s, false, fmt.Errorf("srun has started %d processes without MPI, so that they cannot work together; "+
			"give srun --mpi=pmix or --mpi=pmi2 (srun --mpi=list shows what there is), or set %s=off", s.Size, JobVariable)
	default:
		return Start{}, false, nil
	}
	return s, true, nil
}

// Abort asks the launcher to end a job that this process cannot join. That of MPICH does not do so by itself when a
// process ends that has not yet contacted it: the others would wait for it forever.
func (s Start) Abort(code int) {
	number, err := strconv.Atoi(os.Getenv("PMI_FD"))
	if s.Kind != MPICH || s.Any || err != nil || number < 3 {
		return
	}
	time.Sleep(300 * time.Millisecond) // the launcher reads the last output
	if launcher := os.NewFile(uintptr(number), "launcher"); launcher != nil {
		fmt.Fprintf(launcher, "cmd=abort exitcode=%d\n", code) // nothing else can be done
	}
}

// joinedMark starts the value of JobVariable in a child of the bridge; the bridge's process number follows.
const joinedMark = "joined:"

// Joined reports whether this process is the child of a bridge, and not a child of such a one.
func Joined() bool {
	number, is := strings.CutPrefix(os.Getenv(JobVariable), joinedMark)
	return is && number == strconv.Itoa(os.Getppid())
}
