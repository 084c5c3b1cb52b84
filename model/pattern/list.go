package pattern

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"slackline/internal/suggest"
	"slackline/internal/table"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// Kind is the sort of a pattern.
type Kind string

// The kinds of patterns.
const (
	Collective  Kind = "collective"
	Exchange    Kind = "exchange"
	Application Kind = "application"
)

// Info describes a pattern.
type Info struct {
	Name    string
	Kind    Kind
	Info    string   // one line
	Details string   // a few sentences
	Params  []string // the parameters that it uses, by name
	Example string   // a command line
}

// definition is an entry of the registry: a pattern, its defaults, and the function that adds its
// parts to a script whose parameters have been checked.
type definition struct {
	Info
	defaults Params
	funnel   funnel
	build    func(*script) error
}

// funnel reports whether a pattern sends from many ranks to one, for which the model is known to be
// too optimistic.
type funnel uint8

const (
	never funnel = iota
	ifLinear
	always
)

// registry holds all patterns in the order of lists. A new pattern is one file with a definition,
// and one line here: lists, help texts and the tests of all patterns pick it up.
var registry = func() []definition {
	var all []definition
	for _, op := range schedule.Operations() {
		all = append(all, operationPattern(op))
	}
	all = append(all, disseminationPattern)
	for _, v := range vectorNames {
		all = append(all, vectorPattern(v.op, v.name, v.mpi))
	}
	for _, op := range schedule.Operations() {
		all = append(all, nonblockingPattern(op))
	}
	all = append(all,
		haloPattern("halo2d", 2, "slackline simulate halo2d --ranks 1024 --size 8KiB --iterations 10 --machine chic"),
		haloPattern("halo3d", 3, "slackline simulate halo3d --ranks 4096 --grid 16x16x16 --periodic --machine chic"),
		sweepPattern,
		ringPattern,
		doubleRingPattern,
		pipelinePattern("pipelined-ring", "a message goes around the ring in pieces",
			"A rank posts all its receives at the start and passes every piece on as soon as it has it.", false),
		pipelinePattern("pipelined-ring-dep", "a message goes around the ring in pieces, one at a time at each rank",
			"A rank passes a piece on before it takes the next one.", true),
		shiftPattern,
		pairsPattern,
		bisectionPattern,
		incastPattern,
		pingpongPattern,
		treeClocksPattern,
		linearClocksPattern,
	)
	all = append(all, schemePatterns()...)
	return append(all,
		skeletonPattern,
		overlapPattern,
		sweep3dPattern,
		amgPattern,
		popPattern,
		llmPattern,
	)
}()

func find(name string) (*definition, error) {
	names := make([]string, len(registry))
	for i := range registry {
		if registry[i].Name == name {
			return &registry[i], nil
		}
		names[i] = registry[i].Name
	}
	hint := suggest.Phrase(name, names)
	if hint == "" {
		hint = "; there are " + strings.Join(names, ", ")
	}
	return nil, fmt.Errorf("there is no pattern %q%s", name, hint)
}

// New returns the program of a pattern.
func New(name string, p Params) (schedule.Program, error) {
	d, err := find(name)
	if err != nil {
		return nil, err
	}
	p = p.withDefaults(&d.defaults)
	if err := p.check(&d.Info); err != nil {
		return nil, fmt.Errorf("pattern %s: %w", name, err)
	}
	if !slices.Contains(d.Params, "tile") {
		p.Tile = 0
	}
	if !slices.Contains(d.Params, "without") {
		p.Without = nil // it is of no use for a pattern of one kind of communication
	}
	s := newScript(name, p)
	if err := d.build(s); err != nil {
		return nil, fmt.Errorf("pattern %s: %w", name, err)
	}
	prog, err := s.finish()
	if err != nil {
		return nil, fmt.Errorf("pattern %s: %w", name, err)
	}
	return prog, nil
}

// List returns all patterns, collectives first.
func List() []Info {
	list := make([]Info, len(registry))
	for i := range registry {
		list[i] = registry[i].Info
		list[i].Params = slices.Clone(list[i].Params)
	}
	return list
}

// Has reports whether there is a pattern of this name.
func Has(name string) bool {
	_, err := find(name)
	return err == nil
}

