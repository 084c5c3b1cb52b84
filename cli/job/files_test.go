//go:build linux

package job_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"slackline/cli/clitest"
	"slackline/internal/cluster"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// inOwnDirectory runs a command in a directory that has the same name for all processes, as on hosts with disks of their
// own.
const inOwnDirectory = `exec 9<"$0" && cd "$0" && exec env PWD=/proc/self/fd/9 "$@"`

// newSplitJob prepares a job of one process in each of some directories: files that a process has to read must be in
// its own.
func newSplitJob(t testing.TB, l *mpi.Library, dirs []string, args ...string) *clitest.Job {
	t.Helper()
	j := clitest.NewJob(t, l, 1, args...)
	words, program := []string{j.Args[0]}, j.Mark
	if l.Kind == mpi.OpenMPI {
		words = append(words, "--oversubscribe")
	}
	for i, dir := range dirs {
		if i > 0 {
			words = append(words, ":")
		}
		words = append(append(words, "-n", "1", "sh", "-c", inOwnDirectory, dir, program), args...)
	}
	j.Args = words
	return j
}

// aloneIn runs slackline by itself in a directory.
func aloneIn(t testing.TB, dir, stdin string, args ...string) string {
	t.Helper()
	self, err := exec.LookPath("slackline") // which TestMain provides
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, args...)
	c.Dir, c.Stdin = dir, strings.NewReader(stdin)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, errs.String())
	}
	return string(out)
}

