package measure_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slackline/cli/clitest"
)

// finishes simulates and returns when each rank ends, in ns.
func finishes(t *testing.T, args ...string) []float64 {
	t.Helper()
	code, out, stderr := clitest.Run("", append([]string{"simulate"}, append(args, "--format", "json", "--quiet")...)...)
	if code != 0 {
		t.Fatalf("%v: %s", args, stderr)
	}
	var result struct {
		Finish []float64 `json:"finish_ns"`
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		t.Fatal(err)
	}
	return result.Finish
}

func latest(list []float64) float64 { return slices.Max(list) }

// TestLoopsOfBroadcasts is the example of Hoefler, Schneider and Lumsdaine: a linear broadcast on four processes takes L + 2g, but
// (8g + L)/3 of each of three in a row, and what the root sees contains no L.
func TestLoopsOfBroadcasts(t *testing.T) {
	const latency, gap = 10_000.0, 1_000.0
	for _, ranks := range []int{2, 4, 16} {
		for _, loop := range []int{1, 3, 100} {
			ends := finishes(t, "bcast", "--algorithm", "linear", "--size", "1", "--ranks", fmt.Sprint(ranks), "--iterations", fmt.Sprint(loop),
				"-L", "10us", "-g", "1us", "-o", "0", "-G", "0")
			n, p := float64(loop), float64(ranks)
			if got, want := latest(ends), (n*(p-1)-1)*gap+latency; got != want {
				t.Errorf("%d ranks, %d in a row: the last ends at %g, not at %g ns", ranks, loop, got, want)
			}
			if want := (n*(p-1) - 1) * gap; ends[0] != want {
				t.Errorf("%d ranks, %d in a row: the root ends at %g, not at %g ns", ranks, loop, ends[0], want)
			}
			if ranks == 4 && loop == 1 && latest(ends) != latency+2*gap || ranks == 4 && loop == 3 && latest(ends)/3 != (8*gap+latency)/3 {
				t.Errorf("the example of the paper gives %g", latest(ends)/n)
			}
			single := (p-2)*gap + latency
			if bias, want := latest(ends)/n-single, (1-1/n)*(gap-latency); bias-want > 1e-6 || want-bias > 1e-6 {
				t.Errorf("%d ranks, %d in a row: bias %g, not %g ns", ranks, loop, bias, want)
			}
		}
	}
}

