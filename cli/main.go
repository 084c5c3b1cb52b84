// Package cli is the command line of slackline: the registry of verbs, and what holds for all of them, such as help,
// manual pages, settings and the exit code.
//
// Each verb is a package of its own below this one. It reads flags, resolves its inputs (cli/scenario), asks an analysis
// and hands the result to a writer; nothing is computed here. Results go to the standard output, everything else to
// the standard error, and the verdict to the exit code.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	clijob "slackline/cli/job"
	"slackline/internal/cluster"
	"slackline/internal/fault"
	"slackline/internal/plain"
	"slackline/internal/suggest"
)

// Main runs slackline with the given arguments (without the program's name) and
// streams, and returns the exit code. An interrupt (SIGINT, SIGTERM, SIGHUP) ends the
// work in an orderly way; a second one ends the program.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	keepTight()
	refuseClosed(stdout)
	a := env.New(args, stdin, stdout, stderr)
	a.Build = func(a *env.Env) *cobra.Command { return rootCommand(a) }
	defer func() {
		if value := recover(); value != nil {
			code = exitCode(a, context.Background(), fault.New(value))
		}
	}()
	defer fault.Handle(func(e *fault.Error) { os.Exit(exitCode(a, context.Background(), e)) })()
	ctx, stop := signal.NotifyContext(context.Background(), interrupts()...)
	defer stop()
	context.AfterFunc(ctx, func() { // from the second signal on the system acts
		signal.Ignore(syscall.SIGHUP) // but a terminal that is closed sends several of these
		time.Sleep(time.Second)       // and who has started this one may hand on the first one, which it has got, too
		stop()
	})
	defer a.EndInTime(ctx)()
	job, err := clijob.Join(ctx, args)
	a.TakePart(ctx, job)
	if err != nil {
		return exitCode(a, ctx, err)
	}
	a.BeQuiet()
	root := rootCommand(a)
	root.SetArgs(args)
	if err := a.SeekJob(ctx, root); err != nil {
		return exitCode(a, ctx, err)
	}
	err = root.ExecuteContext(ctx)
	if out, ok := a.Stdout.(*plain.Writer); err == nil && ok {
		err = out.Err() // help and versions do not look at it
	}
	return exitCode(a, ctx, err)
}

// interrupts are the signals that end the work. SIGHUP is none under nohup.
func interrupts() []os.Signal {
	list := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// exitCode reports err to the user and returns its exit code.
func exitCode(a *env.Env, ctx context.Context, err error) int {
	a.Progress.Clear()
	var usage *exit.UsageError
	var verdict exit.Verdict
	switch {
	case err == nil, errors.Is(err, env.ErrNotNeeded):
		return exit.Fine
	case errors.As(err, &verdict):
		return int(verdict)
	case errors.Is(err, cluster.ErrBroken):
		return exit.Failure // process 0 reports the error of the other process
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		a.Say("interrupted")
		return exit.Interrupted
	case errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe):
		return exit.Fine // the reader of our output has seen enough
	case errors.As(err, &usage):
		return fail(a, exit.Usage, usage.Error()+exit.TryHelp(usage.Command))
	case strings.HasPrefix(err.Error(), "unknown command "):
		return fail(a, exit.Usage, unknownVerb(err)+exit.TryHelp(flags.Tool))
	case errors.Is(err, exit.ErrReported):
		return fail(a, exit.Failure, "")
	}
	var mistake *fault.Error
	if errors.As(err, &mistake) {
		text := mistake.Error()
		if level := os.Getenv("GOTRACEBACK"); level != "" && level != "none" && level != "0" {
			text += "\n" + mistake.Stack
		}
		return fail(a, exit.Failure, text)
	}
	return fail(a, exit.Failure, exit.PlainText(err))
}

// fail reports to the user, or to the whole job, why the program ends with a code. A failure that was
// reported before is not repeated.
func fail(a *env.Env, code int, text string) int {
	if !a.Job.Failed(code, strings.NewReplacer(a.Marked("", "")...).Replace(plain.Text(text))) {
		a.FailOutside(code, text)
	}
	return code
}

// unknownVerb says what cobra found out about a misspelt verb in our words.
func unknownVerb(err error) string {
	var word, parent string
	if n, _ := fmt.Sscanf(err.Error(), "unknown command %q for %q", &word, &parent); n != 2 {
		return err.Error()
	}
	return fmt.Sprintf("unknown verb %s%s", word, suggest.Phrase(word, verbs()))
}
