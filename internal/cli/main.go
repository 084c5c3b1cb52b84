// Package cli is the command line of slackline: one file per verb, which reads
// flags, loads inputs, calls an analysis and prints its result.
//
// Nothing is computed here. Results go to the standard output, everything else
// to the standard error, and the meaning of the whole to the exit code.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"slackline/internal/cluster"
	"slackline/internal/fault"
	"slackline/internal/plain"
	"slackline/internal/suggest"
)

// The exit codes, as every help text states them.
const (
	exitFine        = 0
	exitFailure     = 1
	exitUsage       = 2
	exitCheckFailed = 3
	exitUnsure      = 4
	exitInterrupted = 130
)

const exitCodeHelp = "0 fine, 1 bad input or failure, 2 wrong usage, 3 a check failed, 4 inconclusive, 130 interrupted"

// Main runs slackline with the given arguments (without the program's name) and
// streams, and returns the exit code. An interrupt (SIGINT, SIGTERM, SIGHUP) ends the
// work in an orderly way; a second one ends the program.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	a := newApp(args, stdin, stdout, stderr)
	defer func() {
		if value := recover(); value != nil {
			code = a.exitCode(context.Background(), fault.New(value))
		}
	}()
	defer fault.Handle(func(e *fault.Error) { os.Exit(a.exitCode(context.Background(), e)) })()
	ctx, stop := signal.NotifyContext(context.Background(), interrupts()...)
	defer stop()
	context.AfterFunc(ctx, func() { // from the second signal on the system acts
		signal.Ignore(syscall.SIGHUP) // but a terminal that is closed sends several of these
		stop()
	})
	job, err := joinJob(ctx, args)
	a.takePart(ctx, job)
	if err != nil {
		return a.exitCode(ctx, err)
	}
	a.beQuiet()
	root := a.rootCommand()
	root.SetArgs(args)
	if err := a.seekJob(ctx, root); err != nil {
		return a.exitCode(ctx, err)
	}
	return a.exitCode(ctx, root.ExecuteContext(ctx))
}

// interrupts are the signals that end the work. SIGHUP is none under nohup.
func interrupts() []os.Signal {
	list := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// exitCode tells the user about err and returns the code that stands for it.
func (a *app) exitCode(ctx context.Context, err error) int {
	a.progress.Clear()
	var usage *usageError
	var verdict verdictError
	switch {
	case err == nil, errors.Is(err, errNotNeeded):
		return exitFine
	case errors.As(err, &verdict):
		return int(verdict)
	case errors.Is(err, cluster.ErrBroken):
		return exitFailure // process 0 tells of that of the other one
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		a.say("interrupted")
		return exitInterrupted
	case errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe):
		return exitFine // the reader of our output has seen enough
	case errors.As(err, &usage):
		return a.fail(exitUsage, usage.Error()+tryHelp(usage.command))
	case strings.HasPrefix(err.Error(), "unknown command "):
		return a.fail(exitUsage, a.unknownVerb(err)+tryHelp(toolName))
	case errors.Is(err, errSaid):
		return a.fail(exitFailure, "")
	}
	var mistake *fault.Error
	if errors.As(err, &mistake) {
		text := mistake.Error()
		if level := os.Getenv("GOTRACEBACK"); level != "" && level != "none" && level != "0" {
			text += "\n" + mistake.Stack
		}
		return a.fail(exitFailure, text)
	}
	return a.fail(exitFailure, plainText(err))
}

// tryHelp is the line that leads to the help of a command.
func tryHelp(command string) string {
	if command == "" {
		return ""
	}
	return fmt.Sprintf("\nTry '%s --help'.", command)
}

// fail tells the user, or the whole job, why the program ends with a code. Nothing
// is said of a failure of which the user knows.
func (a *app) fail(code int, text string) int {
	if !a.job.failed(code, strings.NewReplacer(a.marked("", "")...).Replace(plain.Text(text))) {
		a.failOutside(code, text)
	}
	return code
}

// plainText is the text of an error, with what the system says about a file in our words.
func plainText(err error) string {
	text := err.Error()
	var file *fs.PathError
	if !errors.As(err, &file) {
		return text
	}
	reason := file.Err.Error()
	if errors.Is(file.Err, fs.ErrNotExist) {
		reason = "no such file"
	}
	return strings.Replace(text, file.Error(), plain.Name(file.Path)+": "+reason, 1)
}

// unknownVerb says what cobra found out about a misspelt verb in our words.
func (a *app) unknownVerb(err error) string {
	var word, parent string
	if n, _ := fmt.Sscanf(err.Error(), "unknown command %q for %q", &word, &parent); n != 2 {
		return err.Error()
	}
	return fmt.Sprintf("unknown verb %s%s", word, suggest.Phrase(word, a.verbs()))
}

// usageError is a mistake in the command line.
type usageError struct {
	text    string
	command string // whose help tells more; empty: none
}

func (e *usageError) Error() string { return e.text }

// usagef returns a mistake in the command line.
func usagef(format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...)}
}

// verdictError ends a verb that did its work; its exit code says what came out.
type verdictError int

func (verdictError) Error() string { return "a check did not pass" }

// errSaid ends a verb that failed and has already told the user why.
var errSaid = errors.New("failed")
