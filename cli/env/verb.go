package env

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"slackline/cli/flags"
)

// Verb is all that the registry knows of a verb. Help, completion, manual pages, the index of the documents and the part that
// it takes in an MPI job follow from it.
type Verb struct {
	Name  string
	Group Group
	Job   Role
	New   func(*Env) *cobra.Command

	Documents Documents
}

// Documents are the JSON documents of a verb by name, with a hyphen before what follows the verb (measure-noise), and
// zero values of the types that each may have. They have schemas.
type Documents map[string][]any

// Group is a heading under which the help lists verbs.
type Group string

// The groups, in the order of the help.
const (
	Observe Group = "Observe"
	Analyze Group = "Analyze"
	Show    Group = "Show"
	Prepare Group = "Prepare inputs"
	Others  Group = "Others"
)

// Groups lists the headings.
func Groups() []Group { return []Group{Observe, Analyze, Show, Prepare, Others} }

// Role is how a verb takes part in an MPI job of several processes.
type Role int

// The roles.
const (
	FirstOnly Role = iota // process 0 runs it alone, with a warning
	Shared                // the processes share its work
	Outside               // it does not join the job: it starts programs of its own, which may be the processes of the job
	OnceOnly              // as Outside, and one process is enough
)

const roleKey = "role" // of the annotation of a command

// Command returns the verb's command.
func (v *Verb) Command(a *Env) *cobra.Command {
	c := v.New(a)
	c.GroupID = string(v.Group)
	v.Job.Assign(c)
	return c
}

// Assign gives the role to a command, and to all below it that have none of their own.
func (r Role) Assign(c *cobra.Command) {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[roleKey] = strconv.Itoa(int(r))
}

// roleOf is the role of a command.
func roleOf(c *cobra.Command) Role {
	for ; c.HasParent(); c = c.Parent() {
		if text, ok := c.Annotations[roleKey]; ok {
			n, _ := strconv.Atoi(text)
			return Role(n)
		}
	}
	return OnceOnly // the program without a verb prints its help
}

// groupOf is the group of a command, or of the verb above it.
func groupOf(c *cobra.Command) Group {
	for ; c != nil; c = c.Parent() {
		if c.GroupID != "" {
			return Group(c.GroupID)
		}
	}
	return Others
}

// joins reports whether the processes that a launcher started join their job to run a command.
func (r Role) joins() bool { return r == FirstOnly || r == Shared }

// verbOf is what the user typed to name a command.
func verbOf(c *cobra.Command) string { return strings.TrimPrefix(c.CommandPath(), flags.Tool+" ") }
