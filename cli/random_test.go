package cli_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"slackline/cli/clitest"
	"slackline/internal/needed"
	"slackline/model/collective"
	"slackline/model/machine"
	"slackline/model/pattern"
)

// values are what the random command lines give to flags: mostly sensible, some
// at the edge, some wrong.
var values = map[string][]string{
	"--ranks":         {"1", "2", "3", "7", "16", "2,5", "2^1..2^4", "0", "-1", "x", "2^4", "99999999999999999999"},
	"--size":          {"0", "1B", "8", "100KB", "1MiB", "-1", "9EiB", "9223372036854775807", "x"},
	"--root":          {"0", "1", "6", "-1", "99", "x"},
	"--iterations":    {"1", "3", "0", "-4", "x"},
	"--grid":          {"2x2", "4x4", "1x7", "0x1", "x", "2x2x4", "99999x99999"},
	"--compute":       {"0", "1us", "10ms", "1h", "-1us", "1", "9999999h"},
	"--jitter":        {"0", "0.5", "100%", "2", "NaN"},
	"--seed":          {"0", "7", "18446744073709551615", "-1"},
	"--corners":       {"1", "2", "4", "8", "3", "-1"},
	"--senders":       {"1", "2", "99", "-1"},
	"--pieces":        {"1", "4", "-1", "70000"},
	"--without":       {"p2p", "collectives", "p2p,collectives", "x"},
	"--threads":       {"0", "1", "3", "-1", "x"},
	"--model":         {"loggops", "loggps", "x"},
	"--delay":         {"0@0:1us", "1@1us:1ms", "99@0:1us", "0@0:9999999h", "x"},
	"--noise":         {"1000Hz:10us", "poisson:5kHz:exp:1us", "cnk", "none", "1000Hz:2ms", "x", "1Hz:0"},
	"--offsets":       {"independent", "node", "coscheduled", "x"},
	"--replicas":      {"1", "5", "0", "-1", "x", "9999999999"},
	"--bottleneck":    {"2", "x"},
	"--job-size":      {"4", "0", "x"},
	"--noise-ranks":   {"0", "0..1", "9", "-1", "x"},
	"--scale-network": {"10", "0.1", "0", "1e-30", "1e30", "x"},
	"--format":        {"text", "json", "csv", "x"},
	"-L":              {"0", "1us", "1h", "2", "9999999h"},
	"-o":              {"0", "1us", "0.5ns"},
	"-g":              {"0", "1us"},
	"-G":              {"0", "1ns", "0.001ns", "1h"},
	"-O":              {"0", "1ns"},
	"-S":              {"0", "1", "64KiB"},
	"--to":            {"goal", "slk", "dot", "bin", "x"},
	"--gamma":         {"0", "1ns", "x"},
	"--mapping":       append(collective.MappingNames(), "x", "."),
	"--machine":       append(machine.Names(), "x", "."),
}

// TestRandomCommandLines: whatever is typed, there is a result or a message,
// never both a failure and a result, and never an internal error.
func TestRandomCommandLines(t *testing.T) {
	needed.Full(t, "long runs")
	t.Chdir(t.TempDir())
	var flags, patterns, algorithms []string
	for f := range values {
		flags = append(flags, f)
	}
	slices.Sort(flags)
	for _, p := range pattern.List() {
		if p.Kind != pattern.Application { // they take long
			patterns = append(patterns, p.Name)
		}
	}
	for _, a := range collective.All() {
		algorithms = append(algorithms, a.Name)
	}
	values["--algorithm"] = append(algorithms, "x", "knomial:radix=3", "knomial:radix=0", "chain:segment=1B")
	flags = append(flags, "--algorithm")
	rapid.Check(t, func(t *rapid.T) {
		verb := rapid.SampledFrom([]string{"simulate", "simulate", "generate", "convert"}).Draw(t, "verb")
		args := []string{verb, rapid.SampledFrom(patterns).Draw(t, "pattern")}
		if rapid.IntRange(0, 9).Draw(t, "complete") > 0 {
			args = append(args, "--ranks", rapid.SampledFrom([]string{"2", "5", "8"}).Draw(t, "ranks"))
			if verb == "simulate" {
				args = append(args, "--machine", "chic")
			} else {
				args = append(args, "--to", "goal")
			}
		}
		for range rapid.IntRange(0, 4).Draw(t, "flags") {
			f := rapid.SampledFrom(flags).Draw(t, "flag")
			args = append(args, f, rapid.SampledFrom(values[f]).Draw(t, "value"))
		}
		code, stdout, stderr := clitest.Run("", args...)
		switch {
		case code != 0 && code != 1 && code != 2:
			t.Errorf("%q: exit code = %d", args, code)
		case strings.Contains(stderr, "internal error"):
			t.Errorf("%q: %s", args, stderr)
		case code == 0 && stdout == "":
			t.Errorf("%q: fine, but no result", args)
		case code != 0 && stdout != "":
			t.Errorf("%q: exit code %d, but a result: %s", args, code, stdout)
		case code != 0 && !strings.HasPrefix(lastMessage(stderr), "slackline: "):
			t.Errorf("%q: exit code %d, stderr = %q", args, code, stderr)
		}
	})
}

// lastMessage returns the last line of stderr that is not the hint at the help.
func lastMessage(stderr string) string {
	last := ""
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "slackline: ") {
			last = line
		}
	}
	return last
}
