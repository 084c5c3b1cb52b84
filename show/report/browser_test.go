package report_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slackline/cli"
	"slackline/internal/browser"
)

// makePage makes the report of the demo.
func makePage(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "report.html")
	if err := os.CopyFS(dir, os.DirFS("../../cli/demo/demodata")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "late.slt"), os.DirFS("../../examples/late/late.slt")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	var stderr bytes.Buffer
	code := cli.Main([]string{
		"report", "ocean.slt", "late.slt", "runs-before.json", "--expectations", "expectations.yaml", "--title", "An ocean on 16 ranks",
		"--machine", "chic", "--noise", "zeptoos", "--replicas", "2", "--scale-to", "16,64", "--out", path, "--quiet",
	}, nil, os.Stdout, &stderr)
	if code != 0 {
		t.Fatal(stderr.String())
	}
	return path
}

// fits tells what is wider than the page, and which texts of figures are too small to be read.
const fits = `(() => {
	const wrong = [];
	if (document.documentElement.scrollWidth > window.innerWidth) wrong.push("the page is " + document.documentElement.scrollWidth + " wide");
	for (const e of document.querySelectorAll("p, h1, h2, h3, figure, dl, pre.command, .meters, .tablebox, .stack")) {
		const r = e.getBoundingClientRect();
		if (r.width > 0 && r.right > window.innerWidth + 0.5) wrong.push(e.tagName + "." + e.className + " ends at " + r.right);
	}
	for (const bar of document.querySelectorAll(".cellbar")) {
		if (bar.getBoundingClientRect().top < bar.previousElementSibling.getBoundingClientRect().bottom) wrong.push("a bar lies under the number " + bar.previousElementSibling.innerText);
	}
	for (const svg of document.querySelectorAll("svg[role=img]")) {
		const r = svg.getBoundingClientRect();
		if (r.width === 0) continue;
		const size = 11 * r.width / svg.viewBox.baseVal.width;
		if (size < 10) wrong.push(svg.closest("figure").id + " has letters of " + size.toFixed(1) + " pixels");
	}
	return wrong;
})()`

// colors are those of the ground, of letters, and of the letters of a figure.
const colors = `(() => {
	const text = [...document.querySelectorAll(".wide svg text")][0];
	return [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color, getComputedStyle(text).fill,
		getComputedStyle(document.querySelector(".wide svg rect")).fill];
})()`

