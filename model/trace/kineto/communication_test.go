package kineto

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// joinedBy lists the lines of a described timeline that say what kernels communicate, without the names of the calls around them.
func joinedBy(lines []string) (list []string) {
	for _, line := range lines {
		if strings.Contains(line, " root ") || strings.HasPrefix(line, "message ") || strings.HasPrefix(line, "group ") {
			list = append(list, line)
		}
	}
	return list
}

// TestCoalescedOnAnyThread: a batch has all messages since the batch before it, also the first call of a thread, which on other threads
// than the master has no call around it.
func TestCoalescedOnAnyThread(t *testing.T) {
	for _, tid := range []int{7, 9} { // the master, another one
		events := func(rank int) []string {
			names := [2]string{"send", "recv"}
			comm := func(k int, from float64) string {
				return call(7, tid, commsCall, from, from+1, fmt.Sprintf(`"Collective name": %q, "In msg nelems": %d, "Out msg nelems": %d, `+
					`"Process Group Ranks": "[0, 1]", "Src Rank": %d, "Dst Rank": %d, "dtype": "Char"`, names[(k+rank)%2], 10+k, 10+k, 1-rank, 1-rank))
			}
			return []string{
				call(7, 7, "main", 0, 1, ""),
				comm(0, 10), comm(1, 20), call(7, tid, coalescedCall, 30, 40, ""), call(7, tid, "launch", 31, 32, `"correlation": 1`),
				comm(2, 50), comm(3, 60), call(7, tid, coalescedCall, 70, 80, ""), call(7, tid, "launch", 71, 72, `"correlation": 2`),
				kernel("ncclDevKernel_SendRecv", 0, 20, 41, 45, 1, ""), kernel("ncclDevKernel_SendRecv", 0, 20, 81, 85, 2, ""),
			}
		}
		var sizes []string
		for _, line := range joinedBy(described(t, readAll(t, file(0, 2, events(0)...), file(1, 2, events(1)...)), 1)) {
			size, _, _ := strings.Cut(line, " from ")
			sizes = append(sizes, size)
		}
		slices.Sort(sizes)
		if want := []string{"message of 10", "message of 11", "message of 12", "message of 13"}; !slices.Equal(sizes, want) {
			t.Errorf("thread %d: %q, want %q", tid, sizes, want)
		}
	}
}

// TestGroupRanks: the ranks of a group are those of its list, else of its configuration, else of its start and stride, else all; what is
// cut, contradicts itself or is too large is not known.
func TestGroupRanks(t *testing.T) {
	r := &rankBuilder{rankFile: newRankFile(0, "")}
	r.info.Groups = []processGroup{{Name: "dp", Ranks: []int32{0, 2}}, {Name: float64(7), Ranks: []int32{1, 3}}, {Name: "none"}}
	b := &builder{world: 3, ranks: []*rankBuilder{{rankFile: newRankFile(0, "")}, {rankFile: newRankFile(2, "")}}}
	all := []int32{0, 2} // of the ranks with a file
	for _, c := range []struct {
		ranks, group        string
		start, stride, size int64
		want                []int32
	}{
		{"[3, 1]", "dp", 0, 1, 2, []int32{3, 1}},
		{" [5] ", "", -1, -1, -1, []int32{5}},
		{"[3, 1, ...", "dp", -1, -1, -1, []int32{0, 2}},
		{"[]", "7", -1, -1, -1, []int32{1, 3}},
		{"[1,-2]", "", -1, -1, 5, nil},
		{"[4194304]", "", -1, -1, 5, nil},
		{"", "none", 4, 2, 3, []int32{4, 6, 8}},
		{"", "", 4, 0, 1, []int32{4}},
		{"", "", 4194303, 1, 1, []int32{4194303}},
		{"", "", 4194303, 1, 2, nil},
		{"", "", -1, -1, -1, all},
		{"", "", -1, -1, 3, all},
		{"", "", -1, -1, 2, nil},
		{"", "", 0, 0, 3, all},         // ranks of a group are different ones
		{"", "", 1<<63 - 1, 1, 2, nil}, // beyond all numbers
		{"", "", 0, 1 << 62, 5, nil},   // 4 times that is 0 again
		{"", "", 0, 1 << 62, 3, all},   // of the size of the world
		{"", "unknown", -1, -1, 3, all},
	} {
		args := noArgs
		args.ranks, args.group, args.start, args.stride, args.size = c.ranks, c.group, c.start, c.stride, c.size
		if got := r.groupRanks(b, &args); !slices.Equal(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("list %q, group %q, start %d, stride %d, size %d: ranks %v, want %v", c.ranks, c.group, c.start, c.stride, c.size, got, c.want)
		}
	}
}

