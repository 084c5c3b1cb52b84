package timeline

import "fmt"

// muchLack is the share of time without a CPU from which on it is said.
const muchLack = 0.01

// LackShare is the share of the recorded time for which threads had no CPU; 0 if it is too little to matter.
func (t *Timeline) LackShare() float64 {
	lack, lifetime := t.WithoutCPU()
	if lack.Float() < muchLack*lifetime.Float() {
		return 0
	}
	return lack.Over(lifetime)
}

// Circumstances are sentences about what made the times of the run others than they would be elsewhere.
func (t *Timeline) Circumstances() []string {
	var list []string
	if share := t.LackShare(); share > 0 {
		of := "their time in " + (t.End - t.Start).Short()
		if t.Unrecorded().Sign() > 0 {
			of = "the time that was recorded"
		}
		list = append(list, fmt.Sprintf("threads were without a CPU for %.1f %% of %s: others had it, and what of that was outside "+
			"waits made them slower",
			100*share, of))
	}
	if t.ForcedYield {
		list = append(list, "the recorder made MPI give up the CPU while it waits (--yield): without that the run may take much longer")
	}
	return list
}
