package inject

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// build compiles a program of testdata.
func build(t testing.TB, l *mpi.Library, source string, flags ...string) string {
	t.Helper()
	return mpitest.Build(t, l, filepath.Join("testdata", source), append([]string{"-O1"}, flags...)...)
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
	o.Command = slices.Concat(mpitest.Launch(l, ranks), []string{program}, o.Command)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	r.Result, r.err = Run(ctx, o)
	r.stdout, r.stderr = stdout.String(), stderr.String()
	return r
}

// oneOfNine runs a program of two ranks until what it measured is not what only load can explain, at most nine times.
func oneOfNine(t *testing.T, l *mpi.Library, program string, o Options, latency string, check func(r *injected) (wrong string)) *injected {
	t.Helper()
	for try := 1; ; try++ {
		r := inject(t, l, 2, program, o, latency)
		if r.err != nil || r.ExitCode != 0 {
			t.Fatalf("%s: %v, exit code = %d\n%s%s", latency, r.err, r.ExitCode, r.stdout, r.stderr)
		}
		wrong := check(r)
		if wrong == "" {
			return r
		}
		if try == 9 {
			t.Fatal(wrong)
		}
	}
}
