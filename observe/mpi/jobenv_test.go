//go:build linux

package mpi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"slackline/internal/needed"
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
		{name: "Open MPI", env: "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 PMIX_RANK=1",
			want: Start{OpenMPI, false, "mpirun of Open MPI", 1, 4}, is: true},
		{name: "hydra", env: "PMI_RANK=0 PMI_SIZE=2", want: Start{MPICH, false, "mpiexec of MPICH", 0, 2}, is: true},
		{name: "one process", env: "PMI_RANK=0 PMI_SIZE=1", want: Start{MPICH, false, "mpiexec of MPICH", 0, 1}, is: true},
		{name: "srun with pmi2", env: "SLURM_STEP_ID=0 SLURM_PROCID=3 PMI_RANK=3 PMI_SIZE=8", want: Start{MPICH, true, "srun", 3, 8}, is: true},
		{name: "srun with pmix", env: "SLURM_STEP_ID=0 SLURM_PROCID=3 PMIX_RANK=3 SLURM_STEP_NUM_TASKS=8 SLURM_NTASKS=16",
			want: Start{OpenMPI, true, "srun", 3, 8}, is: true},
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

// TestBridgeIsKept: another source or other flags need another bridge, the same ones the same.
func TestBridgeIsKept(t *testing.T) {
	l := libraries(t)[0]
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	first, err := bridgeFor(l.Kind, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func(flags []string) { bridgeFlags = flags }(bridgeFlags)
	bridgeFlags = []string{"-DLARGEST_PIECE=UINT64_C(7)"}
	other, err := bridgeFor(l.Kind, "")
	if err != nil || other == first {
		t.Errorf("with other flags: %q, %v; before: %q", other, err, first)
	}
	bridgeFlags = nil
	if again, err := bridgeFor(l.Kind, ""); err != nil || again != first {
		t.Errorf("again: %q, %v; before: %q", again, err, first)
	}
	if err := os.Remove(first); err != nil {
		t.Fatal(err)
	}
	if again, err := bridgeFor(l.Kind, ""); err != nil || !isExecutable(again) {
		t.Errorf("after it was removed: %q, %v", again, err)
	}
}

// TestDoOnce: of several processes that want the same, one does it; those that have waited for it get its error. A
// later one tries again.
func TestDoOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	ctx := context.Background()
	var calls atomic.Int32
	inside := make(chan bool)
	fail := func() error {
		calls.Add(1)
		<-inside
		return errors.New("tired")
	}
	var all sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		all.Go(func() { errs[i] = doOnce(ctx, file, fail) })
	}
	for calls.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond) // the others wait by now; those who do not call fail as well
	close(inside)
	all.Wait()
	for i, err := range errs {
		if err == nil || err.Error() != "tired" {
			t.Errorf("process %d: %v", i, err)
		}
	}
	if err := doOnce(ctx, file, func() error { return nil }); err != nil {
		t.Errorf("a later one: %v", err)
	}
	if err := doOnce(ctx, "/proc/nothing/lock", func() error { return nil }); err != nil {
		t.Errorf("without locks: %v", err)
	}
	busy, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	if _, err := lock(ctx, busy); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if err := doOnce(ended, file, func() error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("interrupted while it waits: %v", err)
	}
}

// TestCacheWithoutPrograms wants doctor and Compile to report a cache from which nothing can be run, before a program runs without
// what should be preloaded; the bridge is kept elsewhere.
func TestCacheWithoutPrograms(t *testing.T) {
	list, err := Find(t.Context())
	needed.NoError(t, err)
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("TMPDIR", t.TempDir())
	needed.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_NOEXEC, "mode=700"))
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	part := Source{Name: "part", Files: map[string]string{"a.c": "int part;\n"}}
	_, _, err = list[0].Compile(t.Context(), part)
	for what, text := range map[string]string{"doctor": cacheRemark(cacheDir()), "Compile": fmt.Sprint(err)} {
		if !strings.Contains(text, "noexec") || !strings.Contains(text, "let XDG_CACHE_HOME name a folder for programs") {
			t.Errorf("%s: %s, want that nothing can be run there, and a way out", what, text)
		}
	}
	path, err := Start{Kind: list[0].Kind}.bridge(t.Context(), "")
	if err != nil || !strings.HasPrefix(path, ownDir()) {
		t.Errorf("the bridge is %q, %v, want it in %s", path, err, ownDir())
	}
}

// TestFullCache wants doctor and Compile to report a disk that is full, with a way out, and to leave nothing there.
func TestFullCache(t *testing.T) {
	list, err := Find(t.Context())
	needed.NoError(t, err)
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4k,mode=700"); err != nil {
		t.Skipf("no file system can be made here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	text := strings.Repeat("\n", 8<<10) + "int main(void) { return 0; }\n"
	part := Source{Name: "part", Files: map[string]string{"a.c": text}, Program: true}
	_, _, err = list[0].Compile(t.Context(), part)
	for what, text := range map[string]string{"doctor": cacheRemark(cacheDir()), "Compile": fmt.Sprint(err)} {
		if !strings.Contains(text, "no space left on device") || !strings.Contains(text, "let XDG_CACHE_HOME name a folder that has space") {
			t.Errorf("%s: %s, want that there is no space, and a way out", what, text)
		}
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			t.Errorf("%s is left: %v", path, err)
		}
		return nil
	})
}
