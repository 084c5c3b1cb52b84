package report_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"slackline/cli/clitest"
	"slackline/internal/needed"
)

// reported is the part of a report in JSON that the tests look at.
type reported struct {
	Title    string
	Summary  []string
	Fix      *struct{ Text, Command string }
	Sections []reportedSection
}

type reportedSection struct {
	ID      string
	Missing *struct{ Why, Command string }
	Content []struct {
		Text, Doubt string
		Shares      *struct{ Command string }
		Table       *reportedTable
		Figure      *struct {
			ID, Command string
			Data        *reportedTable
		}
	}
}

type reportedTable struct {
	Title, Command string
	Columns        []struct{ Title string }
	Rows           [][]struct {
		Text  string
		Value any
	}
}

// makeReport makes a report in JSON.
func makeReport(t *testing.T, args ...string) *reported {
	t.Helper()
	code, stdout, stderr := clitest.Run("", append([]string{"report", "--format", "json", "--quiet"}, args...)...)
	if code != 0 {
		t.Fatalf("report %v: exit code %d, %s", args, code, stderr)
	}
	r := &reported{}
	if err := json.Unmarshal([]byte(stdout), r); err != nil {
		t.Fatal(err)
	}
	return r
}

// section returns a section by its id; nil: there is none.
func (r *reported) section(id string) *reportedSection {
	for i := range r.Sections {
		if r.Sections[i].ID == id {
			return &r.Sections[i]
		}
	}
	return nil
}

