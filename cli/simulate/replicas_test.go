package simulate_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"slackline/cli/clitest"
)

// seriesOutput is the part of the JSON output of a series that the tests read.
type seriesOutput struct {
	Complete bool
	Results  []struct {
		Ranks    int
		Replicas int
		Samples  []json.Number `json:"samples_ns"`
	}
}

// runSeries runs simulate with --format json and --samples.
func runSeries(t *testing.T, args ...string) seriesOutput {
	t.Helper()
	code, stdout, stderr := clitest.Run("", append(append([]string{"simulate"}, args...), "--format", "json", "--samples", "--quiet")...)
	if code != 0 {
		t.Fatalf("simulate %q: exit code %d, %s", args, code, stderr)
	}
	return readSeries(t, stdout)
}

func readSeries(t *testing.T, text string) seriesOutput {
	t.Helper()
	var out seriesOutput
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestReplicasThroughOffsetFiles: every replica equals the single run with the
// offsets that --offsets-out wrote, for all kinds of programs, noise and machines.
func TestReplicasThroughOffsetFiles(t *testing.T) {
	dir := t.TempDir()
	trace := filepath.Join(dir, "trace.txt")
	nodes := filepath.Join(dir, "nodes.yaml")
	for path, text := range map[string]string{
		trace: "# period_ns 100000\n0\t1000\n30000\t7\n99000\t3000\n",
		nodes: "name: nodes\nL: 1us\no: 0.5us\ng: 1us\nG: 1ns\nS: 1KiB\nranks_per_node: 4\nnic: node\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for i, args := range [][]string{
		{"dissemination", "--ranks", "40", "--machine", "cnl", "--noise", "1000Hz:100us"},
		{"dissemination", "--ranks", "40", "--machine", "cnl", "--noise", "1000Hz:100us", "--offsets", "coscheduled"},
		{"bcast", "--algorithm", "binomial", "--ranks", "40", "--machine", "cnl", "--noise", "10kHz:10us"},
		{"allreduce", "--size", "4KiB", "--ranks", "33", "--machine", nodes, "--noise-file", trace},
		{"alltoall", "--size", "2KiB", "--ranks", "12", "--machine", nodes, "--noise", "1kHz:uniform:1us:90us,jitter=50%", "--offsets", "node"},
		{"sweep", "--ranks", "16", "--compute", "100us", "--jitter", "0.2", "--machine", "xt4", "--noise", "poisson:10kHz:exp:5us"},
		{"halo2d", "--ranks", "16", "--machine", "altix", "--noise", "10kHz:10us", "--noise-ranks", "3,7", "--delay", "2@10us:1ms"},
		{"iallreduce", "--ranks", "16", "--compute", "1ms", "--machine", "chic", "--noise", "zeptoos"},
	} {
		t.Run(fmt.Sprintf("%d %s", i, args[0]), func(t *testing.T) {
			args = append(args, "--seed", "7")
			offsets := filepath.Join(t.TempDir(), "offsets")
			series := runSeries(t, append(slices.Clone(args), "--replicas", "5", "--threads", "3", "--offsets-out", offsets)...)
			if len(series.Results) != 1 || len(series.Results[0].Samples) != 5 || !series.Complete {
				t.Fatalf("results = %+v", series)
			}
			for replica, want := range series.Results[0].Samples {
				single := withoutFlag(args, "--offsets")
				single = append(single, "--noise-offsets", filepath.Join(offsets, fmt.Sprintf("%04d.txt", replica)), "--format", "json", "--quiet")
				code, stdout, stderr := clitest.Run("", append([]string{"simulate"}, single...)...)
				if code != 0 {
					t.Fatalf("exit code %d: %s", code, stderr)
				}
				var out struct {
					Makespan json.Number `json:"makespan_ns"`
				}
				if err := json.Unmarshal([]byte(stdout), &out); err != nil {
					t.Fatal(err)
				}
				if out.Makespan != want {
					t.Errorf("replica %d takes %s ns, the single run with its offsets %s", replica, want, out.Makespan)
				}
			}
		})
	}
}

// withoutFlag returns the arguments without a flag and its value.
func withoutFlag(args []string, flag string) []string {
	list := slices.Clone(args)
	if i := slices.Index(list, flag); i >= 0 {
		list = slices.Delete(list, i, i+2)
	}
	return list
}

// TestInterruptedReplicas interrupts a series that would take minutes: what is
// finished is printed, equals the start of a smaller series, and is kept.
func TestInterruptedReplicas(t *testing.T) {
	kept := filepath.Join(t.TempDir(), "kept.jsonl")
	args := []string{"dissemination", "--size", "1B", "--machine", "cnl", "--noise", "1000Hz:100us", "--seed", "3"}
	series := append(slices.Clone(args), "--ranks", "4,16384", "--replicas", "5000", "--resume", kept)
	for _, wait := range []time.Duration{700 * time.Millisecond, 4 * time.Second, 20 * time.Second} {
		c := clitest.Program(append(append([]string{"simulate"}, series...), "--format", "json", "--samples")...)
		var stdout, stderr bytes.Buffer
		c.Stdout, c.Stderr = &stdout, &stderr
		clitest.SignalAfter(t, c, syscall.SIGINT, wait)
		_ = c.Wait()
		if c.ProcessState.ExitCode() == -1 || stdout.Len() == 0 {
			continue // the machine is slow: nothing was finished
		}
		if code := c.ProcessState.ExitCode(); code != 130 {
			t.Fatalf("exit code = %d, stderr = %q; want 130", code, stderr.String())
		}
		for _, want := range []string{"the same command goes on from " + kept, "slackline: interrupted\n"} {
			if !strings.Contains(stderr.String(), want) {
				t.Errorf("stderr = %q, want %q", stderr.String(), want)
			}
		}
		got := readSeries(t, stdout.String())
		if got.Complete || len(got.Results) == 0 || len(got.Results) == 2 && got.Results[1].Replicas == 5000 {
			t.Fatalf("the series is complete, or empty: %d results", len(got.Results))
		}
		for _, r := range got.Results {
			n := min(r.Replicas, 8)
			fewer := runSeries(t, append(slices.Clone(args), "--ranks", fmt.Sprint(r.Ranks), "--replicas", fmt.Sprint(n))...)
			if !slices.Equal(fewer.Results[0].Samples, r.Samples[:n]) {
				t.Errorf("%d ranks: the first samples are %v, want %v", r.Ranks, r.Samples[:n], fewer.Results[0].Samples)
			}
			// All that was printed is kept: nothing is left to be simulated.
			code, out, said := clitest.Run("", append(append([]string{"simulate"}, args...), "--ranks", fmt.Sprint(r.Ranks),
				"--replicas", fmt.Sprint(r.Replicas), "--resume", kept, "--format", "json", "--samples")...)
			if code != 0 || strings.Contains(said, " messages in ") {
				t.Errorf("%d ranks: exit code %d, %q; want no new run", r.Ranks, code, said)
			} else if again := readSeries(t, out); !slices.Equal(again.Results[0].Samples, r.Samples) {
				t.Errorf("%d ranks: resumed samples differ", r.Ranks)
			}
		}
		return
	}
	t.Error("nothing was finished before the interrupt")
}
