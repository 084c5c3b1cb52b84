package env

import (
	"io"
	"strings"

	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/show/plot"
)

// CheckPlot finds out early that --plot names a file in a format that figures do not have. An empty path is fine.
func CheckPlot(path string) error {
	if path == "" {
		return nil
	}
	if _, err := plot.FormatOf(path); err != nil {
		return exit.Usagef("--plot: %v", err)
	}
	return nil
}

// Draw writes a figure to a file. Its caption is the command line.
func (a *Env) Draw(path string, inputs []string, fig plot.Figure, title, subtitle string) error {
	plot.Label(fig, title, subtitle, flags.Tool+" "+strings.Join(a.Args, " "))
	err := a.WriteBytes(path, inputs, func(w io.Writer) error { return plot.Write(w, fig, path, plot.Options{}) })
	if err == nil {
		a.Note("drew %s", path)
	}
	return err
}
