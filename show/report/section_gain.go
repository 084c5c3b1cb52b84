package report

import (
	"fmt"
	"strings"

	"slackline/analyze/advise"
	"slackline/analyze/simulate"
	"slackline/internal/phrase"
	"slackline/model/unit"
	"slackline/show/tables"
)

// adviceEffort is how many operations are simulated for the list of changes: a few seconds.
const adviceEffort = 20_000_000

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

// askAdvice looks for changes that pay.
func (s *story) askAdvice() (*advise.Result, error) {
	q := *s.in.Advise
	q.Threads, q.Effort = s.in.Threads, adviceEffort
	if s.in.Noise != nil {
		q.Replicas = s.in.Noise.Replicas
	}
	return advise.Search(s.ctx, q)
}

// FreeNetwork are the flags of a network that costs nothing.
func FreeNetwork() []string { return []string{"-L", "0", "-o", "0", "-g", "0", "-G", "0"} }

// tellGain reports what changes would gain: the list of the verb advise.
func (s *story) tellGain(section *Section) *Missing {
	if missing := s.notSimulated(); missing != nil {
		return missing
	}
	if s.advice.err != nil {
		return &Missing{"the run cannot be simulated: " + s.advice.err.Error(), ""}
	}
	r, whole := s.advice.value, s.adviseCommand()
	section.say(fmt.Sprintf("The simulated run takes %s on %s. Ranked are changes that gain %s or more: %s.",
		short(r.RunTime), s.in.Advise.Machine.Name, phrase.Percent(r.Noise.Share, 1), strings.Join(r.Noise.Basis, "; ")))
	if text := r.Nothing(); text != "" {
		section.say(text)
	}
	var sentences []Sentence
	for i := range r.Advice {
		sentences = append(sentences, Sentence{Text: fmt.Sprintf("%d. %s", i+1, r.Advice[i].Say())})
	}
	if len(sentences) > 0 {
		section.Blocks = append(section.Blocks, Block{Story: sentences})
	}
	section.titled("Changes that pay", whole, tables.Advice(r.Advice, 0).Pick("gain", "interval", "run time", "kind", "change", "callpath",
		"command"))
	if t := r.Together; t != nil {
		section.say(fmt.Sprintf("Together, %s save %s: %s instead of %s. The sum of their gains is %s: "+
			"gains against the same waits do not add up.",
			phrase.List(t.Changes), phrase.Percent(t.Gain, 1), short(t.RunTime), short(r.RunTime), phrase.Percent(t.Sum, 1)))
	}
	section.titled("What no change of a kind can exceed", whole, tables.Ceilings(r.Ceilings))
	section.titled("With faster code or a faster network", whole, tables.Advice(r.Upgrades, 0).Pick("gain", "interval", "run time", "kind",
		"change", "pays from", "callpath", "command"))
	if r.Left > 0 {
		section.say(fmt.Sprintf("%s that promise less were not tried here.", capital(phrase.Plural(r.Left, "change"))))
	}
	if s.in.Estimate != "" {
		section.doubt("No machine was given, so the parameters of the network were estimated from the messages of the run: " +
			code(s.in.Estimate) + ". " + code("--machine NAME") + " simulates a machine.")
	}
	return nil
}

// adviseCommand looks for all changes that pay.
func (s *story) adviseCommand() string {
	noise := []string(nil)
	if s.in.Noise != nil {
		noise = s.in.Noise.Words
	}
	return command("advise", s.main().run.Simulate, s.givenMachine(), s.networkWords(), s.in.Mapping.Words, noise)
}

// givenMachine are the flags of the machine that the user named.
func (s *story) givenMachine() []string {
	if s.in.Machine.Assumed {
		return nil
	}
	return s.in.Machine.Words
}

// short prints a time for people.
func short(t unit.Nanoseconds) string { return unit.Duration(t).Short() }

// notSimulated is why nothing can be simulated; nil: it can be.
func (s *story) notSimulated() *Missing {
	a := s.main()
	switch {
	case a == nil:
		return &Missing{"only measurements were given; a recorded run or a schedule can be simulated", command("report", "app.slt", "--machine",
			"NAME")}
	case a.empty():
		return emptyRun
	case a.run.Program == nil && a.timeline.Missing().Only != "":
		return &Missing{a.run.NoProgram, command("report", a.run.Simulate)}
	case a.run.Program == nil:
		return &Missing{a.run.NoProgram, ""}
	}
	return nil
}
