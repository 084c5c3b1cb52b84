package explore_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"slackline/cli/clitest"
	"slackline/show/explore"
)

// exploring is a slackline that serves.
type exploring struct {
	t       *testing.T
	base    string
	token   string
	end     func() (code int, stderr string)
	address string
}

// startExplore starts slackline explore and waits for its address.
func startExplore(t *testing.T, args ...string) *exploring {
	t.Helper()
	c := clitest.Program(append([]string{"explore"}, args...)...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = c.Wait()
		t.Fatalf("no address: %v, stderr %s", err, stderr.String())
	}
	e := &exploring{t: t, address: strings.TrimSpace(line)}
	var found bool
	if e.base, e.token, found = strings.Cut(e.address, "/?token="); !found || !strings.HasPrefix(e.base, "http://127.0.0.1:") ||
		len(e.token) != 32 {
		t.Fatalf("address = %q", e.address)
	}
	e.end = func() (int, string) {
		if err := c.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		return c.ProcessState.ExitCode(), stderr.String()
	}
	return e
}

// runs asks what is open.
func (e *exploring) runs(query string) []explore.Run {
	e.t.Helper()
	r, err := http.NewRequest("GET", e.base+"/api/runs"+query, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	r.Header.Set(explore.TokenHeader, e.token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		e.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		e.t.Fatalf("%s: %v, %s", answer.Status, err, body)
	}
	var list explore.Runs
	if err := json.Unmarshal(body, &list); err != nil {
		e.t.Fatal(err)
	}
	return list.Runs
}

// Recorded and simulated runs and measurements are served together, until an interrupt.
func TestExplore(t *testing.T) {
	data := filepath.Join(t.TempDir(), "runs.csv")
	var table strings.Builder
	table.WriteString("p,value\n")
	for _, row := range []string{"2,1.5", "4,2.1", "8,3.2", "16,5.1", "32,9.3"} {
		table.WriteString(row + "\n")
	}
	if err := os.WriteFile(data, []byte(table.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	e := startExplore(t, "../../examples/late/late.slt", data, "--port", "0")
	runs := e.runs("")
	if len(runs) != 2 || runs[0].Kind != "trace" || runs[0].Ranks != 4 || runs[1].Kind != "dataset" {
		t.Errorf("runs = %+v", runs)
	}
	page, err := http.Get(e.base + "/api/runs")
	if err != nil {
		t.Fatal(err)
	}
	page.Body.Close()
	if page.StatusCode != http.StatusForbidden {
		t.Errorf("without token: %s, want 403", page.Status)
	}
	if code, stderr := e.end(); code != 0 || !strings.Contains(stderr, "slackline: ended\n") {
		t.Errorf("exit code = %d, stderr %q, want 0", code, stderr)
	}
}

// One --ranks holds for every pattern, also beside a schedule, which has its own ranks; its machine is the first that
// tolerance is asked for.
func TestExploreSimulated(t *testing.T) {
	schedule := filepath.Join(t.TempDir(), "run.goal")
	if err := os.WriteFile(schedule, []byte("num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	e := startExplore(t, schedule, "halo2d", "--ranks", "16", "--machine", "xt4", "--iterations", "3")
	runs := e.runs("")
	if len(runs) != 2 || runs[0].Ranks != 2 || runs[1].Ranks != 16 || runs[1].Kind != "simulated" || runs[1].Machine != "xt4" ||
		runs[1].Machines[0] != "xt4" {
		t.Errorf("runs = %+v", runs)
	}
	if code, _ := e.end(); code != 0 {
		t.Errorf("exit code = %d, want 0", code)
	}
}

// A trace that is replaced while it is open is read again when that is asked for.
func TestExploreReplacedTrace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "late.slt")
	copyTrace := func(at time.Time) {
		t.Helper()
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(dir, os.DirFS("../../examples/late/late.slt")); err != nil {
			t.Fatal(err)
		}
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if err := os.Chtimes(filepath.Join(dir, f.Name()), at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	copyTrace(time.Now().Add(-time.Hour))
	e := startExplore(t, dir)
	copyTrace(time.Now())
	wait := func(what string, holds func(explore.Run) bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if holds(e.runs("")[0]) {
				return
			}
		}
		t.Fatalf("%s does not come", what)
	}
	wait("the word that it changed", func(r explore.Run) bool { return r.Changed && r.Generation == 1 })
	e.runs("?reload=0")
	wait("the new version", func(r explore.Run) bool { return !r.Changed && r.Generation == 2 && r.Ranks == 4 })
	if code, _ := e.end(); code != 0 {
		t.Errorf("exit code = %d, want 0", code)
	}
}

// The tolerance is the one that the verb finds: with the same algorithms, and on no other machine than that of the run if its times are
// kept. Changes are tried for whole runs only.
func TestExploreTolerance(t *testing.T) {
	var want struct {
		T float64 `json:"T_ns"`
	}
	var got explore.Tolerance
	words := []string{"../../examples/late/late.slt", "--machine", "chic", "--mapping", "mpich"}
	ask(t, &want, append([]string{"tolerance", "--quiet"}, words...)...)
	startExplore(t, words...).get("tolerance?machine=chic", &got)
	if float64(got.T) != want.T*1000 {
		t.Errorf("T is %v ps, the verb says %v ns", got.T, want.T)
	}
	e := startExplore(t, "../../testdata/accelerator/cases/04-allreduce-long-kernel/ranks", "--machine", "recorded")
	if m := e.runs("")[0].Machines; len(m) != 1 {
		t.Errorf("machines %v, want that of the run alone", m)
	}
	late := words[0]
	r := startExplore(t, late, "--begin", "600ms", "--end", "700ms").runs("")[0]
	if said := strings.Join(r.Warnings, "\n"); r.Advice || !strings.Contains(said, "'slackline advise "+late+"' tries them") {
		t.Errorf("advice %v, warnings %q", r.Advice, said)
	}
}
