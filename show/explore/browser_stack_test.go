package explore

import (
	"fmt"
	"strings"
	"testing"

	"slackline/internal/browser"
)

// testStacks expands a row to its call stack by mouse and keyboard, and hides the rows of other ranks, with few and with many ranks.
func testStacks(t *testing.T, s *site) {
	p := s.open(t, fmt.Sprintf("#timeline?run=%d", planeRun), 1280, 800)
	levels := func() string { return p.text(`document.querySelector("canvas.timeline").dataset.levels`) }
	w := p.window()
	p.must(p.Click(browser.Point{X: w.X + 40, Y: w.Y + axis + 5*w.row() + 1})) // the name of rank 5
	p.must(p.Wait(`location.hash.includes("stack=5")`))
	p.settle()
	if got := levels(); got != "3" {
		t.Errorf("the stack of rank 5 has %s levels, want 3", got)
	}
	p.picture("stack")
	// A click in the stack selects the call at that depth.
	var at browser.Point
	p.eval(`(() => { const r = document.querySelector("canvas.timeline").getBoundingClientRect(); return {X: r.x + 200, Y: r.y}; })()`, &at)
	row := (w.Height - axis - 1 - 3*18) / 64
	p.must(p.Click(browser.Point{X: at.X, Y: at.Y + axis + 6*row + 9}))
	p.must(p.Wait(`!document.getElementById("panel").hidden`))
	if got := p.text(`document.getElementById("panel").innerText`); !strings.Contains(got, "halo2d") || !strings.Contains(got, "calls around it\n0") {
		t.Errorf("the outermost call of the stack: %q", got)
	}
	p.must(p.Key("Escape", 0))
	p.must(p.Wait(`!location.hash.includes("stack=")`))
	p.settle()
	p.must(p.Key("e", 0))
	p.must(p.Wait(`location.hash.includes("stack=0")`))
	for _, run := range []int{planeRun, wideRun} {
		p.visit(fmt.Sprintf("#timeline?run=%d&ranks=3,8-11&stack=9", run))
		p.must(p.Wait(`document.querySelector("canvas.timeline").dataset.rows === "5"`))
		p.settle()
		if got := p.text(`document.querySelector("canvas.timeline").dataset.last`); got != "5" || levels() == "0" {
			t.Errorf("of 5 ranks the timeline shows %s rows, and %s levels", got, levels())
		}
		p.picture(fmt.Sprintf("hidden-%d", run))
	}
	p.must(p.ClickOn(`input[name=others]`))
	p.must(p.Wait(`document.querySelector("canvas.timeline").dataset.rows === "1024"`))
	p.must(p.Resize(400, 800))
	p.visit(fmt.Sprintf("#timeline?run=%d&ranks=3,8-11&stack=9", wideRun))
	p.must(p.Media(map[string]string{"prefers-color-scheme": "dark"}))
	p.settle()
	p.fits("stack", 400)
	p.picture("stack-400-dark")
	p.sound()
}
