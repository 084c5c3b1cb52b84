package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/tolerance"
	"slackline/internal/input"
	"slackline/internal/provenance"
	"slackline/internal/source"
	"slackline/model/collective"
	"slackline/model/machine"
	"slackline/show/plot"
)

// toleranceOptions are the flags of the verb tolerance.
type toleranceOptions struct {
	program  programOptions
	machine  machineOptions
	ask      questionOptions
	where    whereOptions
	wiring   wiringOptions
	place    placeOptions
	spread   spreadOptions
	solver   solverOptions
	mapping  string
	mappings []string
	format   choice
	out      string
	plot     string
}

func (a *app) toleranceCommand() *cobra.Command {
	o := &toleranceOptions{
		program: newProgramOptions(), machine: newMachineOptions(), ask: newQuestionOptions(), wiring: newWiringOptions(),
		place: newPlaceOptions(), spread: newSpreadOptions(), solver: newSolverOptions(),
		format: newChoice(formatText, formatText, formatJSON, formatCSV),
	}
	o.machine.onlyLatency = true
	c := &cobra.Command{
		Use:   "tolerance INPUT [INPUT...]",
		Short: "Say how much latency a program tolerates, and where on its critical path it sits.",
		Long: "Say how much latency a program tolerates, and where on its critical path it sits. The model is static " +
			"(loggps): the runtime T is the longest path of a graph, exact to the picosecond, as a function of L, G or o.",
		Annotations: arguments("INPUT",
			"a schedule file or a recorded run, told by its content; - for the standard input; or the name of a pattern "+
				"('slackline generate --list'). Several are taken for runs of one program: their answers become quantiles"),
		Example: `  slackline tolerance run.goal -L 3us -o 400ns -G 0.018ns --range 0:100us --plot run.svg
  slackline tolerance run.goal -L 500ns --tolerance 1%,10% --limit 2us --critical-path --slack
  slackline tolerance run.goal -L 274ns --topology fattree:k=16 --wires 10
  slackline tolerance halo2d --ranks 64 --machine xt4 --mappings default,openmpi,mpich
  slackline tolerance run.goal -L 0.5us -G 0.01ns --placement 4 --inter 3us,0.05ns --rank-file ranks
  slackline tolerance run.goal --machine xt4 --noise jaguar --replicas 100`,
		Args: someArgs("INPUT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(a, c, args) },
	}
	a.addGroup(c, "Machine", o.machine.addFlags)
	a.addGroup(c, "Questions", o.ask.addFlags)
	a.addGroup(c, "Critical path", o.where.addFlags)
	a.addGroup(c, "Topology", o.wiring.addFlags)
	a.addGroup(c, "Placement", o.place.addFlags)
	a.addGroup(c, "Collectives", o.addMappingFlags)
	a.addGroup(c, "Uncertainty", o.spread.addFlags)
	a.addGroup(c, "Linear program", o.solver.addFlags)
	a.addGroup(c, "Pattern or recorded run (no influence on schedule files)", o.program.addFlags)
	a.addGroup(c, "Output", o.addOutputFlags)
	for flag, usage := range map[string]string{
		"latency":      "latency: a `time` with unit, e.g. 2.5us; with --topology that of a wire",
		"overhead":     "CPU `time` of a message at each end (default 0)",
		"gap":          "least `time` between the starts of two sends of a rank and NIC, beside the bytes of the first (default: the machine's, else none)",
		"gap-per-byte": "`time` per byte of a message, e.g. 0.018ns (default 0)",
	} {
		c.Flags().Lookup(flag).Usage = usage
	}
	c.ValidArgsFunction = completeInput
	o.complete(c)
	return c
}

// complete offers names where the flags take them.
func (o *toleranceOptions) complete(c *cobra.Command) {
	o.machine.complete(c)
	o.program.complete(c)
	o.spread.noise.complete(c)
	completeWith(c, "mapping", collective.MappingNames)
	completeWith(c, "mappings", collective.MappingNames)
	complete(c, "parameter", o.ask.parameter.allowed)
	complete(c, "rank-file-for", o.place.form.allowed)
	complete(c, "solver", o.solver.solver.allowed)
	complete(c, "format", o.format.allowed)
}

func (o *toleranceOptions) addMappingFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.mapping, "mapping", "default", "`NAME|FILE` of the mapping by which collectives choose their algorithms: default, openmpi, mpich")
	fs.StringSliceVar(&o.mappings, "mappings", nil, "compare the mappings of a `list`, e.g. default,openmpi,ring.yaml")
}

