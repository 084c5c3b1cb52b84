package report

import (
	"slackline/analyze/advise"
	"slackline/analyze/scaling"
	"slackline/analyze/simulate"
	"slackline/analyze/waits"
	"slackline/analyze/whatif"
	"slackline/internal/provenance"
	"slackline/model/collective"
	"slackline/model/dataset"
	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/model/unit"
)

// Input is everything that a report is made of. All of it is optional, but something must be there.
type Input struct {
	Title string
	Runs  []*Run // the first is the one that the report is about

	Data  *dataset.Dataset // measurements
	Words []string         // that name them in commands
	Where float64          // value of the first parameter at which models predict; 0: four times the largest
	// Of makes a dataset of a run, for series of runs.
	Of func(*waits.Result) *dataset.Dataset

	Expectations *Expectations

	// Advise asks what pays in the first run, if that has a program; Estimate are the flags of its machine, if that was estimated.
	Advise   *advise.Question
	Estimate string

	Machine *Machine
	Model   simulate.Model // of what is simulated
	Noise   *Noise         // nil: none
	Mapping *Mapping
	Scales  []int // numbers of ranks at which the program is simulated; nil: some

	Threads  int // 0: one
	Whole    bool
	Warnings []string // of those who opened the inputs
	Record   *provenance.Record

	// Progress is called with what is being done; nil: not at all.
	Progress func(what string)
}

// Run is a recorded or simulated run, and what can be asked about it.
type Run struct {
	Name       string   // as the user wrote it
	Words      []string // for commands that look at the run: its name and flags
	Simulate   []string // for commands that simulate it
	Read       []string // flags among these without which it cannot be read
	Format     string   // of the file, or "simulation"
	Timeline   *timeline.Timeline
	Properties trace.Properties   // what a trace records about its program
	Clocks     *trace.ClockReport // nil: not recorded
	Machine    string             // on which it was simulated; empty: it was recorded

	Begin, End unit.Duration // part that the user wants, since the start of the run; End 0: to its end

	// Program is what is simulated to answer what-if questions; nil: it cannot be simulated, for the reason NoProgram.
	Program   schedule.Program
	NoProgram string
	// Scaled makes the program for other numbers of ranks; nil: it cannot be made.
	Scaled   func(ranks int) (schedule.Program, error)
	Denoised bool          // the noise of the recorded machine was taken out of the program
	Span     unit.Duration // of the recorded run without start and end of MPI: what a simulation should take
}

// Machine is where programs are simulated.
type Machine struct {
	*machine.Machine
	Words   []string // flags that describe it
	Assumed bool     // the user named none
}

// Noise is what is put on the ranks of simulated programs.
type Noise struct {
	whatif.Noise
	Name     string
	Words    []string
	Replicas int
}

// Mapping decides how collectives become messages.
type Mapping struct {
	*collective.Mapping
	Words []string
}

// Expectations are held against measurements.
type Expectations struct {
	*scaling.Expectations
	Name string
}
