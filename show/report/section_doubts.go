package report

import (
	"fmt"

	"slackline/analyze/profile"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/model/unit"
	"slackline/show/tables"
)

// tellDoubts reports how reliable everything is.
func (s *story) tellDoubts(section *Section) *Missing {
	t := assumptions{newTable("Assumptions, and how well they hold", "", left("about"), left("what is known"), left("what it means"))}
	if a := s.main(); a != nil {
		s.doubtClocks(t, a)
		s.doubtWaits(t, a)
		s.doubtRecorded(t, a)
		s.doubtRecorder(t, a)
		if a.efficiency.Estimated {
			t.add("Efficiencies", "the run time on an ideal network is estimated from the waits",
				"serialization and transfer are estimates; their product is exact")
		}
		s.doubtModel(t, a)
	}
	s.doubtData(t)
	section.table(t.Table)
	if warnings := s.in.Warnings; len(warnings) > 0 {
		section.head("Warnings")
		for _, w := range warnings {
			section.doubt(w)
		}
	} else {
		section.say("There were no warnings when the inputs were read.")
	}
	return nil
}

// assumptions is a table of what the answers rest on.
type assumptions struct{ *table.Table }

func (t assumptions) add(about, known, meaning string) {
	t.Add(tables.Text(about), tables.Text(known), tables.Text(meaning))
}

func (s *story) doubtClocks(t assumptions, a *analyzed) {
	if a.run.Timeline.Simulated {
		t.add("Clocks", "the run is simulated", "times are exact")
		return
	}
	t.add("Clocks", a.clockWords(), "waits shorter than the error may not be real")
	if p := &a.run.Timeline.Problems; p.Violations+p.EarlyCollectives > 0 {
		t.add("Causality", phrase.Early(p.Violations, p.EarlyCollectives, p.WorstViolation.Short()),
			"the clocks are wrong; "+code("--clock clc")+" corrects them")
	}
}

func (s *story) doubtWaits(t assumptions, a *analyzed) {
	w := &a.waits.Totals
	if w.Waiting.Amount.Sign() == 0 {
		return
	}
	ofAll := func(d unit.Sum) string {
		return fmt.Sprintf("%s, %s of all waiting", d.Short(), phrase.PercentOf(d, w.Waiting.Amount))
	}
	t.add("Uncertain waits", ofAll(w.Uncertain), "shorter than the error of the clocks")
	t.add("Waits without cause", ofAll(w.Unattributed), "the two ranks had not synchronized before in the analyzed part")
	if a.waits.Cyclic > 0 {
		t.add("Circles", phrase.Circles(a.waits.Cyclic), "the clocks are wrong; part of their costs stays without cause")
	}
}

// doubtRecorded reports how much of the run was recorded, if not all.
func (s *story) doubtRecorded(t assumptions, a *analyzed) {
	tl := a.run.Timeline
	off := tl.Unrecorded()
	if off.Sign() == 0 {
		return
	}
	what := fmt.Sprintf("recording was off for %s of the time of all threads", phrase.PercentOf(off, tl.Lifetimes()))
	if n := tl.Problems.CutMessages + tl.Problems.CutCollectives; n > 0 {
		what += fmt.Sprintf("; %s recorded by some of their ranks only", phrase.Plural(n, "message or collective"))
	}
	t.add("Recorded part", what, "efficiencies, waits and causes are those of the recorded part")
}

func (s *story) doubtRecorder(t assumptions, a *analyzed) {
	own := unit.Sum{}
	for _, p := range a.composition.Parts {
		if p.Kind == profile.Recording {
			own.AddSum(p.Time)
		}
	}
	if own.Sign() > 0 {
		t.add("Recorder", fmt.Sprintf("%s of the time of all ranks is the recorder's own", phrase.PercentOf(own, a.composition.Total)),
			"it is not part of the program")
	}
}

// doubtModel reports how well simulations describe the run.
func (s *story) doubtModel(t assumptions, a *analyzed) {
	if a.run.Program == nil || s.advice.err != nil || s.advice.value == nil {
		return
	}
	where := s.in.Machine.Name
	if s.in.Machine.Assumed {
		where += ", because no machine was given"
	}
	if s.in.Estimate != "" {
		where += "; for what a fix would gain, one that was estimated from the messages of the run"
	}
	t.add("Machine", where,
		"computation takes as long as recorded; messages cost what the parameters of the machine give (LogGOPS)")
	if a.run.Span > 0 {
		off := float64(s.advice.value.RunTime)/float64(a.run.Span) - 1
		how := "simulated"
		if a.run.Denoised {
			how = "simulated without the noise of the recorded machine"
		}
		t.add("Simulation", fmt.Sprintf("%s %s, %s recorded: %+.1f %%", short(s.advice.value.RunTime), how, a.run.Span.Short(), 100*off),
			"how close the simulation is to the recorded run, from MPI_Init to MPI_Finalize; on another machine it may differ")
	}
	t.add("Tolerance", "the static model: a rank's CPU is never busy with the messages of others",
		"the program may tolerate somewhat less in reality")
	if s.scale.asked {
		t.add("Larger scale", "copies of the ranks with the same work each, messages inside their copy",
			"weak scaling of a program whose communication is local; nothing else grows")
	}
	if s.in.Noise != nil {
		t.add("Noise", fmt.Sprintf("%s, drawn anew in %s", s.in.Noise.Name, phrase.Plural(s.in.Noise.Replicas, "replica")),
			"a model or a measurement of one machine; other machines have other noise")
	}
}

// doubtData reports how reliable measurements are.
func (s *story) doubtData(t assumptions) {
	if !s.models.asked || s.models.err != nil {
		return
	}
	unsure, bad := 0, ""
	for i := range s.models.value {
		if m := &s.models.value[i]; m.Err != nil || m.Fit.Doubt != "" {
			if unsure++; unsure == 1 {
				bad = doubtOf(m)
			}
		}
	}
	series := phrase.Grouped(len(s.models.value)) + " series of measurements"
	known := series + "; all have a model"
	if unsure > 0 {
		known = fmt.Sprintf("%d of %s without a reliable model, e.g. because: %s", unsure, series, bad)
	}
	t.add("Models", known, "predictions beyond the measured range hold as long as the model does")
}
