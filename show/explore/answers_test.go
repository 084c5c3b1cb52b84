package explore

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"slackline/analyze/profile"
	"slackline/analyze/replay"
	"slackline/analyze/tolerance"
	"slackline/analyze/waits"
	"slackline/model/dataset"
	"slackline/model/machine"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// analyzed is what the analyses say about a run, without the explorer.
func analyzed(t *testing.T, tl *timeline.Timeline) *waits.Result {
	t.Helper()
	r, err := waits.Analyze(context.Background(), tl, waits.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRunsAnswer(t *testing.T) {
	tl := halo(t, 9, 6)
	s, h := serverOf(t, tl, halo(t, 4, 1))
	get[Tree](t, s, h, "/api/tree") // wait for the analysis
	runs := get[Runs](t, s, h, "/api/runs")
	if len(runs.Runs) != 2 || runs.Version != "test" {
		t.Fatalf("runs = %+v, want two", runs)
	}
	r := runs.Runs[0]
	calls := 0
	for i := range tl.Locations {
		calls += tl.Locations[i].Calls.Len()
	}
	want := Run{
		Name: "run 0", Kind: "simulated", Generation: 1, Ranks: 9, Locations: len(tl.Locations),
		Threads: len(tl.Locations), Start: int64(tl.Start),
		Length:    int64(tl.End - tl.Start),
		Simulated: true, Grid: r.Grid, Calls: int64(calls), Messages: int64(len(tl.Messages)), Collectives: int64(len(tl.Collectives)),
		Teams: int64(len(tl.Teams)),
		Paths: r.Paths, ClockError: r.ClockError, Host: r.Host,
		Analysis: "ready", Colors: colors, Machines: []string{"chic"}, OwnMachine: "chic", Figures: []string{"tolerance", "iterations"},
		Warnings: []string{},
	}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("run 0 = %+v\nwant %+v", r, want)
	}
	if runs.Runs[1].Index != 1 || runs.Runs[1].Ranks != 4 {
		t.Errorf("run 1 = %+v", runs.Runs[1])
	}
	list := get[Locations](t, s, h, "/api/locations?first=3&last=5")
	if list.First != 3 || len(list.Locations) != 2 || list.Locations[1].Rank != 4 || list.Locations[0].Calls != tl.Locations[3].Calls.Len() {
		t.Errorf("locations = %+v", list)
	}
}

func TestTimelineAnswer(t *testing.T) {
	s, h := serverOf(t, halo(t, 9, 6))
	v := s.inputs[0].view.Load()
	for number, color := range colors {
		answer, body := ask(t, s, h, "/api/timeline?width=50&rows=4&first=1&last=9&from=1000&to=900000000&color="+color)
		if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "application/octet-stream" {
			t.Fatalf("%s: %s: %s", color, answer.Status, body)
		}
		got, generation, id := decodePicture(t, body)
		c, err := v.coloring(context.Background(), color)
		if err != nil {
			t.Fatal(err)
		}
		want, err := c.paint(context.Background(), 1000, min(900000000, v.length()), 50, rows{first: 1, last: 9}, 4)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.cells, want.cells) || got.from != want.from || got.step != want.step || got.group != 2 || generation != 1 ||
			int(id) != number {
			t.Errorf("%s: the picture differs from what was painted", color)
		}
		legend := get[Legend](t, s, h, "/api/legend?color="+color)
		known := map[int]bool{}
		for _, c := range legend.Categories {
			if known[c.ID] || c.Title == "" || c.Class == "" {
				t.Errorf("%s: category %+v is there twice, or says nothing", color, c)
			}
			known[c.ID] = true
		}
		for _, category := range got.cells {
			if !known[int(category)] {
				t.Errorf("%s: category %d is not in the legend", color, category)
			}
		}
	}
}

