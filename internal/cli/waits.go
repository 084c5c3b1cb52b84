package cli

import (
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/profile"
	"slackline/analyze/waits"
	"slackline/internal/provenance"
	"slackline/show/plot"
)

// waitsOptions are the flags of waits.
type waitsOptions struct {
	run      runOptions
	share    choice
	top      int
	explain  int
	of       rankList // explained
	critical bool
	format   choice
	out      string
	plot     string
	cube     string
}

func (a *app) waitsCommand() *cobra.Command {
	o := &waitsOptions{run: newRunOptions(), share: shareFlag(), format: newChoice(formatText, formatText, formatJSON, formatCSV)}
	c := &cobra.Command{
		Use:   "waits INPUT",
		Short: "Find out who waits in a run, and whose fault it is.",
		Long: "Find the wait states of a run: late senders and receivers, waits in collectives, at OpenMP barriers, idle threads. " +
			"Charge every second to its cause: the call path and rank that made others wait, directly (short) or through further waits (long). " +
			"'slackline explain' says what the metrics mean.",
		Annotations: arguments("INPUT", runHelp),
		Example: `  slackline waits traces.otf2
  slackline waits traces.otf2 --explain --critical-path
  slackline waits traces.otf2 --grid 16x16 --plot waits.svg
  slackline waits app.slt --machine chic --balance solve/fixup
  slackline waits halo2d --ranks 1024 --machine chic --noise 1000Hz:10us
  slackline waits traces.otf2 --format json --out waits.json
  mpirun -n 16 slackline waits big.slt`,
		Args: exactArgs("INPUT"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.fasterAlone(c, &o.share, func() error { return o.execute(a, c, args[0]) })
		},
	}
	a.addGroup(c, "Questions", o.addQuestionFlags)
	a.addGroup(c, "What if (the run is simulated)", o.run.future.addChangeFlags)
	a.addGroup(c, "Output", o.addOutputFlags)
	o.run.addTo(a, c)
	complete(c, "format", o.format.allowed)
	complete(c, "share", o.share.allowed)
	return c
}

func (o *waitsOptions) addQuestionFlags(fs *pflag.FlagSet) {
	fs.IntVar(&o.explain, "explain", 0, "say why the largest waits happened, this `number` of them (3 if none is given)")
	fs.Lookup("explain").NoOptDefVal = "3"
	fs.Var(&o.of, "explain-ranks", "explain waits of these `ranks` only, e.g. 7 or 0..3")
	fs.BoolVar(&o.critical, "critical-path", false, "show what the run time consists of: the critical path of the run as it was")
}

func (o *waitsOptions) addOutputFlags(fs *pflag.FlagSet) {
	fs.IntVar(&o.top, "top", 6, "`number` of rows in each list of the text output; 0: all")
	fs.Var(&o.format, "format", "form of the output")
	addOut(fs, &o.out)
	addShare(fs, &o.share, "the analysis of a recorded run")
	fs.StringVar(&o.plot, "plot", "", "draw maps of waits and delays by rank into `FILE.svg|png`")
	fs.StringVar(&o.cube, "cube", "", "also write the result for the Cube viewer into `FILE.cubex`")
}

func (o *waitsOptions) execute(a *app, c *cobra.Command, word string) error {
	if o.plot != "" {
		if _, err := plot.FormatOf(o.plot); err != nil {
			return usagef("--plot: %v", err)
		}
	}
	if o.top < 0 || o.explain < 0 {
		return usagef("--top and --explain must be 0 or more")
	}
	inputs := o.run.future.files(word)
	if err := checkOutputs(inputs, output{"out", o.out}, output{"plot", o.plot}, output{"cube", o.cube}); err != nil {
		return err
	}
	r, err := o.run.openRun(a, c, word, o.format.value == formatJSON)
	if err != nil {
		return err
	}
	report, err := o.analyse(a, c, r)
	if err != nil {
		return err
	}
	if o.plot != "" {
		if err := report.draw(a, o.plot, inputs); err != nil {
			return err
		}
	}
	if o.cube != "" {
		if err := report.writeCube(a, o.cube, inputs); err != nil {
			return err
		}
	}
	return a.writeOut(o.out, inputs, func(w io.Writer) error { return report.write(a, w) })
}

// analyse finds the wait states of a run and what else the flags ask for.
func (o *waitsOptions) analyse(a *app, c *cobra.Command, r *run) (*waitsReport, error) {
	begin := time.Now()
	result, err := waits.Analyze(c.Context(), r.timeline, waits.Options{Threads: o.run.threads})
	if err != nil {
		return nil, err
	}
	a.note("%s analysed in %s, %s", plural(result.States, "wait state"), tidy(time.Since(begin)), plural(o.run.threads, "thread"))
	if a.group().Size() > 1 {
		a.note("costs were handed from process to process in %s", plural(result.Rounds(), "round"))
	}
	if result.Cyclic > 0 {
		a.warn("%s depend on each other in circles, so the clocks are wrong; part of their costs stays without cause", plural(result.Cyclic, "wait state"))
	}
	report := &waitsReport{run: r, result: result, options: o}
	if o.critical {
		if report.critical, err = result.FindCriticalPath(c.Context()); err != nil {
			return nil, err
		}
	}
	if len(o.of.list) > 0 && o.explain == 0 {
		o.explain = 3
	}
	if o.explain > 0 {
		if report.explanations, err = result.FindExplanations(c.Context(), largestWaits(result.Waits, o.of.list, o.explain)); err != nil {
			return nil, err
		}
	}
	if o.cube != "" {
		report.profile = result.Profile()
		if err := report.profile.Gather(c.Context()); err != nil {
			return nil, err
		}
	}
	if err := a.sharedDone(c.Context()); err != nil {
		return nil, err
	}
	if o.format.value == formatJSON {
		report.provenance = a.provenance()
		report.provenance.Inputs = r.records
		report.provenance.Warnings = a.warnings
	}
	return report, nil
}

// waitsReport is a result with everything that its output names.
type waitsReport struct {
	run          *run
	result       *waits.Result
	critical     *waits.CriticalPath
	explanations []*waits.Explanation
	profile      *profile.Profile // nil: it was not needed
	options      *waitsOptions
	provenance   *provenance.Record
}

func (r *waitsReport) write(a *app, w io.Writer) error {
	switch r.options.format.value {
	case formatJSON:
		return writeJSONObject(w, r.json())
	case formatCSV:
		return r.table().WriteCSV(w)
	}
	return r.writeText(a, w)
}
