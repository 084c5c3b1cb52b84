package explore

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"slackline/internal/browser"
)

// Geometry of a timeline, as in scale.js.
const (
	gutter = 74
	axis   = 30
	border = 10
)

// shown is what the timeline of a page shows, and where its canvas lies.
type shown struct {
	From, To            float64
	First, Last         int
	X, Y, Width, Height float64
}

// window returns what the first timeline shows.
func (p *page) window() shown { return p.windowOf(0) }

func (p *page) windowOf(n int) shown {
	p.tb.Helper()
	var w shown
	p.eval(fmt.Sprintf(`(() => {
		const c = document.querySelectorAll("canvas.timeline")[%d], r = c.getBoundingClientRect(), d = c.dataset;
		return {From: +d.from, To: +d.to, First: +d.first, Last: +d.last, X: r.x, Y: r.y, Width: r.width, Height: r.height};
	})()`, n), &w)
	return w
}

// row is the height of a row.
func (w *shown) row() float64 { return math.Min(84, (w.Height-axis-1)/float64(w.Last-w.First)) }

// scale is how many pixels a picosecond has.
func (w *shown) scale() float64 { return (w.Width - gutter - border) / (w.To - w.From) }

// at is where a time of a location is in the page.
func (w *shown) at(time int64, location int) browser.Point {
	return browser.Point{
		X: w.X + gutter + (float64(time)-w.From)*w.scale(),
		Y: w.Y + axis + (float64(location-w.First)+0.5)*w.row(),
	}
}

// span is time that a location spent in a call itself.
type span struct {
	location, path int
	from, to       int64
}

// pieces asks the server for the exact calls of a window and cuts them into pieces.
func (s *site) pieces(t *testing.T, run int, w *shown) []span {
	var answer Calls
	s.get(t, fmt.Sprintf("calls?run=%d&from=%.0f&to=%.0f&first=%d&last=%d&limit=%d", run, w.From, w.To, w.First, w.Last, MaxList), &answer)
	if answer.Cut {
		t.Fatal("the window has more calls than the server lists")
	}
	var list []span
	for _, l := range answer.Locations {
		// A moment belongs to the call that began last of those that are open: paint them in order.
		var marks []int64
		for _, c := range l.Calls {
			marks = append(marks, c.Enter, c.Leave)
		}
		for _, from := range marks {
			to, innermost := int64(math.MaxInt64), -1
			for i, c := range l.Calls {
				for _, edge := range []int64{c.Enter, c.Leave} {
					if edge > from && edge < to {
						to = edge
					}
				}
				if c.Enter <= from && from < c.Leave {
					innermost = i
				}
			}
			if innermost >= 0 {
				list = append(list, span{l.Location, l.Calls[innermost].Path, from, to})
			}
		}
	}
	return list
}

// compare checks that the pixels of the timeline have the colors of the calls that the server lists: it returns how
// many pieces were wide enough to be looked at.
func (p *page) compare(t *testing.T, s *site, run int) int {
	t.Helper()
	p.settle()
	w := p.window()
	type sample struct {
		X, Y float64
		Path int
		name string
	}
	var samples []sample
	for _, c := range s.pieces(t, run, &w) {
		from := math.Max(float64(c.from), w.From)
		to := math.Min(float64(c.to), w.To)
		if (to-from)*w.scale() < 14 {
			continue
		}
		at := w.at(int64((from+to)/2), c.location)
		// Names are written in the middle of rows; below them there is the color alone, or hatched.
		y := at.Y + 0.34*w.row()
		samples = append(samples, sample{at.X - w.X, y - w.Y, c.path, fmt.Sprintf("location %d, path %d, %d to %d",
			c.location, c.path, c.from, c.to)})
	}
	var wrong []int
	p.eval(fmt.Sprintf(`(async samples => {
		const {colorOf} = await import("/timeline/legend.js");
		const headers = {"X-Slackline-Token": localStorage.getItem("slackline-token")};
		const legend = await (await fetch("/api/legend?run=%d&color=path", {headers})).json();
		const colors = new Map(legend.categories.map(c => [c.id, colorOf(c, "path").join()]));
		const canvas = document.querySelector("canvas.timeline"), copy = document.createElement("canvas");
		[copy.width, copy.height] = [canvas.width, canvas.height];
		const ctx = copy.getContext("2d", {willReadFrequently: true});
		ctx.drawImage(canvas, 0, 0);
		const wrong = [];
		samples.forEach((s, i) => {
			const data = ctx.getImageData(Math.round(s.X) - 4, Math.round(s.Y) - 3, 8, 6).data;
			const seen = new Map();
			for (let k = 0; k < data.length; k += 4) {
				const c = data.slice(k, k + 3).join();
				seen.set(c, (seen.get(c) ?? 0) + 1);
			}
			const most = [...seen].sort((a, b) => b[1] - a[1])[0][0];
			if (most !== colors.get(s.Path)) wrong.push(i);
		});
		return wrong;
	})(%s)`, run, toJSON(t, samples)), &wrong)
	for _, i := range wrong {
		t.Errorf("window %+v: the color at %s is not that of its call", w, samples[i].name)
	}
	return len(samples)
}

