package explore

import (
	"fmt"
	"strings"
	"testing"
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
	p.must(p.Key("s", 0))
	settled()
	for _, want := range []string{"382.7 ms of 382.7 ms", "Late sender", "fixup", "from sending to receiving", "Iterations: 19"} {
		if got := text(); !strings.Contains(got, want) {
			t.Errorf("the statistics do not say %q: %q", want, got)
		}
	}
	p.picture("statistics")
	for _, view := range []string{"timeline", "causes", "tree", "map", "matrix", "latency", "overview"} {
		p.visit("#" + view + "?run=0&stat=1&from=100000000000&to=200000000000&ranks=0-1")
		settled()
		if got := text(); !strings.Contains(got, "2 ranks, 100 ms of 382.7 ms") {
			t.Errorf("%s: the statistics say %q", view, got)
		}
	}
	var a Selection
	s.get(t, "selection?run=0&from=100000000000&to=200000000000&ranks=0-1", &a)
	if got, want := text(), fmt.Sprintf("Messages: %d,", a.Messages); a.Total != 200_000_000_000 || !strings.Contains(got, want) {
		t.Errorf("total %d, statistics %q, want 200 ms and %q", a.Total, got, want)
	}
	// Other ranks, as somebody types them; the address keeps them, the timeline's zoom moves the range.
	p.eval(`(() => { const i = document.querySelector("input[name=stat-ranks]"); i.value = "3"; i.dispatchEvent(new Event("change")); })()`, nil)
	settled()
	if got := text(); !strings.Contains(got, "1 rank, 100 ms") || !strings.Contains(p.text("location.hash"), "ranks=3") {
		t.Errorf("with rank 3 at %s: %q", p.text("location.hash"), got)
	}
	p.visit("#timeline?run=0&stat=1")
	p.must(p.Key("+", 0))
	settled()
	if got := text(); strings.Contains(got, "382.7 ms of 382.7 ms") {
		t.Errorf("zoomed in, the statistics still say %q", got)
	}
	p.must(p.Resize(400, 800))
	settled()
	p.fits("statistics", 400)
	p.picture("statistics-400")
	p.must(p.Resize(1280, 800))
	p.visit(fmt.Sprintf("#timeline?run=%d&stat=1", wideRun))
	settled()
	if got := text(); !strings.Contains(got, "1,000 ranks") {
		t.Errorf("of a thousand ranks: %q", got)
	}
	p.picture("statistics-wide")
	p.sound()
}
