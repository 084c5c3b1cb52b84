package explore

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"slackline/internal/browser"
)

// TestPages looks at the pages in a real browser. The parts share a server and a browser.
func TestPages(t *testing.T) {
	s := openSite(t)
	for _, part := range []struct {
		name string
		test func(*testing.T, *site)
	}{
		{"views", testViews},
		{"zoom", testZoom},
		{"pinch", testPinch},
		{"copy", testCopy},
		{"waits", testWait},
		{"causes", testCauses},
		{"addresses", testAddresses},
		{"names", testNames},
		{"dark", testDark},
		{"token", testToken},
		{"keys", testKeys},
		{"follow", testFollow},
		{"late", testLate},
		{"focus", testFocus},
		{"crowd", testCrowd},
		{"figures", testFigures},
		{"extremes", testExtremes},
		{"two runs", testTwoRuns},
		{"latency", testLatency},
		{"tree", testTree},
		{"solid", testSolid},
		{"matrix", testMatrix},
		{"replaced", testReplaced},
		{"whole", testWhole},
		{"statistics", testStatistics},
		{"search", testSearch},
		{"links", testLinks},
		{"difference", testDifference},
		{"stacks", testStacks},
		{"take away", testTakeAway},
		{"notes", testNotes},
		{"devices", testDevices},
		{"advice", testAdvice},
		{"progress", testProgress},
		{"not read again", testNotReadAgain},
		{"forwarded", testForwarded},
		{"gone", testGone},
		{"readable", testReadable},
		{"sizes", testSizes},
		{"print", testPrint},
		{"tabs", testTabs},
		{"screenshots", testScreenshots},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, s) })
	}
}

// get asks the server past the browser.
func (s *site) get(tb testing.TB, question string, answer any) {
	tb.Helper()
	request, err := http.NewRequest(http.MethodGet, s.address+"api/"+question, nil)
	if err != nil {
		tb.Fatal(err)
	}
	request.Header.Set(TokenHeader, s.server.Token())
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		tb.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		tb.Fatalf("%s: status %s", question, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		tb.Fatalf("%s: %v", question, err)
	}
}

// testViews opens every view of every kind of run, wide and narrow: nothing goes wrong, nothing sticks out.
func testViews(t *testing.T, s *site) {
	p := s.open(t, "#overview", 1280, 800)
	for _, v := range []struct{ name, place, want string }{
		{"overview", "#overview?run=0", "What the time consists of"},
		{"timeline", "#timeline?run=0", "The longest waits"},
		{"messages", "#timeline?run=0&from=261000000000&to=311000000000&critical=1", "Late sender"},
		{"wide", "#timeline?run=4", "1,024 rows"},
		{"causes", "#causes?run=0", "main/step/fixup"},
		{"tree", "#tree?run=0", "MPI_Sendrecv"},
		{"solid", "#map?run=2", "5 × 4 × 3"},
		{"plane", "#map?run=3", "8 × 8"},
		{"strip", "#map?run=0", "has no process grid"},
		{"matrix", "#matrix?run=3", "64 ranks"},
		{"latency", "#latency?run=0", "latencies on the critical path"},
		{"scaling", "#scaling?run=5", "main->f000"},
	} {
		p.must(p.Resize(1280, 800))
		p.visit(v.place)
		if text := p.text(`document.getElementById("main").textContent`); !strings.Contains(text, v.want) {
			t.Errorf("%s does not say %q: %.300q", v.name, v.want, text)
		}
		p.fits(v.name, 1280)
		p.whole(v.name)
		p.picture(v.name)
		p.must(p.Resize(400, 800))
		p.settle()
		p.fits(v.name, 400)
		p.whole(v.name)
		p.picture(v.name + "-400")
		p.sound()
	}
}

// fits checks that a page need not be scrolled sideways.
func (p *page) fits(name string, width int) {
	p.tb.Helper()
	var wide float64
	p.eval(`Math.max(document.documentElement.scrollWidth, document.body.scrollWidth, document.getElementById("main").scrollWidth)`, &wide)
	if int(wide) > width {
		p.tb.Errorf("%s is %v pixels wide in a window of %d: %s", name, wide, width, p.text(fmt.Sprintf(`[...document.querySelectorAll("#main, #main *, #panel, #top")].filter(e =>
			e.getBoundingClientRect().right > %d).map(e => e.tagName + "." + e.className).slice(0, 8).join()`, width)))
	}
}

