package explore

import (
	"fmt"
	"strings"
	"testing"
)

// testSearch finds a function with the keyboard, steps through its calls, and finds a rank, with few and with many ranks.
func testSearch(t *testing.T, s *site) {
	for _, c := range []struct {
		run            int
		text, function string
		rank           string
	}{{lateRun, "fix", "fixup", "3"}, {wideRun, "waita", "MPI_Waitall", "1017"}} {
		p := s.open(t, fmt.Sprintf("#overview?run=%d", c.run), 1280, 800)
		search := func(text, found string) {
			t.Helper()
			p.must(p.Key("/", 0))
			p.must(p.Wait(`document.activeElement?.name === "search"`))
			p.must(p.Key(text, 0))
			p.must(p.Wait(fmt.Sprintf(`document.querySelector(".matches button")?.textContent.includes(%q)`, found)))
			p.picture("search-" + text)
			p.must(p.Key("Enter", 0))
		}
		search(c.text, c.function)
		p.must(p.Wait(`location.hash.includes("mark=") && location.hash.includes("sel=call")`))
		p.settle()
		if got := p.text("location.hash"); !strings.HasPrefix(got, "#timeline") || !strings.Contains(got, "color=path") {
			t.Errorf("a function leads to %s", got)
		}
		p.picture("marked-" + c.function)
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
		if got := p.text(`document.getElementById("panel").textContent`); !strings.Contains(got, c.function) {
			t.Errorf("the panel shows %q, want the call", got)
		}
		search("rank "+c.rank, "rank "+c.rank)
		p.must(p.Wait(fmt.Sprintf(`new URLSearchParams(location.hash.split("?")[1]).get("ranks") === %q`, c.rank)))
		p.settle()
		if w, rank := p.window(), c.rank; fmt.Sprint(w.First) > rank || w.Last-w.First > 10 {
			t.Errorf("rank %s: the timeline shows rows %d to %d", rank, w.First, w.Last)
		}
		p.sound()
	}
	p := s.open(t, "#timeline?run=0&color=kind", 1280, 800)
	// An entry of the legend marks what it stands for; pressed again it does not.
	p.eval(`document.querySelector(".legend-entry").click()`, nil)
	p.settle()
	if got := p.text(`document.querySelectorAll(".legend-entry[aria-pressed=true]").length + location.hash`); !strings.HasPrefix(got, "1#") || !strings.Contains(got, "mark=") {
		t.Errorf("after a click in the legend: %s", got)
	}
	p.sound()
}

// testLinks goes from the matrix, the map, causes and clusters to the timeline, with few and with many ranks.
func testLinks(t *testing.T, s *site) {
	p := s.open(t, "#overview", 1280, 800)
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
	// Each is pressed with the keyboard.
	press := func(element string) {
		t.Helper()
		p.eval(element+".focus()", nil)
		p.must(p.Key("Enter", 0))
	}
	for _, size := range sized {
		run := size.run
		p.visit(fmt.Sprintf("#matrix?run=%d", run))
		press(`document.querySelector(".largest-cells button")`)
		arrive("a cell of the matrix", "sender=", "receiver=")
		var m Messages
		sender := p.text(`new URLSearchParams(location.hash.split("?")[1]).get("sender")`)
		s.get(t, fmt.Sprintf("messages?run=%d&sender=%s&least=1", run, sender), &m)
		first, last := 0, 0
		if n, _ := fmt.Sscanf(sender, "%d-%d", &first, &last); n < 2 {
			last = first
		}
		for _, x := range m.Messages {
			if x.From < first || x.From > last {
				t.Errorf("a message of rank %d among those of %s", x.From, sender)
			}
		}
		p.visit(fmt.Sprintf("#map?run=%d", run))
		press(`[...document.querySelectorAll("#main button.link")].find(b => b.textContent.includes("most"))`)
		arrive("a rank of the map", "rows=", "ranks=", "stat=1")
		p.visit(fmt.Sprintf("#causes?run=%d&by=ranks", run))
		press(`document.querySelector(".causes tbody button")`)
		arrive("a rank among the causes", "ranks=")
		p.visit(fmt.Sprintf("#overview?run=%d", run))
		press(`document.querySelector(".clusters button")`)
		arrive("the representative of a cluster", "ranks=")
		p.visit(fmt.Sprintf("#overview?run=%d", run))
		var clusters Clusters
		s.get(t, fmt.Sprintf("clusters?run=%d", run), &clusters)
		sum := 0
		for _, c := range clusters.Clusters {
			sum += c.Count
		}
		if rows := p.text(`document.querySelectorAll(".clusters tbody tr").length`); sum != size.ranks || rows != fmt.Sprint(len(clusters.Clusters)) {
			t.Errorf("%s of %d clusters with %d of %d ranks", rows, len(clusters.Clusters), sum, size.ranks)
		}
		p.picture("clusters-" + size.name)
		p.visit(fmt.Sprintf("#causes?run=%d&by=rank", run))
		var all Waits
		s.get(t, fmt.Sprintf("waits?run=%d&limit=200", run), &all)
		if got := p.text(`document.querySelector(".cut")?.textContent`); strings.Contains(got, "The 200 most expensive of") != (all.AllCauses > 200) {
			t.Errorf("of %d causes the page says %q", all.AllCauses, got)
		}
		p.visit(fmt.Sprintf("#tree?run=%d&as=flame", run))
		if got := p.text(`[...document.querySelectorAll(".flame")].map(b => b.textContent).join()`); !strings.Contains(got, "MPI_Waitall") {
			t.Errorf("flames of %d ranks: %q", size.ranks, got)
		}
	}
	p.visit("#tree?run=0&as=flame")
	if got := p.text(`[...document.querySelectorAll(".flame")].map(b => b.textContent).join()`); !strings.Contains(got, "fixup") {
		t.Errorf("flames %q", got)
	}
	p.picture("flame")
	p.sound()
}
