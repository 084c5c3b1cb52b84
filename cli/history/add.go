package history

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/datasets"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/internal/atomicfile"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
	"slackline/model/dataset"
	"slackline/model/history"
	"slackline/show/tables"
)

type addOptions struct {
	data    datasets.DataOptions
	dir     string
	commit  string
	time    string
	subject string
}

func addCommand(a *env.Env) *cobra.Command {
	o := &addOptions{data: datasets.DataOptions{KeepZeros: true}}
	c := &cobra.Command{
		Use:   "add RESULT...",
		Short: "Add what was measured at a commit.",
		Long: "Add what was measured at a commit as a file of its own. Nothing that is there is changed, so any number of jobs may add at " +
			"the same time, and branches merge without conflicts. " +
			"What is added to the same commit later counts as repetitions.",
		Annotations: flags.Arguments("RESULT", datasets.DataHelp),
		Example: `  slackline history add runs.json --commit HEAD
  slackline history add app.slt --commit 3f9c2ab01d77 --dir perf
  slackline history add osu.txt --commit r4711 --time 2026-04-12T09:30:11Z --subject "eager limit 64 KiB"`,
		Args: flags.AtLeastOne("RESULT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(a, c, args) },
	}
	a.AddGroup(c, "Commit", func(fs *pflag.FlagSet) {
		addDir(fs, &o.dir)
		fs.StringVar(&o.commit, "commit", "HEAD", "`name` of the commit; if the repository of the working directory has it, its hash, time "+
			"and subject are taken from there")
		fs.StringVar(&o.time, "time", "", "`time` of the commit, which decides its place unless a repository does, as 2026-04-12T09:30:11Z "+
			"(default: that in the repository, else now)")
		fs.StringVar(&o.subject, "subject", "", "`text` that describes the commit (default: that in the repository)")
	})
	a.AddGroup(c, "Measurements", o.data.AddFlags)
	o.data.Complete(c)
	return c
}

func (o *addOptions) run(a *env.Env, c *cobra.Command, args []string) error {
	commit, err := o.describe(c)
	if err != nil {
		return err
	}
	d, records, err := o.data.Load(c.Context(), a, args)
	if err != nil {
		return err
	}
	if err := checkDurations(d); err != nil {
		return err
	}
	entry := &history.Entry{Commit: commit, Runs: ofRuns(records), Data: d}
	name, data, err := entry.Encode(provenance.Version())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir, 0o777); err != nil {
		return err
	}
	path := filepath.Join(o.dir, name)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		a.Note("%s is there already: nothing is added", path)
		return err
	}
	if err := atomicfile.Write(path, func(w io.Writer) error { _, err := w.Write(data); return err }); err != nil {
		return err
	}
	a.Note("%s: %s of %s, %s", path, phrase.Plural(d.Measurements(), "value"), phrase.Plural(len(d.Series), "series"),
		phrase.Bytes(int64(len(data))))
	return nil
}

// checkDurations refuses values that cannot have been measured.
func checkDurations(d *dataset.Dataset) error {
	for _, s := range d.Series {
		for _, p := range s.Points {
			below := slices.IndexFunc(p.Values, func(v float64) bool { return v < 0 })
			if below >= 0 && dataset.IsDuration(s.Metric, s.Unit) {
				return fmt.Errorf("%s: %s %v is a duration below 0, which cannot have been measured; nothing was added",
					tables.Path(s.CallPath).Text, s.Metric, p.Values[below])
			}
		}
	}
	return nil
}

// ofRuns reports whether all inputs are runs: then what they do not have did not happen.
func ofRuns(records []provenance.Input) bool {
	return !slices.ContainsFunc(records, func(r provenance.Input) bool { return !dataset.IsRuns(r.Kind) && !input.IsTrace(r.Path) })
}

// describe finds out what is to be known of the commit: flags, then the repository, then the clock.
func (o *addOptions) describe(c *cobra.Command) (history.Commit, error) {
	commit, known := describe(c.Context(), o.commit)
	if !known {
		if o.commit == "HEAD" {
			return commit, exit.Usagef("--commit: the working directory is in no git repository; name the commit, e.g. --commit r4711")
		}
		if err := history.CheckCommit(o.commit); err != nil {
			return commit, exit.Usagef("--commit: %v", err)
		}
		commit = history.Commit{ID: o.commit, Time: time.Now()}
	}
	if o.subject != "" {
		commit.Subject = o.subject
	}
	if o.time != "" {
		at, err := time.Parse(time.RFC3339, o.time)
		if err != nil {
			return commit, exit.Usagef("--time: %q is not a time such as 2026-04-12T09:30:11Z", o.time)
		}
		commit.Time = at
	}
	if len(commit.Subject) > maxSubject {
		commit.Subject = fmt.Sprintf("%.*s...", maxSubject, commit.Subject)
	}
	return commit, nil
}

// maxSubject is how much of a subject is kept.
const maxSubject = 200