// whole checks that no short name is cut off.
func (p *page) whole(name string) {
	p.tb.Helper()
	if cut := p.text(`[...document.querySelectorAll(".long")].filter(e => e.textContent.length < 60 && e.scrollHeight > e.clientHeight + 2).map(e =>
		e.tagName + "." + e.className + " " + e.textContent + " " + e.clientHeight + " of " + e.scrollHeight).join()`); cut != "" {
		p.tb.Errorf("%s cuts names off: %s", name, cut)
	}
}

// visit goes to a place of the page that is open.
func (p *page) visit(place string) {
	p.tb.Helper()
	p.eval(fmt.Sprintf("void (location.hash = %q)", place), nil)
	p.settle()
}

// testWait clicks on a wait that was planted: it leads to the planted function.
func testWait(t *testing.T, s *site) {
	var states States
	s.get(t, "states?run=0&largest=100", &states)
	var late *State
	for i := range states.States {
		if states.States[i].Metric == "late_sender" {
			late = &states.States[i]
			break
		}
	}
	if late == nil {
		t.Fatal("the run has no late sender")
	}
	p := s.open(t, fmt.Sprintf("#timeline?run=0&arrows=0&from=%d&to=%d", late.At-late.Amount, late.At+2*late.Amount), 1280, 800)
	w := p.window()
	p.must(p.Click(w.at(late.At+late.Amount/2, late.Location)))
	p.must(p.Wait(`document.querySelector("#panel .root")`))
	if got := p.text(`document.querySelector("#panel .root").textContent`); got != "main/step/fixup" {
		t.Errorf("root cause in the panel = %q, want main/step/fixup", got)
	}
	if got := p.text(`document.querySelector("#panel .verdict").textContent`); !strings.Contains(got, "rank 2") {
		t.Errorf("verdict = %q, want rank 2", got)
	}
	p.settle()
	p.picture("panel")

	// The last step of the chain is the planted work; the jump shows it.
	steps := p.text(`[...document.querySelectorAll("#panel .step")].at(-1).textContent`)
	if !strings.Contains(steps, "rank 2") || !strings.Contains(steps, "fixup") {
		t.Errorf("last step of the chain = %q, want rank 2 in fixup", steps)
	}
	p.eval(`[...document.querySelectorAll("#panel .jump")].at(-1).click()`, nil)
	p.settle()
	var answer WaitAnswer
	s.get(t, fmt.Sprintf("wait?run=0&state=%d", late.State), &answer)
	last := answer.Chain[len(answer.Chain)-1]
	w = p.window()
	if float64(last.From) < w.From || float64(last.To) > w.To || last.Location < w.First || last.Location >= w.Last {
		t.Errorf("after the jump the window is %+v, which does not show %+v", w, last)
	}
	p.must(p.Wait(`document.querySelector("#panel .step[aria-current]")?.textContent.includes("fixup")`))
	p.picture("jump")
	p.must(p.Resize(400, 800))
	p.settle()
	p.fits("panel", 400)
	p.picture("panel-400")
	p.sound()
}

// testCauses follows the first cause of the table into the timeline.
func testCauses(t *testing.T, s *site) {
	p := s.open(t, "#causes?run=0", 1280, 800)
	p.must(p.ClickOn("table.causes .cause"))
	p.must(p.Wait(`location.hash.startsWith("#timeline") && document.querySelector("#panel .root")`))
	if got := p.text(`document.querySelector("#panel .root").textContent`); got != "main/step/fixup" {
		t.Errorf("the first cause leads to %q, want main/step/fixup", got)
	}
	p.settle()
	p.picture("cause")
	p.sound()
}

