package inject

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"slackline/observe/mpi"
)

// need skips a test that lacks its tool, and fails it in continuous integration.
func need(t testing.TB, ok bool, what string) {
	t.Helper()
	if ok {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is missing", what)
	}
	t.Skipf("%s is missing", what)
}

var libraries = sync.OnceValue(func() []*mpi.Library {
	list, _ := mpi.Find(context.Background())
	return list
})

// eachLibrary runs a test with Open MPI and with MPICH.
func eachLibrary(t *testing.T, test func(t *testing.T, l *mpi.Library)) {
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	t.Setenv("OMPI_MCA_rmaps_base_oversubscribe", "1")
	t.Setenv("OMPI_MCA_mpi_yield_when_idle", "1")
	for _, kind := range []mpi.Kind{mpi.OpenMPI, mpi.MPICH} {
		t.Run(strings.ReplaceAll(string(kind), " ", ""), func(t *testing.T) {
			i := slices.IndexFunc(libraries(), func(l *mpi.Library) bool { return l.Kind == kind && l.Launcher != "" })
			need(t, i >= 0, string(kind))
			test(t, libraries()[i])
		})
	}
}

// build compiles a program of testdata.
func build(t testing.TB, l *mpi.Library, source string, flags ...string) string {
	t.Helper()
	compiler := l.Compiler
	path := filepath.Join(t.TempDir(), strings.TrimSuffix(source, filepath.Ext(source)))
	args := slices.Concat([]string{"-O1", "-o", path, filepath.Join("testdata", source), "-w"}, flags)
	if strings.HasSuffix(source, ".F90") {
		need(t, l.Fortran != "", "the Fortran compiler of "+l.String())
		compiler = l.Fortran
		args = append(args, "-J"+filepath.Dir(path)) // where it leaves its modules
	}
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", compiler, args, err, out)
	}
	return path
}

// injected is a run under injection.
type injected struct {
	*Result
	stdout, stderr string
	talk           []string
	err            error
}

// inject runs a program of a number of ranks; latencies are added as the flag does.
func inject(t testing.TB, l *mpi.Library, ranks int, program string, o Options, latencies ...string) *injected {
	t.Helper()
	o.Dir = t.TempDir()
	for _, text := range latencies {
		if err := o.Latency.Add(text); err != nil {
			t.Fatal(err)
		}
	}
	r := &injected{}
	var stdout, stderr bytes.Buffer
	say := func(format string, args ...any) { r.talk = append(r.talk, fmt.Sprintf(format, args...)) }
	o.Note, o.Warn = say, say
	o.Streams = mpi.Streams{Out: &stdout, Err: &stderr}
	o.Command = slices.Concat([]string{l.Launcher, "-n", fmt.Sprint(ranks), program}, o.Command)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	r.Result, r.err = Run(ctx, o)
	r.stdout, r.stderr = stdout.String(), stderr.String()
	return r
}
