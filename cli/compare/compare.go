// Package compare is the verb compare: it compares runs and measurements.
package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/waits"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/phrase"
	"slackline/cli/profile"
	"slackline/cli/scenario"
	"slackline/internal/provenance"
	"slackline/internal/stat"
)

// compareOptions are the flags of compare.
type compareOptions struct {
	run    scenario.RunOptions
	failIf []string
	alpha  flags.Factor
	top    int
	format flags.Choice
	out    string
}

// Verb is the entry of the registry.
var Verb = env.Verb{Name: "compare", Group: env.Analyze, Job: env.FirstOnly, New: command}

func command(a *env.Env) *cobra.Command {
	o := &compareOptions{run: scenario.NewRunOptions(), format: flags.NewChoice(env.FormatText, env.FormatText, env.FormatJSON, env.FormatCSV)}
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Set two runs side by side by call path and metric: what has changed, and whether that is more than chance.",
		Long: "Compare the run time, and by call path the time, the waiting time, and the delay costs of two runs, the greatest changes first. " +
			"Repetitions of a run are given as a list, a1,a2,a3; the launches of 'measure collectives' are repetitions, too: changes then come with the probability of seeing them by chance (Mann-Whitney); at least four of each are needed to tell.",
		Annotations: flags.Arguments("A, B", "a recorded run, something to simulate, or what 'slackline waits --format json', 'slackline profile --format json' or 'slackline measure collectives --format json' wrote; or several of them, with commas between"),
		Example: `  slackline compare before/traces.otf2 after/traces.otf2
  slackline compare a1.json,a2.json,a3.json,a4.json b1.json,b2.json,b3.json,b4.json --fail-if 'run_time>5%'
  slackline compare old.json new.json --fail-if 'waiting@main/solve>10%'
  slackline compare mpi-before.json mpi-after.json --fail-if 'time@*>5%'`,
		Args: flags.ExactArgs("A", "B"),
		RunE: func(c *cobra.Command, args []string) error { return o.execute(a, c, args) },
	}
	a.AddGroup(c, "Verdict", func(fs *pflag.FlagSet) {
		fs.StringArrayVar(&o.failIf, "fail-if", nil, "exit with 3 if `METRIC[@CALLPATH]>CHANGE`, e.g. 'run_time>5%', 'waiting>100ms', 'time@main/solve<-10%'; may be repeated")
		fs.Var(&o.alpha, "alpha", "probability of chance below which a change counts, with repetitions (default 0.05)")
	})
	a.AddGroup(c, "Output", func(fs *pflag.FlagSet) {
		fs.IntVar(&o.top, "top", 20, "`number` of rows in the text output; 0: all")
		fs.Var(&o.format, "format", "form of the output")
		env.AddOut(fs, &o.out)
	})
	flags.Complete(c, "format", o.format.Allowed)
	o.run.AddTo(a, c)
	return c
}

func (o *compareOptions) execute(a *env.Env, c *cobra.Command, args []string) error {
	conditions, err := parseConditions(o.failIf)
	if err != nil {
		return err
	}
	if err := env.CheckOutputs(args, env.To("out", o.out)); err != nil {
		return err
	}
	report := &compareReport{options: o, names: args}
	if o.format.Value == env.FormatJSON {
		report.provenance = provenance.New(a.Args)
	}
	var sides [2][]profile.Measured
	for i, arg := range args {
		for word := range strings.SplitSeq(arg, ",") {
			runs, found, err := readLaunches(word)
			if !found && err == nil {
				var m profile.Measured
				m, err = o.measure(a, c, report, word)
				runs = []profile.Measured{m}
			}
			if err != nil {
				return err
			}
			sides[i] = append(sides[i], runs...)
		}
	}
	if left := report.compare(sides[0], sides[1], o.significance()); left > 0 {
		a.Warn("left out, because one side does not have them: %s", phrase.Plural(left, "measurement"))
	}
	report.judge(a, conditions, sides)
	if err := a.WriteOut(o.out, args, func(w io.Writer) error { return report.write(a, w) }); err != nil {
		return err
	}
	return report.exit()
}

func (o *compareOptions) significance() float64 {
	if o.alpha.Given {
		return o.alpha.Value
	}
	return 0.05
}