// testZoom turns the wheel, drags, draws a box and presses keys, and compares what is shown with the data.
func testZoom(t *testing.T, s *site) {
	p := s.open(t, "#timeline?run=0&color=path&arrows=0", 1280, 800)
	looked := p.compare(t, s, lateRun)
	before := p.window()
	if before.From != 0 || before.First != 0 || before.Last != 4 {
		t.Errorf("the first window is %+v, want the whole run", before)
	}

	// The wheel: what is under the mouse stays there.
	at := browser.Point{X: before.X + 800, Y: before.Y + 150}
	fixed := before.From + (800-gutter)/before.scale()
	for range 8 {
		p.must(p.Wheel(at, 0, -120, 0))
	}
	p.must(p.Wait(fmt.Sprintf(`document.querySelector("canvas.timeline").dataset.to < %f`, before.To*0.9)))
	looked += p.compare(t, s, lateRun)
	zoomed := p.window()
	if got := zoomed.From + (800-gutter)/zoomed.scale(); math.Abs(got-fixed)*zoomed.scale() > 2 {
		t.Errorf("the wheel moved what is under the mouse from %.0f to %.0f ps", fixed, got)
	}
	if share := (zoomed.To - zoomed.From) / before.To; share > 0.3 {
		t.Errorf("after eight turns of the wheel %.2f of the run is visible", share)
	}

	// Dragging: 200 pixels to the left show what comes later.
	p.must(p.Drag(at, browser.Point{X: at.X - 200, Y: at.Y}, 0))
	p.must(p.Wait(fmt.Sprintf(`document.querySelector("canvas.timeline").dataset.from > %f`, zoomed.From)))
	looked += p.compare(t, s, lateRun)
	moved := p.window()
	if got := (moved.From - zoomed.From) * zoomed.scale(); math.Abs(got-200) > 2 {
		t.Errorf("dragging by 200 pixels moved the window by %.1f", got)
	}
	if math.Abs((moved.To-moved.From)-(zoomed.To-zoomed.From)) > 2 {
		t.Errorf("dragging changed the width of the window from %.0f to %.0f ps", zoomed.To-zoomed.From, moved.To-moved.From)
	}

	// A box: its time and its rows.
	row := moved.row()
	from := browser.Point{X: moved.X + 400, Y: moved.Y + axis + 1.5*row}
	to := browser.Point{X: moved.X + 700, Y: moved.Y + axis + 2.5*row}
	p.must(p.Drag(from, to, browser.Shift))
	p.must(p.Wait(`document.querySelector("canvas.timeline").dataset.first === "1"`))
	looked += p.compare(t, s, lateRun)
	boxed := p.window()
	want := moved.From + (400-gutter)/moved.scale()
	if boxed.First != 1 || boxed.Last != 3 || math.Abs(boxed.From-want)*moved.scale() > 2 {
		t.Errorf("after the box the window is %+v, want rows 1 and 2 from %.0f ps", boxed, want)
	}
	if looked < 30 {
		t.Errorf("only %d calls were wide enough to be compared", looked)
	}
	p.picture("zoomed")

	// Rows, and back to the whole.
	p.must(p.Key("Home", 0))
	p.must(p.Wait(`document.querySelector("canvas.timeline").dataset.last === "4" && !location.hash.includes("from")`))
	p.must(p.Wheel(at, 0, -300, browser.Alt))
	p.must(p.Wait(`document.querySelector("canvas.timeline").dataset.last - document.querySelector("canvas.timeline").dataset.first < 4`))
	p.compare(t, s, lateRun)
	p.sound()
}

