package collective

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/model/schedule"
	"slackline/model/unit"
)

// spec writes what a mapping chooses in the form that Call.Algorithm takes.
func spec(t *testing.T, m *Mapping, call schedule.Call, ranks int) string {
	t.Helper()
	in, err := m.Choose(&call, ranks)
	if err != nil {
		t.Fatal(err)
	}
	text := in.Algorithm.Name
	if in.Algorithm.Segmented {
		text += ":segment=" + unit.Size(in.Segment).String()
	}
	if in.Radix != 0 {
		text += ":radix=" + string(rune('0'+in.Radix))
	}
	return text
}

func TestNamedMappings(t *testing.T) {
	const kib, mib = 1 << 10, 1 << 20
	for _, tc := range []struct {
		mapping string
		op      schedule.Operation
		size    int64
		ranks   int
		want    string
	}{
		{"default", schedule.Barrier, 0, 1000, "dissemination:radix=2"},
		{"default", schedule.Allreduce, 64 * kib, 1000, "dissemination:radix=2"},
		{"default", schedule.Allreduce, 64*kib + 1, 1000, "ring"},
		{"default", schedule.Allgather, 8, 1000, "bruck"},
		{"default", schedule.Allgather, mib, 1000, "ring"},
		{"default", schedule.Alltoall, 8, 1000, "bruck"},
		{"default", schedule.Alltoall, mib, 1000, "pairwise"},
		{"default", schedule.Bcast, 8, 1000, "binomial"},
		{"default", schedule.Bcast, mib, 1000, "binary-pipelined:segment=32KiB"},
		{"default", schedule.Bcast, mib, 16, "chain:segment=64KiB"},
		{"default", schedule.Reduce, 8, 1000, "binomial"},
		{"default", schedule.Gather, 8, 1000, "binomial"},
		{"default", schedule.Scatter, 8, 1000, "binomial"},

		{"mpich", schedule.Bcast, 12288, 64, "binomial"},
		{"mpich", schedule.Bcast, 12289, 64, "scatter-recursive-doubling"},
		{"mpich", schedule.Bcast, 12289, 63, "scatter-allgather"},
		{"mpich", schedule.Bcast, mib, 64, "scatter-allgather"},
		{"mpich", schedule.Bcast, mib, 7, "binomial"},
		{"mpich", schedule.Allreduce, 2048, 64, "recursive-doubling"},
		{"mpich", schedule.Allreduce, 2049, 64, "rabenseifner"},
		{"mpich", schedule.Allreduce, 4096, 1024, "recursive-doubling"},
		{"mpich", schedule.Reduce, 2048, 64, "binomial"},
		{"mpich", schedule.Reduce, 2049, 64, "rabenseifner"},
		{"mpich", schedule.Allgather, 8191, 64, "recursive-doubling"},
		{"mpich", schedule.Allgather, 8192, 64, "ring"},
		{"mpich", schedule.Allgather, 1023, 80, "bruck"},
		{"mpich", schedule.Allgather, 1024, 80, "ring"},
		{"mpich", schedule.Alltoall, 256, 8, "bruck"},
		{"mpich", schedule.Alltoall, 256, 7, "linear"},
		{"mpich", schedule.Alltoall, 32768, 8, "linear"},
		{"mpich", schedule.Alltoall, 32769, 8, "pairwise"},
		{"mpich", schedule.ReduceScatter, 8191, 64, "recursive-halving"},
		{"mpich", schedule.ReduceScatter, 8192, 64, "pairwise"},
		{"mpich", schedule.Gather, mib, 64, "binomial"},

		{"openmpi", schedule.Barrier, 0, 7, "linear"},
		{"openmpi", schedule.Barrier, 0, 300, "binomial"},
		{"openmpi", schedule.Barrier, 0, 5000, "dissemination:radix=2"},
		{"openmpi", schedule.Bcast, 4095, 20, "knomial:radix=4"},
		{"openmpi", schedule.Bcast, 4096, 20, "binomial"},
		{"openmpi", schedule.Bcast, mib, 20, "scatter-recursive-doubling"},
		{"openmpi", schedule.Bcast, mib, 5, "chain:segment=0B"},
		{"openmpi", schedule.Reduce, 4095, 20, "binary"},
		{"openmpi", schedule.Reduce, 4096, 20, "binomial"},
		{"openmpi", schedule.Allreduce, 8, 100, "recursive-doubling"},
		{"openmpi", schedule.Allreduce, 8, 1000, "reduce-bcast"},
		{"openmpi", schedule.Allreduce, 16 * kib, 1000, "rabenseifner"},
		{"openmpi", schedule.Allreduce, 63, 16, "recursive-doubling"},
		{"openmpi", schedule.Allreduce, 20000, 3, "ring"},
		{"openmpi", schedule.Alltoall, 500, 1000, "bruck"},
		{"openmpi", schedule.Alltoall, mib, 300, "pairwise"},
		{"openmpi", schedule.Alltoall, mib, 3000, "linear"},
		{"openmpi", schedule.Allgather, 8, 16, "recursive-doubling"},
		{"openmpi", schedule.Allgather, 8, 17, "bruck"},
		{"openmpi", schedule.Allgather, 2000, 100, "neighbor-exchange"},
		{"openmpi", schedule.Allgather, 64 * kib, 100, "ring"},
		{"openmpi", schedule.Gather, 2048, 300, "linear"},
		{"openmpi", schedule.Gather, 8192, 300, "binomial"},
		{"openmpi", schedule.Scatter, 511, 300, "binomial"},
		{"openmpi", schedule.Scatter, 512, 300, "linear"},
		{"openmpi", schedule.ReduceScatter, 8, 100, "reduce-then-scatter"},
		{"openmpi", schedule.ReduceScatter, 16, 100, "recursive-halving"},
		{"openmpi", schedule.Scan, 8, 100, "linear"},
	} {
		m, err := NamedMapping(tc.mapping)
		if err != nil {
			t.Fatal(err)
		}
		if got := spec(t, m, schedule.Call{Op: tc.op, Size: tc.size}, tc.ranks); got != tc.want {
			t.Errorf("%s: %s of %d bytes on %d ranks = %s, want %s", tc.mapping, tc.op, tc.size, tc.ranks, got, tc.want)
		}
	}
}