// measure takes the numbers of a run from its trace, or from a result.
func (o *compareOptions) measure(a *env.Env, c *cobra.Command, report *compareReport, word string) (profile.Measured, error) {
	if m, found, err := readMeasured(word); found || err != nil {
		return m, err
	}
	r, err := o.run.OpenRun(a, c, word, report.provenance != nil)
	if err != nil {
		return profile.Measured{}, err
	}
	if report.provenance != nil {
		report.provenance.Inputs = append(report.provenance.Inputs, r.Records...)
	}
	p, err := profile.ProfileRun(c, r, o.run.Threads)
	if err != nil {
		return profile.Measured{}, err
	}
	return p.Measured(), nil
}

// measuredJSON is what compare takes from results of waits and of profile.
type measuredJSON struct {
	Run *struct {
		Time *float64 `json:"time_s"`
	} `json:"run"`
	Waits []struct {
		Metric   string  `json:"metric"`
		CallPath string  `json:"callpath"`
		Seconds  float64 `json:"seconds"`
	} `json:"waits"`
	Delays []struct {
		CallPath string  `json:"callpath"`
		Short    float64 `json:"short_s"`
		Long     float64 `json:"long_s"`
	} `json:"delays"`
	CallPaths []struct {
		CallPath  string  `json:"callpath"`
		Exclusive float64 `json:"exclusive_s"`
	} `json:"callpaths"`
}

// maxResult is the size of a result that is still read.
const maxResult = 1 << 30

// readMeasured reads a result of waits or profile; found is false if the file is something else.
func readMeasured(word string) (m profile.Measured, found bool, err error) {
	f, err := os.Open(word)
	if err != nil {
		return m, false, nil // a pattern, or a mistake that others tell
	}
	defer f.Close()
	head := make([]byte, 1)
	if n, _ := f.Read(head); n == 0 || head[0] != '{' {
		return m, false, nil
	}
	data, err := io.ReadAll(io.LimitReader(f, maxResult))
	if err != nil {
		return m, true, err
	}
	var j measuredJSON
	if err := json.Unmarshal(append(head, data...), &j); err != nil {
		return m, true, fmt.Errorf("%s: %w", word, err)
	}
	if j.Run == nil || j.Run.Time == nil {
		return m, true, fmt.Errorf("%s is JSON, but not a result of waits, profile or measure collectives", word)
	}
	m = profile.NewMeasured(0)
	m.Values[profile.Measurement{Metric: "run_time", Path: ""}] = *j.Run.Time
	if j.Waits != nil {
		m.Kinds |= profile.WaitKind
	}
	for _, w := range j.Waits {
		m.Values[profile.Measurement{Metric: w.Metric, Path: w.CallPath}] += w.Seconds
		if w.Metric != waits.WrongOrder.String() {
			m.Values[profile.Measurement{Metric: "waiting", Path: w.CallPath}] += w.Seconds
			m.Values[profile.Measurement{Metric: "waiting", Path: ""}] += w.Seconds
		}
	}
	if j.Delays != nil {
		m.Kinds |= profile.DelayKind
	}
	for _, d := range j.Delays {
		m.Values[profile.Measurement{Metric: "delay", Path: d.CallPath}] += d.Short + d.Long
	}
	if j.CallPaths != nil {
		m.Kinds |= profile.TimeKind
	}
	for _, p := range j.CallPaths {
		m.Values[profile.Measurement{Metric: "time", Path: p.CallPath}] += p.Exclusive
	}
	return m, true, nil
}

// change is how a number differs between two runs.
type change struct {
	profile.Measurement
	a, b         float64 // medians, in seconds
	p            float64 // probability of chance; NaN: one run of each is not enough to tell
	significant  bool
	inconclusive bool // too few repetitions for any verdict
}

func (c *change) difference() float64 { return c.b - c.a }

// relative is the change in parts of the old value; infinite if that is 0.
func (c *change) relative() float64 {
	if c.a == 0 {
		if c.b == 0 {
			return 0
		}
		return math.Inf(1)
	}
	return c.b/c.a - 1
}

// compareReport is a comparison with everything that its output names.
type compareReport struct {
	options    *compareOptions
	names      []string
	runs       [2]int
	changes    []change
	verdicts   []conditionVerdict
	provenance *provenance.Record
}

