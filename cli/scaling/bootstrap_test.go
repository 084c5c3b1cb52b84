//go:build linux

package scaling_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
	"slackline/observe/mpi/mpitest"
)

// TestScalingBootstrap looks at what resampling adds to the outputs.
func TestScalingBootstrap(t *testing.T) {
	figure := filepath.Join(t.TempDir(), "model.svg")
	code, stdout, stderr := clitest.Run("", "scaling", clitest.ResampledData, "--bootstrap", "400", "--seed", "5", "--target", "4096",
		"--format", "json",
		"--only-path", "Reduce", "--plot", figure)
	if code != 0 || !strings.Contains(stderr, "400 resamples of each series with seed 5") {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	type interval struct{ Value, Low, High float64 }
	var got struct {
		Models []struct {
			Bootstrap struct {
				Resamples   int
				Drawn       string
				Same        float64 `json:"same_lead"`
				Leads       []struct{ Share float64 }
				LeadLow     map[string]map[string]string `json:"lead_low"`
				LeadHigh    map[string]map[string]string `json:"lead_high"`
				Coefficient interval
				Prediction  interval
			}
		}
		Provenance struct{ Seed uint64 }
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || len(got.Models) != 1 {
		t.Fatalf("%v: %s", err, stdout)
	}
	b := got.Models[0].Bootstrap
	if b.Resamples != 400 || b.Drawn != "repetitions" || b.Same < 0.5 || len(b.Leads) < 2 || b.Leads[0].Share != b.Same ||
		got.Provenance.Seed != 5 {
		t.Errorf("bootstrap = %+v, seed %d", b, got.Provenance.Seed)
	}
	if b.LeadLow["p"]["log"] != "1" || b.LeadHigh["p"]["log"] != "2" {
		t.Errorf("leads from %v to %v, want log p to log^2 p", b.LeadLow, b.LeadHigh)
	}
	for _, i := range []interval{b.Coefficient, b.Prediction} {
		if !(i.Low < i.Value && i.Value < i.High) {
			t.Errorf("interval %+v does not hold its value", i)
		}
	}
	if data, err := os.ReadFile(figure); err != nil || !strings.Contains(string(data), "95 % of the resamples") {
		t.Errorf("%v: the figure has no band of resamples", err)
	}
	code, stdout, stderr = clitest.Run("", "scaling", clitest.ResampledData, "--bootstrap", "400", "--seed", "5", "--target", "4096",
		"--format", "csv")
	if code != 0 || !strings.Contains(stdout, "same_lead,lead_low,lead_high,coefficient,coefficient_low,coefficient_high,predicted_low,"+
		"predicted_high,model\n") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	code, stdout, stderr = clitest.Run("", "scaling", "../../testdata/scaling/check/inconclusive-four-points.json", "--bootstrap", "100")
	if code != 0 || strings.Contains(stdout, "How sure it is") || !strings.Contains(stdout, "inconclusive") {
		t.Errorf("four points: exit code %d: %s%s", code, stdout, stderr)
	}
}

func TestBootstrapUsage(t *testing.T) {
	for args, want := range map[string]string{
		"scaling " + clitest.ResampledData + " --bootstrap 7":      "--bootstrap: 7 is not in 40 to 1000000",
		"scaling " + clitest.ResampledData + " --bootstrap 0":      "--bootstrap: 0 is not in 40 to 1000000",
		"scaling " + clitest.ResampledData + " --seed 7":           "--seed needs --bootstrap",
		"check mpi " + clitest.ResampledData + " --bootstrap 1e3":  "is not a whole number",
		"check mpi " + clitest.ResampledData + " --seed 7":         "--seed needs --bootstrap",
		"scaling " + clitest.ResampledData + " --bootstrap -1":     "--bootstrap: -1 is not in 40 to 1000000",
		"scaling " + clitest.ResampledData + " --bootstrap 100 -x": "unknown",
	} {
		if code, _, stderr := clitest.Run("", strings.Fields(args)...); code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %s; want 2, %s", args, code, stderr, want)
		}
	}
}

// TestCheckBootstrap: a verdict says how sure it is, and the exit code does not change.
func TestCheckBootstrap(t *testing.T) {
	const cases = "../../testdata/scaling/check/"
	code, stdout, stderr := clitest.Run("", "check", cases+"fail-linear-for-log.yaml", cases+"fail-linear-for-log.json", "--bootstrap", "100",
		"--format", "json")
	if code != 3 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var got struct {
		Checks []struct {
			Verdict   string
			Notes     []string
			Bootstrap struct {
				Resamples                int
				Same                     float64 `json:"same_verdict"`
				Pass, Inconclusive, Fail float64
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || len(got.Checks) != 2 {
		t.Fatalf("%v: %s", err, stdout)
	}
	for _, c := range got.Checks {
		b := c.Bootstrap
		share := map[string]float64{"pass": b.Pass, "fail": b.Fail}[c.Verdict]
		if b.Resamples != 100 || b.Same != share || share < 0.9 || len(c.Notes) != 1 ||
			!strings.HasSuffix(c.Notes[0], "% of 100 resamples come to the same verdict") {
			t.Errorf("%s: %+v, notes %q", c.Verdict, b, c.Notes)
		}
	}
}

// TestBootstrapInJob: the processes of a job come to the same result as one, whose threads do not matter.
func TestBootstrapInJob(t *testing.T) {
	args := strings.Fields("scaling ../../testdata/scaling/cases/k6-g05.json --bootstrap 120 --seed 3 --target 32 --format csv")
	_, want, stderr := clitest.Run("", args...)
	if !strings.Contains(want, "same_lead") {
		t.Fatal(stderr)
	}
	if _, one, _ := clitest.Run("", append(args, "--threads", "1")...); one != want {
		t.Error("one thread comes to another result")
	}
	for _, l := range mpitest.Libraries(t) {
		for _, size := range []int{1, 2, 4} {
			t.Run(fmt.Sprintf("%s/%d", mpitest.Name(l.Kind), size), func(t *testing.T) {
				j := clitest.NewJob(t, l, size, args...)
				if err := j.Start(); err != nil {
					t.Fatal(err)
				}
				if code := j.End(t); code != 0 || j.Out.String() != want || strings.Contains(j.Errors.String(), "cannot be shared") {
					t.Errorf("exit code %d, stdout:\n%s\nwant:\n%s\nstderr:\n%s", code, j.Out.String(), want, j.Errors.String())
				}
			})
		}
		j := clitest.NewJob(t, l, 2, "scaling", clitest.ResampledData)
		if err := j.Start(); err != nil {
			t.Fatal(err)
		}
		if code := j.End(t); code != 0 || !strings.Contains(j.Errors.String(), "scaling without --bootstrap cannot be shared") {
			t.Errorf("%s: exit code %d: %s", l, code, j.Errors.String())
		}
	}
}
