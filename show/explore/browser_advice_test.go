package explore

import (
	"context"
	"slices"
	"strings"
	"testing"

	"slackline/analyze/advise"
	"slackline/model/machine"
	"slackline/model/schedule"
)

// testAdvice looks at the list of changes that pay: what the server answers, in words, with the command that shows it.
func testAdvice(t *testing.T, shared *site) {
	chic, err := machine.Named("chic")
	if err != nil {
		t.Fatal(err)
	}
	tl := halo(t, 16, 4)
	s := shared.beside(t, []Source{{Name: "halo2d", Open: func(context.Context) (*Opened, error) {
		question := func(p schedule.Program) (*advise.Question, error) {
			return &advise.Question{Scenario: advise.Scenario{Program: p, Machine: chic}, Words: []string{"halo2d", "--machine", "chic"}}, nil
		}
		return &Opened{Timeline: tl, Machines: []*machine.Machine{chic}, OwnMachine: "chic", Advise: question}, nil
	}}})
	p := s.open(t, "#advice", 1280, 800)
	p.must(p.Wait(`document.getElementById("main").innerText.includes("What to change first")`))
	var want Advice
	s.get(t, "advice", &want)
	text := p.text(`document.getElementById("main").innerText`)
	for _, a := range append(slices.Clone(want.Changes), want.Upgrades...) {
		if !strings.Contains(text, a.Sentence) || !strings.Contains(text, a.Command) {
			t.Errorf("the list does not have %q with its command %q: %.600q", a.Sentence, a.Command, text)
		}
	}
	if len(want.Upgrades) == 0 {
		t.Error("no change of the machine is listed")
	}
	p.whole("advice")
	p.picture("advice")
	p.must(p.Resize(400, 800))
	p.must(p.Media(map[string]string{"prefers-color-scheme": "dark"}))
	p.settle()
	p.fits("advice", 400)
	p.picture("advice-400-dark")
	p.sound()
}
