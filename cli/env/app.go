// Package env is one call of the program, as the verbs see it: streams, notes and warnings, progress, outputs that appear
// complete or not at all, and the processes of an MPI job that share the call. It does not know any verb.
package env

import (
	"crypto/rand"
	"fmt"
	"html"
	"html/template"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"slackline/cli/flags"
	"slackline/cli/job"
	"slackline/internal/cluster"
	"slackline/internal/plain"
	"slackline/internal/progress"
	"slackline/internal/provenance"
)

// Env is one call of the program: its streams, the options that all verbs have,
// and what was reported to the user.
type Env struct {
	Args   []string
	Stdin  io.Reader
	Stdout io.Writer // what is written there is escaped; raw is for what must not be
	Stderr io.Writer
	marks  [2]string // start and end of what is bold, in text that is not escaped yet

	Color      string // auto, always or never
	Quiet      bool
	NoProgress bool

	Root     *cobra.Command
	Verbs    []*Verb                   // all that there are
	Build    func(*Env) *cobra.Command // makes the tree of verbs
	Groups   map[*cobra.Command][]flagGroup
	Progress *progress.Line
	Warnings []string
	OnRemark func(Remark) // gets notes and warnings in place of the user; nil: the user gets them

	observes atomic.Bool         // the verb is of the group Observe
	Launched bool                // by a launcher of MPI, as one of one or more processes
	Job      *job.Job            // of several processes; nil: there is none
	Alone    bool                // only process 0 of the job goes on
	watched  *cluster.Watched    // the job, while process 0 finds out whether it would be faster alone
	noted    []string            // notes meanwhile
	cluster  *provenance.Cluster // what the processes exchanged, when they have done their work
	unkept   error               // the first file besides the result that could not be written
}

func New(args []string, stdin io.Reader, stdout, stderr io.Writer) *Env {
	secret := rand.Text() // no name that others wrote can have it
	a := &Env{
		Args: args, Stdin: stdin, marks: [2]string{"<" + secret + ">", "</" + secret + ">"},
		Groups: map[*cobra.Command][]flagGroup{},
	}
	a.setStreams(stdout, stderr)
	return a
}

// setStreams sets the output of the program.
func (a *Env) setStreams(stdout, stderr io.Writer) {
	a.Stdout = plain.NewWriter(Raw(stdout)).Pass(a.Marked("\x1b[1m", "\x1b[0m")...)
	a.Stderr = plain.NewWriter(Raw(stderr)).Pass(a.Marked("\x1b[1m", "\x1b[0m")...)
}

// Marked are pairs of a text and what replaces it: the marks of what is bold, and words of the command line with line
// breaks, such as names of files, which must not start a line of the output.
func (a *Env) Marked(begin, end string) []string {
	pairs := []string{a.marks[0], begin, a.marks[1], end}
	for _, word := range a.Args {
		if strings.Contains(word, "\n") {
			text, name := plain.Text(word), plain.Name(word)
			pairs = append(pairs, text, name, html.EscapeString(text), html.EscapeString(name), template.HTMLEscapeString(text),
				template.HTMLEscapeString(name))
		}
	}
	return pairs
}

// Raw is the stream below one that escapes: for bytes that are not text, and for programs that this one starts.
func Raw(w io.Writer) io.Writer {
	if p, ok := w.(*plain.Writer); ok {
		return p.Raw()
	}
	return w
}

// noTerminal hides that a stream is a terminal.
func noTerminal(w io.Writer) io.Writer { return struct{ io.Writer }{Raw(w)} }

// flagGroup is a set of flags that the help shows together.
type flagGroup struct {
	Title string
	Flags *pflag.FlagSet
}

// AddGroup gives a command further flags under a heading of their own.
func (a *Env) AddGroup(c *cobra.Command, title string, add func(*pflag.FlagSet)) {
	fs := pflag.NewFlagSet(title, pflag.ContinueOnError)
	fs.SortFlags = false
	add(fs)
	c.Flags().AddFlagSet(fs)
	flags.CompleteChoices(c, fs)
	a.Groups[c] = append(a.Groups[c], flagGroup{title, fs})
}

// Say writes a message to the standard error. It may have several lines, but none of them looks like another message: that
// would be a name with a line break.
func (a *Env) Say(text string) {
	a.Progress.Clear()
	begin := flags.Tool + ": "
	fmt.Fprintln(a.Stderr, begin+strings.ReplaceAll(plain.Short(text), "\n"+begin, `\n`+begin))
}

// Remark is a note or a warning.
type Remark struct {
	Text    string
	Warning bool
}

// Note reports what a user in a hurry can do without.
func (a *Env) Note(format string, args ...any) {
	switch text := fmt.Sprintf(format, args...); {
	case a.OnRemark != nil:
		a.OnRemark(Remark{Text: text})
	case !a.Quiet && !a.toldBefore(text):
		a.Say(text)
	}
}

// Warn reports that the result may not be what the user thinks. The warning
// becomes a part of the result's provenance. Each is reported once.
func (a *Env) Warn(format string, args ...any) {
	text := plain.Short(fmt.Sprintf(format, args...))
	if a.OnRemark != nil {
		a.OnRemark(Remark{text, true})
		return
	}
	if slices.Contains(a.Warnings, text) {
		return
	}
	a.Warnings = append(a.Warnings, text)
	a.Say("warning: " + text)
}

// WarnAll is Warn for each of the texts.
func (a *Env) WarnAll(texts []string) {
	for _, text := range texts {
		a.Warn("%s", text)
	}
}

// WarnOfVoid warns of the flags of these names that were given and have no influence; why follows.
func (a *Env) WarnOfVoid(c *cobra.Command, why string, names ...string) {
	for _, name := range names {
		if c.Flags().Changed(name) {
			a.Warn("--%s has no influence%s", name, why)
		}
	}
}

// WarnOfAllBut is WarnOfVoid for all flags of a verb but these.
func (a *Env) WarnOfAllBut(c *cobra.Command, why string, names ...string) {
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(names, f.Name) {
			a.WarnOfVoid(c, why, f.Name)
		}
	})
}

// StartProgress begins a progress line on the standard error, unless the user
// wants none.
func (a *Env) StartProgress() *progress.Line {
	if !a.Quiet && !a.NoProgress {
		a.Progress = progress.New(Raw(a.Stderr), IsTerminal(a.Stderr), WidthOf(a.Stderr))
	}
	return a.Progress
}

// DefaultWidth is how wide text is where no terminal says otherwise.
const DefaultWidth = 100

// WidthOf is the width of the text written to w.
func WidthOf(w io.Writer) int {
	if f, ok := Raw(w).(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return DefaultWidth
}

func IsTerminal(w io.Writer) bool {
	f, ok := Raw(w).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Bold decorates a heading on the standard output, if color is wanted there.
func (a *Env) Bold(s string) string {
	on := a.Color == "always"
	if a.Color == "auto" {
		on = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && IsTerminal(a.Stdout)
	}
	if !on || s == "" {
		return s
	}
	return a.marks[0] + s + a.marks[1]
}
