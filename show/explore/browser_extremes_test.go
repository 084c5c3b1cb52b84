package explore

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"slackline/model/machine"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// extremes are runs in which hardly anything happens, and one with names that no page has room for.
func extremes(tb testing.TB) []Source {
	tb.Helper()
	chic, err := machine.Named("chic")
	if err != nil {
		tb.Fatal(err)
	}
	var list []Source
	add := func(name string, ranks int, fill func(b *timeline.Builder)) {
		list = append(list, Source{Name: name, Open: func(context.Context) (*Opened, error) {
			b := timeline.NewBuilder(ranks)
			fill(b)
			return &Opened{Timeline: b.Finish(1), Machines: []*machine.Machine{chic}, OwnMachine: "chic"}, nil
		}})
	}
	add("no event", 1, func(b *timeline.Builder) { b.Location(0, 0, "", "") })
	add("one event", 1, func(b *timeline.Builder) { b.Location(0, 0, "", "").Event(5) })
	add("no time", 2, func(b *timeline.Builder) {
		main := b.Region(timeline.RegionNamed("main"))
		for rank := range 2 {
			l := b.Location(rank, 0, "", "")
			l.Enter(7, main)
			l.Leave(7)
		}
	})
	add("one rank", 1, func(b *timeline.Builder) {
		main, barrier := b.Region(timeline.RegionNamed("main")), b.Region(timeline.RegionNamed("MPI_Barrier"))
		l := b.Location(0, 0, "", "")
		l.Enter(0, main)
		l.Enter(10*unit.Microsecond, barrier)
		l.Leave(30 * unit.Microsecond)
		l.Leave(40 * unit.Microsecond)
	})
	add("مسار طويل "+strings.Repeat("name/", 300), 2, longNames)
	return list
}

// longNames is a run in which rank 1 waits for rank 0, in functions with very long names, some of which are written from
// right to left or have nothing to be seen.
func longNames(b *timeline.Builder) {
	long := strings.Repeat("std::map<std::string, ", 200) + "int>"
	oddNames{comm: long, main: long, work: "حساب_المصفوفة\u202e gpj.exe", idle: " \u200b\u0007 ", location: long, host: long}.run(b)
}

// testExtremes opens all views of runs in which hardly anything happens: nothing fails, nothing sticks out.
func testExtremes(t *testing.T, s *site) {
	sources := extremes(t)
	other := s.beside(t, sources)
	p := other.open(t, "#overview", 1280, 800)
	last := len(sources) - 1
	for run := range sources {
		for _, view := range []string{"overview", "timeline", "causes", "tree", "map", "matrix", "latency"} {
			p.visit(fmt.Sprintf("#%s?run=%d", view, run))
			p.fits(fmt.Sprintf("%s of %.10s", view, sources[run].Name), 1280)
			if run == last {
				p.must(p.Resize(400, 800))
				p.settle()
				p.fits(view+" of long names", 400)
				p.picture(fmt.Sprintf("extreme-%d-%s-400", run, view))
				p.must(p.Resize(1280, 800))
			}
			p.picture(fmt.Sprintf("extreme-%d-%s", run, view))
			for _, problem := range p.Problems() {
				if !strings.Contains(problem, "tolerance?") { // what cannot be replayed has no tolerance, and the page says why
					t.Errorf("%s of %.10s: %s", view, sources[run].Name, problem)
				}
			}
			if text := p.text(`document.getElementById("main").textContent`); strings.Contains(text, "NaN") || strings.Contains(text, "Infinity") || strings.Contains(text, "undefined") {
				t.Errorf("%s of %.10s says %.300q", view, sources[run].Name, text)
			}
		}
	}
	p.visit(fmt.Sprintf("#timeline?run=%d&sel=wait%%3A0", last))
	p.must(p.Wait(`document.querySelector("#panel .root")`))
	p.fits("panel of long names", 1280)
	if got := p.text(`document.querySelector("#panel .root").textContent`); !strings.HasPrefix(got, "…/حساب") {
		t.Errorf("root cause in the panel = %q, want the end of the path", got)
	}
	p.picture("extreme-panel")
	for _, key := range []string{"+", "-", "ArrowLeft", "Home", "]", "c"} {
		p.visit("#timeline?run=0")
		p.must(p.Key(key, 0))
	}
	p.settle()
	p.sound()
}
