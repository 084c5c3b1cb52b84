package measure_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// TestMeasureSchemes holds the example of the paper, as a user sees it, in all forms.
func TestMeasureSchemes(t *testing.T) {
	figure := filepath.Join(t.TempDir(), "schemes.svg")
	args := []string{"measure", "schemes", "--operation", "bcast", "--algorithm", "linear", "--ranks", "4,8", "--loop", "3", "--size", "1",
		"-L", "10us", "-o", "0", "-g", "1us", "-G", "0", "--quiet"}
	code, out, stderr := clitest.Run("", append(args, "--format", "json", "--plot", figure)...)
	if code != 0 {
		t.Fatal(stderr)
	}
	var result struct {
		Results []struct {
			Ranks   int     `json:"ranks"`
			True    float64 `json:"true_ns"`
			Schemes []struct {
				Scheme string  `json:"scheme"`
				Bias   float64 `json:"bias_ns"`
				Max    float64 `json:"max_ns"`
				Clock  float64 `json:"clock_error_ns"`
			} `json:"schemes"`
		} `json:"results"`
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		t.Fatal(err)
	}
	if len(result.Results) != 2 || result.Results[0].True != 12000 {
		t.Fatalf("%+v", result)
	}
	for _, s := range result.Results[0].Schemes {
		switch s.Scheme {
		case "round-time", "skampi":
			if s.Clock <= 0 || math.Abs(s.Bias) > 2*s.Clock {
				t.Errorf("%+v", s)
			}
		case "mpbench":
			if s.Max != 6000 || math.Abs(s.Bias-(8000/3.0-12000)) > 0.01 {
				t.Errorf("%+v", s)
			}
		}
	}
	if picture, err := os.ReadFile(figure); err != nil || !strings.Contains(string(picture), "mpptest") {
		t.Errorf("%v", err)
	}
	for _, format := range []string{"text", "csv"} {
		code, again, stderr := clitest.Run("", append(args, "--format", format)...)
		if code != 0 || strings.Count(again, "skampi") != 2 {
			t.Errorf("%s: %s%s", format, again, stderr)
		}
	}
	for _, bad := range [][]string{{"--operation", "allreduc"}, {"--loop", "0"}, {"--drift", "-1"}, {"--ranks", "0"}, {"--plot", "x.gif"}} {
		if code, _, _ := clitest.Run("", append(args, bad...)...); code == 0 {
			t.Errorf("%v was accepted", bad)
		}
	}
}
