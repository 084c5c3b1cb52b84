package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

type demoOptions struct {
	out   string
	quick bool
}

func (a *app) demoCommand() *cobra.Command {
	o := &demoOptions{}
	c := &cobra.Command{
		Use:     "demo",
		Short:   "Show what slackline does: simulate four programs, print the commands, draw pictures.",
		Example: "  slackline demo --out out",
		Args:    exactArgs(),
		RunE:    func(c *cobra.Command, _ []string) error { return o.run(a, c) },
	}
	a.addGroup(c, "Flags", o.addFlags)
	return c
}

func (o *demoOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.out, "out", "out", "`directory` for the pictures; it is made if needed")
	fs.BoolVar(&o.quick, "quick", false, "smaller runs, for a slow machine")
}

// demoStep is one command of the demo, and what to look at.
type demoStep struct {
	title   string
	command string // %s stands for the directory of the pictures
	quick   string // the same in small; empty: it is small
	picture string
	look    string
}

var demoSteps = []demoStep{
	{
		title:   "A broadcast on eight ranks: a binomial tree.",
		command: "simulate bcast --algorithm binomial --ranks 8 --size 1B --machine chic --plot %s",
		picture: "broadcast.svg",
		look:    "each rank that has the message passes it on; the last ones get it after three hops",
	},
	{
		title:   "Two barriers with work between them; rank 4 is held up for 20 us.",
		command: "simulate dissemination --ranks 8 --iterations 2 --compute 10us --delay 4@32us:20us --breakdown --machine chic --plot %s",
		picture: "delay.svg",
		look:    "how the delay of one rank reaches the others at different times",
	},
	{
		title:   "One barrier of a million ranks, 21 million messages, without any file; one rank begins 100 us late.",
		command: "simulate dissemination --ranks 1048576 --size 1B --delay 0@0:100us --machine chic --plot %s",
		quick:   "simulate dissemination --ranks 16384 --size 1B --delay 0@0:100us --machine chic --plot %s",
		picture: "million.svg",
		look:    "all ranks wait for the late one, which leaves first itself",
	},
	{
		title:   "A wavefront application on 1,024 ranks.",
		command: "simulate sweep3d --ranks 1024 --machine xt4 --breakdown --plot %s",
		quick:   "simulate sweep3d --ranks 36 --machine xt4 --breakdown --plot %s",
		picture: "sweep3d.svg",
		look:    "where the ranks spend their time, and how far apart they finish",
	},
}

// run carries out the commands of the demo just as a user would type them.
func (o *demoOptions) run(a *app, c *cobra.Command) error {
	if err := os.MkdirAll(o.out, 0o777); err != nil {
		return err
	}
	for i, step := range demoSteps {
		path := filepath.Join(o.out, step.picture)
		command := step.command
		if o.quick && step.quick != "" {
			command = step.quick
		}
		_, err := fmt.Fprintf(a.stdout, "%s\n\n$ %s %s\n", a.bold(fmt.Sprintf("%d. %s", i+1, step.title)), toolName, fmt.Sprintf(command, path))
		if err != nil {
			return err
		}
		args := strings.Fields(command)
		args[len(args)-1] = path // in place of %s; it may have blanks in it
		sub := newApp(args, a.stdin, a.stdout, a.stderr)
		root := sub.rootCommand()
		for name, value := range map[string]string{
			"color": a.color.value, "quiet": strconv.FormatBool(a.quiet), "no-progress": strconv.FormatBool(a.noProgress),
		} {
			if err := root.PersistentFlags().Set(name, value); err != nil {
				return err
			}
		}
		root.SetArgs(args)
		if err := root.ExecuteContext(c.Context()); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(a.stdout, "\nPicture: %s (%s)\n\n", path, step.look); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(a.stdout, "The pictures are in %s; a browser shows them.\n", o.out)
	return err
}
