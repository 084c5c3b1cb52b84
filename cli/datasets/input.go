// Package datasets resolves the inputs of verbs that work on measurements: files in any format, campaigns, and runs.
package datasets

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/scaling"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/scenario"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
	"slackline/internal/suggest"
	"slackline/model/dataset"
	"slackline/model/unit"
)

// CampaignDataset is the file in the directory of the runs into which they are collected.
const CampaignDataset = "dataset.json"

func FileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// DataHelp describes an argument with measurements.
const DataHelp = "measurements: a file in a known format, recognized by its content (slackline dataset or simulation, Extra-P " +
	"JSON, JSON lines or text, CSV, go test -bench, Google Benchmark JSON, OSU or Intel MPI benchmarks, nccl-tests, " +
	"pytest-benchmark, ReFrame, Caliper, TAU, darshan-parser, Cube 4 profiles, JSON of profile or waits), a database of HPCToolkit, or a " +
	"recorded run; a directory of such files whose names carry the point, e.g. osu.p64.r2.txt; - for the standard input; n=1000:DATA " +
	"gives an input a parameter that it lacks. Several become one dataset"

// DataOptions are the flags that say how measurements are read.
type DataOptions struct {
	format string
	set    []string
	Where  []string
	Metric string
	path   string
	sum    bool

	partial bool

	odd []oddPlace // what was read that no law can be fitted to

	KeepZeros bool // not a flag: of runs, keep what is 0 in some of them and not in others
}

func (o *DataOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.format, "input", "", "`format` of the measurements: "+strings.Join(dataset.FormatNames(),
		", ")+" (default: by the content)")
	fs.StringArrayVar(&o.set, "set", nil, "give all measurements a value of a parameter that they lack, as `NAME=VALUE`, e.g. "+
		"p=64; may be repeated")
	fs.StringArrayVar(&o.Where, "where", nil, "take only measurements at a value of a parameter, as `NAME=VALUE`, e.g. "+
		"bytes=8; may be repeated")
	fs.StringVar(&o.Metric, "metric", "", "take only the metric of this `name`")
	fs.BoolVar(&o.sum, "sum-locations", false, "add up the locations of a Cube profile, or the ranks of a run, instead of taking each "+
		"location as a repetition and the mean of the ranks")
	fs.BoolVar(&o.partial, "partial", false, scenario.PartialHelp)
	fs.StringVar(&o.path, "only-path", "", "take only call paths that hold this `text`")
}

func (o *DataOptions) Complete(c *cobra.Command) { flags.Complete(c, "input", dataset.FormatNames()) }

// Load reads measurements and says what was left out.
func (o *DataOptions) Load(ctx context.Context, a *env.Env, words []string) (*dataset.Dataset, []provenance.Input, error) {
	d, records, err := o.open(ctx, a, words)
	if err != nil {
		return nil, nil, err
	}
	for _, given := range []struct {
		flag string
		list []string
		take func(name string, value float64) error
	}{{"set", o.set, d.SetParameter}, {"where", o.Where, d.Select}} {
		for _, s := range given.list {
			name, value, err := assignment(given.flag, s)
			if err == nil {
				err = given.take(name, value)
			}
			if err != nil {
				return nil, nil, err
			}
		}
	}
	d.DropNamed() // after --where
	if err := o.choose(d); err != nil {
		return nil, nil, err
	}
	if err := d.Settle(); err != nil {
		return nil, nil, err
	}
	a.WarnAll(d.Warnings)
	warnOfDoubts(a, d)
	return d, records, nil
}

// warnOfDoubts names the runs of which something is missing, so that no law should be fitted to them and the others.
func warnOfDoubts(a *env.Env, d *dataset.Dataset) {
	series := map[string]int{}
	var doubts []string
	for _, s := range d.Series {
		if why := s.Doubt(); why != "" {
			if series[why]++; series[why] == 1 {
				doubts = append(doubts, why)
			}
		}
	}
	for _, why := range doubts {
		a.Warn("%s: %s cannot be compared; make that run again like the others, or leave it out", why, phrase.Plural(series[why], "series"))
	}
}

