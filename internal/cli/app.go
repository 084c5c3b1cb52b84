package cli

import (
	"crypto/rand"
	"fmt"
	"html"
	"html/template"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"slackline/internal/cluster"
	"slackline/internal/plain"
	"slackline/internal/progress"
	"slackline/internal/provenance"
)

const toolName = "slackline"

// app is one call of the program: its streams, the options that all verbs have,
// and what was said to the user.
type app struct {
	args   []string
	stdin  io.Reader
	stdout io.Writer // what is written there is escaped; raw is for what must not be
	stderr io.Writer
	marks  [2]string // begin and end of what is bold, in text that is not escaped yet

	color      choice
	quiet      bool
	noProgress bool

	root     *cobra.Command
	groups   map[*cobra.Command][]flagGroup
	progress *progress.Line
	warnings []string
	heard    func(remark) // gets notes and warnings in place of the user; nil: the user gets them

	launched bool                // by a launcher of MPI, as one of one or more processes
	job      *job                // of several processes; nil: there is none
	alone    bool                // only process 0 of the job goes on
	watched  *cluster.Watched    // the job, while process 0 finds out whether it would be faster alone
	told     []string            // notes meanwhile
	cluster  *provenance.Cluster // what the processes exchanged, when they have done their work
}

func newApp(args []string, stdin io.Reader, stdout, stderr io.Writer) *app {
	secret := rand.Text() // no name that others wrote can have it
	a := &app{
		args: args, stdin: stdin, marks: [2]string{"<" + secret + ">", "</" + secret + ">"},
		color:  newChoice("auto", "auto", "always", "never"),
		groups: map[*cobra.Command][]flagGroup{},
	}
	a.setStreams(stdout, stderr)
	return a
}

// setStreams sets the output of the program.
func (a *app) setStreams(stdout, stderr io.Writer) {
	a.stdout = plain.NewWriter(raw(stdout)).Pass(a.marked("\x1b[1m", "\x1b[0m")...)
	a.stderr = plain.NewWriter(raw(stderr)).Pass(a.marked("\x1b[1m", "\x1b[0m")...)
}

// marked are what stands for something else in text: the marks of what is bold, and words of the command line with line
// breaks, such as names of files, which must not begin a line of the output.
func (a *app) marked(begin, end string) []string {
	pairs := []string{a.marks[0], begin, a.marks[1], end}
	for _, word := range a.args {
		if strings.Contains(word, "\n") {
			text, name := plain.Text(word), plain.Name(word)
			pairs = append(pairs, text, name, html.EscapeString(text), html.EscapeString(name), template.HTMLEscapeString(text), template.HTMLEscapeString(name))
		}
	}
	return pairs
}

// raw is the stream below one that escapes: for bytes that are no text, and for programs that this one starts.
func raw(w io.Writer) io.Writer {
	if p, ok := w.(*plain.Writer); ok {
		return p.Raw()
	}
	return w
}

// noTerminal hides that a stream is a terminal.
func noTerminal(w io.Writer) io.Writer { return struct{ io.Writer }{raw(w)} }

// flagGroup is a set of flags that the help shows together.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

// addGroup gives a command further flags under a heading of their own.
func (a *app) addGroup(c *cobra.Command, title string, add func(*pflag.FlagSet)) {
	fs := pflag.NewFlagSet(title, pflag.ContinueOnError)
	fs.SortFlags = false
	add(fs)
	c.Flags().AddFlagSet(fs)
	a.groups[c] = append(a.groups[c], flagGroup{title, fs})
}

// rootCommand builds the tree of verbs.
func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   toolName,
		Short: "Find out who waits in a parallel program and why, what it tolerates, how it scales, and what would change elsewhere.",
		Example: `  slackline record -- mpirun -n 8 ./app
  slackline waits app.slt --explain
  slackline simulate app.slt --ranks 4096 --machine chic --noise chic
  slackline tolerance app.slt --machine piz-daint
  slackline simulate dissemination --ranks 2^20 --machine altix --noise altix --replicas 20
  slackline check expectations.yaml results.json`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		DisableAutoGenTag: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if err := a.enterJob(c); err != nil {
				return err
			}
			return a.applySettings(c)
		},
		Version: versionLine(),
	}
	root.DisableSuggestions = true // ours are better
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { a.writeHelp(a.stdout, c) })
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(a.helpCommand())
	fs := root.PersistentFlags()
	fs.SortFlags = false
	fs.Var(&a.color, "color", "colour in the text output")
	fs.BoolVar(&a.quiet, "quiet", false, "no notes and no progress on the standard error; warnings and errors stay")
	fs.BoolVar(&a.noProgress, "no-progress", false, "no progress line on the standard error")
	complete(root, "color", a.color.allowed)
	root.AddCommand(
		a.recordCommand(),
		a.injectCommand(),
		a.simulateCommand(),
		a.toleranceCommand(),
		a.generateCommand(),
		a.convertCommand(),
		a.machineCommand(),
		a.noiseCommand(),
		a.scalingCommand(),
		a.checkCommand(),
		a.campaignCommand(),
		a.measureCommand(),
		a.doctorCommand(),
		a.waitsCommand(),
		a.profileCommand(),
		a.compareCommand(),
		a.exploreCommand(),
		a.explainCommand(),
		a.reportCommand(),
		a.demoCommand(),
		a.completionCommand(),
		a.manCommand(),
		a.versionCommand(),
	)
	root.RunE = func(*cobra.Command, []string) error {
		a.writeHelp(a.stderr, root)
		return usagef("give a verb")
	}
	a.root = root
	return root
}

// verbs are the names of the verbs, for suggestions.
func (a *app) verbs() []string {
	var names []string
	for _, c := range a.root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}

// say tells the user something on the standard error.
func (a *app) say(text string) {
	a.progress.Clear()
	fmt.Fprintf(a.stderr, "%s: %s\n", toolName, text)
}

// remark is a note or a warning.
type remark struct {
	Text    string
	Warning bool
}

// note tells something that a user in a hurry can do without.
func (a *app) note(format string, args ...any) {
	switch text := fmt.Sprintf(format, args...); {
	case a.heard != nil:
		a.heard(remark{Text: text})
	case !a.quiet && !a.toldBefore(text):
		a.say(text)
	}
}

// warn tells that the result may not be what the user thinks. The warning
// becomes a part of the result's provenance. Each is told once.
func (a *app) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if a.heard != nil {
		a.heard(remark{text, true})
		return
	}
	for _, w := range a.warnings {
		if w == text {
			return
		}
	}
	a.warnings = append(a.warnings, text)
	a.say("warning: " + text)
}

// startProgress begins a progress line on the standard error, unless the user
// wants none.
func (a *app) startProgress() *progress.Line {
	if !a.quiet && !a.noProgress {
		a.progress = progress.New(raw(a.stderr), isTerminal(a.stderr), widthOf(a.stderr))
	}
	return a.progress
}

// defaultWidth is how wide text is where no terminal says otherwise.
const defaultWidth = 100

// widthOf is the width of the text written to w.
func widthOf(w io.Writer) int {
	if f, ok := raw(w).(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return defaultWidth
}

func isTerminal(w io.Writer) bool {
	f, ok := raw(w).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// bold decorates a heading on the standard output, if colour is wanted there.
func (a *app) bold(s string) string {
	on := a.color.value == "always"
	if a.color.value == "auto" {
		on = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(a.stdout)
	}
	if !on || s == "" {
		return s
	}
	return a.marks[0] + s + a.marks[1]
}
