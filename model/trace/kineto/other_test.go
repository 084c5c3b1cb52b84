package kineto

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestRanksOfOthers: what another profiler gives call by call becomes the same timeline as a file would; times are ns.
func TestRanksOfOthers(t *testing.T) {
	var ranks []*Rank
	for rank := range 2 {
		r := NewRank(rank, "run.sqlite")
		r.Call(7, 7, 1000, 90_000, "step", 0)
		r.Call(7, 7, 2000, 3000, "cudaLaunchKernel", 5)
		r.Call(7, 7, 40_000, 50_000, "cudaStreamSynchronize", 6)
		r.Kernel(0, 7, 4000, 9000, "gemm", 5, "")
		r.Copy(0, 9, 10_000, 11_000, "Memcpy DtoH (Device -> Pinned)", 0)
		r.Memset(0, 9, 12_000, 12_000, "Memset (Device)", 0)
		r.Communicate(0, 20, 20_000, 30_000, "ncclDevKernel", Communication{
			Operation: "AllReduce", Group: "0", Ranks: "[0, 1]", Root: -1, Peer: -1, Sequence: 3, In: 64, Out: 64,
		})
		r.Sync(StreamSync, 0, 7, -1, 6, 0)
		r.Sync(StreamSync, 0, 7, -1, 0, 0)              // of no call
		r.Sync("Another Sync", 0, 7, -1, 6, 0)          // of no kind that is known
		r.Call(7, 7, 60_000, 59_000, "backwards", 0)    // ends before it begins
		r.Call(7, 7, -1, 59_000, "early", 0)            // before all
		r.Kernel(0, 7, 0, math.MaxInt64, "late", 0, "") // after all
		r.Copy(0, 7, MaxTime+1, MaxTime+1, "", 0)       // after the longest time
		ranks = append(ranks, r)
	}
	p, err := NewProfile(ranks, true)
	if err != nil {
		t.Fatal(err)
	}
	const skipped = "run.sqlite: 4 events have no valid time and are left out"
	if want := []string{skipped, skipped}; !slices.Equal(p.Warnings, want) {
		t.Errorf("warnings %q, want %q", p.Warnings, want)
	}
	lines := described(t, p, 2)
	for _, want := range []string{
		"0 master: /host/step 0-89us", "0 0:7: /host/step/cudaLaunchKernel/gemm 3us-8us compute kernel", "1 0:9: /Memcpy DtoH 9us-10us copy",
		"1 0:9: /Memset 11us-11us memset",
		"allreduce root -1 of [0 0:20: /ncclDevKernel 19us-29us 64 64] [1 0:20: /ncclDevKernel 19us-29us 64 64]",
		"call 3 of 0: stream 0, device -1, event -1 at 39us",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("%q is missing in\n%s", want, strings.Join(lines, "\n"))
		}
	}
	if n := len(slices.DeleteFunc(lines, func(s string) bool { return !strings.HasPrefix(s, "call ") })); n != 2 {
		t.Errorf("%d references, want one of each rank", n)
	}
}

// TestNoRanks: a profile without a call and without a kernel is none.
func TestNoRanks(t *testing.T) {
	if _, err := NewProfile([]*Rank{NewRank(0, "a.sqlite")}, true); err == nil ||
		err.Error() != "a.sqlite: there is no call and no kernel in the trace" {
		t.Errorf("an empty rank: %v", err)
	}
	if p, err := NewProfile(nil, true); err != nil || p.Ranks != 0 {
		t.Errorf("no rank at all: %+v, %v", p, err)
	}
}

func TestCorrelations(t *testing.T) {
	for n, want := range map[int64]uint32{-1: 0, 0: 0, 1: 1, math.MaxUint32 - 1: math.MaxUint32 - 1, math.MaxUint32: 0, math.MaxInt64: 0} {
		if got := correlated(n); got != want {
			t.Errorf("correlation %d = %d, want %d", n, got, want)
		}
	}
}
