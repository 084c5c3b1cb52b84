package explore

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"testing"

	"slackline/cli/input"
	"slackline/internal/browser"
	"slackline/model/machine"
	"slackline/model/pattern"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// picturesVariable names a directory into which the tests in the browser write what they saw.
const picturesVariable = "SLACKLINE_PICTURES"

// screenshotsVariable names a directory into which they write the pictures of the documents.
const screenshotsVariable = "SLACKLINE_SCREENSHOTS"

// Runs of the pages that are tested, by index.
const (
	lateRun = iota // a recorded run with a planted cause
	oddRun         // names that would be markup
	cubeRun        // a process grid of three dimensions
	planeRun
	wideRun // 1,024 ranks
	measured
	smallRun // 16 ranks
)

// sized are runs of one pattern on few and on many ranks: what a page does must not depend on how many there are.
var sized = []struct {
	run, ranks int
	name       string
}{{smallRun, 16, "small"}, {wideRun, 1024, "wide"}}

// evilNames are functions whose names a careless page would run.
var evilNames = []string{`<script>window.ran = 1</script>`, `"><img src=x onerror="window.ran = 2">`, `a</title><svg onload="window.ran = 3">`}

// site is a server with all runs and a browser, shared by all tests of pages.
type site struct {
	server  *Server
	address string // without token
	browser *browser.Browser
	stop    func() // ends the server
}

// openSite starts both. Tests that follow each other would pay for it each time, so they are subtests of one.
func openSite(tb testing.TB) *site {
	tb.Helper()
	b := browser.ForTest(tb)
	data, _, err := input.OpenDataset(context.Background(), []string{"../../testdata/scaling/cases/k6-g05.json"}, input.DatasetOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	late := func(whole bool) *timeline.Timeline {
		in, err := input.OpenTrace(context.Background(), "../../examples/late/late.slt", input.TraceOptions{})
		if err != nil {
			tb.Fatal(err)
		}
		if whole {
			return in.Timeline
		}
		return in.Timeline.Core(2, true)
	}
	chic, err := machine.Named("chic")
	if err != nil {
		tb.Fatal(err)
	}
	run := func(name string, tl *timeline.Timeline) Source {
		return Source{Name: name, Open: func(context.Context) (*Opened, error) {
			return &Opened{Timeline: tl, Machines: []*machine.Machine{chic}, OwnMachine: "chic"}, nil
		}}
	}
	lateSource := run("late.slt", late(false))
	lateSource.Whole = run("", late(true)).Open
	sources := []Source{
		lateRun:  lateSource,
		oddRun:   run(`<b onclick="window.ran = 4">odd<b>`, evilRun()),
		cubeRun:  run("halo3d", onGrid(simulated(tb, "halo3d", pattern.Params{Ranks: 60, Iterations: 4, Jitter: 0.5, Seed: 7}), 5, 4, 3)),
		planeRun: run("halo2d", onGrid(halo(tb, 64, 6), 8, 8)),
		wideRun:  run("wide", halo(tb, 1024, 10)),
		smallRun: run("small", halo(tb, 16, 10)),
		measured: {Name: "measurements.json", Open: func(context.Context) (*Opened, error) { return &Opened{Dataset: data}, nil }},
	}
	s := &site{browser: b}
	if s.server, err = New(sources, Options{Threads: 2, Version: "test"}); err != nil {
		tb.Fatal(err)
	}
	if err := s.server.Open(context.Background()); err != nil {
		tb.Fatal(err)
	}
	s.listen(tb)
	return s
}

// beside returns a site of other runs, for the same browser.
func (s *site) beside(t *testing.T, sources []Source) *site {
	t.Helper()
	server, err := New(sources, Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := &site{server: server, browser: s.browser}
	other.listen(t)
	return other
}

// listen serves until the test ends.
func (s *site) listen(tb testing.TB) {
	l, err := Listen(0)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() {
		if err := s.server.Serve(ctx, l); err != nil {
			tb.Error(err)
		}
	})
	s.stop = func() {
		cancel()
		group.Wait()
	}
	tb.Cleanup(s.stop)
	s.address = fmt.Sprintf("http://%s/", l.Addr())
}

// open opens a page at the part of the address behind #.
func (s *site) open(tb testing.TB, place string, width, height int) *page {
	tb.Helper()
	p, err := s.browser.Open(width, height)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := p.Close(); err != nil {
			tb.Error(err)
		}
	})
	q := &page{Page: p, tb: tb}
	q.must(p.Goto(s.address + "?token=" + s.server.Token() + place))
	q.settle()
	return q
}

