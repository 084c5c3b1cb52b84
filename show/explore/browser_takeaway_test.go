package explore

import (
	"encoding/base64"
	"fmt"
	"image/png"
	"os"
	"strings"
	"testing"

	"slackline/internal/browser"
)

// testTakeAway takes every view away as SVG and PNG, and prints it.
func testTakeAway(t *testing.T, s *site) {
	p := s.open(t, "#overview", 1280, 800)
	p.eval(`(() => { // what is saved is kept
		window.blobs = new Map();
		const create = URL.createObjectURL.bind(URL);
		URL.createObjectURL = b => { const href = create(b); window.blobs.set(href, b); return href; };
		HTMLAnchorElement.prototype.click = function () { window.saved = {blob: window.blobs.get(this.href), file: this.download}; };
		window.print = () => { window.printed = true; };
	})()`, nil)
	take := func(kind string) (file, data string) {
		t.Helper()
		p.eval(`window.saved = null`, nil)
		p.must(p.Key("x", 0))
		p.must(p.ClickOn(fmt.Sprintf(`#take [data-value=%q]`, kind)))
		p.must(p.Wait(`window.saved !== null`))
		p.eval(`window.saved.blob.arrayBuffer().then(b => { let s = ""; for (const x of new Uint8Array(b)) s += String.fromCharCode(x); return btoa(s); })`, &data)
		raw, err := base64.StdEncoding.DecodeString(data)
		p.must(err)
		file = p.text("window.saved.file")
		if dir := os.Getenv(picturesVariable); dir != "" {
			p.must(browser.Save(picturesVariable, "taken-"+file, raw))
		}
		return file, string(raw)
	}
	for _, v := range []struct{ place, file, want string }{
		{"#overview?run=0", "late.slt-overview.svg", "What the time consists of"},
		{"#timeline?run=0&stack=1", "late.slt-timeline.svg", "fixup"},
		{"#causes?run=0", "late.slt-causes.svg", "Root causes of waiting"},
		{"#tree?run=0&as=flame", "late.slt-tree.svg", "fixup"},
		{"#map?run=2", "halo3d-map.svg", "<path"},
		{"#matrix?run=3", "halo2d-matrix.svg", "to rank"},
		{"#latency?run=0", "late.slt-latency.svg", "<polyline"},
		{"#scaling?run=5", "measurements.json-scaling.svg", "<image"},
		{"#overview?run=4", "wide-overview.svg", "Ranks that behave alike"},
		{"#timeline?run=4&ranks=1000-1020&stack=1010", "wide-timeline.svg", "rank 1010"},
		{"#causes?run=4&by=rank", "wide-causes.svg", "The 200 most expensive of"},
		{"#tree?run=4&as=flame", "wide-tree.svg", "MPI_Waitall"},
		{"#map?run=4", "wide-map.svg", "Map of the ranks"},
		{"#matrix?run=4", "wide-matrix.svg", "to rank"},
		{"#overview?run=1", "b-onclick-window.ran-4-odd-b-overview.svg", "&lt;b onclick"},
	} {
		p.visit(v.place)
		file, svg := take("svg")
		if file != v.file || !strings.Contains(svg, v.want) || strings.Contains(svg, `="NaN`) {
			t.Errorf("%s becomes %s of %d bytes without %q, or with NaN", v.place, file, len(svg), v.want)
		}
		var sound string
		p.eval(`window.saved.blob.text().then(s => new DOMParser().parseFromString(s, "image/svg+xml").querySelector("parsererror")?.textContent ?? "fine")`, &sound)
		if sound != "fine" {
			t.Errorf("%s is not well formed: %s", v.place, sound)
		}
	}
	p.visit("#timeline?run=4&stat=1")
	file, data := take("png")
	if c, err := png.DecodeConfig(strings.NewReader(data)); err != nil || c.Width != 2560 || file != "wide-timeline.png" {
		t.Errorf("%s is %+v (%v), want 2560 pixels wide", file, c, err)
	}
	p.must(p.Key("x", 0))
	p.must(p.ClickOn(`#take [data-value=print]`))
	p.must(p.Wait(`window.printed`))
	p.sound()
}

// testNotes writes notes by keyboard, goes to one, and deletes it; the address keeps them through all views.
func testNotes(t *testing.T, s *site) {
	p := s.open(t, "#timeline?run=0&from=100000000000&to=200000000000", 1280, 800)
	p.must(p.Key("b", 0))
	p.must(p.Wait(`document.activeElement?.name === "note"`))
	for _, letter := range `slow <b> "here"` {
		p.must(p.Key(string(letter), 0))
	}
	p.must(p.Key("Enter", 0))
	p.must(p.Wait(`document.querySelectorAll(".notes li").length === 1`))
	p.picture("notes")
	p.must(p.Key("Escape", 0))
	p.settle()
	p.picture("notes-flag")
	p.must(p.Key("3", 0)) // another view
	p.must(p.Wait(`location.hash.startsWith("#causes") && location.hash.includes("notes=")`))
	p.settle()
	p.must(p.Key("b", 0))
	if got := p.text(`document.querySelector(".notes button").textContent`); got != `slow <b> "here"` {
		t.Errorf("the note says %q", got)
	}
	p.must(p.ClickOn(".notes button"))
	p.must(p.Wait(`location.hash.startsWith("#timeline") && location.hash.includes("from=100000000000") && location.hash.includes("notes=")`))
	p.must(p.Key("b", 0))
	p.must(p.ClickOn(".notes .icon"))
	p.must(p.Wait(`!location.hash.includes("notes=") && document.querySelectorAll(".notes li").length === 0`))
	p.sound()
}
