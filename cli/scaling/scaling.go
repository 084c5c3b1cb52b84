// Package scaling is the verb scaling: it fits models to measurements.
package scaling

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/scaling"
	"slackline/cli/datasets"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
	"slackline/model/dataset"
	"slackline/model/missing"
)

// scalingOptions are the flags of scaling.
type scalingOptions struct {
	data       datasets.DataOptions
	method     MethodOptions
	expect     string
	limit      string
	candidates []string
	target     string
	budget     flags.Factor
	suggest    bool
	bootstrap  ResampleOptions
	threads    int
	result     env.ResultFlags
	dataset    string
}

// Verb is the entry of the registry.
var Verb = env.Verb{
	Name: "scaling", Group: env.Analyze, Job: env.Shared, New: command,
	Documents: env.Documents{"scaling": {document{}}},
}

func command(a *env.Env) *cobra.Command {
	o := &scalingOptions{}
	c := &cobra.Command{
		Use:   "scaling DATA...",
		Short: "Find out how measurements grow with the number of processes or the size of the problem.",
		Long: "Find a model for every call path and metric: a sum of terms such as 2.5 + 0.3 * p * log2(p), with the confidence in its " +
			"largest term. One to three parameters; at least five values of each are needed for a conclusion, with three parameters " +
			"while the others do not change.",
		Annotations: flags.Arguments("DATA", datasets.DataHelp+"; LABEL=DATA puts the label before the call paths, to compare machines"),
		Example: `  slackline scaling runs.json
  slackline scaling osu/ --where bytes=8 --target 65536 --plot collectives.svg
  slackline scaling runs.csv --expect 'O(p log p)' --suggest
  slackline scaling memory.json --max 3072 --format json
  slackline scaling runs.json --bootstrap 1000 --target 65536
  mpirun -n 16 slackline scaling profile.cubex/ --bootstrap 1000`,
		Args: flags.AtLeastOne("DATA"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(a, c, args) },
	}
	a.AddGroup(c, "Measurements", o.data.AddFlags)
	a.AddGroup(c, "Model", o.addModelFlags)
	a.AddGroup(c, "Questions", o.addQuestionFlags)
	a.AddGroup(c, "Output", o.addOutputFlags)
	o.data.Complete(c)
	return c
}

func (o *scalingOptions) addModelFlags(fs *pflag.FlagSet) {
	o.method.AddFlags(fs)
	fs.StringVar(&o.expect, "expect", "", "an `expression` such as 'O(p log p)' to compare with; adds the candidates around it, and gives "+
		"rank and divergence")
	fs.StringVar(&o.limit, "limit", "", "an `expression`: the deviation from --expect that is allowed (default: half its exponent)")
	fs.StringArrayVar(&o.candidates, "candidate", nil, "a further `term`, e.g. 'p^(3/5)'; may be repeated (one parameter)")
	flags.AddThreads(fs, &o.threads, runtime.GOMAXPROCS(0), "`number` of threads; the result does not depend on it")
}

func (o *scalingOptions) addQuestionFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.target, "target", "", "predict at this `value` of the first parameter, or at NAME=VALUE,..., with an interval, and rank "+
		"what dominates there")
	fs.Var(&o.budget, "max", "a budget: find the largest value of the first parameter at which the model stays within this `value`")
	fs.BoolVar(&o.suggest, "suggest", false, "name the next measurements worth making")
	o.bootstrap.AddFlags(fs, "say how sure the model is: resample the measurements so many `times`, find a model for each, and give shares "+
		"of leads and intervals of 95 %")
}

func (o *scalingOptions) addOutputFlags(fs *pflag.FlagSet) {
	o.result.AddFlags(fs, "form of the output")
	o.result.AddPlot(fs, "draw measurements and models, up to six of them, into `FILE.svg|png`")
	fs.StringVar(&o.dataset, "dataset", "", "also write the measurements into `FILE.json|jsonl|csv|txt` (slackline, Extra-P JSON "+
		"lines, CSV, Extra-P text)")
}

func (o *scalingOptions) run(a *env.Env, c *cobra.Command, args []string) error {
	if o.limit != "" && o.expect == "" {
		return exit.Usagef("--limit needs --expect")
	}
	if err := o.bootstrap.Check(c); err != nil {
		return err
	}
	target, err := datasets.ParseTarget(o.target)
	if err != nil {
		return err
	}
	inputs := datasets.SplitLabels(args)
	if err := o.result.Check(datasets.Files(inputs), env.To("dataset", o.dataset)); err != nil {
		return err
	}
	o.result.WarnOfTable(a, c, "suggest")
	if o.bootstrap.Times == 0 {
		if err := a.FirstOnly("scaling without --bootstrap"); err != nil {
			return err
		}
	}
	r := &scalingReport{target: target, options: o, inputs: datasets.Files(inputs)}
	if !a.IsFirst() {
		return r.resample(a, c)
	}
	d, records, err := o.data.LoadLabelled(c.Context(), a, inputs)
	if err != nil {
		return err
	}
	o.data.WarnOfPlaces(a, d)
	r.data, r.records = d, records
	if err := r.fit(a); err != nil {
		return err
	}
	if o.bootstrap.Times > 0 {
		if err := r.bootstrap(a, c); err != nil {
			return err
		}
	}
	if o.dataset != "" {
		if err := WriteDataset(a, o.dataset, r.inputs, d, r.provenance(a)); err != nil {
			return err
		}
	}
	return a.WriteResult("scaling", r, &o.result, r.inputs)
}

