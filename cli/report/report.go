// Package report is the verb report: it writes the report.
package report

import (
	"io"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/whatif"
	"slackline/cli/check"
	"slackline/cli/datasets"
	"slackline/cli/env"
	"slackline/cli/flags"
	"slackline/cli/scenario"
	"slackline/internal/plain"
	"slackline/internal/provenance"
	"slackline/internal/source"
	"slackline/model/collective"
	"slackline/model/timeline"
	"slackline/model/unit"
	"slackline/show/report"
)

// formatHTML is the form of a report for people.
const formatHTML = "html"

// reportOptions are the flags of report.
type reportOptions struct {
	run          scenario.RunOptions
	data         datasets.DataOptions
	title        string
	expectations string
	scales       flags.Counts
	replicas     int
	target       flags.Factor
	anonymous    bool
	format       string
	out          string
	replayed     *timeline.Timeline // of the first run, if that was recorded: what is simulated
}

// reportReplicas is how often a run with noise is simulated if nothing else is wanted.
const reportReplicas = 5

// Verb is the entry of the registry.
var Verb = env.Verb{
	Name: "report", Group: env.Show, Job: env.FirstOnly, New: command,
	Documents: env.Documents{"report": {report.Document{}}},
}

func command(a *env.Env) *cobra.Command {
	o := &reportOptions{}
	c := &cobra.Command{
		Use:   "report INPUT...",
		Short: "Write everything about a program into one HTML file that can be sent by mail.",
		Long: "Write everything about a program into one HTML file that needs nothing else, neither network nor script: what ran, where its " +
			"time goes, who waits and why, " +
			"what a fix would gain, how much latency, bandwidth and noise it tolerates, how it scales, whether it meets its expectations, and how " +
			"certain all this is.\n" +
			"Every figure has its data and the command that reproduces it. A section that the inputs do not allow gives the reason, and the " +
			"command that would add it.\n" +
			"The report is about the first run; further runs are compared with it, and runs on several numbers of ranks become a series. " +
			"Without a machine, simulations use a network that costs nothing; what a fix would gain, one that is estimated from the " +
			"messages of the run.",
		Annotations: flags.Arguments("INPUT", "a recorded run or a directory of them, a pattern or schedule file (with a machine), or "+
			"measurements as scaling reads them; any number, in any order"),
		Example: `  slackline report app.slt --out report.html
  slackline report app.slt --machine piz-daint --noise 1000Hz:25us --out report.html
  slackline report app.slt runs.json --expectations scaling.yaml
  slackline report p16.slt p32.slt p64.slt p128.slt p256.slt
  slackline report halo2d --ranks 64 --machine chic --noise chic
  slackline report app.slt --format json`,
		Args: flags.AtLeastOne("INPUT"),
		RunE: func(c *cobra.Command, args []string) error { return o.execute(a, c, args) },
	}
	a.AddGroup(c, "Report", o.addReportFlags)
	a.AddGroup(c, "Run", o.run.AddFlags)
	a.AddGroup(c, "Machine for what is simulated", func(fs *pflag.FlagSet) {
		o.run.Future.Machine.AddFlags(fs)
		o.run.Future.Machine.AddModel(fs)
		scenario.AddMapping(fs, &o.run.Future.Mapping)
	})
	a.AddGroup(c, "Noise of what is simulated", o.run.Future.Noise.AddFlags)
	a.AddGroup(c, "Pattern, or what is made of a recorded run", o.run.Future.Program.AddFlags)
	a.AddGroup(c, "Measurements", func(fs *pflag.FlagSet) {
		fs.StringArrayVar(&o.data.Where, "where", nil, "take only measurements at a value of a parameter, as `NAME=VALUE`, e.g. "+
			"bytes=8; may be repeated")
		fs.StringVar(&o.data.Metric, "metric", "", "take only the metric of this `name`")
	})
	o.run.Future.Program.GridOfRun = true
	o.run.Future.Complete(c)
	c.ValidArgsFunction = scenario.CompleteInput
	return c
}