// writeFiles writes files into a directory.
func writeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// readText reads a file of the test data.
func readText(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// filesOfFirst fills a directory with all that the processes of a job may have to read.
func filesOfFirst(t testing.TB) (dir, goal string) {
	dir = t.TempDir()
	goal = readText(t, "../../testdata/tolerance/16-halo-jitter.goal")
	const machine = "name: mine\nL: 1.2us\no: 0.7us\ng: 0.9us\nG: 0.05ns\nclasses:\n  node: {L: 0.3us}\n"
	writeFiles(t, dir, map[string]string{
		"halo.goal":      goal,
		"pingpong.goal":  readText(t, "../../testdata/tolerance/05-pingpong.goal"),
		"late.trace":     readText(t, "../../testdata/traces/late-sender.trace"),
		"mapping.yaml":   readText(t, "../../model/collective/mappings/mpich.yaml"),
		"detours.txt":    "# period 1000000\n1000 500\n400000 20000\n",
		"noise.yaml":     "name: mine\nparts:\n  - {rate: 1000Hz, length: 5us}\n  - trace: detours.txt\n",
		"nodes.txt":      strings.Repeat("0\n1\n", 8),
		"offsets.txt":    strings.Repeat("1000\n250\n", 8),
		"machine.yaml":   machine + "ranks_per_node: 2\n",
		"placed.yaml":    machine + "placement: nodes.txt\n",
		"hops.txt":       "0 1 2 3\n1 0 1 2\n2 1 0 1\n3 2 1 0\n",
		"slackline.yaml": "machine: machine.yaml\n",
	})
	if err := os.CopyFS(filepath.Join(dir, "run"), os.DirFS("../../testdata/waits/cases/05-allreduce-8")); err != nil {
		t.Fatal(err)
	}
	aloneIn(t, dir, "", "generate", "skeleton", "--ranks", "16", "--iterations", "2", "--out", "skeleton.slk")
	return dir, goal
}

// TestFilesAreReadByProcess0: what all processes need is read by process 0 alone. The others run in a directory where
// none of the files is.
func TestFilesAreReadByProcess0(t *testing.T) {
	dir, goal := filesOfFirst(t)
	empty := t.TempDir()
	for i, args := range []string{
		"simulate halo.goal --noise noise.yaml --replicas 9 --samples --format csv",
		"simulate skeleton.slk --machine placed.yaml --noise-file noise.yaml --mapping mapping.yaml --replicas 7 --format csv",
		"simulate - --machine placed.yaml --noise noise.yaml --replicas 9 --samples --format csv",
		"simulate run/traces.otf2 --ranks 8,16,64 --machine chic --mapping mapping.yaml --noise 1000Hz:100us --replicas 5 --samples --format csv",
		"simulate run --ranks 8,32 --machine cnl --noise 1000Hz:100us --bottleneck=1.05 --replicas 5 --format csv",
		"simulate late.trace --machine machine.yaml --noise noise.yaml --replicas 6 --samples --resume kept.jsonl --format csv",
		"simulate halo.goal --machine machine.yaml --noise noise.yaml --noise-offsets offsets.txt --format csv",
		"simulate run/traces.otf2 --machine machine.yaml --mapping mapping.yaml --format csv",
		"tolerance halo.goal --machine placed.yaml --map-G 0.1ns:1ns:4 --range 1.2us:20us --format csv",
		"tolerance run/traces.otf2 --mapping mapping.yaml --noise noise.yaml --replicas 6 --format csv",
		"tolerance run/traces.otf2 --machine machine.yaml --mappings default,openmpi,mapping.yaml --format json",
		"tolerance run/traces.otf2 --machine machine.yaml --mappings mapping.yaml,openmpi --plot curves.svg --format csv",
		"tolerance halo.goal --machine machine.yaml --pairs 5 --slack --format json",
		"tolerance run/traces.otf2 -L 1us --what-if main=-20% --what-if stencil=-50% --format json",
		"tolerance skeleton.slk -L 274ns -o 1us --topology fattree:k=4 --wires 4 --format json",
		"tolerance pingpong.goal --topology matrix:hops.txt -L 100ns --map-G 0.1ns:1ns:3 --range 0:3us --format csv",
	} {
		t.Run(args, func(t *testing.T) {
			words := strings.Fields(args)
			want, figure, wantFigure := aloneIn(t, dir, goal, words...), filepath.Join(dir, "curves.svg"), ""
			if strings.Contains(args, "--plot") {
				wantFigure = readText(t, figure)
			}
			for k, l := range mpitest.Libraries(t) {
				_ = os.Remove(filepath.Join(dir, "kept.jsonl"))
				j := newSplitJob(t, l, [][]string{{dir, empty, empty}, {dir, empty}, {dir, empty, empty, empty}}[(i+k)%3], words...)
				j.Stdin = strings.NewReader(goal)
				if err := j.Start(); err != nil {
					t.Fatal(err)
				}
				code := j.End(t)
				got, want := j.Out.String(), want
				if code == 0 && strings.HasPrefix(got, "{") {
					got, want = clitest.WithoutProvenance(t, got), clitest.WithoutProvenance(t, want)
				}
				if code != 0 || got != want {
					t.Errorf("%s: exit code %d, stdout:\n%s\nwant:\n%s\nstderr:\n%s", l, code, got, want, j.Errors.String())
				}
				if strings.Contains(j.Errors.String(), "one does it alone") {
					t.Errorf("%s: the work is not shared:\n%s", l, j.Errors.String())
				}
				if wantFigure != "" && readText(t, figure) != wantFigure {
					t.Errorf("%s draws another figure", l)
				}
			}
		})
	}
	if left, err := os.ReadDir(empty); err != nil || len(left) > 0 {
		t.Errorf("processes other than the first have written %v (%v)", left, err)
	}
}

// TestDamagedFilesInJobs: one message, that of process 0, and the job ends.
func TestDamagedFilesInJobs(t *testing.T) {
	dir, _ := filesOfFirst(t)
	empty := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"damaged.goal": "num_ranks 2\nrank 0 {\nl1: snd 8b to 1\n}\n",
		"damaged.slk":  readText(t, filepath.Join(dir, "skeleton.slk"))[:200],
		"bad.yaml":     "name: bad\nL: 1.2us\nspeed: 3\n",
	})
	for _, tc := range []struct{ want, args string }{
		{"damaged.goal:3", "simulate damaged.goal --noise noise.yaml --replicas 20"},
		{"damaged.slk: byte", "simulate damaged.slk --noise noise.yaml --replicas 20"},
		{"missing.goal: no such file", "simulate missing.goal --noise noise.yaml --replicas 20"},
		{`unknown key "speed"`, "simulate halo.goal --machine bad.yaml --noise noise.yaml --replicas 20"},
		{`unknown key "speed"`, "simulate halo.goal --noise-file bad.yaml --replicas 20"},
		{`unknown key "speed"`, "simulate run/traces.otf2 --noise noise.yaml --replicas 20 --mapping bad.yaml"},
		{"damaged.goal:3", "tolerance damaged.goal --noise noise.yaml"},
		{"damaged.goal:3", "tolerance damaged.goal --mappings default,openmpi"},
	} {
		for _, l := range mpitest.Libraries(t) {
			t.Run(fmt.Sprintf("%s/%s", l.Kind, tc.args), func(t *testing.T) {
				t.Parallel()
				j := newSplitJob(t, l, []string{dir, empty, empty}, strings.Fields(tc.args)...)
				if err := j.Start(); err != nil {
					t.Fatal(err)
				}
				code := j.End(t)
				j.NoneLeft(t)
				said := j.Ours()
				if code != 1 || len(said) == 0 || !strings.Contains(said[len(said)-1], "process 0 on ") ||
					strings.Count(j.Errors.String(), tc.want) != 1 {
					t.Errorf("exit code %d, stderr:\n%s\nwant one message of process 0 with %q", code, j.Errors.String(), tc.want)
				}
			})
		}
	}
}

