package tolerance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"slackline/analyze/tolerance"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/internal/memory"
	"slackline/internal/suggest"
	"slackline/model/machine"
	"slackline/model/unit"
)

// questionOptions are the flags that say what is asked about T.
type questionOptions struct {
	percents  percents
	limit     flags.Quantity[unit.Duration]
	span      string
	parameter string
	vary      []string
	mapG      gridOfG

	from, to int64 // of the range, in the unit of the parameter
}

func (o *questionOptions) addFlags(fs *pflag.FlagSet) {
	if err := o.percents.Set("1%,2%,5%"); err != nil {
		panic(err) // a mistake in this package
	}
	fs.Var(&o.percents, "tolerance", "`percentages` by which T may grow; the answer is the largest latency at which it does not grow more")
	fs.Var(&o.limit, "limit", "also the largest latency at which T is at most this `time`")
	fs.StringVar(&o.span, "range", "", "find all latencies in `FROM:TO`, e.g. 0:100us, at which the slope of T changes")
	flags.AddChoice(fs, &o.parameter, "parameter", "what tolerances, limit and range are about: latency, time per byte, or overhead", "L",
		"L", "G", "o")
	fs.StringSliceVar(&o.vary, "vary", nil, "vary only these `parts`: classes of the machine (node, switch, far); of a topology: switches, "+
		"or a kind of wires (fattree: node, edge, core)")
	fs.Var(&o.mapG, "map-G", "T over a grid: G from `FROM:TO[:N]`, e.g. 0.01ns:0.1ns:5, latencies from --range")
}

// check reads what needs several flags.
func (o *questionOptions) check(r *run) error {
	if o.span != "" {
		var err error
		if o.from, o.to, err = o.parseRange(); err != nil {
			return exit.Usagef("--range: %v", err)
		}
	}
	switch {
	case o.mapG.given && o.parameter != "L":
		return exit.Usagef("--map-G goes over L and G; leave --parameter %s out", o.parameter)
	case o.mapG.given && o.span == "":
		return exit.Usagef("--map-G needs --range, the latencies of the map, e.g. --range 0:10us")
	}
	return nil
}

// variable is the parameter that is varied.
func (o *questionOptions) variable() tolerance.Parameter {
	switch o.parameter {
	case "G":
		return tolerance.G
	case "o":
		return tolerance.O
	}
	return tolerance.L
}

func (o *questionOptions) parseRange() (from, to int64, err error) {
	from, to, n, err := unit.ParseSpan(o.span, "0:100us", o.parseValue)
	if err == nil && n != 0 {
		err = fmt.Errorf("expected FROM:TO such as 0:100us, got %q", o.span)
	}
	return from, to, err
}

// parseValue reads a value of the parameter.
func (o *questionOptions) parseValue(text string) (int64, error) {
	if o.variable() == tolerance.G {
		v, err := unit.ParsePerByte(text)
		return int64(v), err
	}
	v, err := unit.ParseDuration(text)
	return int64(v), err
}

// questionOf is what the flags ask. Where a curve is drawn or listed and no range was given, one is
// taken that shows the tolerances.
func (r *run) questionOf(set *setting) tolerance.Question {
	o := &r.ask
	q := tolerance.Question{Variable: set.variable, Percents: o.percents, Limit: o.limit.Pointer()}
	if o.span != "" {
		q.Range = &[2]int64{o.from, o.to}
	}
	if free, known := memory.Available(); known {
		q.Memory = free
	}
	q.Around = r.result.Plot != "" || r.result.IsTable()
	return q
}

// classes are the classes of the machine that are to be varied; nil: all.
func (o *questionOptions) classes() ([]machine.Class, error) {
	var list []machine.Class
	words := []string{machine.Node.String(), machine.Switch.String(), machine.Far.String()}
	for _, word := range o.vary {
		i := slices.Index(words, word)
		if i < 0 {
			return nil, exit.Usagef("--vary: %q is not one of the classes %s%s", word, strings.Join(words, ", "), suggest.Phrase(word, words))
		}
		list = append(list, machine.Class(i))
	}
	return list, nil
}

// percents is a flag with exact percentages.
type percents []tolerance.Percent

// Set implements pflag.Value.
func (p *percents) Set(s string) error {
	var list percents
	for word := range strings.SplitSeq(s, ",") {
		v, err := tolerance.ParsePercent(strings.TrimSpace(word))
		if err != nil {
			return err
		}
		list = append(list, v)
	}
	if len(list) > maxPercents {
		return fmt.Errorf("%d percentages are too many; give at most %d", len(list), maxPercents)
	}
	*p = list
	return nil
}

// maxPercents is the largest number of tolerances asked for at once.
const maxPercents = 1000

func (p *percents) String() string {
	words := make([]string, len(*p))
	for i, v := range *p {
		words[i] = v.String()
	}
	return strings.Join(words, ",")
}

// Type implements pflag.Value.
func (p *percents) Type() string { return "percentages" }

// gridOfG is a flag with values of G at equal distances.
type gridOfG struct {
	text   string
	values []unit.PerByte
	given  bool
}

// The numbers of values of a grid.
const (
	gridDefault = 9
	gridMost    = 200
)

// Set implements pflag.Value.
func (g *gridOfG) Set(s string) error {
	from, to, n, err := unit.ParseSpan(s, "0.01ns:0.1ns:5", unit.ParsePerByte)
	if err != nil {
		return err
	}
	if n > gridMost {
		return fmt.Errorf("expected at most %d values, got %q", gridMost, s)
	}
	g.text, g.given, g.values = s, true, nil
	for _, v := range spaced(int64(from), int64(to), cmp.Or(n, gridDefault)) {
		g.values = append(g.values, unit.PerByte(v))
	}
	return nil
}

func (g *gridOfG) String() string { return g.text }

// Type implements pflag.Value.
func (g *gridOfG) Type() string { return "grid" }

// spaced returns n whole numbers from one to another at equal distances, rounded down; equal ones
// once.
func spaced(from, to int64, n int) []int64 {
	var list []int64
	for i := range int64(n) {
		step, rest := (to-from)/int64(n-1), (to-from)%int64(n-1)
		list = append(list, from+step*i+rest*i/int64(n-1))
	}
	return slices.Compact(list)
}