// testPinch zooms with two fingers, on a trackpad and on the screen: what is between them stays there.
func testPinch(t *testing.T, s *site) {
	p := s.open(t, "#timeline?run=0&color=path&arrows=0", 1280, 800)
	before := p.window()
	at := browser.Point{X: before.X + 800, Y: before.Y + 150}
	fixed := before.From + (800-gutter)/before.scale()
	stays := func(w shown, x float64) {
		t.Helper()
		if got := w.From + (x-gutter)/w.scale(); math.Abs(got-fixed)*w.scale() > 2 {
			t.Errorf("what is between the fingers moved from %.0f to %.0f ps", fixed, got)
		}
	}
	for range 10 {
		p.must(p.Wheel(at, 0, -10, browser.Control)) // two fingers on a trackpad
	}
	p.must(p.Wait(fmt.Sprintf(`document.querySelector("canvas.timeline").dataset.to - document.querySelector("canvas.timeline").dataset.from < %f`, before.To*0.4)))
	p.compare(t, s, lateRun)
	wheeled := p.window()
	stays(wheeled, 800)
	if wheeled.Last != 4 {
		t.Errorf("the fingers on the trackpad changed the rows to %d..%d", wheeled.First, wheeled.Last)
	}

	// On the screen: twice as far apart, and 100 pixels to the left.
	p.must(p.Pinch([2]browser.Point{{X: at.X - 100, Y: at.Y}, {X: at.X + 100, Y: at.Y + 10}},
		[2]browser.Point{{X: at.X - 300, Y: at.Y}, {X: at.X + 100, Y: at.Y + 20}}))
	p.must(p.Wait(fmt.Sprintf(`document.querySelector("canvas.timeline").dataset.to - document.querySelector("canvas.timeline").dataset.from < %f`, (wheeled.To-wheeled.From)*0.51)))
	p.compare(t, s, lateRun)
	pinched := p.window()
	stays(pinched, 700)
	if pinched.First != 0 || pinched.Last != 4 || p.text(`document.getElementById("panel").hidden`) != "true" {
		t.Errorf("two fingers beside each other change the rows to %d..%d, or select something", pinched.First, pinched.Last)
	}

	// Above each other: the rows.
	row := pinched.row()
	at.Y = pinched.Y + axis + 2*row
	p.must(p.Pinch([2]browser.Point{{X: at.X, Y: at.Y - row/2}, {X: at.X, Y: at.Y + row/2}},
		[2]browser.Point{{X: at.X, Y: at.Y - row}, {X: at.X, Y: at.Y + row}}))
	p.must(p.Wait(`document.querySelector("canvas.timeline").dataset.last - document.querySelector("canvas.timeline").dataset.first === 2`))
	if got := p.window(); got.First != 1 || got.Last != 3 || math.Abs(got.From-pinched.From) > 2 {
		t.Errorf("after two fingers above each other the window is %+v, want rows 1 and 2 of %+v", got, pinched)
	}
	p.compare(t, s, lateRun)
	p.sound()
}

// testCopy copies the address of a view with the button and with the key.
func testCopy(t *testing.T, s *site) {
	p := s.open(t, "#timeline?run=0&color=path", 1280, 800)
	p.must(p.Grant(strings.TrimSuffix(s.address, "/"), "clipboard-read", "clipboard-write"))
	p.must(p.ClickOn("#copy"))
	p.must(p.Wait(`document.getElementById("toast").textContent.includes("is copied")`))
	var got string
	p.eval("navigator.clipboard.readText()", &got)
	if want := p.text("location.href"); got != want || !strings.Contains(got, "color=path") {
		t.Errorf("the button copies %q, want %q", got, want)
	}
	// An address is right although the gesture before it has not ended.
	p.must(p.Key("+", 0))
	p.must(p.Key("y", 0))
	p.must(p.Wait(`navigator.clipboard.readText().then(text => text === location.href && text.includes("from="))`))
	p.sound()
}

