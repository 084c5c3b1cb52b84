// Package check is the verb check: it judges measurements by expectations.
package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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
	"slackline/cli/input"
	cliscaling "slackline/cli/scaling"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
	"slackline/internal/source"
	"slackline/internal/suggest"
	"slackline/model/dataset"
	"slackline/show/figures"
	"slackline/show/plot"
)

// The further forms of verdicts.
const (
	formatMarkdown = "markdown"
	formatJUnit    = "junit"
	formatGitHub   = "github"
	formatGitLab   = "gitlab"
	formatAzure    = "azure"
)

// Options are the flags of check.
type Options struct {
	data      datasets.DataOptions
	Method    cliscaling.MethodOptions
	twoSided  bool
	strict    bool
	baseline  string
	update    bool
	tolerance float64
	bootstrap cliscaling.ResampleOptions
	result    env.ResultFlags
	also      []string
	function  string
}

// Verb is the entry of the registry.
var Verb = env.Verb{
	Name: "check", Group: env.Analyze, Job: env.FirstOnly, New: command,
	Documents: env.Documents{"check": {document{}}},
}

// NewOptions are those of a call without flags.
func NewOptions() *Options {
	formats := env.Formats(formatMarkdown, formatJUnit, formatGitHub, formatGitLab, formatAzure)
	o := &Options{result: env.ResultFlags{Formats: formats}}
	fs := pflag.NewFlagSet("check", pflag.ContinueOnError) // whose flags set the defaults
	o.data.AddFlags(fs)
	o.addVerdictFlags(fs)
	o.addOutputFlags(fs)
	return o
}

