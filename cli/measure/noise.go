package measure

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/internal/phrase"
	"slackline/internal/stat"
	"slackline/internal/table"
	"slackline/model/noise"
	"slackline/model/unit"
	"slackline/observe/measure"
	"slackline/show/plot"
	"slackline/show/tables"
)

// noiseChildVerb is the verb of the process that measures; people have no use for it.
const noiseChildVerb = "noise-process"

// maxNoiseRuns bounds --runs.
const maxNoiseRuns = 1000

// shownFrequencies are the frequencies of a spectrum that the text has; the other forms have all.
const shownFrequencies = 5

// measureNoiseOptions are the flags of measure noise.
type measureNoiseOptions struct {
	method  string
	cpus    string
	options measure.NoiseOptions
	runs    int
	profile string
	result  env.ResultFlags
}

func measureNoiseCommand(a *env.Env) *cobra.Command {
	o := &measureNoiseOptions{
		options: measure.NoiseOptions{
			Time: 2 * time.Second, MaxDetours: measure.DefaultMaxDetours, Threshold: measure.DefaultThreshold, Quantum: measure.DefaultQuantum,
		},
	}
	c := &cobra.Command{
		Use:   "noise",
		Short: "Measure when the CPUs are not there for a program, and for how long.",
		Long: "Measure when the CPUs are not there for a program, and for how long. The default method reads the clock all the time; " +
			"what takes longer than 9 times the shortest iteration is a detour. A process of its own does it on each CPU, with signals " +
			"blocked and nothing else running in it. The result can be written as a profile that 'simulate --noise' takes. Run it on an " +
			"idle machine: other processes look like noise, and are.",
		Example: `  slackline measure noise
  slackline measure noise --time 60s --cpus all --profile node.txt --plot node.svg
  slackline measure noise --time 10min --runs 3 --profile node.txt
  slackline measure noise --method ftq --quantum 1ms --time 10s
  slackline simulate dissemination --ranks 65536 --machine altix --noise node.txt --replicas 20`,
		Args: flags.ExactArgs(),
		RunE: func(c *cobra.Command, _ []string) error { return o.run(a, c) },
	}
	a.AddGroup(c, "Measurement", func(fs *pflag.FlagSet) {
		flags.AddChoice(fs, &o.method, "method", "selfish: read the clock all the time; fwq: the same work again and again; ftq: work done "+
			"in equal times", string(measure.Selfish), measure.Methods...)
		fs.StringVar(&o.cpus, "cpus", "", "`list` of CPUs that are measured at the same time, e.g. 1 or 0,2-3, or all (default: the last one)")
		fs.Var((*flags.Time)(&o.options.Time), "time", "`time` to measure, e.g. 30s")
		fs.Float64Var(&o.options.Threshold, "threshold", o.options.Threshold, "selfish: a detour takes longer than `number` times "+
			"the shortest iteration")
		flags.AddNumber(fs, &o.runs, "runs", 1, flags.Between(1, maxNoiseRuns),
			"measure this `number` of times and keep the quietest run, the one with the smallest overhead")
		fs.IntVar(&o.options.MaxDetours, "max-detours", o.options.MaxDetours, "selfish: end when a CPU has this `number` of detours")
		fs.Var((*flags.Time)(&o.options.Quantum), "quantum", "fwq, ftq: `time` of a piece, e.g. 500us")
	})
	a.AddGroup(c, "Output", func(fs *pflag.FlagSet) {
		o.result.AddFlags(fs, "form of the output")
		fs.StringVar(&o.profile, "profile", "", "write the detours as a noise profile to `FILE`; with several CPUs to one file "+
			"each (FILE-cpu0, ...)")
		o.result.AddPlot(fs, "draw the length of every detour over time into `FILE.svg|png`")
	})
	return c
}

func measureNoiseChildCommand(a *env.Env) *cobra.Command {
	return &cobra.Command{
		Use:    noiseChildVerb,
		Short:  "The process that 'measure noise' starts on each CPU.",
		Hidden: true,
		Args:   flags.ExactArgs(),
		RunE:   func(*cobra.Command, []string) error { return measure.NoiseChild(a.Stdin, env.Raw(a.Stdout)) },
	}
}

