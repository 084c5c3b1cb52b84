package compare

import "slackline/analyze/profile"

// Scaling are the POP factors of the computation from one run to another one, 1 being as good as before: the useful time of the
// first / that of the second, which is the product of the others. They need counters of instructions and cycles in both.
type Scaling struct {
	Computation  float64 `json:"computation_scaling"`
	Instructions float64 `json:"instruction_scaling"` // instructions of the first / of the second
	IPC          float64 `json:"ipc_scaling"`         // instructions per cycle of the second / of the first
	Frequency    float64 `json:"frequency_scaling"`   // cycles per second of the second / of the first
}

// The numbers of runs with counters, which are those of the whole run.
const (
	UsefulTime   = "useful_time"
	Instructions = "useful_instructions"
	IPC          = "ipc"
	Frequency    = "frequency"
)

// unitOf is the unit of a metric; empty: it is a time in seconds.
func unitOf(metric string) string {
	switch metric {
	case Instructions, IPC:
		return "1"
	case Frequency:
		return "Hz"
	}
	return ""
}

// ofWhole reports whether a metric is one of the whole run alone.
func ofWhole(metric string) bool {
	return metric == RunTime || metric == UsefulTime || unitOf(metric) != ""
}

// addCounts adds the numbers of a run with counters.
func (r Run) addCounts(usefulTime, instructions, ipc, frequency float64) {
	for metric, v := range map[string]float64{UsefulTime: usefulTime, Instructions: instructions, IPC: ipc, Frequency: frequency} {
		if v > 0 {
			r.add(metric, "", v)
		}
	}
}

// countsOf adds what was counted in a run, if anything was.
func (r Run) countsOf(c *profile.Counts) {
	if c != nil {
		r.addCounts(c.Useful.InSeconds(), float64(c.Instructions), c.IPC, c.Frequency)
	}
}

// Scaling returns the factors of the computation; nil: not both sides have the counters.
func (r *Result) Scaling() *Scaling {
	ratio := map[string]float64{} // second / first, of the medians
	for i := range r.Changes {
		if c := &r.Changes[i]; c.Path == "" && c.A > 0 && c.B > 0 {
			ratio[c.Metric] = c.B / c.A
		}
	}
	return scalingOf(ratio[Instructions], ratio[IPC], ratio[Frequency])
}

// ScalingOf returns the factors of the computation from one run to another one; nil: not both have the counters.
func ScalingOf(a, b *profile.Counts) *Scaling {
	if a == nil || b == nil || a.Instructions == 0 || a.IPC == 0 || a.Frequency == 0 {
		return nil
	}
	return scalingOf(float64(b.Instructions)/float64(a.Instructions), b.IPC/a.IPC, b.Frequency/a.Frequency)
}

// scalingOf takes what the second run has for each of the first.
func scalingOf(instructions, ipc, frequency float64) *Scaling {
	if instructions == 0 || ipc == 0 || frequency == 0 {
		return nil
	}
	return &Scaling{Computation: 1 / instructions * ipc * frequency, Instructions: 1 / instructions, IPC: ipc, Frequency: frequency}
}

// Factor is a factor of the computation with its name in results.
type Factor struct {
	Name  string
	Value float64
}

// Factors are the factors, the product first.
func (s *Scaling) Factors() []Factor {
	return []Factor{{"computation_scaling", s.Computation}, {"instruction_scaling", s.Instructions}, {"ipc_scaling", s.IPC},
		{"frequency_scaling", s.Frequency}}
}