// commands are all commands that a report shows beside something.
func (r *reported) commands() []string {
	var list []string
	add := func(c string) {
		if c != "" && !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	if r.Fix != nil {
		add(r.Fix.Command)
	}
	for _, s := range r.Sections {
		for _, b := range s.Content {
			switch {
			case b.Shares != nil:
				add(b.Shares.Command)
			case b.Figure != nil:
				add(b.Figure.Command)
			case b.Table != nil:
				add(b.Table.Command)
				for _, row := range b.Table.Rows {
					for _, c := range row {
						if strings.HasPrefix(c.Text, "slackline ") {
							add(c.Text)
						}
					}
				}
			}
		}
	}
	return list
}

// demoFile is a file of the embedded example.
func demoFile(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../demo/demodata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Every kind of input gets the sections that it allows; the others say why they are missing.
func TestReportSections(t *testing.T) {
	ocean, data, expectations := demoFile(t, "ocean.slt"), demoFile(t, "runs-before.json"), demoFile(t, "expectations.yaml")
	goal := filepath.Join(t.TempDir(), "ring.goal")
	if code, _, stderr := clitest.Run("", "generate", "ring", "--ranks", "4", "--out", goal, "--quiet"); code != 0 {
		t.Fatal(stderr)
	}
	all := []string{"run", "time", "waits", "gain", "tolerance", "scale", "expectations", "doubts"}
	for _, tc := range []struct {
		name    string
		args    []string
		compare bool
		missing []string
		figures []string
	}{
		{"trace", []string{ocean}, false, []string{"expectations"},
			[]string{"messages", "timeline", "ranks", "iterations", "waitmap", "latency", "bandwidth", "scaling"}},
		{"trace and data", []string{data, ocean, "--expectations", expectations, "--machine", "chic"}, false, nil,
			[]string{"messages", "timeline", "ranks", "iterations", "waitmap", "latency", "bandwidth", "scaling", "models", "expected"}},
		{"data", []string{data}, false, []string{"time", "waits", "gain", "tolerance", "expectations"}, []string{"models"}},
		{"two runs", []string{ocean, "../../examples/late/late.slt"}, true, []string{"expectations"},
			[]string{"messages", "series", "timeline", "ranks", "iterations", "waitmap", "latency", "bandwidth", "scaling"}},
		{"threads", []string{"../../examples/waits/seaice.slt"}, false, []string{"expectations"},
			[]string{"timeline", "ranks", "waitmap", "latency", "scaling"}},
		{"pattern", []string{"halo2d", "--ranks", "16", "--machine", "chic", "--compute", "1ms", "--jitter", "0.2", "--noise", "1000Hz:10us",
			"--scale-to", "16,64"}, false, []string{"expectations"},
			[]string{"messages", "timeline", "ranks", "waitmap", "latency", "bandwidth", "scaling"}},
		{"schedule", []string{goal, "--machine", "chic"}, false, []string{"scale", "expectations"},
			[]string{"messages", "timeline", "ranks", "latency"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := makeReport(t, tc.args...)
			want := all
			if tc.compare {
				want = slices.Insert(slices.Clone(all), 1, "compared")
			}
			var ids, missing, figures []string
			for _, s := range r.Sections {
				ids = append(ids, s.ID)
				if s.Missing != nil {
					missing = append(missing, s.ID)
					if s.Missing.Why == "" || len(s.Content) > 0 {
						t.Errorf("section %s is missing because of %q and has %d blocks", s.ID, s.Missing.Why, len(s.Content))
					}
				} else if len(s.Content) == 0 {
					t.Errorf("section %s is empty", s.ID)
				}
				for _, b := range s.Content {
					if b.Figure != nil {
						figures = append(figures, b.Figure.ID)
						if b.Figure.Command == "" || b.Figure.Data == nil || len(b.Figure.Data.Rows) == 0 {
							t.Errorf("figure %s has no command or no data", b.Figure.ID)
						}
					}
				}
			}
			if !slices.Equal(ids, want) {
				t.Errorf("sections = %v, want %v", ids, want)
			}
			if !slices.Equal(missing, tc.missing) {
				t.Errorf("missing = %v, want %v", missing, tc.missing)
			}
			for _, f := range tc.figures {
				if !slices.Contains(figures, f) {
					t.Errorf("no figure %s among %v", f, figures)
				}
			}
			if len(r.Summary) != 3 {
				t.Errorf("the summary has %d sentences, want 3: %q", len(r.Summary), r.Summary)
			}
		})
	}
}

// The planted cause is found, and named as the most valuable fix.
func TestReportFindsThePlantedCause(t *testing.T) {
	r := makeReport(t, demoFile(t, "ocean.slt"), "--machine", "chic")
	if r.Fix == nil || !strings.Contains(r.Fix.Text, "`main/step/convection`") {
		t.Fatalf("fix = %+v, want convection", r.Fix)
	}
	if !strings.Contains(r.Summary[1], "`main/step/convection`") {
		t.Errorf("the summary says %q", r.Summary[1])
	}
	code, stdout, stderr := clitest.Run("", append(strings.Fields(r.Fix.Command)[1:], "--format", "json", "--quiet")...)
	if code != 0 {
		t.Fatal(stderr)
	}
	var found struct {
		WhatIf struct {
			Before float64 `json:"T_before_ns"`
			After  float64 `json:"T_after_ns"`
		} `json:"what_if"`
	}
	if err := json.Unmarshal([]byte(stdout), &found); err != nil {
		t.Fatal(err)
	}
	for _, b := range r.section("gain").Content {
		if b.Table != nil && b.Table.Title == "Changes that pay" {
			if got := b.Table.Rows[0][2].Value; got != found.WhatIf.After || found.WhatIf.After == 0 {
				t.Errorf("the report says %v ns, its command %v ns", got, found.WhatIf.After)
			}
		}
	}
}

// What the report says about waits is what the command beside it says.
func TestReportSaysWhatItsCommandsSay(t *testing.T) {
	r := makeReport(t, demoFile(t, "ocean.slt"))
	var causes *reportedTable
	for _, b := range r.section("waits").Content {
		if b.Table != nil && b.Table.Title == "Root causes of waiting" {
			causes = b.Table
		}
	}
	if causes == nil {
		t.Fatal("no table of causes")
	}
	code, stdout, stderr := clitest.Run("", append(strings.Fields(causes.Command)[1:], "--quiet")...)
	if code != 0 {
		t.Fatal(stderr)
	}
	for _, row := range causes.Rows {
		line := regexp.MustCompile(`(?m)^ *` + regexp.QuoteMeta(row[1].Text) + ` .* ` + regexp.QuoteMeta(row[0].Text) + `$`)
		if !line.MatchString(stdout) {
			t.Errorf("%s with %s is not in\n%s", row[0].Text, row[1].Text, stdout)
		}
	}
}

// The share of waiting is what waits says it is: devices wait, too, and nobody waits while recording is off.
func TestReportShareOfWaiting(t *testing.T) {
	off := filepath.Join(t.TempDir(), "off.trace")
	text := `slackline trace 1
unit us
rank 0
0..50 f
50..60 MPI_Send: send to 1
@60 recording off
@90 recording on
90..100 f
rank 1
0..10 f
10..60 MPI_Recv: recv from 0
@60 recording off
@90 recording on
90..100 f
`
	if err := os.WriteFile(off, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for run, who := range map[string]string{
		"../../testdata/accelerator/cases/10-mpi-cuda/traces.otf2": "The processes and their devices spend ",
		off: "The processes spend ",
	} {
		code, stdout, stderr := clitest.Run("", "waits", run, "--quiet")
		share := regexp.MustCompile(`(?m)^waiting .*, (.* %) of the .*time of all threads`).FindStringSubmatch(stdout)
		if code != 0 || share == nil {
			t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
		}
		r := makeReport(t, run)
		var said []string
		for _, b := range r.section("waits").Content {
			said = append(said, b.Text)
		}
		if text := r.Summary[1]; !strings.HasPrefix(text, who+share[1]+" of their time waiting") {
			t.Errorf("the summary of %s says %q, want %s", run, text, share[1])
		}
		if text := strings.Join(said, "\n"); !strings.Contains(text, " in all, "+share[1]+" of the time of all ") {
			t.Errorf("the section of %s says %q, want %s", run, text, share[1])
		}
	}
}

// The factors of the computation are those of compare, and the counters those of profile.
func TestReportOfCounters(t *testing.T) {
	runs := []string{"../../testdata/traces/counters-2.trace", "../../testdata/traces/counters-4.trace"}
	r := makeReport(t, runs...)
	var factors, counters *reportedTable
	var said []string
	for _, b := range slices.Concat(r.section("compared").Content, r.section("time").Content) {
		said = append(said, b.Text)
		switch {
		case b.Figure != nil && b.Figure.ID == "computation":
			factors = b.Figure.Data
		case b.Table != nil && b.Table.Title == "Counters":
			counters = b.Table
		}
	}
	if factors == nil || counters == nil || len(factors.Rows) != 2 {
		t.Fatalf("factors = %+v, counters = %+v", factors, counters)
	}
	_, stdout, _ := clitest.Run("", append([]string{"compare", "--format", "json"}, runs...)...)
	var compared struct {
		Scaling map[string]float64 `json:"computation_scaling"`
	}
	if err := json.Unmarshal([]byte(stdout), &compared); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"computation_scaling", "instruction_scaling", "ipc_scaling", "frequency_scaling"} {
		if got, want := factors.Rows[1][2+i].Value, compared.Scaling[name]; got != want || want == 0 || factors.Rows[0][2+i].Value != 1.0 {
			t.Errorf("%s = %v, want %v as in compare, and 1 for the first run", name, got, want)
		}
	}
	_, stdout, _ = clitest.Run("", "profile", runs[0])
	for _, row := range counters.Rows {
		if line := regexp.MustCompile(row[0].Text + ` +` + row[1].Text + ` +` + row[2].Text); !line.MatchString(stdout) {
			t.Errorf("counter %v is not in\n%s", row, stdout)
		}
	}
	if want := "6ms = 30,000,000 instructions / 2 instructions per cycle / 2.5 GHz"; !strings.Contains(strings.Join(said, "\n"), want) {
		t.Errorf("the report says %q, want %q", said, want)
	}
	same := makeReport(t, runs[0], runs[0]) // without a number of ranks to draw over
	if b := same.section("compared").Content; b[len(b)-1].Table == nil || b[len(b)-1].Table.Title != "Scaling of the computation" {
		t.Errorf("runs on as many ranks: %+v", b)
	}
}

// slacklineInPath lets a shell find the program.
func slacklineInPath(t *testing.T) {
	t.Helper()
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "slackline")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
}

// typeIn lets a shell run a command and returns its exit code. The server of explore is interrupted once it tells its address;
// that it ends is not an error then.
func typeIn(t *testing.T, dir, command string) (code int, output string) {
	t.Helper()
	c := exec.Command("sh", "-c", "exec "+command)
	c.Dir = dir
	pipe, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = c.Stdout
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	serves := false
	for lines := bufio.NewReader(pipe); err == nil; {
		var line string
		line, err = lines.ReadString('\n')
		output += line
		if !serves && strings.HasPrefix(command, "slackline explore ") && strings.Contains(line, "http://127.0.0.1:") {
			serves = true
			if err := c.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	err = c.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if code = c.ProcessState.ExitCode(); serves && code == 130 {
		code = 0
	}
	return code, output
}

// All commands in a report work when they are typed.
func TestReportCommandsWork(t *testing.T) {
	needed.Full(t, "all commands of four reports")
	slacklineInPath(t)
	dir := filepath.Join(t.TempDir(), "it's a <script>")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "my ocean.slt"), os.DirFS("../demo/demodata/ocean.slt")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	data, expectations := filepath.Join(dir, "runs.json"), filepath.Join(dir, "expectations.yaml")
	for _, args := range [][]string{
		{"my ocean.slt", "--machine", "chic", "--noise", "zeptoos", "--replicas", "2", "--scale-to", "16,64", "--denoise"},
		{"my ocean.slt", "--scale-to", "16,32", "--whole"},
		{"halo2d", "--ranks", "16", "--machine", "chic", "--noise", "1000Hz:10us", "--replicas", "2", "--scale-to", "16,64"},
		{data, "--expectations", expectations},
	} {
		if args[0] == data {
			for from, to := range map[string]string{"runs-before.json": data, "expectations.yaml": expectations} {
				content, err := os.ReadFile(filepath.Join(sourceDir(t), "../demo/demodata", from))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(to, content, 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
		commands := makeReport(t, args...).commands()
		if len(commands) < 2 {
			t.Errorf("report %v shows the commands %q only", args, commands)
		}
		for _, command := range commands {
			code, output := typeIn(t, dir, command)
			if code != 0 && !(code == 3 && strings.HasPrefix(command, "slackline check ")) {
				t.Errorf("$ %s\nexit code %d\n%s", command, code, output)
			}
			if strings.Contains(output, "has no influence") {
				t.Errorf("$ %s\n%s", command, output)
			}
		}
	}
}

// sourceDir is the directory of this package, wherever the test is now.
func sourceDir(t *testing.T) string {
	t.Helper()
	return testDirectory
}

var testDirectory = func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return dir
}()

// The same inputs give the same report, whatever the number of threads; only the provenance knows the time and how it
// was called.
func TestReportIsDeterministic(t *testing.T) {
	made := regexp.MustCompile(`(?s)<footer>.*</footer>`)
	var first []byte
	for i, threads := range []string{"1", "2", "3"} {
		path := filepath.Join(t.TempDir(), "report.html")
		code, _, stderr := clitest.Run("", "report", demoFile(t, "ocean.slt"), demoFile(t, "runs-before.json"), "--machine", "chic", "--noise",
			"zeptoos", "--replicas", "2",
			"--scale-to", "16,64", "--threads", threads, "--out", path, "--quiet")
		if code != 0 {
			t.Fatal(stderr)
		}
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) > 2<<20 {
			t.Errorf("the report of 16 ranks has %d bytes, more than 2 MB", len(page))
		}
		page = made.ReplaceAll(page, nil)
		if i == 0 {
			first = page
		} else if !bytes.Equal(page, first) {
			t.Errorf("with %s threads the report differs", threads)
		}
	}
}

// The commands of the demo work when they are typed, in the directory that it was started in.
func TestDemoCommandsWork(t *testing.T) {
	needed.Full(t, "the demonstration")
	slacklineInPath(t)
	dir := t.TempDir()
	code, output := typeIn(t, dir, "slackline demo --quick --out 'the demo' 2>/dev/null")
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, output)
	}
	script := strings.ReplaceAll(output, " \\\n", " ")
	commands, failed := 0, 0
	for line := range strings.Lines(script) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		if !ok {
			continue
		}
		commands++
		switch code, output := typeIn(t, dir, command); {
		case code == 3:
			failed++
		case code != 0:
			t.Errorf("$ %s\nexit code %d\n%s", command, code, output)
		}
	}
	if commands != 8 || failed != 1 {
		t.Errorf("%d commands, %d failed checks; want 8 and 1", commands, failed)
	}
}