func (o *measureNoiseOptions) run(a *env.Env, c *cobra.Command) error {
	cpus, err := parseCPUs(o.cpus, measure.CPUs())
	if err != nil {
		return exit.Usagef("--cpus: %v", err)
	}
	if err := o.checkFlags(c); err != nil {
		return err
	}
	if err := o.result.Check(nil, env.To("profile", o.profile)); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	options := o.options
	options.Method, options.CPUs, options.Child = measure.Method(o.method), cpus, []string{self, "measure", noiseChildVerb}
	if err := options.Check(); err != nil {
		return exit.Usagef("%v", err)
	}
	n, err := measure.MeasureQuietest(c.Context(), options, o.runs)
	if err != nil {
		return err
	}
	r := &measuredNoise{noise: n}
	for i := range n.CPUs {
		a.WarnAll(n.CPUs[i].Warnings())
	}
	if o.profile != "" {
		if err := r.writeProfiles(a, o.profile); err != nil {
			return err
		}
	}
	return a.WriteResult("measure noise", r, &o.result, nil)
}

// checkFlags refuses flags that do not belong to the method.
func (o *measureNoiseOptions) checkFlags(c *cobra.Command) error {
	selfish := o.method == string(measure.Selfish)
	for _, name := range []string{"threshold", "max-detours", "profile"} {
		if c.Flags().Changed(name) && !selfish {
			return exit.Usagef("--%s belongs to --method selfish, which finds single detours", name)
		}
	}
	if c.Flags().Changed("quantum") && selfish {
		return exit.Usagef("--quantum belongs to --method fwq and ftq")
	}
	return nil
}

// parseCPUs reads a list such as 0,2-3; the CPUs must be among the allowed ones.
func parseCPUs(text string, allowed []int) ([]int, error) {
	if len(allowed) == 0 {
		return nil, fmt.Errorf("this system does not report which CPUs there are")
	}
	switch text {
	case "":
		return allowed[len(allowed)-1:], nil
	case "all":
		return allowed, nil
	}
	given, err := unit.ParseCounts(text)
	if err != nil {
		return nil, fmt.Errorf("expected a list of CPUs such as 0,2-3, or all, got %q", text)
	}
	var list []int
	for _, cpu := range given {
		if !slices.Contains(allowed, cpu) {
			return nil, fmt.Errorf("this process may not use CPU %d, only %v", cpu, allowed)
		}
		if !slices.Contains(list, cpu) {
			list = append(list, cpu)
		}
	}
	return list, nil
}

// measuredNoise is a measurement with what its output needs.
type measuredNoise struct{ noise *measure.Noise }

// detours are those of a CPU as a trace, with their causes.
func (r *measuredNoise) detours(c *measure.CPUNoise) (*noise.Detours, error) {
	list := make([]noise.Detour, len(c.Detours))
	of := make([]int32, len(list))
	for i, d := range c.Detours {
		list[i] = noise.Detour{Start: int64(d.Start), Length: int64(d.Length)}
		of[i] = int32(d.Label)
	}
	return noise.NewLabeled(int64(c.Duration), list, of, c.Labels)
}

// writeProfiles writes the detours of each CPU as a file that simulate takes.
func (r *measuredNoise) writeProfiles(a *env.Env, path string) error {
	for i := range r.noise.CPUs {
		c := &r.noise.CPUs[i]
		file := path
		if len(r.noise.CPUs) > 1 {
			suffix := filepath.Ext(path)
			file = strings.TrimSuffix(path, suffix) + "-cpu" + strconv.Itoa(c.CPU) + suffix
		}
		d, err := r.detours(c)
		if err != nil {
			return err
		}
		if err := a.WriteBeside(file, nil, func(w io.Writer) error { return noise.WriteText(w, d) }); err != nil {
			return err
		}
	}
	return nil
}

// Figure has the detours, or what each quantum lost, over time.
func (r *measuredNoise) Figure(*env.Env) (fig plot.Figure, title, subtitle string, err error) {
	chart := &plot.Chart{
		Title:    "Noise of this machine",
		Subtitle: r.title(),
		X:        plot.Axis{Label: "time", Quantity: plot.Time},
		Y:        plot.Axis{Label: "length of the detour", Quantity: plot.Time, Scale: plot.Log10},
	}
	if r.noise.Method != measure.Selfish {
		chart.Y.Label = "lost in a quantum"
	}
	for i := range r.noise.CPUs {
		c := &r.noise.CPUs[i]
		points := &plot.Points{}
		if len(r.noise.CPUs) > 1 {
			points.Name = "CPU " + strconv.Itoa(c.CPU)
		}
		for _, d := range c.Detours {
			points.X, points.Y = append(points.X, float64(d.Start)), append(points.Y, float64(d.Length))
		}
		for _, s := range c.Samples {
			if s.Noise > 0 {
				points.X, points.Y = append(points.X, float64(s.Start)), append(points.Y, float64(s.Noise))
			}
		}
		if len(points.X) > 0 {
			chart.Layers = append(chart.Layers, points)
		}
	}
	if len(chart.Layers) == 0 {
		return nil, "", "", fmt.Errorf("--plot: no noise was found: there is nothing to draw")
	}
	return chart, "", "", nil
}

