package profile_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// Efficiencies by hand: 55 of 80 us are computed, 38 us at most on one rank.
func TestEfficiencies(t *testing.T) {
	for name, tc := range map[string]struct {
		flags         []string
		serialization float64
		transfer      float64
	}{
		"estimated": {nil, 1, 38.0 / 40}, // without the wait of the receive there is nothing to wait for
		"given":     {[]string{"--ideal", "39us"}, 38.0 / 39, 39.0 / 40},
	} {
		code, stdout, stderr := clitest.Run("", append([]string{"profile", clitest.LateSenderTrace(t), "--format", "json"}, tc.flags...)...)
		var d struct {
			Efficiency map[string]any `json:"efficiency"`
		}
		if err := json.Unmarshal([]byte(stdout), &d); err != nil || code != 0 {
			t.Fatalf("%s: exit code %d, %v\n%s", name, code, err, stderr)
		}
		for key, want := range map[string]float64{
			"parallel_efficiency": 55.0 / 80, "load_balance": 55.0 / 2 / 38, "communication_efficiency": 38.0 / 40,
			"serialisation_efficiency": tc.serialization, "transfer_efficiency": tc.transfer,
		} {
			if got, ok := d.Efficiency[key].(float64); !ok || math.Abs(got-want) > 1e-9 { // they are quotients
				t.Errorf("%s: %s = %v, want %g", name, key, d.Efficiency[key], want)
			}
		}
	}
}

func TestCSV(t *testing.T) {
	code, stdout, stderr := clitest.Run("", "profile", clitest.LateSenderTrace(t), "--format", "csv")
	if code != 0 {
		t.Fatal(stderr)
	}
	for _, want := range []string{
		"main,computation,2,0.000015,0.00008,0,0,0,0,0,,0\n", "main/compute,computation,2,0.00004,0.00004,",
		"main/MPI_Recv,mpi_point_to_point,1,0.000023,0.000023,0,0,1,8,",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no line starts with %q\n%s", want, stdout)
		}
	}
	_, stdout, _ = clitest.Run("", "profile", clitest.LateSenderTrace(t), "--format", "csv", "--by-rank")
	if !strings.Contains(stdout, "0.00003,0.00003,") ||
		!strings.Contains(stdout, "0.00001,0.00001,") {
		t.Errorf("by rank, the computation is not 30 and 10 us\n%s", stdout)
	}
	_, _, stderr = clitest.Run("", "profile", clitest.LateSenderTrace(t), "--by-rank")
	if !strings.Contains(stderr, "--by-rank has no influence on the text") {
		t.Errorf("--by-rank of the text: no warning\n%s", stderr)
	}
}

// All kinds of figures are drawn.
func TestFigures(t *testing.T) {
	input := clitest.LateSenderTrace(t)
	for _, kind := range []string{"matrix", "ranks"} {
		path := filepath.Join(t.TempDir(), kind+".svg")
		code, _, stderr := clitest.Run("", "profile", input, "--plot", path, "--plot-kind", kind)
		data, err := os.ReadFile(path)
		if code != 0 || err != nil || !strings.Contains(string(data), "<svg") || !strings.Contains(string(data), "</svg>") {
			t.Errorf("%s: exit code %d, %v, %d bytes\n%s", kind, code, err, len(data), stderr)
		}
	}
}

func TestMistakes(t *testing.T) {
	input := clitest.LateSenderTrace(t)
	for _, tc := range []struct {
		code int
		want string
		args []string
	}{
		{2, "needs INPUT", nil},
		{2, "--plot-kind", []string{input, "--plot-kind", "ranks"}},
		{2, "--plot", []string{input, "--plot", "x.txt"}},
		{2, "--ideal", []string{input, "--ideal", "soon"}},
		{2, "--top", []string{input, "--top", "-1"}},
		{1, "no such file", []string{filepath.Join(t.TempDir(), "none.slt")}},
	} {
		code, stdout, stderr := clitest.Run("", append([]string{"profile"}, tc.args...)...)
		if code != tc.code || stdout != "" || !strings.Contains(stderr, tc.want) {
			t.Errorf("%v: exit code %d, output %q; want %d and %q\n%s", tc.args, code, stdout, tc.code, tc.want, stderr)
		}
	}
}
