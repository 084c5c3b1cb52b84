// Package advise finds the changes of a program or its machine that pay, and proves each of them by simulating the run again.
//
// A kind of change is a file of this package with one entry in the table below: texts, where it could help (with a bound of what it
// could gain, from the critical path and the waits), and how it is made. Search simulates only what the bounds leave, and ranks by
// gain. The baseline is the simulated run, never the measured one: both sides of a gain come from the same model. Gains below the
// noise of the measurement are not ranked. The package reads no files and prints nothing.
package advise

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"slackline/internal/suggest"
	"slackline/model/unit"
)

// Info describes a kind of change for people.
type Info struct {
	Name    string // in changes, results and the verb explain
	Short   string // a few words
	Meaning string // what is simulated, and what it assumes
	Advice  string // how a developer makes the change
	Form    string // of the change, for help and errors
}

// kind is an entry of the table: a kind of change.
type kind struct {
	Info
	// upgrade: it is no repair of the program or of how it is started, but faster code or hardware. These are listed apart.
	upgrade bool
	// assumes is what must hold for the program to stay correct, which no trace tells; nil or empty: nothing. Such a change counts with half
	// of its gain when changes are ranked.
	assumes func(s *study, c Change) string
	// propose lists the changes that could help in a run, each with a bound of its gain.
	propose func(s *study) []candidate
	// apply makes the change in a scenario.
	apply func(ctx context.Context, x *Scenario, c Change) error
	// sentence says what to do, and where: the start of a sentence that goes on with what it saves.
	sentence func(s *study, c Change) string
}

// table is the list of all kinds. Changes of a set are made in this order.
var table []kind

// The entries refer to functions that look into the table, so it is filled here.
func init() {
	table = []kind{
		noiseKind, balanceKind, fasterKind, collectiveKind, arrivalKind, combineKind, barrierKind, sendFirstKind, earlyReceiveKind,
		nonblockingKind, algorithmKind, mappingKind, placementKind, threadsKind, eagerKind, latencyKind, bandwidthKind, overheadKind,
	}
}

// always is an assumption of all changes of a kind.
func always(text string) func(*study, Change) string {
	return func(*study, Change) string { return text }
}

// kindOf finds an entry of the table; nil: there is none.
func kindOf(name string) *kind {
	if i := slices.IndexFunc(table, func(k kind) bool { return k.Name == name }); i >= 0 {
		return &table[i]
	}
	return nil
}

// Kinds describes all kinds of changes.
func Kinds() []Info {
	var list []Info
	for i := range table {
		list = append(list, table[i].Info)
	}
	return list
}

// names are the names of all kinds.
func names() []string {
	var list []string
	for i := range table {
		list = append(list, table[i].Name)
	}
	return list
}

// Change is one change: what, how, and where.
type Change struct {
	Kind   string `json:"kind"`
	Value  string `json:"value,omitempty"`    // a strategy, a factor, an algorithm, a size
	Target string `json:"callpath,omitempty"` // call path with the MPI call at its end; empty: everywhere
}

// String returns the change as Parse reads it: KIND[:VALUE][@CALLPATH].
func (c Change) String() string {
	text := c.Kind
	if c.Value != "" {
		text += ":" + c.Value
	}
	if c.Target != "" {
		text += "@" + c.Target
	}
	return text
}

// Parse reads a change in the form KIND[:VALUE][@CALLPATH].
func Parse(text string) (Change, error) {
	head, target, _ := strings.Cut(text, "@")
	name, value, _ := strings.Cut(head, ":")
	name = strings.ReplaceAll(name, "-", "_")
	k := kindOf(name)
	if k == nil {
		return Change{}, fmt.Errorf("there is no kind of change %q%s; take %s", name, suggest.Phrase(name, names()), strings.Join(names(), ", "))
	}
	return Change{Kind: name, Value: value, Target: target}, nil
}

// badValue is the error of a change whose value cannot be used.
func (c Change) badValue() error {
	return fmt.Errorf("%s: expected %s, got %q", c.Kind, kindOf(c.Kind).Form, c.String())
}

// candidate is a change that could help, and a bound of what it could gain.
type candidate struct {
	change Change
	bound  unit.Duration
}
