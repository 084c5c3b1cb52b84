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

// planted is a program in which rank 2 is late in a function that is called planted.
type planted struct {
	program, argument string
	metric            string
	waits, cost       float64 // at that metric, of that function: seconds
}

// plantedCauses are the programs: those that take an argument plant 5 x 30 ms at a place that it names.
var plantedCauses = []planted{
	{"late", "", "nxn", 0.6, 0.6}, {"chain", "", "late_sender", 0.45, 0.45}, {"serial", "", "late_broadcast", 0.6, 0.6},
	{"order", "", "late_sender_wrong_order", 0.2, 0.6}, // and 0.4 s at the barrier after it
	{"windows", "fence", "fence", 0.45, 0.45}, {"windows", "create", "win_create", 0.45, 0.45}, {"windows", "post", "late_post", 0.45, 0.45},
	{"windows", "complete", "early_wait", 0.15, 0.45}, {"windows", "lock", "lock_contention", 0.25, 0.375},
	{"files", "write", "collective_io", 0.45, 0.45},
	{"probes", "iprobe", "late_sender", 0.45, 0.45}, {"probes", "mprobe", "late_sender", 0.45, 0.45},
}

// TestPlantedCauses records programs with a planted cause under both MPIs: its function and rank must come first in the ranking, with at
// least half of its cost, a quarter where it is planted in shorter pieces.
func TestPlantedCauses(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		binaries := map[string]string{}
		for _, p := range plantedCauses {
			if binaries[p.program] == "" {
				binaries[p.program] = mpitest.Build(t, l, filepath.Join("../testdata/waits/planted", p.program+".c"), "-g", "-finstrument-functions")
			}
			t.Run(strings.TrimSuffix(p.program+"-"+p.argument, "-"), func(t *testing.T) { checkPlanted(t, l, binaries[p.program], p) })
		}
	})
}

// checkPlanted records a program and analyses it, again if other processes of this machine held up ranks for longer than
// what is planted.
func checkPlanted(t *testing.T, l *mpi.Library, binary string, p planted) {
	least := 0.5
	if p.argument == "" {
		least = 0.25
	}
	for try := 0; ; try++ {
		wrong := findPlanted(t, l, binary, p, least, 0)
		if wrong == "" {
			return
		}
		if t.Log(wrong); try == 8 {
			t.Fatal("the planted cause was not found in any of nine runs")
		}
	}
}

// findPlanted records a program once and says what is wrong with the analysis: the waits and the cost should be at least a part of what
// is planted, and the cost at most a multiple of it if most is not 0.
func findPlanted(t *testing.T, l *mpi.Library, binary string, p planted, least, most float64) (wrong string) {
	out := filepath.Join(t.TempDir(), "run.slt")
	command := append(mpitest.Launch(l, 4), binary, p.argument, filepath.Join(t.TempDir(), "data"))
	if code, _, stderr := clitest.Run("", append([]string{"record", "--out", out, "--"}, command...)...); code != 0 {
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
	waits, any := 0.0, false
	for _, w := range got.Waits {
		if w.Metric == p.metric {
			waits, any = waits+w.Seconds, true
		}
	}
	if !any {
		return "nobody waits in " + p.metric
	}
	cost := got.Ranking[0].Cost
	if waits < least*p.waits || cost < least*p.cost || most > 0 && cost > most*p.cost {
		return fmt.Sprintf("%s %.3f s, cost %.3f s, want about %.3f s and %.3f s", p.metric, waits, cost, p.waits, p.cost)
	}
	return ""
}
