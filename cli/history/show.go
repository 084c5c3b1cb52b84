package history

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/changes"
	"slackline/cli/env"
	"slackline/cli/flags"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
	"slackline/model/history"
	"slackline/show/tables"
)

// shown is the history as JSON.
type shown struct {
	Dir        string             `json:"dir"`
	Until      string             `json:"until,omitempty"`
	Commits    []history.Commit   `json:"commits"`
	Series     []seriesDocument   `json:"series"`
	Provenance *provenance.Record `json:"provenance"`
}

// seriesDocument is a series as JSON.
type seriesDocument struct {
	CallPath   string      `json:"callpath"`
	Metric     string      `json:"metric"`
	Unit       string      `json:"unit,omitempty"`
	Parameters []string    `json:"parameters"`
	Points     [][]float64 `json:"points"`
	Law        string      `json:"law,omitempty"`
	Commits    []string    `json:"commits"`
	Values     []float64   `json:"values"`
}

type showOptions struct {
	search
	result env.ResultFlags
	top    int
}

func showCommand(a *env.Env) *cobra.Command {
	o := &showOptions{}
	c := &cobra.Command{
		Use:   "show",
		Short: "Show the series of a history: what they are now, their laws and changes.",
		Long: "Show the series of a history: what they are now, the laws by which they grow, and their changes. A value is the geometric " +
			"mean over the points of the parameters; CSV and JSON have all of them.",
		Example: `  slackline history show
  slackline history show --dir perf --metric time --top 0
  slackline history show --format csv --out history.csv`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.run(a, c) },
	}
	a.AddGroup(c, "History", o.addFlags)
	a.AddGroup(c, "Output", func(fs *pflag.FlagSet) {
		flags.AddNumber(fs, &o.top, "top", 30, flags.AtLeast(0), "`number` of rows in the text output; 0: all")
		o.result.AddFlags(fs, "form of the output")
	})
	return c
}

func (o *showOptions) run(a *env.Env, c *cobra.Command) error {
	if err := o.result.Check(filesIn(o.dir)); err != nil {
		return err
	}
	r, err := o.find(a, c)
	if err != nil {
		return err
	}
	return a.WriteResult("history show", &showReport{r, o}, &o.result, nil)
}

// showReport is what a history has.
type showReport struct {
	*changes.Result
	options *showOptions
}

func (r *showReport) Rows(*env.Env) env.Rows { return tables.HistoryValues(r.Result) }

func (r *showReport) Text(a *env.Env, w io.Writer) {
	t := tables.HistorySeries(r.Result)
	if top := r.options.top; top > 0 && len(t.Rows) > top {
		t.Left, t.Rows = len(t.Rows)-top, t.Rows[:top]
	}
	a.WriteCut(w, t)
	fmt.Fprintf(w, "\n%s\n", extent(r.Result))
}

// extent is how much a history has.
func extent(r *changes.Result) string {
	first, last := &r.Commits[0], &r.Commits[len(r.Commits)-1]
	return fmt.Sprintf("%s in %s, %s (%s) to %s (%s)", phrase.Plural(len(r.Series), "series"), phrase.Plural(len(r.Commits), "commit"),
		first.Short(), first.Time.UTC().Format("2006-01-02"), last.Short(), last.Time.UTC().Format("2006-01-02"))
}

func (r *showReport) JSON(a *env.Env) (any, error) {
	d := &shown{Dir: r.options.dir, Until: r.options.until, Commits: r.Commits, Series: []seriesDocument{}, Provenance: a.Record()}
	for _, s := range r.Series {
		e := seriesDocument{CallPath: s.CallPath, Metric: s.Metric, Unit: s.Unit, Parameters: s.Parameters, Points: s.Points, Law: s.Law,
			Values: s.Values}
		for _, at := range s.At {
			e.Commits = append(e.Commits, r.Commits[at].ID)
		}
		d.Series = append(d.Series, e)
	}
	return d, nil
}
