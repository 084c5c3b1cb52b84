package browser

import (
	"bytes"
	"image/png"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

const testPage = `<!doctype html><meta charset="utf-8"><title>x</title>
<style>body { margin: 0 } button { width: 100px; height: 50px }</style>
<button>press</button><input>
<script>
window.seen = [];
for (const kind of ["click", "wheel", "keydown"])
	addEventListener(kind, e => seen.push(kind + " " + (e.key ?? (e.clientX + "," + e.clientY))));
console.log("not a problem");
</script>`

func TestPage(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Write([]byte(testPage))
	}))
	defer server.Close()
	p, err := ForTest(t).Open(640, 400)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []error{
		p.Goto(server.URL + "/"),
		p.ClickOn("button"),
		p.Wheel(Point{10, 20}, 0, 100, 0),
		p.Wait("seen.length >= 2"),
		p.Wait("new Promise(done => setTimeout(() => done(true), 5))"),
		p.Key("ArrowLeft", 0),
		p.Key("?", 0),
		p.Media(map[string]string{"prefers-color-scheme": "dark"}),
		p.Wait("matchMedia('(prefers-color-scheme: dark)').matches"),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	var seen []string
	if err := p.Eval("seen", &seen); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(seen, "; "), "click 50,25; wheel 10,20; keydown ArrowLeft; keydown ?"; got != want {
		t.Errorf("events = %s, want %s", got, want)
	}
	for _, problem := range p.Problems() {
		if !strings.Contains(problem, "favicon.ico") {
			t.Errorf("problem of a sound page: %s", problem)
		}
	}
	testPicture(t, p)
	testOpening(t, p)
	testPinch(t, p)
	testProblems(t, p)
}

func testOpening(t *testing.T, p *Page) {
	o, err := p.Opening()
	if err != nil {
		t.Fatal(err)
	}
	if o.Load <= 0 || o.FirstPaint <= 0 || o.Busy <= 0 {
		t.Errorf("opening = %+v, want times", o)
	}
}

func testPinch(t *testing.T, p *Page) {
	if err := p.Eval(`window.fingers = [], document.body.style = "touch-action: none; height: 300px", ["pointerdown", "pointerup"].forEach(kind =>
		addEventListener(kind, e => fingers.push(kind + " " + e.pointerType + " " + e.clientX)))`, nil); err != nil {
		t.Fatal(err)
	}
	if err := p.Pinch([2]Point{{200, 200}, {300, 200}}, [2]Point{{100, 200}, {400, 200}}); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait("fingers.length === 4"); err != nil {
		t.Fatal(err)
	}
	var fingers []string
	if err := p.Eval("fingers", &fingers); err != nil {
		t.Fatal(err)
	}
	slices.Sort(fingers)
	const want = "pointerdown touch 200; pointerdown touch 300; pointerup touch 100; pointerup touch 400"
	if got := strings.Join(fingers, "; "); got != want {
		t.Errorf("fingers = %s, want %s", got, want)
	}
}

func testPicture(t *testing.T, p *Page) {
	data, err := p.Screenshot()
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if size := picture.Bounds().Size(); size.X != 640 || size.Y != 400 {
		t.Errorf("size of the picture = %v, want (640,400)", size)
	}
}

// testProblems checks that nothing that goes wrong in a page stays unseen.
func testProblems(t *testing.T, p *Page) {
	for _, tc := range []struct{ script, want string }{
		{"setTimeout(() => { throw new Error('thrown') })", "exception: Uncaught Error: thrown"},
		{"console.error('reported', 7)", "console.error: reported 7"},
		{"fetch('/missing')", "status 404"},
		{"fetch('http://127.0.0.1:1/')", "ERR_"},
	} {
		p.Problems()
		_ = p.Eval(tc.script, nil) // a fetch that fails is an error here too
		var list []string
		for range 200 {
			if list = append(list, p.Problems()...); len(list) > 0 {
				break
			}
			if err := p.Eval("new Promise(done => setTimeout(done, 10))", nil); err != nil {
				t.Fatal(err)
			}
		}
		if text := strings.Join(list, "\n"); !strings.Contains(text, tc.want) {
			t.Errorf("problems of %s = %q, want %q", tc.script, text, tc.want)
		}
	}
	if err := p.Eval("undefinedName", nil); err == nil || !strings.Contains(err.Error(), "ReferenceError") {
		t.Errorf("Eval of an unknown name = %v, want a ReferenceError", err)
	}
}