func TestCallsAnswer(t *testing.T) {
	tl := halo(t, 9, 6)
	s, h := serverOf(t, tl)
	paths, err := profile.NewPaths(tl)
	if err != nil {
		t.Fatal(err)
	}
	length := int64(tl.End - tl.Start)
	for _, window := range [][2]int64{{0, length}, {length / 3, length / 2}, {length / 2, length/2 + 1}} {
		got := get[Calls](t, s, h, fmt.Sprintf("/api/calls?from=%d&to=%d&first=2&last=4", window[0], window[1]))
		if got.Cut || len(got.Locations) != 2 {
			t.Fatalf("calls = %+v", got)
		}
		for _, l := range got.Locations {
			c := &tl.Locations[l.Location].Calls
			var want []Call
			for i := range c.Enter {
				enter, leave := int64(c.Enter[i]-tl.Start), int64(c.Leave[i]-tl.Start)
				if enter < window[1] && leave > window[0] || enter > window[0] && enter < window[1] {
					depth := 0
					for k := range i {
						if int(c.Skip[k]) > i {
							depth++
						}
					}
					want = append(want, Call{Index: i, Path: int(paths.Of[c.Path[i]]), Depth: depth, Enter: enter, Leave: leave})
				}
			}
			if !slices.Equal(l.Calls, want) {
				t.Errorf("window %v, location %d: %d calls %+v\nwant %d %+v", window, l.Location, len(l.Calls), l.Calls, len(want), want)
			}
		}
	}
	if got := get[Calls](t, s, h, "/api/calls?limit=3"); !got.Cut || len(got.Locations[0].Calls) != 3 || len(got.Locations[1].Calls) != 0 {
		t.Errorf("three calls = %+v, want those and the word that there are more", got)
	}
}

func TestMessagesAnswer(t *testing.T) {
	tl := halo(t, 9, 6)
	s, h := serverOf(t, tl)
	get[Waits](t, s, h, "/api/waits") // what is known about waits decides which messages matter
	length := int64(tl.End - tl.Start)
	for _, w := range [][4]int64{{0, length, 0, 9}, {length / 3, length / 2, 0, 9}, {length / 3, length / 2, 2, 6}} {
		got := get[Messages](t, s, h, fmt.Sprintf("/api/messages?from=%d&to=%d&first=%d&last=%d&limit=20000", w[0], w[1], w[2], w[3]))
		count := 0
		for _, m := range tl.Messages {
			if int64(m.Sent-tl.Start) < w[1] && int64(m.Received-tl.Start) >= w[0] &&
				min(int64(m.From), int64(m.To)) >= w[2] && max(int64(m.From), int64(m.To)) < w[3] {
				count++
			}
		}
		if len(got.Messages) != count || got.Total != int64(count) || got.Estimated || got.Chosen {
			t.Errorf("window %v: %d messages of %d, want %d", w, len(got.Messages), got.Total, count)
		}
		if !slices.IsSortedFunc(got.Messages, func(a, b Message) int { return int(a.Sent - b.Sent) }) {
			t.Errorf("window %v: not by time", w)
		}
		few := get[Messages](t, s, h, fmt.Sprintf("/api/messages?from=%d&to=%d&first=%d&last=%d&limit=5", w[0], w[1], w[2], w[3]))
		if want := mostImportant(got.Messages, 5); few.Total != int64(count) || few.Estimated || !few.Chosen ||
			!slices.Equal(few.Messages, want) {
			t.Errorf("window %v: five of %d messages = %+v, want %+v", w, few.Total, few.Messages, want)
		}
	}
	waited := get[Messages](t, s, h, "/api/messages?limit=1").Messages[0]
	if longest := get[States](t, s, h, "/api/states?largest=1").States[0]; waited.Wait != longest.Amount || waited.To != longest.Location {
		t.Errorf("the message that matters most is %+v, want the one of %+v", waited, longest)
	}
}

