// Package simulate runs a schedule on a machine and returns when every rank finishes.
//
// Two models: loggops, with CPUs and NICs that are taken one message at a time and with noise; and
// loggps, the static model of the latency tolerance, without contention. Two engines for
// loggops, with one semantics: the window engine, which lets ranks run independently for as long
// as no message can travel, on any number of threads; and the event engine, one queue for all,
// for what has no such window. Results do not depend on the engine or the number of threads.
//
// The package does no input or output and does not print.
package simulate

import (
	"slackline/internal/cluster"
	"slackline/model/collective"
	"slackline/model/noise"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// Model is what a message costs and who competes with whom.
type Model string

// The models.
const (
	LogGOPS Model = "loggops"
	LogGPS  Model = "loggps"
)

// Options describe how to run; the zero value is a run of loggops on all cores, without noise.
type Options struct {
	Model   Model               // empty: LogGOPS
	Mapping *collective.Mapping // algorithms of the collectives; nil: the default mapping
	Threads int                 // 0: one per core
	Noise   *noise.Injection    // nil: none
	// Group is the processes that share the run, each with the same program, machine and options; of
	// a program in memory each needs its ranks only (RanksOf). nil: this process does all. Lists by
	// rank are in the result of process 0 only.
	Group cluster.Group

	Detail    bool // record Result.Detail
	Causes    bool // record Result.Causes
	Calls     bool // record Result.Calls
	Breakdown bool // fill Result.Ranks

	// Progress is called now and then with the simulated time and the messages so far.
	Progress func(now unit.Duration, messages int64)

	pace pacer // nil: by measurement; tests have others
}

// Result is the outcome of a run.
type Result struct {
	Engine   string          `json:"engine"` // "window", "event", "tree" (replicas only) or "static"
	Threads  int             `json:"threads"`
	Makespan unit.Duration   `json:"makespan_ns"` // the latest finish
	Messages int64           `json:"messages"`
	Ops      int64           `json:"ops"` // operations carried out, after the expansion of collectives
	Queues   Queues          `json:"queues"`
	Finish   []unit.Duration `json:"finish_ns"` // by rank
	Ranks    []Breakdown     `json:"-"`         // by rank; only with Options.Breakdown

	Detail *timeline.Detail `json:"-"` // only with Options.Detail
	Causes *Causes          `json:"-"` // only with Options.Causes
	// Calls is the run as a recorder of the program would have seen it; only with Options.Calls.
	Calls *timeline.Timeline `json:"-"`

	Warnings []string `json:"-"`

	Together *Together `json:"-"` // how several processes made the result; nil: one made it
}

// Queues are the statistics of the matching.
type Queues struct {
	Expected      int64 `json:"expected"`       // messages that found their receive posted
	Unexpected    int64 `json:"unexpected"`     // messages that had to wait for it
	Rendezvous    int64 `json:"rendezvous"`     // messages larger than S
	MaxPosted     int   `json:"max_posted"`     // longest queue of posted receives of any rank
	MaxUnexpected int   `json:"max_unexpected"` // longest queue of unexpected messages of any rank
}

// Breakdown describes where the time of a rank went. The parts add up to its finish time, or, with
// several CPUs, to the finish time multiplied by their number.
type Breakdown struct {
	Compute  unit.Duration // calculations
	Overhead unit.Duration // CPU time of sends and of arriving messages
	Noise    unit.Duration // CPU time taken by detours and delays while there was work
	Waiting  unit.Duration // the rest
}
