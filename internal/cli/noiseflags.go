package cli

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/whatif"
	"slackline/internal/source"
	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/unit"
)

// noiseOptions are the flags that take CPU time away from the ranks.
type noiseOptions struct {
	profile string
	file    string
	offsets string
	align   choice
	aligned bool // the user has chosen
	only    rankList
	delays  delays
}

// The words for the alignments of noise.
const (
	alignIndependent = "independent"
	alignNode        = "node"
	alignCoscheduled = "coscheduled"
)

func newNoiseOptions() noiseOptions {
	return noiseOptions{align: newChoice(alignIndependent, alignIndependent, alignNode, alignCoscheduled)}
}

// noNoise switches off the noise that a machine file names.
const noNoise = "none"

func (o *noiseOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.profile, "noise", "", "`SPEC|NAME|FILE` of the noise on all ranks, e.g. 1000Hz:100us; each rank begins at an offset drawn with --seed; none: also not the machine's")
	fs.StringVar(&o.file, "noise-file", "", "noise from this `file`; all ranks begin at offset 0, unless --replicas or --offsets draws them")
	fs.StringVar(&o.offsets, "noise-offsets", "", "`file` with the offset of each rank in the noise, in ns, one per line")
	fs.Var(&o.align, "offsets", "who shares an offset in the noise: nobody, the ranks of a node, or all ranks (co-scheduling)")
	fs.Var(&o.only, "noise-ranks", "only these `ranks` are noisy, e.g. 0 or 8..15")
	fs.Var(&o.delays, "delay", "hold a rank up, `RANK@TIME:DURATION`, e.g. 4@0:20us; may be given several times")
}

func (o *noiseOptions) complete(c *cobra.Command) {
	completeWith(c, "noise", func() []string { return append(noise.Names(), noNoise) })
	complete(c, "offsets", o.align.allowed)
}

// check finds flags that contradict each other.
func (o *noiseOptions) check() error {
	switch {
	case o.profile != "" && o.file != "":
		return usagef("give --noise or --noise-file, not both")
	case o.offsets != "" && o.align.value != alignIndependent:
		return usagef("give --noise-offsets or --offsets %s, not both", o.align.value)
	}
	return nil
}

// takeFrom uses the noise of a machine unless another one was given.
func (o *noiseOptions) takeFrom(a *app, m *machine.Machine) {
	if m.Noise != "" && o.profile == "" && o.file == "" {
		o.profile = m.Noise
		a.note("with the noise %s of the machine; --noise none switches it off", m.Noise)
	}
}

// random reports whether a seed matters.
func (o *noiseOptions) random() bool { return o.name() != "" }

// name is how the user called the noise; empty: there is none.
func (o *noiseOptions) name() string {
	switch {
	case o.file != "":
		return o.file
	case o.profile != noNoise:
		return o.profile
	}
	return ""
}

// files are what was read.
func (o *noiseOptions) files() []string {
	var list []string
	for _, path := range []string{o.file, o.profile, o.offsets} {
		if info, err := os.Stat(path); path != "" && err == nil && info.Mode().IsRegular() {
			list = append(list, path)
		}
	}
	return list
}

// describe returns the noise that the flags ask for. The offsets of a file are
// read for this many ranks. drawn: offsets are drawn for --noise-file too.
func (o *noiseOptions) describe(from source.Source, ranks int, seed uint64, drawn bool) (whatif.Noise, error) {
	n := whatif.Noise{Seed: seed, Only: o.only.list}
	for _, f := range []struct {
		name  string
		given bool
	}{{"--noise-offsets", o.offsets != ""}, {"--offsets", o.aligned}, {"--noise-ranks", n.Only != nil}} {
		if f.given && !o.random() {
			return n, usagef("%s needs --noise or --noise-file", f.name)
		}
	}
	if err := o.checkRanks(ranks); err != nil {
		return n, err
	}
	for _, d := range o.delays {
		n.Delays = append(n.Delays, whatif.Delay{Rank: d.rank, From: d.from, Length: d.length})
	}
	if !o.random() {
		return n, nil
	}
	var err error
	if n.Profile, err = o.find(from); err != nil {
		return n, err
	}
	switch o.align.value {
	case alignNode:
		n.Alignment = noise.ByNode
	case alignCoscheduled:
		n.Alignment = noise.CoScheduled
	default:
		n.AtZero = o.file != "" && !drawn && !o.aligned
	}
	if o.offsets != "" {
		n.Offsets, err = o.readOffsets(from, ranks)
	}
	return n, err
}

