package plot

import (
	"errors"
	"strings"
	"testing"
)

func TestFormatOf(t *testing.T) {
	for _, tc := range []struct {
		name string
		want Format
	}{{"svg", SVG}, {"PNG", PNG}, {".svg", SVG}, {"a/b.c/run.Svg", SVG}, {"x.png", PNG}, {"x.svg.png", PNG}, {"x.pdf", ""}, {"", ""},
		{"x.", ""}, {"run", ""}, {"a.svg/b", ""}} {
		got, err := FormatOf(tc.name)
		if got != tc.want || (err == nil) != (tc.want != "") {
			t.Errorf("FormatOf(%q) = %q, %v, want %q", tc.name, got, err, tc.want)
		}
		if err != nil && (!strings.Contains(err.Error(), ".svg") || !strings.Contains(err.Error(), ".png")) {
			t.Errorf("FormatOf(%q): error %q does not name the possible formats", tc.name, err)
		}
	}
}

// failing is a writer that takes nothing.
type failing struct{ called bool }

func (f *failing) Write([]byte) (int, error) {
	f.called = true
	return 0, errors.New("disk full")
}

func TestWriteErrors(t *testing.T) {
	for _, format := range []string{"svg", "png"} {
		if err := Write(&failing{}, bandwidths(), format, Options{}); err == nil || err.Error() != "disk full" {
			t.Errorf("%s to a full disk: error = %v", format, err)
		}
		w := &failing{}
		if err := Write(w, &Chart{}, format, Options{}); err == nil || w.called {
			t.Errorf("%s of an empty chart: error = %v, written = %v", format, err, w.called)
		}
	}
	for _, scale := range []float64{-1, 0.1, 9} {
		if err := Write(&failing{}, bandwidths(), "svg", Options{Scale: scale}); err == nil || !strings.Contains(err.Error(), "0.5 to 8") {
			t.Errorf("scale %g: error = %v", scale, err)
		}
	}
}

func TestSizeErrors(t *testing.T) {
	for what, fig := range map[string]Figure{
		"narrow chart":   &Chart{Width: 10, Layers: bandwidths().Layers},
		"high chart":     &Chart{Height: 1e9, Layers: bandwidths().Layers},
		"wide diagram":   &MessageDiagram{Width: 1e5, Rows: make([]DiagramRow, 2)},
		"narrow profile": &FinishProfile{Width: 3, Finish: finishTimes(3)},
	} {
		if _, err := Render(fig, "svg", Options{}); err == nil || !strings.Contains(err.Error(), "figure") {
			t.Errorf("%s: error = %v", what, err)
		}
	}
}

// A chart that is too low for its texts grows instead of squeezing the plot.
func TestLowChartGrows(t *testing.T) {
	ch := curves()
	ch.Width, ch.Height = 320, 50
	_, s := inspect(t, ch)
	if s.height < 50+leastPlot {
		t.Errorf("height = %g, want room for a plot of %d", s.height, leastPlot)
	}
}