// A browser shows the report without complaint, without asking the network, in light and dark, at the widths of a
// screen and of a telephone.
func TestInBrowser(t *testing.T) {
	b := browser.ForTest(t)
	path := makePage(t)
	page, err := b.Open(1280, 900)
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	if err := page.Goto("file://" + path); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{1280, 900, 601, 400} {
		if err := page.Resize(width, 900); err != nil {
			t.Fatal(err)
		}
		var wrong []string
		if err := page.Eval(fits, &wrong); err != nil {
			t.Fatal(err)
		}
		for _, w := range wrong {
			t.Errorf("at a width of %d: %s", width, w)
		}
		for _, scheme := range []string{"light", "dark"} {
			if err := page.Media(map[string]string{"prefers-color-scheme": scheme}); err != nil {
				t.Fatal(err)
			}
			picture, err := page.Screenshot()
			if err != nil {
				t.Fatal(err)
			}
			if err := browser.Save("SLACKLINE_PICTURES", fmt.Sprintf("report-%d-%s.png", width, scheme), picture); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := page.Resize(1280, 900); err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"light": {"rgb(255, 255, 255)", "rgb(26, 29, 33)"},
		"dark":  {"rgb(21, 24, 29)", "rgb(236, 236, 236)"},
	}
	for name, place := range map[string]string{"report.png": "header", "report-waits.png": "#waits"} {
		if err := page.Eval(`document.documentElement.style.scrollBehavior = "auto", document.querySelector("`+place+`").scrollIntoView()`, nil); err != nil {
			t.Fatal(err)
		}
		if err := page.Media(map[string]string{"prefers-color-scheme": "light"}); err != nil {
			t.Fatal(err)
		}
		picture, err := page.Screenshot()
		if err != nil {
			t.Fatal(err)
		}
		if err := browser.Save("SLACKLINE_SCREENSHOTS", name, picture); err != nil {
			t.Fatal(err)
		}
	}
	var inks []string
	for _, scheme := range []string{"light", "dark"} {
		if err := page.Media(map[string]string{"prefers-color-scheme": scheme}); err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := page.Eval(colors, &got); err != nil {
			t.Fatal(err)
		}
		for i, w := range want[scheme] {
			if got[i] != w {
				t.Errorf("%s: color %d = %s, want %s", scheme, i, got[i], w)
			}
		}
		if got[2] == got[3] {
			t.Errorf("%s: the letters of figures have the color of their ground, %s", scheme, got[2])
		}
		inks = append(inks, got[2])
	}
	if inks[0] == inks[1] {
		t.Errorf("figures have the ink %s in light and dark", inks[0])
	}
	var same []string
	if err := page.Eval(`[...document.querySelectorAll(".key")].flatMap(key => {
		const seen = new Set();
		return [...key.querySelectorAll(".swatch")].filter(s => {
			const color = getComputedStyle(s).backgroundColor, known = seen.has(color);
			seen.add(color);
			return known;
		}).map(s => s.parentElement.textContent);
	})`, &same); err != nil || len(same) > 0 {
		t.Errorf("parts of the time have the color of others: %q (%v)", same, err)
	}
	var requests int
	if err := page.Eval(`performance.getEntriesByType("resource").length`, &requests); err != nil || requests != 0 {
		t.Errorf("the page asked for %d resources (%v)", requests, err)
	}
	var scripts int
	if err := page.Eval(`document.scripts.length`, &scripts); err != nil || scripts != 0 {
		t.Errorf("the page has %d scripts (%v)", scripts, err)
	}
	var shown bool
	if err := page.ClickOn("#figure-waitmap details summary"); err != nil {
		t.Fatal(err)
	}
	if err := page.Eval(`document.querySelector("#figure-waitmap details table").getBoundingClientRect().height > 100`, &shown); err != nil || !shown {
		t.Errorf("the data of a figure do not show on a click (%v)", err)
	}
	if problems := page.Problems(); len(problems) > 0 {
		t.Errorf("the browser complains: %q", problems)
	}
}

// The report on paper: some pages, light, with nothing cut off and without what can only be pressed.
func TestPrints(t *testing.T) {
	page, err := browser.ForTest(t).Open(1280, 900)
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	if err := page.Goto("file://" + makePage(t)); err != nil {
		t.Fatal(err)
	}
	if err := page.Media(map[string]string{"prefers-color-scheme": "dark"}); err != nil {
		t.Fatal(err)
	}
	pdf, err := page.Print()
	if err != nil {
		t.Fatal(err)
	}
	if err := browser.Save("SLACKLINE_PICTURES", "report.pdf", pdf); err != nil {
		t.Fatal(err)
	}
	if pages := bytes.Count(pdf, []byte("/Type /Page\n")); pages < 4 || pages > 20 {
		t.Errorf("the PDF has %d bytes and %d pages", len(pdf), pages)
	}
	var wrong []string
	const a4 = 688                                             // pixels without margins
	finer := strings.Replace(fits, "size < 10", "size < 9", 1) // paper is sharper
	for _, err := range []error{page.MediaType("print"), page.Resize(a4, 900), page.Eval(finer, &wrong)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range wrong {
		t.Errorf("on paper: %s", w)
	}
	if err := page.Eval(`[
		...[...document.querySelectorAll("nav, details")].filter(e => e.getClientRects().length > 0).map(e => e.tagName + " is printed"),
		...[...document.querySelectorAll("td, th, .scroll")].filter(e => e.scrollWidth > e.clientWidth + 1 && e.getClientRects().length > 0)
			.map(e => "cut off: " + e.textContent.slice(0, 40)),
		...[...document.querySelectorAll(".story p, td")].filter(e => e.textContent.trim().endsWith(".") && /[^ ] … |…[^ ]/.test(e.textContent))
			.map(e => "a cut sentence: " + e.textContent.slice(0, 200)),
		...[document.body.textContent.match(/16 ranks, (\S+), recorded/)?.[1]].filter(time => time !== document.body.textContent.match(/ ran for (\S+) /)?.[1])
			.map(time => "the run takes " + time + " in the line below the title, another time in the first sentence")]`, &wrong); err != nil {
		t.Fatal(err)
	}
	for _, w := range wrong {
		t.Errorf("on paper: %s", w)
	}
}

// BenchmarkOpening opens the report of a run of 16 ranks in a browser, each time in a new page.
func BenchmarkOpening(b *testing.B) {
	chromium := browser.ForTest(b)
	path := makePage(b)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	var load, paint, busy float64
	for b.Loop() {
		page, err := chromium.Open(1280, 900)
		if err != nil {
			b.Fatal(err)
		}
		if err := page.Goto("file://" + path); err != nil {
			b.Fatal(err)
		}
		o, err := page.Opening()
		if err != nil {
			b.Fatal(err)
		}
		load, paint, busy = max(load, o.Load.Seconds()), max(paint, o.FirstPaint.Seconds()), max(busy, o.Busy.Seconds())
		if err := page.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(info.Size())/1e6, "MB")
	b.ReportMetric(load*1000, "slowest-load-ms")
	b.ReportMetric(paint*1000, "slowest-paint-ms")
	b.ReportMetric(busy*1000, "slowest-busy-ms")
}