// Every mapping that is built in has an algorithm for every call, without help of another one.
func TestNamedMappingsAreComplete(t *testing.T) {
	for _, name := range MappingNames() {
		m, err := NamedMapping(name)
		if err != nil {
			t.Fatal(err)
		}
		if m.Name != name || m.Info == "" || m.base != nil {
			t.Errorf("mapping %s: name %q, info %q, base %v", name, m.Name, m.Info, m.base)
		}
		for _, op := range schedule.Operations() {
			if len(m.rules[op]) == 0 || m.rules[op][len(m.rules[op])-1] != (rule{use: m.rules[op][len(m.rules[op])-1].use}) {
				t.Errorf("mapping %s: the last rule of %s has conditions", name, op)
			}
		}
	}
}

func TestChooseVarying(t *testing.T) {
	m, err := NamedMapping("mpich")
	if err != nil {
		t.Fatal(err)
	}
	sizes := []int64{0, 300000, 0, 300000}
	if got := spec(t, m, schedule.Call{Op: schedule.Gather, Sizes: sizes}, 4); got != "linear" {
		t.Errorf("gatherv = %s, want linear", got)
	}
	if got := spec(t, m, schedule.Call{Op: schedule.Allgather, Sizes: sizes}, 4); got != "ring" {
		t.Errorf("allgatherv of 600000 bytes altogether = %s, want ring", got)
	}
	if got := spec(t, m, schedule.Call{Op: schedule.Alltoall, Sizes: make([]int64, 16)}, 4); got != "linear" {
		t.Errorf("alltoallv = %s, want linear", got)
	}
}

func TestChooseNamedAlgorithm(t *testing.T) {
	for _, tc := range []struct {
		op         schedule.Operation
		name, want string
	}{
		{schedule.Bcast, "linear", "linear"},
		{schedule.Bcast, "knomial", "knomial:radix=4"},
		{schedule.Bcast, "knomial:radix=8", "knomial:radix=8"},
		{schedule.Bcast, "chain:segment=1KiB", "chain:segment=1KiB"},
		{schedule.Bcast, "chain:segment=0", "chain:segment=0B"},
		{schedule.Reduce, "chain", "chain:segment=64KiB"},
	} {
		call := schedule.Call{Op: tc.op, Size: 1 << 20, Algorithm: tc.name}
		if got := spec(t, DefaultMapping(), call, 9); got != tc.want {
			t.Errorf("%s %s = %s, want %s", tc.op, tc.name, got, tc.want)
		}
		if err := CheckAlgorithm(tc.op, tc.name); err != nil {
			t.Error(err)
		}
	}
}