// testNames shows names that are markup, in all views, and checks that they stay names.
func testNames(t *testing.T, s *site) {
	p := s.open(t, "#timeline?run=1", 1280, 800)
	var states States
	s.get(t, "states?run=1&largest=1", &states)
	if len(states.States) != 1 {
		t.Fatalf("%d waits in the run with odd names, want 1", len(states.States))
	}
	w := p.window()
	p.must(p.Move(w.at(5e9, 0)))
	p.must(p.Wait(`document.querySelector(".tip")?.textContent.includes("<script>")`))
	p.picture("odd-tip")
	for _, place := range []string{
		"#timeline?run=1&sel=wait%3A" + fmt.Sprint(states.States[0].State), "#timeline?run=1&color=path&sel=call%3A0%3A5000000000",
		"#overview?run=1", "#causes?run=1", "#tree?run=1", "#map?run=1", "#matrix?run=1",
	} {
		p.visit(place)
		if place == "#matrix?run=1" {
			continue // names of functions do not occur there
		}
		text := p.text("document.body.textContent")
		for _, name := range evilNames[:1] {
			if !strings.Contains(text, name) {
				t.Errorf("%s does not show %s", place, name)
			}
		}
		p.picture("odd-" + strings.Trim(place[1:9], "?="))
	}
	if got := p.text(`document.getElementById("runs").querySelector("option:checked").textContent`); !strings.Contains(got, "<b onclick") {
		t.Errorf("name of the run = %q", got)
	}
	if got := p.text("window.ran"); got != "undefined" {
		t.Errorf("the name number %s was run", got)
	}
	if got := p.text(`document.querySelectorAll("#main img[src=x], #panel img, #main script, #panel script").length`); got != "0" {
		t.Errorf("names became %s elements", got)
	}
	p.sound()
}

// testLatency moves the latency and compares with what the server computes there.
func testLatency(t *testing.T, s *site) {
	p := s.open(t, "#latency?run=0", 1280, 800)
	chart, err := p.Center("svg.curve")
	p.must(err)
	p.must(p.Drag(chart, browser.Point{X: chart.X + 100, Y: chart.Y}, 0))
	p.must(p.Wait(`location.hash.includes("latency=")`))
	var latency, shown float64
	p.eval(`Number(new URLSearchParams(location.hash.split("?")[1]).get("latency"))`, &latency)
	p.eval(`parseFloat(document.querySelectorAll(".figure-card dd")[1].textContent)`, &shown)
	var answer Tolerance
	s.get(t, fmt.Sprintf("tolerance?run=0&latency=%.0f", latency), &answer)
	if answer.At == nil || !near(shown, answer.At.T/1e9, 0.01) {
		t.Errorf("run time at L = %v ps is shown as %v ms, the server says %+v", latency, shown, answer.At)
	}
	p.eval(`(() => { const s = document.querySelector("input.latency"); s.value = 0; s.dispatchEvent(new Event("input")); })()`, nil)
	p.must(p.Wait(`new URLSearchParams(location.hash.split("?")[1]).get("latency") === "0"`))
	p.picture("latency-moved")
	p.sound()
}

// near reports whether two numbers are the same as far as they are printed.
func near(a, b, share float64) bool { return a-b <= share*b && b-a <= share*b }

// testTree walks through the call tree with the keyboard.
func testTree(t *testing.T, s *site) {
	p := s.open(t, "#tree?run=0&metric=waiting", 1280, 800)
	var tree Tree
	s.get(t, "tree?run=0", &tree)
	p.must(p.ClickOn(`tr[aria-level="1"]`))
	p.must(p.Key("ArrowDown", 0))
	p.must(p.Key("ArrowDown", 0))
	p.must(p.Wait(`document.querySelector("tr[aria-selected=true]")?.getAttribute("aria-level") === "3"`))
	var path int
	p.eval(`Number(document.querySelector("tr[aria-selected=true]").dataset.path)`, &path)
	p.settle()
	var d Distribution
	s.get(t, fmt.Sprintf("distribution?run=0&path=%d&metric=waiting", path), &d)
	want := fmt.Sprintf("rank %d", d.MaxRank)
	if got := p.text(`document.querySelector(".side .facts").textContent`); !strings.Contains(got, want) {
		t.Errorf("distribution of path %d = %q, want %s as the greatest", path, got, want)
	}
	p.must(p.Key("ArrowLeft", 0))
	p.must(p.Wait(`document.querySelector("tr[aria-selected=true]")?.getAttribute("aria-level") === "2" || document.querySelector("tr[aria-expanded=false]")`))
	p.sound()
}

