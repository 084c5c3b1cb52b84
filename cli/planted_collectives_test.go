package cli_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli/clitest"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// A lateCase is a part of testdata/waits/planted/collectives.c: who is late in its planted(), and who waits for that.
type lateCase struct {
	name, metric, in string // the function of the program, the kind of wait, the call
	rank, waiting    int    // the late rank, how many wait for it there
}

// lateSeconds is how late the ranks are.
const lateSeconds = 0.1

var lateCases = []lateCase{
	{"reduce", "late_contributor", "MPI_Reduce", 2, 1}, {"gather", "late_contributor", "MPI_Gather", 1, 1},
	{"alltoallv", "nxn", "MPI_Alltoallv", 3, 1}, {"ialltoallw", "nxn", "MPI_Wait", 3, 1},
	{"line", "late_neighbor", "MPI_Neighbor_alltoall", 1, 2}, {"graph", "late_neighbor", "MPI_Wait", 3, 1},
	{"split", "comm_create", "MPI_Comm_split", 2, 3}, {"create_group", "comm_create", "MPI_Comm_create_group", 2, 2},
	{"idup", "comm_create", "MPI_Wait", 1, 3}, {"intercomm", "late_contributor", "MPI_Reduce", 3, 1},
	{"interbarrier", "barrier", "MPI_Barrier", 0, 2}, {"intercreate", "comm_create", "MPI_Intercomm_create", 2, 3},
}

// lateCases4 are those of MPI-4.
var lateCases4 = []lateCase{
	{"partitioned", "late_sender", "MPI_Wait", 0, 1}, {"persistent", "nxn", "MPI_Wait", 3, 1},
	{"persistent_neighbors", "late_neighbor", "MPI_Wait", 1, 2}, {"isendrecv", "late_sender", "MPI_Wait", 0, 1},
}

// plantedResult is what is read of the output of waits.
type plantedResult struct {
	Waits []struct {
		Metric   string  `json:"metric"`
		CallPath string  `json:"callpath"`
		Seconds  float64 `json:"seconds"`
	} `json:"waits"`
	Ranking []struct {
		Rank     int     `json:"rank"`
		CallPath string  `json:"callpath"`
		Cost     float64 `json:"cost_s"`
	} `json:"ranking"`
}

// TestPlantedCollectives wants every planted cause to be found, with the kind of wait that it makes and at least half of its cost.
func TestPlantedCollectives(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) { checkLateCases(t, l, 0.5, 0) })
}

// checkLateCases records the program, again if other processes of this machine held up its ranks. What is found must be at least a part of
// what is planted, and at most a multiple if most is not 0.
func checkLateCases(t *testing.T, l *mpi.Library, least, most float64) {
	t.Helper()
	binary := mpitest.Build(t, l, "../testdata/waits/planted/collectives.c", "-g", "-O1")
	for try := 0; ; try++ {
		wrong := findLateCases(t, l, binary, least, most)
		if wrong == "" {
			return
		}
		if t.Log(wrong); try == 2 {
			t.Fatal("not all planted causes were found in any of three runs")
		}
	}
}

func findLateCases(t *testing.T, l *mpi.Library, binary string, least, most float64) (wrong string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "run.slt")
	command := append([]string{"record", "--yield", "on", "--out", out, "--"}, append(mpitest.Launch(l, 4), binary)...)
	if code, _, stderr := clitest.Run("", command...); code != 0 {
		t.Fatalf("record: exit code %d\n%s", code, stderr)
	}
	code, stdout, stderr := clitest.Run("", "waits", out, "--format", "json")
	if code != 0 {
		t.Fatalf("waits: exit code %d\n%s", code, stderr)
	}
	var got plantedResult
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	cases := lateCases
	if strings.Contains(l.String(), "MPICH") {
		cases = append(cases[:len(cases):len(cases)], lateCases4...)
	}
	for _, c := range cases {
		first := -1 // of what the case did; a busy machine may have taken more
		for i, r := range got.Ranking {
			if strings.HasPrefix(r.CallPath, "main/"+c.name+"/") && !strings.HasSuffix(r.CallPath, "/no CPU") {
				first = i
				break
			}
		}
		if first < 0 || !strings.HasSuffix(got.Ranking[first].CallPath, "/planted") || got.Ranking[first].Rank != c.rank {
			return fmt.Sprintf("%s: the first in the ranking is not planted on rank %d", c.name, c.rank)
		}
		waits := 0.0
		for _, w := range got.Waits {
			if w.Metric == c.metric && w.CallPath == "main/"+c.name+"/"+c.in {
				waits += w.Seconds
			}
		}
		// The barrier behind it makes the others wait, too, unless the library had them wait in the call.
		want, cost := lateSeconds*float64(c.waiting), got.Ranking[first].Cost
		if waits < least*want || cost < least*want || most > 0 && (waits > most*want || cost > most*3*lateSeconds) {
			return fmt.Sprintf("%s: %.3f s of %s and a cost of %.3f s, want %.3f s and up to %.3f s",
				c.name, waits, c.metric, cost, want, 3*lateSeconds)
		}
	}
	return ""
}

// TestPlantedSpawn wants a started process that is late to be found, and one that is late to connect.
func TestPlantedSpawn(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		binary := mpitest.Build(t, l, "../testdata/waits/planted/spawn.c", "-g", "-O1")
		for _, c := range []struct {
			ranks        int
			argument, in string
		}{{2, "", "MPI_Intercomm_merge"}, {4, "port", "MPI_Comm_accept"}} {
			command := append(mpitest.Launch(l, c.ranks), binary, c.argument)
			if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
				t.Logf("this %s cannot: %v\n%s", l, err, out) // Debian's MPICH cannot start processes
				continue
			}
			out := filepath.Join(t.TempDir(), "run.slt")
			if code, _, stderr := clitest.Run("", append([]string{"record", "--yield", "on", "--out", out, "--"}, command...)...); code != 0 {
				t.Fatalf("record: exit code %d\n%s", code, stderr)
			}
			code, stdout, stderr := clitest.Run("", "waits", out, "--format", "json")
			if code != 0 {
				t.Fatalf("waits: exit code %d\n%s", code, stderr)
			}
			var got plantedResult
			if err := json.Unmarshal([]byte(stdout), &got); err != nil {
				t.Fatal(err)
			}
			waits, cost := 0.0, 0.0
			for _, w := range got.Waits {
				if w.Metric == "comm_create" && strings.HasSuffix(w.CallPath, c.in) {
					waits += w.Seconds
				}
			}
			for _, r := range got.Ranking {
				if strings.HasSuffix(r.CallPath, "/planted") && r.Rank == 2 {
					cost += r.Cost
				}
			}
			if waits < lateSeconds || cost < lateSeconds {
				t.Errorf("%s: %.3f s of comm_create, cost of planted on rank 2 %.3f s, want at least %.1f s of both\n%s",
					c.in, waits, cost, lateSeconds, stdout)
			}
		}
	})
}
