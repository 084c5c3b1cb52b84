package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"slackline/cli/clitest"
	"slackline/model/schedule"
)

// hostile is a name that tries to control the terminal of those who read it: it sets the title,
// writes to the clipboard, moves the cursor (C0 and C1), turns the direction of the line, and forges a line of ours.
const hostile = "f\x1b]0;title\x07\x1b]52;c;AAAA\x1b\\\x1b[2J\x1b[1mbold\u009b31m\u202eabc\u2066d\u200e\x7f\r\nslackline: forged"

// lookForControls fails if text has a character that controls terminals, or a line that a name has forged.
func lookForControls(t *testing.T, what, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s: is not UTF-8", what)
	}
	for i, r := range text {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)) {
			t.Errorf("%s: has %U in %q", what, r, text[max(i-40, 0):min(i+20, len(text))])
			break
		}
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "slackline: forged") {
			t.Errorf("%s: a name has made a line of its own", what)
			break
		}
	}
}

// writeHostileSchedule writes a schedule of a message whose call paths and calls have hostile names.
func writeHostileSchedule(t *testing.T, file string) {
	t.Helper()
	build := schedule.NewBuilder(2)
	build.SetOrigins([]schedule.Origin{{}, {Path: []string{hostile, "main"}, Call: hostile}})
	for rank := range 2 {
		var b schedule.Block
		b.Calc(1_000_000)
		if rank == 0 {
			b.Require(b.Send(1, 64, 0), 0)
		} else {
			b.Require(b.Recv(0, 64, 0), 0)
		}
		for i := range b.Ops {
			b.Ops[i].Origin = 1
		}
		b.Link()
		build.Add(rank, &b)
	}
	var data bytes.Buffer
	g := build.Graph()
	g.Names = &schedule.Names{File: hostile}
	if err := schedule.WriteSLK(&data, g); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestNamesControlNothing runs verbs on a trace and on measurements whose names are hostile, and on files of such names: in
// no form of output is a control character.
func TestNamesControlNothing(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	trace := fmt.Sprintf("slackline trace 1\nunit us\nmachine %[1]q\ncommand %[1]q\nlaunch %[1]q\ncomm 0 name %[1]q 0-1\n"+
		"region 0 name %[1]q user at %[1]q 3\n"+
		"rank 0 name %[1]q host %[1]q\n0 0 {\n0..30 compute\n30..32 MPI_Send: send to 1 size 64KiB tag 3\n"+
		"32..40 MPI_Barrier: barrier comm 0\n} 40\n"+
		"rank 1 host %[1]q\n0 0 {\n0..10 compute\n10..34 MPI_Recv: recv from 0 size 64KiB tag 3\n34..40 MPI_Barrier: barrier comm 0\n} 40\n",
		hostile)
	var points []string
	for p := 1; p <= 32; p *= 2 {
		points = append(points, fmt.Sprintf(`{"at":[%d],"values":[%d]}`, p, 10*p))
	}
	name := strings.ReplaceAll(fmt.Sprintf("%q", hostile), `\x`, `\u00`)
	name = strings.ReplaceAll(strings.ReplaceAll(name, `\a`, `\u0007`), `\v`, `\u000b`)
	data := fmt.Sprintf(`{"slackline_dataset":1,"parameters":["p"],"series":[{"callpath":%[1]s,"metric":%[1]s,"points":[%[2]s]}]}`, name, strings.Join(points, ","))
	odd := strings.ReplaceAll(hostile, "/", "") + ".trace"
	for file, text := range map[string]string{"run.trace": trace, odd: trace, "data.json": data, "broken" + odd: "slackline trace 1\nunit x\n",
		"broken.goal": "num_ranks 1\n" + hostile + "\n", "machine.yaml": "name: " + name + "\nL: 5us\no: 1us\ng: 2us\nG: 1ns\nS: 64KiB\n"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	writeHostileSchedule(t, "schedule.slk")
	if err := errors.Join(os.Mkdir("folder", 0o777), os.WriteFile("folder/"+odd, nil, 0o666), os.Rename("data.json", "folder/data.json"),
		os.Symlink("folder/data.json", "data.json")); err != nil {
		t.Fatal(err)
	}
	ran := 0
	try := func(args ...string) {
		t.Helper()
		code, stdout, stderr := clitest.Run("", args...)
		what := strings.Join(args, " ")
		if code == 0 {
			ran++
		}
		lookForControls(t, what+" (stdout)", stdout)
		lookForControls(t, what+" (stderr)", stderr)
		if strings.Contains(stderr, "internal error") {
			t.Errorf("%q: %s", args, stderr)
		}
		for _, file := range []string{"out.html", "out.svg", "out.json", "out.goal", "out.dot", "out.trace"} {
			if text, err := os.ReadFile(file); err == nil {
				lookForControls(t, what+" ("+file+")", string(text))
				os.Remove(file)
			}
		}
	}
	try("simulate", "schedule.slk", "--machine", "chic", "--trace", "simulated.trace")
	for _, format := range []string{"text", "json", "csv"} {
		for _, run := range []string{"run.trace", odd} {
			try("waits", run, "--format", format)
			try("profile", run, "--format", format)
			try("simulate", run, "--machine", "chic", "--format", format)
			try("compare", run, "run.trace", "--format", format)
			try("tolerance", run, "--machine", "chic", "--format", format)
		}
		try("simulate", "schedule.slk", "--machine", "chic", "--format", format, "--trace", "out.trace", "--plot", "out.svg")
		try("simulate", "schedule.slk", "--machine", "chic", "--format", format, "--noise", "100Hz:1ms", "--attribute")
		try("tolerance", "schedule.slk", "--machine", "chic", "--format", format, "--critical-path", "--slack", "--plot", "out.svg")
		try("tolerance", "schedule.slk", "--machine", "chic", "--format", format, "--what-if", "none=-20%")
		try("scaling", "data.json", "--format", format)
		try("scaling", "data.json", "--format", format, "--target", "64", "--color", "always", "--quiet", "--only-path", "none"+hostile)
	}
	try("waits", "run.trace", "--explain")
	try("waits", "run.trace", "--critical-path")
	try("waits", "run.trace", "--plot", "out.svg", "--quiet")
	try("scaling", "data.json", "--plot", "out.svg")
	try("scaling", "folder") // a warning names what is not read there
	try("scaling", "data.json", "--dataset", "out.json")
	try("report", "run.trace", "--out", "out.html", "--title", "A $(id) "+hostile)
	try("report", "run.trace", "data.json", "--format", "json", "--out", "out.json")
	try("report", odd, "--out", "out.html")
	try("convert", "run.trace", "--to", "trace-text")
	try("convert", "run.trace", "--to", "goal")
	try("convert", "run.trace", "--to", "dot")
	try("convert", "schedule.slk", "--out", "out.goal")
	try("convert", "schedule.slk", "--out", "out.dot")
	try("profile", "simulated.trace")
	try("waits", "simulated.trace")
	try("waits", "simulated.trace", "--plot", "out.svg")
	try("waits", "broken"+odd)
	try("simulate", "broken.goal", "--machine", "chic")
	try("simulate", "none/"+odd, "--machine", "chic")
	try("simulate", "ring", "--ranks", hostile)
	try("simulate", "ring", "--"+hostile)
	try(hostile)
	try("machine", "show", hostile)
	try("noise", "show", hostile)
	try("explain", hostile)
	try("check", odd, "data.json")
	try("machine", "show", "machine.yaml")
	for _, verb := range []string{"simulate", "tolerance", "advise", "waits"} {
		try(verb, "run.trace", "--machine", "machine.yaml")
	}
	if ran < 25 {
		t.Errorf("only %d commands had a result: the inputs are wrong", ran)
	}
	if _, stdout, _ := clitest.Run("", "profile", "run.trace", "--color", "always"); strings.Count(stdout, "\x1b[1m") == 0 {
		t.Error("--color always: nothing is bold")
	} else {
		lookForControls(t, "bold", strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "").Replace(stdout))
	}
}
