package cli_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestPlantedCauses records programs in which rank 2 is late in a function that is called planted, under both MPIs:
// that function and rank must come first in the ranking.
func TestPlantedCauses(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		for program, metric := range map[string]string{"late": "nxn", "chain": "late_sender", "serial": "late_broadcast", "order": "late_sender_wrong_order"} {
			t.Run(program, func(t *testing.T) { checkPlanted(t, l, program, metric) })
		}
	})
}

// checkPlanted records a program and analyses it, again if other processes of this machine held up ranks for longer than
// what is planted.
func checkPlanted(t *testing.T, l *mpi.Library, program, metric string) {
	binary := mpitest.Build(t, l, filepath.Join("../testdata/waits/planted", program+".c"), "-g", "-finstrument-functions")
	for try := 0; ; try++ {
		wrong := findPlanted(t, l, binary, metric)
		if wrong == "" {
			return
		}
		if t.Log(wrong); try == 2 {
			t.Fatal("the planted cause was not found in any of three runs")
		}
	}
}

// findPlanted records a program once and says what is wrong with the analysis.
func findPlanted(t *testing.T, l *mpi.Library, binary, metric string) (wrong string) {
	out := filepath.Join(t.TempDir(), "run.slt")
	if code, _, stderr := clitest.Run("", "record", "--out", out, "--", l.Launcher, "-n", "4", binary); code != 0 {
		t.Fatalf("record: exit code %d\n%s", code, stderr)
	}
	code, stdout, stderr := clitest.Run("", "waits", out, "--format", "json")
	if code != 0 {
		t.Fatalf("waits: exit code %d\n%s", code, stderr)
	}
	var got struct {
		Waits []struct {
			Metric  string  `json:"metric"`
			Seconds float64 `json:"seconds"`
		} `json:"waits"`
		Ranking []struct {
			Rank     int     `json:"rank"`
			CallPath string  `json:"callpath"`
			Cost     float64 `json:"cost_s"`
		} `json:"ranking"`
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Ranking) == 0 {
		return "nobody waits"
	}
	if first := got.Ranking[0]; first.Rank != 2 || !strings.HasSuffix(first.CallPath, "main/planted") {
		return fmt.Sprintf("first in the ranking is %s on rank %d (%.3f s), want main/planted on rank 2", first.CallPath, first.Rank, first.Cost)
	}
	for _, w := range got.Waits {
		if w.Metric == metric {
			return ""
		}
	}
	return "nobody waits in " + metric
}
