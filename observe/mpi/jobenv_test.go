//go:build linux

package mpi

import (
	"context"
	"strings"
	"sync"
	"testing"
)

func TestStartedIn(t *testing.T) {
	for _, tc := range []struct {
		name string
		env  string
		want Start
		is   bool
		err  string
	}{
		{name: "alone"},
		{name: "Open MPI", env: "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 PMIX_RANK=1", want: Start{OpenMPI, false, "mpirun of Open MPI", 1, 4}, is: true},
		{name: "hydra", env: "PMI_RANK=0 PMI_SIZE=2", want: Start{MPICH, false, "mpiexec of MPICH", 0, 2}, is: true},
		{name: "one process", env: "PMI_RANK=0 PMI_SIZE=1", want: Start{MPICH, false, "mpiexec of MPICH", 0, 1}, is: true},
		{name: "srun with pmi2", env: "SLURM_STEP_ID=0 SLURM_PROCID=3 PMI_RANK=3 PMI_SIZE=8", want: Start{MPICH, true, "srun", 3, 8}, is: true},
		{name: "srun with pmix", env: "SLURM_STEP_ID=0 SLURM_PROCID=3 PMIX_RANK=3 SLURM_STEP_NUM_TASKS=8 SLURM_NTASKS=16", want: Start{Unknown, false, "srun", 3, 8}, is: true},
		{name: "srun without MPI", env: "SLURM_STEP_ID=0 SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=8", err: "--mpi=pmix"},
		{name: "srun of one process without MPI", env: "SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1"},
		{name: "batch script", env: "SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=8"},
		{name: "switched off", env: "SLACKLINE_MPI_JOB=off PMI_RANK=0 PMI_SIZE=2"},
		{name: "joined", env: "SLACKLINE_MPI_JOB=joined:17 PMI_RANK=0 PMI_SIZE=2"},
		{name: "slip", env: "SLACKLINE_MPI_JOB=of PMI_RANK=0 PMI_SIZE=2", err: "neither on nor off"},
		{name: "nonsense", env: "PMI_RANK=5 PMI_SIZE=2"},
	} {
		env := map[string]string{}
		for _, v := range strings.Fields(tc.env) {
			name, value, _ := strings.Cut(v, "=")
			env[name] = value
		}
		got, is, err := StartedIn(func(name string) string { return env[name] })
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: error %v, want %q", tc.name, err, tc.err)
			}
			continue
		}
		if err != nil || is != tc.is || is && got != tc.want {
			t.Errorf("%s: %+v, %v, %v, want %+v, %v", tc.name, got, is, err, tc.want, tc.is)
		}
	}
}

// bridgeFor is the bridge for a launcher of a kind.
func bridgeFor(kind Kind, wanted string) (string, error) {
	s := Start{Kind: kind}
	return s.bridge(context.Background(), wanted)
}

// TestBridgeOfManyProcesses lets many processes need the bridge at the same time, and then again without a compiler.
func TestBridgeOfManyProcesses(t *testing.T) {
	list := libraries(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, l := range list {
		paths := make([]string, 5)
		var all sync.WaitGroup
		for i := range paths {
			all.Go(func() {
				var err error
				if paths[i], err = bridgeFor(l.Kind, ""); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, path := range paths {
			if path != paths[0] || !isExecutable(path) {
				t.Errorf("%s: bridges %q", l, paths)
			}
		}
	}
	t.Setenv("PATH", t.TempDir())
	for _, l := range list {
		if path, err := bridgeFor(l.Kind, ""); err != nil || !isExecutable(path) {
			t.Errorf("%s, without a compiler: %q, %v", l, path, err)
		}
	}
	if _, err := bridgeFor(Unknown, "another"); err != ErrNone {
		t.Errorf("without a compiler and without a bridge: %v", err)
	}
}

// TestBridgeHasNoWarnings compiles the bridge with all warnings.
func TestBridgeHasNoWarnings(t *testing.T) {
	list := libraries(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, l := range list {
		s := bridgeSource()
		s.Flags = []string{"-Wall", "-Wextra", "-Wshadow", "-Werror"}
		if _, _, err := l.Compile(context.Background(), s); err != nil {
			t.Errorf("%s: %v", l, err)
		}
	}
}
