package convert

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"slackline/analyze/waits"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/input"
	"slackline/cli/scenario"
	"slackline/internal/atomicfile"
	"slackline/internal/columnfile"
	"slackline/internal/memory"
	"slackline/internal/phrase"
	"slackline/internal/spill"
	"slackline/model/unit"
	"slackline/show/columns"
)

// columns writes the tables of a recorded run: what happened, and what the analyses find.
func (o *traceOutput) columns(a *env.Env, c *cobra.Command, args []string, f columnfile.Format, out string) error {
	if len(args) != 1 {
		return exit.Usagef("tables are made of one recorded run, but there are %d inputs", len(args))
	}
	word := args[0]
	if err := o.checkColumns(f, word, out); err != nil {
		return err
	}
	o.warnOfVoid(a, c, string(f))
	space, err := spill.New(filepath.Dir(out), resident())
	if err != nil {
		return err
	}
	err = o.writeColumns(a, c, word, f, out, space)
	return errors.Join(err, space.Close())
}

// resident is how much of the long lists of a run is mapped at a time, in bytes: a quarter of the memory that is free, or little if
// that is not known. The system can take it back, since it is in a file; to map it again costs more than to keep it.
func resident() int64 {
	const little = 256 << 20
	free, _ := memory.Available()
	return max(free/4, little)
}

// writeColumns does it with the long lists of the run in a space.
func (o *traceOutput) writeColumns(a *env.Env, c *cobra.Command, word string, f columnfile.Format, out string, space *spill.Space) error {
	begin := time.Now()
	var run scenario.RunOptions
	run.Space = space
	run.Strict, run.Future.Program.Partial, run.Threads = o.strict, o.partial, runtime.GOMAXPROCS(0)
	r, err := run.OpenRun(a, c, word, false)
	if err != nil {
		return err
	}
	result, err := waits.Analyze(c.Context(), r.Timeline, waits.Options{Threads: run.Threads})
	if err != nil {
		return err
	}
	written, err := columns.WriteDir(c.Context(), out, f, o.force, columns.NewRun(result))
	if err != nil {
		return err
	}
	if err := space.Err(); err != nil {
		a.Warn("the run did not fit into %s beside the tables and was kept in memory: %v", filepath.Dir(out), err)
	}
	rows := int64(0)
	for _, w := range written {
		rows += w.Rows
	}
	a.Note("wrote %s: %s with %s in %s", out, phrase.Plural(len(written), "table"), phrase.Plural(rows, "row"),
		unit.Elapsed(time.Since(begin)))
	return nil
}

// checkColumns finds out early that tables cannot be written.
func (o *traceOutput) checkColumns(f columnfile.Format, word, out string) error {
	if out == "" || out == "-" {
		return exit.Usagef("%s is several files; give --out DIR", f)
	}
	if !input.IsTrace(word) {
		return notARun(word)
	}
	if info, err := os.Stat(filepath.Dir(out)); err != nil || !info.IsDir() {
		return fmt.Errorf("%s: there is no directory %s", out, filepath.Dir(out))
	}
	if atomicfile.Same(out, word) {
		return exit.Usagef("%s is also the input; give another name", out)
	}
	if err := columns.CheckFree(out, o.force); err != nil {
		return exit.Usagef("%v", err)
	}
	return nil
}
