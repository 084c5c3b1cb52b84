package cli

import (
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/profile"
	"slackline/analyze/simulate"
	"slackline/analyze/waits"
	"slackline/internal/input"
	"slackline/internal/provenance"
	"slackline/internal/source"
	"slackline/model/collective"
	"slackline/model/machine"
	"slackline/model/unit"
	"slackline/show/plot"
)

// The figures of a profile.
const (
	profileMatrix     = "matrix"
	profileRanks      = "ranks"
	profileIterations = "iterations"
	profileCollective = "collectives"
	profileSizes      = "sizes"
)

// profileOptions are the flags of profile.
type profileOptions struct {
	run    runOptions
	share  choice
	ideal  string
	top    int
	byRank bool
	format choice
	out    string
	plot   string
	kind   choice
}

func (a *app) profileCommand() *cobra.Command {
	o := &profileOptions{
		run: newRunOptions(), share: shareFlag(), format: newChoice(formatText, formatText, formatJSON, formatCSV),
		kind: newChoice(figureAuto, figureAuto, profileMatrix, profileRanks, profileIterations, profileCollective, profileSizes),
	}
	c := &cobra.Command{
		Use:   "profile INPUT",
		Short: "Find out where the time of a run goes: by call path, kind of activity, message and iteration.",
		Long: "Show what a run consists of (computation, MPI, waiting, OpenMP, idle threads), its efficiencies, the call paths that take the most time, " +
			"messages, collectives, and how iterations develop where the program repeats itself.",
		Annotations: arguments("INPUT", runHelp),
		Example: `  slackline profile traces.otf2
  slackline profile traces.otf2 --plot matrix.svg --plot-kind matrix
  slackline profile traces.otf2 --by-rank --format csv --out profile.csv
  mpirun -n 16 slackline profile big.slt`,
		Args: exactArgs("INPUT"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.fasterAlone(c, &o.share, func() error { return o.execute(a, c, args[0]) })
		},
	}
	a.addGroup(c, "Output", o.addOutputFlags)
	o.run.addTo(a, c)
	complete(c, "format", o.format.allowed)
	complete(c, "share", o.share.allowed)
	complete(c, "plot-kind", o.kind.allowed)
	return c
}

func (o *profileOptions) addOutputFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.ideal, "ideal", "", "run time on an ideal network, for serialisation and transfer efficiency: a `TIME|simulate`; simulate: replay the run on one (default: an estimate from the waits)")
	fs.IntVar(&o.top, "top", 10, "`number` of rows in each list of the text output; 0: all")
	fs.BoolVar(&o.byRank, "by-rank", false, "call paths by rank in JSON and CSV, not only summed")
	fs.Var(&o.format, "format", "form of the output")
	addOut(fs, &o.out)
	addShare(fs, &o.share, "the analysis of a recorded run")
	fs.StringVar(&o.plot, "plot", "", "draw a figure into `FILE.svg|png`")
	fs.Var(&o.kind, "plot-kind", "what to draw: who sends how much to whom, times by rank, iterations, collectives over time, sizes of messages, or what fits the run")
}

func (o *profileOptions) execute(a *app, c *cobra.Command, word string) error {
	if o.plot == "" && o.kind.value != figureAuto {
		return usagef("--plot-kind needs --plot FILE")
	}
	if o.plot != "" {
		if _, err := plot.FormatOf(o.plot); err != nil {
			return usagef("--plot: %v", err)
		}
	}
	inputs := o.run.future.files(word)
	if err := checkOutputs(inputs, output{"out", o.out}, output{"plot", o.plot}); err != nil {
		return err
	}
	r, err := o.run.openRun(a, c, word, o.format.value == formatJSON)
	if err != nil {
		return err
	}
	report, err := profileRun(c, r, o.run.threads)
	if err != nil {
		return err
	}
	if err := a.sharedDone(c.Context()); err != nil {
		return err
	}
	report.options = o
	ideal, err := o.idealTime(a, c, word)
	if err != nil {
		return err
	}
	report.efficiency = report.profile.Efficiency(ideal, report.waiting)
	if o.format.value == formatJSON {
		report.provenance = a.provenance()
		report.provenance.Inputs = r.records
		report.provenance.Warnings = a.warnings
	}
	if o.plot != "" {
		if err := report.draw(a, inputs); err != nil {
			return err
		}
	}
	return a.writeOut(o.out, inputs, func(w io.Writer) error { return report.write(a, w) })
}

// idealSimulated is the word for the run time of a replay on an ideal network.
const idealSimulated = "simulate"

// idealTime is the run time on an ideal network as the flag says; 0: not at all.
func (o *profileOptions) idealTime(a *app, c *cobra.Command, word string) (unit.Duration, error) {
	switch o.ideal {
	case "":
		return 0, nil
	case idealSimulated:
		return o.run.future.idealTime(a, c, word)
	}
	d, err := unit.ParseDuration(o.ideal)
	if err != nil {
		return 0, usagef("--ideal: %v; or give the word %s", err, idealSimulated)
	}
	return d, nil
}

// idealTime simulates the input on a network without latency, overhead and cost per byte.
func (o *futureOptions) idealTime(a *app, c *cobra.Command, word string) (unit.Duration, error) {
	if input.IsSchedule(word) {
		o.program.ranks = nil
	}
	in, err := o.program.open(a, c, word, false)
	if err != nil {
		return 0, err
	}
	mapping, err := collective.FindMapping(o.mapping)
	if err != nil {
		return 0, err
	}
	ideal := machine.FromParams("an ideal network", machine.Params{
		Overhead: machine.One(unit.Duration(0)), PerByte: machine.One(unit.PerByte(0)), Eager: machine.NoLimit,
	})
	injection, err := o.noise.injection(source.Disk, ideal, in.Program.Ranks(), o.program.seed)
	if err != nil {
		return 0, err
	}
	result, err := simulate.Run(c.Context(), in.Program, ideal, simulate.Options{Mapping: mapping, Noise: injection})
	if err != nil {
		return 0, err
	}
	return result.Makespan, nil
}

// profileReport is a profile with everything that its output names.
type profileReport struct {
	run         *run
	profile     *profile.Profile
	waits       *waits.Result
	waiting     []profile.WaitTime
	composition *profile.Composition
	efficiency  *profile.Efficiency
	iterations  *profile.Iterations
	options     *profileOptions
	provenance  *provenance.Record
}

// profileRun makes the profile of a run and finds its waits.
func profileRun(c *cobra.Command, r *run, threads int) (*profileReport, error) {
	found, err := waits.Analyze(c.Context(), r.timeline, waits.Options{Threads: threads})
	if err != nil {
		return nil, err
	}
	p := &profileReport{run: r, waits: found, profile: found.Profile()}
	if err := p.profile.Gather(c.Context(), timeParts, collectiveParts); err != nil {
		return nil, err
	}
	p.waiting = found.WaitTimes()
	p.composition = p.profile.Composition(p.waiting)
	p.iterations, err = p.profile.FindIterations(c.Context(), func(add func(rank int, at, amount unit.Duration)) {
		found.EachState(func(s *waits.State) {
			if s.Thread == 0 {
				add(s.Rank, s.At, s.Amount)
			}
		})
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (r *profileReport) write(a *app, w io.Writer) error {
	switch r.options.format.value {
	case formatJSON:
		return writeJSONObject(w, r.json())
	case formatCSV:
		return r.table().WriteCSV(w)
	}
	return r.writeText(a, w)
}