// testSolid turns and slices a map in space.
func testSolid(t *testing.T, s *site) {
	p := s.open(t, "#map?run=2", 1280, 800)
	before := p.text(`document.querySelector(".grid-map").toDataURL()`)
	at, err := p.Center(".grid-map")
	p.must(err)
	p.must(p.Drag(at, browser.Point{X: at.X + 60, Y: at.Y + 20}, 0))
	p.must(p.Wait(`location.hash.includes("turn=65%3A35")`))
	turned := p.text(`document.querySelector(".grid-map").toDataURL()`)
	p.must(p.ClickOn(`.segmented button[data-value="z"]`))
	p.must(p.Wait(`location.hash.includes("slice=z%3A0")`))
	p.settle()
	sliced := p.text(`document.querySelector(".grid-map").toDataURL()`)
	if before == turned || turned == sliced {
		t.Error("the map does not change when it is turned or sliced")
	}
	p.picture("slice")
	p.sound()
}

// testTabs checks that all tabs and buttons of the bar can be reached, whatever the width of the window and the view.
func testTabs(t *testing.T, s *site) {
	p := s.open(t, "#overview?run=0", 1280, 760)
	for _, width := range []int{1280, 1024, 640, 400} {
		p.must(p.Resize(width, 760))
		for _, view := range []string{"latency", "overview", "timeline"} {
			p.visit("#" + view + "?run=0")
			if cut := p.text(`[...document.querySelectorAll("#tabs a, #top button, #top select:not(.absent)")].filter(e => {
				const r = e.getBoundingClientRect();
				return !e.contains(document.elementFromPoint(r.right - 3, r.top + r.height / 2));
			}).map(e => e.textContent.trim()).join()`); cut != "" {
				t.Errorf("width %d, %s: out of reach: %s", width, view, cut)
			}
		}
	}
	p.sound()
}

// testScreenshots goes through what the documents show. The pictures are written only if they are asked for.
func testScreenshots(t *testing.T, s *site) {
	var states States
	s.get(t, "states?run=0&largest=1", &states)
	wait := states.States[0]
	p := s.open(t, fmt.Sprintf("#timeline?run=0&color=cause&critical=1&sel=wait%%3A%d&from=%d&to=%d",
		wait.State, wait.At-2*wait.Amount/3, wait.At+5*wait.Amount/3), 1280, 760)
	p.must(p.Wait(`document.querySelector("#panel .root")?.textContent === "main/step/fixup"`))
	if legend := p.text(`document.querySelector("ul.legend").innerText`); !strings.Contains(legend, "critical path") || !strings.Contains(legend, "message") {
		t.Errorf("the legend does not explain the lines: %q", legend)
	}
	p.screenshot("explore-timeline")
	for _, v := range []struct{ name, place string }{
		{"explore-overview", "#overview?run=0"},
		{"explore-map", "#map?run=2"},
		{"explore-latency", "#latency?run=0&latency=120000000"},
	} {
		p.visit(v.place)
		p.screenshot(v.name)
	}
	p.must(p.Media(map[string]string{"prefers-color-scheme": "dark"}))
	p.visit("#tree?run=3&metric=waiting")
	p.screenshot("explore-tree-dark")
	p.sound()
}

// testMatrix points at cells of the communication matrix and compares with the data.
func testMatrix(t *testing.T, s *site) {
	p := s.open(t, "#matrix?run=3&scale=log", 1280, 1000)
	var m Matrix
	s.get(t, fmt.Sprintf("matrix?run=3&size=%d", MaxMatrix), &m)
	var at struct{ X, Y, Width float64 }
	p.eval(`(() => { const r = document.querySelector("canvas.matrix").getBoundingClientRect(); return {X: r.x, Y: r.y, Width: r.width}; })()`, &at)
	const left, top, right = 52, 40, 8 // as in matrix.js
	cell := (at.Width - left - right) / float64(m.Size)
	for i := 0; i < len(m.From); i += len(m.From)/3 + 1 {
		p.must(p.Move(browser.Point{X: at.X + left + (float64(m.To[i])+0.5)*cell, Y: at.Y + top + (float64(m.From[i])+0.5)*cell}))
		want := fmt.Sprintf("rank %d to rank %d%d message", m.From[i], m.To[i], m.Count[i])
		p.must(p.Wait(fmt.Sprintf(`document.querySelector(".tip")?.textContent.startsWith(%q)`, want)))
	}
	p.sound()
}