func (r *measuredNoise) title() string {
	text := fmt.Sprintf("method %s, %s, %s lost on average", r.noise.Method, phrase.Plural(len(r.noise.CPUs), "CPU"),
		phrase.PercentCell(r.noise.OverheadPercent()).Text)
	if list := r.noise.Runs; list != nil {
		var cells []string
		for _, percent := range list {
			cells = append(cells, phrase.PercentCell(percent).Text)
		}
		text += fmt.Sprintf(" in the quietest of %d runs (%s)", len(list), strings.Join(cells, ", "))
	}
	return text
}

// limit says which noise cannot be seen.
func (r *measuredNoise) limit() string {
	sample := "half of one per t_min"
	if r.noise.Method != measure.Selfish {
		sample = "half of one per quantum"
	}
	return fmt.Sprintf("sampling limit (Nyquist): %s, %s; faster noise only makes samples longer",
		phrase.RateCell(r.noise.SamplingLimit()).Text, sample)
}

// lengths are the lengths of the detours, or of what the quanta lost, sorted.
func lengths(c *measure.CPUNoise) []int64 {
	var list []int64
	for _, d := range c.Detours {
		list = append(list, int64(d.Length))
	}
	for _, s := range c.Samples {
		list = append(list, int64(s.Noise))
	}
	slices.Sort(list)
	return list
}

func (r *measuredNoise) Rows(*env.Env) env.Rows { return r.table() }

func (r *measuredNoise) Text(a *env.Env, w io.Writer) {
	fmt.Fprintf(w, "noise: %s\n%s\n\n", r.title(), r.limit())
	a.WriteText(w, r.table(), true)
	causes := table.Of(">cpu", "cause", ">detours", ">rate", ">lost")
	for i := range r.noise.CPUs {
		c := &r.noise.CPUs[i]
		for _, l := range c.Lines {
			count, rate := "-", "-"
			if l.Name != measure.StealCause {
				count, rate = phrase.Grouped(l.Count), phrase.RateCell(perSecond(l.Count, c.Duration)).Text
			}
			causes.Add(c.CPU, l.Name, count, rate, l.Lost.Short())
		}
		for _, f := range c.Spectrum[:min(len(c.Spectrum), shownFrequencies)] {
			causes.Add(c.CPU, fmt.Sprintf("repeats at %.1f Hz", f.Hertz), "", "", f.Amplitude.Short())
		}
	}
	if causes.Len() == 0 {
		return
	}
	fmt.Fprintln(w)
	a.WriteText(w, causes, true)
}

func perSecond(count int, span unit.Duration) float64 {
	if span == 0 {
		return 0
	}
	return float64(count) * float64(unit.Second) / float64(span)
}

// table has a line for each CPU.
func (r *measuredNoise) table() *table.Table {
	t := table.Of(">cpu", ">t_min_ns=t_min", ">detours", ">rate_per_second=rate", ">overhead_percent=overhead",
		">median_ns=median", ">p99_ns=p99", ">max_ns=max", ">duration_s=measured", ">switches")
	for i := range r.noise.CPUs {
		c := &r.noise.CPUs[i]
		list := lengths(c)
		quantile := func(q float64) table.Cell {
			if len(list) == 0 {
				return table.Cell{Text: "-"}
			}
			d := unit.Duration(stat.Quantile(list, q))
			return tables.Time(d)
		}
		t.Add(c.CPU, table.Cell{Text: fmt.Sprintf("%.1fns", c.Shortest), Value: c.Shortest}, len(list),
			phrase.RateCell(perSecond(len(list), c.Duration)),
			phrase.PercentCell(c.OverheadPercent()), quantile(0.5), quantile(0.99), quantile(1),
			table.Cell{Text: c.Duration.Short(), Value: seconds(c.Duration)}, c.Host.InvoluntarySwitches)
	}
	return t
}

func seconds(d unit.Duration) float64 { return float64(d) / float64(unit.Second) }
