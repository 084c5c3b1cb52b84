// Package missing says what is missing of runs, so that numbers of a part are not taken for those of the whole.
package missing

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"slackline/internal/phrase"
	"slackline/model/unit"
)

// Parts are what is missing of a run. The zero value is a whole run. In JSON they are members of what describes the run.
type Parts struct {
	Off       float64 `json:"not_recorded_share,omitempty"`  // of the time of all threads, also of the recorded run that was simulated
	How       string  `json:"recording,omitempty"`           // what chose when recording was on, e.g. window 1s..2s; empty: the program
	Ranks     int     `json:"incomplete_ranks,omitempty"`    // that were not recorded, or not to their end, or whose events are damaged
	Files     int     `json:"lost_files,omitempty"`          // that could not be read, or not all of them; whose ranks, is not known
	Profiled  string  `json:"profiled_ranks,omitempty"`      // ranks of a larger job that left files of a profiler, e.g. 0..3,7; empty: all
	Only      string  `json:"only_ranks,omitempty"`          // the ranks that were read, e.g. 0..3,7; empty: all
	Begin     float64 `json:"part_begin_s,omitempty"`        // what was read of the run, in seconds since its start
	End       float64 `json:"part_end_s,omitempty"`          // 0: to its end
	Whole     bool    `json:"whole,omitempty"`               // the start and the end of MPI are in it, because --whole asked for them
	Simulated bool    `json:"simulated,omitempty"`           // from what there is: the run time is not that of the whole, either
	Unmatched int     `json:"unmatched,omitempty"`           // messages and collectives that lack a partner: their waits are left out
	Guessed   int     `json:"guessed_connections,omitempty"` // between worlds of processes: which they join, is not certain
	Circles   int     `json:"circular_waits,omitempty"`      // wait states that depend on each other in circles: the clocks are wrong
}

// Check refuses what no run is without: less than nothing, as a damaged result says. A gate would take such a run for a whole one.
func (p *Parts) Check() error {
	if p.Off < 0 || p.Ranks < 0 || p.Files < 0 || p.Begin < 0 || p.End < 0 || min(p.Unmatched, p.Circles, p.Guessed) < 0 {
		return errors.New("an amount of what is missing of the run is below 0")
	}
	return nil
}

// Kind is what a number of a run is: of what is missing, not everything matters to all.
type Kind int

// The kinds of numbers.
const (
	Time    Kind = iota // of parts of the run, by the clock of one rank
	RunTime             // of the run as a whole; known even if recording was off
	Wait                // by the clocks of several ranks
)

// Everything reports whether recording was off all the time, so that nothing is known of the run.
func (p Parts) Everything() bool { return p.Off == 1 }

// Ring is how a run was recorded of which the last records of each thread were kept: how long they last is chance.
const Ring = "ring"

// much is the share of time that changes other numbers if it is not recorded.
const much = 0.01

