package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/unit"
)

// noiseOptions are the flags that take CPU time away from the ranks.
type noiseOptions struct {
	profile string
	file    string
	offsets string
	delays  delays
}

// noNoise switches off the noise that a machine file names.
const noNoise = "none"

func (o *noiseOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.profile, "noise", "", "`SPEC|NAME|FILE` of the noise on all ranks, e.g. 1000Hz:100us; each rank begins at an offset drawn with --seed; none: also not the machine's")
	fs.StringVar(&o.file, "noise-file", "", "noise from this `file`; all ranks begin at offset 0")
	fs.StringVar(&o.offsets, "noise-offsets", "", "`file` with the offset of each rank in the noise, in ns, one per line")
	fs.Var(&o.delays, "delay", "hold a rank up, `RANK@TIME:DURATION`, e.g. 4@0:20us; may be given several times")
}

func (o *noiseOptions) complete(c *cobra.Command) {
	completeWith(c, "noise", func() []string { return append(noise.Names(), noNoise) })
}

// check finds flags that contradict each other.
func (o *noiseOptions) check() error {
	switch {
	case o.profile != "" && o.file != "":
		return usagef("give --noise or --noise-file, not both")
	case o.offsets != "" && (o.profile == noNoise || o.profile == "" && o.file == ""):
		return usagef("--noise-offsets needs --noise or --noise-file")
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

// injection returns the noise of a run; nil: none.
func (o *noiseOptions) injection(ranks int, seed uint64) (*noise.Injection, error) {
	var trace *noise.Detours
	var offsets []int64
	if o.random() {
		profile, err := o.find()
		if err != nil {
			return nil, err
		}
		if trace, err = profile.Detours(seed); err != nil {
			return nil, err
		}
		if offsets, err = o.rankOffsets(ranks, trace.Period(), seed); err != nil {
			return nil, err
		}
	}
	if trace == nil && len(o.delays) == 0 {
		return nil, nil
	}
	in, err := noise.NewInjection(trace, offsets)
	if err != nil {
		return nil, err
	}
	return in, o.delays.addTo(in, ranks)
}

func (o *noiseOptions) find() (*noise.Profile, error) {
	if o.file != "" {
		return noise.Load(o.file)
	}
	return noise.Find(o.profile)
}

// rankOffsets returns where each rank begins in the noise; nil: all at 0.
func (o *noiseOptions) rankOffsets(ranks int, period int64, seed uint64) ([]int64, error) {
	if o.offsets != "" {
		f, err := os.Open(o.offsets)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return noise.ReadOffsets(o.offsets, f, ranks)
	}
	if o.file != "" {
		return nil, nil
	}
	offsets := make([]int64, ranks)
	noise.Offsets{Seed: seed}.Draw(offsets, period)
	return offsets, nil
}

// addTo holds the ranks up.
func (d delays) addTo(in *noise.Injection, ranks int) error {
	for _, e := range d {
		if e.rank >= ranks {
			return fmt.Errorf("--delay: rank %d does not exist; the program has %s (0..%d)", e.rank, plural(ranks, "rank"), ranks-1)
		}
		if err := in.Delay(e.rank, int64(e.from), int64(e.length)); err != nil {
			return fmt.Errorf("--delay: %w", err)
		}
	}
	return nil
}

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
