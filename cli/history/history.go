// Package history is the verb history: it keeps what was measured of a program at its commits, and finds what changed.
package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/changes"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/internal/suggest"
	"slackline/model/dataset"
	"slackline/model/history"
	"slackline/model/missing"
)

// Verb is the entry of the registry.
var Verb = env.Verb{
	Name: "history", Group: env.Analyze, Job: env.FirstOnly, New: command,
	Documents: env.Documents{"history-check": {document{}}, "history-show": {shown{}}},
}

func command(a *env.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "history",
		Short: "Keep measurements of each commit, and find the commits at which something changed.",
		Long: "Keep what was measured of a program at its commits in a folder, for example of its repository, and find what changed " +
			"when: the level of a call path and metric, its drift, its noise, the law by which it grows, a cause of waiting that appeared.",
		Example: `  slackline history add runs.json --commit HEAD
  slackline history check
  slackline history show
  slackline history page --out history.html`,
		RunE: flags.NeedVerb,
	}
	c.AddCommand(addCommand(a), showCommand(a), checkCommand(a), pageCommand(a))
	return c
}

// defaultDir is where a history is.
const defaultDir = "slackline-history"

// addDir adds the flag for the folder of the history.
func addDir(fs *pflag.FlagSet, dir *string) {
	fs.StringVar(dir, "dir", defaultDir, "`folder` of the history, for example in the repository of the program")
}

// search are the flags that say what counts as a change.
type search struct {
	dir      string
	level    float64
	smallest float64
	better   []string
	metric   string
	path     string

	until string
	since string // of check

	options   changes.Options
	accepted  map[string]bool // commits up to --since
	doubt     string          // why the last commit was compared with no other one: something is missing of its runs
	unordered string          // why the order of some commits is not known
}

func (o *search) addFlags(fs *pflag.FlagSet) {
	addDir(fs, &o.dir)
	flags.AddRatio(fs, &o.level, "false-alarms", 0.01, "probability of a change in a series that has none, as a `fraction` from 0.001 to 0.2")
	flags.AddRatio(fs, &o.smallest, "smallest", 0.01, "leave out changes of levels below this `fraction`, 0 to 10; without it, of exact "+
		"values none; parts of a run must also change by 0.1 % of its time")
	fs.StringArrayVar(&o.better, "larger-is-better", nil, "`metric` whose growth is good, besides bandwidths, rates and efficiencies; "+
		"may be repeated")
	fs.StringVar(&o.metric, "metric", "", "take only the metric of this `name`")
	fs.StringVar(&o.path, "only-path", "", "take only call paths that hold this `text`")
	fs.StringVar(&o.until, "until", "", "ignore what is after this `commit`, e.g. the head of a pull request: all but it and its ancestors "+
		"in the repository of the working directory; what that lacks, by time")
}

// words are the flags as they are repeated in commands of the page.
func (o *search) words(c *cobra.Command) []string {
	return flags.Words(c, "dir", "false-alarms", "smallest", "larger-is-better", "metric", "only-path", "until")
}

// find reads the history and finds its changes.
func (o *search) find(a *env.Env, c *cobra.Command) (*changes.Result, error) {
	if !(o.level >= 0.001 && o.level <= 0.2) {
		return nil, exit.Usagef("--false-alarms: %g is not in 0.001 to 0.2; give e.g. 0.01", o.level)
	}
	if !(o.smallest >= 0 && o.smallest <= 10) {
		return nil, exit.Usagef("--smallest: %g is not in 0 to 10; give e.g. 0.02 for 2 %%", o.smallest)
	}
	entries, err := readAll(o.dir)
	if err != nil {
		return nil, err
	}
	states := history.States(entries)
	if err := o.checkNames(states); err != nil {
		return nil, err
	}
	if states, err = o.inOrder(c.Context(), a, states); err != nil {
		return nil, err
	}
	for _, s := range states {
		s.Data.Keep(o.wanted)
	}
	states = o.leaveDoubtful(a, states)
	smallest := max(o.smallest, 1e-12)
	if !c.Flags().Changed("smallest") {
		smallest = 0 // the default: 1 %, of exact values none
	}
	o.options = changes.Options{Level: o.level, Smallest: smallest, LargerBetter: o.better, Threads: runtime.GOMAXPROCS(0)}
	r, err := changes.Find(c.Context(), states, o.options)
	if err != nil {
		return nil, err
	}
	if len(r.Series) == 0 {
		a.Warn("%s: no series has measurements of two commits at the same point; nothing can be compared", o.dir)
	}
	return r, nil
}