// testAddresses does things, and finds them again under their addresses, backwards, forwards and in a new page.
func testAddresses(t *testing.T, s *site) {
	p := s.open(t, "#timeline?run=0&color=path", 1280, 800)
	state := func(q *page) string {
		q.settle()
		return q.text(`JSON.stringify([
			{...document.querySelector("canvas.timeline")?.dataset, frame: 0},
			[...document.querySelectorAll("select")].map(s => s.value),
			[...document.querySelectorAll("input")].map(i => i.type === "checkbox" ? i.checked : i.value),
			[...document.querySelectorAll("[aria-pressed=true], [aria-selected=true], [aria-current]")].map(e => e.textContent),
			document.getElementById("panel").textContent, document.querySelector(".legend")?.textContent.replace("MPI_Init", ""), // as wide as a pixel
			document.querySelector("h1")?.textContent])`)
	}
	var places, states []string
	keep := func() {
		p.settle()
		places = append(places, p.text("location.href"))
		states = append(states, state(p))
	}
	keep()
	w := p.window()
	p.must(p.Click(w.at(int64(0.7735*w.To), 3)))
	p.must(p.Wait(`!document.getElementById("panel").hidden`))
	keep()
	for _, key := range []string{"+", "+", "+", "ArrowRight"} {
		p.must(p.Key(key, 0))
	}
	keep()
	p.must(p.Key("p", 0))
	p.must(p.ClickOn(`input[name="arrows"]`))
	keep()
	for _, place := range []string{"#tree?run=0&metric=waiting&path=4&sort=name&sum=self", "#map?run=2&slice=y%3A1&turn=120%3A10",
		"#matrix?run=3&of=count&scale=log", "#latency?run=0&latency=50000000", "#causes?by=rank&run=0", "#scaling?run=5&series=3&figure=model"} {
		p.visit(place)
		keep()
	}
	for i := len(places) - 1; i >= 0; i-- {
		if got := state(p); got != states[i] {
			t.Errorf("back at %s the page shows\n%s, want\n%s", places[i], got, states[i])
		}
		if i > 0 {
			p.back(places[i-1])
		}
	}
	p.eval("history.forward()", nil)
	p.must(p.Wait(fmt.Sprintf("location.hash !== %q", "#"+hashOf(places[0]))))
	p.sound()

	// A new page, as it is when an address is sent to somebody.
	for i, place := range places {
		p.must(p.Goto("about:blank"))
		p.must(p.Goto(place))
		if got := state(p); got != states[i] {
			t.Errorf("a new page at %s shows\n%s, want\n%s", place, got, states[i])
		}
		p.sound()
	}
	for _, place := range []string{"#timeline?from=-5&to=99999999999999999999&rows=90-3&sel=wait%3A99999&color=none",
		"#nothing?run=77", "#timeline?run=x&from=a&sel=call%3A9%3A9", "#tree?path=-3&metric=none", "#%E0%A4%A"} {
		p.visit(place)
		p.picture("bad-address")
	}
	for _, problem := range p.Problems() {
		if !strings.Contains(problem, "wait?") { // there is no such wait, and the panel says so
			t.Errorf("addresses that make no sense: %s", problem)
		}
	}
}

func hashOf(address string) string {
	_, hash, _ := strings.Cut(address, "#")
	return hash
}

// back goes back in the history until an address is reached: gestures in between have entries of their own.
func (p *page) back(address string) {
	p.tb.Helper()
	for range 8 {
		if p.text("location.href") == address {
			return
		}
		p.eval("new Promise(done => { addEventListener('popstate', () => done(1), {once: true}); history.back(); })", nil)
	}
	p.tb.Fatalf("going back does not lead to %s", address)
}

// testKeys uses the timeline without a mouse.
func testKeys(t *testing.T, s *site) {
	for _, run := range []int{lateRun, wideRun} {
		keysIn(t, s, run)
	}
}

