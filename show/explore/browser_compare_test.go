package explore

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"slackline/cli/input"
	"slackline/internal/browser"
	"slackline/model/pattern"
	"slackline/model/unit"
)

// comparedRuns are four runs with uneven work, four with even work, and measurements before and after.
func comparedRuns(t *testing.T, ranks int) []Source {
	var sources []Source
	for i := range 8 {
		jitter := 0.6
		if i >= 4 {
			jitter = 0.1
		}
		tl := simulated(t, "halo2d", pattern.Params{Ranks: ranks, Iterations: 5, Compute: 100 * unit.Microsecond, Jitter: jitter,
			Seed: uint64(i + 1)})
		sources = append(sources, Source{Name: fmt.Sprintf("runs/run%d",
			i), Open: func(context.Context) (*Opened, error) { return &Opened{Timeline: tl}, nil }})
	}
	for _, name := range []string{"k6-g05", "k6-x10"} {
		data, _, err := input.OpenDataset(t.Context(), []string{"../../testdata/scaling/cases/" + name + ".json"}, input.DatasetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, Source{Name: name, Open: func(context.Context) (*Opened, error) { return &Opened{Dataset: data}, nil }})
	}
	return sources
}

// testDifference compares runs: what differs and whether that is more than chance, colors, time axes, models.
func testDifference(t *testing.T, shared *site) {
	for _, size := range sized {
		compareRuns(t, shared.beside(t, comparedRuns(t, size.ranks)))
	}
}

func compareRuns(t *testing.T, s *site) {
	p := s.open(t, "#overview?run=0&other=4", 1280, 800)
	if got := p.text(`[...document.querySelectorAll("#runs option")].slice(0, 3).map(o => o.text)`); got != "run0,run1,run2" {
		t.Errorf("the runs of one directory are called %s", got)
	}
	if got := p.text(`document.querySelector(".difference").innerText`); !strings.Contains(got, "Run time") || !strings.Contains(got, "%") {
		t.Errorf("what differs: %q", got)
	}
	if got := p.text(`document.querySelector(".changes").innerText`); !strings.Contains(got, "at least 4 of each") || strings.Contains(got, "significant are") {
		t.Errorf("of one run each: %q", got)
	}
	// Repetitions are chosen by keyboard; the address keeps them.
	p.eval(`document.querySelector("input[name=before-1]").focus()`, nil)
	p.must(p.Key(" ", 0))
	p.must(p.Wait(`location.hash.includes("before=0%2C1")`))
	p.settle()
	p.visit("#overview?run=0&other=4&before=1,2,3&after=5,6,7")
	var c Comparison
	s.get(t, "compare?before=0-3&after=4-7", &c)
	if got := p.text(`document.querySelector(".changes").innerText`); !c.Conclusive || !strings.Contains(got, "4 runs before, 4 runs after: medians") || !strings.Contains(got, "\tsignificant") {
		t.Errorf("of four runs each (conclusive: %v): %q", c.Conclusive, got)
	}
	p.picture("difference")
	p.must(p.Resize(400, 800))
	p.settle()
	p.fits("difference", 400)
	p.picture("difference-400")
	p.must(p.Resize(1280, 800))

	var iterations [2]Iterations
	s.get(t, "iterations?run=0", &iterations[0])
	s.get(t, "iterations?run=4", &iterations[1])
	it := iterations[0].List[2]
	p.visit(fmt.Sprintf("#timeline?run=0&other=4&sync=iteration&color=path&from=%d&to=%d", it.Begin, iterations[0].List[3].Begin))
	windows := func() [2]shown { return [2]shown{p.windowOf(0), p.windowOf(1)} }
	p.must(p.Wait(fmt.Sprintf(`document.querySelectorAll("canvas.timeline")[1].dataset.from === "%d"`, iterations[1].List[2].Begin)))
	if w := windows(); int64(w[1].To) != iterations[1].List[3].Begin {
		t.Errorf("iteration 3 above each other: %+v, want the second to end at %d", w, iterations[1].List[3].Begin)
	}
	p.picture("two-aligned")
	w := windows()
	p.must(p.Wheel(browser.Point{X: w[1].X + 300, Y: w[1].Y + 60}, 0, 800, 0)) // the lower one moves both
	p.must(p.Wait(fmt.Sprintf(`document.querySelector("canvas.timeline").dataset.to > %f`, w[0].To)))
	p.visit("#timeline?run=0&other=4&sync=phase")
	p.picture("two-phases")
	p.visit("#timeline?run=0&other=4&sync=1&color=path")
	if w := windows(); w[0].From != w[1].From || w[0].To != w[1].To {
		t.Errorf("on one time axis the runs show %+v", w)
	}
	p.visit("#scaling?run=8&other=9&figure=model")
	if got := p.text(`document.querySelector(".series-list thead").innerText + document.querySelector(".twin").innerText`); !strings.Contains(got, "before\tafter\tchange") || !strings.Contains(got, "In k6-x10: ") {
		t.Errorf("before and after in the scaling view: %q", got)
	}
	p.picture("scaling-two")
	p.must(p.ClickOn(`[data-value="boxes"]`))
	p.settle()
	p.picture("scaling-two-boxes")
	p.sound()
}