func (o *toleranceOptions) addOutputFlags(fs *pflag.FlagSet) {
	fs.Var(&o.format, "format", "form of the output; csv has the curve over the range, or the rows of a comparison")
	addOut(fs, &o.out)
	fs.StringVar(&o.plot, "plot", "", "draw T, its slope and the share of latency over the range into `FILE.svg|png`, with the zones of the tolerances")
}

// toleranceRun is a call of tolerance.
type toleranceRun struct {
	*toleranceOptions
	app      *app
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
func (o *toleranceOptions) run(a *app, c *cobra.Command, words []string) error {
	r := &toleranceRun{toleranceOptions: o, app: a, command: c, given: c.Flags().Changed, context: c.Context(), words: words}
	if err := o.program.findKinds(r.context, a, words...); err != nil {
		return err
	}
	if err := r.check(words); err != nil {
		return err
	}
	kind := r.kind()
	if kind == askOne && !r.hasParts() {
		if err := a.firstOnly("the answer for one run"); err != nil {
			return err
		}
	}
	if _, err := readOnce(r.context, a, r.readFiles); err != nil {
		return err
	}
	o.program.seedUsed = o.spread.noise.random()
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
func (r *toleranceRun) kind() int {
	switch {
	case len(r.mappings) > 0:
		return askMappings
	case len(r.words) > 1 || r.spread.noise.random():
		return askSpread
	case r.ask.mapG.given:
		return askMap
	}
	return askOne
}

// readFiles reads the machine and the mappings.
func (r *toleranceRun) readFiles(from source.Source) (none struct{}, err error) {
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
func (r *toleranceRun) check(words []string) error {
	if _, err := plot.FormatOf(r.plot); r.plot != "" && err != nil {
		return usagef("--plot: %v", err)
	}
	for _, check := range []func(*toleranceRun) error{
		r.ask.check, r.where.check, r.wiring.check, r.place.check, r.spread.check, r.solver.check,
	} {
		if err := check(r); err != nil {
			return err
		}
	}
	if err := r.checkKinds(words); err != nil {
		return err
	}
	if allFiles := !slices.ContainsFunc(words, func(w string) bool { return !r.program.kinds.IsSchedule(w) }); allFiles {
		r.program.ranks = nil // they have their own; a warning will say so
	}
	r.files = slices.Concat(words, []string{r.machine.name, r.wiring.hopFile(), r.mapping}, r.mappings, r.spread.noise.files())
	if !r.app.isFirst() {
		return nil // process 0 writes
	}
	return checkOutputs(r.files, output{"out", r.out}, output{"plot", r.plot},
		output{"rank-file", r.place.file}, output{"lp", r.solver.path}, output{"resume", r.spread.resume})
}

// checkKinds finds questions that cannot be asked together.
func (r *toleranceRun) checkKinds(words []string) error {
	first := ""
	for _, kind := range []struct {
		name  string
		asked bool
	}{
		{"--mappings", len(r.mappings) > 0},
		{"--noise", r.spread.noise.random()},
		{"further inputs", len(words) > 1},
		{"--map-G", r.ask.mapG.given},
		{"--placement", r.given("placement")},
	} {
		switch {
		case !kind.asked:
		case first != "":
			return usagef("%s and %s are different questions; ask one after the other", first, kind.name)
		default:
			first = kind.name
		}
	}
	if first == "" || first == "--placement" {
		return nil
	}
	for _, name := range []string{"slack", "critical-path", "what-if", "pairs", "wires", "lp", "solver"} {
		if r.given(name) {
			return usagef("--%s looks at one run; leave it out, or %s", name, first)
		}
	}
	if first == "--mappings" && r.given("mapping") {
		return usagef("give --mapping or --mappings, not both")
	}
	return nil
}

// prepare makes the schedule of an input ready.
func (r *toleranceRun) prepare(in *input.Input, mappingName string) (*tolerance.Schedule, error) {
	begin := time.Now()
	s, err := tolerance.Prepare(in.Program, r.chosen[mappingName], r.on.Gamma)
	if err != nil {
		return nil, err
	}
	for _, w := range s.Warnings() {
		r.app.warn("%s", w)
	}
	r.app.note("%s with %s paired in %s", plural(s.Graph().NumOps(), "operation"), plural(s.Messages(), "message"), tidy(time.Since(begin)))
	return s, nil
}

// warnOfVoid tells of flags that were given but have no influence.
func (r *toleranceRun) warnOfVoid() {
	if r.machine.cpuByte.given {
		r.app.warn("-O has no influence: the static model has no CPU time per byte")
	}
	for _, in := range r.inputs {
		if in != nil {
			r.warnOfMapping(in)
		}
	}
	if len(r.on.Topology) > 0 && r.topology == nil {
		r.app.note("the machine %s has a topology; --topology machine studies its wires", r.on.Name)
	}
	if r.on.Noise != "" && !r.spread.noise.random() {
		r.app.note("the machine %s has noise; --noise %s tells how sure the answers are", r.on.Name, r.on.Noise)
	}
}

// warnOfMapping tells that a mapping was given that has no influence on an input.
func (r *toleranceRun) warnOfMapping(in *input.Input) {
	switch {
	case !r.given("mapping"):
	case !in.Program.Shape().Collectives:
		r.app.warn("--mapping has no influence: %s has no collectives to be expanded", in.Name)
	case !r.program.mapped(in):
		r.app.warn("--mapping has no influence: the algorithm of %s is given", in.Name)
	}
}

// provenance records where the result comes from; mappings are those that were used.
func (r *toleranceRun) provenance(mappings ...string) (*provenance.Record, error) {
	record := r.app.provenance()
	for _, in := range r.inputs {
		record.Inputs = append(record.Inputs, in.Record)
	}
	add := func(path, kind string) error {
		if path == "" {
			return nil
		}
		in, err := input.RecordFile(path, kind)
		record.Inputs = append(record.Inputs, in)
		return err
	}
	for _, f := range []struct{ path, kind string }{{r.machine.file(), "machine"}, {r.wiring.hopFile(), "topology"}} {
		if err := add(f.path, f.kind); err != nil {
			return nil, err
		}
	}
	for _, name := range mappings {
		if !slices.Contains(collective.MappingNames(), name) {
			if err := add(name, "mapping"); err != nil {
				return nil, err
			}
		}
	}
	for _, file := range r.spread.noise.files() {
		if err := add(file, "noise"); err != nil {
			return nil, err
		}
	}
	described := map[string]string{"name": r.on.Name}
	if text := machine.Format(r.on); len(text) <= maxMachineText {
		described["description"] = string(text)
	}
	record.Machine = described
	if r.spread.noise.random() || slices.ContainsFunc(r.inputs, func(in *input.Input) bool { return !in.IsFile() }) {
		record.Seed = &r.program.seed
	}
	record.Warnings = append(record.Warnings, r.app.warnings...)
	return record, nil
}

// usedMapping is the mapping of an input, if it matters.
func (r *toleranceRun) usedMapping(in *input.Input) []string {
	if in.Program != nil && r.program.mapped(in) || r.mappedElsewhere {
		return []string{r.mapping}
	}
	return nil
}

// someArgs demands at least one argument.
func someArgs(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return nil
		}
		return &usageError{text: fmt.Sprintf("%s needs %s", c.CommandPath(), name), command: c.CommandPath()}
	}
}
