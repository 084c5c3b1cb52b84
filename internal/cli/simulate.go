package cli

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/simulate"
	"slackline/internal/input"
	"slackline/internal/memory"
	"slackline/internal/provenance"
	"slackline/internal/source"
	"slackline/model/collective"
	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/pattern"
	"slackline/model/unit"
)

type simulateOptions struct {
	program   programOptions
	machine   machineOptions
	mapping   string
	model     choice
	threads   int
	share     choice
	noise     noiseOptions
	replicas  replicaOptions
	breakdown bool
	attribute bool
	format    choice
	out       string
	figure    figureOptions
	trace     simulatedTrace
}

func (a *app) simulateCommand() *cobra.Command {
	o := &simulateOptions{
		program: newProgramOptions(),
		machine: newMachineOptions(),
		model:   newChoice(string(simulate.LogGOPS), string(simulate.LogGOPS), string(simulate.LogGPS)),
		share:   shareFlag(),
		format:  newChoice(formatText, formatText, formatJSON, formatCSV),
		noise:   newNoiseOptions(),
		figure:  newFigureOptions(),
	}
	c := &cobra.Command{
		Use:   "simulate INPUT",
		Short: "Simulate a schedule on a machine and print when every rank finishes.",
		Annotations: arguments("INPUT",
			"a schedule file (GOAL text, LogGOPSim binary, slackline schedule) or a recorded run (a trace), told by its content; "+
				"- for the standard input; or the name of a pattern ('slackline generate --list')"),
		Example: `  slackline simulate dissemination --ranks 1024 --size 1B --machine chic
  slackline simulate gather --algorithm linear --ranks 16384 --size 1B --machine chic
  slackline simulate run.goal -L 2500ns -o 1500ns -g 1us -G 6ns -O 0 -S 65535 --format json
  slackline simulate bcast --algorithm binomial --ranks 8 --machine chic --plot bcast.svg
  slackline simulate dissemination --ranks 2^1..2^15 --machine cnl --noise 1000Hz:100us \
      --replicas 100 --plot boxes.svg
  slackline simulate dissemination --machine altix --noise altix --bottleneck --job-size 2^20
  slackline simulate traces.otf2 --ranks 4096 --machine chic --noise chic --denoise
  slackline simulate sweep3d --ranks 64 --machine chic --trace sweep.pftrace
  mpirun -n 16 slackline simulate sweep3d --ranks 2^20 --machine piz-daint`,
		Args: exactArgs("INPUT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(a, c, args[0]) },
	}
	a.addGroup(c, "Machine", o.machine.addFlags)
	a.addGroup(c, "Pattern or recorded run (no influence on schedule files)", o.program.addFlags)
	a.addGroup(c, "Simulation", o.addSimulationFlags)
	a.addGroup(c, "Noise", o.noise.addFlags)
	a.addGroup(c, "Many runs", o.replicas.addFlags)
	a.addGroup(c, "Output", o.addOutputFlags)
	c.Flags().Lookup("ranks").Usage = "`number` of ranks, e.g. 1024 or 2^20; several, e.g. 2^1..2^10, are run one after the other; of a recorded run multiples of its ranks (default: the run's)"
	c.ValidArgsFunction = completeInput
	o.machine.complete(c)
	o.program.complete(c)
	o.noise.complete(c)
	complete(c, "model", o.model.allowed)
	complete(c, "share", o.share.allowed)
	completeWith(c, "mapping", collective.MappingNames)
	complete(c, "format", o.format.allowed)
	o.figure.complete(c)
	return c
}

func (o *simulateOptions) addSimulationFlags(fs *pflag.FlagSet) {
	fs.Var(&o.model, "model", "model of the network: with contention (loggops) or static (loggps)")
	fs.StringVar(&o.mapping, "mapping", "default", "`NAME|FILE` of the mapping by which collectives choose their algorithms: default, openmpi, mpich")
	fs.IntVar(&o.threads, "threads", 0, "`number` of threads; the result does not depend on it (default: one per core)")
	addShare(fs, &o.share, "one run")
}

func (o *simulateOptions) addOutputFlags(fs *pflag.FlagSet) {
	fs.Var(&o.format, "format", "form of the output")
	addOut(fs, &o.out)
	fs.BoolVar(&o.breakdown, "breakdown", false, "say where the time of the ranks goes: compute, overhead, noise, waiting; they add up to the finish time, times the number of CPUs if there are several")
	fs.BoolVar(&o.attribute, "attribute", false, "say what the noise did: how much of it made the run longer, by source and rank, and where the rest was absorbed")
	o.figure.addFlags(fs)
	o.trace.addFlags(fs)
}

// run is the verb: open the input, simulate it, print the result.
func (o *simulateOptions) run(a *app, c *cobra.Command, word string) error {
	if o.threads < 0 {
		return usagef("--threads: %d is negative; give 0 for one thread per core, or a number", o.threads)
	}
	if err := o.figure.check(); err != nil {
		return err
	}
	o.noise.aligned = c.Flags().Changed("offsets")
	if err := o.noise.check(); err != nil {
		return err
	}
	if err := o.program.findKinds(c.Context(), a, word); err != nil {
		return err
	}
	if o.program.kinds.IsSchedule(word) {
		o.program.ranks = nil // it has its own; a warning will say so
	}
	if err := o.checkReplicas(c); err != nil {
		return err
	}
	if err := o.checkAttribute(o.many()); err != nil {
		return err
	}
	inputs := append([]string{word, o.machine.name, o.mapping}, o.noise.files()...)
	if a.isFirst() { // it alone writes them
		if err := o.checkOutputs(word, inputs); err != nil {
			return err
		}
	}
	if o.model.value == string(simulate.LogGPS) {
		o.machine.gapOptional = true // the static model does without it
	}
	m, err := readOnce(c.Context(), a, func(from source.Source) (*machine.Machine, error) { return o.machine.machineFrom(from, c) })
	if err != nil {
		return err
	}
	if len(m.Topology) > 0 {
		a.warn("topology: of %s has no influence on simulate: it is for studies per wire", o.machine.name)
	}
	o.noise.takeFrom(a, m)
	o.program.seedUsed = o.noise.random()
	mapping, err := readOnce(c.Context(), a, func(from source.Source) (*collective.Mapping, error) {
		return collective.FindMappingFrom(from, o.mapping)
	})
	if err != nil {
		return err
	}
	if o.many() {
		return o.runMany(a, c, word, m, mapping, inputs)
	}
	return a.fasterAlone(c, &o.share, func() error { return o.runOne(a, c, word, m, mapping, inputs) })
}

// runOne simulates the input once.
func (o *simulateOptions) runOne(a *app, c *cobra.Command, word string, m *machine.Machine, mapping *collective.Mapping, inputs []string) error {
	if err := o.shareRun(a, m, word); err != nil {
		return err
	}
	in, err := o.program.open(a, c, word, o.format.value == formatJSON)
	if err != nil {
		return err
	}
	a.warnOfRecordedNoise(in, &o.noise, &o.program)
	if err := checkMemory(in.Program.Ranks()/a.group().Size(), a.processesHere(), memory.Available); err != nil {
		return err
	}
	injection, err := readOnce(c.Context(), a, func(from source.Source) (*noise.Injection, error) {
		return o.noise.injection(from, m, in.Program.Ranks(), o.program.seed)
	})
	if err != nil {
		return err
	}
	options := simulate.Options{
		Model: simulate.Model(o.model.value), Mapping: mapping, Threads: o.threads,
		Noise: injection, Breakdown: o.breakdown, Calls: o.trace.path != "", Group: a.group(),
	}
	if in.Graph != nil && options.Model != simulate.LogGPS {
		in.Program = simulate.Prepare(in.Graph) // a figure runs it once more
	}
	attribution, err := o.attributionOf(a, c, in, m, options)
	if err != nil {
		return err
	}
	result, err := a.simulate(c, in, m, options)
	if err != nil {
		return o.failTogether(a, err)
	}
	job, err := a.recordJob(c, result.Together)
	if err != nil {
		return err
	}
	if !a.isFirst() {
		return errNotNeeded
	}
	a.noteJob(job)
	options.Group = nil
	o.warnOfVoid(a, c, in, result)
	if err := o.trace.write(a, c, result); err != nil {
		return err
	}
	if o.figure.path != "" {
		if err := o.figure.draw(a, c, in, m, options, o.noise.delays, result); err != nil {
			return err
		}
	}
	report := &simulation{input: in, machine: m, model: options.Model, noise: o.noise.name(), result: result, attribution: attribution}
	if o.program.mapped(in) {
		report.mapping = o.mapping
	}
	if o.format.value == formatJSON {
		if report.provenance, err = o.provenance(a, in, m); err != nil {
			return err
		}
		if job != nil {
			report.provenance.Cluster = job
		}
	}
	return a.writeOut(o.out, inputs, func(w io.Writer) error { return report.write(a, w, o.format.value) })
}

// checkOutputs finds out early that something cannot be written: before a long run, not after it.
func (o *simulateOptions) checkOutputs(word string, inputs []string) error {
	if err := o.trace.check(word, o.many()); err != nil {
		return err
	}
	outputs := []output{{"out", o.out}, {"plot", o.figure.path}, {"resume", o.replicas.resume}}
	if err := checkOutputs(inputs, outputs...); err != nil {
		return err
	}
	return o.checkOffsetsOut(outputs)
}

// warnOfRecordedNoise tells that noise is put on a run that has some already.
func (a *app) warnOfRecordedNoise(in *input.Input, n *noiseOptions, p *programOptions) {
	if in.Replay != nil && n.name() != "" && !p.denoise.given {
		a.warn("%s contains the noise of the machine where it was recorded, and %s comes on top; --denoise takes it out of repeated computations", in.Name, n.name())
	}
}

// bytesPerRank is what a rank of a simulation needs at least, even if it does
// nothing.
const bytesPerRank = 160

// checkMemory refuses so many ranks that the system would end the program, in each of the processes on this host.
func checkMemory(ranks, processes int, available func() (int64, bool)) error {
	need := int64(ranks) * bytesPerRank * int64(processes)
	free, known := available()
	if !known || need <= free {
		return nil
	}
	what := plural(ranks, "rank")
	if processes > 1 {
		what += fmt.Sprintf(" in each of %d processes on a host", processes)
	}
	return fmt.Errorf("%s need at least %s of memory, but only %s are free", what, gibibytes(need), gibibytes(free))
}

func gibibytes(n int64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }

// simulate runs the simulation with a progress line, and says how fast it went.
func (a *app) simulate(c *cobra.Command, in *input.Input, m *machine.Machine, o simulate.Options) (*simulate.Result, error) {
	line := a.startProgress()
	if line != nil {
		o.Progress = func(now unit.Duration, messages int64) {
			line.Report(func() string {
				return fmt.Sprintf("%s: simulated %s, %s messages", in.Name, now.Short(), grouped(messages))
			})
		}
	}
	begin := time.Now()
	result, err := simulate.Run(c.Context(), in.Program, m, o)
	line.Clear()
	if err != nil {
		return nil, err
	}
	took := time.Since(begin)
	a.note("%s in %s (%s), engine %s, %s", plural(result.Messages, "message"), tidy(took),
		rate(result.Messages, took), result.Engine, plural(result.Threads, "thread"))
	for _, w := range result.Warnings {
		a.warn("%s", w)
	}
	return result, nil
}

// warnOfVoid tells of flags that were given but had no influence, and of what
// warnOfInput finds.
func (o *simulateOptions) warnOfVoid(a *app, c *cobra.Command, in *input.Input, r *simulate.Result) {
	fs := c.Flags()
	if o.machine.eager.given && r.Queues.Rendezvous == 0 {
		a.warn("-S has no influence: no message is larger")
	}
	if o.breakdown && len(r.Ranks) == 0 {
		a.warn("--breakdown has no influence: the model %s does not tell where the time goes", o.model.value)
	}
	if fs.Changed("threads") && o.threads > 1 && r.Threads == 1 && in.Program.Ranks() > 1 {
		a.warn("--threads has no influence: the engine %s runs this on one thread", r.Engine)
	}
	o.warnOfInput(a, c, in)
}

// warnOfInput tells of a mapping without influence, and of inputs for which the
// model is known to be wrong.
func (o *simulateOptions) warnOfInput(a *app, c *cobra.Command, in *input.Input) {
	fs := c.Flags()
	if fs.Changed("mapping") {
		switch {
		case !in.Program.Shape().Collectives:
			a.warn("--mapping has no influence: %s has no collectives to be expanded", in.Name)
		case !o.program.mapped(in):
			a.warn("--mapping has no influence: the algorithm of %s is given", in.Name)
		}
	}
	if in.Pattern != "" {
		params := o.program.params(fs)
		params.Ranks = slices.Max(o.program.ranks)
		for _, caution := range pattern.Cautions(in.Pattern, params) {
			a.warn("%s", caution)
		}
	}
}

// maxMachineText is the longest machine description that a result repeats. Only
// placements listed rank by rank are longer.
const maxMachineText = 1 << 16

// provenance records where the result comes from.
func (o *simulateOptions) provenance(a *app, in *input.Input, m *machine.Machine) (*provenance.Record, error) {
	r := a.provenance()
	r.Inputs = append(r.Inputs, in.Record)
	if file := o.machine.file(); file != "" {
		record, err := input.RecordFile(file, "machine")
		if err != nil {
			return nil, err
		}
		r.Inputs = append(r.Inputs, record)
	}
	if o.program.mapped(in) && !slices.Contains(collective.MappingNames(), o.mapping) {
		record, err := input.RecordFile(o.mapping, "mapping")
		if err != nil {
			return nil, err
		}
		r.Inputs = append(r.Inputs, record)
	}
	for _, file := range o.noise.files() {
		record, err := input.RecordFile(file, "noise")
		if err != nil {
			return nil, err
		}
		r.Inputs = append(r.Inputs, record)
	}
	described := map[string]string{"name": m.Name}
	if text := machine.Format(m); len(text) <= maxMachineText {
		described["description"] = string(text)
	}
	r.Machine = described
	if !in.IsFile() || o.noise.random() {
		r.Seed = &o.program.seed
	}
	r.Warnings = append(r.Warnings, a.warnings...)
	return r, nil
}

// tidy prints the time that something took, for people.
func tidy(d time.Duration) string {
	return unit.Duration(d.Nanoseconds() * 1000).Short()
}

// rate prints messages per second, for people.
func rate(messages int64, took time.Duration) string {
	if took <= 0 {
		return "no time"
	}
	r := float64(messages) / took.Seconds()
	switch {
	case r >= 1e6:
		return fmt.Sprintf("%.1f million messages/s", r/1e6)
	case r >= 1e3:
		return fmt.Sprintf("%.1f thousand messages/s", r/1e3)
	}
	return fmt.Sprintf("%.0f messages/s", r)
}

// plural prints a count with its noun.
func plural[T int | int64](n T, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return grouped(n) + " " + noun
}
