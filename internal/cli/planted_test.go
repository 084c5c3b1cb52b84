package cli_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

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

// checkPlanted records a program and analyses it.
func checkPlanted(t *testing.T, l *mpi.Library, program, metric string) {
	out := filepath.Join(t.TempDir(), "run.slt")
	binary := mpitest.Build(t, l, filepath.Join("../../testdata/waits/planted", program+".c"), "-g", "-finstrument-functions")
	if code, _, stderr := slackline("", "record", "--out", out, "--", l.Launcher, "-n", "4", binary); code != 0 {
		t.Fatalf("record: exit code %d\n%s", code, stderr)
	}
	code, stdout, stderr := slackline("", "waits", out, "--format", "json")
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
		t.Fatal("nobody waits")
	}
	if first := got.Ranking[0]; first.Rank != 2 || !strings.HasSuffix(first.CallPath, "main/planted") {
		t.Errorf("first in the ranking is %s on rank %d (%.3f s), want main/planted on rank 2", first.CallPath, first.Rank, first.Cost)
	}
	found := false
	for _, w := range got.Waits {
		found = found || w.Metric == metric
	}
	if !found {
		t.Errorf("nobody waits in %s", metric)
	}
}
