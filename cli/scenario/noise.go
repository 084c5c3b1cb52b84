package scenario

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
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/internal/phrase"
	"slackline/internal/source"
	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/unit"
)

// NoiseOptions are the flags that take CPU time away from the ranks.
type NoiseOptions struct {
	profile string
	File    string
	Offsets string
	Align   string
	Aligned bool // the user has chosen
	Clock   string
	Only    RankList
	Delays  []whatif.Delay
}

// The words for the alignments of noise.
const (
	AlignIndependent = "independent"
	AlignNode        = "node"
	AlignCoscheduled = "coscheduled"
)

// The words for the clocks of noise.
const (
	clockTime = "time"
	clockCPU  = "cpu"
)

// NoNoise switches off the noise that a machine file names.
const NoNoise = "none"

// AddFlags adds the flags for simulated runs.
func (o *NoiseOptions) AddFlags(fs *pflag.FlagSet) {
	o.AddStaticFlags(fs)
	flags.AddChoice(fs, &o.Clock, noiseClockFlag, "what moves a rank on in its noise: simulated time, or only its own CPU work, so that "+
		"waiting does not", clockTime, clockTime, clockCPU)
}

const noiseClockFlag = "noise-clock"

// NoiseFlags are the flags that describe noise.
var NoiseFlags = []string{"noise", "noise-file", "noise-offsets", "offsets", noiseClockFlag, "noise-ranks", "delay"}

// AddStaticFlags adds those for the static model, in which only computation meets noise.
func (o *NoiseOptions) AddStaticFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.profile, "noise", "", "`SPEC|NAME|FILE` of the noise on all ranks, e.g. 1000Hz:100us; each rank starts at an offset "+
		"drawn with --seed; none: also not the machine's")
	fs.StringVar(&o.File, "noise-file", "", "noise from this `file`; all ranks start at offset 0, unless --replicas or --offsets draws them")
	fs.StringVar(&o.Offsets, "noise-offsets", "", "`file` with the offset of each rank in the noise, in ns, one per line")
	flags.AddChoice(fs, &o.Align, "offsets", "which ranks share an offset in the noise: none, those of a node, or all (co-scheduling)",
		AlignIndependent, AlignIndependent, AlignNode, AlignCoscheduled)
	fs.Var(&o.Only, "noise-ranks", "only these `ranks` are noisy, e.g. 0 or 8..15")
	flags.AddEach(fs, &o.Delays, parseDelay, "delay", "hold a rank up, `RANK@TIME:DURATION`, e.g. 4@0:20us; may be given several times")
}

func (o *NoiseOptions) Complete(c *cobra.Command) {
	flags.CompleteWith(c, "noise", func() []string { return append(noise.Names(), NoNoise) })
}

// Check finds flags that contradict each other.
func (o *NoiseOptions) Check() error {
	switch {
	case o.profile != "" && o.File != "":
		return exit.Usagef("give --noise or --noise-file, not both")
	case o.Offsets != "" && o.Align != AlignIndependent:
		return exit.Usagef("give --noise-offsets or --offsets %s, not both", o.Align)
	}
	return nil
}

// TakeFrom uses the noise of a machine unless another one was given.
func (o *NoiseOptions) TakeFrom(a *env.Env, m *machine.Machine) {
	if m.Noise != "" && o.profile == "" && o.File == "" {
		o.profile = m.Noise
		a.Note("with the noise %s of the machine; --noise none switches it off", m.Noise)
	}
}

// Random reports whether a seed matters.
func (o *NoiseOptions) Random() bool { return o.Name() != "" }

// Name is how the user called the noise; empty: there is none.
func (o *NoiseOptions) Name() string {
	switch {
	case o.File != "":
		return o.File
	case o.profile != NoNoise:
		return o.profile
	}
	return ""
}

// OtherClock is the clock of the noise, if it is not the usual one and there is noise.
func (o *NoiseOptions) OtherClock() string {
	if o.Name() == "" || o.Clock != clockCPU {
		return ""
	}
	return o.Clock
}

// Files are what was read.
func (o *NoiseOptions) Files() []string {
	var list []string
	add := func(path string) bool {
		info, err := os.Stat(path)
		if path == "" || err != nil || !info.Mode().IsRegular() {
			return false
		}
		list = append(list, path)
		return true
	}
	for _, path := range []string{o.File, o.profile} {
		if add(path) {
			for _, trace := range noise.TracesOf(path) {
				add(trace)
			}
		}
	}
	add(o.Offsets)
	return list
}

