package advise

import (
	"fmt"
	"strings"

	"slackline/model/unit"
)

// Result is what pays in a run.
type Result struct {
	RunTime    unit.Nanoseconds  `json:"run_time_ns"`           // simulated, as the program is
	Measured   *unit.Nanoseconds `json:"measured_ns,omitempty"` // of the recorded run, without start and end of MPI
	Difference *float64          `json:"difference,omitempty"`  // of the simulated to the measured time, as a share of that
	Noise      Floor             `json:"noise"`
	// changes of the program and of how it is started, the largest gain first; those that assume something count half
	Advice   []Advice  `json:"advice"`
	Upgrades []Advice  `json:"upgrades"`           // faster code and hardware, the largest gain first
	Ceilings []Ceiling `json:"ceilings"`           // what no change of a kind can exceed
	Together *Together `json:"together,omitempty"` // the best set of up to three
	Largest  float64   `json:"largest_gain"`       // of all changes that were tried, ranked or not; upgrades do not count
	Tried    int       `json:"tried"`              // changes that were simulated
	RuledOut int       `json:"ruled_out"`          // changes whose bound was below the noise
	Left     int       `json:"left"`               // changes for which there was no time
}

// Floor is the gain below which nothing is ranked, and what it rests on.
type Floor struct {
	Share float64  `json:"share"` // of the run time
	Basis []string `json:"basis"`
}

// Advice is a change that pays.
type Advice struct {
	Change
	Text     string           `json:"change"` // as --change takes it
	Sentence string           `json:"sentence"`
	Assumes  string           `json:"assumes,omitempty"` // what no trace tells, but must hold
	RunTime  unit.Nanoseconds `json:"run_time_ns"`       // with the change
	Before   unit.Nanoseconds `json:"-"`                 // without it
	Gain     float64          `json:"gain"`              // share of the run time
	Low      float64          `json:"gain_low"`
	High     float64          `json:"gain_high"`
	Basis    []string         `json:"basis"` // what the interval rests on
	Bound    float64          `json:"bound"` // what it could gain at most, before it was simulated
	// Variants are other values of the same change.
	Variants []Variant `json:"variants,omitempty"`
	PaysFrom string    `json:"pays_from,omitempty"` // the smallest value that gains more than the noise
	Command  string    `json:"command,omitempty"`   // that shows the same
}

// Variant is the same change with another value.
type Variant struct {
	Value   string           `json:"value"`
	RunTime unit.Nanoseconds `json:"run_time_ns"`
	Gain    float64          `json:"gain"`
}

// Ceiling is what no change of a kind can exceed.
type Ceiling struct {
	Name    string           `json:"name"` // perfect balance, ideal network, no noise
	RunTime unit.Nanoseconds `json:"run_time_ns"`
	Gain    float64          `json:"gain"`
}

// Together is a set of changes, simulated as one.
type Together struct {
	Changes []string         `json:"changes"`
	RunTime unit.Nanoseconds `json:"run_time_ns"`
	Gain    float64          `json:"gain"`
	Sum     float64          `json:"sum_of_gains"` // of the changes alone
	Command string           `json:"command,omitempty"`
}

// Each calls f for all advice, in the order of the lists.
func (r *Result) Each(f func(a *Advice)) {
	for _, list := range [][]Advice{r.Advice, r.Upgrades} {
		for i := range list {
			f(&list[i])
		}
	}
}

// Interval is the interval of the gain for people.
func (a *Advice) Interval() string {
	low, high := percent(a.Low), percent(a.High)
	if low == high {
		return low
	}
	return strings.TrimSuffix(low, " %") + " to " + high
}

// Say is the advice as a sentence: what to do, where, and what it saves.
func (a *Advice) Say() string {
	text := fmt.Sprintf("%s saves %s", a.Sentence, percent(a.Gain))
	if interval := a.Interval(); interval != percent(a.Gain) {
		text += fmt.Sprintf(" (%s)", interval)
	}
	text += fmt.Sprintf(" of the run time: %s instead of %s.", a.RunTime.Short(), a.Before.Short())
	if a.Assumes != "" {
		text += fmt.Sprintf(" This holds if %s.", a.Assumes)
	}
	return text
}