// page is a page whose failures end the test.
type page struct {
	*browser.Page
	tb testing.TB
}

func (p *page) must(err error) {
	p.tb.Helper()
	if err != nil {
		p.tb.Fatal(err)
	}
}

func (p *page) eval(script string, result any) {
	p.tb.Helper()
	p.must(p.Eval(script, result))
}

func (p *page) text(script string) string {
	p.tb.Helper()
	var text string
	p.eval("String("+script+")", &text)
	return text
}

// settle waits until the page has got everything that it asked for and has drawn it, and stays so for some frames.
func (p *page) settle() {
	p.tb.Helper()
	p.must(p.Wait(`document.readyState === "complete"`))
	p.must(p.Wait(`(async () => {
		const still = () => document.querySelector("#main")?.dataset.view !== undefined && !document.querySelector(".loading")
			&& (document.body.dataset.busy ?? "0") === "0" && document.body.dataset.writing === undefined && [...document.images].every(i => i.complete)
			&& [...document.querySelectorAll("canvas.timeline")].every(c => c.dataset.settled === "true");
		for (let i = 0; i < 5; i++) {
			if (!still()) return false;
			await new Promise(done => requestAnimationFrame(() => setTimeout(done, 12)));
		}
		return true;
	})()`))
}

// sound fails the test if anything went wrong in the page.
func (p *page) sound() {
	p.tb.Helper()
	for _, problem := range p.Problems() {
		p.tb.Errorf("the page says: %s", problem)
	}
}

// picture keeps what the page looks like, if somebody wants to see it.
func (p *page) picture(name string) {
	p.tb.Helper()
	if os.Getenv(picturesVariable) == "" {
		return
	}
	data, err := p.Screenshot()
	p.must(err)
	p.must(browser.Save(picturesVariable, name+".png", data))
}

// screenshot makes a picture for the documents, if somebody wants to renew them.
func (p *page) screenshot(name string) {
	p.tb.Helper()
	if os.Getenv(screenshotsVariable) == "" {
		return
	}
	p.settle()
	data, err := p.Screenshot()
	p.must(err)
	p.must(browser.Save(screenshotsVariable, name+".png", data))
}

// onGrid gives a run a process grid in row-major order.
func onGrid(tl *timeline.Timeline, dims ...int) *timeline.Timeline {
	g := &timeline.Grid{Dims: dims, Periodic: make([]bool, len(dims))}
	for rank := range tl.Ranks {
		at := make([]int, len(dims))
		rest := rank
		for i := len(dims) - 1; i >= 0; i-- {
			at[i], rest = rest%dims[i], rest/dims[i]
		}
		g.Coords = append(g.Coords, at)
	}
	tl.Grid = g
	return tl
}

// evilRun is a run in which rank 1 waits for rank 0, in functions with evil names.
func evilRun() *timeline.Timeline {
	b := timeline.NewBuilder(2)
	oddNames{comm: evilNames[0], main: evilNames[2], work: evilNames[0], idle: evilNames[1], location: evilNames[0], host: evilNames[1]}.run(b)
	return b.Finish(1)
}

// oddNames are names in a run in which rank 1, after being idle, waits for rank 0, which works.
type oddNames struct{ comm, main, work, idle, location, host string }

func (n oddNames) run(b *timeline.Builder) {
	const ms = unit.Millisecond
	comm := b.Comm(timeline.Comm{Name: n.comm, Members: []int32{0, 1}})
	main := b.Region(timeline.RegionNamed(n.main))
	work := b.Region(timeline.RegionNamed(n.work))
	idle := b.Region(timeline.RegionNamed(n.idle))
	send, recv := b.Region(timeline.RegionNamed("MPI_Send")), b.Region(timeline.RegionNamed("MPI_Recv"))

	l := b.Location(0, 0, n.location, n.host)
	l.Enter(0, main)
	l.Enter(1*ms, work)
	l.Leave(9 * ms)
	l.Enter(9*ms, send)
	l.Send(9*ms+1, 1, comm, 7, 4096)
	l.Leave(10 * ms)
	l.Leave(12 * ms)

	l = b.Location(1, 0, n.location, n.host)
	l.Enter(0, main)
	l.Enter(1*ms, idle)
	l.Leave(2 * ms)
	l.Enter(2*ms, recv)
	l.Recv(10*ms, 0, comm, 7, 4096)
	l.Leave(10 * ms)
	l.Leave(12 * ms)
}

func toJSON(tb testing.TB, v any) string {
	tb.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}
