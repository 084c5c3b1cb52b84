// Package mpitest is for tests that need MPI: it finds the libraries, runs a test with each of them, and compiles
// programs. internal/needed decides what a missing library means.
//
// It knows nothing about what the programs do. Tests inside observe/mpi cannot import it.
package mpitest

import (
	"context"
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"slackline/internal/needed"
	"slackline/observe/mpi"
)

// found are the libraries of this machine that can start programs.
var found = sync.OnceValue(func() []*mpi.Library {
	list, _ := mpi.Find(context.Background())
	return slices.DeleteFunc(list, func(l *mpi.Library) bool { return l.Launcher == "" || l.Kind == mpi.Unknown })
})

// AllowRoot lets Open MPI start programs for root, as continuous integration does.
func AllowRoot(t testing.TB) {
	t.Helper()
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
}

// Crowd lets a launcher start more ranks than there are CPUs, which then give their CPU away while they wait.
func Crowd(t testing.TB) {
	t.Helper()
	AllowRoot(t)
	t.Setenv("OMPI_MCA_rmaps_base_oversubscribe", "1")
	t.Setenv("OMPI_MCA_mpi_yield_when_idle", "1")
	t.Setenv("OMP_NUM_THREADS", "1")
}

// Libraries returns the MPI libraries that can start programs here, at least one; in continuous integration there must
// be two.
func Libraries(t testing.TB) []*mpi.Library {
	t.Helper()
	needed.Full(t, "MPI")
	AllowRoot(t)
	list := found()
	if needed.InCI() {
		needed.That(t, len(list) >= 2, "one of Open MPI and MPICH")
	}
	needed.That(t, len(list) > 0, "an MPI library with a launcher")
	return slices.Clone(list)
}

// Each runs a test with Open MPI and with MPICH, whose launchers start as many ranks as requested.
func Each(t *testing.T, test func(t *testing.T, l *mpi.Library)) {
	t.Helper()
	each(t, false, test)
}

// Both does the same with both at once, which is for tests that sleep most of the time.
func Both(t *testing.T, test func(t *testing.T, l *mpi.Library)) {
	t.Helper()
	each(t, true, test)
}

func each(t *testing.T, atOnce bool, test func(t *testing.T, l *mpi.Library)) {
	t.Helper()
	needed.Full(t, "MPI")
	Crowd(t)
	for _, kind := range []mpi.Kind{mpi.OpenMPI, mpi.MPICH} {
		t.Run(Name(kind), func(t *testing.T) {
			i := slices.IndexFunc(found(), func(l *mpi.Library) bool { return l.Kind == kind })
			needed.That(t, i >= 0, string(kind))
			if atOnce {
				t.Parallel()
			}
			test(t, found()[i])
		})
	}
}

// Other returns a library of another kind.
func Other(t testing.TB, l *mpi.Library) *mpi.Library {
	t.Helper()
	i := slices.IndexFunc(found(), func(o *mpi.Library) bool { return o.Kind != l.Kind })
	needed.That(t, i >= 0, "another library than "+l.String())
	return found()[i]
}

// Name is the name of a kind of library in names of tests and benchmarks, which contain no blanks.
func Name(k mpi.Kind) string { return strings.ReplaceAll(string(k), " ", "") }

// Launch is the beginning of a command with a number of ranks.
func Launch(l *mpi.Library, ranks int) []string {
	return []string{l.Launcher, "-n", strconv.Itoa(ranks)}
}

// patience is what programs of MPICH lack: a rank that waits gives up its CPU, and sleeps when it has waited for long. Open MPI
// does the first after Crowd. Where other tests need the CPUs, too, a job of ranks that spin takes up to ten times the CPU time.
const patience = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

unsigned ucp_worker_progress(void *worker);
__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker) {
    static unsigned (*real)(void *);
    static _Thread_local unsigned idle;
    if (real == NULL) real = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    unsigned n = real(worker);
    if (n > 0) idle = 0;
    else if (++idle < 100) sched_yield();
    else usleep(50);
    return n;
}
`

// Spinning is a flag of Build for a program that is to spin while it waits, because it measures how long calls take.
const Spinning = "-Wl,--as-needed" // it uses nothing of the library

// patient is the library with patience, for programs of MPICH.
func patient(t testing.TB, l *mpi.Library) string {
	t.Helper()
	s := mpi.Source{Name: "patience", Files: map[string]string{"patience.c": patience}, Libs: []string{"-ldl"}}
	path, _, err := l.Compile(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Build compiles a program in C or Fortran and returns its path. Its ranks do not spin while they wait, see Spinning.
func Build(t testing.TB, l *mpi.Library, source string, flags ...string) string {
	t.Helper()
	return BuildWith(t, l, "gcc", source, flags...)
}

// BuildWith compiles a program with another C compiler than the one that MPI's calls.
func BuildWith(t testing.TB, l *mpi.Library, cc, source string, flags ...string) string {
	t.Helper()
	compiler := l.Compiler
	name := filepath.Base(source)
	path := filepath.Join(t.TempDir(), strings.TrimSuffix(name, filepath.Ext(name)))
	args := slices.Concat([]string{"-o", path, source, "-w", "-Wl,--no-as-needed"}, flags)
	if l.Kind == mpi.MPICH {
		args = append(args, patient(t, l))
	}
	if strings.HasSuffix(source, ".F90") {
		needed.That(t, l.Fortran != "", "the Fortran compiler of "+l.String())
		compiler = l.Fortran
		args = append(args, "-J"+filepath.Dir(path)) // where it leaves its modules
	}
	c := exec.Command(compiler, args...)
	c.Env = append(os.Environ(), "OMPI_CC="+cc, "MPICH_CC="+cc)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", compiler, args, err, out)
	}
	return path
}

// Declared are the functions in the header of a library, without MPI_.
func Declared(t testing.TB, l *mpi.Library) []string {
	t.Helper()
	source := filepath.Join(t.TempDir(), "header.c")
	if err := os.WriteFile(source, []byte("#include <mpi.h>\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command(l.Compiler, "-E", "-P", source).Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, m := range regexp.MustCompile(`\b(?:int|double|MPI_Aint)\s+MPI_([A-Z]\w*)\s*\(`).FindAllStringSubmatch(string(text), -1) {
		list = append(list, m[1])
	}
	return list
}

// NoWarnings checks that the compilers have no warnings about a part in C.
func NoWarnings(t *testing.T, s mpi.Source) {
	t.Helper()
	dir := t.TempDir()
	args := []string{"-std=c11", "-fsyntax-only", "-Werror", "-Wall", "-Wextra", "-Wshadow", "-I", dir}
	for name, text := range s.Files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".c") {
			args = append(args, path)
		}
	}
	Each(t, func(t *testing.T, l *mpi.Library) {
		if out, err := exec.Command(l.Compiler, args...).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

//go:embed local.txt
var localText string

// LocalFunctions are the names of the functions that preloaded libraries leave alone.
func LocalFunctions() []string {
	var list []string
	for line := range strings.Lines(localText) {
		if line[0] != '#' {
			list = append(list, strings.Fields(line)...)
		}
	}
	return list
}
