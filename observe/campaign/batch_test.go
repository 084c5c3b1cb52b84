package campaign

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// batchPlan submits by scripts in the directory of the plan; a job is its result, and the queue is a file.
const batchPlan = `parameters: {p: [2]}
command: ./prog {p}
launch: sbatch
batch: {submit: [sh, submit.sh], queue: [sh, queue.sh], options: ["--ntasks={p}", "--comment=a b"], setup: module load x, poll: 1ms}
`

// accept makes a job that ends at once; its arguments are kept.
const accept = `for a in "$@"; do echo "$a"; done >> submitted
cp "$a" script # the last one
echo '{"attempt": 1, "status": "ended", "exit": 0, "wall_s": 1}' > "${a%/*}/result.json"
`

// submitted submits the one run of the plan. The scripts are run in the directory of the plan; noted is called after each note.
func submitted(t *testing.T, ctx context.Context, submit, queue string, noted func()) (dir string, end *End, notes []string, err error) {
	t.Helper()
	dir = t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{"plan.yaml": batchPlan, "submit.sh": submit, "queue.sh": queue} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Open("plan.yaml", filepath.Join(dir, "runs of it"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	note := func(text string) { notes = append(notes, text); noted() }
	options := Options{Self: []string{"/bin/slackline", "supervise"}, Name: "slackline", Note: note}
	x := &execution{Campaign: c, options: options, queued: map[*Run]string{}, told: usualReasons()}
	end, err = x.attempt(ctx, &task{run: c.runs[0]}, place{})
	return dir, end, notes, err
}

// TestSubmit: the batch system gets a name by which the job is found again, the options at this point, and a script.
func TestSubmit(t *testing.T) {
	dir, end, _, err := submitted(t, t.Context(), accept, "exit 0", func() {})
	if err != nil || end == nil || end.Status != OK || end.Attempt != 1 || end.Wall != 1 {
		t.Fatalf("end = %+v, %v, want the result of the job", end, err)
	}
	args := linesOf(t, filepath.Join(dir, "submitted"))
	run := filepath.Join(dir, "runs of it", "runs", "p2.r1")
	want := []string{"--output=" + filepath.Join(run, "job.out"), "--ntasks=2", "--comment=a b", "", filepath.Join(run, "job.sh")}
	if len(args) != len(want) || !strings.HasPrefix(args[3], "--job-name=slackline-") || !strings.HasSuffix(args[3], "-p2.r1.a1") {
		t.Fatalf("submitted with %q, want a name and %q", args, want)
	}
	for i := range want {
		if i != 3 && args[i] != want[i] {
			t.Errorf("argument %d = %q, want %q", i, args[i], want[i])
		}
	}
	script := strings.Join(linesOf(t, filepath.Join(dir, "script")), "\n")
	for _, line := range []string{
		"#!/bin/bash", "cd " + dir + " || exit 1", "module load x", "exec -a slackline /bin/slackline supervise '" + run + "' 1",
	} {
		if !strings.Contains(script, line) {
			t.Errorf("the script has no line %q:\n%s", line, script)
		}
	}
}

// TestFilePattern: sbatch takes the path of its output as a pattern, in which % starts a placeholder unless there is a backslash.
func TestFilePattern(t *testing.T) {
	for path, want := range map[string]string{"/a/job.out": "/a/job.out", "/100%/%j": "/100%%/%%j", `/a\b%j`: `/a\\b%j`} {
		if got := filePattern(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// TestJobFound: a job is found as long as it waits, whatever the options and the variables of the user say, in a partition that is
// hidden, and by a start with another path of the directory.
func TestJobFound(t *testing.T) {
	const (
		// The last name counts.
		sbatch = `[ -z "$SBATCH_ARRAY_INX" ] || exit 1
for a in "$@"; do case "$a" in --job-name=*) name=${a#*=};; esac; done
dirname "$a" > job
echo "$name" >> names
echo > submitted
`
		// The job ends after the third question for it, if it may.
		squeue = `[ -z "$SQUEUE_STATES" ] || exit 0
case " $* " in *" --all "*"--name=$(head -n 1 names) "*) ;; *) exit 0;; esac
[ ! -e may ] || echo asked >> asked
[ ! -e asked ] || [ $(wc -l < asked) -lt 3 ] || echo '{"attempt": 1, "status": "ended", "exit": 0}' > "$(cat job)/result.json"
echo 4711
`
	)
	t.Setenv("SQUEUE_STATES", "RUNNING")
	t.Setenv("SBATCH_ARRAY_INX", "1-3")
	for _, tc := range []struct {
		name   string
		killed bool // after the submission
	}{{"one start", false}, {"two starts, two paths", true}} {
		t.Run(tc.name, func(t *testing.T) {
			top := t.TempDir()
			dir, bin := filepath.Join(top, "dir"), filepath.Join(top, "bin")
			for path, text := range map[string]string{
				"bin/sbatch": "#!/bin/sh\n" + sbatch, "bin/squeue": "#!/bin/sh\n" + squeue,
				"dir/plan.yaml": "parameters: {p: [2]}\ncommand: ./prog {p}\nlaunch: sbatch\nbatch: {options: [-Jmine, --job-name=mine], poll: 1ms}\n",
			} {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(top, path)), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(top, path), []byte(text), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(dir, filepath.Join(top, "link")); err != nil {
				t.Fatal(err)
			}
			t.Chdir(dir)
			t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			start := func(ctx context.Context, dir string) (*End, error) {
				c, err := Open(filepath.Join(dir, "plan.yaml"), "")
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				x := &execution{Campaign: c, options: Options{Self: []string{"/bin/slackline", "supervise"}, Name: "slackline"}}
				return x.attempt(ctx, &task{run: c.runs[0], adopt: len(c.state.runs) > 0}, place{})
			}
			if tc.killed {
				if _, err := start(interruptedAt(t, filepath.Join(dir, "submitted")), dir); !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				dir = filepath.Join(top, "link")
			}
			if err := os.WriteFile("may", nil, 0o666); err != nil {
				t.Fatal(err)
			}
			end, err := start(t.Context(), dir)
			if err != nil || end.Status != OK {
				t.Errorf("%+v, %v, want the result of the job", end, err)
			}
			if names := linesOf(t, "names"); len(names) != 1 || !strings.HasPrefix(names[0], "slackline-") {
				t.Errorf("jobs are called %q, want one with a name of slackline", names)
			}
		})
	}
}

// TestSubmitOnce: whatever the batch system answers, a job is submitted once, and what is refused is an error with its reason.
func TestSubmitOnce(t *testing.T) {
	const jobless = "echo --job >> submitted\n"
	lost := accept + "exit 1\n"
	comes := `[ -e asked ] && { echo '{"attempt": 1, "status": "ended"}' > 'runs of it/runs/p2.r1/result.json'; exit 0; }
echo x > asked
echo 4711
`
	ended := strings.Replace(accept, `"ended", "exit": 0`, `"interrupted", "exit": -1`, 1)
	failed := strings.Replace(accept, `"exit": 0`, `"exit": 3`, 1)
	for _, tc := range []struct {
		name, submit, queue string
		status              Status
		err                 string
	}{
		{"refused", jobless + "echo Invalid partition >&2; exit 1", "exit 0", "", "Invalid partition"},
		{"the answer is lost, the job has ended", lost, "exit 0", OK, ""},
		{"the answer is lost, the job waits", jobless + "exit 1", comes, OK, ""},
		{"the job was ended, and runs again", ended, comes, OK, ""},
		{"the job was killed, and runs again", failed, comes, OK, ""},
		{"the job was ended", ended, "exit 0", Failed, ""},
		{"the program failed", failed, "exit 0", Failed, ""},
		{"the job is gone without a result", jobless, "exit 0", Lost, ""},
		{"the job is gone, and its output says why", jobless + "echo 'TIME LIMIT' > 'runs of it/runs/p2.r1/job.out'", "exit 0", Lost,
			"it ended without a result: TIME LIMIT"},
		{"the job was ended, and its output says why", ended + "echo 'TIME LIMIT' > 'runs of it/runs/p2.r1/job.out'", "exit 0", Failed,
			"it was interrupted: TIME LIMIT"},
		{"a result of an earlier attempt", strings.Replace(accept, `"attempt": 1`, `"attempt": 0`, 1), "exit 0", Lost, ""},
		{"a result that is cut off", strings.Replace(accept, `"wall_s": 1}`, ``, 1), "exit 0", Lost, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir, end, _, err := submitted(t, t.Context(), tc.submit, tc.queue, func() {})
			switch {
			case tc.status != "" && tc.err != "":
				if err != nil || end.Status != tc.status || end.Reason != tc.err {
					t.Errorf("%+v, %v, want the reason", end, err)
				}
			case tc.err != "":
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%+v, %v, want the reason", end, err)
				}
			case err != nil || end == nil || end.Status != tc.status:
				t.Errorf("%+v, %v, want %s", end, err, tc.status)
			}
			if n := strings.Count(strings.Join(linesOf(t, filepath.Join(dir, "submitted")), "\n"), "--job"); n != 1 {
				t.Errorf("%d jobs were submitted, want one", n)
			}
		})
	}
}

// TestReasonsOfTheQueue: why a job waits is noted once, unless every job does.
func TestReasonsOfTheQueue(t *testing.T) {
	const queue = `asked=$(cat asked 2> /dev/null)x
echo $asked > asked
case $asked in
x) echo "   13  debug slackline  root PD 0:00  9 (Priority)";;
xx|xxx) echo "   13  debug slackline  root PD 0:00  9 (PartitionNodeLimit)";;
xxxx) echo "   13  debug slackline  root  R 0:01  9 c[1-9]";;
*) echo '{"attempt": 1, "status": "ended", "exit": 0}' > "$(cat job)/result.json";;
esac
`
	_, end, notes, err := submitted(t, t.Context(), "for a in \"$@\"; do :; done; dirname \"$a\" > job\n", queue, func() {})
	if err != nil || end == nil || end.Status != OK {
		t.Fatalf("%+v, %v, want the result of the job", end, err)
	}
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "p2.r1 waits in the queue: PartitionNodeLimit; its job is slackline-") {
		t.Errorf("notes %q, want one of the limit", notes)
	}
}

// TestProgressOfTheQueue: the progress says of runs why they wait, as long as they do.
func TestProgressOfTheQueue(t *testing.T) {
	run := &Run{Name: "p2.r1"}
	x := &execution{Campaign: &Campaign{}, running: map[*Run]time.Time{run: {}}, queued: map[*Run]string{}, told: usualReasons()}
	x.waitsFor(run, 1, []byte("13 debug slackline root PD 0:00 9 (Priority)\n"))
	if p := x.progress(); !slices.Equal(p.Queued, []string{"Priority"}) || p.Running != 1 {
		t.Errorf("waiting: %+v, want one for its priority", p)
	}
	x.waitsFor(run, 1, []byte("13 debug slackline root R 0:01 9 c[1-9]\n"))
	if p := x.progress(); len(p.Queued) != 0 {
		t.Errorf("running: %+v, want none that waits", p)
	}
	for _, odd := range []string{"9 (Prio\n14 rity)\n", "9 (Prio\x1b[2Jrity)\n"} { // of another line, and what a terminal obeys
		if x.waitsFor(run, 1, []byte(odd)); len(x.progress().Queued) != 0 {
			t.Errorf("%q is taken for a reason", odd)
		}
	}
}

// TestPutBackIntoQueue: a job that starts anew carries out its order, unless that was done well already.
func TestPutBackIntoQueue(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		result string
		want   string
	}{
		{`{"attempt": 1, "status": "ended", "exit": 0}`, "kept"},
		{`{"attempt": 1, "status": "ended", "exit": -1}`, "new\n"},
		{`{"attempt": 1, "status": "interrupted", "exit": 0}`, "new\n"},
		{`{"attempt": 0, "status": "ended", "exit": 0}`, "new\n"},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{orderFile: `{"attempt": 1, "command": ["echo", "new"]}`, resultFile: tc.result, stdoutFile: "kept"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := exec.Command(self, "supervise", dir, "1").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got, err := os.ReadFile(filepath.Join(dir, stdoutFile)); err != nil || string(got) != tc.want {
			t.Errorf("%s: the output is %q, %v, want %q", tc.result, got, err, tc.want)
		}
	}
}

// TestEndedWithItsJob: a program that ends first when its job is ended, e.g. at its time limit, was interrupted, however it ends. What
// the job said at an earlier start does not count.
func TestEndedWithItsJob(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const limit = "slurmstepd-n1: error: *** JOB 7 ON n1 CANCELLED AT 2026-11-19T08:09:26 DUE TO TIME LIMIT ***"
	for _, tc := range []struct{ before, command, want string }{
		{"", "echo '" + limit + "' >> run/job.out; exit 143", interrupted},
		{"", "echo '" + limit + "' >> run/job.out", interrupted},
		{limit + "\n", "exit 3", endedItself},
		{limit + "\n", "echo '" + limit + "' >> run/job.out", interrupted},
	} {
		dir := t.TempDir()
		run := filepath.Join(dir, "run")
		o := order{Attempt: 1, Job: "slackline-run.a1", Directory: dir, Command: []string{"sh", "-c", tc.command}}
		if err := errors.Join(os.Mkdir(run, 0o777), os.WriteFile(filepath.Join(run, jobFile), []byte(tc.before), 0o666),
			writeJSON(filepath.Join(run, orderFile), &o)); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(self, "supervise", run, "1").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if r, err := readResult(run, 1); err != nil || r == nil || r.Status != tc.want {
			t.Errorf("%q, then %s: %+v, %v, want that it is %s", tc.before, tc.command, r, err, tc.want)
		}
	}
}

// TestOneTurn: jobs that carry out the same order, such as those of an array, do so one after the other, and only until it is done well.
// An attempt that was given up meanwhile leaves the result of the next one alone.
func TestOneTurn(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, script string
		jobs         int
		want, result string
	}{
		{"array", "for i in $(seq 50); do [ $(wc -l < calls) -eq 1 ] || exit; sleep 0.01; done; echo done", 3, "done\n", `"attempt": 1`},
		{"given up", `echo '{"attempt": 2, "command": ["x"]}' > run/order.json; echo '{"attempt": 2}' > run/result.json`, 1, "", `"attempt": 2`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			run := filepath.Join(dir, "run")
			if err := os.Mkdir(run, 0o777); err != nil {
				t.Fatal(err)
			}
			o := order{Attempt: 1, Job: "slackline-run.a1", Directory: dir, Command: []string{"sh", "-c", "echo >> calls; " + tc.script}}
			if err := writeJSON(filepath.Join(run, orderFile), &o); err != nil {
				t.Fatal(err)
			}
			var jobs []*exec.Cmd
			for range tc.jobs {
				c := exec.Command(self, "supervise", run, "1")
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				jobs = append(jobs, c)
			}
			for _, c := range jobs {
				_ = c.Wait()
			}
			if calls := len(linesOf(t, filepath.Join(dir, "calls"))); calls != 1 {
				t.Errorf("the program was started %d times, want once", calls)
			}
			if got, err := os.ReadFile(filepath.Join(run, stdoutFile)); err != nil || string(got) != tc.want {
				t.Errorf("the output is %q, %v, want %q", got, err, tc.want)
			}
			if got, err := os.ReadFile(filepath.Join(run, resultFile)); err != nil || !strings.Contains(string(got), tc.result) {
				t.Errorf("the result is %s, %v, want %s", got, err, tc.result)
			}
		})
	}
}

