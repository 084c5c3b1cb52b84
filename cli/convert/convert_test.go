package convert_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// Two schedules: 5 and 7 ns of computation on rank 0, and a message from rank 0 to rank 1.
const (
	alone  = "num_ranks 1\nrank 0 {\nl0: calc 5\nl1: calc 7\nl1 requires l0\n}\n"
	paired = "num_ranks 2\nrank 0 {\nl0: send 8b to 1 tag 3\n}\nrank 1 {\nl0: recv 8b from 0 tag 3\n}\n"
)

// files writes files into a directory of the test, which becomes the working directory.
func files(t *testing.T, texts map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range texts {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func run(t *testing.T, args string) string {
	t.Helper()
	code, stdout, stderr := clitest.Run("", strings.Fields(args)...)
	if code != 0 {
		t.Fatalf("%s: exit code %d\n%s", args, code, stderr)
	}
	return stdout
}

// makespan is the run time of a schedule, in ns.
func makespan(t *testing.T, name string) (ns float64, ranks int) {
	t.Helper()
	var d struct {
		Makespan float64 `json:"makespan_ns"`
		Ranks    int
	}
	if err := json.Unmarshal([]byte(run(t, "simulate "+name+" --machine chic --format json")), &d); err != nil {
		t.Fatal(err)
	}
	return d.Makespan, d.Ranks
}

// TestRoundTrips: a schedule is the same after it was written and read in any format that has all of it.
func TestRoundTrips(t *testing.T) {
	files(t, map[string]string{"alone.goal": alone, "paired.goal": paired})
	for _, name := range []string{"alone", "paired"} {
		want := run(t, "convert "+name+".goal --to goal")
		for _, way := range []string{"slk", "bin", "goal"} {
			run(t, "convert "+name+".goal --out x."+way)
			run(t, "convert x."+way+" --out back.slk")
			if got := run(t, "convert back.slk --to goal"); got != want {
				t.Errorf("%s by way of %s:\n%s\nwant\n%s", name, way, got, want)
			}
			for _, name := range []string{"x." + way, "back.slk"} {
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestComposition: one after the other the times add up, beside each other the ranks.
func TestComposition(t *testing.T) {
	files(t, map[string]string{"alone.goal": alone, "paired.goal": paired})
	one, _ := makespan(t, "alone.goal")
	if one != 12 {
		t.Fatalf("5 and 7 ns take %v", one)
	}
	pair, _ := makespan(t, "paired.goal")
	for _, tc := range []struct {
		args  string
		want  float64
		ranks int
	}{
		{"alone.goal --repeat 3", 36, 1},
		{"alone.goal alone.goal", 24, 1},
		{"alone.goal alone.goal --repeat 2", 48, 1},
		{"alone.goal alone.goal --join beside", 12, 2},
		{"alone.goal paired.goal --join beside", max(12, pair), 3},
		{"paired.goal alone.goal alone.goal --join beside --repeat 1", max(12, pair), 4},
	} {
		run(t, "convert "+tc.args+" --out joined.slk")
		if got, ranks := makespan(t, "joined.slk"); got != tc.want || ranks != tc.ranks {
			t.Errorf("%s: %v ns on %d ranks, want %v on %d", tc.args, got, ranks, tc.want, tc.ranks)
		}
	}
}

func TestErrors(t *testing.T) {
	files(t, map[string]string{"alone.goal": alone, "paired.goal": paired, "empty": ""})
	for _, tc := range []struct {
		args string
		code int
		want string
	}{
		{"", 2, "INPUT"},
		{"alone.goal --out alone.goal", 1, "alone.goal"},
		{"alone.goal --out x.slk --repeat 0", 2, "--repeat: 0 is too few; give 1 or more"},
		{"- - --to goal", 2, "- is given more than once, but the standard input can be read once"},
		{"alone.goal - paired.goal - --to goal", 2, "- is given more than once"},
		{"bcast --to slt --out x", 2, "bcast is not a recorded run; 'slackline simulate bcast --trace FILE' writes"},
		{"alone.goal --to slt --out x", 1, "alone.goal: not a trace"},
		{"alone.goal paired.goal --to slt --out x", 2, "a trace is made of one recorded run, but there are 2 inputs"},
		{"run --to slt --request-size 5 --out x", 2, "--request-size: 5 is not possible; give 4 or 8"},
		{"- --to slt --out x", 2, "- is a pipe or a device"},
		{"empty --to goal", 1, "empty"},
		{"alone.goal --to goat", 2, "did you mean goal"},
	} {
		code, stdout, stderr := clitest.Run(alone, append([]string{"convert"}, strings.Fields(tc.args)...)...)
		if code != tc.code || !strings.Contains(stderr, tc.want) || stdout != "" {
			t.Errorf("convert %s: exit code %d, want %d\n%s%s", tc.args, code, tc.code, stdout, stderr)
		}
	}
	if code, stdout, stderr := clitest.Run(alone, "convert", "-", "--to", "goal"); code != 0 || !strings.Contains(stdout, "calc 7") {
		t.Errorf("from the standard input: exit code %d\n%s%s", code, stdout, stderr)
	}
}

// TestDirectoryOfTheInput: the directory of an archive is never replaced by what is made of it, however it is named.
func TestDirectoryOfTheInput(t *testing.T) {
	run := clitest.LateSenderTrace(t)
	dir := filepath.Join(t.TempDir(), "archive")
	if code, _, stderr := clitest.Run("", "convert", run, "--to", "otf2", "--out", dir); code != 0 {
		t.Fatal(stderr)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes"), []byte("keep"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, args := range [][]string{
		{"traces.otf2", "--out", dir}, {dir + "/traces.otf2", "--out", dir}, {"./traces.otf2", "--out", "../archive"},
	} {
		code, _, stderr := clitest.Run("", append([]string{"convert", "--to", "otf2", "--force"}, args...)...)
		if code != 2 || !strings.Contains(stderr, "is also the input; give another name") {
			t.Errorf("%v: exit code %d\n%s", args, code, stderr)
		}
		if _, err := os.Stat(filepath.Join(dir, "notes")); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRanksThatLeftNothing: whatever a run becomes, ranks that left nothing are kept, or it is reported that they are not.
func TestRanksThatLeftNothing(t *testing.T) {
	files(t, map[string]string{"run.trace": "slackline trace 1\nranks 4\nrank 0\n0..9 main\nrank 2\n0..9 main\n"})
	for _, f := range []string{"slt", "trace-text", "otf2"} {
		run(t, "convert run.trace --to "+f+" --out kept."+f)
		if text := run(t, "convert kept."+f+" --to trace-text"); !strings.Contains(text, "comm MPI_COMM_WORLD 0-3") {
			t.Errorf("%s:\n%s", f, text)
		}
		code, _, stderr := clitest.Run("", "profile", "kept."+f)
		if code != 0 || !strings.Contains(stderr, "2 ranks missing, the first is rank 1") {
			t.Errorf("%s: exit code %d\n%s", f, code, stderr)
		}
	}
	for f, want := range map[string]string{
		"perfetto": "2 of 4 ranks left nothing, the first is rank 1", "folded": "2 of 4 ranks left nothing, the first is rank 1",
		"goal": "events of 2 of the ranks are missing", "slk": "events of 2 of the ranks are missing",
		"parquet": "2 ranks missing, the first is rank 1",
	} {
		code, _, stderr := clitest.Run("", "convert", "run.trace", "--to", f, "--out", "reported."+f)
		if code != 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, want %q\n%s", f, code, want, stderr)
		}
	}
}

// TestPartsOfRanks: times count from the start of the run also if only some ranks are read, which may begin later.
func TestPartsOfRanks(t *testing.T) {
	files(t, map[string]string{"run.trace": "slackline trace 1\nunit us\nrank 0\n10..70 main\nrank 1\n15..80 main\n"})
	var d struct {
		Path struct {
			Segments []struct {
				From float64 `json:"from_s"`
				To   float64 `json:"to_s"`
			}
		} `json:"critical_path"`
	}
	for args, want := range map[string]float64{"": 5e-6, " --begin 20us": 20e-6} {
		text := run(t, "waits run.trace --only-ranks 1 --critical-path --format json"+args)
		if err := json.Unmarshal([]byte(text), &d); err != nil || len(d.Path.Segments) != 1 || d.Path.Segments[0].From != want ||
			d.Path.Segments[0].To != 70e-6 {
			t.Errorf("%s: %v, segments %+v", args, err, d.Path.Segments)
		}
	}
	code, _, stderr := clitest.Run("", "waits", "run.trace", "--only-ranks", "1", "--end", "4us")
	if code != 2 || !strings.Contains(stderr, "--end: the ranks that are read of run.trace begin 5us after the start of the run") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}
