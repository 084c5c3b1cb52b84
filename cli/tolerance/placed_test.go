package tolerance

import (
	"strings"
	"testing"

	"slackline/model/unit"
)

// Three ranks on nodes 0, 1 and 0: Open MPI wants a slot on each node, the others a line per rank.
func TestWriteRankFile(t *testing.T) {
	for _, tc := range []struct {
		form  string
		hosts []string
		want  string
		use   string
	}{
		{rankFileOpenMPI, nil, "rank 0=+n0 slot=0\nrank 1=+n1 slot=0\nrank 2=+n0 slot=1\n", "mpirun --rankfile f -n 3"},
		{rankFileOpenMPI, []string{"a", "b"}, "rank 0=a slot=0\nrank 1=b slot=0\nrank 2=a slot=1\n", "mpirun --rankfile f -n 3"},
		{rankFileMPICH, nil, "node0\nnode1\nnode0\n", "mpiexec -f f -n 3"},
		{rankFileSlurm, []string{"a", "b"}, "a\nb\na\n", "SLURM_HOSTFILE=f srun --mpi=pmix --distribution=arbitrary -n 3 " +
			"(--mpi=pmi2 if it was built with MPICH or Intel MPI)"},
	} {
		var out strings.Builder
		if err := writeRankFile(&out, []int32{0, 1, 0}, tc.form, tc.hosts); err != nil || out.String() != tc.want {
			t.Errorf("%s for %v: %v\n%s\nwant\n%s", tc.form, tc.hosts, err, out.String(), tc.want)
		}
		if got := rankFileUse(tc.form, "f", 3); got != tc.use {
			t.Errorf("%s: %q, want %q", tc.form, got, tc.use)
		}
	}
}

// Equal neighbors are one entry, and a list of more than 200 is cut.
func TestListOfNodes(t *testing.T) {
	if got := listOfNodes([]int32{0, 0, 1, 0}); got != "0 (x2), 1, 0" {
		t.Errorf("%q", got)
	}
	var nodes []int32
	for i := range int32(200) {
		nodes = append(nodes, i%2)
	}
	if got := listOfNodes(nodes); strings.Contains(got, "...") || strings.Count(got, ",") != 199 {
		t.Errorf("200 nodes: %q", got)
	}
	if got := listOfNodes(append(nodes, 5)); !strings.HasSuffix(got, ", 1, ... (--format json has all)") {
		t.Errorf("201 nodes: %q", got)
	}
}

func TestInterLink(t *testing.T) {
	var l interLink
	if l.String() != "" {
		t.Errorf("nothing was given, but %q", l.String())
	}
	for _, text := range []string{"3us", "x,0.05ns", "3us,x", "", ","} {
		if err := l.Set(text); err == nil || l.given {
			t.Errorf("%q is taken as %s", text, l.String())
		}
	}
	if err := l.Set("3us,0.05ns"); err != nil || l.latency != 3*unit.Microsecond || l.perByte.String() != "0.05ns" || !l.given {
		t.Errorf("%v, %+v", err, l)
	}
}

// The names of nodes have no blanks, and there is one.
func TestCheckHosts(t *testing.T) {
	for _, names := range [][]string{nil, {"n1", "n 2"}, {""}, {"n1,n2"}, {"n1", "n2", "n1"}} {
		if _, err := checkHosts("--hosts", names); err == nil {
			t.Errorf("%q is taken", names)
		}
	}
	if got, err := checkHosts("--hosts", []string{"n-1", "n_2.x"}); err != nil || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
	}
}