func TestChooseErrors(t *testing.T) {
	for _, tc := range []struct {
		call  schedule.Call
		ranks int
		want  string
	}{
		{schedule.Call{Op: schedule.Bcast, Algorithm: "binomal"}, 4, `bcast has no algorithm "binomal"; did you mean binomial? (known: binomial, knomial`},
		{schedule.Call{Op: schedule.Bcast, Algorithm: "linear:radix=3"}, 4, "algorithm linear has no radix"},
		{schedule.Call{Op: schedule.Bcast, Algorithm: "linear:segment=3"}, 4, "algorithm linear has no segments"},
		{schedule.Call{Op: schedule.Bcast, Algorithm: "knomial:radix=1"}, 4, `radix "1" is not a number in 2..`},
		{schedule.Call{Op: schedule.Bcast, Algorithm: "chain:segment=-4"}, 4, "segment"},
		{schedule.Call{Op: schedule.Bcast, Algorithm: "chain:segmnt=4"}, 4, `unknown parameter "segmnt"; did you mean segment?`},
		{schedule.Call{Op: schedule.Bcast, Algorithm: "chain:4"}, 4, `parameter "4" has no value`},
		{schedule.Call{Op: schedule.Bcast, Algorithm: "chain:segment=1", Size: 1 << 40}, 4, "use larger ones"},
		{schedule.Call{Op: schedule.Bcast, Root: 4}, 4, "root 4, but the group has 4 ranks (0..3)"},
		{schedule.Call{Op: schedule.Bcast, Size: -1}, 4, "size -1 is negative"},
		{schedule.Call{Op: schedule.Bcast}, 0, "a group of 0 ranks"},
		{schedule.Call{Op: schedule.Alltoall, Size: 1 << 60}, 4, "too many"},
		{schedule.Call{Op: schedule.Gather, Sizes: []int64{1, 2}}, 4, "2 sizes given, but a group of 4 ranks needs 4"},
		{schedule.Call{Op: schedule.Alltoall, Sizes: []int64{1, 2}}, 2, "2 sizes given, but a group of 2 ranks needs 4"},
		{schedule.Call{Op: schedule.Gather, Sizes: []int64{1, -2}}, 2, "size -2 of block 1 is negative"},
		{schedule.Call{Op: schedule.Gather, Sizes: []int64{1 << 61, 1 << 61}}, 2, "add up to more than 2^61"},
		{schedule.Call{Op: schedule.Bcast, Sizes: []int64{1, 2}}, 2, "there is no form with sizes by rank"},
		{schedule.Call{Op: schedule.NeighborAlltoall, Sources: []int32{2}}, 2, "source 2, but the group has 2 ranks"},
		{schedule.Call{Op: 200}, 2, "unknown"},
		{schedule.Call{Op: 200, Algorithm: "x"}, 2, "unknown"},
	} {
		_, err := DefaultMapping().Choose(&tc.call, tc.ranks)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v on %d ranks: error %v, want %q", tc.call, tc.ranks, err, tc.want)
		}
	}
}

const example = `# an example
name: mine
base: mpich
allreduce:
  - {max_size: 2KiB, use: recursive-doubling}
  - {min_ranks: 512, use: rabenseifner}
  - {use: ring}
bcast:
  - max_ranks: 4
    use: chain:segment=64KiB
`

