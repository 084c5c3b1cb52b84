package explore

import (
	"fmt"
	"strings"
	"testing"

	"slackline/internal/phrase"
)

// overlapping are pairs of texts and controls that lie over each other, and controls that stick out of the page. Cells of a canvas are not
// known to a browser; what is drawn on purpose over something else is left out.
const overlapping = `(() => {
	const boxes = [];
	for (const e of document.querySelectorAll("#top button, #top a, #top select, #runs span, .toolbar > *, #main h1, #main h2, #main p, #main table, #main dl, #statistics h2, #statistics table")) {
		if (e.closest("[hidden], .visually-hidden, .absent, .skip, details:not([open])") || e.closest("#statistics, #panel") !== (document.querySelector("#statistics:not([hidden])") ?? null) && e.closest("#statistics, #panel")) continue;
		const r = e.getBoundingClientRect(), s = getComputedStyle(e);
		if (r.width < 2 || r.height < 2 || s.visibility === "hidden" || s.position === "absolute" || s.position === "fixed") continue;
		boxes.push({e, r});
	}
	const name = e => e.tagName + "." + e.className + " " + e.textContent.trim().slice(0, 30);
	const found = [];
	for (const [i, a] of boxes.entries()) {
		for (const b of boxes.slice(i + 1)) {
			if (a.e.contains(b.e) || b.e.contains(a.e)) continue;
			const tabs = [a, b].filter(x => x.e.closest("#tabs"));
			if (tabs.length === 1) continue; // tabs scroll under the edge of their list
			const wide = Math.min(a.r.right, b.r.right) - Math.max(a.r.left, b.r.left);
			const high = Math.min(a.r.bottom, b.r.bottom) - Math.max(a.r.top, b.r.top);
			if (wide > 2 && high > 2) found.push(name(a.e) + " | " + name(b.e));
		}
	}
	return found.slice(0, 5);
})()`

// testSizes goes through all views of runs with 16 and with 1,024 ranks: at 200 % zoom, on a telephone, in the dark and on paper nothing
// sticks out, is cut off, lies over something else or is too faint.
func testSizes(t *testing.T, s *site) {
	p := s.open(t, "#overview", 1280, 800)
	for i, size := range sized {
		run, ranks := size.run, size.ranks
		for _, v := range []struct{ place, want string }{
			{"overview", "Ranks that behave alike"},
			{fmt.Sprintf("overview?other=%d", sized[1-i].run), "What differs"},
			{"timeline?stat=1", "Statistics"},
			{"timeline?ranks=3-9&others=1&mark=1", "rows"},
			{"causes", "Causes"},
			{"tree?view=flame", "halo2d"},
			{"map", "process grid"},
			{"matrix", phrase.Plural(ranks, "rank")},
			{"latency", "latencies on the critical path"},
		} {
			join := "?"
			if strings.Contains(v.place, "?") {
				join = "&"
			}
			place := fmt.Sprintf("#%s%srun=%d", v.place, join, run)
			p.visit(place)
			if text := p.text("document.body.textContent"); !strings.Contains(text, v.want) {
				t.Errorf("%s of %d ranks does not say %q", v.place, ranks, v.want)
			}
			for _, width := range []int{640, 400} { // 200 % of 1280, a telephone
				p.must(p.Resize(width, 720))
				p.settle()
				what := fmt.Sprintf("%s of %d ranks, %d pixels wide", v.place, ranks, width)
				p.fits(what, width)
				p.whole(what)
				if squeezed := p.text(`[...document.querySelectorAll("#main canvas")].filter(c => c.style.width &&
					Math.abs(c.getBoundingClientRect().width - parseFloat(c.style.width)) > 1).map(c => c.className).join()`); squeezed != "" {
					t.Errorf("%s: drawings are squeezed: %s", what, squeezed)
				}
				var over []string
				p.eval(overlapping, &over)
				for _, pair := range over {
					t.Errorf("%s: %s lie over each other", what, pair)
				}
				p.picture(fmt.Sprintf("size-%d-%d-%s", ranks, width, strings.NewReplacer("?", "-", "&", "-", "=", "").Replace(v.place)))
			}
			p.must(p.Resize(1280, 800))
			p.settle()
		}
	}
	p.must(p.Media(map[string]string{"prefers-color-scheme": "dark"}))
	p.must(p.Wait(`document.documentElement.dataset.theme === "dark"`))
	for _, place := range []string{"#overview?run=4&stat=1", "#causes?run=4", "#map?run=4", "#matrix?run=4", "#timeline?run=4"} {
		p.visit(place)
		var weak []string
		p.eval(faint, &weak)
		for _, text := range weak {
			t.Errorf("contrast in the dark, %s: %s, want at least 4.5", place, text)
		}
		p.picture("size-dark-" + strings.NewReplacer("#", "", "?", "-", "&", "-", "=", "").Replace(place))
	}
	p.sound()
}
