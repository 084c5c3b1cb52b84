package whatif

import (
	"slices"

	"slackline/analyze/simulate"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// CriticalPath is the chain of causes from the start of the run to the last finish. Its parts,
// from Compute to Noise, add up to the makespan.
type CriticalPath struct {
	LastRank int `json:"last_rank"` // where it ends: the last rank to finish, the lowest of equal ones
	Steps    int `json:"steps"`     // calculations, sends and arriving messages on it
	Messages int `json:"messages"`  // that it follows from one rank to another
	Ranks    int `json:"ranks"`     // different ranks that it visits

	Compute  unit.Nanoseconds `json:"compute_ns"`
	Overhead unit.Nanoseconds `json:"overhead_ns"` // CPU time of sends and arriving messages
	Latency  unit.Nanoseconds `json:"latency_ns"`
	Bytes    unit.Nanoseconds `json:"bytes_ns"` // transfer of bytes, at receivers and in gaps
	Gap      unit.Nanoseconds `json:"gap_ns"`   // g between messages
	Noise    unit.Nanoseconds `json:"noise_ns"`

	// Held are the steps on the path that noise prolonged, in the order of time.
	Held []Hold `json:"held"`
}

// Hold is a step on the critical path that noise prolonged.
type Hold struct {
	Rank   int              `json:"rank"`
	Start  unit.Nanoseconds `json:"start_ns"` // of the step
	Noise  unit.Nanoseconds `json:"noise_ns"`
	During string           `json:"during"` // compute, send or receive
}

var stepNames = map[timeline.Kind]string{
	timeline.Compute: "compute", timeline.Send: "send", timeline.Receive: "receive",
}

// Length is the sum of the parts: the makespan.
func (p *CriticalPath) Length() unit.Duration {
	return unit.Duration(p.Compute + p.Overhead + p.Latency + p.Bytes + p.Gap + p.Noise)
}

// How the critical path leaves a step.
const (
	leftByEnd     = 1 << iota // at its end: all its noise is on the path
	leftByMessage             // with its message: only the noise before that left
)

// walk follows the causes back from the last finish and marks the steps on the way.
func (w *attributionWork) walk() CriticalPath {
	p := CriticalPath{Held: []Hold{}}
	for rank, f := range w.run.Finish {
		if f > w.run.Finish[p.LastRank] {
			p.LastRank = rank
		}
	}
	visited := make(map[int32]bool)
	for at := w.causes.Finish[p.LastRank]; at.Edge != simulate.FromRunStart; {
		s := w.causes.Step(int(at.Step))
		parts := w.parts(int(at.Step))
		held := unit.Nanoseconds(0)
		switch at.Edge {
		case simulate.FromEnd:
			held = p.addStep(w, s, &parts)
			w.left[at.Step] |= leftByEnd
		case simulate.FromGap:
			c := w.causes.Cost(s)
			p.Gap += unit.Nanoseconds(c.Gap)
			p.Bytes += unit.Nanoseconds(c.Bytes)
		case simulate.FromMessage:
			c := w.causes.Cost(s)
			held = unit.Nanoseconds(parts[0].noise)
			p.Latency += unit.Nanoseconds(c.Latency)
			p.Overhead += unit.Nanoseconds(c.Overhead)
			w.left[at.Step] |= leftByMessage
			p.Messages++
		}
		if held > 0 {
			p.Held = append(p.Held, Hold{int(s.Rank), unit.Nanoseconds(s.Start), held, stepNames[s.Kind]})
		}
		p.Noise += held
		p.Steps++
		if !visited[s.Rank] {
			visited[s.Rank] = true
			p.Ranks++
		}
		at = s.Because()
	}
	slices.Reverse(p.Held)
	return p
}

// addStep adds a whole step and returns the noise that prolonged it.
func (p *CriticalPath) addStep(w *attributionWork, s *simulate.Step, parts *[2]noisePart) unit.Nanoseconds {
	held := parts[0].noise - parts[0].hidden + parts[1].noise
	switch s.Kind {
	case timeline.Compute:
		p.Compute += unit.Nanoseconds(int64(s.End-s.Start) - held)
	case timeline.Send:
		c := w.causes.Cost(s)
		p.Overhead += unit.Nanoseconds(c.Overhead + c.CPUBytes)
	case timeline.Receive:
		c := w.causes.Cost(s)
		p.Bytes += unit.Nanoseconds(max(c.Bytes, c.CPUBytes))
		p.Overhead += unit.Nanoseconds(c.Overhead)
	}
	return unit.Nanoseconds(held)
}