func TestReadMapping(t *testing.T) {
	m, err := ReadMapping("mine.yaml", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	if m.Name != "mine" {
		t.Errorf("name = %q, want mine", m.Name)
	}
	for _, tc := range []struct {
		op    schedule.Operation
		size  int64
		ranks int
		want  string
	}{
		{schedule.Allreduce, 2048, 1000, "recursive-doubling"},
		{schedule.Allreduce, 2049, 1000, "rabenseifner"},
		{schedule.Allreduce, 2049, 500, "ring"},
		{schedule.Bcast, 8, 4, "chain:segment=64KiB"},
		{schedule.Bcast, 8, 5, "binomial"},
		{schedule.Alltoall, 8, 5, "linear"}, // from the base
	} {
		if got := spec(t, m, schedule.Call{Op: tc.op, Size: tc.size}, tc.ranks); got != tc.want {
			t.Errorf("%s of %d bytes on %d ranks = %s, want %s", tc.op, tc.size, tc.ranks, got, tc.want)
		}
	}
}

func TestReadMappingErrors(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", "m.yaml: the mapping is empty"},
		{"# nothing\n", "m.yaml: the mapping is empty"},
		{"- a\n", "m.yaml:1: this must be a mapping of operations"},
		{"name: x\nallredcue: [{use: ring}]\n", `m.yaml:2: unknown key "allredcue"; did you mean allreduce?`},
		{"allreduce:\n  - {use: rnig}\n", `m.yaml:2: allreduce has no algorithm "rnig"; did you mean ring?`},
		{"allreduce:\n  - {use: ring, max_sise: 3}\n", `m.yaml:2: unknown key "max_sise" in a rule; did you mean max_size?`},
		{"allreduce:\n  - {max_size: 3}\n", "m.yaml:2: the rule names no algorithm"},
		{"allreduce:\n  - {use: ring, max_size: lots}\n", "m.yaml:2: max_size:"},
		{"allreduce:\n  - {use: ring, min_ranks: 1.5}\n", `m.yaml:2: min_ranks: "1.5" is not a number of ranks`},
		{"allreduce:\n  - {use: ring, min_ranks: 4, max_ranks: 3}\n", "m.yaml:2: the rule can never hold"},
		{"allreduce:\n  - {use: ring, max_size: 4, size_below: 3}\n", "m.yaml:2: size_below: the rule has a largest value already"},
		{"allreduce:\n  - {use: ring, size_below: 0}\n", "m.yaml:2: size_below: nothing is below 0"},
		{"allreduce:\n  - {use: ring, power_of_two: 1}\n", "m.yaml:2: power_of_two: write true or false"},
		{"allreduce: ring\n", "m.yaml:1: allreduce needs a list of rules"},
		{"allreduce: []\n", "m.yaml:1: allreduce needs a list of rules"},
		{"allreduce:\n  - ring\n", "m.yaml:2: this must be a rule"},
		{"name: a\nbase: openmip\n", `m.yaml:2: base: there is no mapping "openmip"; did you mean openmpi?`},
		{"name:\n", "m.yaml:1: name needs a value"},
		{"scan: [{use: linear}]\nscan: [{use: linear}]\n", "m.yaml:2:"},
		{"scan: [{use: linear}]\n---\nscan: [{use: linear}]\n", "m.yaml:3: a second document"},
		{"scan: [{use: linear}\n", "m.yaml:1:"},
		{strings.Repeat("#", 1<<20), "m.yaml: a mapping of 1048576 bytes"},
		{"scan: &x [{use: linear}]\nexscan: *x\n", "m.yaml:1: scan needs a list of rules"},
	} {
		_, err := ReadMapping("m.yaml", []byte(tc.text))
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%q: error %v, want %q", tc.text, err, tc.want)
		}
	}
}

func TestFindMapping(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(path, []byte(example), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, want string }{{path, "mine"}, {"openmpi", "openmpi"}, {"default", "default"}} {
		m, err := FindMapping(tc.name)
		if err != nil {
			t.Fatal(err)
		}
		if m.Name != tc.want {
			t.Errorf("FindMapping(%q) = %s, want %s", tc.name, m.Name, tc.want)
		}
	}
	for _, tc := range []struct{ name, want string }{
		{"openmp", `there is no mapping "openmp"; did you mean openmpi? (known: default, mpich, nccl, openmpi), and no such file`},
		{"no/such.yaml", "no such file"},
	} {
		if _, err := FindMapping(tc.name); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("FindMapping(%q): error %v, want %q", tc.name, err, tc.want)
		}
	}
}

func FuzzReadMapping(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("allreduce:\n  - {use: ring, max_size: 9223372036854775807}\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ReadMapping("f", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("the error %q does not name the file", err)
			}
			return
		}
		for _, op := range schedule.Operations() {
			if _, err := m.Choose(&schedule.Call{Op: op, Size: 1}, 6); err != nil {
				t.Errorf("%s: %v", op, err)
			}
		}
	})
}