// inOrder are the commits up to --until in their order; it finds what --since accepts, and whether the order is known.
func (o *search) inOrder(ctx context.Context, a *env.Env, states []*history.State) ([]*history.State, error) {
	list := newOrder(ctx, states)
	var err error
	if o.since != "" {
		if o.accepted, err = list.since(ctx, o.since, o.dir); err != nil {
			return nil, err
		}
	}
	if o.until != "" {
		if err := list.until(ctx, o.until, o.dir); err != nil {
			return nil, err
		}
	}
	if o.unordered = list.unknown(o.accepted); o.unordered != "" {
		a.Warn("%s", o.unordered)
	}
	return list.states, nil
}

// leaveDoubtful leaves the commits whose runs can be compared with those of the last one, unless of that something is missing by chance.
func (o *search) leaveDoubtful(a *env.Env, states []*history.State) []*history.State {
	doubt := func(list ...*history.State) string {
		var runs []missing.Run
		kinds := map[missing.Kind]bool{}
		series := map[[2]string][]missing.Run{} // each is of one machine
		for _, state := range list {
			for _, s := range state.Data.Series {
				key := [2]string{s.CallPath, s.Metric}
				series[key] = missing.Join(series[key], s.AllRuns()...)
				if why := missing.Doubt(series[key], s.Kind()); why != "" {
					return why
				}
				for _, r := range s.AllRuns() {
					r.Machine = ""
					runs, kinds[s.Kind()] = missing.Join(runs, r), true
				}
			}
		}
		for _, kind := range []missing.Kind{missing.Time, missing.Wait, missing.RunTime} {
			if why := missing.Doubt(runs, kind); why != "" && kinds[kind] {
				return why
			}
		}
		return ""
	}
	last := states[len(states)-1]
	if o.doubt = doubt(last); o.doubt != "" {
		a.Warn("%s, the last commit, cannot be compared: %s; record it again and add it", last.Short(), o.doubt)
		return states[:max(1, len(states)-1)]
	}
	return slices.DeleteFunc(states, func(s *history.State) bool {
		why := doubt(last, s)
		if why != "" {
			a.Warn("%s is left out: %s", s.Short(), why)
		}
		return why != ""
	})
}

// checkNames finds names that no commit has: for a misspelt one nothing would be compared, or what got worse would be better.
func (o *search) checkNames(states []*history.State) error {
	seen, path := map[string]bool{}, false
	for _, state := range states {
		for _, s := range state.Data.Series {
			seen[s.Metric] = true
			path = path || strings.Contains(s.CallPath, o.path)
		}
	}
	check := func(flag, name string) error {
		if seen[name] {
			return nil
		}
		return exit.Usagef("--%s: the history has no metric %s%s", flag, name, suggest.Phrase(name, slices.Sorted(maps.Keys(seen))))
	}
	for _, name := range o.better {
		if err := check("larger-is-better", name); err != nil {
			return err
		}
	}
	if !path {
		return exit.Usagef("--only-path: no call path of the history holds %q", o.path)
	}
	if o.metric != "" {
		return check("metric", o.metric)
	}
	return nil
}

// filesIn are the files of a history, which no output replaces.
func filesIn(dir string) []string {
	entries, _ := os.ReadDir(dir) // who reads them reports what is wrong
	list := make([]string, len(entries))
	for i, e := range entries {
		list[i] = filepath.Join(dir, e.Name())
	}
	return list
}

// readAll reads the entries of a history.
func readAll(dir string) ([]*history.Entry, error) {
	entries, err := history.Read(input.Dir(dir))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no history; begin one with 'slackline history add RESULT --commit COMMIT --dir %s'", dir, dir)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", dir, err)
	case len(entries) == 0:
		return nil, fmt.Errorf("%s: holds no entry of a history; add one with 'slackline history add RESULT --commit COMMIT --dir %s'", dir, dir)
	}
	return entries, nil
}

// wanted reports whether a series is one that the user asked for.
func (o *search) wanted(s *dataset.Series) bool {
	return (o.metric == "" || s.Metric == o.metric) && strings.Contains(s.CallPath, o.path)
}
