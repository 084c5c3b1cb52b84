// Package noise is the verb noise: it lists, shows and analyzes noise profiles.
package noise

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/cli/listing"
	"slackline/cli/scenario"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
	readers "slackline/internal/source"
	"slackline/internal/table"
	"slackline/model/noise"
	"slackline/model/unit"
	"slackline/show/tables"
)

// Verb is the entry of the registry.
var Verb = env.Verb{
	Name: "noise", Group: env.Prepare, Job: env.FirstOnly, New: command,
	Documents: env.Documents{
		"noise-stats": {document{}},
		"noise-list":  {env.List{}},
	},
}

func command(a *env.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "noise",
		Short: "List the embedded noise profiles, show one, turn one into a trace, or analyze it.",
		Example: `  slackline noise list
  slackline noise show altix
  slackline noise stats altix --plot altix.svg --plot-time 30s
  slackline noise show poisson:0.5Hz:exp:220us --to text --out detours.txt`,
		RunE: flags.NeedVerb,
	}
	list := listing.Command(a, "noise", "List the embedded profiles with what they take, how often and how long.", noiseTable)
	c.AddCommand(list, noiseShowCommand(a), noiseStatsCommand(a))
	return c
}

// noiseArgument names and describes the argument of verbs that take noise.
const noiseArgument = "NAME|SPEC|FILE"

func noiseArguments() map[string]string {
	return flags.Arguments(noiseArgument,
		"an embedded profile ('slackline noise list'); a specification, e.g. "+noise.SpecHelp+
			"; or a file, recognized by its content: "+strings.Join(formatInfos(), "; ")+"; - for the standard input")
}

// formatInfos describe the formats of files.
func formatInfos() []string {
	var list []string
	for _, f := range noise.Formats() {
		list = append(list, f.Info)
	}
	return list
}

// noiseTable has a row for each embedded profile, with the figures of its trace of
// seed 0.
func noiseTable() (*table.Table, error) {
	t := table.Of("name", ">overhead_percent=overhead", ">rate_per_second=rate", ">longest_ns=longest", "note")
	for _, name := range noise.Names() {
		p, err := noise.Named(name)
		if err != nil {
			return nil, err
		}
		d, err := p.Detours(0)
		if err != nil {
			return nil, err
		}
		s := noise.Stats(d)
		longest := unit.Duration(0)
		for _, source := range s.Sources {
			longest = max(longest, source.Longest)
		}
		note := strings.Join(strings.Fields(p.Note), " ")
		t.Add(p.Name, phrase.PercentCell(s.OverheadPercent), phrase.RateCell(s.RatePerSecond), tables.ExactTime(longest),
			table.Cell{Text: noiseTitle(note), Value: note})
	}
	return t, nil
}

// noiseTitle is what the note of an embedded profile calls the machine; where the
// figures come from follows it.
func noiseTitle(note string) string {
	title := phrase.FirstSentence(note)
	if name, _, more := strings.Cut(title, ", after "); more {
		return name + "."
	}
	return title
}

// noiseInput is noise that was named on the command line.
type noiseInput struct {
	word    string // as it was named
	profile *noise.Profile
	files   []string           // that were read
	records []provenance.Input // of what was read
}

// openNoise finds the noise that a word stands for.
func openNoise(a *env.Env, ctx context.Context, word string) (*noiseInput, error) {
	in := &noiseInput{word: word}
	var err error
	if word == "-" {
		const name = "standard input"
		meter := provenance.NewMeter(input.Interruptible(ctx, a.Stdin))
		data, err := readers.Whole(name, a.Stdin, meter, noise.MaxFile)
		if err != nil {
			return nil, err
		}
		size, hash := meter.Sum()
		in.records = []provenance.Input{{Path: "-", Kind: "noise", Bytes: size, SHA256: hash}}
		in.profile, err = noise.Read(name, data)
		return in, err
	}
	if in.profile, err = noise.Find(word); err != nil {
		return nil, err
	}
	if slices.Contains(noise.Names(), word) {
		return in, nil
	}
	in.files = (&scenario.NoiseOptions{File: word}).Files()
	for _, file := range in.files {
		record, err := input.RecordFile(file, "noise")
		if err != nil {
			return nil, err
		}
		in.records = append(in.records, record)
	}
	return in, nil
}

// random reports whether a seed matters.
func (in *noiseInput) random() bool {
	return slices.ContainsFunc(in.profile.Parts, func(p noise.Part) bool {
		_, fixed := p.Length.(noise.Fixed)
		return p.Kind != noise.KindTrace && (p.Kind == noise.KindPoisson || !fixed || p.Jitter != 0)
	})
}

// recorded reports whether a part is a list of detours, which only a trace can hold.
func (in *noiseInput) recorded() bool {
	return slices.ContainsFunc(in.profile.Parts, func(p noise.Part) bool { return p.Kind == noise.KindTrace })
}

// seeded is ", seed N" if that matters.
func (in *noiseInput) seeded(seed uint64) string {
	if in.random() {
		return fmt.Sprintf(", seed %d", seed)
	}
	return ""
}

// title is the name of the profile on one line.
func (in *noiseInput) title() string {
	if name := strings.Join(strings.Fields(in.profile.Name), " "); name != "" {
		return name
	}
	return in.word
}

