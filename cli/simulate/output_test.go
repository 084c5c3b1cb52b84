package simulate_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// simulated runs simulate, which must succeed.
func simulated(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := clitest.Run("", append([]string{"simulate", "--quiet"}, args...)...)
	if code != 0 {
		t.Fatalf("simulate %q: exit code %d, %s", args, code, stderr)
	}
	return stdout
}

// The formula of a ping-pong, in all models, forms and costs; the rows of CSV are the numbers of JSON.
func TestPingPong(t *testing.T) {
	path := clitest.PingPong(t, "") // rank 0 ends at 1500 + 2L + 108G + 4o ns
	for _, tc := range []struct{ l, o, byteTime, end0, end1 string }{
		{"0", "0", "0", "1500", "1500"},
		{"1us", "0", "0", "3500", "2500"},
		{"1us", "100ns", "1ns", "4008", "2899"}, // rank 1 ends its send at 1000 + o + L + 99G + o + 500 + o
		{"1us", "100ns", "0.001ns", "3900.108", "2800.099"},
		{"1ps", "0", "0", "1500.002", "1500.001"},
	} {
		for _, model := range []string{"loggops", "loggps"} {
			args := []string{path, "-L", tc.l, "-o", tc.o, "-g", "0", "-G", tc.byteTime, "--model", model}
			var d struct {
				Makespan json.Number   `json:"makespan_ns"`
				Finish   []json.Number `json:"finish_ns"`
				Messages int
				Ops      int
			}
			if err := json.Unmarshal([]byte(simulated(t, append(args, "--format", "json")...)), &d); err != nil {
				t.Fatal(err)
			}
			if string(d.Makespan) != tc.end0 || fmt.Sprint(d.Finish) != fmt.Sprintf("[%s %s]", tc.end0, tc.end1) || d.Messages != 2 || d.Ops != 6 {
				t.Errorf("%v: makespan %s, ends %v, %d messages, %d operations; want %s and %s, 2, 6", args[1:], d.Makespan, d.Finish, d.Messages,
					d.Ops, tc.end0, tc.end1)
			}
			want := fmt.Sprintf("rank,finish_ns\n0,%s\n1,%s\n", tc.end0, tc.end1)
			if got := simulated(t, append(args, "--format", "csv")...); got != want {
				t.Errorf("%v: CSV\n%s\nwant\n%s", args[1:], got, want)
			}
			if text := simulated(t, args...); !strings.Contains(text, tc.end0+" ns, at rank 0") {
				t.Errorf("%v: no makespan of %s ns in\n%s", args[1:], tc.end0, text)
			}
		}
	}
}

