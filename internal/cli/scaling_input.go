package cli

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/scaling"
	"slackline/internal/provenance"
	"slackline/model/dataset"
)

// dataHelp describes an argument with measurements.
const dataHelp = "measurements: a file in a known format, told by its content (slackline dataset or simulation, Extra-P JSON, JSON lines or text, CSV, " +
	"go test -bench, Google Benchmark JSON, OSU or Intel MPI benchmarks, Cube 4 profiles, JSON of profile or waits), or a recorded run; a directory of such files whose names carry the point, e.g. osu.p64.r2.txt; " +
	"- for the standard input; n=1000:DATA gives an input a parameter that it lacks. Several become one dataset"

// dataOptions are the flags that say how measurements are read.
type dataOptions struct {
	format string
	set    []string
	where  []string
	metric string
	path   string
	sum    bool

	partial bool
}

func (o *dataOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.format, "input", "", "`format` of the measurements: "+strings.Join(dataset.FormatNames(), ", ")+" (default: told by the content)")
	fs.StringArrayVar(&o.set, "set", nil, "give all measurements a value of a parameter that they lack, as `NAME=VALUE`, e.g. p=64; may be repeated")
	fs.StringArrayVar(&o.where, "where", nil, "take only measurements at a value of a parameter, as `NAME=VALUE`, e.g. bytes=8; may be repeated")
	fs.StringVar(&o.metric, "metric", "", "take only the metric of this `name`")
	fs.BoolVar(&o.sum, "sum-locations", false, "add up the locations of a Cube profile, or the ranks of a run, instead of taking each location as a repetition and the mean of the ranks")
	fs.BoolVar(&o.partial, "partial", false, partialHelp)
	fs.StringVar(&o.path, "only-path", "", "take only call paths that hold this `text`")
}

func (o *dataOptions) complete(c *cobra.Command) { complete(c, "input", dataset.FormatNames()) }

// load reads measurements and says what was left out.
func (o *dataOptions) load(ctx context.Context, a *app, words []string) (*dataset.Dataset, []provenance.Input, error) {
	d, records, err := o.open(ctx, a, words)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range o.set {
		name, value, err := assignment("set", s)
		if err == nil {
			err = d.SetParameter(name, value)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	for _, s := range o.where {
		name, value, err := assignment("where", s)
		if err == nil {
			err = d.Select(name, value)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	d.Keep(func(s *dataset.Series) bool {
		return (o.metric == "" || s.Metric == o.metric) && strings.Contains(s.CallPath, o.path)
	})
	if len(d.Series) == 0 {
		return nil, nil, fmt.Errorf("no measurement has the metric %q and a call path with %q", o.metric, o.path)
	}
	if err := d.Settle(); err != nil {
		return nil, nil, err
	}
	for _, w := range d.Warnings {
		a.warn("%s", w)
	}
	return d, records, nil
}

// loadLabelled reads inputs of which some have labels; these stand before the
// names of their call paths, so that one table or figure can compare them.
func (o *dataOptions) loadLabelled(ctx context.Context, a *app, inputs []labelled) (*dataset.Dataset, []provenance.Input, error) {
	if len(inputs) == 1 && inputs[0].label == "" {
		return o.load(ctx, a, inputs[0].words)
	}
	all := dataset.New()
	var records []provenance.Input
	for _, in := range inputs {
		d, r, err := o.load(ctx, a, in.words)
		if err != nil {
			return nil, nil, err
		}
		for _, s := range d.Series {
			if in.label != "" {
				s.CallPath = in.label + ": " + s.CallPath
			}
		}
		d.Warnings = nil // told
		all.Merge(d)
		records = append(records, r...)
	}
	return all, records, all.Settle()
}

// assignment takes NAME=VALUE apart.
func assignment(flag, text string) (string, float64, error) {
	name, value, ok := strings.Cut(text, "=")
	x, err := strconv.ParseFloat(value, 64)
	if !ok || name == "" || err != nil || !(x > 0) || math.IsInf(x, 0) {
		return "", 0, usagef("--%s: %q is not NAME=VALUE with a number above 0; give e.g. p=64", flag, text)
	}
	return name, x, nil
}

// parseTarget reads a target: a value of the first parameter, or NAME=VALUE,...
func parseTarget(text string) (*scaling.Target, error) {
	if text == "" {
		return nil, nil
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil && x > 0 && !math.IsInf(x, 0) {
		return &scaling.Target{Value: x}, nil
	}
	t := &scaling.Target{Named: map[string]float64{}}
	for _, part := range strings.Split(text, ",") {
		name, value, err := assignment("target", part)
		if err != nil {
			return nil, usagef("--target: %q is neither a number above 0 nor NAME=VALUE; give e.g. 65536 or p=65536,n=100", text)
		}
		t.Named[name] = value
	}
	return t, nil
}

// labelled are the inputs of one column of a table: files with the same label.
type labelled struct {
	label string
	words []string
}

// splitLabels groups inputs written LABEL=PATH by their labels; those without one
// belong together.
func splitLabels(args []string) []labelled {
	var list []labelled
	for _, arg := range args {
		label, word := "", arg
		if place, _ := cutPlace(arg); place != "" {
			// the parameters of this input, not a label
		} else if name, rest, ok := strings.Cut(arg, "="); ok && name != "" && rest != "" && !strings.ContainsRune(name, filepath.Separator) {
			if _, err := os.Stat(arg); err != nil { // a file may have such a name
				label, word = name, rest
			}
		}
		found := false
		for i := range list {
			if list[i].label == label {
				list[i].words = append(list[i].words, word)
				found = true
			}
		}
		if !found {
			list = append(list, labelled{label, []string{word}})
		}
	}
	return list
}

// files are the paths of the inputs.
func files(list []labelled) []string {
	var paths []string
	for _, l := range list {
		for _, word := range l.words {
			_, path := cutPlace(word)
			paths = append(paths, path)
		}
	}
	return paths
}
