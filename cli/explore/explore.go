// Package explore is the verb explore: it serves the explorer.
package explore

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/advise"
	"slackline/cli/datasets"
	"slackline/cli/env"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/cli/scenario"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
	"slackline/model/collective"
	"slackline/model/dataset"
	"slackline/model/machine"
	"slackline/model/pattern"
	"slackline/model/schedule"
	"slackline/show/explore"
)

// exploreOptions are the flags of explore.
type exploreOptions struct {
	run  scenario.RunOptions
	port int
	mu   sync.Mutex // of the app, while inputs are read
}

// Verb is the entry of the registry.
var Verb = env.Verb{Name: "explore", Group: env.Show, Job: env.FirstOnly, New: command}

func command(a *env.Env) *cobra.Command {
	o := &exploreOptions{}
	c := &cobra.Command{
		Use:   "explore INPUT...",
		Short: "Look at runs in a browser: timeline, waits and their causes, call tree, maps, tolerance, models.",
		Long: "Serve runs and measurements to a browser on this machine, until interrupted: a timeline from the whole run to single " +
			"messages, wait states colored by root cause with the chain that leads to it, the call tree with its distribution over " +
			"ranks, the communication matrix, T over the latency, box plots and models of measurements. Several inputs can be looked at " +
			"side by side. The page is reachable from this machine alone, with the token of the printed address; for a run on another " +
			"machine, forward the port: ssh -L 8080:localhost:8080 HOST slackline explore run.slt --port 8080.",
		Annotations: flags.Arguments("INPUT", scenario.RunHelp+"; or measurements, as for 'slackline scaling'"),
		Example: `  slackline explore traces.otf2
  slackline explore before.slt after.slt --port 8080
  slackline explore halo2d --ranks 256 --machine chic --noise 1000Hz:10us
  slackline explore app.slt runs.json`,
		Args: flags.AtLeastOne("INPUT"),
		RunE: func(c *cobra.Command, args []string) error { return o.execute(a, c, args) },
	}
	a.AddGroup(c, "Server", o.addFlags)
	o.run.AddTo(a, c)
	return c
}

func (o *exploreOptions) addFlags(fs *pflag.FlagSet) {
	flags.AddNumber(fs, &o.port, "port", 0, flags.Between(0, 65535),
		"`number` of the TCP port on the loopback address, up to 65535; 0: any that is free")
}

func (o *exploreOptions) execute(a *env.Env, c *cobra.Command, words []string) error {
	var sources []explore.Source
	for _, word := range words {
		s, err := o.source(a, c, word)
		if err != nil {
			return err
		}
		sources = append(sources, s)
	}
	if !slices.ContainsFunc(words, func(word string) bool { return !isDataset(word) }) {
		a.WarnOfAllBut(c, ": no input is a run", "port", "threads")
	}
	listener, err := explore.Listen(o.port)
	if err != nil {
		return err
	}
	defer listener.Close()
	server, err := explore.New(sources, explore.Options{Threads: o.run.Threads, Version: provenance.Version()})
	if err != nil {
		return err
	}
	defer server.Close()
	if err := server.Open(c.Context()); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(a.Stdout, server.Address(listener)); err != nil {
		return err
	}
	a.Note("open this address in a browser; end with Ctrl-C")
	if os.Getenv("SSH_CONNECTION") != "" {
		host, _ := os.Hostname()
		_, port, _ := net.SplitHostPort(listener.Addr().String())
		a.Note("from your own machine: ssh -L %[1]s:localhost:%[1]s %[2]s, and open the address there", port, cmp.Or(host, "HOST"))
	}
	if err := server.Serve(c.Context(), listener); err != nil {
		return err
	}
	a.Note("ended")
	return nil
}

