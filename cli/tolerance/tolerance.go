// Package tolerance is the verb tolerance: it asks how much latency, bandwidth and overhead a program tolerates.
package tolerance

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/tolerance"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/cli/scenario"
	"slackline/internal/provenance"
	"slackline/internal/source"
	"slackline/model/collective"
	"slackline/model/machine"
)

// options are the flags of the verb tolerance.
type options struct {
	program  scenario.ProgramOptions
	machine  scenario.MachineOptions
	ask      questionOptions
	where    whereOptions
	wiring   wiringOptions
	place    placeOptions
	spread   spreadOptions
	solver   solverOptions
	mapping  string
	mappings []string
	result   env.ResultFlags
}

// Verb is the entry of the registry.
var Verb = env.Verb{
	Name: "tolerance", Group: env.Analyze, Job: env.Shared, New: command,
	Documents: env.Documents{"tolerance": {oneDocument{}, mappingsDocument{}, spreadDocument{}, gridDocument{}}},
}

func command(a *env.Env) *cobra.Command {
	o := &options{}
	o.machine.OnlyLatency = true
	c := &cobra.Command{
		Use:   "tolerance INPUT [INPUT...]",
		Short: "Find out how much latency a program tolerates, and where on its critical path it occurs.",
		Long: "Find out how much latency a program tolerates, and where on its critical path it occurs. The model is static " +
			"(loggps): the run time T is the longest path of a graph, exact to the picosecond, as a function of L, G or o.",
		Annotations: flags.Arguments("INPUT",
			"a schedule file or a recorded run, recognized by its content; - for the standard input; or the name of a pattern "+
				"('slackline generate --list'). Several are taken for runs of one program: their answers become quantiles"),
		Example: `  slackline tolerance run.goal -L 3us -o 400ns -G 0.018ns --range 0:100us --plot run.svg
  slackline tolerance run.goal -L 500ns --tolerance 1%,10% --limit 2us --critical-path --slack
  slackline tolerance run.goal -L 274ns --topology fattree:k=16 --wires 10
  slackline tolerance halo2d --ranks 64 --machine xt4 --mappings default,openmpi,mpich
  slackline tolerance run.goal -L 0.5us -G 0.01ns --placement 4 --inter 3us,0.05ns --rank-file ranks
  slackline tolerance run.goal --machine xt4 --noise jaguar --replicas 100`,
		Args: flags.AtLeastOne("INPUT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(a, c, args) },
	}
	a.AddGroup(c, "Machine", o.machine.AddFlags)
	a.AddGroup(c, "Questions", o.ask.addFlags)
	a.AddGroup(c, "Critical path", o.where.addFlags)
	a.AddGroup(c, "Topology", o.wiring.addFlags)
	a.AddGroup(c, "Placement", o.place.addFlags)
	a.AddGroup(c, "Collectives", o.addMappingFlags)
	a.AddGroup(c, "Uncertainty", o.spread.addFlags)
	a.AddGroup(c, "Linear program", o.solver.addFlags)
	a.AddGroup(c, "Pattern or recorded run (no influence on schedule files)", o.program.AddFlags)
	a.AddGroup(c, "Output", o.addOutputFlags)
	for flag, usage := range map[string]string{
		"latency":  "latency: a `time` with unit, e.g. 2.5us; with --topology that of a wire",
		"overhead": "CPU `time` of a message at each end (default 0)",
		"gap": "minimum `time` between the starts of two sends of a rank and NIC, beside the bytes of the first (default: the " +
			"machine's, else none)",
		"gap-per-byte": "`time` per byte of a message, e.g. 0.018ns (default 0)",
	} {
		c.Flags().Lookup(flag).Usage = usage
	}
	c.ValidArgsFunction = scenario.CompleteInput
	o.complete(c)
	return c
}

// complete offers names where the flags take them.
func (o *options) complete(c *cobra.Command) {
	o.machine.Complete(c)
	o.program.Complete(c)
	o.spread.noise.Complete(c)
	flags.CompleteWith(c, "mapping", collective.MappingNames)
	flags.CompleteWith(c, "mappings", collective.MappingNames)
}

func (o *options) addMappingFlags(fs *pflag.FlagSet) {
	scenario.AddMapping(fs, &o.mapping)
	fs.StringSliceVar(&o.mappings, "mappings", nil, "compare the mappings of a `list`, e.g. default,openmpi,ring.yaml")
}

func (o *options) addOutputFlags(fs *pflag.FlagSet) {
	o.result.AddFlags(fs, "form of the output; csv has the curve over the range, or the rows of a comparison")
	o.result.AddPlot(fs, "draw T, its slope and the share of latency over the range into `FILE.svg|png`, with the "+
		"zones of the tolerances")
}

// run is a call of tolerance.
type run struct {
	*options
	app      *env.Env
	command  *cobra.Command
	given    func(flag string) bool
	context  context.Context
	on       *machine.Machine
	topology *machine.Topology // nil: none
	inputs   []*input.Input    // by word; nil: it is opened by the process whose task it is
	files    []string          // words that may name files

	words  []string                       // that name the inputs
	asFile *machine.Machine               // as it is without the flags; nil: it is not needed
	chosen map[string]*collective.Mapping // by name

	mappedElsewhere bool     // another process found that the mapping matters to the first input
	digests         []string // by input, if answers are kept
}

// run is the verb: check the flags, open the inputs, answer the kind of question that is asked.
func (o *options) run(a *env.Env, c *cobra.Command, words []string) error {
	r := &run{options: o, app: a, command: c, given: c.Flags().Changed, context: c.Context(), words: words}
	if err := o.program.FindKinds(r.context, a, words...); err != nil {
		return err
	}
	if err := r.check(words); err != nil {
		return err
	}
	kind := r.kind()
	if kind == askOne && !r.hasParts() {
		if err := a.FirstOnly("the answer for one run"); err != nil {
			return err
		}
	}
	if _, err := env.ReadOnce(r.context, a, r.readFiles); err != nil {
		return err
	}
	o.program.SeedUsed = o.spread.noise.Random()
	if err := r.openInputs(); err != nil {
		return err
	}
	r.warnOfVoid()
	switch kind {
	case askMappings:
		return r.runMappings()
	case askSpread:
		return r.runSpread()
	case askMap:
		return r.runMap()
	}
	return r.runOne()
}

// The kinds of questions.
const (
	askOne = iota
	askMappings
	askSpread
	askMap
)

// kind is the kind of question that is asked.
func (r *run) kind() int {
	switch {
	case len(r.mappings) > 0:
		return askMappings
	case len(r.words) > 1 || r.spread.noise.Random():
		return askSpread
	case r.ask.mapG.given:
		return askMap
	}
	return askOne
}

// readFiles reads the machine and the mappings.
func (r *run) readFiles(from source.Source) (none struct{}, err error) {
	if err := r.findMachine(from); err != nil {
		return none, err
	}
	names := r.mappings
	if len(names) == 0 {
		names = []string{r.mapping}
	}
	r.chosen = map[string]*collective.Mapping{}
	for _, name := range names {
		if r.chosen[name], err = collective.FindMappingFrom(from, name); err != nil {
			return none, err
		}
	}
	return none, nil
}

// check finds mistakes in the flags before anything is read.
func (r *run) check(words []string) error {
	for _, check := range []func(*run) error{
		r.ask.check, r.where.check, r.wiring.check, r.place.check, r.spread.check, r.solver.check,
	} {
		if err := check(r); err != nil {
			return err
		}
	}
	if err := r.checkKinds(words); err != nil {
		return err
	}
	r.files = slices.Concat(words, []string{r.machine.Name, r.wiring.hopFile(), r.mapping}, r.mappings, r.spread.noise.Files())
	if !r.app.IsFirst() {
		return nil // process 0 writes
	}
	return r.result.Check(r.files, env.To("rank-file", r.place.file), env.To("lp", r.solver.path), env.To("resume", r.spread.resume))
}

// checkKinds finds questions that cannot be asked together.
func (r *run) checkKinds(words []string) error {
	first := ""
	for _, kind := range []struct {
		name  string
		asked bool
	}{
		{"--mappings", len(r.mappings) > 0},
		{"--noise", r.spread.noise.Random()},
		{"further inputs", len(words) > 1},
		{"--map-G", r.ask.mapG.given},
		{"--placement", r.given("placement")},
	} {
		switch {
		case !kind.asked:
		case first != "":
			return exit.Usagef("%s and %s are different questions; ask one after the other", first, kind.name)
		default:
			first = kind.name
		}
	}
	if first == "" || first == "--placement" {
		return nil
	}
	for _, name := range []string{"slack", "critical-path", "what-if", "pairs", "wires", "lp", "solver"} {
		if r.given(name) {
			return exit.Usagef("--%s looks at one run; leave it out, or %s", name, first)
		}
	}
	if r.result.Plot != "" && (first == "--noise" || first == "further inputs") {
		return exit.Usagef("--plot draws the curve of one run; leave it out, or %s", first)
	}
	if first == "--mappings" && r.given("mapping") {
		return exit.Usagef("give --mapping or --mappings, not both")
	}
	return nil
}

// prepare makes the schedule of an input ready.
func (r *run) prepare(in *input.Input, mappingName string) (*tolerance.Schedule, error) {
	layout, err := r.on.Layout(in.Program.Ranks())
	if err != nil {
		return nil, err
	}
	s, err := tolerance.Prepare(in.Program, r.chosen[mappingName].On(layout), r.on.Gamma)
	if err != nil {
		return nil, scenario.Named(in, err)
	}
	s.Interrupt = r.context.Err
	r.app.WarnAll(s.Warnings())
	return s, nil
}

// warnOfVoid warns of flags that were given but have no influence.
func (r *run) warnOfVoid() {
	if r.machine.CpuByte.Given {
		r.app.Warn("-O has no influence: the static model has no CPU time per byte")
	}
	switch r.kind() {
	case askOne:
		r.result.WarnOfTable(r.app, r.command, "limit", "critical-path", "slack", "what-if", "pairs", "wires")
	case askSpread:
		r.app.WarnOfVoid(r.command, " beside --noise and on several inputs: the slopes of one run are not shown", "range")
	case askMap:
		r.app.WarnOfVoid(r.command, " beside --map-G, which goes over it", "gap-per-byte")
	}
	for _, in := range r.inputs {
		if in != nil {
			r.program.WarnOfMapping(r.app, r.command, in)
		}
	}
	if len(r.on.Topology) > 0 && r.topology == nil {
		r.app.Note("the machine %s has a topology; --topology machine studies its wires", r.on.Name)
	}
	if r.on.Noise != "" && !r.spread.noise.Random() {
		r.app.Note("the machine %s has noise; --noise %s shows how certain the answers are", r.on.Name, r.on.Noise)
	}
}

// provenance records where the result comes from; mappings are those that were used.
func (r *run) provenance(mappings ...string) (*provenance.Record, error) {
	o := scenario.Options{Program: r.program, Machine: r.machine, Noise: r.spread.noise}
	return o.Provenance(r.app, r.on, r.inputs, mappings, scenario.File{Path: r.wiring.hopFile(), Kind: "topology"})
}

// usedMapping is the mapping of an input, if it matters.
func (r *run) usedMapping(in *input.Input) []string {
	if in.Program != nil && r.program.Mapped(in) || r.mappedElsewhere {
		return []string{r.mapping}
	}
	return nil
}
