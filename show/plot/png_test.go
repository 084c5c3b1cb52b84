package plot

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"

	"slackline/model/unit"
)

func decode(t *testing.T, fig Figure, opt Options) image.Image {
	t.Helper()
	data, err := Render(fig, "x.png", opt)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// pixel returns the color at a place of the figure.
func pixel(img image.Image, at point, scale float64) color.NRGBA {
	return color.NRGBAModel.Convert(img.At(int(at.x*scale), int(at.y*scale))).(color.NRGBA)
}

func TestPNGSizes(t *testing.T) {
	for _, scale := range []float64{0, 1, 1.5, 3} {
		img := decode(t, bandwidths(), Options{Scale: scale})
		if scale == 0 {
			scale = 2
		}
		want := image.Pt(int(math.Ceil(chartWidth*scale)), int(math.Ceil(chartHeight*scale)))
		if got := img.Bounds().Size(); got != want {
			t.Errorf("scale %g: size = %v, want %v", scale, got, want)
		}
	}
}

func TestPNGColors(t *testing.T) {
	d := binomialBroadcast(15)
	for _, dark := range []bool{false, true} {
		th := &lightTheme
		if dark {
			th = &darkTheme
		}
		img := decode(t, d, Options{Dark: dark})
		times := d.times()
		x, err := Axis{Min: times.lo, Max: times.hi}.resolve(times, 0)
		if err != nil {
			t.Fatal(err)
		}
		g := newDiagramDrawing(d, th, x, float64(img.Bounds().Dx())/2)
		if got := pixel(img, point{3, 3}, 2); got != th.ground {
			t.Errorf("dark %v: corner = %v, want %v", dark, got, th.ground)
		}
		for i, s := range d.Spans {
			r := g.spanRect(i)
			at := point{r.x + r.w/2, r.y + r.h/2}
			if got, want := pixel(img, at, 2), th.spans[s.Kind].fill; got != want {
				t.Errorf("dark %v: span %d at %v = %v, want %v", dark, i, at, got, want)
			}
		}
	}
}

// What is drawn outside a given range must not be seen, and a line must be where its values are.
func TestPNGClipsAndPlaces(t *testing.T) {
	ch := &Chart{
		X: Axis{Label: "x", Min: 0, Max: 10},
		Y: Axis{Label: "y", Min: 0, Max: 10},
		Layers: []Layer{&Bars{Slot: 1, Edges: []float64{-50, 4, 50}, Height: []float64{0, 5}},
			&Line{Slot: 2, X: []float64{-1e12, 1e12}, Y: []float64{8, 8}}},
	}
	p, err := newPanel(&lightTheme, ch.X, ch.Y, ch.Layers)
	if err != nil {
		t.Fatal(err)
	}
	img := decode(t, ch, Options{Scale: 2})
	top := margin + 10.0
	height := chartHeight - top - p.xLabelHeight() - margin
	left := margin + p.yLabelWidth(height)
	p.place(rect{left, top, chartWidth - left - rightSpace(p.x, chartWidth-left), height})
	for _, tc := range []struct {
		what string
		at   point
		want color.NRGBA
	}{
		{"inside the bar", p.at(7.3, 2.5), okabeBlue},
		{"just above the bar", p.at(7.3, 5.2), lightTheme.ground},
		{"left of the bar", p.at(3.8, 2.5), lightTheme.ground},
		{"right of the frame", point{p.frame.right() + 5, p.frame.bottom() - 20}, lightTheme.ground},
	} {
		if got := pixel(img, tc.at, 2); got != tc.want {
			t.Errorf("%s at %v = %v, want %v", tc.what, tc.at, got, tc.want)
		}
	}
	// The line is dashed: most of it has its color.
	hits := 0
	for v := 0.5; v < 9.5; v += 0.05 {
		if pixel(img, p.at(v, 8), 2) == okabeVermillion {
			hits++
		}
	}
	if hits < 90 || hits > 160 {
		t.Errorf("%d of 180 places of the dashed line are drawn, want 90 to 160", hits)
	}
}

func TestPNGTooLarge(t *testing.T) {
	ch := bandwidths()
	ch.Width, ch.Height = 4000, 4000
	_, err := Render(ch, "png", Options{Scale: 8})
	if err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a PNG of 1 billion pixels: error = %v", err)
	}
}

// The pixels that a text covers lie where the layout expects it, upright and turned.
func TestPNGText(t *testing.T) {
	for turn, text := range map[float64]string{0: "Ågµ — ∑ éH", -90: "Ågµ — ∑ éH", 30: "no glyph: 漢"} {
		s := &sheet{width: 200, height: 200, paint: func(c canvas) {
			c.text(point{100, 100}, text, textStyle{size: 20, anchor: anchorMiddle, turn: turn, color: lightTheme.ink})
		}}
		var b bytes.Buffer
		if err := writePNG(&b, s, &lightTheme, 1); err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		area := image.Rectangle{}
		for y := range 200 {
			for x := range 200 {
				if pixel(img, point{float64(x), float64(y)}, 1).R < 128 {
					area = area.Union(image.Rect(x, y, x+1, y+1))
				}
			}
		}
		width := textWidth(text, 20, false)
		long, high := float64(area.Dx()), float64(area.Dy())
		if turn == -90 {
			long, high = high, long
		}
		if turn != 30 && (math.Abs(long-width) > 5 || high < 14 || high > 28) {
			t.Errorf("turn %g: text covers %v, want a length of %.0f", turn, area, width)
		}
		if !image.Pt(100, 97).In(area) {
			t.Errorf("turn %g: text covers %v, want it around the middle", turn, area)
		}
	}
}

func TestFonts(t *testing.T) {
	for name, f := range map[string]*face{"regular": regularFace(), "bold": boldFace()} {
		if len(f.glyphs) < 600 {
			t.Errorf("%s has %d characters, want 600 or more", name, len(f.glyphs))
		}
		for r, g := range f.glyphs {
			points := 0
			for _, contour := range f.outline(g) {
				for _, p := range flatten(contour) {
					points++
					if math.Abs(p.x) > 2*f.em || math.Abs(p.y) > 2*f.em {
						t.Fatalf("%s: %q has a point at %v", name, r, p)
					}
				}
			}
			if points == 0 && !strings.ContainsRune("\u0000\r \u00a0", r) {
				t.Errorf("%s: %q has no outline", name, r)
			}
		}
		for r := '1'; r <= '9'; r++ {
			if f.advance(r) != f.advance('0') {
				t.Errorf("%s: %q is not as wide as 0", name, r)
			}
		}
		for _, r := range "µ—…−é" {
			if _, ok := f.glyphs[r]; !ok {
				t.Errorf("%s lacks %q, which figures use", name, r)
			}
		}
	}
}

func BenchmarkRender(b *testing.B) {
	finish := make([]unit.Duration, 1<<20)
	copy(finish, finishTimes(1<<20))
	for name, fig := range map[string]Figure{"figure=diagram": largestDiagram(), "figure=profile": &FinishProfile{Finish: finish}} {
		for _, format := range []Format{SVG, PNG} {
			b.Run(name+"/format="+string(format), func(b *testing.B) {
				for b.Loop() {
					if _, err := Render(fig, string(format), Options{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