// source says how an input is opened.
func (o *exploreOptions) source(a *env.Env, c *cobra.Command, word string) (explore.Source, error) {
	s := explore.Source{Name: word}
	if _, err := os.Stat(word); err == nil {
		s.Files = []string{word}
		if stem, found := strings.CutSuffix(word, ".otf2"); found {
			s.Files = append(s.Files, stem, stem+".def")
		}
	}
	open := func(_ context.Context, whole bool) (*explore.Opened, error) { return o.openRun(a, c, word, whole) }
	if isDataset(word) {
		open = func(ctx context.Context, _ bool) (*explore.Opened, error) { return o.openDataset(ctx, a, word) }
	} else if _, err := o.run.Simulated(c, word); err != nil {
		return s, err
	}
	s.Open = func(ctx context.Context) (*explore.Opened, error) {
		o.mu.Lock() // what is said to the user is said by one at a time
		defer o.mu.Unlock()
		return open(ctx, false)
	}
	if s.AsWhole = o.run.Whole; input.IsTrace(word) && !o.run.Begin.Given && !o.run.End.Given {
		s.Whole = func(ctx context.Context) (*explore.Opened, error) {
			o.mu.Lock()
			defer o.mu.Unlock()
			return open(ctx, true)
		}
	}
	return s, nil
}

// isDataset reports whether a word names measurements: a file in a known format of them, or a directory without a trace.
func isDataset(word string) bool {
	_, word = datasets.CutPlace(word)
	info, err := os.Stat(word)
	switch {
	case err != nil || input.IsTrace(word):
		return false
	case info.IsDir():
		return !pattern.Has(word)
	}
	head, err := input.Head(word)
	if err != nil || input.IsScheduleHead(word, head) {
		return false
	}
	_, known := dataset.Sniff(head)
	return known
}

// openDataset reads measurements.
func (o *exploreOptions) openDataset(ctx context.Context, a *env.Env, word string) (*explore.Opened, error) {
	before := len(a.Warnings)
	d, _, err := (&datasets.DataOptions{}).Load(ctx, a, []string{word})
	if err != nil {
		return nil, err
	}
	return &explore.Opened{Dataset: d, Warnings: slices.Clone(a.Warnings[before:])}, nil
}

// openRun reads or simulates a run, with or without the start and the end of MPI.
func (o *exploreOptions) openRun(a *env.Env, c *cobra.Command, word string, whole bool) (*explore.Opened, error) {
	before := len(a.Warnings)
	run := o.run // opening one input must not change how the next one is opened
	run.Whole = whole
	r, err := run.OpenRun(a, c, word, false)
	if err != nil {
		return nil, err
	}
	machines, own, err := o.machines(c)
	if err != nil {
		return nil, err
	}
	mapping, err := collective.FindMapping(run.Future.Mapping)
	if err != nil {
		return nil, err
	}
	advice := func(p schedule.Program) (*advise.Question, error) {
		recorded, m := r.Timeline, (*machine.Machine)(nil)
		if r.Machine != "" {
			recorded = nil
		}
		if own != "" {
			m = machines[0]
		}
		q, _, err := run.Future.Question(c, word, p, recorded, m, mapping)
		return q, err
	}
	if r.Program == nil && (run.Begin.Given || run.End.Given) {
		advice = nil
		a.Warn("no change is tried for a part of a run: '%s' tries them for all of it", phrase.Command(flags.Tool, "advise", word))
	}
	return &explore.Opened{
		OwnMachine: own, Advise: advice, Mapping: mapping,
		Timeline: r.Timeline, Machine: r.Machine, Program: r.Program, Machines: machines, Warnings: slices.Clone(a.Warnings[before:]),
	}, nil
}

// machines are those that tolerance is asked for: the one of the flags first, then those that are built in. Own is the first one.
func (o *exploreOptions) machines(c *cobra.Command) (list []*machine.Machine, own string, err error) {
	given := o.run.Future.Machine.Override()
	if o.run.Future.Machine.Name != "" || !given.IsZero() {
		m, err := o.run.Future.Machine.Machine(c)
		if err != nil {
			return nil, "", err
		}
		list, own = append(list, m), m.Name
		if o.run.Future.Machine.IsRecorded() {
			return list, own, nil // times of the run are in the program, which would come on top of those of another machine
		}
	}
	for _, name := range machine.Names() {
		if slices.ContainsFunc(list, func(m *machine.Machine) bool { return m.Name == name }) {
			continue
		}
		m, err := machine.Named(name)
		if err != nil {
			return nil, "", err
		}
		list = append(list, m)
	}
	return list, own, nil
}
