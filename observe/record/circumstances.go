package record

import (
	"fmt"
	"slices"
	"time"
)

// Circumstances are sentences about what made the run take another time than it would otherwise.
func (r *Result) Circumstances() []string {
	var list []string
	const much = 0.01
	if share := r.withoutCPU(); share >= much {
		list = append(list, fmt.Sprintf("ranks were without a CPU for %.1f %% of their time: others had it, which made them slower outside "+
			"waits",
			100*share))
	}
	if r.ForcedYield {
		list = append(list, "MPI was made to give up the CPU while it waits (--yield): without that the run may take much longer")
	}
	return list
}

// NothingRecorded reports whether recording was never on.
func (r *Result) NothingRecorded() bool {
	return len(r.Heads) > 0 && !slices.ContainsFunc(r.Heads, func(h Head) bool { return !h.Off })
}

// Lasted is the longest time from the end of MPI_Init to that of the program on a rank; 0: it is not known.
func (r *Result) Lasted() (longest time.Duration) {
	for _, h := range r.Heads {
		longest = max(longest, h.Lasted)
	}
	return longest
}

// withoutCPU is the share of the run for which the first threads of the ranks had no CPU.
func (r *Result) withoutCPU() float64 {
	ranks, sum := 0, 0.0
	for _, h := range r.Heads {
		if h.Thread == 0 {
			ranks++
			sum += h.NoCPU.Seconds()
		}
	}
	if ranks == 0 || r.Elapsed <= 0 {
		return 0
	}
	return sum / float64(ranks) / r.Elapsed.Seconds()
}