// TestDataBytes: an unknown number of elements is one byte: that something is moved is known.
func TestDataBytes(t *testing.T) {
	for _, c := range []struct {
		elements int64
		dtype    string
		want     int64
	}{
		{-1, "Float", 1}, {0, "Float", 0}, {3, "Byte", 3}, {3, "Bool", 3}, {3, "Half", 6}, {3, "BFloat16", 6}, {3, "Short", 6}, {3, "Int", 12},
		{3, "Float", 12}, {3, "Long", 24}, {3, "Double", 24}, {3, "ComplexFloat", 24}, {3, "ComplexDouble", 48}, {3, "", 3},
		{1 << 62, "ComplexDouble", 1 << 44}, // bounded, so that sums stay numbers
	} {
		if got := dataBytes(c.elements, c.dtype); got != c.want {
			t.Errorf("%d elements of %q have %d bytes, want %d", c.elements, c.dtype, got, c.want)
		}
	}
}

// TestWhatAKernelDoes: its own arguments come before those of the call around its launch, these before an annotation, and that before
// its name.
func TestWhatAKernelDoes(t *testing.T) {
	comm := func(name string) string {
		return fmt.Sprintf(`"Collective name": %q, "In msg nelems": 5, "Out msg nelems": 5, "dtype": "Byte", "Process Group Ranks": "[0, 1]"`, name)
	}
	for _, c := range []struct {
		name               string
		own, around, label string
		kernel             string
		want               string // start of what joins the ranks; empty: nothing
	}{
		{"its own", ", " + comm("allgather"), comm("allreduce"), "nccl:broadcast", "ncclDevKernel_Reduce", "allgather root -1"},
		{"the call around", "", comm("allreduce"), "nccl:broadcast", "ncclDevKernel_Reduce", "allreduce root -1"},
		{"the annotation", "", "", "nccl:all_to_all", "ncclDevKernel_Reduce", "alltoall root -1"},
		{"its name", "", "", "user code", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "allreduce root -1"},
		{"nothing is known", "", "", "user code", "ncclDevKernel_Generic", ""},
		{"no kernel of NCCL", "", "", "user code", "gemm", ""},
	} {
		events := []string{
			call(7, 7, c.label, 1, 50, ""), call(7, 7, commsCall, 2, 40, c.around), call(7, 7, "launch", 3, 4, `"correlation": 1`),
			kernel(c.kernel, 0, 7, 10, 30, 1, c.own),
		}
		got := joinedBy(described(t, readAll(t, file(0, 2, events...), file(1, 2, events...)), 1))
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], c.want)) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestStepsOfAllRanks: of profiles with steps, kernels outside of the steps that all ranks have are left out: others may lack their
// partners.
func TestStepsOfAllRanks(t *testing.T) {
	events := func(first, steps int) (list []string) {
		for k := range steps {
			at, id := float64(100*(first+k)), first+k
			list = append(list, call(7, 7, fmt.Sprintf("ProfilerStep#%d", id), at, at+90, ""),
				call(7, 7, "launch", at+3, at+4, fmt.Sprintf(`"correlation": %d`, id)), kernel("ncclDevKernel_AllReduce", 0, 7, at+10, at+30, id, ""))
		}
		return list
	}
	// Rank 0 has steps 1 to 3, rank 1 has 2 to 4: they share 2 and 3.
	got := joinedBy(described(t, readAll(t, file(0, 2, events(1, 3)...), file(1, 2, events(2, 3)...)), 1))
	if len(got) != 2 || !strings.Contains(got[0], "110us") || !strings.Contains(got[1], "210us") {
		t.Errorf("collectives of the steps 2 and 3, which start 100 us and 200 us after the first one: %q", got)
	}
}