// scalingReport are the models of a dataset, with everything that its output names.
type scalingReport struct {
	data      *dataset.Dataset
	models    []scaling.Modelled
	resampled []*scaling.Bootstrap // by series; nil: none were asked for
	target    *scaling.Target
	place     []float64 // of the target
	expect    *scaling.Expression
	limit     *scaling.Expression
	options   *scalingOptions
	inputs    []string
	records   []provenance.Input
}

// fit finds the models.
func (r *scalingReport) fit(a *env.Env) error {
	o := r.options
	options, err := r.modelOptions()
	if err != nil {
		return err
	}
	o.method.WarnUnused(a, r.data.Parameters)
	if len(r.data.Parameters) > 1 && len(o.candidates) > 0 {
		a.Warn("--candidate has no influence: the data have the parameters %s, and candidates are of one", strings.Join(r.data.Parameters, ", "))
	}
	if r.target != nil {
		if r.place, err = r.target.Place(r.data); err != nil {
			return err
		}
	}
	if r.models, err = scaling.Models(r.data, options, o.threads); err != nil {
		return err
	}
	usable, single := 0, 0
	for _, m := range r.models {
		if m.Err != nil {
			a.Warn("%s is skipped: %v", m.Series.Name(), m.Err)
			continue
		}
		usable++
		if !m.Fit.Repeated() {
			single++
		}
	}
	if single > 0 {
		a.Note("%d of %d have one repetition at each point: their noise is judged by the distance to the law alone; repeat the "+
			"measurements to be surer", single, usable)
	}
	switch {
	case o.suggest && o.method.Paper():
		a.Warn("--suggest has no influence with --method paper, which weighs no hypotheses against each other")
	case o.suggest && !slices.ContainsFunc(r.models, func(m scaling.Modelled) bool { return m.Err == nil && len(m.Fit.Suggest()) > 0 }):
		a.Note("no further measurement is worth making: the hypotheses do not differ")
	}
	if usable == 0 {
		return fmt.Errorf("nothing of %s can be modeled", strings.Join(r.inputs, ", "))
	}
	return nil
}

// modelOptions turns flags into options of the analysis.
func (r *scalingReport) modelOptions() (scaling.Options, error) {
	o := r.options
	options := o.method.Analysis()
	for _, text := range o.candidates {
		e, err := r.expression("candidate", text)
		if err != nil {
			return options, err
		}
		if len(r.data.Parameters) == 1 {
			options.Further = append(options.Further, e.Term(r.data.Parameters[0]))
		}
	}
	if o.expect == "" {
		options.Only = options.Space.Only
		options.Further = append(options.Further, options.Only...)
		return options, nil
	}
	var err error
	if r.expect, err = r.expression("expect", o.expect); err != nil {
		return options, err
	}
	if o.limit != "" {
		if r.limit, err = r.expression("limit", o.limit); err != nil {
			return options, err
		}
	}
	if len(r.data.Parameters) == 1 {
		around := options.Space.Around(r.expect.Term(r.data.Parameters[0]))
		options.Only = append(around, options.Further...)
		options.Further = append(options.Further, around...)
	}
	return options, nil
}

func (r *scalingReport) expression(flag, text string) (*scaling.Expression, error) {
	e, err := scaling.ParseExpression(text)
	if err != nil {
		return nil, exit.Usagef("--%s: %v", flag, err)
	}
	if err := e.Check(r.data.Parameters); err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	return e, nil
}

func (r *scalingReport) provenance(a *env.Env) *provenance.Record {
	p := a.Record(r.records...)
	if r.resampled != nil {
		p.Seed = &r.options.bootstrap.Seed
	}
	return p
}

// DatasetFormat is the form of measurements that the suffix of a file names.
func DatasetFormat(path string) (dataset.Format, error) {
	var format dataset.Format
	var suffixes []string
	for _, f := range dataset.Formats() {
		if f.Write != nil && filepath.Ext(path) == f.Suffix {
			format = f
		}
		if f.Write != nil {
			suffixes = append(suffixes, f.Suffix)
		}
	}
	if format.Write == nil {
		return format, exit.Usagef("--dataset: there is no format of measurements for %q; give one of the suffixes %s", path,
			strings.Join(suffixes, ", "))
	}
	return format, nil
}

// lacksParts reports whether something is missing of the runs of a series.
func lacksParts(s *dataset.Series) bool {
	return slices.ContainsFunc(s.Runs, func(r missing.Run) bool { return !r.IsWhole() })
}

// WriteDataset writes measurements in the form that the suffix of the file names.
func WriteDataset(a *env.Env, path string, inputs []string, d *dataset.Dataset, from *provenance.Record) error {
	format, err := DatasetFormat(path)
	if err != nil {
		return err
	}
	if err := a.WriteOut(path, inputs, func(w io.Writer) error { return format.Write(d, w, from) }); err != nil {
		return err
	}
	if format.Name != "slackline" && slices.ContainsFunc(d.Series, lacksParts) {
		a.Warn("%s: this form cannot say what is missing of the runs; give a name that ends in .json", path)
	}
	a.Note("wrote %s: %s", path, phrase.Plural(d.Measurements(), "measurement"))
	return nil
}