// words say what the numbers of a run are of: all runs with the same words can be compared.
func (p *Parts) words(kind Kind) string {
	var list []string
	add := func(is bool, format string, args ...any) {
		if is {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	off := p.Off >= much
	how := ""
	if p.How != "" {
		how = " (" + p.How + ")"
	}
	add(off && p.Simulated, "simulated from a part%s", how)
	add(off && !p.Simulated && kind != RunTime, "recorded in part only%s", how)
	add(p.Ranks > 0, "incomplete (events of %s are missing)", phrase.Plural(p.Ranks, "rank"))
	add(p.Files > 0, "incomplete (%s damaged or missing)", files(p.Files))
	add(p.Profiled != "", "of the files of ranks %s only", p.Profiled)
	add(p.Only != "", "of ranks %s only", p.Only)
	add(p.Begin > 0 || p.End > 0, "of the part from %s only", p.part())
	add(p.Whole && kind != RunTime, "with the start and the end of MPI")
	add(p.lacksPartners(kind), "with unmatched messages or collectives (%d)", p.Unmatched)
	add(p.guesses(kind), "with guessed connections between started processes (%d)", p.Guessed)
	add(p.Circles > 0 && kind == Wait, "of wrong clocks (%s)", phrase.Circles(p.Circles))
	return strings.Join(list, ", ")
}

func files(n int) string {
	if n == 1 {
		return "1 file is"
	}
	return fmt.Sprintf("%d files are", n)
}

func (p *Parts) part() string {
	seconds := func(s float64) string { return unit.Duration(s * float64(unit.Second)).Short() }
	if p.End == 0 {
		return seconds(p.Begin) + " on"
	}
	return seconds(p.Begin) + " to " + seconds(p.End)
}

// chance reports whether what is missing was not chosen: even with another run of which as much is missing it is not comparable.
func (p *Parts) chance(kind Kind) bool {
	return p.Ranks+p.Files > 0 || p.How == Ring && p.Off >= much && (p.Simulated || kind != RunTime) ||
		p.lacksPartners(kind) || p.guesses(kind) || p.Circles > 0 && kind == Wait
}

// lacksPartners reports whether messages or collectives without partner matter: all of them are missing in a simulation.
func (p *Parts) lacksPartners(kind Kind) bool {
	return p.Unmatched > 0 && (p.Simulated || kind == Wait)
}

// guesses reports whether messages matter that may have another partner.
func (p *Parts) guesses(kind Kind) bool { return p.Guessed > 0 && (p.Simulated || kind == Wait) }

// Ranks are ranks in ascending order, as numbers and ranges.
func Ranks(list []int) string {
	var words []string
	for i := 0; i < len(list); {
		last := i
		for last+1 < len(list) && list[last+1] == list[last]+1 {
			last++
		}
		if last > i {
			words = append(words, fmt.Sprintf("%d..%d", list[i], list[last]))
		} else {
			words = append(words, strconv.Itoa(list[i]))
		}
		i = last + 1
	}
	return strings.Join(words, ",")
}

// Run is a run by its name; whole ones may have none.
type Run struct {
	Name    string `json:"run,omitempty"`
	Machine string `json:"machine,omitempty"` // on which it was simulated; empty: not known, or it was recorded
	Parts
}

// IsWhole reports whether nothing is missing of a run that matters to any number.
func (r *Run) IsWhole() bool { return r.words(Wait) == "" }

// Describe says in words what is missing of a run.
func Describe(p Parts) string { return p.words(Wait) }

// Doubt says why numbers of the runs cannot be compared with each other; empty: they can. Those of runs of which the same part was chosen
// can: programs may record their solver alone. Those of runs that were simulated on different machines cannot.
func Doubt(runs []Run, kind Kind) string {
	for i := range runs {
		r, first := &runs[i], &runs[0]
		switch words := r.words(kind); {
		case r.chance(kind):
			return r.is(words)
		case words != first.words(kind):
			if words == "" {
				r, first = first, r
			}
			return r.is(r.words(kind)) + ", " + first.is(cmp.Or(first.words(kind), "not"))
		}
	}
	var first Run // of a known machine
	for _, r := range runs {
		if first.Machine == "" {
			first = r
		}
		if r.Machine != "" && r.Machine != first.Machine {
			return r.is("of the machine "+r.Machine) + ", " + first.is("of "+first.Machine)
		}
	}
	return ""
}

func (r *Run) is(words string) string {
	if r.Name == "" {
		return "others are " + words
	}
	return r.Name + " is " + words
}

// Join adds runs to a list that has one of each kind, the first.
func Join(list []Run, more ...Run) []Run {
	for _, r := range more {
		known := false
		for i := range list {
			known = known || list[i].Machine == r.Machine && list[i].words(Wait) == r.words(Wait) && list[i].words(RunTime) == r.words(RunTime)
		}
		if !known {
			list = append(list, r)
		}
	}
	return list
}
