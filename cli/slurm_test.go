//go:build linux

package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"slackline/cli/clitest"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// onSlurm is a cluster with slackline in PATH.
type onSlurm struct {
	*slurmCluster
	home *testing.T // of the cluster
	dir  string     // where commands run
}

// srunMPI is what srun needs for programs of a library.
var srunMPI = map[mpi.Kind]string{mpi.OpenMPI: "pmix", mpi.MPICH: "pmi2"}

// TestSlurm runs slackline with a Slurm of three nodes, in which srun starts programs without MPI unless it is told.
func TestSlurm(t *testing.T) {
	mpitest.Crowd(t)
	t.Setenv("OMPI_MCA_btl_tcp_if_include", "127.0.0.0/8") // all nodes are this machine
	s := &onSlurm{slurmCluster: startSlurm(t), home: t}
	each := func(name string, test func(t *testing.T, s *onSlurm, l *mpi.Library, program string)) {
		t.Run(name, func(t *testing.T) {
			mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
				program := mpitest.Build(t, l, "../observe/record/testdata/ends.c", "-g")
				test(t, s.in(t), l, program)
			})
		})
	}
	for _, text := range commandsIn(t, "../docs/troubleshooting.md") {
		if words := strings.Fields(text); words[0] == "srun" {
			if out := s.in(t).ok(t, words...); !strings.Contains(out, "pmi2") {
				t.Errorf("%s: %s", text, out)
			}
		}
	}
	each("Record", testSlurmRecord)
	each("Job", testSlurmJob)
	each("Recipes", testSlurmRecipes)
	each("Interrupted", testSlurmInterrupted)
	t.Run("Campaign", func(t *testing.T) { testSlurmCampaign(t, s.in(t)) })
	t.Run("CampaignCancelled", func(t *testing.T) { testSlurmCancel(t, s.in(t)) })
}

// in is the cluster with another directory.
func (s *onSlurm) in(t *testing.T) *onSlurm { return &onSlurm{s.slurmCluster, s.home, t.TempDir()} }

// attempts is how often a command is started that needs PMIx. Now and then MPI_Init of Open MPI 4.1.4 crashes when Slurm
// starts it through PMIx, or the step of one node hangs in the first exchange and never ends; both without slackline, too.
const attempts = 3

// renew replaces the cluster, of which a node may be lost, and processes that wait for others for ever, by another one.
func (s *onSlurm) renew() {
	s.stop()
	*s.slurmCluster = *startSlurm(s.home)
}

// command prepares a command. It must end in time.
func (s *onSlurm) command(words ...string) (*exec.Cmd, *bytes.Buffer) {
	c := exec.Command(words[0], words[1:]...)
	c.Dir, c.WaitDelay = s.dir, time.Second
	out := &bytes.Buffer{}
	c.Stdout, c.Stderr = out, out
	return c, out
}

