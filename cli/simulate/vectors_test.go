package simulate_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

const reference = "../../testdata/loggops"

// finishOf runs slackline simulate and returns finish_ns as it is printed.
func finishOf(t *testing.T, args ...string) []json.Number {
	t.Helper()
	code, stdout, stderr := clitest.Run("", append([]string{"simulate"}, args...)...)
	if code != 0 {
		t.Fatalf("%v: exit code %d\n%s", args, code, stderr)
	}
	var got struct {
		Finish   []json.Number `json:"finish_ns"`
		Makespan json.Number   `json:"makespan_ns"`
		Messages *int64        `json:"messages"`
		Ops      *int64        `json:"ops"`
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, stdout)
	}
	if got.Messages == nil || got.Ops == nil || !slices.Contains(got.Finish, got.Makespan) {
		t.Errorf("%v: messages, ops or makespan_ns are missing or wrong:\n%s", args, stdout)
	}
	return got.Finish
}

func numbers(want []int64) []json.Number {
	list := make([]json.Number, len(want))
	for i, v := range want {
		list[i] = json.Number(fmt.Sprint(v))
	}
	return list
}

func TestReferenceVectors(t *testing.T) {
	var raw, cpuClock []map[string]json.RawMessage
	clitest.ReadJSON(t, reference+"/vectors/vectors.json", &raw)
	clitest.ReadJSON(t, reference+"/vectors/vectors-noise-clock.json", &cpuClock)
	raw = append(raw, cpuClock...)
	ran := 0
	for _, c := range raw {
		value := func(key string) string { return strings.Trim(string(c[key]), `"`) }
		ran++
		var want []int64
		if err := json.Unmarshal(c["want_ns"], &want); err != nil {
			t.Fatal(err)
		}
		args := []string{
			filepath.Join(reference, "vectors", value("file")), "--model", value("model"),
			"-L", value("L") + "ns", "-o", value("o") + "ns", "-g", value("g") + "ns",
			"-G", value("G") + "ns", "-O", value("O") + "ns", "-S", value("S"), "--format", "json",
		}
		if clock := value("noise_clock"); clock != "" {
			args = append(args, "--noise-clock", clock)
		}
		t.Run(value("file"), func(t *testing.T) {
			args := append(slices.Clone(args), noiseArgs(t, c["noise"])...)
			if got := finishOf(t, args...); !slices.Equal(got, numbers(want)) {
				t.Errorf("finish_ns = %v, want %v (%s)", got, want, value("rule"))
			}
		})
	}
	if ran < 163+30 {
		t.Errorf("only %d vectors were tried", ran)
	}
}

// noiseArgs writes the noise of a vector into files and returns the flags that
// name them.
func noiseArgs(t *testing.T, raw json.RawMessage) []string {
	if string(raw) == "null" {
		return nil
	}
	var noise struct {
		Trace   [][2]int64 `json:"trace"`
		Period  int64      `json:"period_ns"`
		Offsets []int64    `json:"offsets_ns"`
	}
	if err := json.Unmarshal(raw, &noise); err != nil {
		t.Fatal(err)
	}
	trace := fmt.Sprintf("# period_ns %d\n", noise.Period)
	for _, d := range noise.Trace {
		trace += fmt.Sprintf("%d\t%d\n", d[0], d[1])
	}
	offsets := ""
	for _, o := range noise.Offsets {
		offsets += fmt.Sprintf("%d\n", o)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"trace": trace, "offsets": offsets} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"--noise-file", filepath.Join(dir, "trace"), "--noise-offsets", filepath.Join(dir, "offsets")}
}

func TestReferenceVectorsWithClasses(t *testing.T) {
	var cases []struct {
		File    string  `json:"file"`
		Machine string  `json:"machine"`
		Want    []int64 `json:"want_ns"`
	}
	dir := reference + "/vectors-classes"
	clitest.ReadJSON(t, dir+"/index.json", &cases)
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		t.Run(c.File+" on "+c.Machine, func(t *testing.T) {
			got := finishOf(t, filepath.Join(dir, c.File), "--machine", filepath.Join(dir, c.Machine), "--format", "json")
			if !slices.Equal(got, numbers(c.Want)) {
				t.Errorf("finish_ns = %v, want %v", got, c.Want)
			}
		})
	}
}

