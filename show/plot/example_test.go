package plot_test

import (
	"fmt"
	"strings"

	"slackline/model/unit"
	"slackline/show/plot"
)

// Two processes exchange one message; the file name tells the format.
func ExampleRender() {
	us := unit.Microsecond
	figure := &plot.MessageDiagram{
		Title: "One message",
		Rows:  []plot.DiagramRow{{Label: "0", Finish: 2 * us, Finished: true}, {Label: "1", Finish: 7 * us, Finished: true}},
		Spans: []plot.Span{
			{Row: 0, Start: 0, End: 2 * us, Kind: plot.Send},
			{Row: 1, Start: 5 * us, End: 7 * us, Kind: plot.Receive},
		},
		Arrows: []plot.Arrow{{From: 0, To: 1, Depart: 2 * us, Arrive: 5 * us, Label: "8 B"}},
	}
	svg, err := plot.Render(figure, "message.svg", plot.Options{})
	fmt.Println(strings.HasPrefix(string(svg), "<svg "), err)
	_, err = plot.Render(figure, "message.gif", plot.Options{})
	fmt.Println(err)
	// Output:
	// true <nil>
	// no figure format for "message.gif"; possible are .svg and .png
}

// Box plots over process counts with the time without noise, on a logarithmic axis.
func ExampleChart() {
	counts := []float64{2, 4, 8}
	boxes := &plot.Boxes{Name: "with noise", X: counts}
	quiet := &plot.Line{Name: "without noise", Slot: plot.Neutral, X: counts}
	for _, p := range counts {
		box, err := plot.TukeyBox([]float64{10 * p, 11 * p, 12 * p, 13 * p, 40 * p})
		if err != nil {
			fmt.Println(err)
			return
		}
		boxes.Boxes = append(boxes.Boxes, box)
		quiet.Y = append(quiet.Y, 10*p)
	}
	figure := &plot.Chart{
		Title:  "Completion time",
		X:      plot.Axis{Label: "processes", Scale: plot.Log2},
		Y:      plot.Axis{Label: "time", Quantity: plot.Time, FromZero: true},
		Layers: []plot.Layer{boxes, quiet},
	}
	png, err := plot.Render(figure, "png", plot.Options{Dark: true})
	fmt.Println(len(png) > 0, err)
	// Output: true <nil>
}