// run runs a command to its end, and returns its exit code and what it said.
func (s *onSlurm) run(t *testing.T, words ...string) (int, string) {
	t.Helper()
	for try := 1; ; try++ {
		c, out := s.command(words...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		code, text, ended := s.end(c, out)
		again := try < attempts && strings.Contains(strings.Join(words, " "), "pmix")
		switch {
		case ended && !(again && strings.Contains(text, "Segmentation fault")):
			return code, text
		case !ended && !again:
			t.Fatalf("%v has not ended:\n%s", c.Args, text)
		}
		s.renew()
	}
}

// end waits for the end of a command, which is killed if that takes too long.
func (s *onSlurm) end(c *exec.Cmd, out *bytes.Buffer) (code int, text string, ended bool) {
	late := time.AfterFunc(slurmTimeout, func() { _ = c.Process.Kill() })
	_ = c.Wait()
	return c.ProcessState.ExitCode(), out.String(), late.Stop()
}

// ok runs a command that must end well.
func (s *onSlurm) ok(t *testing.T, words ...string) string {
	t.Helper()
	code, out := s.run(t, words...)
	if code != 0 {
		t.Fatalf("%v: exit code = %d\n%s", words, code, out)
	}
	return out
}

// appears waits for a file.
func (s *onSlurm) appears(name string) bool {
	for begin := time.Now(); time.Since(begin) < slurmTimeout; time.Sleep(20 * time.Millisecond) {
		if info, err := os.Stat(filepath.Join(s.dir, name)); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}

// wait waits for a file that must appear.
func (s *onSlurm) wait(t *testing.T, name string) {
	t.Helper()
	if !s.appears(name) {
		t.Fatalf("there is no %s", name)
	}
}

func (s *onSlurm) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// testSlurmRecord records a program under srun, and wants a clear message if srun has started it without MPI.
func testSlurmRecord(t *testing.T, s *onSlurm, l *mpi.Library, program string) {
	out := s.ok(t, "slackline", "record", "--out", "a.slt", "--", "srun", "--mpi="+srunMPI[l.Kind], "--nodes=3", program, "none")
	if !strings.Contains(out, "3 ranks, "+l.String()) {
		t.Errorf("record said\n%s\nwant 3 ranks", out)
	}
	if out := s.ok(t, "slackline", "waits", "a.slt"); !strings.Contains(out, "3 ranks") {
		t.Errorf("waits says\n%s\nwant 3 ranks", out)
	}
	want := "programs of " + l.String() + " need srun --mpi=" + srunMPI[l.Kind]
	for _, words := range [][]string{{"record", "--out", "b.slt", "--", "srun"}, {"inject", "--latency", "1us", "--", "srun", "--mpi=none"}} {
		words = slices.Concat([]string{"slackline"}, words, []string{"--nodes=3", program, "none"})
		if code, out := s.run(t, words...); code != 1 || !strings.Contains(out, want) {
			t.Errorf("%v: exit code = %d, want 1 and %q:\n%s", words, code, want, out)
		}
	}
	if _, err := os.Stat(filepath.Join(s.dir, "b.slt")); err == nil {
		t.Error("there is a trace of processes that do not know of each other")
	}
	words := []string{"slackline", "measure", "network", "--ranks", "3", "--mpi", mpitest.Name(l.Kind), "--launch", "srun --nodes=3"}
	if code, out := s.run(t, words...); code != 1 || !strings.Contains(out, want) {
		t.Errorf("%v: exit code = %d, want 1 and %q:\n%s", words, code, want, out)
	}
	if code, _ := s.run(t, "slackline", "record", "--out", "c.slt", "--", "srun", "--mpi", srunMPI[l.Kind], "--nodes=3", program,
		"seven"); code != 7 {
		t.Errorf("exit code = %d, want that of the program, 7", code)
	}
	// Variables reach the program whatever else the user lets srun hand on; from the second run on one has commas in it.
	for _, export := range []string{"--export=ALL", "--export=NONE"} {
		out := s.ok(t, "slackline", "inject", "--latency", "1us", "--", "srun", "--mpi="+srunMPI[l.Kind], export, "--nodes=1", "--ntasks=2",
			program, "none")
		if !strings.Contains(out, "2 ranks, ") {
			t.Errorf("%s: inject said\n%s\nwant 2 ranks", export, out)
		}
	}
}

// testSlurmJob wants processes that srun has started to work together.
func testSlurmJob(t *testing.T, s *onSlurm, l *mpi.Library, _ string) {
	words := []string{"simulate", "allreduce", "--ranks", "64", "--machine", "chic", "--noise", "chic", "--replicas", "6", "--format",
		"csv", "--quiet"}
	want := s.ok(t, append([]string{"slackline"}, words...)...)
	srun := []string{"srun", "--quiet", "--kill-on-bad-exit", "--mpi=" + srunMPI[l.Kind], "--nodes=3", "slackline"}
	got := s.ok(t, append(srun[:len(srun):len(srun)], words...)...)
	if got != want {
		t.Errorf("under srun:\n%s\nalone:\n%s", got, want)
	}
	code, out := s.run(t, append([]string{"srun", "--nodes=3", "slackline"}, words...)...)
	if code != 1 || !strings.Contains(out, "--mpi=pmix or --mpi=pmi2") {
		t.Errorf("without --mpi: exit code = %d, want 1 and a way out:\n%s", code, out)
	}
	code, out = s.run(t, append(srun, "simulate", "none.goal", "--machine", "chic")...)
	if code == 0 || strings.Count(out, "none.goal") != 1 {
		t.Errorf("a wrong name: exit code = %d, want a failure that is reported once:\n%s", code, out)
	}
}

// testSlurmRecipes runs the scripts of packaging as they are, with fewer nodes.
func testSlurmRecipes(t *testing.T, s *onSlurm, l *mpi.Library, program string) {
	if l.Kind != mpi.OpenMPI { // as the scripts are shipped
		t.Setenv("SLURM_MPI_TYPE", srunMPI[l.Kind])
	}
	recipe := func(name string) string {
		path, err := filepath.Abs(filepath.Join("../packaging/slurm", name))
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	submit := func(words ...string) {
		t.Helper()
		words = append([]string{"sbatch", "--wait", "--nodes=3", "--ntasks-per-node=1", "--output=job.out"}, words...)
		for try := 1; ; try++ {
			code, out := s.run(t, words...)
			if code == 0 {
				return
			}
			log, _ := os.ReadFile(filepath.Join(s.dir, "job.out"))
			if try == attempts || l.Kind != mpi.OpenMPI || !bytes.Contains(log, []byte("Segmentation fault")) {
				t.Fatalf("%v: exit code = %d\n%s%s", words, code, out, log)
			}
			s.renew()
		}
	}
	submit("--job-name=run", recipe("record.sbatch"), program, "none")
	for _, pattern := range []string{"run-*.slt", "run-*.waits.txt", "run-*.html"} {
		if list, err := filepath.Glob(filepath.Join(s.dir, pattern)); err != nil || len(list) != 1 {
			t.Errorf("%s: %v, want one", pattern, list)
		}
	}
	list, _ := filepath.Glob(filepath.Join(s.dir, "run-*.slt"))
	submit(recipe("replicas.sbatch"), list[0], "--ranks", "3", "--replicas", "4")
	data, err := os.ReadFile(filepath.Join(s.dir, "replicas.json"))
	if err != nil || !bytes.Contains(data, []byte(`"replicas"`)) {
		t.Errorf("replicas.json: %v, %.300s", err, data)
	}
}

// testSlurmInterrupted interrupts record, and cancels the job in which it runs: what was recorded is kept, and no job is left.
func testSlurmInterrupted(t *testing.T, s *onSlurm, l *mpi.Library, _ string) {
	program := mpitest.Build(t, l, "testdata/slurm/ring.c", "-g")
	// begin starts a command again until the program is at work.
	begin := func(file string, start func(srun []string)) {
		t.Helper()
		for try := 1; ; try++ {
			start([]string{"srun", "--mpi=" + srunMPI[l.Kind], "--nodes=3", program, file, "600"})
			if s.appears(file) {
				return
			}
			if try == attempts || l.Kind != mpi.OpenMPI {
				t.Fatalf("there is no %s", file)
			}
			s.renew()
			s = s.in(t)
		}
	}
	var c *exec.Cmd
	var out *bytes.Buffer
	begin("begun", func(srun []string) {
		c, out = s.command(append([]string{"slackline", "record", "--out", "a.slt", "--"}, srun...)...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Process.Kill() })
	})
	if err := c.Process.Signal(syscall.SIGINT); err != nil { // not to srun
		t.Fatal(err)
	}
	if code, text, _ := s.end(c, out); code != 130 || !strings.Contains(text, "trace in a.slt") {
		t.Errorf("exit code = %d, want 130 and a trace:\n%s", code, text)
	}
	s.Empty(t)
	s.ok(t, "slackline", "waits", "a.slt")

	begin("begun.again", func(srun []string) {
		s.write(t, "job.sh", "#!/bin/bash\nexec slackline record --out b.slt -- "+strings.Join(srun, " ")+"\n")
		s.ok(t, "sbatch", "--nodes=3", "--job-name=recorded", "--output=job.out", "job.sh")
	})
	s.ok(t, "scancel", "--name=recorded")
	s.Empty(t)
	if code, text := s.run(t, "slackline", "waits", "b.slt"); code != 0 {
		log, _ := os.ReadFile(filepath.Join(s.dir, "job.out"))
		t.Errorf("exit code = %d\n%s\nthe job said\n%s", code, text, log)
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, ".*-raw-*")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// slurmSteps says when it begins and when it ends, and waits for a file in between.
const slurmSteps = `#!/bin/bash
echo "begin $1 $2" >> calls
while [ ! -e go ]; do sleep 0.05; done
echo "time: $(( $1 * 2 ))"
echo "end $1 $2" >> calls
`

// testSlurmCampaign runs a plan by sbatch. The controller is restarted while jobs wait and run, and while the campaign waits
// for them and submits more: nothing is lost, nothing is done twice.
func testSlurmCampaign(t *testing.T, s *onSlurm) {
	s.dir = filepath.Join(s.dir, `50%j\n`) // which sbatch takes for placeholders
	if err := os.Mkdir(s.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	s.write(t, "steps.sh", slurmSteps)
	s.write(t, "plan.yaml", `parameters: {p: [2, 4, 6]}
repetitions: 2
command: ./steps.sh {p} {repetition}
metrics: [{regex: 'time: (?P<time>[0-9]+)'}]
launch: sbatch
batch: {options: ["--ntasks=1", "--time=5"], poll: 200ms}
jobs: 4
`)
	c, out := s.command("slackline", "campaign", "run", "plan.yaml")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	s.wait(t, "calls")
	s.StopController(t)
	s.write(t, "go", "") // what runs ends, and the campaign submits the next runs
	time.Sleep(time.Second)
	s.StartController(t)
	if code, text, _ := s.end(c, out); code != 0 || !strings.Contains(text, "6 of 6 runs finished") {
		t.Fatalf("exit code = %d\n%s", code, text)
	}
	var want []string
	for _, word := range []string{"begin", "end"} {
		for _, p := range []int{2, 4, 6} {
			want = append(want, fmt.Sprintf("%s %d 1", word, p), fmt.Sprintf("%s %d 2", word, p))
		}
	}
	slices.Sort(want)
	if got := clitest.Lines(t, filepath.Join(s.dir, "calls")); !slices.Equal(got, want) {
		t.Errorf("calls = %q\nwant %q", got, want)
	}
	s.Empty(t)
}

// testSlurmCancel cancels a job of a campaign that runs and one that waits: both are reported and the next start does them
// again, and only them.
func testSlurmCancel(t *testing.T, s *onSlurm) {
	s.write(t, "steps.sh", slurmSteps)
	s.write(t, "plan.yaml", `parameters: {p: [2, 4, 6]}
command: ./steps.sh {p} {repetition}
launch: sbatch
batch: {options: ["--nodes=3", "--exclusive", "--time=5"], poll: 200ms}
jobs: 3
seed: 1
`)
	c, out := s.command("slackline", "campaign", "run", "plan.yaml")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	s.wait(t, "calls")
	for begin := time.Now(); len(strings.Fields(s.Queue(t, "--format=%i"))) < 3; time.Sleep(50 * time.Millisecond) {
		if time.Since(begin) > slurmTimeout {
			t.Fatalf("there are not three jobs:\n%s", out)
		}
	}
	for _, state := range []string{"PENDING", "RUNNING"} {
		s.ok(t, "scancel", strings.Fields(s.Queue(t, "--states="+state, "--format=%i"))[0])
	}
	// the third job begins
	for begin := time.Now(); len(clitest.Lines(t, filepath.Join(s.dir, "calls"))) < 2; time.Sleep(50 * time.Millisecond) {
		if time.Since(begin) > slurmTimeout {
			t.Fatalf("the job that ran has not ended:\n%s", out)
		}
	}
	s.write(t, "go", "")
	code, text, _ := s.end(c, out)
	ended := strings.Count(text, "it was interrupted: slurmstepd")
	if code == 0 || !strings.Contains(text, "1 of 3 runs finished") || ended != 1 || strings.Count(text, "it ended without a result") != 1 {
		t.Fatalf("exit code = %d, want a failure, with both jobs reported:\n%s", code, text)
	}
	if text := s.ok(t, "slackline", "campaign", "run", "plan.yaml"); !strings.Contains(text, "3 of 3 runs finished") {
		t.Errorf("the next start said\n%s", text)
	}
	ends := 0
	for _, line := range clitest.Lines(t, filepath.Join(s.dir, "calls")) {
		if strings.HasPrefix(line, "end") {
			ends++
		}
	}
	if ends != 3 {
		t.Errorf("%d runs ended, want 3", ends)
	}
	s.Empty(t)
}