// Describe returns the noise that the flags ask for. The offsets of a file are
// read for this many ranks. drawn: offsets are drawn for --noise-file too.
func (o *NoiseOptions) Describe(from source.Source, ranks int, seed uint64, drawn bool) (whatif.Noise, error) {
	n := whatif.Noise{Seed: seed, Only: o.Only.List}
	for _, f := range []struct {
		name  string
		given bool
	}{{"--noise-offsets", o.Offsets != ""}, {"--offsets", o.Aligned}, {"--noise-ranks", n.Only != nil}, {"--" + noiseClockFlag,
		o.Clock == clockCPU}} {
		if f.given && !o.Random() {
			return n, exit.Usagef("%s needs --noise or --noise-file", f.name)
		}
	}
	if err := o.checkRanks(ranks); err != nil {
		return n, err
	}
	n.Delays = o.Delays
	if !o.Random() {
		return n, nil
	}
	var err error
	if n.Profile, err = o.find(from); err != nil {
		return n, err
	}
	switch o.Align {
	case AlignNode:
		n.Alignment = noise.ByNode
	case AlignCoscheduled:
		n.Alignment = noise.CoScheduled
	default:
		n.AtZero = o.File != "" && !drawn && !o.Aligned
	}
	if o.OtherClock() == clockCPU {
		n.Clock = noise.CPUClock
	}
	if o.Offsets != "" {
		n.Offsets, err = o.readOffsets(from, ranks)
	}
	return n, err
}

// checkRanks finds ranks that a program does not have.
func (o *NoiseOptions) checkRanks(ranks int) error {
	check := func(flag string, rank int) error {
		if rank >= ranks {
			return fmt.Errorf("%s: rank %d does not exist; the program has %s (0..%d)", flag, rank, phrase.Plural(ranks, "rank"), ranks-1)
		}
		return nil
	}
	for _, d := range o.Delays {
		if err := check("--delay", d.Rank); err != nil {
			return err
		}
	}
	if len(o.Only.List) > 0 {
		return check("--noise-ranks", slices.Max(o.Only.List))
	}
	return nil
}

// injection returns the noise of a single run; nil: none.
func (o *NoiseOptions) injection(from source.Source, m *machine.Machine, ranks int, seed uint64) (*noise.Injection, error) {
	n, err := o.Describe(from, ranks, seed, false)
	if err != nil || n.IsZero() {
		return nil, err
	}
	layout, err := m.Layout(ranks)
	if err != nil {
		return nil, err
	}
	return n.Injection(layout, 0)
}

func (o *NoiseOptions) find(from source.Source) (*noise.Profile, error) {
	if o.File != "" {
		return noise.LoadFrom(from, o.File)
	}
	return noise.FindFrom(from, o.profile)
}

func (o *NoiseOptions) readOffsets(from source.Source, ranks int) ([]int64, error) {
	data, err := from(o.Offsets, source.All)
	if err != nil {
		return nil, err
	}
	return noise.ReadOffsets(o.Offsets, bytes.NewReader(data), ranks)
}

// RankList is a flag that names ranks.
type RankList struct {
	text string
	List []int
}

// Set implements pflag.Value.
func (r *RankList) Set(s string) error {
	list, err := unit.ParseCounts(s)
	if err != nil {
		return err
	}
	slices.Sort(list)
	r.text, r.List = s, slices.Compact(list)
	return nil
}

func (r *RankList) String() string { return r.text }

// Type implements pflag.Value.
func (r *RankList) Type() string { return "ranks" }

// parseDelay reads how a rank is held up.
func parseDelay(s string) (d whatif.Delay, err error) {
	const form = "give RANK@TIME:DURATION, e.g. 4@0:20us"
	rank, rest, ok1 := strings.Cut(s, "@")
	from, length, ok2 := strings.Cut(rest, ":")
	if !ok1 || !ok2 {
		return d, fmt.Errorf("cannot read %q; %s", s, form)
	}
	if d.Rank, err = strconv.Atoi(rank); err != nil || d.Rank < 0 {
		return d, fmt.Errorf("%q is not a rank; %s", rank, form)
	}
	if d.From, err = unit.ParseDuration(from); err == nil {
		d.Length, err = unit.ParseDuration(length)
	}
	return d, err
}
