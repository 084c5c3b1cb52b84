package inject_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slackline/cli/clitest"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestRecorded records programs under injection: the trace has the latency in it and only the program's own messages, and the
// programs get the same data as without.
func TestRecorded(t *testing.T) {
	sources := map[string][]string{
		"testdata/pingpong.c": nil, "../../observe/inject/testdata/families.c": nil,
		"../../observe/inject/testdata/families.F90": {"-fallow-argument-mismatch", "-DF08"},
	}
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		for source, flags := range sources {
			program := mpitest.Build(t, l, source, flags...)
			launch := append(mpitest.Launch(l, 2), program)
			plain, err := exec.Command(launch[0], launch[1:]...).Output()
			if err != nil {
				t.Fatal(err)
			}
			want := sorted(string(plain))
			out := filepath.Join(t.TempDir(), "trace")
			args := slices.Concat([]string{"inject", "--latency", "5ms", "--base", "0", "--sleep", "on", "--",
				"slackline", "record", "--out", out, "--"}, launch)
			code, stdout, stderr := clitest.Run("", args...)
			if got := sorted(stdout); code != 0 || got != want {
				t.Errorf("%s: exit code = %d, output\n%s\nwant\n%s\n%s", source, code, got, want, stderr)
			}
			if !strings.Contains(stderr, "latency 5ms: ") || !strings.Contains(stderr, "trace in ") {
				t.Errorf("%s: stderr = %s, want the reports of both", source, stderr)
			}
			if strings.HasSuffix(source, "pingpong.c") {
				checkPingPong(t, out)
			}
		}
	})
}

func sorted(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// checkPingPong wants ten messages each way, one MPI_Allreduce, and at least twice the latency in each of ten receives of rank 0.
func checkPingPong(t *testing.T, trace string) {
	t.Helper()
	profile := filepath.Join(t.TempDir(), "profile.json")
	if code, _, stderr := clitest.Run("", "profile", trace, "--format", "json", "--out", profile); code != 0 {
		t.Fatal(stderr)
	}
	var p struct {
		CallPaths []struct {
			CallPath  string
			Visits    int
			Inclusive float64 `json:"inclusive_s"`
		}
		Messages    []struct{ From, To, Messages, Bytes int }
		Collectives []struct {
			Operation string
			Calls     int
		}
	}
	clitest.ReadJSON(t, profile, &p)
	for _, c := range p.CallPaths {
		if strings.HasSuffix(c.CallPath, "/MPI_Recv") && (c.Visits != 10 || c.Inclusive < 10*2*0.005) {
			t.Errorf("%s: %d calls, %v s, want 10 of at least 10 ms", c.CallPath, c.Visits, c.Inclusive)
		}
	}
	if len(p.Messages) != 2 || p.Messages[0].Messages != 10 || p.Messages[0].Bytes != 40 || p.Messages[1].Messages != 10 {
		t.Errorf("messages = %v, want 10 of 4 bytes each way", p.Messages)
	}
	if len(p.Collectives) != 1 || p.Collectives[0].Operation != "allreduce" || p.Collectives[0].Calls != 1 {
		t.Errorf("collectives = %v, want one allreduce", p.Collectives)
	}
}