// Unused returns those of the given parameters, by name, that have no influence on the pattern
// with these parameters, in the order given: either the pattern does not know them, or another
// parameter makes them void.
func Unused(name string, p Params, given []string) []string {
	d, err := find(name)
	if err != nil {
		return nil
	}
	p = p.withDefaults(&d.defaults)
	uses := func(parameter string) bool { return slices.Contains(d.Params, parameter) }
	drawsPairs, drawsSizes := strings.HasPrefix(name, "random-"), strings.HasSuffix(name, "v")
	cutsMessage := slices.Contains(d.Params, "pieces") && slices.Contains(d.Params, "root") && d.Kind == Exchange
	void := map[string]bool{
		"jitter": p.Compute == 0 && !drawsSizes,
		"pieces": p.Compute == 0 && !cutsMessage,
		"seed":   (p.Compute == 0 || p.Jitter == 0) && !drawsPairs && !(drawsSizes && p.Jitter > 0),
	}
	if slices.Contains(p.Without, PointToPoint) && uses("without") && !uses("tensor") { // where collectives have that size, too
		for _, parameter := range []string{"size", "grid"} {
			void[parameter] = true
		}
	}
	if slices.Contains(p.Without, Collectives) && uses("without") {
		void["algorithm"] = true
	}
	if op, err := timedOperation(p.Operation); err == nil && uses("operation") {
		for _, parameter := range []string{"size", "root"} {
			void[parameter] = !slices.Contains(operationParams(op), parameter)
		}
	}
	if uses("tensor") && p.Ranks > 0 {
		tensor, pipeline := p.llmGroups()
		onlyCopy := tensor*pipeline == p.Ranks || slices.Contains(p.Without, Collectives) // whose gradients are not added to others
		void["gradients"], void["overlap"] = onlyCopy, onlyCopy
		void["without"] = pipeline == 1 && !slices.Contains(p.Without, Collectives) // there is no point-to-point communication
	}
	var unused []string
	for _, g := range given {
		if !uses(g) || void[g] {
			unused = append(unused, g)
		}
	}
	return unused
}

// Cautions returns what a user should know before believing a simulation of the pattern. Without a
// number of ranks they are taken to be many.
func Cautions(name string, p Params) []string {
	d, err := find(name)
	if err != nil {
		return nil
	}
	senders := p.Ranks - 1
	if p.Senders > 0 && slices.Contains(d.Params, "senders") {
		senders = p.Senders
	}
	if p.Ranks > 0 && senders < 2 {
		return nil // no two messages compete
	}
	if d.funnel == always || d.funnel == ifLinear && p.Algorithm == "linear" {
		return []string{"many messages to one rank at a time: the model has no congestion inside the network, so real machines are slower"}
	}
	return nil
}

// Describe returns a description of the pattern with its parameters and their defaults, in lines.
func (i Info) Describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s): %s\n", i.Name, i.Kind, i.Info)
	if i.Details != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.Join(table.Wrap(i.Details, 78), "\n"))
	}
	fmt.Fprintf(&b, "\nParameters:\n")
	d, err := find(i.Name)
	for _, p := range parameters {
		if !slices.Contains(i.Params, p.Name) {
			continue
		}
		fmt.Fprintf(&b, "  %-11s %s", p.Name, p.Info)
		if err == nil {
			if text := d.defaultText(p.Name); text != "" {
				fmt.Fprintf(&b, "; default %s", text)
			}
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "\nExample:\n  %s\n", i.Example)
	return b.String()
}

// defaultText returns the default of a parameter, or nothing if its description says it.
func (d *definition) defaultText(parameter string) string {
	p := Params{}.withDefaults(&d.defaults)
	switch parameter {
	case "size":
		return unit.Size(p.Size).String()
	case "root", "seed":
		return "0"
	case "algorithm":
		return p.Algorithm
	case "operation":
		return p.Operation
	case "iterations":
		return strconv.Itoa(p.Iterations)
	case "compute":
		return p.Compute.String()
	case "jitter":
		return strconv.FormatFloat(p.Jitter, 'g', -1, 64)
	case "corners":
		return strconv.Itoa(p.Corners)
	case "pieces":
		return strconv.Itoa(p.Pieces)
	case "blocks":
		return strconv.Itoa(p.Blocks)
	case "fixup":
		return "0"
	case "virtual":
		return "1"
	case "microbatches":
		return strconv.Itoa(p.Microbatches)
	case "layers":
		return strconv.Itoa(p.Layers)
	case "gradients":
		return unit.Size(p.Gradients).String()
	}
	return ""
}
