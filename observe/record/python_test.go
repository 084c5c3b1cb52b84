package record

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"slackline/internal/needed"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// pythons are the interpreters of this machine: that of the distribution, and those that pyenv has installed.
func pythons(t *testing.T) []string {
	t.Helper()
	list := []string{needed.Tool(t, "/usr/bin/python3", "python3-minimal")}
	if home, err := os.UserHomeDir(); err == nil {
		more, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/3.*/bin/python3"))
		list = append(list, more...)
	}
	return list
}

// isKnownPython reports whether the recorder reads the frames of an interpreter.
func isKnownPython(t *testing.T, python string) bool {
	t.Helper()
	out, err := exec.Command(python, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`^Python 3\.([89]|1[0-3])\.`).Match(out)
}

// TestPython finds the functions of Python programs in call paths, from calls that have released the GIL and from samples.
func TestPython(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		for i, python := range pythons(t) {
			if i > 0 && i%2 == len(l.Kind)%2 {
				continue // with the other library
			}
			command := append(mpitest.Launch(l, 2), python, "testdata/ctypes_calls.py")
			r := recorded(t, sampled(command...))
			known := isKnownPython(t, python)
			var barrier, smooth []string
			for path := range r.times(t, 1) {
				if known && strings.Contains(path, "Py") || !known && strings.Contains(path, "_PyEval") {
					t.Errorf("%s: call path %s shows the interpreter", python, path)
				}
				path = strings.NewReplacer("Solver.", "", "/größe.<locals>.<listcomp>", "", "/<listcomp>", "").Replace(path)
				if strings.HasSuffix(path, "MPI_Barrier") {
					barrier = append(barrier, path)
				} else if strings.HasSuffix(path, "/smooth") {
					smooth = append(smooth, path)
				}
			}
			want := []string{"python/MPI_Barrier"}
			if known {
				want = []string{"ctypes_calls.py/main/by_key/größe/wait/MPI_Barrier"}
				if !slices.Equal(smooth, []string{"ctypes_calls.py/main/steps/smooth"}) {
					t.Errorf("%s: samples are in %q", python, smooth)
				}
			}
			if !slices.Equal(barrier, want) {
				t.Errorf("%s: MPI_Barrier is called in %q, want %q", python, barrier, want)
			}
			if calls := r.calls(t, 0); calls["MPI_Barrier"] != 20 {
				t.Errorf("%s: calls = %v", python, calls)
			}
		}
	})
}

// TestPythonCaller has the innermost function only.
func TestPythonCaller(t *testing.T) {
	l := mpitest.Libraries(t)[0]
	python := pythons(t)[0]
	r := recorded(t, Options{Command: append(mpitest.Launch(l, 2), python, "testdata/ctypes_calls.py"), CallPath: "caller"})
	found := false
	for path := range r.times(t, 0) {
		found = found || strings.HasSuffix(path, "wait/MPI_Barrier") && strings.Count(path, "/") == 1
	}
	if !found {
		t.Errorf("call paths: %v", r.times(t, 0))
	}
}

// TestMPI4Py shows neither the binding nor the way by which Python imports it, and MPI_Finalize, which comes after the
// interpreter's end.
func TestMPI4Py(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		if l.Kind != mpi.OpenMPI {
			return // the distribution builds it for Open MPI only
		}
		python := pythons(t)[0]
		needed.That(t, exec.Command(python, "-c", "import mpi4py").Run() == nil, "mpi4py, python3-mpi4py,")
		r := recorded(t, sampled(append(mpitest.Launch(l, 2), python, "testdata/solver.py")...))
		if !strings.Contains(r.stdout, "total 400") {
			t.Errorf("the program printed %q", r.stdout)
		}
		times := r.times(t, 0)
		for _, want := range []string{
			"solver.py/MPI_Init_thread", "solver.py/main/Solver.exchange/MPI_Recv", "solver.py/main/Solver.smooth",
			"solver.py/main/MPI_Barrier", "python/MPI_Finalize",
		} {
			if _, ok := times[want]; !ok {
				t.Errorf("no time in %s: %v", want, times)
			}
		}
	})
}

func TestPythonFunction(t *testing.T) {
	record := func(line uint64, text string) *rawRecord {
		return &rawRecord{data: append(binary.LittleEndian.AppendUint64(nil, line), text...)}
	}
	for _, c := range []struct {
		record *rawRecord
		want   function
	}{
		{record(7, "Solver.step\x00/home/me/solver.py\x00\x00\x00"), function{name: "Solver.step", file: "/home/me/solver.py", line: 7}},
		{record(1, "<module>\x00/home/me/solver.py\x00"), function{name: "solver.py", file: "/home/me/solver.py", line: 1}},
		{record(1, "a\xff\x00b"), function{name: "a?", file: "b", line: 1}},
		{&rawRecord{data: []byte{1}}, function{}},
	} {
		if got := pythonFunction(c.record); got != c.want {
			t.Errorf("pythonFunction(%q) = %+v, want %+v", c.record.data, got, c.want)
		}
	}
}