// The parts of the time of a rank add up to its end, exactly, with and without noise.
func TestBreakdown(t *testing.T) {
	for _, flags := range [][]string{
		{"skeleton", "--ranks", "8", "--machine", "cnl"},
		{"skeleton", "--ranks", "8", "--machine", "cnl", "--noise", "1kHz:100us", "--seed", "3"},
		{"ring", "--ranks", "3", "--machine", "xt4", "--size", "1MiB", "--delay", "0@0:5us"},
		{"ring", "--ranks", "1", "--machine", "cnl"},
	} {
		records, err := csv.NewReader(strings.NewReader(simulated(t, append(flags, "--breakdown", "--format", "csv")...))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		noise := int64(0)
		for _, row := range records[1:] {
			var ps []int64
			for _, cell := range row[1:] {
				whole, part, _ := strings.Cut(cell, ".")
				var v int64
				if _, err := fmt.Sscan(whole+(part + "000")[:3], &v); err != nil {
					t.Fatalf("%q: %v", cell, err)
				}
				ps = append(ps, v)
			}
			if sum := ps[1] + ps[2] + ps[3] + ps[4]; sum != ps[0] {
				t.Errorf("%v: rank %s ends at %d ps, its parts add up to %d", flags, row[0], ps[0], sum)
			}
			noise += ps[3]
		}
		if noisy := strings.Contains(strings.Join(flags, " "), "--noise") ||
			strings.Contains(strings.Join(flags, " "), "--delay"); noisy != (noise > 0) {
			t.Errorf("%v: %d ps of noise", flags, noise)
		}
	}
}

// The box of a series as CSV is that of its samples: quantiles of type 7, and slowdowns over the run without noise.
func TestSeriesTable(t *testing.T) {
	args := []string{"skeleton", "--ranks", "4,8", "--machine", "cnl", "--noise", "1kHz:100us", "--replicas", "5"}
	records, err := csv.NewReader(strings.NewReader(simulated(t, append(args, "--format", "csv")...))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, name := range records[0] {
		at[name] = i
	}
	series := runSeries(t, args...)
	for k, row := range records[1:] {
		var samples []float64
		for _, s := range series.Results[k].Samples {
			v, err := s.Float64()
			if err != nil {
				t.Fatal(err)
			}
			samples = append(samples, v)
		}
		slices.Sort(samples)
		// Of five values the quartiles are the second, the third and the fourth.
		for name, want := range map[string]float64{"min_ns": samples[0], "q1_ns": samples[1], "median_ns": samples[2], "q3_ns": samples[3],
			"max_ns": samples[4], "replicas": 5, "ranks": float64(series.Results[k].Ranks)} {
			if got := row[at[name]]; got != fmt.Sprint(want) && number(t, got) != want {
				t.Errorf("%s ranks: %s = %s, want %v", row[0], name, got, want)
			}
		}
		quiet := number(t, row[at["noiseless_ns"]])
		if got, want := number(t, row[at["median_slowdown"]]), samples[2]/quiet; got != want {
			t.Errorf("%s ranks: slowdown %v, want %v", row[0], got, want)
		}
		alone := simulated(t, "skeleton", "--ranks", row[0], "--machine", "cnl", "--format", "csv")
		last := 0.0
		for _, line := range strings.Split(strings.TrimSpace(alone), "\n")[1:] {
			_, cell, _ := strings.Cut(line, ",")
			last = max(last, number(t, cell))
		}
		if last != quiet {
			t.Errorf("%s ranks: %v ns without noise, a single run takes %v", row[0], quiet, last)
		}
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	var v float64
	if _, err := fmt.Sscan(text, &v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

// Flags that need others, or that show one run only.
func TestSimulateContradictions(t *testing.T) {
	for args, want := range map[string]string{
		"--precise":                "--precise needs --bottleneck",
		"--job-size 8":             "--job-size needs --bottleneck",
		"--bottleneck=1":           "--bottleneck: expected a slowdown above 1 such as --bottleneck=2, got 1",
		"--replicas 0":             "--replicas: 0 is not in 1 to 10000000",
		"--replicas=-5":            "--replicas: -5 is not in 1 to 10000000",
		"--replicas 10000001":      "--replicas: 10000001 is not in 1 to 10000000",
		"--samples":                "--samples needs --replicas",
		"--resume x":               "--resume needs --replicas",
		"--replicas 2 --breakdown": "--breakdown shows one run; leave out --replicas and give one number of ranks",
		"--replicas 2 --plot x.svg --plot-kind finish": "--plot-kind finish shows one run; leave it out for box plots",
		"--replicas 2 --noise-offsets x":               "--noise-offsets gives the offsets of one run; leave it out, or --replicas",
		"--bottleneck --samples":                       "--samples and --offsets-out go with --replicas, not with --bottleneck",
		"--noise 1kHz:1us --noise-file x":              "give --noise or --noise-file, not both",
		"--noise-offsets x --offsets node":             "give --noise-offsets or --offsets node, not both",
	} {
		code, stdout, stderr := clitest.Run("", append(strings.Fields("simulate ring --ranks 4 --machine cnl"), strings.Fields(args)...)...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q; want 2, nothing and %q", args, code, stdout, stderr, want)
		}
	}
}