// feed makes a pipe that gives a text once: whoever opens it for a second time waits for ever.
func feed(t testing.TB, path, text string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	go func() {
		if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			_, _ = f.WriteString(text)
			_ = f.Close()
		}
	}()
	t.Cleanup(func() { // a writer that nobody has read from ends
		if f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
			time.Sleep(10 * time.Millisecond)
			_ = f.Close()
		}
	})
}

// TestInputsAreReadOnce: each of several inputs is opened by one process, whoever has the time, and so is the only
// input of a series: they are pipes, which can be read only once.
func TestInputsAreReadOnce(t *testing.T) {
	names := []string{"a.goal", "b.goal", "c.goal", "d.goal", "e.goal"}
	goal := readText(t, "../../testdata/tolerance/16-halo-jitter.goal")
	text := func(i int) string { return strings.ReplaceAll(goal, "calc ", fmt.Sprintf("calc %d", i+1)) }
	files := t.TempDir()
	for i, name := range names {
		writeFiles(t, files, map[string]string{name: text(i)})
	}
	for _, args := range [][]string{
		append(strings.Fields("tolerance --machine cnl --format csv"), names...),
		append(strings.Fields("tolerance --machine cnl --color never --mapping openmpi"), names...),
		strings.Fields("simulate a.goal --machine cnl --noise 1000Hz:100us --replicas 9 --format csv"),
		strings.Fields("tolerance a.goal --machine cnl --noise 1000Hz:100us --replicas 9 --format csv"),
	} {
		want := aloneIn(t, files, "", args...)
		for i, l := range mpitest.Libraries(t) {
			dir := t.TempDir()
			for i, name := range names {
				feed(t, filepath.Join(dir, name), text(i))
			}
			j := clitest.NewJob(t, l, []int{3, 4}[i%2], args...)
			j.Dir = dir
			if err := j.Start(); err != nil {
				t.Fatal(err)
			}
			if code := j.End(t); code != 0 || j.Out.String() != want {
				t.Errorf("%s, %v: exit code %d, stdout:\n%s\nwant:\n%s\nstderr:\n%s", l, args, code, j.Out.String(), want, j.Errors.String())
			}
			if args[0] == "tolerance" && strings.Contains(strings.Join(args, " "), "--mapping ") &&
				strings.Count(j.Errors.String(), "--mapping has no influence") != len(names) {
				t.Errorf("%s: what other processes have to say is lost:\n%s", l, j.Errors.String())
			}
		}
	}
}

