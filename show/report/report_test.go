package report

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"slackline/analyze/scaling"
	"slackline/internal/table"
	"slackline/model/collective"
	"slackline/model/machine"
	"slackline/model/timeline"
	"slackline/model/unit"
	"slackline/show/plot"
	"slackline/show/tables"
)

// evil is the name of a function that nobody should run.
const evil = `</title><script>alert("1 & 'only'")</script>` + "`" + `{{.}}/*--`

// hostile is a run in which everything that has a name is called evil, and rank 1 makes rank 0 wait.
func hostile() *timeline.Timeline {
	b := timeline.NewBuilder(2)
	region := func(name string) timeline.RegionID { return b.Region(timeline.RegionNamed(name)) }
	function, send, recv := region(evil), region("MPI_Send"), region("MPI_Recv")
	b.Comm(timeline.Comm{Name: evil, Members: []int32{0, 1}})
	for rank := range 2 {
		l := b.Location(rank, 0, evil, evil)
		work := unit.Duration(1+9*rank) * unit.Millisecond
		l.Enter(0, function)
		if rank == 1 {
			l.Enter(work, send)
			l.Send(work, 0, 0, 7, 64)
			l.Leave(work + unit.Microsecond)
		} else {
			l.Enter(work, recv)
			l.Recv(10*unit.Millisecond+unit.Microsecond, 1, 0, 7, 64)
			l.Leave(10*unit.Millisecond + 2*unit.Microsecond)
		}
		l.Leave(11 * unit.Millisecond)
	}
	return b.Finish(1)
}

// input is a report's input with one run.
func input(t *testing.T, tl *timeline.Timeline) *Input {
	t.Helper()
	mapping, err := collective.FindMapping("default")
	if err != nil {
		t.Fatal(err)
	}
	m := machine.FromParams("free", machine.Params{Overhead: machine.One(unit.Duration(0)), PerByte: machine.One(unit.PerByte(0)),
		Eager: machine.NoLimit})
	return &Input{
		Title: evil, Runs: []*Run{{Name: evil, Words: []string{evil}, Simulate: []string{evil}, Format: evil, Timeline: tl, NoProgram: evil}},
		Machine: &Machine{Machine: m, Words: FreeNetwork(), Assumed: true}, Mapping: &Mapping{Mapping: mapping}, Threads: 2,
		Warnings: []string{evil},
	}
}

func pageOf(t *testing.T, d *Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Names from a trace are shown, never run.
func TestNamesAreEscaped(t *testing.T) {
	d, err := Make(t.Context(), input(t, hostile()))
	if err != nil {
		t.Fatal(err)
	}
	page := pageOf(t, d)
	for _, bad := range []string{"<script", "</title><", `alert("`} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if n := strings.Count(page, "&lt;script&gt;"); n < 10 {
		t.Errorf("the name is shown %d times, want it in titles, facts, tables and commands", n)
	}
}

// The page is well formed, asks nobody for anything, and holds no script.
func TestPageNeedsNothing(t *testing.T) {
	d, err := Make(t.Context(), input(t, hostile()))
	if err != nil {
		t.Fatal(err)
	}
	page := pageOf(t, d)
	for _, bad := range []string{"http:", "https:", "src=", "url(", "@import", "<link", "<script", "<iframe", "<object", " onload", " onclick",
		"javascript:"} {
		if strings.Contains(strings.ReplaceAll(page, `xmlns="http://www.w3.org/2000/svg"`, ""), bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if ids := regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1); len(ids) > 0 {
		seen := map[string]bool{}
		for _, id := range ids {
			if seen[id[1]] {
				t.Errorf("the id %s is there twice", id[1])
			}
			seen[id[1]] = true
		}
	}
	decoder := xml.NewDecoder(strings.NewReader(page))
	decoder.Strict, decoder.Entity = true, xml.HTMLEntity
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the page is not well formed: %v", err)
		}
	}
}

// Both forms hold the same: what the JSON says stands in the page.
func TestPageHoldsTheJSON(t *testing.T) {
	d, err := Make(t.Context(), input(t, hostile()))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var back Document
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	page := pageOf(t, d)
	for _, s := range back.Sections {
		if !strings.Contains(page, `<section id="`+s.ID+`"`) {
			t.Errorf("no section %s in the page", s.ID)
		}
		for _, b := range s.Blocks {
			if b.Figure != nil && !strings.Contains(page, `<figure id="figure-`+b.Figure.ID+`"`) {
				t.Errorf("no figure %s in the page", b.Figure.ID)
			}
		}
	}
}

// Runs in which nothing, or hardly anything, happens have a report too, in both forms.
func TestOddRuns(t *testing.T) {
	for name, build := range map[string]func(*timeline.Builder){
		"no location":   func(*timeline.Builder) {},
		"no event":      func(b *timeline.Builder) { b.Location(0, 0, "", "") },
		"one moment":    func(b *timeline.Builder) { b.Location(0, 0, "", "").Event(5) },
		"only MPI_Init": func(b *timeline.Builder) { onlyCall(b, "MPI_Init") },
		"one function":  func(b *timeline.Builder) { onlyCall(b, "f") },
		"longest":       func(b *timeline.Builder) { b.Location(0, 0, "", "").Event(1<<62 - 1) },
	} {
		t.Run(name, func(t *testing.T) {
			b := timeline.NewBuilder(1)
			build(b)
			d, err := Make(t.Context(), input(t, b.Finish(1)))
			if err != nil {
				t.Fatal(err)
			}
			if page := pageOf(t, d); strings.Contains(page, "NaN") || strings.Contains(page, "cannot be drawn") {
				t.Errorf("the page holds NaN, or a figure that cannot be drawn")
			}
			if _, err := json.Marshal(d); err != nil {
				t.Error(err)
			}
		})
	}
}