// TestNoiseAtScale compares a noisy dissemination with figures that an independent
// program found by the same rules: one detour per millisecond, rank r at offset
// (r * 617293) mod 1000000 ns.
func TestNoiseAtScale(t *testing.T) {
	for _, tc := range []struct {
		ranks                           int
		detour                          string
		latest, at, earliest, sumOfThem int64
	}{
		{1024, "100us", 432170, 808, 213947, 318067688},
		{1024, "200us", 852550, 822, 422351, 592514482},
		{32768, "100us", 591704, 27054, 402843, 15727794180},
		{32768, "200us", 1161928, 1580, 792247, 29927277406},
	} {
		t.Run(fmt.Sprintf("ranks=%d/detour=%s", tc.ranks, tc.detour), func(t *testing.T) {
			var offsets []byte
			for r := range tc.ranks {
				offsets = fmt.Appendln(offsets, r*617293%1000000)
			}
			path := filepath.Join(t.TempDir(), "offsets")
			if err := os.WriteFile(path, offsets, 0o666); err != nil {
				t.Fatal(err)
			}
			finish := finishOf(t, "dissemination", "--ranks", fmt.Sprint(tc.ranks), "--size", "1B", "--machine", "cnl",
				"--noise", "1000Hz:"+tc.detour, "--noise-offsets", path, "--format", "json")
			latest, at, earliest, sum := int64(-1), 0, int64(1<<62), int64(0)
			for r, n := range finish {
				v, err := n.Int64()
				if err != nil {
					t.Fatal(err)
				}
				if v > latest {
					latest, at = v, r
				}
				earliest = min(earliest, v)
				sum += v
			}
			if latest != tc.latest || int64(at) != tc.at || earliest != tc.earliest || sum != tc.sumOfThem {
				t.Errorf("latest %d at rank %d, earliest %d, sum %d; want %d, %d, %d, %d",
					latest, at, earliest, sum, tc.latest, tc.at, tc.earliest, tc.sumOfThem)
			}
		})
	}
}

// errorWords are what the message about each faulty file must contain, beside
// its line where errors.json names one.
var errorWords = map[string][]string{
	"cycle.goal":               {"rank 0", "a", "b", "c"},
	"self-cycle.goal":          {"rank 0"},
	"unmatched-send.goal":      {"rank 0", "rank 1", "tag 1"},
	"unmatched-recv.goal":      {"rank 0", "rank 1", "tag 1"},
	"deadlock.goal":            {"rank 0", "rank 1"},
	"deadlock-rendezvous.goal": {"rank 0", "rank 1"},
	"bad-peer.goal":            {"rank 2"},
	"bad-peer-negative.goal":   {"-1"},
	"bad-rank.goal":            {"7", "2"},
	"rank-twice.goal":          {"rank 0"},
	"label-undefined.goal":     {"b", "rank 0"},
	"label-twice.goal":         {"a", "rank 0"},
	"size-overflow.goal":       {"63 bits"},
	"calc-overflow.goal":       {"63 bits"},
	"size-negative.goal":       {"-"},
	"cpu-overflow.goal":        {"cpu", "255"},
	"field-order.goal":         {"tag", "cpu"},
	"truncated.goal":           {"end"},
	"no-num-ranks.goal":        {"num_ranks"},
	"unit-missing.goal":        {"b"},
	"garbage.goal":             {"neither a recorded run nor a schedule"},
	"empty.goal":               {"empty"},
	"truncated.bin":            {"truncated.bin"},
	"jump-table.bin":           {"rank 0"},
	"invalidated.bin":          {"2342"},
}

func TestFaultyFiles(t *testing.T) {
	var cases []struct{ File, Stage, What string }
	clitest.ReadJSON(t, reference+"/errors/errors.json", &cases)
	line := regexp.MustCompile(`line (\d+)`)
	for _, c := range cases {
		t.Run(c.File, func(t *testing.T) {
			path := filepath.Join(reference, "errors", c.File)
			code, stdout, stderr := clitest.Run("", "simulate", path, "-L", "2500ns", "-o", "1500ns", "-g", "1us",
				"-G", "6ns", "-O", "0", "-S", "65535", "--format", "json")
			if code != 1 || stdout != "" {
				t.Errorf("exit code = %d, stdout = %q; want 1 and nothing", code, stdout)
			}
			words, known := errorWords[c.File]
			if !known {
				t.Errorf("errorWords has no entry for %s: %s", c.File, c.What)
			}
			words = append(slices.Clone(words), c.File)
			if m := line.FindStringSubmatch(c.What); m != nil {
				words = append(words, c.File+":"+m[1]+":")
			}
			for _, w := range words {
				if !strings.Contains(stderr, w) {
					t.Errorf("stderr = %q, want it to contain %q (%s)", stderr, w, c.What)
				}
			}
			if strings.Count(stderr, "\n") > 12 {
				t.Errorf("the message has %d lines", strings.Count(stderr, "\n"))
			}
		})
	}
}