// compare compares all numbers of the runs, the greatest changes first, and returns how many only one side has.
func (r *compareReport) compare(before, after []profile.Measured, alpha float64) (left int) {
	r.runs = [2]int{len(before), len(after)}
	all := map[profile.Measurement]bool{}
	for _, m := range slices.Concat(before, after) {
		for k := range m.Values {
			all[k] = true
		}
	}
	for k := range all {
		x, y := valuesOf(before, k), valuesOf(after, k)
		if len(x) == 0 || len(y) == 0 {
			left++
			continue
		}
		c := change{Measurement: k, a: stat.Quantile(stat.Sorted(x), 0.5), b: stat.Quantile(stat.Sorted(y), 0.5), p: math.NaN()}
		if len(x) > 1 && len(y) > 1 {
			c.p = stat.RankSum(x, y)
			c.significant = c.p < alpha
			c.inconclusive = stat.SmallestRankSum(len(x), len(y)) >= alpha
		} else {
			c.significant = c.a != c.b
		}
		r.changes = append(r.changes, c)
	}
	slices.SortFunc(r.changes, func(x, y change) int {
		if (x.Path == "") != (y.Path == "") { // the whole run first
			return cmp.Compare(x.Path, y.Path)
		}
		return cmp.Or(cmp.Compare(math.Abs(y.difference()), math.Abs(x.difference())), cmp.Compare(x.Metric, y.Metric), cmp.Compare(x.Path, y.Path))
	})
	return left
}

// valuesOf is what runs say about a number.
func valuesOf(runs []profile.Measured, k profile.Measurement) []float64 {
	var values []float64
	for _, m := range runs {
		if v, known := m.Values[k]; known || m.Kinds&profile.KindOf(k.Metric) != 0 {
			values = append(values, v)
		}
	}
	return values
}

// condition is a change that makes the comparison fail.
type condition struct {
	text     string
	metric   string
	path     string
	anyPath  bool
	below    bool
	relative bool
	limit    float64
}

var conditionForm = regexp.MustCompile(`^([a-z_]+)(?:@(.*?))?\s*([<>])\s*([+-]?[0-9.eE]+)\s*(%|ps|ns|us|ms|s)$`)

// parseConditions reads the values of --fail-if.
func parseConditions(texts []string) ([]condition, error) {
	var list []condition
	for _, text := range texts {
		f := conditionForm.FindStringSubmatch(strings.TrimSpace(text))
		if f == nil {
			return nil, exit.Usagef("--fail-if: %q is not METRIC[@CALLPATH]>CHANGE with a percentage or a time, e.g. 'run_time>5%%' or 'waiting@main/solve>10ms'", text)
		}
		limit, err := strconv.ParseFloat(f[4], 64)
		if err != nil {
			return nil, exit.Usagef("--fail-if: %q: %q is not a number", text, f[4])
		}
		c := condition{text: text, metric: f[1], path: f[2], below: f[3] == "<", relative: f[5] == "%", limit: limit}
		c.anyPath = c.path == "*"
		scale := map[string]float64{"%": 1e-2, "ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
		c.limit *= scale[f[5]]
		if err := c.check(); err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// The verdicts of a condition.
const (
	conditionPassed = "passed"
	conditionFailed = "failed"
	conditionUnsure = "inconclusive" // there are too few repetitions to tell, or there was nothing to compare
)

// conditionVerdict is what a condition says about the changes.
type conditionVerdict struct {
	Condition string   `json:"condition"`
	Verdict   string   `json:"verdict"`
	Because   []string `json:"because,omitempty"`
}

// meets reports whether a change is one that the condition speaks of.
func (c *condition) meets(x *change) bool {
	value := x.difference()
	if c.relative {
		value = x.relative()
	}
	if c.below {
		return value < c.limit
	}
	return value > c.limit
}

// exit is the exit code of the verdicts.
func (r *compareReport) exit() error {
	unsure := false
	for _, v := range r.verdicts {
		if v.Verdict == conditionFailed {
			return exit.Verdict(exit.CheckFailed)
		}
		unsure = unsure || v.Verdict == conditionUnsure
	}
	if unsure {
		return exit.Verdict(exit.Inconclusive)
	}
	return nil
}

func at(path string) string {
	if path == "" {
		return ""
	}
	return " in " + path
}