// broadcastSchedule is a schedule of four ranks: each computes for a time, then they may pass a linear barrier (all send to
// rank 0, which answers them one after the other), then rank 0 broadcasts to one after the other.
func broadcastSchedule(late [4]int, barrier, broadcast bool) string {
	var b strings.Builder
	b.WriteString("num_ranks 4\n")
	for r := range 4 {
		var ops []string
		add := func(format string, args ...any) { ops = append(ops, fmt.Sprintf(format, args...)) }
		add("calc %d", late[r])
		for other := 1; barrier && other < 4; other++ {
			if r == 0 {
				add("recv 1b from %d tag 1", other)
			}
		}
		if barrier && r > 0 {
			add("send 1b to 0 tag 1")
		}
		for tag, wanted := range []bool{2: barrier, 3: broadcast} {
			for other := 1; wanted && other < 4; other++ {
				if r == 0 {
					add("send 1b to %d tag %d", other, tag)
				} else if r == other {
					add("recv 1b from 0 tag %d", tag)
				}
			}
		}
		fmt.Fprintf(&b, "rank %d {\n", r)
		for i, op := range ops {
			fmt.Fprintf(&b, "l%d: %s\n", i, op)
			if i > 0 {
				fmt.Fprintf(&b, "l%d requires l%d\n", i, i-1)
			}
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func simulatedSchedule(t *testing.T, goal string) []float64 {
	t.Helper()
	path := filepath.Join(t.TempDir(), "schedule.goal")
	if err := os.WriteFile(path, []byte(goal), 0o666); err != nil {
		t.Fatal(err)
	}
	return finishes(t, path, "-L", "10us", "-g", "1us", "-o", "0", "-G", "0")
}

// TestProcessSkew is figure 2 of the same paper: a root that is late makes every other rank seem slow by as much, another
// rank that is late seems faster, by no more than it would have waited.
func TestProcessSkew(t *testing.T) {
	single := simulatedSchedule(t, broadcastSchedule([4]int{}, false, true))
	for _, skew := range []int{500, 4_000, 40_000} {
		root := simulatedSchedule(t, broadcastSchedule([4]int{skew, 0, 0, 0}, false, true))
		for r := 1; r < 4; r++ {
			if root[r] != single[r]+float64(skew) {
				t.Errorf("the root is %d ns late: rank %d measures %g, not %g", skew, r, root[r], single[r]+float64(skew))
			}
			var late [4]int
			late[r] = skew
			own := simulatedSchedule(t, broadcastSchedule(late, false, true))[r] - float64(skew)
			if want := max(single[r]-float64(skew), 0); own != want {
				t.Errorf("rank %d is %d ns late and measures %g, not %g", r, skew, own, want)
			}
		}
	}
}

// TestBarrierSkew is figure 3: ranks leave a linear barrier one after the other, so what they measure from there on is wrong by
// up to the difference of their exits, and by the gap after the last message of the barrier.
func TestBarrierSkew(t *testing.T) {
	const gap = 1_000.0
	single := latest(simulatedSchedule(t, broadcastSchedule([4]int{}, false, true)))
	for _, late := range [][4]int{{}, {5_000, 0, 0, 0}, {0, 0, 700, 20_000}} {
		exits := simulatedSchedule(t, broadcastSchedule(late, true, false))
		ends := simulatedSchedule(t, broadcastSchedule(late, true, true))
		spread, longest := latest(exits)-slices.Min(exits), 0.0
		for r := range ends {
			longest = max(longest, ends[r]-exits[r])
		}
		bias := longest - single
		if spread < 10_000 || bias < -spread || bias > spread+gap || bias == 0 {
			t.Errorf("late %v: exits %v, bias %g ns", late, exits, bias)
		}
	}
}

// launchesJSON is a result of measure collectives with the given medians of launches, in ns.
func launchesJSON(t *testing.T, dir, name string, bcast, scan []int) string {
	t.Helper()
	point := func(operation string, medians []int) string {
		list, _ := json.Marshal(medians)
		return fmt.Sprintf(`{"scheme":"round-time","operation":%q,"ranks":2,"size":8,"reductions":{"max":{"launch_medians_ns":%s}}}`,
			operation, list)
	}
	points := point("MPI_Bcast", bcast)
	if scan != nil {
		points += "," + point("MPI_Scan", scan)
	}
	path := filepath.Join(dir, name)
	text := `{"slackline_dataset":1,"parameters":["p"],"series":[],"points":[` + points + `]}`
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCompareLaunches compares two measurements launch by launch: a difference that chance does not make counts, and what only one of
// them has is reported.
func TestCompareLaunches(t *testing.T) {
	dir := t.TempDir()
	before := launchesJSON(t, dir, "a.json", []int{100, 101, 102, 103, 104}, []int{50, 51, 52, 53, 54})
	slower := launchesJSON(t, dir, "b.json", []int{120, 121, 122, 123, 124}, nil)
	code, out, stderr := clitest.Run("", "compare", before, slower, "--fail-if", "time@MPI_Bcast p=2 size=8>10%", "--format", "csv")
	if code != 3 || !strings.Contains(out, "MPI_Bcast p=2 size=8") || strings.Contains(out, "MPI_Scan") ||
		!strings.Contains(stderr, "one side does not have them: 1 measurement") {
		t.Errorf("code %d\n%s%s", code, out, stderr)
	}
	if code, out, stderr = clitest.Run("", "compare", before, before, "--fail-if", "time@*>1%"); code != 0 ||
		!strings.Contains(out, "median of 5 runs") {
		t.Errorf("code %d\n%s%s", code, out, stderr)
	}
	few := launchesJSON(t, dir, "few.json", []int{120, 121}, nil)
	if code, _, stderr = clitest.Run("", "compare", before, few, "--fail-if", "time@*>1%"); code != 4 {
		t.Errorf("two launches decide: code %d\n%s", code, stderr)
	}
	schemes := func(name, text, point string) string {
		path := filepath.Join(dir, name)
		data := `{"slackline_dataset":1,"parameters":["p"],"series":[],"schemes":[` + text + `],"points":[` + point + `]}`
		if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const medians = `{"launch_medians_ns":[100,101,102,103,104]}`
	const slow = `{"launch_medians_ns":[200,201,202,203,204]}`
	const point = `{"operation":"MPI_Bcast","ranks":2,"size":8,"reductions":{"max":` + medians + `,"mean":` + slow + `},"scheme":"`
	tree := schemes("tree.json", `{"scheme":"round-time","reduction":"max","mpi_library_version":"Open MPI v4.1.4"}`, point+`round-time"}`)
	mean := schemes("mean.json", `{"scheme":"round-time","reduction":"mean","mpi_library_version":"Open MPI v4.1.4"}`, point+`round-time"}`)
	imb := schemes("imb.json", `{"scheme":"imb","reduction":"max","executions_in_a_loop":10}`, point+`imb"}`)
	newer := schemes("newer.json", `{"scheme":"round-time","reduction":"max","mpi_library_version":"MPICH 4.2"}`, point+`round-time"}`)
	for _, tc := range []struct {
		file, want string
		code       int
	}{
		{mean, "time was measured by round-time (max) in A, and by round-time (mean) in B: these are different things", 4},
		{imb, "time was measured by round-time (max) in A, and by imb in loops of 10 (max) in B: these are different things", 4},
		{newer, "the MPI library is Open MPI v4.1.4 in " + tree + " and MPICH 4.2 in " + newer + ": changes may be due to that", 0},
	} {
		code, out, stderr := clitest.Run("", "compare", tree, tc.file, "--fail-if", "time@*>10%")
		if code != tc.code || !strings.Contains(stderr, "warning: "+tc.want) {
			t.Errorf("%s: code %d, want %d and %q\n%s%s", tc.file, code, tc.code, tc.want, out, stderr)
		}
	}
	bad := filepath.Join(dir, "bad.json")
	if err := os.WriteFile(bad, []byte(`{"slackline_dataset":1,"points":[]}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr = clitest.Run("", "compare", before, bad); code != 1 ||
		!strings.Contains(stderr, "is not a result of 'measure collectives --format json'") {
		t.Errorf("code %d: %s", code, stderr)
	}
}
