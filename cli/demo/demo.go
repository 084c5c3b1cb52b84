// Package demo is the verb demo: it runs the demo.
package demo

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/internal/atomicfile"
	"slackline/internal/phrase"
	"slackline/internal/table"
)

// demoData is what the demo looks at: a recorded run with a planted cause and the program it comes from,
// measurements of two versions of it, and what its authors expect.
//
//go:embed demodata
var demoData embed.FS

type demoOptions struct {
	out   string
	quick bool
}

// Verb is the entry of the registry.
var Verb = env.Verb{Name: "demo", Group: env.Show, Job: env.OnceOnly, New: command}

func command(a *env.Env) *cobra.Command {
	o := &demoOptions{}
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show what slackline does, from a recorded run to a report, on a built-in example.",
		Long: "Show what slackline does on a built-in example: a small ocean model on 16 ranks, recorded under MPI, in which something " +
			"makes all ranks wait. Every command is shown as you would type it, and its inputs stay in the directory, so that you can " +
			"continue from there. It takes less than half a minute.",
		Example: `  slackline demo
  slackline demo --out /tmp/demo`,
		Args: flags.ExactArgs(),
		RunE: func(c *cobra.Command, _ []string) error { return o.run(a, c) },
	}
	a.AddGroup(c, "Flags", o.addFlags)
	return c
}

func (o *demoOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.out, "out", "slackline-demo", "`directory` for the example, the pictures and the report; it is made if needed")
	fs.BoolVar(&o.quick, "quick", false, "smaller runs, for a slow machine")
}

// demoStep is one command of the demo.
type demoStep struct {
	title string
	why   string
	words func(d *demoOptions) []string
	look  string // what to see in the output
	slow  bool   // it says what it does meanwhile
}

// file is the name of a file of the demo.
func (o *demoOptions) file(name string) string { return filepath.Join(o.out, name) }

// demoSteps are the commands in the order in which an engineer would ask.
var demoSteps = []demoStep{
	{
		title: "Where does the time go?",
		why: "ocean.slt is a recorded run of ocean.c on 16 ranks. A profile shows what it consists of; the start and the end " +
			"of MPI are left out.",
		words: func(o *demoOptions) []string {
			return []string{"profile", o.file("ocean.slt"), "--begin", "652ms", "--end", "1482ms", "--top", "5"}
		},
		look: "Half of the time is useful; the load balance is poor.",
	},
	{
		title: "Who waits, and what is the cause?",
		why: "Wait states are found, and every second of them is charged to the call path and the rank that caused it, also through " +
			"waits of other ranks.",
		words: func(o *demoOptions) []string {
			return []string{"waits", o.file("ocean.slt"), "--begin", "652ms", "--end", "1482ms", "--top", "3", "--explain=1", "--plot",
				o.file("waits.svg")}
		},
		look: "Nearly all ranks wait in halo exchanges and global sums, but the cause is elsewhere: convection, on two ranks.",
	},
	{
		title: "What would a fix gain?",
		why:   "The run is simulated on a machine, once as it was and once with the work of convection spread evenly.",
		words: func(o *demoOptions) []string {
			return []string{"waits", o.file("ocean.slt"), "--machine", "chic", "--balance", "convection", "--top", "2"}
		},
		look: "More than a third of the run time.",
	},
	{
		title: "How much latency does it tolerate?",
		why:   "The run time as an exact function of the latency of the network.",
		words: func(o *demoOptions) []string { return []string{"tolerance", o.file("ocean.slt"), "--machine", "chic"} },
		look:  "The latency may grow almost fourfold before the run takes 1 % longer.",
	},
	{
		title: "What does noise do at a million ranks?",
		why:   "A barrier is simulated without and with the noise of an operating system. On 2^20 ranks it takes 21 million messages each time.",
		words: func(o *demoOptions) []string {
			ranks := "2^20"
			if o.quick {
				ranks = "2^14"
			}
			return []string{"simulate", "dissemination", "--ranks", ranks, "--machine", "altix", "--noise", "altix", "--replicas", "1"}
		},
		look: "Noise of 0.05 % makes the barrier many times slower: one of a million ranks is always delayed.",
		slow: true,
	},
	{
		title: "Does it scale as expected? Not yet.",
		why: "expectations.yaml states how functions should grow with the number of processes; runs-before.json has measurements of a " +
			"version whose global sum goes round in a ring.",
		words: func(o *demoOptions) []string {
			return []string{"check", o.file("expectations.yaml"), o.file("runs-before.json")}
		},
		look: "The global sum grows with p instead of log p. The exit code reports it to continuous integration.",
	},
	{
		title: "Does it scale as expected? Now it does.",
		why:   "runs-after.json has measurements of a version whose global sum goes up and down a tree.",
		words: func(o *demoOptions) []string {
			return []string{"check", o.file("expectations.yaml"), o.file("runs-after.json")}
		},
	},
	{
		title: "All of it in one file",
		why:   "The report has all of it in one page that can be sent by mail: it needs neither network nor script.",
		words: func(o *demoOptions) []string {
			return []string{"report", o.file("ocean.slt"), o.file("runs-before.json"), "--expectations", o.file("expectations.yaml"),
				"--machine", "chic", "--noise", "chic", "--denoise", "--replicas", "3", "--title", "An ocean on 16 ranks", "--out",
				o.file("report.html")}
		},
		slow: true,
	},
}

