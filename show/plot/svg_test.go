package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestGoldenSVG(t *testing.T) {
	figures := exampleFigures()
	for _, name := range slices.Sorted(maps.Keys(figures)) {
		t.Run(name, func(t *testing.T) {
			got, err := Render(figures[name], ".svg", Options{})
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+".svg")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				if err := os.WriteFile(golden+".got", got, 0o644); err != nil {
					t.Error(err)
				}
				t.Errorf("figure differs from %s; look at %s.got, then run with -update", golden, golden)
			}
		})
	}
}

// readSVG returns the texts of an SVG file, or what is wrong with it.
func readSVG(data []byte) (texts []string, err error) {
	d := xml.NewDecoder(bytes.NewReader(data))
	depth, inText := 0, false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			if depth != 0 {
				return nil, errors.New("elements stay open")
			}
			return texts, nil
		}
		if err != nil {
			return nil, err
		}
		switch e := token.(type) {
		case xml.StartElement:
			depth++
			inText = e.Name.Local == "text" || e.Name.Local == "title"
			if inText {
				texts = append(texts, "")
			}
			for _, a := range e.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") || a.Name.Local == "id" {
					return nil, errors.New("attribute " + a.Name.Local + "=" + a.Value)
				}
			}
		case xml.EndElement:
			depth--
			inText = false
		case xml.CharData:
			if inText {
				texts[len(texts)-1] += string(e)
			}
		}
	}
}

func TestSVGIsWellFormed(t *testing.T) {
	figures := exampleFigures()
	maps.Copy(figures, largeFigures())
	for name, fig := range figures {
		data, err := Render(fig, "svg", Options{Dark: true})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		texts, err := readSVG(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(texts) < 5 {
			t.Errorf("%s has %d texts, want 5 or more", name, len(texts))
		}
	}
}

// Whatever the caller writes into texts, the file is valid, says the same, and stays on the page.
func TestAnyTextIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		long := strings.Repeat(s+" ", rapid.IntRange(0, 60).Draw(t, "times"))
		d := rendezvous()
		d.Title, d.Subtitle, d.Caption, d.RowsLabel = s, long, long, long
		d.Rows[0].Label, d.Arrows[0].Label = long, long
		ch := bandwidths()
		ch.Title, ch.Caption, ch.X.Label, ch.Y.Label = long, s, "x"+long, "y"+long
		ch.Layers[0].(*Bars).Name = long
		for _, fig := range []Figure{d, ch} {
			data, err := Render(fig, "svg", Options{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := readSVG(data); err != nil {
				t.Fatalf("title %q: %v", s, err)
			}
			sheet, err := fig.layout(&lightTheme)
			if err != nil {
				t.Fatal(err)
			}
			r := &recorder{}
			sheet.paint(r)
			for _, x := range r.texts {
				if x.room.x < -0.01 || x.room.right() > sheet.width+0.01 || x.room.y < -0.01 || x.room.bottom() > sheet.height+0.01 {
					t.Fatalf("text %q takes %v, outside the page of %g by %g", x.text, x.room, sheet.width, sheet.height)
				}
			}
		}
	})
}

func TestEscapeKeepsMeaning(t *testing.T) {
	data, err := Render(rendezvous(), "svg", Options{})
	if err != nil {
		t.Fatal(err)
	}
	texts, err := readSVG(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`A rendezvous <of> "two" & noise`, "sender & co", "<receiver>", "64 KiB"} {
		if !slices.Contains(texts, want) {
			t.Errorf("texts %q lack %q", texts, want)
		}
	}
	if got := escape("a\x00b\tc\xff"); got != `a\u0000b c\xff` {
		t.Errorf("escape = %q", got)
	}
}

// TestNothingIsDrawnOfNothing: without shapes there is no element, neither in a file nor in an image.
func TestNothingIsDrawnOfNothing(t *testing.T) {
	ink := paint{fill: rgb(0x112233), stroke: rgb(0x445566), width: 2}
	var c svgCanvas
	c.path(nil, false, ink)
	c.path(nil, true, ink)
	c.rects(nil, ink)
	if c.buf.Len() > 0 {
		t.Errorf("written: %s", c.buf.String())
	}
	p := &pngCanvas{img: image.NewRGBA(image.Rect(0, 0, 4, 4)), scale: 1}
	p.window = p.img.Bounds()
	p.path(nil, true, ink)
	p.rects(nil, ink)
	if slices.ContainsFunc(p.img.Pix, func(v uint8) bool { return v != 0 }) {
		t.Errorf("painted: %v", p.img.Pix)
	}
}

func TestDecimal(t *testing.T) {
	for _, tc := range []struct {
		v    float64
		want string
	}{{0, "0"}, {-0.001, "0"}, {1, "1"}, {1.5, "1.5"}, {1.25, "1.25"}, {1.005, "1"}, {-2.1, "-2.1"}, {-0.05, "-0.05"}, {1234.567, "1234.57"},
		{99.999, "100"}} {
		if got := decimal(tc.v); got != tc.want {
			t.Errorf("decimal(%g) = %s, want %s", tc.v, got, tc.want)
		}
	}
}

func TestSameBytesEveryTime(t *testing.T) {
	for _, format := range []string{"svg", "png"} {
		a, err1 := Render(noisePlot(), format, Options{})
		b, err2 := Render(noisePlot(), format, Options{})
		if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Errorf("two renderings as %s differ (%v, %v)", format, err1, err2)
		}
	}
}
