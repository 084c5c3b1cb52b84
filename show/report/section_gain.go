package report

import (
	"fmt"
	"slices"
	"strings"

	"slackline/analyze/profile"
	"slackline/analyze/simulate"
	"slackline/analyze/whatif"
	"slackline/model/machine"
	"slackline/model/unit"
)

// What is tried.
const (
	triedCauses = 3
	leastShare  = 0.01 // of all waiting time that a cause must have to be tried
	leastGain   = 0.02 // of the run time that makes a mend worth naming
)

// gains is what changes to the program would bring, in simulated runs.
type gains struct {
	before unit.Duration
	list   []gain
}

// gain is one change.
type gain struct {
	what    string // for people
	path    string // that is balanced; empty: the network
	after   unit.Duration
	changed whatif.Changed
	command string
}

// share is what is gained of the run time.
func (g *gains) share(i int) float64 { return part(g.before-g.list[i].after, g.before) }

// best is the change with the most gain; -1: none is worth it.
func (g *gains) best() int {
	best := -1
	for i := range g.list {
		if share := g.share(i); g.list[i].path != "" && share >= leastGain && (best < 0 || share > g.share(best)) {
			best = i
		}
	}
	return best
}

// quietWords switch off the noise of a machine that brings its own.
func (s *story) quietWords() []string {
	if s.in.Machine.Noise != "" {
		return []string{"--noise", "none"}
	}
	return nil
}

// askGains simulates the program with its greatest causes of waiting balanced, one at a time, and all together.
func (s *story) askGains() (*gains, error) {
	a := s.main()
	options := simulate.Options{Mapping: s.in.Mapping.Mapping, Threads: s.in.Threads}
	result, err := simulate.Run(s.ctx, a.run.Program, s.in.Machine.Machine, options)
	if err != nil {
		return nil, err
	}
	g := &gains{before: result.Makespan}
	for _, path := range a.candidates() {
		p, changed, err := whatif.Apply(a.run.Program, []whatif.Change{{Path: path, Balance: true, Rank: -1}})
		if err != nil {
			continue // nothing is computed there that could be balanced
		}
		if result, err = simulate.Run(s.ctx, p, s.in.Machine.Machine, options); err != nil {
			return nil, err
		}
		g.list = append(g.list, gain{
			what: "balance " + code(path), path: path, after: result.Makespan, changed: changed[0],
			command: command("waits", a.run.Simulate, s.in.Machine.Words, s.in.Mapping.Words, s.quietWords(), "--balance", path),
		})
	}
	if !s.in.Machine.Assumed {
		ideal := machine.FromParams("an ideal network", machine.Params{
			Overhead: machine.One(unit.Duration(0)), PerByte: machine.One(unit.PerByte(0)), Eager: machine.NoLimit,
		})
		if result, err = simulate.Run(s.ctx, a.run.Program, ideal, options); err != nil {
			return nil, err
		}
		g.list = append(g.list, gain{
			what: "a network that costs nothing", after: result.Makespan,
			command: command("simulate", a.run.Simulate, FreeNetwork(), s.in.Mapping.Words),
		})
	}
	return g, nil
}

// FreeNetwork are the flags of a network that costs nothing.
func FreeNetwork() []string { return []string{"-L", "0", "-o", "0", "-g", "0", "-G", "0"} }

// candidates are the call paths that are worth balancing: the greatest causes that are computation, and the root of all
// call paths, which stands for everything.
func (a *analysed) candidates() []string {
	var list []string
	for _, c := range a.waits.DelaysByPath() {
		if len(list) == triedCauses || a.waits.Share(c.Sum()) < leastShare {
			break
		}
		if c.Path != 0 && profile.KindOf(&a.waits.Paths.Region[c.Path]) == profile.Computation {
			list = append(list, a.name(c.Path))
		}
	}
	root := ""
	for _, name := range a.waits.Paths.Names[1:] {
		first, _, _ := strings.Cut(name, "/")
		if root != "" && first != root {
			return list
		}
		root = first
	}
	if root != "" && !slices.Contains(list, root) {
		list = append(list, root)
	}
	return list
}

// tellGain says what mends would bring.
func (s *story) tellGain() *Section {
	section := &Section{ID: "gain", Title: "What a mend would gain", Question: "How long would the run take if the causes were removed?"}
	if section.Missing = s.notSimulated(); section.Missing != nil {
		return section
	}
	if s.gains.err != nil {
		section.Missing = &Missing{"the run cannot be simulated: " + s.gains.err.Error(), ""}
		return section
	}
	g := s.gains.value
	section.say(s.gainWords(g))
	t := &Table{
		Title:   fmt.Sprintf("Run time %s on %s if ...", g.before.Short(), s.in.Machine.Name),
		Columns: []Column{left("change"), right("run time"), right("gain"), right("least of a rank"), right("most of a rank"), left("command")},
	}
	for i, e := range g.list {
		least, most := text(""), text("")
		if e.path != "" {
			least, most = span(e.changed.Min), span(e.changed.Max)
		}
		t.add(text(e.what), span(e.after), shareOf(g.share(i)), least, most, Cell{Text: e.command, Mark: "command"})
	}
	section.table(t)
	if s.in.Machine.Assumed {
		section.doubt("No machine was named, so the network costs nothing here: what is gained is what better balance of the computation alone gains. " + code("--machine NAME") + " makes these the numbers of a machine.")
	}
	return section
}

// gainWords says what the best change brings.
func (s *story) gainWords(g *gains) string {
	i := g.best()
	if i < 0 {
		return fmt.Sprintf("None of the changes that were tried gains %s or more: the computation is balanced well enough.", percent(leastGain))
	}
	e := g.list[i]
	return fmt.Sprintf("The run takes %s in the simulation. With the computation of %s spread evenly over all ranks (now %s to %s on a rank) it takes %s: %s less.",
		g.before.Short(), code(e.path), e.changed.Min.Short(), e.changed.Max.Short(), e.after.Short(), percent(g.share(i)))
}

// notSimulated says why nothing can be simulated; nil: it can.
func (s *story) notSimulated() *Missing {
	a := s.main()
	switch {
	case a == nil:
		return &Missing{"only measurements were given; a recorded run or a schedule can be simulated", command("report", "app.slt", "--machine", "NAME")}
	case a.empty():
		return emptyRun
	case a.run.Program == nil:
		return &Missing{a.run.NoProgram, ""}
	}
	return nil
}
