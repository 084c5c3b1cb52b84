package scaling_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"slackline/cli/clitest"
)

// extreme draws numbers as nobody measures them, and some as everybody does.
var extreme = rapid.OneOf(
	rapid.SampledFrom([]float64{1e308, math.MaxFloat64, 1e-320, math.SmallestNonzeroFloat64, 2.3e-308, 1, 0, -1, 1e16, 1 + 1e-16, 1e154,
		1e-154, 1e302, 1e301, 1e-300}),
	rapid.Float64(), rapid.Float64Range(1e-3, 1e6), rapid.Float64Range(1e290, 1e302), rapid.Float64Range(1e-305, 1e-295),
)

// notANumber finds what must not be printed as a result.
var notANumber = regexp.MustCompile(`(?i)[-+ :\["]?\b(NaN|Inf(inity)?)\b`)

// TestScalingOfExtremes models any finite numbers: there is a model or a reason why not, and never a panic.
func TestScalingOfExtremes(t *testing.T) {
	modelled := 0
	file := filepath.Join(t.TempDir(), "data.json")
	rapid.Check(t, func(t *rapid.T) {
		parameters := []string{"p", "q"}[:rapid.IntRange(1, 2).Draw(t, "parameters")]
		coordinate := rapid.OneOf(rapid.Float64Range(1, 4096), rapid.SampledFrom([]float64{1, 2, 4, 8, 16, 32, 1e18, 1e-15}), extreme)
		var points []any
		same := rapid.Bool().Draw(t, "same")
		value := rapid.SliceOfN(extreme, 1, 3)
		first := value.Draw(t, "first")
		for i := range rapid.IntRange(1, 12).Draw(t, "points") {
			at := []float64{}
			for range parameters {
				at = append(at, coordinate.Draw(t, fmt.Sprintf("at %d", i)))
			}
			values := first
			if !same {
				values = value.Draw(t, fmt.Sprintf("value %d", i))
			}
			points = append(points, map[string]any{"at": at, "values": values})
		}
		data, err := json.Marshal(map[string]any{"slackline_dataset": 1, "parameters": parameters,
			"series": []any{map[string]any{"callpath": "f", "metric": "time", "points": points}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
		args := []string{"scaling", file, "--format", rapid.SampledFrom([]string{"text", "json", "csv"}).Draw(t, "format")}
		if rapid.Bool().Draw(t, "more") {
			args = append(args, "--target", fmt.Sprint(math.Abs(coordinate.Draw(t, "target"))), "--max",
				fmt.Sprint(math.Abs(extreme.Draw(t, "max"))))
		}
		if len(parameters) == 1 && rapid.IntRange(0, 3).Draw(t, "method") == 0 {
			args = append(args, "--method", "paper")
		}
		if rapid.IntRange(0, 3).Draw(t, "bootstrap") == 0 {
			args = append(args, "--bootstrap", "20")
		}
		if rapid.IntRange(0, 3).Draw(t, "suggest") == 0 {
			args = append(args, "--suggest")
		}
		code, stdout, stderr := clitest.Run("", args...)
		switch {
		case code != 0 && code != 1 && code != 2 && code != 4:
			t.Errorf("%q: exit code = %d: %s", args, code, stderr)
		case strings.Contains(stderr, "internal error"):
			t.Errorf("%q on %s: %s", args, data, stderr)
		case notANumber.MatchString(stdout):
			t.Errorf("%q on %s prints %q:\n%s", args, data, notANumber.FindString(stdout), stdout)
		case code == 1 && stdout != "":
			t.Errorf("%q: exit code %d, but a result: %s", args, code, stdout)
		case code == 0:
			modelled++
		}
	})
	if modelled == 0 && !testing.Short() { // a fifth of the tries may find none
		t.Error("nothing was modelled: the data are wrong")
	}
}
