package explore

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"slackline/internal/browser"
)

// badOnPaper are elements that a printed page cuts off at its edge or in a box, and controls that are still there.
const badOnPaper = `(() => {
	const bad = [], name = e => e.tagName + "." + e.className + " " + e.textContent.trim().slice(0, 30), wide = document.documentElement.clientWidth;
	for (const e of document.querySelectorAll("#paper, #main *, #statistics *, #panel *")) {
		const r = e.getBoundingClientRect(), s = getComputedStyle(e);
		if (r.width < 2 || r.height < 2 || s.visibility === "hidden" || e.closest("[hidden], .visually-hidden")) continue;
		if (r.right > wide + 1 && !e.closest(".flame")) bad.push(name(e) + " ends at " + Math.round(r.right) + " of " + wide);
		if (s.overflow !== "visible" && !e.closest(".clusters .long, .flames, .bar-ground, .stacked, canvas, svg") && (e.scrollWidth > e.clientWidth + 2 || e.scrollHeight > e.clientHeight + 4))
			bad.push(name(e) + " is cut off: " + [e.scrollWidth, e.clientWidth, e.scrollHeight, e.clientHeight]);
		if (e.matches("select, input, .toolbar, .segmented, .download, .jump, .close")) bad.push(name(e) + " is a control");
	}
	return [...new Set(bad)].slice(0, 6);
})()`

// testPrint prints all views of runs with 16 and with 1,024 ranks: whole, light, without controls, on few pages.
func testPrint(t *testing.T, s *site) {
	p := s.open(t, "#overview", 1280, 800)
	p.must(p.Media(map[string]string{"prefers-color-scheme": "dark"})) // paper is light
	p.eval(`window.addEventListener("beforeprint", () => {
		window.paper = [document.documentElement.dataset.theme, Math.min(...[...document.querySelectorAll("#main canvas:not(.ramp)")].map(c => c.width / parseFloat(c.style.width)))].join();
	})`, nil)
	for i, size := range sized {
		run, ranks := size.run, size.ranks
		for _, v := range []struct {
			place string
			pages int // at most
		}{
			{"overview", 3}, {fmt.Sprintf("overview?other=%d", sized[1-i].run), 5}, {"timeline?stat=1&sel=wait%3A0", 5},
			{fmt.Sprintf("timeline?other=%d", sized[1-i].run), 2}, {"causes", 3}, {"causes?by=rank", 8}, {"tree", 3},
			{"tree?as=flame", 2}, {"map", 2}, {"matrix", 2}, {"latency", 2},
		} {
			place := fmt.Sprintf("#%s%srun=%d", v.place, map[bool]string{true: "&", false: "?"}[strings.Contains(v.place, "?")], run)
			what := fmt.Sprintf("%s of %d ranks", v.place, ranks)
			p.visit(place)
			if strings.Contains(v.place, "stat=1") {
				p.must(p.Wait(`document.getElementById("statistics").dataset.settled === "true" && document.querySelector("#panel .root")`))
			}
			pdf, err := p.Print()
			p.must(err)
			if got := p.text("window.paper"); got != "light,3" && got != "light,Infinity" { // without a canvas
				t.Errorf("%s is printed with theme and pixels %q, want light and 3", what, got)
			}
			if n := bytes.Count(pdf, []byte("/Type /Page\n")); n < 1 || n > v.pages {
				t.Errorf("%s has %d pages, want at most %d", what, n, v.pages)
			}
			wide, across := 703, bytes.Contains(pdf, []byte("/MediaBox [0 0 841")) // pixels of A4 without margins
			if across {
				wide = 1032
			}
			if want := strings.HasPrefix(v.place, "timeline"); across != want {
				t.Errorf("%s is printed across: %v, want %v", what, across, want)
			}
			p.must(p.MediaType("print"))
			p.must(p.Resize(wide, 1000))
			var bad []string
			p.eval(badOnPaper, &bad)
			for _, b := range bad {
				t.Errorf("%s on paper: %s", what, b)
			}
			if got := p.text(`document.getElementById("paper").textContent`); !strings.Contains(got, size.name) {
				t.Errorf("%s is printed under %q", what, got)
			}
			p.must(p.MediaType(""))
			p.must(p.Resize(1280, 800))
			p.settle()
			file := strings.NewReplacer("?", "-", "&", "-", "=", "", "%3A", "").Replace(v.place)
			p.must(browser.Save(picturesVariable, fmt.Sprintf("print-%d-%s.pdf", ranks, file), pdf))
		}
	}
	if got := p.text("document.documentElement.dataset.theme"); got != "dark" {
		t.Errorf("after printing the theme is %s, want dark", got)
	}
	p.sound()
}