// TestTracesAreReadInParts: in waits and profile each process reads the files of its own ranks. In the directory of each
// of them, those of all other ranks hold nonsense.
func TestTracesAreReadInParts(t *testing.T) {
	const ranks, processes = 8, 4 // with equally many events
	whole := t.TempDir()
	otf2, err := filepath.Abs("../../testdata/waits/cases/05-allreduce-8/traces.otf2")
	if err != nil {
		t.Fatal(err)
	}
	aloneIn(t, whole, "", "convert", otf2, "--to", "slt", "--out", "run.slt")
	if err := os.CopyFS(filepath.Join(whole, "run"), os.DirFS(filepath.Dir(otf2))); err != nil {
		t.Fatal(err)
	}
	dirs := make([]string, processes)
	for process := range dirs {
		dirs[process] = t.TempDir()
		if err := os.CopyFS(dirs[process], os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		spoiled := 0
		for rank := range ranks {
			if cluster.Owner(ranks, rank, processes) == process {
				continue
			}
			for _, file := range []string{fmt.Sprintf("run.slt/%d-0.slt", rank), fmt.Sprintf("run/traces/%d.evt", rank)} {
				path := filepath.Join(dirs[process], file)
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				for i := range data {
					data[i] ^= 0x5a
				}
				writeFiles(t, dirs[process], map[string]string{file: string(data)})
				spoiled++
			}
		}
		if spoiled < ranks {
			t.Fatalf("%d files of others in the directory of process %d", spoiled, process)
		}
	}
	for _, args := range []string{"waits run.slt --format csv", "waits run/traces.otf2 --format csv", "profile run.slt --format csv",
		"profile run/traces.otf2 --format csv"} {
		words := append(strings.Fields(args), "--strict")
		want := aloneIn(t, whole, "", words...)
		for _, l := range mpitest.Libraries(t) {
			j := newSplitJob(t, l, dirs, words...)
			if err := j.Start(); err != nil {
				t.Fatal(err)
			}
			if code := j.End(t); code != 0 || j.Out.String() != want {
				t.Errorf("%s, %v: exit code %d, stdout:\n%s\nwant:\n%s\nstderr:\n%s", l, args, code, j.Out.String(), want, j.Errors.String())
			}
			// With the directories in another order every process reads spoiled files.
			j = newSplitJob(t, l, []string{dirs[1], dirs[2], dirs[3], dirs[0]}, words...)
			if err := j.Start(); err != nil {
				t.Fatal(err)
			}
			if code := j.End(t); code == 0 {
				t.Errorf("%s, %v: nonsense is not found", l, args)
			}
		}
	}
}

// TestPartsOfCutTracesInJobs: how long recording was off in a part of a run, and how long there was no CPU, is that of the ranks of all
// processes; in a part in which it was off all the time there is nothing to look at.
func TestPartsOfCutTracesInJobs(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"run.trace": `slackline trace 1
unit s
rank 0
@0 recording off
0..2 MPI_Init
@3 recording on
3..6 work
@6 no-cpu 2
6..8 MPI_Barrier: barrier
8..9 work
9..10 MPI_Finalize
rank 1
@0 recording off
0..2 MPI_Init
@2 recording on
2..8 work
@8 no-cpu 1
8..8 MPI_Barrier: barrier
@8 recording off
9..10 MPI_Finalize
`})
	aloneIn(t, dir, "", "convert", "run.trace", "--to", "slt", "--out", "run.slt")
	for _, args := range []string{"waits run.slt", "profile run.slt --begin 4s", "waits run.slt --begin 0s --end 7s"} {
		want := aloneIn(t, dir, "", strings.Fields(args)...)
		for _, l := range mpitest.Libraries(t) {
			j := newSplitJob(t, l, []string{dir, dir}, append(strings.Fields(args), "--share", "always")...)
			if err := j.Start(); err != nil {
				t.Fatal(err)
			}
			if code := j.End(t); code != 0 || j.Out.String() != want {
				t.Errorf("%s, %v: exit code %d, stdout:\n%s\nwant:\n%s\nstderr:\n%s", l, args, code, j.Out.String(), want, j.Errors.String())
			}
		}
	}
	for _, l := range mpitest.Libraries(t) {
		j := newSplitJob(t, l, []string{dir, dir}, strings.Fields("waits run.slt --begin 0s --end 1s --share always")...)
		if err := j.Start(); err != nil {
			t.Fatal(err)
		}
		if code := j.End(t); code != 1 || !strings.Contains(j.Errors.String(), "recording was off from --begin to --end") {
			t.Errorf("%s: exit code %d, stdout:\n%s\nstderr:\n%s", l, code, j.Out.String(), j.Errors.String())
		}
	}
}

