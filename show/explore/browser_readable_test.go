package explore

import (
	"fmt"
	"testing"
)

// testDark checks that the page follows the system, and its own switch.
func testDark(t *testing.T, s *site) {
	p := s.open(t, "#timeline?run=0", 1280, 800)
	ground := func() string { return p.text("getComputedStyle(document.body).backgroundColor") }
	light := ground()
	p.must(p.Media(map[string]string{"prefers-color-scheme": "dark"}))
	p.must(p.Wait(`document.documentElement.dataset.theme === "dark"`))
	if dark := ground(); light != "rgb(255, 255, 255)" || dark != "rgb(21, 24, 29)" {
		t.Errorf("grounds = %s and %s", light, dark)
	}
	p.settle()
	p.picture("dark")
	p.must(p.ClickOn("#theme"))
	p.must(p.Wait(`document.documentElement.dataset.theme === "light"`))
	p.eval("location.reload()", nil)
	p.settle()
	if got := ground(); got != light {
		t.Errorf("ground after light was chosen = %s, want %s", got, light)
	}
	p.must(p.ClickOn("#theme"))
	for _, view := range []string{"overview", "causes", "tree", "map", "matrix", "latency"} {
		p.visit("#" + view + "?run=3")
		p.whole(view + " in the dark")
		p.picture("dark-" + view)
	}
	p.sound()
}

// faint are texts whose contrast to their ground is below 4.5, as far as a browser knows it: not those in canvases.
const faint = `(() => {
	const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return {r: m[0], g: m[1], b: m[2], a: m[3] ?? 1}; };
	const light = c => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
	const luminance = c => 0.2126 * light(c.r) + 0.7152 * light(c.g) + 0.0722 * light(c.b);
	const over = (top, below) => ({r: top.r * top.a + below.r * (1 - top.a), g: top.g * top.a + below.g * (1 - top.a), b: top.b * top.a + below.b * (1 - top.a), a: 1});
	const ground = e => {
		const list = [];
		for (; e; e = e.parentElement) list.push(parse(getComputedStyle(e).backgroundColor));
		return list.reverse().reduce((below, c) => over(c, below), {r: 255, g: 255, b: 255, a: 1});
	};
	const weak = new Set();
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) {
		const node = walker.currentNode, e = node.parentElement;
		if (!node.textContent.trim() || e.closest("script, style, [hidden], noscript, option, .visually-hidden, [disabled]")) continue;
		const r = e.getBoundingClientRect(), s = getComputedStyle(e);
		if (r.width === 0 || r.height === 0 || s.visibility === "hidden" || s.opacity === "0") continue;
		const svg = e instanceof SVGElement;
		const below = ground(svg ? e.ownerSVGElement.parentElement : e), ink = over(parse(svg ? s.fill : s.color), below);
		const [a, b] = [luminance(ink), luminance(below)].sort((x, y) => y - x);
		const contrast = (a + 0.05) / (b + 0.05);
		if (contrast < 4.5) weak.add(contrast.toFixed(2) + " " + e.tagName + "." + e.getAttribute("class") + ": " + node.textContent.trim().slice(0, 30));
	}
	return [...weak];
})()`

// testReadable checks contrasts, names of controls, and that nothing jumps while a page is loaded.
func testReadable(t *testing.T, s *site) {
	p := s.open(t, "#timeline?run=0&sel=wait%3A0", 1280, 800)
	for _, theme := range []string{"light", "dark"} {
		p.must(p.Media(map[string]string{"prefers-color-scheme": theme}))
		p.must(p.Wait(fmt.Sprintf(`document.documentElement.dataset.theme === %q`, theme)))
		for _, place := range []string{"#timeline?run=0&sel=wait%3A0", "#overview?run=0", "#tree?run=0", "#map?run=2&slice=x%3A1",
			"#matrix?run=3", "#latency?run=0", "#causes?run=0", "#scaling?run=5"} {
			p.visit(place)
			var weak []string
			p.eval(faint, &weak)
			for _, text := range weak {
				t.Errorf("contrast in the %s theme, %s: %s, want at least 4.5", theme, place, text)
			}
			if nameless := p.text(`[...document.querySelectorAll("button, select, input, a, canvas[role=img], svg[role=img]")].filter(e =>
				!(e.textContent.trim() || e.getAttribute("aria-label") || e.labels?.[0]?.textContent.trim()) && !e.disabled).map(e => e.outerHTML.slice(0, 80)).join()`); nameless != "" {
				t.Errorf("%s has controls without a name: %s", place, nameless)
			}
		}
	}
	var shift float64
	p.must(p.Goto("about:blank"))
	p.must(p.Goto(s.address + "#timeline?run=4"))
	p.settle()
	p.eval(`new Promise(done => {
		let sum = 0;
		new PerformanceObserver(list => { for (const e of list.getEntries()) if (!e.hadRecentInput) sum += e.value; }).observe({type: "layout-shift", buffered: true});
		setTimeout(() => done(sum), 100);
	})`, &shift)
	if shift > 0.1 {
		t.Errorf("the page shifts by %.2f while it is loaded, want at most 0.1", shift)
	}
	p.sound()
}