func TestReportRefuses(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "report.html")
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"nothing.slt"}, 1, "no such file"},
		{[]string{"-"}, 2, "standard input"},
		{[]string{"halo2d", "--ranks", "16"}, 2, "--machine NAME"},
		{[]string{"halo2d", "--machine", "chic"}, 2, "needs --ranks"},
		{[]string{demoFile(t, "ocean.slt"), "--replicas", "0"}, 2, "--replicas: 0 is too few; give 1 or more"},
		{[]string{demoFile(t, "ocean.slt"), "--grid", "3x3"}, 2, "9 places, but the run has 16 ranks"},
		{[]string{demoFile(t, "ocean.slt"), "--begin", "2ms", "--end", "1ms"}, 2, "--end: give a time after 2ms"},
		{[]string{demoFile(t, "ocean.slt"), "--begin", "1000s"}, 2, "ends before 1000s"},
		{[]string{demoFile(t, "ocean.c")}, 1, "ocean.c"},
		{[]string{}, 2, "INPUT"},
	} {
		code, _, stderr := clitest.Run("", append([]string{"report", "--out", out}, tc.args...)...)
		if code != tc.code || !strings.Contains(stderr, tc.want) {
			t.Errorf("report %v: exit code %d, %q; want %d and %q", tc.args, code, stderr, tc.code, tc.want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("report %v left a file", tc.args)
		}
	}
	code, _, stderr := clitest.Run("", "report", demoFile(t, "runs-before.json"), "--out", demoFile(t, "runs-before.json"))
	if code == 0 || !strings.Contains(stderr, "is also an input") {
		t.Errorf("overwriting an input: exit code %d, %q", code, fmt.Sprint(stderr))
	}
}