func command(a *env.Env) *cobra.Command {
	o := NewOptions()
	c := &cobra.Command{
		Use:   "check EXPECTATIONS DATA...",
		Short: "Check whether measurements scale as expected; the exit code reports it to continuous integration.",
		Long: "Check whether measurements scale as a file of expectations says. Every expectation passes, fails or is inconclusive by " +
			"the weight of the evidence beyond its limit; with --method paper by the one model with the largest adjusted R2. The exit " +
			"code is 0 if all pass, 3 if one fails, 4 if none fails but one is inconclusive.",
		Annotations: flags.Arguments(
			"EXPECTATIONS", "a YAML file, - for the standard input, or mpi: the expectations for MPI that are built in; left out with --baseline",
			"DATA", datasets.DataHelp+"; LABEL=DATA gives each label a column of its own"),
		Example: `  slackline check scaling.yaml runs.json
  slackline check mpi juqueen=a.json juropa=b.json
  slackline check mpi runs.json --method paper --space paper --two-sided
  slackline check scaling.yaml runs/ --format github --also junit=report.xml --also markdown=summary.md
  slackline check --baseline main.json runs.json`,
		Args: func(c *cobra.Command, args []string) error {
			if o.baseline != "" && len(args) == 1 || len(args) > 1 {
				return nil
			}
			return flags.ExactArgs("EXPECTATIONS", "DATA")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error { return o.Run(a, c, args) },
	}
	a.AddGroup(c, "Measurements", o.data.AddFlags)
	a.AddGroup(c, "Verdict", o.addVerdictFlags)
	a.AddGroup(c, "Output", o.addOutputFlags)
	o.data.Complete(c)
	return c
}

func (o *Options) addVerdictFlags(fs *pflag.FlagSet) {
	o.Method.AddFlags(fs)
	fs.BoolVar(&o.twoSided, "two-sided", false,
		"judge O(...) like Theta(...): a model below the lower limit is a failure too, as in the paper")
	fs.BoolVar(&o.strict, "strict", false, "an expected failure (xfail) that passes is a failure")
	fs.StringVar(&o.baseline, "baseline", "", "compare with the models in this `file`, or - for the standard input; if it does not "+
		"exist, today's models are stored there")
	fs.BoolVar(&o.update, "update-baseline", false, "store today's models in the baseline, whatever comes out")
	flags.AddRatio(fs, &o.tolerance, "tolerance", 0.05, "slowdown against the baseline that is tolerated, as a `fraction`, 0 or more")
	o.bootstrap.AddFlags(fs, "say how sure the verdicts of expectations are: resample the measurements so many `times`, and give the share "+
		"with the same verdict")
}

func (o *Options) addOutputFlags(fs *pflag.FlagSet) {
	o.result.AddFlags(fs, "form of the output; github and azure are annotations in the log, gitlab is a code quality report")
	fs.StringArrayVar(&o.also, "also", nil, "write the result in a further form too, as `FORMAT=FILE`, e.g. junit=report.xml; may be repeated")
	o.result.AddPlot(fs, "draw a function with its expectation, limits and prediction band into `FILE.svg|png`")
	fs.StringVar(&o.function, "plot-function", "", "`name` of the function to draw (default: the first that does not pass, else the first)")
}

// furtherOutput is a form of the result beside the main one.
type furtherOutput struct{ format, path string }

func (o *Options) further() ([]furtherOutput, error) {
	var list []furtherOutput
	formats := o.result.Formats
	for _, text := range o.also {
		format, path, ok := strings.Cut(text, "=")
		if !ok || path == "" || !slices.Contains(formats, format) {
			return nil, exit.Usagef("--also: %q is not FORMAT=FILE with a format of %s%s", text, strings.Join(formats, ", "),
				suggest.Phrase(format, formats))
		}
		list = append(list, furtherOutput{format, path})
	}
	return list, nil
}

func (o *Options) Run(a *env.Env, c *cobra.Command, args []string) error {
	further, err := o.further()
	if err != nil {
		return err
	}
	if err := o.bootstrap.Check(c); err != nil {
		return err
	}
	var outputs []env.Output
	for _, f := range further {
		outputs = append(outputs, env.To("also", f.path))
	}
	files := datasets.Files(datasets.SplitLabels(args))
	if _, err := os.Stat(o.baseline); err == nil && !o.update {
		files = append(files, o.baseline)
	} else { // it will be written
		outputs = append(outputs, env.To("baseline", o.baseline))
	}
	if err := o.result.Check(files, outputs...); err != nil {
		return err
	}
	switch {
	case o.function != "" && o.result.Plot == "":
		return exit.Usagef("--plot-function needs --plot FILE")
	case !(o.tolerance >= 0 && o.tolerance < 1e6):
		return exit.Usagef("--tolerance: give a fraction of 0 or more, e.g. 0.05")
	case o.Method.Paper() && o.baseline != "":
		return exit.Usagef("--baseline needs the weights of --method evidence; leave out --method paper")
	case o.baseline == "" && c.Flags().Changed("tolerance"):
		return exit.Usagef("--tolerance needs --baseline FILE")
	case o.update && o.baseline == "":
		return exit.Usagef("--update-baseline needs --baseline FILE")
	case o.update && o.baseline == input.Stdin:
		return exit.Usagef("--update-baseline stores in a file; give --baseline FILE instead of the standard input")
	case o.baseline == input.Stdin && slices.Contains(datasets.Files(datasets.SplitLabels(args)), input.Stdin):
		return exit.Usagef("the baseline and another input cannot both come from the standard input; give a file for one of them")
	}
	r := &Report{options: o, strict: o.strict}
	words := args
	if place, _ := datasets.CutPlace(args[0]); o.baseline == "" || len(args) > 1 && place == "" {
		if args[0] == input.Stdin && slices.Contains(datasets.Files(datasets.SplitLabels(args[1:])), input.Stdin) {
			return exit.Usagef("expectations and measurements cannot both come from the standard input; give a file for one of them")
		}
		err := r.ReadExpectations(c.Context(), args[0], a.Stdin)
		if other := (*notExpectations)(nil); errors.As(err, &other) {
			return fmt.Errorf("%w; give that file, or mpi, before the measurements", err)
		}
		if err != nil {
			return err
		}
		words = args[1:]
	} else {
		a.WarnOfVoid(c, " without expectations", "two-sided", "strict", "bootstrap", "space")
	}
	if err := r.judge(c, a, datasets.SplitLabels(words)); err != nil {
		return err
	}
	for _, f := range further {
		to := &env.ResultFlags{Format: f.format, Out: f.path}
		if err := a.WriteResult("check", inFormat{r, f.format}, to, args); err != nil {
			return err
		}
	}
	if err := a.WriteResult("check", inFormat{r, o.result.Format}, &o.result, args); err != nil {
		return err
	}
	return r.exit()
}

// Report are the verdicts on one or several datasets.
type Report struct {
	options      *Options
	strict       bool
	Expectations *scaling.Expectations // nil: only a baseline
	columns      []checkColumn
	Records      []provenance.Input
}

// checkColumn are the verdicts on one dataset.
type checkColumn struct {
	label    string
	data     *dataset.Dataset
	report   *scaling.Report
	baseline *scaling.Comparison // nil: none
}

// BuiltIn is the word for the expectations that are embedded.
const BuiltIn = "mpi"

func (r *Report) ReadExpectations(ctx context.Context, word string, stdin io.Reader) error {
	data, record, err := scaling.MPIExpectations(), provenance.Input{Path: word, Kind: "built-in expectations"}, error(nil)
	if info, statErr := os.Stat(word); word != BuiltIn || statErr == nil {
		if statErr == nil && (info.IsDir() || input.IsTrace(word)) {
			return &notExpectations{word, ""}
		}
		if data, record, err = input.ReadSmall(ctx, word, "expectations", stdin); err != nil {
			return err
		}
	}
	r.Records = append(r.Records, record)
	r.Expectations, err = scaling.ParseExpectations(word, data)
	if f, known := dataset.Sniff(data); err != nil && known {
		return &notExpectations{word, ", but of measurements (" + f.Info + ")"}
	}
	return err
}

// notExpectations is the error of something else where the file of expectations is to be.
type notExpectations struct{ word, instead string }

func (e *notExpectations) Error() string {
	return e.word + " is not a file of expectations" + e.instead
}

// judge judges each dataset.
func (r *Report) judge(c *cobra.Command, a *env.Env, inputs []datasets.Labelled) error {
	for _, in := range inputs {
		d, records, err := r.options.data.Load(c.Context(), a, in.Words)
		if err != nil {
			return err
		}
		r.Records = append(r.Records, records...)
		r.options.data.WarnOfPlaces(a, d)
		r.options.Method.WarnUnused(a, d.Parameters)
		column := checkColumn{label: in.Label, data: d, report: &scaling.Report{}}
		if r.Expectations != nil {
			if column.report, err = scaling.Judge(r.Expectations, d, r.analysis()); err != nil {
				return err
			}
			if err := r.resample(c.Context(), a, &column); err != nil {
				return err
			}
		}
		r.columns = append(r.columns, column)
	}
	if r.options.baseline == "" {
		return nil
	}
	if len(r.columns) > 1 {
		return exit.Usagef("--baseline goes with one dataset, but there are %d labels", len(r.columns))
	}
	return r.compareBaseline(c.Context(), a, &r.columns[0])
}

// resample finds out how sure the verdicts on a dataset are, and says it beside them.
func (r *Report) resample(ctx context.Context, a *env.Env, column *checkColumn) error {
	o := &r.options.bootstrap
	if o.Times == 0 {
		return nil
	}
	how, end := o.Resampling(a, runtime.GOMAXPROCS(0))
	err := column.report.Resample(ctx, column.data, r.analysis(), how)
	end()
	if err != nil {
		return err
	}
	for _, c := range column.report.Checks {
		if s := c.Stability; s != nil {
			c.Notes = append(c.Notes, fmt.Sprintf("%.0f %% of %s come to the same verdict", 100*s.Share(c.Verdict), phrase.Plural(s.Resamples,
				"resample")))
		}
	}
	return nil
}

func (r *Report) analysis() scaling.Options {
	o := r.options.Method.Analysis()
	o.TwoSided = r.options.twoSided
	return o
}

// baselineAnalysis is what baselines take of it: what is better than before never fails.
func (r *Report) baselineAnalysis() scaling.Options {
	return scaling.Options{Aggregate: r.analysis().Aggregate}
}

// readBaseline reads the file of the baseline.
func (r *Report) readBaseline(ctx context.Context, a *env.Env) ([]byte, error) {
	path := r.options.baseline
	if path != input.Stdin {
		return source.Disk(path, source.All)
	}
	data, record, err := input.ReadSmall(ctx, path, "baseline", a.Stdin)
	r.Records = append(r.Records, record)
	return data, err
}

// compareBaseline compares with a baseline, or stores one.
func (r *Report) compareBaseline(ctx context.Context, a *env.Env, column *checkColumn) error {
	path := r.options.baseline
	data, err := r.readBaseline(ctx, a)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if !r.options.update { // no one asked for a new baseline: its name may be misspelt
			column.report.Verdict = max(column.report.Verdict, scaling.Inconclusive)
			a.Warn("the baseline %s does not exist: nothing was compared with it; --update-baseline stores one on purpose", path)
		}
		return r.storeBaseline(a, column, nil, nil)
	case err != nil:
		return err
	}
	base, err := scaling.ParseBaseline(path, data)
	if err != nil {
		return err
	}
	var wanted, others []scaling.BaselineModel
	for _, m := range base.Models {
		if r.options.data.Wanted(m.Function, m.Metric) {
			wanted = append(wanted, m)
		} else {
			others = append(others, m)
		}
	}
	base.Models = wanted
	if column.baseline, err = scaling.CompareBaseline(base, column.data, r.baselineAnalysis(), r.options.tolerance); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if len(base.Models) == 0 {
		what := "no models"
		if len(others) > 0 {
			what = "none of the models that were asked for"
		}
		a.Warn("the baseline %s holds %s: nothing was compared; --update-baseline stores today's", path, what)
	}
	if n := len(column.baseline.New); n > 0 {
		a.Warn("not in the baseline, and so not compared: %d of %d measured series, the first is %s", n, len(column.data.Series),
			column.baseline.New[0])
	}
	if r.options.update {
		return r.storeBaseline(a, column, base, others)
	}
	return nil
}

