package explore

import (
	"fmt"
	"strings"
	"testing"
)

// testSearch finds a function with the keyboard, steps through its calls, and finds ranks.
func testSearch(t *testing.T, s *site) {
	p := s.open(t, "#overview", 1280, 800)
	p.must(p.Key("/", 0))
	p.must(p.Wait(`document.activeElement?.name === "search"`))
	p.eval(`(() => { const i = document.activeElement; i.value = "fix"; i.dispatchEvent(new Event("input")); })()`, nil)
	p.must(p.Wait(`document.querySelector(".matches button")?.textContent.includes("fixup")`))
	p.picture("search")
	p.must(p.Key("Enter", 0))
	p.must(p.Wait(`location.hash.includes("mark=") && location.hash.includes("sel=call")`))
	p.settle()
	if got := p.text("location.hash"); !strings.HasPrefix(got, "#timeline") || !strings.Contains(got, "color=path") {
		t.Errorf("a function leads to %s", got)
	}
	p.picture("marked")
	places := map[string]bool{p.text("location.hash"): true}
	for range 3 {
		before := p.text("location.hash")
		p.must(p.Key("n", 0))
		p.must(p.Wait(fmt.Sprintf("location.hash !== %q", before)))
		p.settle()
		places[p.text("location.hash")] = true
	}
	if len(places) != 4 {
		t.Errorf("three steps lead to %d places", len(places))
	}
	if got := p.text(`document.getElementById("panel").textContent`); !strings.Contains(got, "fixup") {
		t.Errorf("the panel shows %q, want the call", got)
	}
	// An entry of the legend marks what it stands for; pressed again it does not.
	p.visit("#timeline?run=0&color=kind")
	p.eval(`document.querySelector(".legend-entry").click()`, nil)
	p.settle()
	if got := p.text(`document.querySelectorAll(".legend-entry[aria-pressed=true]").length + location.hash`); !strings.HasPrefix(got, "1#") || !strings.Contains(got, "mark=") {
		t.Errorf("after a click in the legend: %s", got)
	}
	p.sound()
}

// testLinks goes from the matrix, the map, causes and clusters to the timeline.
func testLinks(t *testing.T, s *site) {
	p := s.open(t, fmt.Sprintf("#matrix?run=%d", planeRun), 1280, 800)
	arrive := func(what string, want ...string) {
		t.Helper()
		p.must(p.Wait(`location.hash.startsWith("#timeline")`))
		p.settle()
		for _, w := range want {
			if got := p.text("location.hash"); !strings.Contains(got, w) {
				t.Errorf("%s leads to %s, want %s", what, got, w)
			}
		}
	}
	p.eval(`document.querySelector(".largest-cells button").click()`, nil)
	arrive("a cell of the matrix", "sender=", "receiver=")
	var m Messages
	sender := p.text(`new URLSearchParams(location.hash.split("?")[1]).get("sender")`)
	s.get(t, fmt.Sprintf("messages?run=%d&sender=%s&least=1", planeRun, sender), &m)
	for _, x := range m.Messages {
		if fmt.Sprint(x.From) != sender {
			t.Errorf("a message of rank %d among those of %s", x.From, sender)
		}
	}
	p.visit(fmt.Sprintf("#map?run=%d", planeRun))
	p.eval(`[...document.querySelectorAll("#main button.link")].find(b => b.textContent.includes("most")).click()`, nil)
	arrive("a rank of the map", "rows=", "ranks=", "stat=1")
	p.visit(fmt.Sprintf("#causes?run=%d&by=ranks", planeRun))
	p.eval(`document.querySelector(".causes tbody button").click()`, nil)
	arrive("a rank among the causes", "ranks=")
	p.visit(fmt.Sprintf("#overview?run=%d", wideRun))
	if got := p.text(`document.querySelector(".clusters").innerText`); !strings.Contains(got, "rank") {
		t.Errorf("clusters of a thousand ranks: %q", got)
	}
	p.picture("clusters")
	p.visit(fmt.Sprintf("#causes?run=%d&by=rank", wideRun))
	var all Waits
	s.get(t, fmt.Sprintf("waits?run=%d&limit=200", wideRun), &all)
	if got := p.text(`document.querySelector(".cut")?.textContent`); strings.Contains(got, "The 200 most expensive of") != (all.AllCauses > 200) {
		t.Errorf("of %d causes the page says %q", all.AllCauses, got)
	}
	p.visit("#tree?run=0&as=flame")
	if got := p.text(`[...document.querySelectorAll(".flame")].map(b => b.textContent).join()`); !strings.Contains(got, "fixup") {
		t.Errorf("flames %q", got)
	}
	p.picture("flame")
	p.sound()
}
