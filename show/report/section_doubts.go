package report

import (
	"fmt"

	"slackline/analyze/profile"
	"slackline/internal/table"
	"slackline/model/unit"
)

// tellDoubts reports how reliable everything is.
func (s *story) tellDoubts() *Section {
	section := &Section{ID: "doubts", Title: "How reliable this is", Question: "What may make these answers wrong?"}
	t := newTable("Assumptions, and how well they hold", "", left("about"), left("what is known"), left("what it means"))
	if a := s.main(); a != nil {
		s.doubtClocks(t, a)
		s.doubtWaits(t, a)
		s.doubtRecorded(t, a)
		s.doubtRecorder(t, a)
		if a.efficiency.Estimated {
			t.Add(text("Efficiencies"), text("the run time on an ideal network is estimated from the waits"), text("serialization and transfer are estimates; their product is exact"))
		}
		s.doubtModel(t, a)
	}
	s.doubtData(t)
	section.table(t)
	if warnings := s.in.Warnings; len(warnings) > 0 {
		section.head("Warnings")
		for _, w := range warnings {
			section.doubt(w)
		}
	} else {
		section.say("There were no warnings when the inputs were read.")
	}
	return section
}

func (s *story) doubtClocks(t *table.Table, a *analysed) {
	if a.run.Timeline.Simulated {
		t.Add(text("Clocks"), text("the run is simulated"), text("times are exact"))
		return
	}
	t.Add(text("Clocks"), text(a.clockWords()), text("waits shorter than the error may not be real"))
	if p := &a.run.Timeline.Problems; p.Violations > 0 {
		t.Add(text("Causality"), text(fmt.Sprintf("%s still arrive before they were sent, by up to %s", count(p.Violations, "message"), p.WorstViolation.Short())), text("the clocks are wrong; "+code("--clock clc")+" corrects them"))
	}
}

func (s *story) doubtWaits(t *table.Table, a *analysed) {
	w := &a.waits.Totals
	if w.Waiting.Amount == 0 {
		return
	}
	t.Add(text("Uncertain waits"), text(fmt.Sprintf("%s, %s of all waiting", w.Uncertain.Short(), percent(part(w.Uncertain, w.Waiting.Amount)))), text("shorter than the error of the clocks"))
	t.Add(text("Waits without cause"), text(fmt.Sprintf("%s, %s of all waiting", w.Unattributed.Short(), percent(part(w.Unattributed, w.Waiting.Amount)))), text("the two ranks had not synchronized before in the analyzed part"))
	if a.waits.Cyclic > 0 {
		t.Add(text("Cycles"), text(count(a.waits.Cyclic, "wait state")+" depend on each other in cycles"), text("the clocks are wrong; part of the costs remains without cause"))
	}
}

// doubtRecorded reports how much of the run was recorded, if not all.
func (s *story) doubtRecorded(t *table.Table, a *analysed) {
	tl := a.run.Timeline
	off := tl.Unrecorded()
	if off == 0 {
		return
	}
	all := (tl.End - tl.Start) * unit.Duration(len(tl.Locations))
	what := fmt.Sprintf("recording was off for %s of the time of all threads", percent(part(off, all)))
	if n := tl.Problems.CutMessages + tl.Problems.CutCollectives; n > 0 {
		what += fmt.Sprintf("; %s recorded by some of their ranks only", count(n, "message or collective"))
	}
	t.Add(text("Recorded part"), text(what), text("efficiencies, waits and causes are those of the recorded part"))
}

func (s *story) doubtRecorder(t *table.Table, a *analysed) {
	own := unit.Duration(0)
	for _, p := range a.composition.Parts {
		if p.Kind == profile.Recording {
			own += p.Time
		}
	}
	if own > 0 {
		t.Add(text("Recorder"), text(fmt.Sprintf("%s of the time of all ranks is the recorder's own", percent(part(own, a.composition.Total)))), text("it is not part of the program"))
	}
}

// doubtModel reports how well simulations describe the run.
func (s *story) doubtModel(t *table.Table, a *analysed) {
	if a.run.Program == nil || s.fixes.err != nil || s.fixes.value == nil {
		return
	}
	where := s.in.Machine.Name
	if s.in.Machine.Assumed {
		where = "a network that costs nothing, because no machine was given"
	}
	t.Add(text("Machine"), text(where), text("computation takes as long as recorded; messages cost what the parameters of the machine give (LogGOPS)"))
	if a.run.Span > 0 {
		off := float64(s.fixes.value.RunTime)/float64(a.run.Span) - 1
		how := "simulated"
		if a.run.Denoised {
			how = "simulated without the noise of the recorded machine"
		}
		t.Add(text("Simulation"), text(fmt.Sprintf("%s %s, %s recorded: %+.1f %%", short(s.fixes.value.RunTime), how, a.run.Span.Short(), 100*off)), text("how close the simulation is to the recorded run, from MPI_Init to MPI_Finalize; on another machine it may differ"))
	}
	t.Add(text("Tolerance"), text("the static model: a rank's CPU is never busy with the messages of others"), text("the program may tolerate somewhat less in reality"))
	if s.scale.asked {
		t.Add(text("Larger scale"), text("copies of the ranks with the same work each, messages inside their copy"), text("weak scaling of a program whose communication is local; nothing else grows"))
	}
	if s.in.Noise != nil {
		t.Add(text("Noise"), text(fmt.Sprintf("%s, drawn anew in %s", s.in.Noise.Name, count(s.in.Noise.Replicas, "replica"))), text("a model or a measurement of one machine; other machines have other noise"))
	}
}

// doubtData reports how reliable measurements are.
func (s *story) doubtData(t *table.Table) {
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
	known := fmt.Sprintf("%s; all have a model", grouped(int64(len(s.models.value)))+" series of measurements")
	if unsure > 0 {
		known = fmt.Sprintf("%d of %s without a reliable model, e.g. because: %s", unsure, grouped(int64(len(s.models.value)))+" series of measurements", bad)
	}
	t.Add(text("Models"), text(known), text("predictions beyond the measured range hold as long as the model does"))
}
