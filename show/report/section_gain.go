package report

import (
	"fmt"

	"slackline/analyze/simulate"
	"slackline/analyze/whatif"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/model/unit"
	"slackline/show/tables"
)

// quietWords switch off the noise of a machine that brings its own.
func (s *story) quietWords() []string {
	if s.in.Machine.Noise != "" {
		return []string{"--noise", "none"}
	}
	return nil
}

// networkWords choose the model of what is simulated.
func (s *story) networkWords() []string {
	if s.in.Model == simulate.LogGPS {
		return []string{"--model", string(s.in.Model)}
	}
	return nil
}

// askFixes simulates the program with its largest causes of waiting fixed.
func (s *story) askFixes() (*whatif.Fixes, error) {
	a := s.main()
	options := simulate.Options{Model: s.in.Model, Mapping: s.in.Mapping.Mapping, Threads: s.in.Threads}
	return whatif.TryFixes(s.ctx, a.run.Program, s.in.Machine.Machine, options, whatif.FixCandidates(a.waits), !s.in.Machine.Assumed)
}

// fixCommand simulates a fix.
func (s *story) fixCommand(f *whatif.Fix) string {
	words := s.main().run.Simulate
	if f.Path == "" {
		return command("simulate", words, FreeNetwork(), s.networkWords(), s.in.Mapping.Words)
	}
	return command("waits", words, s.in.Machine.Words, s.networkWords(), s.in.Mapping.Words, s.quietWords(), "--balance", f.Path)
}

// FreeNetwork are the flags of a network that costs nothing.
func FreeNetwork() []string { return []string{"-L", "0", "-o", "0", "-g", "0", "-G", "0"} }

// tellGain reports what fixes would gain.
func (s *story) tellGain() *Section {
	section := &Section{ID: "gain", Title: "What a fix would gain", Question: "How long would the run take if the causes were removed?"}
	if section.Missing = s.notSimulated(); section.Missing != nil {
		return section
	}
	if s.fixes.err != nil {
		section.Missing = &Missing{"the run cannot be simulated: " + s.fixes.err.Error(), ""}
		return section
	}
	fixes := s.fixes.value
	section.say(gainWords(fixes))
	t := newTable(fmt.Sprintf("Run time %s on %s if ...", short(fixes.RunTime), s.in.Machine.Name), "",
		left("change"), right("run time"), right("gain"), right("min of a rank"), right("max of a rank"), left("command"))
	for i := range fixes.List {
		f := &fixes.List[i]
		what, low, high := tables.Text("a network that costs nothing"), tables.Text(""), tables.Text("")
		if f.Path != "" {
			what, low, high = tables.Text("balance "+code(f.Path)), tables.Time(unit.Duration(f.Min)), tables.Time(unit.Duration(f.Max))
		}
		t.Add(what, tables.Time(unit.Duration(f.RunTime)), tables.Share(f.Gain), low, high, table.Cell{Text: s.fixCommand(f), Mark: "command"})
	}
	section.table(t)
	if s.in.Machine.Assumed {
		section.doubt("No machine was given, so messages cost nothing here: the gain is that of a better balance of the computation alone. " + code("--machine NAME") + " simulates a machine.")
	}
	return section
}

// short prints a time for people.
func short(t unit.Nanoseconds) string { return unit.Duration(t).Short() }

// gainWords is what the best fix gains.
func gainWords(fixes *whatif.Fixes) string {
	f := fixes.Best()
	if f == nil {
		return fmt.Sprintf("No fix that was tried gains %s or more: the computation is balanced well enough.", phrase.Percent(whatif.MinGain, 1))
	}
	return fmt.Sprintf("The simulated run takes %s. With the computation of %s spread evenly over all ranks (now %s to %s per rank) it takes %s: %s less.",
		short(fixes.RunTime), code(f.Path), short(f.Min), short(f.Max), short(f.RunTime), phrase.Percent(f.Gain, 1))
}

// notSimulated is why nothing can be simulated; nil: it can be.
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