func keysIn(t *testing.T, s *site, run int) {
	p := s.open(t, fmt.Sprintf("#overview?run=%d", run), 1280, 800)
	p.must(p.Key("2", 0))
	p.must(p.Wait(`location.hash.startsWith("#timeline")`))
	p.settle()
	p.must(p.Key("?", 0))
	p.must(p.Wait(`document.getElementById("keys").open`))
	p.picture("help")
	p.must(p.Key("Escape", 0))
	p.must(p.Wait(`!document.getElementById("keys").open`))
	p.must(p.Key("]", 0))
	p.must(p.Wait(`document.querySelector("#panel .wait-time")`))
	var states States
	s.get(t, fmt.Sprintf("states?run=%d&largest=1", run), &states)
	if got, want := p.text(`location.hash`), fmt.Sprintf("sel=wait%%3A%d", states.States[0].State); !strings.Contains(got, want) {
		t.Errorf("the first wait of ] has the address %s, want %s", got, want)
	}
	var answer WaitAnswer
	s.get(t, fmt.Sprintf("wait?run=%d&state=%d", run, states.States[0].State), &answer)
	p.settle()
	p.must(p.Key("[", 0))
	p.must(p.Wait(fmt.Sprintf(`location.hash.includes("sel=wait%%3A%d")`, answer.Previous.State)))
	p.must(p.Key("c", 0))
	p.must(p.Wait(`document.querySelector("canvas.timeline").dataset.color === "cause"`))
	p.settle()
	p.picture("by-cause")
	p.must(p.Key("e", 0))
	p.must(p.Wait(`location.hash.includes("stack=") && document.querySelector("canvas.timeline").dataset.levels > 1`))
	p.must(p.Key("Escape", 0))
	p.must(p.Wait(`document.getElementById("panel").hidden`))
	// From the whole run to some rows of some time, and back.
	p.must(p.Key("Home", 0))
	p.settle()
	whole := p.window()
	for _, key := range []string{"+", "ArrowRight"} {
		p.must(p.Key(key, 0))
		p.settle()
	}
	for range 3 {
		p.must(p.Key("ArrowUp", browser.Shift))
		p.settle()
	}
	p.must(p.Key("ArrowDown", 0))
	p.settle()
	w := p.window()
	if w.From <= whole.From || w.To-w.From >= whole.To-whole.From || w.First == 0 || w.Last-w.First >= whole.Last-whole.First {
		t.Errorf("by keys alone the window went from %+v to %+v", whole, w)
	}
	p.must(p.Key("3", 0))
	p.must(p.Wait(`location.hash.startsWith("#causes")`))
	// Everything can be reached with Tab, and shows where it is.
	p.must(p.Key("Tab", 0))
	p.must(p.Key("Tab", 0))
	if got := p.text(`getComputedStyle(document.activeElement).outlineStyle`); got != "solid" {
		t.Errorf("outline of what has the focus = %s, want solid", got)
	}
	p.sound()
}

// testTwoRuns sets two runs above each other and moves both.
func testTwoRuns(t *testing.T, s *site) {
	p := s.open(t, "#timeline?run=3&other=2&sync=1", 1280, 900)
	one, two := p.windowOf(0), p.windowOf(1)
	if one.To <= 0 || two.To <= 0 {
		t.Fatalf("windows = %+v and %+v", one, two)
	}
	p.must(p.Wheel(browser.Point{X: one.X + 500, Y: one.Y + 80}, 0, -240, 0))
	p.must(p.Wait(fmt.Sprintf(`document.querySelector("canvas.timeline").dataset.to < %f`, one.To)))
	p.settle()
	one, two = p.windowOf(0), p.windowOf(1)
	if math.Abs(one.From-two.From) > 1 || math.Abs(one.To-two.To) > 1 {
		t.Errorf("windows that go together = %+v and %+v", one, two)
	}
	p.picture("two")
	p.visit("#overview?run=3&other=2")
	if got := p.text(`document.querySelectorAll("article").length`); got != "2" {
		t.Errorf("runs in the overview = %s, want 2", got)
	}
	p.fits("two runs", 1280)
	p.picture("two-overview")
	p.sound()
}
