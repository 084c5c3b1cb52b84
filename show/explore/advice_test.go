package explore

import (
	"net/http"
	"testing"

	"slackline/analyze/advise"
	"slackline/analyze/replay"
	"slackline/internal/phrase"
	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// The list of changes is that of the package advise, with the commands of the question.
func TestAdviceAnswer(t *testing.T) {
	s, h := serverOf(t, halo(t, 4, 3))
	if answer, body := ask(t, s, h, "/api/advice"); answer.StatusCode != http.StatusNotFound {
		t.Errorf("without a question: %s: %s", answer.Status, body)
	}
	v := s.inputs[0].view.Load()
	var q *advise.Question
	v.opened.Advise = func(p schedule.Program) (*advise.Question, error) {
		m, err := machine.Named("chic")
		q = &advise.Question{Scenario: advise.Scenario{Program: p, Machine: m}, Words: []string{"simulate"}}
		return q, err
	}
	got := get[Advice](t, s, h, "/api/advice")
	want, err := advise.Search(t.Context(), *q)
	if err != nil {
		t.Fatal(err)
	}
	if got.Machine != "chic" || got.RunTime != int64(unit.Duration(want.RunTime)) || got.Nothing != want.Nothing() ||
		len(got.Changes) != len(want.Advice) || len(got.Upgrades) != len(want.Upgrades) || len(got.Ceilings) != 3 || len(got.Upgrades) == 0 {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	if e, a := got.Upgrades[0], &want.Upgrades[0]; e.Change != a.Text || e.Gain != a.Gain || e.Sentence != phrase.Spaced(a.Say()) ||
		e.Command == "" || e.Command != a.Command {
		t.Errorf("got %+v, want %+v", e, a)
	}
}

// TestAdviceOfAccelerators checks that a run whose accelerators alone communicate is not replayed for a machine on which that costs
// nothing, unless a machine is named.
func TestAdviceOfAccelerators(t *testing.T) {
	for _, named := range []string{"", "chic"} {
		s, h := serverOf(t, trainingRun(t))
		v := s.inputs[0].view.Load()
		if v == nil {
			get[Runs](t, s, h, "/api/runs")
			v = s.inputs[0].view.Load()
		}
		v.opened.OwnMachine = named
		var asked *replay.Program
		v.opened.Advise = func(p schedule.Program) (*advise.Question, error) {
			asked = p.(*replay.Program)
			m, err := machine.Named("chic")
			return &advise.Question{Scenario: advise.Scenario{Program: p, Machine: m}, Words: []string{"simulate"}}, err
		}
		get[Advice](t, s, h, "/api/advice")
		if own := asked.Report().OwnMachine; own != (named == "") {
			t.Errorf("machine %q: the run keeps its own one: %v", named, own)
		}
	}
}
