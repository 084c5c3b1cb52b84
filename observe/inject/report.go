package inject

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Sizes of the report of a rank; shim/inject.h has the same.
const (
	reportMagic     = 0x7463656a6e69
	reportVersion   = 3
	reportBases     = 24
	reportFunctions = 512
	reportFields    = 27 // before the bases
)

// A RankReport is what was done to a rank.
type RankReport struct {
	Rank      int   `json:"rank"`
	Finalized bool  `json:"finalized"` // it came to MPI_Finalize
	Sent      int64 `json:"sent"`      // messages, with those of replaced collectives
	Received  int64 `json:"received"`

	Held         int64 `json:"held"`         // calls that waited until a message could be delivered
	HeldNS       int64 `json:"held_ns"`      // how long, all together
	HeldMostNS   int64 `json:"held_most_ns"` // and the longest
	OverNS       int64 `json:"overshoot_ns"` // by how much they returned later than that, all together
	OverMostNS   int64 `json:"overshoot_max_ns"`
	Passed       int64 `json:"passed"`       // calls whose messages had been deliverable before they were asked for
	EarlyProbes  int64 `json:"early_probes"` // probes whose first look found a message, perhaps too early
	Detours      int64 `json:"detours"`
	DetourNS     int64 `json:"detour_ns"`
	DetoursSlept int64 `json:"detours_skipped"` // passed while the rank slept
	NoiseNS      int64 `json:"noise_ns"`        // how long there was noise
	RunNS        int64 `json:"run_ns"`          // from MPI_Init to MPI_Finalize
	WaitedNS     int64 `json:"waited_ns"`       // of that it could have run, but other processes had the CPU; -1: unknown

	OtherClock   bool  `json:"other_clock,omitempty"`   // its clock is not that of rank 0
	ClockAnswers int64 `json:"clock_answers,omitempty"` // good comparisons with that after MPI_Init
	ClockOffNS   int64 `json:"clock_off_ns,omitempty"`  // by how much they differed from what was assumed, all together

	ranks, hosts int
	crowded      bool
	eager        [2]int64   // on one host and between hosts
	base         [2][]int64 // the same
	replaced     []int64
	unhandled    []int64
}

var errReport = errors.New("is not a report of this version")

func parseReport(data []byte) (*RankReport, error) {
	const words = reportFields + 2*reportBases + 2*reportFunctions
	if len(data) != 8*words {
		return nil, errReport
	}
	values := make([]int64, words)
	for i := range values {
		values[i] = int64(binary.LittleEndian.Uint64(data[8*i:]))
	}
	if values[0] != reportMagic || values[1] != reportVersion {
		return nil, errReport
	}
	r := &RankReport{
		Rank: int(values[2]), ranks: int(values[3]), hosts: int(values[4]), crowded: values[5] != 0, Finalized: values[6] != 0,
		Sent: values[7], Received: values[8], Held: values[9], HeldNS: values[10], HeldMostNS: values[11], OverNS: values[12],
		OverMostNS: values[13],
		Passed:     values[14], EarlyProbes: values[15], Detours: values[16], DetourNS: values[17], DetoursSlept: values[18],
		NoiseNS: max(values[19], 0),
		RunNS:   values[20], WaitedNS: values[21], OtherClock: values[22] != 0, ClockAnswers: values[23], ClockOffNS: values[24],
		eager: [2]int64{values[25], values[26]},
	}
	rest := values[reportFields:]
	for i := range r.base {
		r.base[i], rest = rest[:reportBases], rest[reportBases:]
	}
	r.replaced, r.unhandled = rest[:reportFunctions], rest[reportFunctions:]
	return r, nil
}

// readReports reads what the ranks left in a directory, in the order of ranks.
func readReports(dir string) ([]*RankReport, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []*RankReport
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".report") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		r, err := parseReport(data)
		if err != nil {
			return nil, fmt.Errorf("%s %w", e.Name(), err)
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *RankReport) int { return a.Rank - b.Rank })
	return list, nil
}

// A Count is a number of calls of a function.
type Count struct {
	Function string `json:"function"`
	Calls    int64  `json:"calls"`
}

// counts adds up the calls of all ranks, most first.
func counts(list []*RankReport, of func(*RankReport) []int64, names []string) []Count {
	sums := make([]int64, len(names))
	for _, r := range list {
		for i := range sums {
			sums[i] += of(r)[i]
		}
	}
	var out []Count
	for i, n := range sums {
		if n > 0 {
			out = append(out, Count{names[i], n})
		}
	}
	slices.SortStableFunc(out, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Function, b.Function))
	})
	return out
}

// A BaseTime is how long a message takes with the library in place and nothing injected.
type BaseTime struct {
	Bytes int64 `json:"bytes"`
	NS    int64 `json:"ns"`
}

func bases(values []int64) []BaseTime {
	var list []BaseTime
	for k, ns := range values {
		size := int64(0)
		if k > 0 {
			size = 1 << (k - 1)
		}
		if ns > 0 {
			list = append(list, BaseTime{size, ns})
		}
	}
	return list
}

// joined names functions with their numbers of calls.
func joined(list []Count) string {
	var parts []string
	for _, c := range list {
		parts = append(parts, c.Function+" "+strconv.FormatInt(c.Calls, 10))
	}
	return strings.Join(parts, ", ")
}