// storeBaseline stores the models of the data in the place of a baseline, if there is one, and keeps others of it: those of which nothing
// was chosen.
func (r *Report) storeBaseline(a *env.Env, column *checkColumn, old *scaling.Baseline, others []scaling.BaselineModel) error {
	base, err := scaling.NewBaseline(column.data, r.baselineAnalysis())
	if err != nil {
		return err
	}
	stored, word, more := len(base.Models), "stored", ""
	if old != nil {
		word = "updated"
		if err := base.Keep(old, others); err != nil {
			return err
		}
	}
	if n := len(others); n > 0 {
		more = fmt.Sprintf("; kept as they were, because they were not chosen: %d", n)
	}
	if err := a.WriteOut(r.options.baseline, nil, base.Write); err != nil {
		return err
	}
	if n := len(column.data.Series) - stored; n > 0 {
		a.Warn("not stored in the baseline, because they cannot be modeled with at least %d points: %d of %d measured series",
			scaling.MinPoints, n, len(column.data.Series))
	}
	a.Note("%s the baseline %s: %s%s", word, r.options.baseline, phrase.Plural(stored, "model"), more)
	return nil
}

// verdict is that of all columns together.
func (r *Report) verdict() scaling.Verdict {
	v := scaling.Pass
	for _, c := range r.columns {
		v = max(v, c.report.Verdict)
		if c.baseline != nil {
			v = max(v, c.baseline.Verdict)
		}
		if r.strict && c.report.UnexpectedPasses() > 0 {
			v = scaling.Fail
		}
	}
	return v
}

// exit is the exit code of the verdict.
func (r *Report) exit() error {
	switch r.verdict() {
	case scaling.Fail:
		return exit.Verdict(exit.CheckFailed)
	case scaling.Inconclusive:
		return exit.Verdict(exit.Inconclusive)
	}
	return nil
}

// Figure implements env.Drawn: one function of the first column.
func (r *Report) Figure(*env.Env) (fig plot.Figure, title, subtitle string, err error) {
	var chosen *scaling.Check
	for _, c := range r.columns[0].report.Checks {
		switch {
		case c.Fit == nil:
		case r.options.function != "":
			if c.Function == r.options.function && chosen == nil {
				chosen = c
			}
		case chosen == nil, chosen.Verdict == scaling.Pass && c.Verdict != scaling.Pass:
			chosen = c
		}
	}
	if chosen == nil {
		return nil, "", "", fmt.Errorf("--plot: no expectation of a function %q has a model", r.options.function)
	}
	return figures.Expectation(chosen), "", "", nil
}