func (o *reportOptions) addReportFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.out, "out", "", "`file` of the report (default report.html, or the standard output for JSON)")
	flags.AddChoice(fs, &o.format, "format", "form of the report; json has the same content as data", formatHTML, formatHTML,
		env.FormatJSON)
	fs.StringVar(&o.title, "title", "", "`text` of the title (default: the name of the first input)")
	fs.StringVar(&o.expectations, "expectations", "", "`FILE|mpi` with expectations to check measurements, or a series of runs, against")
	fs.Var(&o.scales, "scale-to", "also simulate the program on these `numbers` of ranks, e.g. 2^8..2^14 (default: as many as are "+
		"simulated in a few seconds)")
	flags.AddNumber(fs, &o.replicas, "replicas", reportReplicas, flags.AtLeast(1),
		"`number` of runs with different noise at each number of ranks, 1 or more")
	fs.Var(&o.target, "target", "`value` of the first parameter at which models of measurements predict (default: four times the largest)")
	fs.BoolVar(&o.anonymous, "anonymous", false, "leave out absolute paths, host names and user names")
}

func (o *reportOptions) execute(a *env.Env, c *cobra.Command, words []string) error {
	if o.out == "" && o.format == formatHTML {
		o.out = "report.html"
	}
	var paths []string
	for _, word := range words {
		_, path := datasets.CutPlace(word)
		paths = append(paths, path)
	}
	paths = append(paths, o.run.Future.Files(o.expectations)...)
	if err := env.CheckOutputs(paths, env.To("out", o.out)); err != nil {
		return err
	}
	in, err := o.open(a, c, words)
	if err != nil {
		return err
	}
	line := a.StartProgress()
	defer line.Clear()
	in.Progress = func(what string) { line.Report(func() string { return "report: " + what }) }
	var names *report.Anonymizer
	if o.anonymous {
		names = in.Anonymize(hereAndWho())
	}
	document, err := report.Make(c.Context(), in)
	if err != nil {
		return err
	}
	if names != nil {
		names.Document(document)
	}
	size := int64(0)
	err = a.WriteOut(o.out, paths, func(w io.Writer) error {
		if o.format == env.FormatJSON {
			return env.WriteJSONObject(w, document)
		}
		counted := &countingWriter{w: w}
		err := document.WriteHTML(counted)
		size = counted.n
		return err
	})
	if err == nil && a.Stream(o.out) == nil && o.format == formatHTML {
		a.Note("wrote %s, %s; a browser shows it", o.out, unit.Size(size).Short())
	}
	return err
}

// hereAndWho are the names of this host and of the user.
func hereAndWho() (hosts, users []string) {
	if host, err := os.Hostname(); err == nil {
		hosts = append(hosts, host)
	}
	if u, err := user.Current(); err == nil {
		users = append(users, u.Username, filepath.Base(u.HomeDir))
	}
	users = append(users, os.Getenv("USER"), os.Getenv("LOGNAME"), filepath.Base(os.Getenv("HOME")))
	return hosts, slices.DeleteFunc(users, func(name string) bool {
		return slices.Contains([]string{"", ".", "/", "root", "home"}, name) // these say nothing
	})
}

// countingWriter counts what is written.
type countingWriter struct {
	w io.Writer
	n int64
}