// An interrupted report leaves no file.
func TestInterruptedReport(t *testing.T) {
	for _, wait := range []time.Duration{time.Second, 5 * time.Second, 20 * time.Second} {
		dir := t.TempDir()
		c := clitest.Program("report", demoFile(t, "ocean.slt"), "--machine", "chic", "--noise", "chic", "--scale-to", "2^14..2^16", "--replicas",
			"50", "--no-progress",
			"--out", filepath.Join(dir, "report.html"))
		var stderr bytes.Buffer
		c.Stderr = &stderr
		clitest.SignalAfter(t, c, syscall.SIGINT, wait)
		_ = c.Wait()
		if c.ProcessState.ExitCode() == -1 {
			continue // the signal came before the program could take it
		}
		if code := c.ProcessState.ExitCode(); code != 130 || !strings.HasSuffix(stderr.String(), "slackline: interrupted\n") {
			t.Errorf("exit code = %d, stderr = %q; want 130 and that it was interrupted", code, stderr.String())
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			t.Errorf("the directory holds %v (%v)", files, err)
		}
		return
	}
	t.Error("the program died of the signal")
}

// BenchmarkReport makes the report of 16 ranks, with a machine and noise.
func BenchmarkReport(b *testing.B) {
	path := filepath.Join(b.TempDir(), "report.html")
	var size int64
	for b.Loop() {
		code, _, stderr := clitest.Run("", "report", "../demo/demodata/ocean.slt", "../demo/demodata/runs-before.json", "--expectations",
			"../demo/demodata/expectations.yaml",
			"--machine", "chic", "--noise", "chic", "--quiet", "--out", path)
		if code != 0 {
			b.Fatal(stderr)
		}
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		size = info.Size()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reports/s")
	b.ReportMetric(float64(size), "B/report")
}

// What is simulated of a run with accelerators, or with other clocks, is what the commands beside it give.
func TestReportOfSimulations(t *testing.T) {
	for _, words := range [][]string{
		{"../../testdata/accelerator/cases/04-allreduce-long-kernel/ranks"},
		{"../../testdata/waits/cases/17-clocks-and-maps/traces.otf2", "--clock", "none"},
	} {
		compareTolerance(t, makeReport(t, words...))
	}
}

// compareTolerance compares the tolerated latencies of a report with those of the command beside them.
func compareTolerance(t *testing.T, r *reported) {
	t.Helper()
	compared := 0
	for _, b := range r.section("tolerance").Content {
		if b.Table == nil {
			continue
		}
		code, stdout, stderr := clitest.Run("", append(strings.Fields(b.Table.Command)[1:], "--format", "json", "--quiet")...)
		if code != 0 {
			t.Fatalf("$ %s\n%s", b.Table.Command, stderr)
		}
		var answer struct {
			Tolerance []struct {
				L float64 `json:"L_ns"`
			}
		}
		if err := json.Unmarshal([]byte(stdout), &answer); err != nil {
			t.Fatal(err)
		}
		for i, a := range answer.Tolerance {
			compared++
			if got := b.Table.Rows[0][2+i].Value; got != a.L*1000 {
				t.Errorf("latency %d is %v ps, but $ %s\n%s", i, got, b.Table.Command, stdout)
			}
		}
	}
	if compared != 3 {
		t.Errorf("%d latencies compared, want 3", compared)
	}
}

// A part of the ranks is not simulated: what the others send would be lost. The line that replaces a section says so, and how to get it.
func TestReportOfSomeRanks(t *testing.T) {
	file := demoFile(t, "ocean.slt")
	r := makeReport(t, file, "--only-ranks", "0,5")
	for _, id := range []string{"gain", "tolerance", "scale"} {
		m := r.section(id).Missing
		if m == nil || !strings.Contains(m.Why, "only ranks 0,5 of 16 were read") || m.Command != "slackline report "+file {
			t.Errorf("section %s: missing is %+v", id, m)
		}
	}
}

// Without --partial no command could read a damaged run.
func TestReportOfDamagedRun(t *testing.T) {
	slacklineInPath(t)
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "ocean.slt"), os.DirFS("../demo/demodata/ocean.slt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "ocean.slt", "3-0.slt")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, command := range makeReport(t, "ocean.slt", "--partial", "--scale-to", "16,32").commands() {
		if code, output := typeIn(t, dir, command); code != 0 {
			t.Errorf("$ %s\nexit code %d\n%s", command, code, output)
		}
	}
}
