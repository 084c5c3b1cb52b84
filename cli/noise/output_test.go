package noise_test

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// stats writes a trace of detours and returns what is said about it, in one of its forms.
func stats(t *testing.T, text, format string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "detours.txt")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := clitest.Run("", "noise", "stats", path, "--format", format)
	if code != 0 {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	return stdout
}

// Detours of 10, 30 and 20 ns in 1 us: 6 %, three million per second, quartiles 15, 20 and 25 ns; JSON and CSV have the same numbers.
func TestStatsOfDetours(t *testing.T) {
	const trace = "# period_ns 1000\n0\t10\n100\t30\n500\t20\n"
	var d struct {
		Detours  int
		Count    int         `json:"stretches"`
		Period   json.Number `json:"period_ns"`
		Noise    json.Number `json:"noise_ns"`
		Overhead float64     `json:"overhead_percent"`
		Rate     float64     `json:"rate_per_second"`
		Lengths  struct {
			Min, Q1, Median, Q3, P99, Max, Mean json.Number
		}
		Sources []struct {
			Detours int
			Longest json.Number `json:"longest_ns"`
			Percent float64     `json:"noise_percent"`
		}
	}
	text := strings.NewReplacer(`"min_ns"`, `"min"`, `"q1_ns"`, `"q1"`, `"median_ns"`, `"median"`, `"q3_ns"`, `"q3"`, `"p99_ns"`, `"p99"`,
		`"max_ns"`, `"max"`, `"mean_ns"`, `"mean"`).Replace(stats(t, trace, "json"))
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	if d.Detours != 3 || d.Count != 3 || d.Period != "1000" || d.Noise != "60" || d.Overhead != 6 || d.Rate != 3e6 {
		t.Errorf("%+v, want 3 detours, 60 of 1000 ns, 6 %%, 3 million per second", d)
	}
	l := d.Lengths
	if l.Min != "10" || l.Q1 != "15" || l.Median != "20" || l.Q3 != "25" || l.P99 != "29.8" || l.Max != "30" || l.Mean != "20" {
		t.Errorf("lengths %+v", l)
	}
	if len(d.Sources) != 1 || d.Sources[0].Detours != 3 || d.Sources[0].Longest != "30" || d.Sources[0].Percent != 100 {
		t.Errorf("sources %+v", d.Sources)
	}
	records, err := csv.NewReader(strings.NewReader(stats(t, trace, "csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	total := strings.Join(records[1][2:], ",")
	if records[1][0] != "total" || total != "3,3e+06,60,6,100,10,15,20,25,29.8,30,20" && total != "3,3000000,60,6,100,10,15,20,25,29.8,30,20" {
		t.Errorf("the row of all is %v", records[1])
	}
	for _, want := range []string{"serial overhead        6 %  60ns of 1us are noise",
		"rate             3000000Hz  3 intervals of noise in a period",
		"length    10ns  15ns    20ns  25ns  29.8ns  30ns  20ns"} {
		if got := stats(t, trace, "text"); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// Detours that overlap, touch or reach over the end of the period are one interval of noise, but as many detours as were given.
func TestStatsOfOverlaps(t *testing.T) {
	for _, tc := range []struct {
		trace            string
		detours, count   int
		noise            string
		longest, overall string // of the intervals, and of the detours
	}{
		{"# period_ns 1000\n0\t10\n5\t10\n", 2, 1, "15", "15", "10"},
		{"# period_ns 1000\n0\t10\n10\t10\n", 2, 1, "20", "20", "10"},
		{"# period_ns 1000\n0\t10\n11\t10\n", 2, 2, "20", "10", "10"},
		{"# period_ns 1000\n0\t10\n990\t10\n", 2, 1, "20", "20", "10"},
		{"# period_ns 1000\n995\t10\n", 1, 1, "10", "10", "10"},
	} {
		var d struct {
			Detours int
			Count   int         `json:"stretches"`
			Noise   json.Number `json:"noise_ns"`
			Lengths struct {
				Max json.Number `json:"max_ns"`
			}
			Sources []struct {
				Longest json.Number `json:"longest_ns"`
			}
		}
		if err := json.Unmarshal([]byte(stats(t, tc.trace, "json")), &d); err != nil {
			t.Fatal(err)
		}
		if d.Detours != tc.detours || d.Count != tc.count || string(d.Noise) != tc.noise || string(d.Lengths.Max) != tc.longest ||
			string(d.Sources[0].Longest) != tc.overall {
			t.Errorf("%q: %+v, want %+v", tc.trace, d, tc)
		}
	}
}

// A name, a specification and what 'show' writes of it are the same noise.
func TestShowIsTheSameNoise(t *testing.T) {
	for _, spec := range []string{"400Hz:25us", "100Hz:2.5ms,jitter=20%", "poisson:50Hz:exp:220us", "250Hz:2.8us+10Hz:1ms"} {
		path := filepath.Join(t.TempDir(), "noise.yaml")
		if code, _, stderr := clitest.Run("", "noise", "show", spec, "--out", path); code != 0 {
			t.Fatal(stderr)
		}
		numbers := func(word string) string {
			_, stdout, _ := clitest.Run("", "noise", "stats", word, "--format", "csv", "--seed", "3")
			_, rows, _ := strings.Cut(stdout, "\n")
			_, rows, _ = strings.Cut(rows, ",") // the name
			_, rows, _ = strings.Cut(rows, ",")
			return rows
		}
		if got, want := numbers(path), numbers(spec); got != want || want == "" {
			t.Errorf("%s: the file has\n%s\nthe specification\n%s", spec, got, want)
		}
	}
	// A list of detours has no form as a profile.
	list := filepath.Join(t.TempDir(), "list.txt")
	if err := os.WriteFile(list, []byte("# period_ns 1000\n0\t10\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := clitest.Run("", "noise", "show", list, "--to", "yaml")
	if code != 1 || !strings.Contains(stderr, "holds a list of detours, which a profile file cannot; take --to text or --to binary") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}

// The list has each profile once, with the same numbers as its own statistics; three of them, which are made fast, are compared.
func TestList(t *testing.T) {
	code, stdout, stderr := clitest.Run("", "noise", "list", "--format", "csv")
	records, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	if code != 0 || err != nil || len(records) < 5 {
		t.Fatalf("exit code %d, %v, %s", code, err, stderr)
	}
	for _, row := range records[1:] {
		if !slices.Contains([]string{"chic", "cnk", "zeptoos"}, row[0]) {
			continue
		}
		var d struct {
			Name     string
			Overhead json.Number `json:"overhead_percent"`
			Rate     json.Number `json:"rate_per_second"`
		}
		_, stdout, _ := clitest.Run("", "noise", "stats", row[0], "--format", "json")
		if err := json.Unmarshal([]byte(stdout), &d); err != nil {
			t.Fatal(err)
		}
		if d.Name != row[0] || string(d.Overhead) != row[1] || string(d.Rate) != row[2] {
			t.Errorf("%v in the list, %+v by itself", row[:3], d)
		}
	}
}