// run carries out the commands of the demo just as a user would type them.
func (o *demoOptions) run(a *env.Env, c *cobra.Command) error {
	if err := o.unpack(); err != nil {
		return err
	}
	for i, step := range demoSteps {
		if err := o.show(a, c, i+1, &step); err != nil {
			return err
		}
	}
	text := fmt.Sprintf("Open %s in a browser. The program is %s, its trace %s: repeat the commands above with other flags. "+
		"To start with a program of your own: slackline record -- mpirun -n 8 ./app", o.file("report.html"), o.file("ocean.c"),
		o.file("ocean.slt"))
	return paragraph(a.Stdout, text)
}

// show runs one command and shows it with what it says.
func (o *demoOptions) show(a *env.Env, c *cobra.Command, number int, step *demoStep) error {
	args := step.words(o)
	if _, err := fmt.Fprintf(a.Stdout, "%s\n", a.Bold(fmt.Sprintf("%d. %s", number, step.title))); err != nil {
		return err
	}
	if err := paragraph(a.Stdout, step.why); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(a.Stdout, "\n$ %s\n", typed(append([]string{flags.Tool}, args...))); err != nil {
		return err
	}
	sub := env.New(args, a.Stdin, env.Raw(a.Stdout), env.Raw(a.Stderr))
	sub.Build = a.Build
	root := a.Build(sub)
	for name, value := range map[string]string{
		"color": a.Color, "quiet": strconv.FormatBool(a.Quiet || !step.slow), "no-progress": strconv.FormatBool(a.NoProgress),
	} {
		if err := root.PersistentFlags().Set(name, value); err != nil {
			return err
		}
	}
	root.SetArgs(args)
	err := root.ExecuteContext(c.Context())
	sub.Progress.Clear()
	var verdict exit.Verdict
	switch {
	case errors.As(err, &verdict):
		fmt.Fprintf(a.Stdout, "(exit code %d)\n", int(verdict))
	case err != nil:
		return err
	}
	if step.look != "" {
		if err := paragraph(a.Stdout, "\n=> "+step.look); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(a.Stdout)
	return err
}

// typed is a command as one types it, in lines that fit. Flags stay with their values.
func typed(words []string) string {
	line, text := "", ""
	for i := 0; i < len(words); i++ {
		word := phrase.Command(words[i])
		if strings.HasPrefix(words[i], "--") && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			i++
			word += " " + phrase.Command(words[i])
		}
		switch {
		case line == "":
			line = word
		case len(line)+len(word) > env.DefaultWidth-6:
			text += line + " \\\n"
			line = "    " + word
		default:
			line += " " + word
		}
	}
	return text + line
}

// paragraph writes text in lines that fit.
func paragraph(w io.Writer, text string) error {
	for _, line := range table.Wrap(text, min(env.WidthOf(w), env.DefaultWidth)) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// unpack writes the example into the directory: all of it, or nothing.
func (o *demoOptions) unpack() error {
	entries, err := demoData.ReadDir("demodata")
	if err != nil {
		return err
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return atomicfile.WriteInto(o.out, names, []string{".slt"}, func(d *atomicfile.Dir) error {
		return fs.WalkDir(demoData, "demodata", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := demoData.ReadFile(name)
			if err != nil {
				return err
			}
			f, err := d.Create(strings.TrimPrefix(name, "demodata/"))
			if err != nil {
				return err
			}
			_, err = f.Write(content)
			return cmp.Or(err, f.Close())
		})
	})
}