// TestQueueAway: a batch system that does not answer is asked again, and then gets the job; the user is told once. An interrupt ends it.
func TestQueueAway(t *testing.T) {
	dir, end, notes, err := submitted(t, t.Context(), "[ -e tried ] || { echo > tried; exit 1; }\n"+accept,
		"echo x >> asked; [ $(wc -l < asked) -gt 3 ] || { echo away >&2; exit 1; }", func() {})
	if err != nil || end == nil || end.Status != OK || len(notes) != 1 || !strings.Contains(notes[0], "does not answer (sh: away)") {
		t.Errorf("%+v, %v, %q, want the result, and one note that it does not answer", end, err, notes)
	}
	if n := len(linesOf(t, filepath.Join(dir, "submitted"))); n != 5 {
		t.Errorf("%d arguments were submitted, want those of one job", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, end, _, err = submitted(t, ctx, "exit 1", "echo away >&2; exit 1", cancel)
	if !errors.Is(err, context.Canceled) || end != nil {
		t.Errorf("%+v, %v, want that it is interrupted", end, err)
	}
}

// TestQueueAwayForAll: that the batch system does not answer, or hangs, is noted once, however many runs wait for it.
func TestQueueAwayForAll(t *testing.T) {
	defer func(old time.Duration) { questionPatience = old }(questionPatience)
	for name, tc := range map[string]struct {
		patience   time.Duration
		queue, why string
	}{
		"refuses": {time.Minute, "echo away >&2; exit 1", "(sh: away)"},
		"silent":  {time.Minute, "exit 1", "(sh: exit status 1)"},
		"hangs":   {time.Second, "sleep 60", "(sh: no answer in 1s)"},
	} {
		t.Run(name, func(t *testing.T) {
			questionPatience = tc.patience
			dir := t.TempDir()
			t.Chdir(dir)
			const answersLost = accept + "exit 1\n"
			for name, text := range map[string]string{
				"plan.yaml": strings.Replace(batchPlan, "p: [2]", "p: 1..5", 1), "submit.sh": answersLost,
				"queue.sh": "mkdir -p asked; a=asked/${1#*=}; [ ! -e $a ] || exit 0; echo > $a; " + tc.queue,
			} {
				if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			c, err := Open("plan.yaml", "")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			var notes []string
			o := Options{Self: []string{"/bin/slackline", "supervise"}, Name: "slackline", Jobs: 5,
				Note: func(text string) { notes = append(notes, text) }}
			s, err := c.Run(t.Context(), o)
			if err != nil || s.Done != 5 || len(notes) != 1 || !strings.Contains(notes[0], "does not answer "+tc.why) {
				t.Errorf("%+v, %v, %q, want five runs and one note %q", s, err, notes, tc.why)
			}
		})
	}
}

// interruptedAt is a context that ends when there is a file.
func interruptedAt(t *testing.T, path string) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if _, err := os.Stat(path); err == nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	return ctx
}

// TestSubmitInterrupted: an interrupt does not wait for sbatch, which tries again for minutes if the queue is full; the attempt stays open.
func TestSubmitInterrupted(t *testing.T) {
	marks := t.TempDir()
	begun, late := filepath.Join(marks, "begun"), filepath.Join(marks, "late")
	submit := "trap 'exit 1' TERM\necho > " + begun + "\nfor i in $(seq 1000); do sleep 0.01; done\necho > " + late + "\n"
	_, end, _, err := submitted(t, interruptedAt(t, begun), submit, "exit 0", func() {})
	if !errors.Is(err, context.Canceled) || end != nil {
		t.Errorf("%+v, %v, want that it is interrupted", end, err)
	}
	if _, err := os.Stat(late); err == nil {
		t.Error("the interrupt waited for the end of the submission")
	}
}

// A job array would do each run several times, in the same files; an option that only looks like one is fine.
func TestArrays(t *testing.T) {
	for batch, want := range map[string]string{
		"options: [--nodes=1, --array=1-3]":   `plan.yaml:4:18: --array=1-3 makes an array of jobs of each run`,
		"options: --arr 0-7":                  "--arr makes an array",
		"options: [-a, 1-3]":                  "-a makes an array",
		"options: -Ha1-3":                     "-Ha1-3 makes an array",
		"submit: sbatch --array=1-3":          "--array=1-3 makes an array",
		`setup: "\n  #SBATCH --array=1-3\n"`:  "setup: sbatch does not read #SBATCH lines",
		"options: [-A, team, --account=team]": "",
		"options: [-Jarray, --arrange=1]":     "",
		`setup: "# SBATCH of old"`:            "",
	} {
		_, err := parsePlan("plan.yaml", []byte("parameters: {p: 2}\ncommand: ./x {p}\nlaunch: sbatch\nbatch: {"+batch+"}\n"))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", batch, err, want)
		}
	}
}