// Write implements io.Writer.
func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// open opens everything that the report is made of.
func (o *reportOptions) open(a *env.Env, c *cobra.Command, words []string) (*report.Input, error) {
	inputs, err := sortInputs(words)
	if err != nil {
		return nil, err
	}
	in := &report.Input{
		Title: o.title, Scales: o.scales, Threads: o.run.Threads, Whole: o.run.Whole, Of: datasets.RunDataset, Where: o.target.Value,
		Record: provenance.New(a.Args),
	}
	if in.Title == "" {
		in.Title = "Report on " + strings.Join(words[:1], "")
	}
	in.Title = plain.Name(in.Title)
	if err := o.openSetting(c, in); err != nil {
		return nil, err
	}
	for _, r := range inputs.runs {
		if err := o.openRun(a, c, in, r); err != nil {
			return nil, err
		}
	}
	if len(inputs.data) > 0 {
		d, records, err := o.data.Load(c.Context(), a, inputs.data)
		if err != nil {
			return nil, err
		}
		in.Data, in.Words = d, append(inputs.data, flags.Words(c, "where", "metric")...)
		in.Record.Inputs = append(in.Record.Inputs, records...)
	} else {
		a.WarnOfVoid(c, ": no input is a file of measurements", "where", "metric")
		if len(in.Runs) == 1 {
			a.WarnOfVoid(c, ": one run gives no model", "target")
		}
	}
	if o.expectations != "" {
		read := &check.Report{}
		if err := read.ReadExpectations(c.Context(), o.expectations, a.Stdin); err != nil {
			return nil, err
		}
		in.Expectations = &report.Expectations{Expectations: read.Expectations, Name: o.expectations}
		in.Record.Inputs = append(in.Record.Inputs, read.Records...)
	}
	if len(in.Runs) > 0 {
		if err := o.openNoise(a, c, in); err != nil {
			return nil, err
		}
		if in.Noise == nil {
			a.WarnOfVoid(c, " without --noise", "replicas")
		}
		if in.Machine.Assumed {
			a.WarnOfVoid(c, " without a machine", "scale-network")
		}
		if err := o.askAdvice(c, in); err != nil {
			return nil, err
		}
	} else {
		a.WarnOfAllBut(c, ": no input is a run", "out", "format", "title", "expectations", "target", "anonymous", "threads", "where", "metric")
	}
	in.Warnings = a.Warnings
	in.Record.Warnings = a.Warnings
	return in, nil
}

// openSetting finds the machine and the mapping.
func (o *reportOptions) openSetting(c *cobra.Command, in *report.Input) error {
	f := &o.run.Future
	given := f.Machine.Override()
	if f.Machine.Name == "" && given.IsZero() {
		m := whatif.IdealNetwork()
		m.Name = "a network that costs nothing"
		in.Machine = &report.Machine{Machine: m, Words: report.FreeNetwork(), Assumed: true}
	} else {
		m, err := f.Machine.Machine(c)
		if err != nil {
			return err
		}
		in.Machine = &report.Machine{Machine: m, Words: f.Machine.Words(c)}
		if file := f.Machine.File(); file != "" {
			if err := o.record(in, file, "machine"); err != nil {
				return err
			}
		}
	}
	mapping, err := collective.FindMapping(f.Mapping)
	if err != nil {
		return err
	}
	in.Mapping = &report.Mapping{Mapping: mapping, Words: flags.Words(c, "mapping")}
	in.Model = f.Machine.Model()
	return nil
}

// askAdvice asks what pays in the first run. Without a machine, that of a recorded run is estimated, as advise does.
func (o *reportOptions) askAdvice(c *cobra.Command, in *report.Input) (err error) {
	run := in.Runs[0]
	if run.Program == nil {
		return nil
	}
	m := in.Machine.Machine
	if in.Machine.Assumed {
		m = nil
	}
	in.Advise, in.Estimate, err = o.run.Future.Question(c, run.Name, run.Program, o.replayed, m, in.Mapping.Mapping)
	return err
}

// openNoise finds the noise that is put on simulated programs.
func (o *reportOptions) openNoise(a *env.Env, c *cobra.Command, in *report.Input) error {
	n := &o.run.Future.Noise
	if err := n.Check(); err != nil {
		return err
	}
	n.Aligned = c.Flags().Changed("offsets")
	if !in.Machine.Assumed {
		n.TakeFrom(a, in.Machine.Machine)
	}
	described, err := n.Describe(source.Disk, in.Runs[0].Timeline.Ranks, o.run.Future.Program.Seed, true)
	if err != nil {
		return err
	}
	if described.IsZero() {
		return nil
	}
	words := flags.Words(c, append(slices.Clone(scenario.NoiseFlags), "seed")...)
	if !c.Flags().Changed("noise") && !c.Flags().Changed("noise-file") {
		words = append([]string{"--noise", n.Name()}, words...)
	}
	name := n.Name()
	if clock := n.OtherClock(); clock != "" {
		name += ", noise clock " + clock
	}
	in.Noise = &report.Noise{Noise: described, Name: name, Words: words, Replicas: o.replicas}
	for _, file := range n.Files() {
		if err := o.record(in, file, "noise"); err != nil {
			return err
		}
	}
	return nil
}
