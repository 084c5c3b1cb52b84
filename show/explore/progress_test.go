package explore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"slackline/model/machine"
	"slackline/model/pattern"
	"slackline/model/schedule"
)

// Of a long run the curve has some points, each where that of all breakpoints is, and any latency can be asked for.
func TestToleranceOfLongRun(t *testing.T) {
	tl := halo(t, 9, 6)
	s, h := serverOf(t, tl)
	all := get[Tolerance](t, s, h, "/api/tolerance?latency=20000000")
	s, h = serverOf(t, tl)
	s.inputs[0].view.Load().few = 0
	some := get[Tolerance](t, s, h, "/api/tolerance?latency=20000000")
	if !some.Sampled || all.Sampled || len(some.Curve) < curvePoints || *some.At != *all.At || some.T != all.T ||
		!slices.Equal(some.Tolerances, all.Tolerances) {
		t.Fatalf("tolerance of a long run = %+v, want that of %+v", some, all)
	}
	i := 0
	for _, p := range some.Curve {
		for all.Curve[i+1].Latency < p.Latency {
			i++
		}
		from := all.Curve[i]
		if want := from.T + float64(from.After)*(p.Latency-from.Latency); math.Abs(p.T-want) > 1 {
			t.Errorf("T(%v) = %v, want %v", p.Latency, p.T, want)
		}
	}
}

// What takes long says how far it is, until it has ended.
func TestProgress(t *testing.T) {
	s, h := serverOf(t, halo(t, 4, 2), halo(t, 4, 2))
	for run := range 2 {
		get[Selection](t, s, h, fmt.Sprint("/api/selection?run=", run))
	}
	say, end := s.inputs[1].view.Load().works.begin(workLatency)
	say("half of it", 0.5)
	say("one step back", 0.3)
	want := []Work{{Run: 1, Of: "run 1", Name: "latency", Step: "one step back", Done: 0.5}}
	if p := get[Progress](t, s, h, "/api/progress"); !slices.Equal(p.Work, want) {
		t.Errorf("progress = %+v, want %+v", p.Work, want)
	}
	end()
	if p := get[Progress](t, s, h, "/api/progress"); len(p.Work) != 0 {
		t.Errorf("progress = %+v after the end", p.Work)
	}
	if answer, body := ask(t, s, h, "/api/progress?run=0"); answer.StatusCode != http.StatusBadRequest {
		t.Errorf("a parameter that is not there: %s: %s", answer.Status, body)
	}
}

// heldProgram is a program that can be read up to its first block, and further when it is let go.
type heldProgram struct {
	schedule.Program
	letGo chan struct{}
}

func (p *heldProgram) Block(rank, step int, b *schedule.Block) {
	<-p.letGo
	p.Program.Block(rank, step, b)
}

// testProgress looks at the latency of a run while it is being replayed: the page says what is being done and how far it is.
func testProgress(t *testing.T, s *site) {
	program, err := pattern.New("halo2d", pattern.Params{Ranks: 16, Iterations: 4, Jitter: 0.4, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	chic, err := machine.Named("chic")
	if err != nil {
		t.Fatal(err)
	}
	held := &heldProgram{program, make(chan struct{})}
	other := s.beside(t, []Source{{Name: "slow", Open: func(context.Context) (*Opened, error) {
		return &Opened{Timeline: halo(t, 16, 4), Machines: []*machine.Machine{chic}, OwnMachine: "chic", Program: held}, nil
	}}})
	p := other.open(t, "#matrix", 1280, 800)
	p.eval(`(location.hash = "#latency", undefined)`, nil)
	p.must(p.Wait(`document.querySelector(".loading progress:not([hidden])")?.value >= 0.1`))
	p.must(p.Wait(`document.querySelector(".loading").textContent.includes("s so far")`))
	if text := p.text(`document.querySelector(".loading").textContent`); !strings.Contains(text, "slow: replaying it on chic, 10 %") {
		t.Errorf("the page says %q while the run is replayed", text)
	}
	p.fits("progress", 1280)
	p.picture("progress")
	close(held.letGo)
	p.must(p.Wait(`document.querySelector("svg.curve")`))
	p.settle()
	p.sound()
}

// testNotReadAgain replaces a run by one that cannot be read: the page says why, and goes on when the run can be read.
func testNotReadAgain(t *testing.T, s *site) {
	file := filepath.Join(t.TempDir(), "run")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	var broken atomic.Bool
	other := s.beside(t, []Source{{Name: "replaced", Files: []string{file}, Open: func(context.Context) (*Opened, error) {
		if broken.Load() {
			return nil, errors.New("rank 3: its file ends after 812 bytes")
		}
		return &Opened{Timeline: halo(t, 4, 2)}, nil
	}}})
	p := other.open(t, "#timeline", 1000, 700)
	broken.Store(true)
	write("second, which is longer")
	look := func(script string) { // as when the user comes back to the page
		p.must(p.Wait(`(dispatchEvent(new Event("focus")), ` + script + `)`))
	}
	const again = `[...document.querySelectorAll("#runs button")].find(b => b.textContent === "Read again")`
	look(again)
	p.eval(again+".click()", nil)
	const problem = `document.getElementById("problem")`
	look("!" + problem + ".hidden")
	const why = "replaced: it could not be read again, what was read before is shown: rank 3: its file ends after 812 bytes"
	if text := p.text(problem + ".textContent"); !strings.Contains(text, why) {
		t.Errorf("the page says %q, want %q", text, why)
	}
	p.settle()
	p.fits("not read again", 1000)
	p.picture("not-read-again")
	p.must(p.ClickOn("#problem .close"))
	p.must(p.Wait(problem + ".hidden"))
	p.eval(again+".click()", nil)
	look("!" + problem + ".hidden")
	broken.Store(false)
	p.must(p.ClickOn("#problem button"))
	look(problem + ".hidden && !" + again)
	p.settle()
	p.sound()
}

// testForwarded comes by a port that is forwarded under another number: a page says what to do, and nothing of the run is served.
func testForwarded(t *testing.T, s *site) {
	target, err := url.Parse(s.address)
	if err != nil {
		t.Fatal(err)
	}
	forwarded := httptest.NewServer(httputil.NewSingleHostReverseProxy(target))
	t.Cleanup(forwarded.Close)
	b, err := s.browser.Open(400, 800)
	if err != nil {
		t.Fatal(err)
	}
	p := &page{Page: b, tb: t}
	t.Cleanup(func() { p.must(b.Close()) })
	p.must(p.Goto(forwarded.URL + "/?token=" + s.server.Token()))
	port := target.Port()
	text := p.text("document.body.innerText")
	for _, want := range []string{"answers to localhost:" + port, "ssh -L " + port + ":localhost:" + port + " HOST", "token"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q: %s", want, text)
		}
	}
	if strings.Contains(text, s.server.Token()) {
		t.Error("the page says the token")
	}
	p.picture("forwarded")
	p.Problems() // its status is an error
	answer, err := http.Get(forwarded.URL + "/api/runs")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden || !strings.HasPrefix(answer.Header.Get("Content-Type"), "application/json") {
		t.Errorf("the API behind a forwarded port: %s", answer.Status)
	}
}
