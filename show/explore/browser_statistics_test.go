package explore

import (
	"fmt"
	"strings"
	"testing"

	"slackline/internal/phrase"
)

// testStatistics opens the statistics by keyboard in every view, changes range and ranks, and finds both again under the address.
func testStatistics(t *testing.T, s *site) {
	p := s.open(t, "#overview", 1280, 800)
	settled := func() {
		t.Helper()
		p.must(p.Wait(`document.getElementById("statistics").dataset.settled === "true"`))
		p.settle()
	}
	text := func() string { return p.text(`document.getElementById("statistics").innerText`) }
	says := func(what string, wants ...string) {
		t.Helper()
		got := text()
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s: the statistics do not say %q: %q", what, want, got)
			}
		}
	}
	p.must(p.Key("s", 0))
	settled()
	says("the planted run", "382.7 ms of 382.7 ms", "Late sender", "fixup", "from sending to receiving", "Iterations: 19")
	p.picture("statistics")
	for _, run := range []int{lateRun, wideRun} {
		ranks := s.server.inputs[run].view.Load().tl.Ranks
		length := int64(s.server.inputs[run].view.Load().length())
		chosen := fmt.Sprintf("run=%d&from=%d&to=%d&ranks=%d-%d", run, length/4, length/2, ranks-2, ranks-1)
		var a Selection
		s.get(t, "selection?"+chosen, &a)
		if a.Total != 2*(length/2-length/4) || a.Messages == 0 {
			t.Errorf("run %d: total %d, %d messages", run, a.Total, a.Messages)
		}
		for _, view := range []string{"timeline", "causes", "tree", "map", "matrix", "latency", "overview"} {
			p.visit("#" + view + "?stat=1&" + chosen)
			settled()
			says(fmt.Sprintf("%s of run %d", view, run), "2 ranks, ", a.Parts[0].Title, fmt.Sprintf("Messages: %s,", phrase.Grouped(a.Messages)))
		}
		// Other ranks, as a user types them; the address keeps them, the timeline's zoom moves the range.
		p.eval(`document.querySelector("input[name=stat-ranks]").focus(), document.activeElement.select()`, nil)
		p.must(p.Key("3", 0))
		p.must(p.Key("Enter", 0))
		p.must(p.Wait(`location.hash.includes("ranks=3&") || location.hash.endsWith("ranks=3")`))
		settled()
		says("rank 3", "1 rank, ")
		p.must(p.Key("Escape", 0)) // leaves the field
		p.visit(fmt.Sprintf("#timeline?run=%d&stat=1", run))
		settled()
		says("all ranks", phrase.Plural(ranks, "rank")+", ")
		before := text()
		p.must(p.Key("+", 0))
		p.must(p.Wait(`location.hash.includes("from=")`))
		settled()
		if got := text(); got == before {
			t.Errorf("zoomed in, the statistics still say %q", got)
		}
		p.must(p.Resize(400, 800))
		settled()
		p.fits("statistics", 400)
		p.picture(fmt.Sprintf("statistics-400-%d", run))
		p.must(p.Resize(1280, 800))
	}
	// Colors follow the theme.
	light := p.text(`document.querySelector("#statistics .swatch").style.backgroundColor`)
	p.must(p.Media(map[string]string{"prefers-color-scheme": "dark"}))
	p.must(p.Wait(fmt.Sprintf(`document.querySelector("#statistics .swatch").style.backgroundColor !== %q`, light)))
	p.sound()
}
