package campaign_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"slackline/cli/clitest"
	"slackline/internal/needed"
)

// TestCampaignBatchAway lets the batch system be away when jobs are submitted, and when they are waited for: nothing is lost,
// nothing is done twice, and the user knows. What it refuses while it is there is an error at once.
func TestCampaignBatchAway(t *testing.T) {
	needed.Tool(t, "bash")
	const away = "test ! -e away || { echo 'unable to contact the controller' >&2; exit 1; }\n"
	guarded := func(script string) string { return strings.Replace(script, "#!/bin/bash\n", "#!/bin/bash\n"+away, 1) }
	const plan = `parameters: {p: [2, 4, 6]}
command: ./slow.sh {p} {repetition}
launch: sbatch
batch: {submit: ./submit.sh, queue: ./queue.sh, poll: 50ms}
jobs: 2
`
	dir := campaignFiles(t, map[string]string{
		"submit.sh": guarded(standInSubmit), "queue.sh": guarded(standInQueue), "plan.yaml": plan,
		"slow.sh": "#!/bin/sh\necho \"begin $1\" >> calls\ntouch away\nsleep 0.3\necho \"end $1\" >> calls\n",
	})
	c := clitest.Program("campaign", "run", "plan.yaml")
	c.Dir = dir
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	back := time.NewTicker(700 * time.Millisecond) // it is away after every start of a run, for a while
	defer back.Stop()
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	var err error
	for waiting := true; waiting; {
		select {
		case err = <-ended:
			waiting = false
		case <-back.C:
			_ = os.Remove(filepath.Join(dir, "away")) // it may not be there
		}
	}
	if err != nil || !strings.Contains(out.String(), "3 of 3 runs finished") ||
		!strings.Contains(out.String(), "does not answer (./queue.sh: unable to contact the controller)") {
		t.Errorf("%v\n%s", err, out.String())
	}
	if got, want := clitest.Lines(t, filepath.Join(dir, "calls")),
		[]string{"begin 2", "begin 4", "begin 6", "end 2", "end 4", "end 6"}; !slices.Equal(got, want) {
		t.Errorf("calls = %q, want %q", got, want)
	}

	dir = campaignFiles(t, map[string]string{"submit.sh": "#!/bin/sh\necho 'no such partition' >&2\nexit 1\n", "queue.sh": standInQueue,
		"slow.sh": slowProgram, "plan.yaml": plan})
	c = clitest.Program("campaign", "run", "plan.yaml")
	c.Dir = dir
	if text, err := c.CombinedOutput(); err == nil || !strings.Contains(string(text), "no such partition") {
		t.Errorf("%v\n%s", err, text)
	}
}