// mostImportant are the messages for which somebody waited longest, then those that were longest on their way, by time.
func mostImportant(all []Message, n int) []Message {
	list := slices.Clone(all)
	slices.SortStableFunc(list, func(a, b Message) int {
		return cmp.Or(cmp.Compare(b.Wait, a.Wait), cmp.Compare(b.Received-b.Sent, a.Received-a.Sent))
	})
	list = list[:min(n, len(list))]
	slices.SortStableFunc(list, func(a, b Message) int {
		return cmp.Or(cmp.Compare(a.Sent, b.Sent), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return list
}

func TestWaitAnswers(t *testing.T) {
	tl := halo(t, 9, 6)
	s, h := serverOf(t, tl)
	want := analyzed(t, tl)
	all := get[Waits](t, s, h, "/api/waits?limit=20000")
	if all.Waiting != ps(want.Totals.Waiting.Amount) || all.States != want.States || len(all.Causes) != len(want.Delays) || all.Cut {
		t.Errorf("waits = %+v, want %+v", all, want.Totals)
	}
	cost := int64(0)
	for i, c := range all.Causes {
		cost += c.Cost
		if i > 0 && c.Cost > all.Causes[i-1].Cost {
			t.Error("causes are not ranked")
		}
		sum := int64(0)
		for _, part := range c.ByMetric {
			sum += part
		}
		if sum != c.Cost || c.Short+c.Long != c.Cost {
			t.Errorf("parts of %+v do not sum up", c)
		}
	}
	byPath := int64(0)
	for _, c := range all.ByPath {
		byPath += c.Cost
	}
	if cost+all.Unattributed != all.Waiting || byPath != cost {
		t.Errorf("costs sum up to %d by cause, %d by path, %d without cause, want %d", cost, byPath, all.Unattributed, all.Waiting)
	}
	states := get[States](t, s, h, "/api/states?limit=20000")
	number := 0
	want.EachState(func(w *waits.State) {
		if number >= len(states.States) {
			return
		}
		got := states.States[number]
		if got.State != number || got.Rank != w.Rank || got.At != int64(w.At-tl.Start) || got.Amount != int64(w.Amount) ||
			got.Metric != w.Metric.String() ||
			got.CauseRank != w.Cause || got.Path != int(w.Path) {
			t.Errorf("state %d = %+v, want %+v", number, got, w)
		}
		if enter := tl.Locations[got.Location].Calls.Enter[got.Call]; enter != w.At {
			t.Errorf("state %d begins at %d, its call at %d", number, w.At, enter)
		}
		number++
	})
	if number != len(states.States) || number == 0 {
		t.Errorf("%d states, want %d", len(states.States), number)
	}
	largest := get[States](t, s, h, "/api/states?largest=3")
	for i, w := range want.Largest(3) {
		if largest.States[i].Amount != int64(w.Amount) || largest.States[i].State != w.Number() {
			t.Errorf("largest %d = %+v, want %+v", i, largest.States[i], w)
		}
	}
	checkWait(t, get[WaitAnswer](t, s, h, fmt.Sprint("/api/wait?state=", largest.States[0].State)), want, tl)
	w := largest.States[0]
	byTime := get[WaitAnswer](t, s, h, fmt.Sprintf("/api/wait?location=%d&time=%d", w.Location, w.At+w.Amount/2))
	if !reflect.DeepEqual(byTime.State, w) {
		t.Errorf("at its place there is %+v, want %+v", byTime.State, w)
	}
}

// checkWait compares the answer about a wait state with the analysis.
func checkWait(t *testing.T, got *WaitAnswer, result *waits.Result, tl *timeline.Timeline) {
	t.Helper()
	state := result.State(got.State.State)
	e := result.ExplainState(&state)
	if !reflect.DeepEqual(&got.Explanation, explanation(e)) || len(got.Text) == 0 || got.Advice == "" {
		t.Errorf("explanation = %+v, want %+v", got.Explanation, e)
	}
	shares := got.Rest
	for _, r := range got.Roots {
		shares += r.Share
	}
	if shares != got.State.Amount {
		t.Errorf("roots sum up to %d, want %d", shares, got.State.Amount)
	}
	if len(got.Chain) < 2 || got.Chain[0].State != got.State.State || got.Chain[0].Kind != "wait" {
		t.Fatalf("chain = %+v", got.Chain)
	}
	for i, step := range got.Chain[1:] {
		before := result.State(got.Chain[i].State)
		if step.Rank != before.Cause {
			t.Errorf("step %d is on rank %d, but rank %d was late", i+1, step.Rank, before.Cause)
		}
		if step.From >= step.To || step.From < 0 || step.To > int64(tl.End-tl.Start) {
			t.Errorf("step %d is from %d to %d", i+1, step.From, step.To)
		}
		if last := i+2 == len(got.Chain); last != (step.Kind != "wait") {
			t.Errorf("step %d of %d is %q", i+1, len(got.Chain), step.Kind)
		}
	}
	if next := got.Next; next != nil && (next.Location != got.State.Location || next.At <= got.State.At) {
		t.Errorf("next = %+v", next)
	}
	if previous := got.Previous; previous != nil && (previous.Location != got.State.Location || previous.At >= got.State.At) {
		t.Errorf("previous = %+v", previous)
	}
}

func TestCriticalAnswer(t *testing.T) {
	tl := halo(t, 9, 6)
	s, h := serverOf(t, tl)
	want := analyzed(t, tl).CriticalPath()
	got := get[Critical](t, s, h, "/api/critical?width=8192")
	if got.Length != int64(want.Length) || got.Missing != int64(want.Missing) || len(got.Paths) != len(want.Paths) {
		t.Errorf("critical path = %+v, want %+v", got, want)
	}
	for _, width := range []int{8192, 40, 7, 1} {
		got := get[Critical](t, s, h, fmt.Sprint("/api/critical?width=", width))
		time, segments := int64(0), 0
		for i, p := range got.Pieces {
			time += p.To - p.From
			segments += p.Segments
			if i > 0 && p.From < got.Pieces[i-1].From {
				t.Errorf("width %d: piece %d is before the one before it", width, i)
			}
		}
		if segments != len(want.Segments) || len(got.Pieces) > 2*width+1 {
			t.Errorf("width %d: %d pieces of %d segments, want %d segments", width, len(got.Pieces), segments, len(want.Segments))
		}
		if time < int64(want.Length) || time > int64(tl.End-tl.Start) {
			t.Errorf("width %d: the pieces take %d, the path %d", width, time, want.Length)
		}
	}
	half := int64(tl.End-tl.Start) / 2
	for _, p := range get[Critical](t, s, h, fmt.Sprintf("/api/critical?from=%d&to=%d", half, half+1000)).Pieces {
		if p.From < half || p.To > half+1000 {
			t.Errorf("piece %+v is not in the window", p)
		}
	}
}

func TestTreeAnswers(t *testing.T) {
	tl := halo(t, 9, 6)
	s, h := serverOf(t, tl)
	result := analyzed(t, tl)
	p := result.Profile()
	tree := get[Tree](t, s, h, "/api/tree")
	column := map[string]int{}
	for i, m := range tree.Metrics {
		column[m.Metric] = i
	}
	for _, e := range p.ByPath {
		node := tree.Nodes[e.Path]
		if node.Path != int(e.Path) || node.Exclusive[column["time"]] != ps(e.Exclusive) || node.Exclusive[column["visits"]] != e.Visits ||
			node.Exclusive[column["sent"]] != e.Sent.Bytes || node.Exclusive[column["received"]] != e.Received.Bytes ||
			node.Exclusive[column["collective"]] != e.Collective.Bytes {
			t.Errorf("%s = %+v, want %+v", p.Paths.Names[e.Path], node, e)
		}
		if e.Path != 0 && node.Inclusive[column["time"]] != ps(e.Inclusive) {
			t.Errorf("%s: inclusive time %d, want %d", p.Paths.Names[e.Path], node.Inclusive[column["time"]], e.Inclusive)
		}
	}
	if total := tree.Metrics[column["waiting"]].Total; total != ps(result.Totals.Waiting.Amount) ||
		tree.Nodes[0].Inclusive[column["waiting"]] != total {
		t.Errorf("waiting in all = %d, want %d", total, result.Totals.Waiting.Amount)
	}
	if got, want := tree.Metrics[column["delay"]].Total, ps(result.Totals.Delay.Sum()); got != want {
		t.Errorf("delay = %d, want %d", got, want)
	}
	if got, want := tree.Metrics[column["critical"]].Total, int64(result.CriticalPath().Length); got != want {
		t.Errorf("critical = %d, want %d", got, want)
	}
	for _, m := range tree.Metrics {
		for _, node := range tree.Nodes {
			for inclusive, values := range [][]int64{node.Exclusive, node.Inclusive} {
				d := get[Distribution](t, s, h, fmt.Sprintf("/api/distribution?path=%d&metric=%s&inclusive=%d", node.Path, m.Metric, inclusive))
				if d.Sum != values[column[m.Metric]] || len(d.Values) != tl.Ranks || d.Unit != m.Unit || d.Values[d.MaxRank] != d.Max ||
					d.Values[d.MinRank] != d.Min {
					t.Errorf("%s of %s, inclusive %d: %+v, want a sum of %d", m.Metric, node.Name, inclusive, d, values[column[m.Metric]])
				}
			}
		}
	}
}

func TestSummaryAnswers(t *testing.T) {
	tl := halo(t, 9, 6)
	s, h := serverOf(t, tl)
	result := analyzed(t, tl)
	p := result.Profile()
	c := get[Composition](t, s, h, "/api/composition")
	want := p.Composition(result.WaitTimes())
	sum := int64(0)
	for i, part := range c.Parts {
		sum += part.Time
		if part.Time != ps(want.Parts[i].Time) || part.Name != want.Parts[i].Name || part.Title == "" {
			t.Errorf("part %d = %+v, want %+v", i, part, want.Parts[i])
		}
	}
	if sum != c.Total || c.Total != ps(want.Total) {
		t.Errorf("parts sum up to %d, want %d", sum, want.Total)
	}
	if e := p.Efficiency(0, result.WaitTimes()); c.Efficiency.Parallel != e.Parallel || c.Efficiency.LoadBalance != e.LoadBalance ||
		c.Efficiency.Transfer != e.Transfer {
		t.Errorf("efficiency = %+v, want %+v", c.Efficiency, e)
	}
	it := get[Iterations](t, s, h, "/api/iterations")
	if wanted := p.Iterations(); wanted == nil || len(it.List) != len(wanted.List) || it.List[1].Duration != int64(wanted.List[1].Duration) {
		t.Errorf("iterations = %+v, want %+v", it, wanted)
	}
	for _, size := range []int{128, 9, 4, 1} {
		m := get[Matrix](t, s, h, fmt.Sprint("/api/matrix?size=", size))
		bytes := int64(0)
		for i := range m.From {
			bytes += m.Bytes[i]
			if m.From[i] >= m.Size || m.To[i] >= m.Size || m.Size > size {
				t.Errorf("size %d: cell (%d, %d) of %d", size, m.From[i], m.To[i], m.Size)
			}
		}
		all := int64(0)
		for _, l := range profile.Matrix(tl) {
			all += l.Bytes
		}
		if bytes != all {
			t.Errorf("size %d: %d bytes, want %d", size, bytes, all)
		}
	}
}

// A curve that takes long is not waited for in vain: who asks is told to come again, and the work goes on.
func TestToleranceTakesItsTime(t *testing.T) {
	s, h := serverOf(t, halo(t, 9, 6))
	v := s.inputs[0].view.Load()
	started, proceed := make(chan struct{}), make(chan struct{})
	v.tolerances.by = map[string]*lazy[*toleranceCurve]{}
	v.tolerances.by["chic"] = &lazy[*toleranceCurve]{}
	go v.tolerances.by["chic"].get(func() (*toleranceCurve, error) {
		close(started)
		<-proceed
		return v.makeTolerance("chic")
	})
	<-started
	v.patience = 50 * time.Millisecond
	if answer, body := ask(t, s, h, "/api/tolerance?machine=chic"); answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a curve that is not there yet: %s: %s", answer.Status, body)
	}
	close(proceed)
	v.patience = defaultPatience
	if curve := get[Tolerance](t, s, h, "/api/tolerance?machine=chic"); len(curve.Curve) == 0 {
		t.Errorf("the curve is empty: %+v", curve)
	}
	if affords(1 << 50) {
		t.Error("there is memory for 2^50 calls")
	}
}

func TestToleranceAnswer(t *testing.T) {
	tl := halo(t, 9, 6)
	s, h := serverOf(t, tl)
	program, err := replay.New(tl, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	on, err := machine.Named("chic")
	if err != nil {
		t.Fatal(err)
	}
	ready, err := tolerance.Prepare(program, nil, on.Gamma)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := on.Layout(9)
	if err != nil {
		t.Fatal(err)
	}
	e, err := ready.Evaluate(tolerance.Network{Layout: layout})
	if err != nil {
		t.Fatal(err)
	}
	got := get[Tolerance](t, s, h, "/api/tolerance?latency=20000000")
	if got.T != int64(e.T) || got.LambdaL != e.Lambda.L || got.Machine != "chic" || got.At == nil || len(got.Curve) < 2 ||
		len(got.Tolerances) != 3 {
		t.Errorf("tolerance = %+v, want T = %d, lambda = %+v", got, e.T, e.Lambda)
	}
	g, err := e.Graph(tolerance.Variable{Parameter: tolerance.L})
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.At(20_000_000)
	if err != nil {
		t.Fatal(err)
	}
	if *got.At != (TolerancePoint{Latency: 20_000_000, T: float64(p.T), Before: p.Left, After: p.Right}) {
		t.Errorf("at 20 us = %+v, want %+v", got.At, p)
	}
	if plain := get[Tolerance](t, s, h, "/api/tolerance"); plain.At != nil {
		t.Error("a latency was answered that nobody asked for")
	}
	for _, dark := range []string{"0", "1"} {
		answer, body := ask(t, s, h, "/api/figure?kind=tolerance&dark="+dark)
		if answer.StatusCode != 200 || !strings.HasPrefix(string(body), "<svg") ||
			answer.Header.Get("Content-Type") != "image/svg+xml; charset=utf-8" {
			t.Errorf("figure: %s: %.100s", answer.Status, body)
		}
		if policy := answer.Header.Get("Content-Security-Policy"); policy != figurePolicy {
			t.Errorf("the figure may %q", policy)
		}
	}
}

// measurements is a dataset of a function that grows.
func measurements() *dataset.Dataset {
	d := dataset.New("p")
	series := d.Get("main/<b>solve</b>", "time")
	for _, p := range []float64{2, 4, 8, 16, 32, 64} {
		for i := range 5 {
			series.Add([]float64{p}, 1+0.5*p+0.01*float64(i))
		}
	}
	return d
}

func TestDatasetAnswers(t *testing.T) {
	s, h := serve(t, []Source{{Name: "runs.json", Open: func(context.Context) (*Opened,
		error) {
		return &Opened{Dataset: measurements()}, nil
	}}})
	if r := get[Runs](t, s, h, "/api/runs").Runs[0]; r.Kind != "dataset" || r.Analysis != "ready" ||
		!slices.Equal(r.Figures, []string{"boxes", "model"}) {
		t.Errorf("run = %+v", r)
	}
	list := get[SeriesList](t, s, h, "/api/series")
	if len(list.Series) != 1 || len(list.Series[0].Points) != 6 || list.Series[0].Growth != "O(p)" || list.Series[0].Points[0].Count != 5 ||
		!slices.Equal(list.Parameters, []string{"p"}) {
		t.Errorf("series = %+v", list)
	}
	for _, kind := range []string{"boxes", "model"} {
		answer, body := ask(t, s, h, "/api/figure?kind="+kind)
		if answer.StatusCode != 200 || !strings.Contains(string(body), "&lt;b&gt;solve") || strings.Contains(string(body), "<b>") {
			t.Errorf("%s: %s: %.300s", kind, answer.Status, body)
		}
	}
	for _, at := range []string{"timeline", "legend", "calls", "states", "messages", "critical", "waits", "wait?state=0", "tree",
		"distribution", "matrix", "iterations", "composition", "tolerance", "locations"} {
		if answer, body := ask(t, s, h, "/api/"+at); answer.StatusCode != 400 {
			t.Errorf("%s of a dataset: %s: %s", at, answer.Status, body)
		}
	}
}

// Names of a trace are data, whatever they are.
func TestNamesAreData(t *testing.T) {
	const evil = `</script><script>alert("1")</script>` + "\x00\xff\u2028"
	b := timeline.NewBuilder(1)
	l := b.Location(0, 0, evil, evil)
	l.Enter(0, b.Region(timeline.Region{Name: evil, File: evil}))
	l.Leave(unit.Duration(1000))
	s, h := serverOf(t, b.Finish(1))
	for _, at := range []string{"locations", "legend?color=path", "tree"} {
		answer, body := ask(t, s, h, "/api/"+at)
		if answer.StatusCode != 200 || strings.Contains(string(body), "<") {
			t.Errorf("%s: %s: %s", at, answer.Status, body)
		}
		if !strings.HasPrefix(answer.Header.Get("Content-Type"), "application/json") {
			t.Errorf("%s is %s", at, answer.Header.Get("Content-Type"))
		}
	}
	if got := get[Locations](t, s, h, "/api/locations").Locations[0].Name; !strings.Contains(got, `<script>alert("1")</script>`) {
		t.Errorf("name = %q, want it as it is", got)
	}
}