// choose leaves the series of the metric and the call paths that were asked for.
func (o *DataOptions) choose(d *dataset.Dataset) error {
	var metrics []string
	for _, s := range d.Series {
		if !slices.Contains(metrics, s.Metric) {
			metrics = append(metrics, s.Metric)
		}
	}
	if o.Metric != "" && !slices.Contains(metrics, o.Metric) {
		more := ""
		if n := len(metrics); n > 10 {
			more = fmt.Sprintf(" and %d more", n-10)
		}
		return exit.Usagef("--metric: there is no metric %q in the measurements, only %s%s%s", o.Metric,
			strings.Join(metrics[:min(10, len(metrics))], ", "), more, suggest.Phrase(o.Metric, metrics))
	}
	d.Keep(func(s *dataset.Series) bool { return o.Wanted(s.CallPath, s.Metric) })
	if len(d.Series) == 0 {
		return exit.Usagef("--only-path: no call path of the measurements holds %q", o.path)
	}
	return nil
}

// Wanted reports whether a metric of a call path is among those that were asked for.
func (o *DataOptions) Wanted(path, metric string) bool {
	return (o.Metric == "" || metric == o.Metric) && strings.Contains(path, o.path)
}

// LoadLabelled reads inputs of which some have labels; these stand before the
// names of their call paths, so that one table or figure can compare them.
func (o *DataOptions) LoadLabelled(ctx context.Context, a *env.Env, inputs []Labelled) (*dataset.Dataset, []provenance.Input, error) {
	if len(inputs) == 1 && inputs[0].Label == "" {
		return o.Load(ctx, a, inputs[0].Words)
	}
	all := dataset.New()
	var records []provenance.Input
	for _, in := range inputs {
		d, r, err := o.Load(ctx, a, in.Words)
		if err != nil {
			return nil, nil, err
		}
		for _, s := range d.Series {
			if in.Label != "" {
				s.CallPath = in.Label + ": " + s.CallPath
			}
		}
		d.Warnings = nil // reported
		all.Merge(d)
		records = append(records, r...)
	}
	return all, records, all.Settle()
}

// assignment takes NAME=VALUE apart.
func assignment(flag, text string) (string, float64, error) {
	name, value, ok := strings.Cut(text, "=")
	x, number := parameterValue(value)
	if !ok || name == "" || !number {
		return "", 0, exit.Usagef("--%s: %q is not NAME=VALUE with a number above 0; give e.g. p=64", flag, text)
	}
	return name, x, nil
}

// parameterValue reads a value that a parameter can have, such as 64 or 2^20.
func parameterValue(text string) (x float64, ok bool) {
	list, err := unit.ParseNumbers(text)
	if err != nil || len(list) != 1 || !(list[0] > 0) || math.IsInf(list[0], 0) {
		return 0, false
	}
	return list[0], true
}

// ParseTarget reads a target: a value of the first parameter, or NAME=VALUE,...
func ParseTarget(text string) (*scaling.Target, error) {
	if text == "" {
		return nil, nil
	}
	if x, ok := parameterValue(text); ok {
		return &scaling.Target{Value: x}, nil
	}
	t := &scaling.Target{Named: map[string]float64{}}
	for _, part := range strings.Split(text, ",") {
		name, value, err := assignment("target", part)
		if err != nil {
			return nil, exit.Usagef("--target: %q is neither a number above 0 nor NAME=VALUE; give e.g. 65536 or p=65536,n=100", text)
		}
		t.Named[name] = value
	}
	return t, nil
}

// Labelled are the inputs of one column of a table: files with the same label.
type Labelled struct {
	Label string
	Words []string
}

// SplitLabels groups inputs written LABEL=PATH by their labels; those without one
// belong together.
func SplitLabels(args []string) []Labelled {
	var list []Labelled
	for _, arg := range args {
		label, word := "", arg
		if place, _ := CutPlace(arg); place != "" {
			// the parameters of this input, not a label
		} else if name, rest, ok := strings.Cut(arg, "="); ok && name != "" && rest != "" && !strings.ContainsRune(name, filepath.Separator) {
			if _, err := os.Stat(arg); err != nil { // a file may have such a name
				label, word = name, rest
			}
		}
		i := slices.IndexFunc(list, func(l Labelled) bool { return l.Label == label })
		if i < 0 {
			i, list = len(list), append(list, Labelled{Label: label})
		}
		list[i].Words = append(list[i].Words, word)
	}
	return list
}

// Files are the paths of the inputs.
func Files(list []Labelled) []string {
	var paths []string
	for _, l := range list {
		for _, word := range l.Words {
			_, path := CutPlace(word)
			paths = append(paths, path)
		}
	}
	return paths
}