// noiseShowOptions are the flags of noise show.
type noiseShowOptions struct {
	to   string
	out  string
	seed uint64
}

// The forms in which noise is written.
const (
	noiseAuto = "auto"
	noiseYAML = "yaml"
	noiseText = "text"
)

// forms are the choices of --to: auto, then the formats that can be written.
func forms() []string {
	list := []string{noiseAuto}
	for _, f := range slices.Backward(noise.Formats()) {
		if f.Write != nil {
			list = append(list, f.Name)
		}
	}
	return list
}

func noiseShowCommand(a *env.Env) *cobra.Command {
	o := &noiseShowOptions{}
	c := &cobra.Command{
		Use:   "show " + noiseArgument,
		Short: "Print noise as a profile file with its note, or as a trace of its detours.",
		Long: "Print noise as a profile file (yaml), with a note that says of a model what was given, what was inferred from what, and " +
			"what was left to test; or as a trace of its detours, in the text that LogGOPSim reads or in the binary form that is exact to " +
			"the picosecond.",
		Annotations: noiseArguments(),
		Example: `  slackline noise show chic
  slackline noise show 250Hz:2.8us+poisson:0.14Hz:10ms > mine.yaml
  slackline noise show altix --to text --seed 1 --out altix.txt
  slackline noise show osnoise.txt --to binary --out node7.bin`,
		Args: flags.ExactArgs(noiseArgument),
		RunE: func(c *cobra.Command, args []string) error { return o.run(a, c, args[0]) },
	}
	a.AddGroup(c, "Flags", o.addFlags)
	c.ValidArgsFunction = flags.FirstOf(noise.Names)
	return c
}

func (o *noiseShowOptions) addFlags(fs *pflag.FlagSet) {
	flags.AddChoice(fs, &o.to, "to", "form of the output; auto: by the suffix of --out (.yaml, .txt, .bin), else yaml, and text of what "+
		"was recorded", noiseAuto, forms()...)
	fs.StringVar(&o.out, "out", "", "write to this `file` instead of the standard output")
	fs.Uint64Var(&o.seed, "seed", 0, "`seed` of the random choices in a trace; equal seeds give equal traces")
}

func (o *noiseShowOptions) run(a *env.Env, c *cobra.Command, word string) error {
	in, err := openNoise(a, c.Context(), word)
	if err != nil {
		return err
	}
	if err := env.CheckOut(o.out, in.files); err != nil {
		return err
	}
	form := o.form(in)
	if c.Flags().Changed("seed") && (form.Model || !in.random()) {
		reason := "nothing in " + in.title() + " is random"
		if form.Model {
			reason = "a profile file describes the noise and draws nothing"
		}
		a.Warn("--seed has no influence: %s", reason)
	}
	if !form.Text && env.IsTerminal(a.Stream(o.out)) {
		return exit.Usagef("binary is not for the eye; give --out FILE, or send the output to a program")
	}
	if form.Model {
		if in.recorded() {
			return fmt.Errorf("%s holds a list of detours, which a profile file cannot; take --to text or --to binary", in.title())
		}
		return o.write(a, a.WriteOut, in, "a profile file", func(w io.Writer) error { return form.Write(w, in.profile, nil) })
	}
	d, err := in.profile.Detours(o.seed)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%s in %s", phrase.Plural(d.Len(), "detour"), unit.Duration(d.Period()).Short())
	if !form.Text {
		return o.write(a, a.WriteBytes, in, what, func(w io.Writer) error { return form.Write(w, in.profile, d) })
	}
	if subNanosecond(d) {
		a.Warn("the text has whole nanoseconds: times are rounded; --to binary keeps them")
	}
	return o.write(a, a.WriteOut, in, what, func(w io.Writer) error {
		fmt.Fprintf(w, "# noise %s%s\n", in.title(), in.seeded(o.seed))
		return form.Write(w, in.profile, d)
	})
}

// form is the form that --to or the suffix of --out names, else the one that can
// hold the noise.
func (o *noiseShowOptions) form(in *noiseInput) noise.Format {
	name := noiseYAML
	if in.recorded() {
		name = noiseText
	}
	for _, f := range noise.Formats() {
		if o.to == noiseAuto && f.Write != nil && slices.Contains(f.Suffixes, strings.ToLower(filepath.Ext(o.out))) {
			return f
		}
	}
	if o.to != noiseAuto {
		name = o.to
	}
	f, _ := noise.FormatNamed(name)
	return f
}

// write writes the output, as text or as bytes, and says what was written to a file.
func (o *noiseShowOptions) write(a *env.Env, to func(string, []string, func(io.Writer) error) error, in *noiseInput, what string,
	fill func(io.Writer) error) error {
	err := to(o.out, in.files, fill)
	if err == nil && a.Stream(o.out) == nil {
		a.Note("wrote %s: %s", o.out, what)
	}
	return err
}

// subNanosecond reports whether a trace has times that are not whole nanoseconds.
func subNanosecond(d *noise.Detours) bool {
	const ns = int64(unit.Nanosecond)
	if d.Period()%ns != 0 {
		return true
	}
	for i := range d.Len() {
		if x, _ := d.At(i); x.Start%ns != 0 || x.Length%ns != 0 {
			return true
		}
	}
	return false
}
