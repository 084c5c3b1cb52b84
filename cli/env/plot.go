package env

import (
	"io"
	"strings"

	"slackline/cli/flags"
	"slackline/show/plot"
)

// Drawn is a result that can be drawn.
type Drawn interface {
	Figure(a *Env) (figure plot.Figure, title, subtitle string, err error)
}

// draw writes the figure of a result to a file. Its caption is the command line.
func (a *Env) draw(r Drawn, path string, inputs []string) error {
	fig, title, subtitle, err := r.Figure(a)
	if err != nil {
		return err
	}
	plot.Label(fig, title, subtitle, flags.Tool+" "+strings.Join(a.Args, " "))
	err = a.WriteBytes(path, inputs, func(w io.Writer) error { return plot.Write(w, fig, path, plot.Options{}) })
	if err == nil {
		a.Note("drew %s", path)
	}
	return err
}
