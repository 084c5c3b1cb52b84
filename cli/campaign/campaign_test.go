package campaign_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"slackline/cli/clitest"
	"slackline/internal/needed"
)

// campaignFiles writes files, of which those with the ending .sh are programs.
func campaignFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		mode := os.FileMode(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o755
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// slowProgram says when it begins and when it ends.
const slowProgram = `#!/bin/sh
echo "begin $1 $2" >> calls
sleep 0.0$(( $1 % 5 ))
echo "time: $(( $1 * 2 ))"
echo "end $1 $2" >> calls
`

const killPlan = `parameters: {p: 2^1..2^5}
repetitions: 4
command: ./slow.sh {p} {repetition}
metrics: [{regex: 'time: (?P<time>[0-9]+)'}]
seed: 3
`

// TestCampaignKilled kills a campaign at random moments and starts it again until it is finished: each run was
// begun once and ended once.
func TestCampaignKilled(t *testing.T) {
	for _, jobs := range []int{1, 3} {
		t.Run(fmt.Sprintf("jobs=%d", jobs), func(t *testing.T) {
			t.Parallel()
			dir := campaignFiles(t, map[string]string{"slow.sh": slowProgram, "plan.yaml": killPlan + fmt.Sprintf("jobs: %d\n", jobs)})
			random := rand.New(rand.NewPCG(uint64(jobs), 15))
			kills := 0
			for start := 0; ; start++ {
				c := clitest.Program("campaign", "run", "plan.yaml", "--quiet")
				c.Dir = dir
				var stderr bytes.Buffer
				c.Stderr = &stderr
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				if start < 25 {
					kill := time.AfterFunc(time.Duration(random.IntN(250))*time.Millisecond, func() { _ = c.Process.Kill() })
					defer kill.Stop()
				}
				if err := c.Wait(); err == nil {
					break
				}
				if c.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
					t.Fatalf("start %d: %v: %s", start, c.ProcessState, stderr.String())
				}
				kills++
			}
			t.Logf("killed %d times", kills)
			var want []string
			for _, word := range []string{"begin", "end"} {
				for _, p := range []int{2, 4, 8, 16, 32} {
					for r := 1; r <= 4; r++ {
						want = append(want, fmt.Sprintf("%s %d %d", word, p, r))
					}
				}
			}
			slices.Sort(want)
			if got := clitest.Lines(t, filepath.Join(dir, "calls")); !slices.Equal(got, want) {
				t.Errorf("calls = %q\nwant %q", got, want)
			}
			code, stdout, stderr := clitest.Run("", "campaign", "collect", filepath.Join(dir, "plan.yaml"))
			if code != 0 || strings.Count(stdout, `"values":[64,64,64,64]`) != 1 {
				t.Errorf("collect: exit code %d, %s%s; want four values of 64 at p = 32", code, stdout, stderr)
			}
		})
	}
}

// TestCampaignInterrupted interrupts a campaign: the run at work is ended, and done again at the next start.
func TestCampaignInterrupted(t *testing.T) {
	dir := campaignFiles(t, map[string]string{
		"slow.sh":   "#!/bin/sh\necho begin >> calls\ntest -e fast || sleep 600\necho end >> calls\n",
		"plan.yaml": "parameters: {p: 4}\ncommand: ./slow.sh\n",
	})
	calls := filepath.Join(dir, "calls")
	c := clitest.Program("campaign", "run", "plan.yaml")
	c.Dir = dir
	var stderr bytes.Buffer
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if info, err := os.Stat(calls); err == nil && info.Size() > 0 { // the shell makes the file before it writes
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the program was not started")
		}
	}
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 130 ||
		!strings.Contains(stderr.String(), "0 of 1 runs are finished; the same command goes on") {
		t.Fatalf("exit code = %d, stderr = %s; want 130", code, stderr.String())
	}
	if err := os.WriteFile(filepath.Join(dir, "fast"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	c = clitest.Program("campaign", "run", "plan.yaml")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "1 of 1 runs finished") {
		t.Errorf("%v: %s", err, out)
	}
	if got := clitest.Lines(t, calls); !slices.Equal(got, []string{"begin", "begin", "end"}) {
		t.Errorf("calls = %q, want two begins and an end", got)
	}
}

// A stand-in for a batch system: jobs are processes that run on when the campaign is killed.
const (
	standInSubmit = `#!/bin/bash
name= out=/dev/null
while [ $# -gt 1 ]; do
  case "$1" in
  --job-name=*) name=${1#*=};;
  --output=*) out=${1#*=};;
  --partition=*) ;;
  *) echo "unknown option $1" >&2; exit 1;;
  esac
  shift
done
mkdir -p jobs
echo "$name" >> submitted
touch "jobs/$name"
(setsid bash -c 'sleep 0.1; bash "$0"; rm "$1"' "$1" "$PWD/jobs/$name" > "$out" 2>&1 < /dev/null &)
`
	standInQueue = `#!/bin/bash
for word; do
  case "$word" in --name=*) test -e "jobs/${word#*=}" && echo "1 RUNNING";; esac
done
exit 0
`
)

// TestCampaignBatch runs a plan by a stand-in for sbatch, and kills it in between.
func TestCampaignBatch(t *testing.T) {
	needed.Tool(t, "bash")
	dir := campaignFiles(t, map[string]string{
		"submit.sh": standInSubmit, "queue.sh": standInQueue, "slow.sh": slowProgram,
		"plan.yaml": `parameters: {p: 2^1..2^3}
repetitions: 2
command: ./slow.sh {p} {repetition}
launch: sbatch
batch:
  submit: ./submit.sh
  queue: ./queue.sh
  options: ["--partition=p{p}"]
  setup: export GREETING=hello
  poll: 50ms
jobs: 2
`,
	})
	for start := 0; ; start++ {
		c := clitest.Program("campaign", "run", "plan.yaml")
		c.Dir = dir
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if start < 4 {
			kill := time.AfterFunc(time.Duration(start+1)*150*time.Millisecond, func() { _ = c.Process.Kill() })
			defer kill.Stop()
		}
		if err := c.Wait(); err == nil {
			break
		}
		if start >= 4 {
			t.Fatalf("start %d: %v: %s", start, c.ProcessState, out.String())
		}
	}
	// A kill between the begin and the submission leaves a job that never was, nothing else.
	ends := 0
	for _, line := range clitest.Lines(t, filepath.Join(dir, "calls")) {
		if strings.HasPrefix(line, "end") {
			ends++
		}
	}
	if ends != 6 {
		t.Errorf("%d runs ended, want 6", ends)
	}
}