// checkRanks finds ranks that a program does not have.
func (o *noiseOptions) checkRanks(ranks int) error {
	check := func(flag string, rank int) error {
		if rank >= ranks {
			return fmt.Errorf("%s: rank %d does not exist; the program has %s (0..%d)", flag, rank, plural(ranks, "rank"), ranks-1)
		}
		return nil
	}
	for _, d := range o.delays {
		if err := check("--delay", d.rank); err != nil {
			return err
		}
	}
	if len(o.only.list) > 0 {
		return check("--noise-ranks", slices.Max(o.only.list))
	}
	return nil
}

// injection returns the noise of a single run; nil: none.
func (o *noiseOptions) injection(from source.Source, m *machine.Machine, ranks int, seed uint64) (*noise.Injection, error) {
	n, err := o.describe(from, ranks, seed, false)
	if err != nil || n.IsZero() {
		return nil, err
	}
	layout, err := m.Layout(ranks)
	if err != nil {
		return nil, err
	}
	return n.Injection(layout, 0)
}

func (o *noiseOptions) find(from source.Source) (*noise.Profile, error) {
	if o.file != "" {
		return noise.LoadFrom(from, o.file)
	}
	return noise.FindFrom(from, o.profile)
}

func (o *noiseOptions) readOffsets(from source.Source, ranks int) ([]int64, error) {
	data, err := from(o.offsets, source.All)
	if err != nil {
		return nil, err
	}
	return noise.ReadOffsets(o.offsets, bytes.NewReader(data), ranks)
}

// rankList is a flag that names ranks.
type rankList struct {
	text string
	list []int
}

// Set implements pflag.Value.
func (r *rankList) Set(s string) error {
	list, err := unit.ParseCounts(s)
	if err != nil {
		return err
	}
	slices.Sort(list)
	r.text, r.list = s, slices.Compact(list)
	return nil
}

func (r *rankList) String() string { return r.text }

// Type implements pflag.Value.
func (r *rankList) Type() string { return "ranks" }

// delays is a flag that holds ranks up.
type delays []delay

type delay struct {
	rank         int
	from, length unit.Duration
}

// Set implements pflag.Value.
func (d *delays) Set(s string) error {
	const form = "give RANK@TIME:DURATION, e.g. 4@0:20us"
	rankText, rest, ok1 := strings.Cut(s, "@")
	fromText, lengthText, ok2 := strings.Cut(rest, ":")
	if !ok1 || !ok2 {
		return fmt.Errorf("cannot read %q; %s", s, form)
	}
	rank, err := strconv.Atoi(rankText)
	if err != nil || rank < 0 {
		return fmt.Errorf("%q is not a rank; %s", rankText, form)
	}
	from, err := unit.ParseDuration(fromText)
	if err != nil {
		return err
	}
	length, err := unit.ParseDuration(lengthText)
	if err != nil {
		return err
	}
	*d = append(*d, delay{rank, from, length})
	return nil
}

func (d *delays) String() string {
	var parts []string
	for _, e := range *d {
		parts = append(parts, fmt.Sprintf("%d@%s:%s", e.rank, e.from, e.length))
	}
	return strings.Join(parts, ",")
}

// Type implements pflag.Value.
func (d *delays) Type() string { return "delay" }