// TestAnswersForInputsGoOn: the answers for several inputs are kept by a job, and another one, or a process alone, goes
// on from them. What a result says of its inputs does not depend on who has read them.
func TestAnswersForInputsGoOn(t *testing.T) {
	goal := readText(t, "../../testdata/tolerance/16-halo-jitter.goal")
	dir := t.TempDir()
	args := strings.Fields("tolerance --machine cnl --format json --resume kept.jsonl")
	for i := range 4 {
		name := fmt.Sprintf("run%d.goal", i)
		writeFiles(t, dir, map[string]string{name: strings.ReplaceAll(goal, "calc ", fmt.Sprintf("calc %d", i+1))})
		args = append(args, name)
	}
	kept := filepath.Join(dir, "kept.jsonl")
	want := aloneIn(t, dir, "", args...)
	byOne := readText(t, kept)
	check := func(got string, by any) {
		t.Helper()
		if clitest.WithoutProvenance(t, got) != clitest.WithoutProvenance(t, want) || inputsOf(t, got) != inputsOf(t, want) {
			t.Errorf("%v: result\n%s\nwant\n%s", by, got, want)
		}
	}
	for _, l := range mpitest.Libraries(t) {
		inJob := func(size int) {
			t.Helper()
			j := clitest.NewJob(t, l, size, args...)
			j.Dir = dir
			if err := j.Start(); err != nil {
				t.Fatal(err)
			}
			if code := j.End(t); code != 0 {
				t.Fatalf("%s: exit code %d: %s", l, code, j.Errors.String())
			}
			check(j.Out.String(), l)
		}
		if err := os.Remove(kept); err != nil {
			t.Fatal(err)
		}
		inJob(3)
		text := readText(t, kept)
		for _, cut := range []int{len(text), strings.Index(text, "\n") + 1, len(text) * 2 / 3} {
			writeFiles(t, dir, map[string]string{"kept.jsonl": text[:cut]})
			check(aloneIn(t, dir, "", args...), "alone")
			writeFiles(t, dir, map[string]string{"kept.jsonl": text[:cut]})
			inJob(2)
		}
		writeFiles(t, dir, map[string]string{"kept.jsonl": byOne})
		inJob(2)
		writeFiles(t, dir, map[string]string{"run2.goal": readText(t, filepath.Join(dir, "run1.goal"))})
		j := clitest.NewJob(t, l, 2, args...)
		j.Dir = dir
		if err := j.Start(); err != nil {
			t.Fatal(err)
		}
		if code := j.End(t); code != 1 || strings.Count(j.Errors.String(), "holds answers to another question") != 1 {
			t.Errorf("%s, another input: exit code %d: %s", l, code, j.Errors.String())
		}
		writeFiles(t, dir, map[string]string{"run2.goal": strings.ReplaceAll(goal, "calc ", "calc 3")})
	}
}

// inputsOf is what a result says of its inputs.
func inputsOf(t testing.TB, text string) string {
	t.Helper()
	var result struct {
		Provenance struct{ Inputs json.RawMessage }
	}
	if err := json.Unmarshal([]byte(text), &result); err != nil || len(result.Provenance.Inputs) < 10 {
		t.Fatalf("%v in %s", err, text)
	}
	return string(result.Provenance.Inputs)
}
