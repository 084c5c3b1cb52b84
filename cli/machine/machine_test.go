package machine_test

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
	"slackline/model/machine"
)

// TestShowAndCheck: what is shown of a machine is a machine file, of the same machine.
func TestShowAndCheck(t *testing.T) {
	dir := t.TempDir()
	for _, name := range machine.Names() {
		code, text, stderr := clitest.Run("", "machine", "show", name)
		if code != 0 {
			t.Fatalf("%s: exit code %d\n%s", name, code, stderr)
		}
		path := filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if code, stdout, stderr := clitest.Run("", "machine", "check", path); code != 0 || stdout != path+": fine\n" {
			t.Errorf("%s: exit code %d\n%s%s", name, code, stdout, stderr)
		}
		if _, again, _ := clitest.Run("", "machine", "show", path); again != text {
			t.Errorf("%s: shown again\n%s\nwant\n%s", name, again, text)
		}
		simulate := []string{"simulate", "bcast", "--ranks", "3", "--size", "100KiB", "--format", "csv", "--machine"}
		_, direct, _ := clitest.Run("", append(simulate, name)...)
		if _, file, _ := clitest.Run("", append(simulate, path)...); file != direct {
			t.Errorf("%s: simulated with the file\n%s\nwant\n%s", name, file, direct)
		}
	}
}

// TestClassTable: the comment after a machine has a row for each range of sizes in which a class of links is the same.
func TestClassTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	const text = `name: mine
L: 1us
o: {1KiB: 20ns, 0B: 10ns}
g: 3ns
G: {0B: 1ns, 1KiB: 2ns, 4KiB: 3ns}
S: 64KiB
`
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := clitest.Run("", "machine", "show", path)
	if code != 0 {
		t.Fatal(stderr)
	}
	var rows []string
	for line := range strings.Lines(stdout) {
		if words := strings.Fields(line); len(words) > 2 && words[0] == "#" && words[1] == "far" {
			rows = append(rows, strings.Join(words[2:6], " ")+" "+words[6])
		}
	}
	want := "0B 1us 10ns 3ns 1ns; 1KiB 1us 20ns 3ns 2ns; 4KiB 1us 20ns 3ns 3ns"
	if got := strings.Join(rows, "; "); got != want {
		t.Errorf("from, L, o, g, G of far links: %s, want %s\n%s", got, want, stdout)
	}
}

// TestList: the same machines in all formats, with numbers in the units that their names say.
func TestList(t *testing.T) {
	_, text, _ := clitest.Run("", "machine", "list", "--format", "csv")
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 1+len(machine.Names()) {
		t.Fatalf("%d rows for %d machines, %v", len(rows), len(machine.Names()), err)
	}
	var list []map[string]any
	_, stdout, _ := clitest.Run("", "machine", "list", "--format", "json")
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || len(list) != len(machine.Names()) {
		t.Fatalf("%d objects for %d machines, %v", len(list), len(machine.Names()), err)
	}
	for i, name := range machine.Names() {
		m, err := machine.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		latency := float64(m.Classes[machine.Far].Latency) / 1000
		if rows[i+1][0] != name || list[i]["name"] != name || list[i]["L_ns"] != latency {
			t.Errorf("machine %d is %q and %v, want %s with a latency of %v ns", i, rows[i+1], list[i], name, latency)
		}
		if _, limited := list[i]["S_bytes"].(float64); limited != (m.Classes[machine.Far].Eager != machine.NoLimit) {
			t.Errorf("%s: the limit of eager messages is %v", name, list[i]["S_bytes"])
		}
	}
}

// TestCheckAll: every file is checked, the good ones are named, and one mistake fails.
func TestCheckAll(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"good.yaml": "name: good\nL: 1us\no: 1us\ng: 1us\nG: 1ns\n", "two.yaml": "L: fast\no: 1us\nhost: 3\n",
		"noise.yaml": "name: n\nL: 1us\no: 1us\ng: 1us\nG: 1ns\nnoise: loud\n",
		"quiet.yaml": "name: q\nL: 1us\no: 1us\ng: 1us\nG: 1ns\nnoise: none\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	code, stdout, stderr := clitest.Run("", "machine", "check", "missing.yaml", "good.yaml", "two.yaml", "noise.yaml", "quiet.yaml")
	if code != 1 || stdout != "good.yaml: fine\nquiet.yaml: fine\n" {
		t.Errorf("exit code %d, want 1\n%s", code, stdout)
	}
	for _, want := range []string{"missing.yaml: no such file", "two.yaml:1:", "two.yaml:3:1: unknown key \"host\"", "noise.yaml: noise: "} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is not reported:\n%s", want, stderr)
		}
	}
	for _, args := range [][]string{{"machine", "check"}, {"machine", "show"}, {"machine", "show", "a", "b"}, {"machine", "list", "x"}} {
		if code, _, stderr := clitest.Run("", args...); code != 2 {
			t.Errorf("%v: exit code %d, want 2\n%s", args, code, stderr)
		}
	}
	if code, _, stderr := clitest.Run("", "machine", "show", "chick"); code != 1 || !strings.Contains(stderr, "chic") {
		t.Errorf("a misspelt machine: exit code %d\n%s", code, stderr)
	}
}