// A run in which no time passes says so, whatever it holds, also beside another one.
func TestNoTimePasses(t *testing.T) {
	b := timeline.NewBuilder(2)
	main := b.Region(timeline.RegionNamed("main"))
	for rank := range 2 {
		l := b.Location(rank, 0, "", "")
		l.Enter(7, main)
		l.Leave(7)
	}
	in := input(t, b.Finish(1))
	in.Runs = append(in.Runs, input(t, hostile()).Runs...)
	for range 2 {
		d, err := Make(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		page := pageOf(t, d)
		if strings.Contains(page, "NaN") || strings.Contains(page, "cannot be drawn") {
			t.Error("the page holds NaN, or a figure that cannot be drawn")
		}
		if told := strings.Contains(page, "no time passes in the run"); told != (in.Runs[0].Timeline.Ranks == 2 &&
			in.Runs[0].Timeline.End == in.Runs[0].Timeline.Start) {
			t.Errorf("the page says that no time passes: %t", told)
		}
		slices.Reverse(in.Runs)
	}
}

// Names that are longer than some lines lose their middle on the page, and stay whole in the data.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("std::map<std::string, ", 200) + "int>"
	if got := brief(long); len([]rune(got)) > mostLetters+3 || !strings.HasPrefix(got, "std::map<") || !strings.HasSuffix(got, ", int>") {
		t.Errorf("brief = %q", got)
	}
	sentence := strings.Repeat("Rank 13 waited 385.2ms in main/step/pressure/halo/MPI_Waitall, ", 5) + "because rank 9 sent late."
	if got := brief(sentence); got != sentence {
		t.Errorf("a sentence of %d letters becomes %q", len(sentence), got)
	}
	long = strings.Repeat("words, ", 1000) + "words."
	if got := brief(long); len([]rune(got)) > mostOfSentence+3 || strings.Trim(strings.ReplaceAll(got, "words", ""), " ,.…") != "" {
		t.Errorf("of a long sentence words are cut: %.100q", got)
	}
	if got := brief("main/solve"); got != "main/solve" {
		t.Errorf("brief = %q, want main/solve", got)
	}
	if got := string(cell("a/`" + long + "`")); len(got) > 3*mostLetters {
		t.Errorf("a cell of %d letters", len(got))
	}
}

// onlyCall is a run of one call.
func onlyCall(b *timeline.Builder, name string) {
	r := b.Region(timeline.RegionNamed(name))
	l := b.Location(0, 0, "", "")
	l.Enter(0, r)
	l.Leave(unit.Millisecond)
}

func TestFigureThatCannotBeDrawn(t *testing.T) {
	f := &Figure{ID: "bad", Title: "Bad", Data: &table.Table{}, draw: func(float64) plot.Figure {
		return &plot.Chart{Layers: []plot.Layer{&plot.Line{X: []float64{1, 2}, Y: []float64{math.NaN(), 1}}}}
	}}
	page := pageOf(t, &Document{Sections: []*Section{{ID: "s", Blocks: []Block{{Figure: f}}}}})
	if !strings.Contains(page, "It cannot be drawn: ") {
		t.Error("the page does not say that a figure cannot be drawn")
	}
}

func TestNumbersThatAreNone(t *testing.T) {
	for _, c := range []table.Cell{tables.Number(math.Inf(1)), tables.Number(math.NaN()), tables.Share(math.NaN()),
		measure(math.Inf(1), &scaling.Fit{Unit: "s"})} {
		if c.Text != "-" || c.Value != nil {
			t.Errorf("cell = %+v, want -", c)
		}
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Make(ctx, input(t, hostile())); err == nil {
		t.Error("an interrupted report is made")
	}
}

func TestNothingToTell(t *testing.T) {
	if _, err := Make(t.Context(), &Input{}); err == nil {
		t.Error("a report without input is made")
	}
}

func TestMergeColors(t *testing.T) {
	p := &palette{}
	light := `<text fill="#111111">#222222</text><rect fill="#333333" stroke="#444444"/>`
	dark := `<text fill="#aaaaaa">#222222</text><rect fill="#333333" stroke="#bbbbbb"/>`
	want := `<text fill="var(--f0,#111111)">#222222</text><rect fill="#333333" stroke="var(--f1,#444444)"/>`
	if got := p.merge([]byte(light), []byte(dark)); got != want {
		t.Errorf("merged = %s, want %s", got, want)
	}
	if got := p.merge([]byte(light), []byte(light+"<g/>")); got != light {
		t.Errorf("drawings that differ gave %s", got)
	}
	if got := string(p.css(true)); got != "--f0:#aaaaaa;--f1:#bbbbbb;" {
		t.Errorf("css = %s", got)
	}
}

func TestWords(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{code(""), "no call"}, {code("f`g"), "`f'g`"},
		{string(prose("a `b<c` & d")), "a <code>b&lt;c</code> &amp; d"}, {string(cell("a/`b`")), "a/<wbr/><code>b</code>"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}
