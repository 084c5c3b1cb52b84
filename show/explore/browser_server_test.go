package explore

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// testToken opens the page as somebody who does not know the token.
func testToken(t *testing.T, s *site) {
	p, err := s.browser.Open(800, 600)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	q := &page{Page: p, tb: t}
	for _, address := range []string{s.address, s.address + "?token=wrong", s.address + "api/runs"} {
		q.must(p.Goto(address))
		q.must(p.Wait(`document.body.textContent.includes("token")`)) // the page asks first
		if got := q.text("document.body.textContent"); !strings.Contains(got, "token") || strings.Contains(got, "late.slt") {
			t.Errorf("%s says %q, want a word about the token", address, got)
		}
		if !strings.Contains(address, "api") {
			q.picture("token")
		}
	}
}

// testReplaced replaces a run on disk while its page is open: the page says so and reads it again when asked to.
func testReplaced(t *testing.T, s *site) {
	file := filepath.Join(t.TempDir(), "run")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	ranks := 2
	source := Source{Name: "replaced", Files: []string{file}, Open: func(context.Context) (*Opened, error) {
		ranks++
		return &Opened{Timeline: halo(t, 4*ranks, 2)}, nil
	}}
	other := s.beside(t, []Source{source})
	p := other.open(t, "#timeline", 1000, 700)
	if w := p.window(); w.Last != 12 {
		t.Errorf("rows = %d, want 12", w.Last)
	}
	write("second, which is longer")
	const button = `[...document.querySelectorAll("#runs button")].find(b => b.textContent === "Read again")`
	p.must(p.Wait(`(dispatchEvent(new Event("focus")), ` + button + `)`)) // as when the user comes back to the page
	p.eval(button+".click()", nil)
	p.must(p.Wait(`(dispatchEvent(new Event("focus")), document.querySelector("canvas.timeline")?.dataset.last === "16")`))
	p.settle()
	p.must(p.Wait("!" + button))
	p.sound()
}

// testGone ends the server while a page is open: the page says so, and what it shows stays.
func testGone(t *testing.T, s *site) {
	other := s.beside(t, []Source{{Name: "gone", Open: func(context.Context) (*Opened,
		error) {
		return &Opened{Timeline: halo(t, 9, 2)}, nil
	}}})
	p := other.open(t, "#timeline", 1000, 700)
	other.stop()
	p.must(p.Key("+", 0))
	p.must(p.Wait(`document.getElementById("toast").textContent.includes("does not answer")`))
	if w := p.window(); w.Last != 9 {
		t.Errorf("rows = %d, want 9", w.Last)
	}
	p.Problems() // connections that were refused
}

// testWhole switches the start and the end of MPI on and off: run time, efficiency and what is looked at follow.
func testWhole(t *testing.T, s *site) {
	p := s.open(t, "#overview", 1280, 800)
	const box = `document.querySelector("#runs input[name=whole]")`
	efficiency := func() (e Composition) {
		s.get(t, "composition?run=0", &e)
		return e
	}
	before := efficiency()
	for _, text := range []string{"without MPI start (539", "and end (84.9"} {
		if got := p.text(`document.querySelector(".lead").textContent`); !strings.Contains(got, text) {
			t.Errorf("the overview says %q, want %q", got, text)
		}
	}
	p.visit("#timeline?from=100000000000&to=200000000000")
	// The answer to the click comes after that of a later question, which shows the run already: it is void.
	p.eval(`void (() => {
		const ask = window.ask = fetch;
		window.fetch = async (url, options) => {
			const answer = await ask(url, options);
			if (url.includes("reload=")) await new Promise(done => { window.release = done; });
			if (url === "api/runs") window.looks = (window.looks ?? 0) + 1;
			return answer;
		};
	})()`, nil)
	p.eval(box+".click()", nil)
	p.must(p.Wait(`(dispatchEvent(new Event("focus")), ` + box + `?.checked && !` + box + `.disabled && document.querySelector("canvas.timeline")?.dataset.from > 630000000000)`))
	p.eval("void (release(), looks = 0)", nil)
	p.must(p.Wait(`(dispatchEvent(new Event("focus")), looks > 2)`))
	p.settle()
	if got := p.text("location.hash"); !strings.Contains(got, "from=638999") {
		t.Errorf("with the start of MPI the address is %s, want the same 100 ms", got)
	}
	if after := efficiency(); after.Efficiency.RunTime <= before.Efficiency.RunTime ||
		after.Efficiency.Parallel >= before.Efficiency.Parallel {
		t.Errorf("with start and end: efficiencies %+v, without %+v", after.Efficiency, before.Efficiency)
	}
	// A server that is done before it answers.
	p.eval(`void (() => {
		window.fetch = async (url, options) => {
			if (!url.includes("reload=")) return ask(url, options);
			await ask(url, options);
			for (;;) {
				const answer = await ask("api/runs", options);
				if (!(await answer.clone().json()).runs[0].reloading) return answer;
			}
		};
	})()`, nil)
	p.eval(box+".click()", nil)
	p.must(p.Wait(box + `?.checked === false && !` + box + `.disabled`))
	p.settle()
	if got := p.text("location.hash"); !strings.Contains(got, "from=1000000") {
		t.Errorf("without the start of MPI the address is %s, want the same 100 ms", got)
	}
	if again := efficiency(); again.Efficiency != before.Efficiency {
		t.Errorf("without them again: %+v, want %+v", again.Efficiency, before.Efficiency)
	}
	p.sound()
}
