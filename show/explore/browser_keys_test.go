package explore

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// testFollow goes from a planted wait to its cause with keys alone, and with the buttons of the panel.
func testFollow(t *testing.T, s *site) {
	var states States
	s.get(t, "states?run=0&largest=1", &states)
	var answer WaitAnswer
	s.get(t, fmt.Sprintf("wait?run=0&state=%d", states.States[0].State), &answer)
	last := len(answer.Chain) - 1
	if last < 1 || answer.Chain[last].Rank != 2 {
		t.Fatalf("the chain of the longest wait is %+v, want one that leads to rank 2", answer.Chain)
	}
	p := s.open(t, "#timeline?run=0", 1280, 800)
	p.must(p.Key(".", 0))
	p.must(p.Wait(`document.getElementById("toast").textContent.includes("Select a wait first")`))
	p.must(p.Key("]", 0))
	p.must(p.Wait(`document.querySelector("#panel .root")`))
	at := func(n int) string {
		return fmt.Sprintf(`location.hash.includes("at=%d") && [...document.querySelectorAll("#panel .step")][%d]?.getAttribute("aria-current") === "step"`, n, n)
	}
	for n := 1; n <= last; n++ {
		p.must(p.Key(".", 0))
		p.must(p.Wait(at(n)))
	}
	p.settle()
	w, there := p.window(), answer.Chain[last]
	if float64(there.From) < w.From || float64(there.To) > w.To || there.Location < w.First || there.Location >= w.Last {
		t.Errorf("at the end of the chain the window is %+v, which does not show %+v", w, there)
	}
	p.must(p.Key(".", 0))
	p.must(p.Wait(`document.getElementById("toast").textContent.includes("ends")`))
	p.must(p.Key(",", 0))
	p.must(p.Wait(at(last - 1)))

	// A button that was pressed keeps the focus, though the panel is filled anew.
	p.eval(fmt.Sprintf(`[...document.querySelectorAll("#panel .jump")][%d].focus()`, last), nil)
	p.must(p.Key("Enter", 0))
	p.must(p.Wait(at(last)))
	p.must(p.Wait(fmt.Sprintf(`document.activeElement === [...document.querySelectorAll("#panel .jump")][%d]`, last)))
	p.sound()
}

// testLate leaves the timeline before the answer about a wait comes: it does not open the panel of another view.
func testLate(t *testing.T, s *site) {
	p := s.open(t, "#timeline?run=0", 1280, 800)
	p.eval(`(() => {
		const ask = window.fetch;
		window.fetch = async (...args) => {
			const answer = await ask(...args);
			if (!String(args[0].url ?? args[0]).includes("api/wait?")) return answer;
			await new Promise(done => window.release = done);
			window.released = true;
			return answer;
		};
		location.hash = "#timeline?run=0&sel=wait%3A0";
	})()`, nil)
	p.must(p.Wait(`window.release`))
	p.must(p.Key("1", 0))
	p.must(p.Wait(`location.hash.startsWith("#overview")`))
	p.eval(`window.release()`, nil)
	p.must(p.Wait(`window.released`))
	p.settle()
	if got := p.text(`document.getElementById("panel").hidden`); got != "true" {
		t.Errorf("the overview shows the panel %q", p.text(`document.getElementById("panel").innerText`))
	}
	p.sound()
}

// testFocus presses controls of all toolbars with the keyboard: they keep the focus when the view is drawn anew.
func testFocus(t *testing.T, s *site) {
	p := s.open(t, "#tree?run=0", 1280, 800)
	for _, c := range []struct{ place, control, done string }{
		{"#tree?run=0", `.segmented button[data-value="name"]`, "sort=name"},
		{"#causes?run=0", `.segmented button[data-value="rank"]`, "by=rank"},
		{"#map?run=2", `.segmented button[data-value="z"]`, "slice=z"},
		{"#matrix?run=3", `.segmented button[data-value="log"]`, "scale=log"},
		{"#scaling?run=5", `.segmented button[data-value="model"]`, "figure=model"},
		{"#scaling?run=5", `.series-list tbody tr:nth-child(3) button`, "series="},
	} {
		p.visit(c.place)
		p.eval(fmt.Sprintf(`document.querySelector(%q).focus()`, c.control), nil)
		p.must(p.Key("Enter", 0))
		p.must(p.Wait(fmt.Sprintf(`location.hash.includes(%q)`, strings.ReplaceAll(c.done, ":", "%3A"))))
		p.settle()
		p.must(p.Wait(fmt.Sprintf(`document.activeElement === document.querySelector(%q)`, c.control)))
	}
	p.sound()
}

// testCrowd looks at more messages than can be drawn: the page says how many there are and which it shows.
func testCrowd(t *testing.T, s *site) {
	p := s.open(t, "#timeline?run=4", 1280, 800)
	var m Messages
	s.get(t, "messages?run=4&limit=400", &m)
	if !m.Chosen || len(m.Messages) != 400 {
		t.Fatalf("%d of %d messages", len(m.Messages), m.Total)
	}
	p.must(p.Wait(`document.querySelector(".status").textContent.includes("messages, arrows of the 400 for which others waited longest")`))
	// The arrows are there: a line of another color than that of the row leads from place to place.
	w := p.window()
	longest := m.Messages[0]
	for _, one := range m.Messages {
		if one.Received-one.Sent > longest.Received-longest.Sent {
			longest = one
		}
	}
	from := w.at(longest.Sent, longest.From)
	p.must(p.Move(from))
	p.must(p.Wait(`document.querySelector(".tip:not([hidden])")?.textContent.includes("message of")`))
	p.sound()
}

// testFigures takes figures away, as the links do.
func testFigures(t *testing.T, s *site) {
	p := s.open(t, "#overview?run=0", 1280, 800)
	for _, place := range []string{"#overview?run=0", "#latency?run=0", "#scaling?run=5"} {
		p.visit(place)
		var figure struct {
			Status     int
			Kind, Text string
			File       string
		}
		p.eval(`(async () => {
			const click = HTMLAnchorElement.prototype.click;
			const saved = new Promise((done) => { HTMLAnchorElement.prototype.click = function () { done({href: this.href, file: this.download}); }; });
			const blob = new Promise((done) => { const make = URL.createObjectURL; URL.createObjectURL = (b) => { URL.createObjectURL = make; done(b); return make.call(URL, b); }; });
			document.querySelector("button.download").click();
			const {file} = await saved, made = await blob;
			HTMLAnchorElement.prototype.click = click;
			return {Status: 200, Kind: made.type, Text: await made.text(), File: file};
		})()`, &figure)
		if figure.Status != http.StatusOK || !strings.HasPrefix(figure.Kind, "image/svg+xml") || !strings.HasPrefix(figure.Text, "<svg") ||
			!strings.HasSuffix(figure.File, ".svg") {
			t.Errorf("%s: the figure is %d %s %s: %.60s", place, figure.Status, figure.Kind, figure.File, figure.Text)
		}
	}
	// Where there is little room, figures are made for it: their texts are not smaller.
	p.must(p.Resize(400, 800))
	p.visit("#scaling?run=5&figure=model")
	p.must(p.Wait(`document.querySelector(".server-figure").naturalWidth === 360`))
	p.picture("figure-400")
	p.sound()
}
