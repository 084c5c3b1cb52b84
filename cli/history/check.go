package history

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/changes"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
	"slackline/internal/table"
	"slackline/model/history"
	"slackline/show/tables"
)

// formatMarkdown is the form for comments on pull and merge requests.
const formatMarkdown = "markdown"

// document is the outcome of a check as JSON.
type document struct {
	Dir        string             `json:"dir"`
	Verdict    string             `json:"verdict"` // unchanged, better, inconclusive, suspect or worse
	Commits    int                `json:"commits"`
	Series     int                `json:"series"`
	Level      float64            `json:"false_alarms"`
	Smallest   float64            `json:"smallest"`
	Since      string             `json:"since,omitempty"`
	Until      string             `json:"until,omitempty"`
	Changes    []changeDocument   `json:"changes"`
	Provenance *provenance.Record `json:"provenance"`
}

// changeDocument is a change as JSON.
type changeDocument struct {
	Verdict     string           `json:"verdict"` // better, worse or suspect
	CallPath    string           `json:"callpath"`
	Metric      string           `json:"metric"`
	Unit        string           `json:"unit,omitempty"`
	Kind        string           `json:"kind"`
	Before      string           `json:"before"` // last commit without the change
	After       string           `json:"after"`  // first commit with it
	From        float64          `json:"from"`
	To          *float64         `json:"to"` // null: it was not measured
	P           *float64         `json:"p"`  // null: of values far off, or not measured
	LawFrom     string           `json:"law_from,omitempty"`
	LawTo       string           `json:"law_to,omitempty"`
	FormulaFrom string           `json:"formula_from,omitempty"`
	FormulaTo   string           `json:"formula_to,omitempty"`
	Between     []history.Commit `json:"commits_between"`
	More        bool             `json:"more_commits,omitempty"`
}

type checkOptions struct {
	search
	result  env.ResultFlags
	comment string
}

func checkCommand(a *env.Env) *cobra.Command {
	o := &checkOptions{result: env.ResultFlags{Formats: env.Formats(formatMarkdown)}}
	c := &cobra.Command{
		Use:   "check",
		Short: "Find what changed, at which commits; the exit code reports it to continuous integration.",
		Long: "Find what changed at which commits: levels, drifts, noise, laws of growth, and what appeared in runs or is gone. " +
			"At least about ten commits are needed before a change of noisy values can be more than chance; before, a last value that is far " +
			"off is suspect. " +
			"Exact values, such as numbers of messages, change at once, if three in a row were equal.\n" +
			"Exit code: 0 nothing got worse, 3 something did, 4 nothing did but the last value of a series is suspect of being worse: measure " +
			"the commit again and add it; or it lacks what commits before it have; or it could not be compared with any other; or the order of " +
			"commits with the same time is not known, as no repository has them. A " +
			"suspect value that is better is listed, with exit code 0.",
		Example: `  slackline history check
  slackline history check --since 3f9c2ab --comment comment.md
  slackline history check --until HEAD
  slackline history check --metric time --smallest 0.05 --format json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.run(a, c) },
	}
	a.AddGroup(c, "History", func(fs *pflag.FlagSet) {
		o.addFlags(fs)
		fs.StringVar(&o.since, "since", "", "report only changes after this `commit`, e.g. the last release, or one whose changes were accepted")
	})
	a.AddGroup(c, "Output", func(fs *pflag.FlagSet) {
		o.result.AddFlags(fs, "form of the output")
		fs.StringVar(&o.comment, "comment", "", "also write a comment for a pull or merge request to this `file`, in Markdown as GitHub "+
			"and GitLab show it")
	})
	return c
}

func (o *checkOptions) run(a *env.Env, c *cobra.Command) error {
	if err := o.result.Check(filesIn(o.dir), env.To("comment", o.comment)); err != nil {
		return err
	}
	r, err := o.find(a, c)
	if err != nil {
		return err
	}
	list := tables.AllChanges(r)
	if o.since != "" {
		list = slices.DeleteFunc(list, func(x tables.SeriesChange) bool { return !r.After(x.Series, x.Change, o.accepted, o.options) })
	}
	report := &checkReport{r, list, newRepository(c.Context(), r), o, cmp.Or(o.doubt, o.unordered)}
	if o.comment != "" {
		if err := a.WriteOut(o.comment, nil, func(w io.Writer) error { report.writeMarkdown(w); return nil }); err != nil {
			return err
		}
	}
	if err := a.WriteResult("history check", report, &o.result, nil); err != nil {
		return err
	}
	switch report.verdict() {
	case "worse":
		return exit.Verdict(exit.CheckFailed)
	case "suspect", "inconclusive":
		return exit.Verdict(exit.Inconclusive)
	}
	return nil
}

// compared is the number of series that the last commit has, too.
func (r *checkReport) compared() (n int) {
	for _, s := range r.Series {
		if s.At[len(s.At)-1] == len(r.Commits)-1 {
			n++
		}
	}
	return n
}

// verdict is that of all changes together. If the last commit was compared with no other one, or the order of commits is not known,
// nothing is known of it.
func (r *checkReport) verdict() string {
	for _, v := range []string{"worse", "suspect", "inconclusive", "better"} {
		if v == "inconclusive" && (r.compared() == 0 || r.doubt != "") {
			return v
		}
		if slices.ContainsFunc(r.list, func(c tables.SeriesChange) bool { return c.Verdict() == v && (v != "suspect" || c.Worse) }) {
			return v
		}
	}
	return "unchanged"
}

// checkReport are the changes of a history.
type checkReport struct {
	*changes.Result
	list    []tables.SeriesChange
	commits *repository
	options *checkOptions
	doubt   string // why no verdict is that nothing got worse; empty: it may be
}

// summary counts the changes.
func (r *checkReport) summary() string {
	var parts []string
	for _, v := range []string{"worse", "better", "suspect", "suspect for the better"} {
		n := 0
		for i := range r.list {
			if v == r.list[i].Verdict()+map[bool]string{true: " for the better"}[r.list[i].Suspect && !r.list[i].Worse] {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	if len(parts) == 0 {
		parts = []string{"no change"}
	}
	return fmt.Sprintf("%s: %s in %s over %s", r.verdict(), strings.Join(parts, ", "), phrase.Plural(len(r.Series), "series"),
		phrase.Plural(len(r.Commits), "commit"))
}

func (r *checkReport) Rows(*env.Env) env.Rows { return tables.ChangeRows(r.Result, r.list) }

func (r *checkReport) Text(a *env.Env, w io.Writer) {
	if r.options.result.Format == formatMarkdown {
		r.writeMarkdown(w)
		return
	}
	if len(r.list) > 0 {
		a.WriteText(w, tables.Changes(r.Result, r.list), true)
		fmt.Fprintln(w)
	}
	for where, lines := range r.ranges() {
		fmt.Fprintf(w, "%s\n  %s\n", where, strings.Join(lines, "\n  "))
	}
	if len(r.list) > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, r.summary())
}

// ranges are where changes are, each place once, with its commits. A drift has none.
func (r *checkReport) ranges() iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		seen := map[string]bool{}
		for i := range r.list {
			c := r.list[i].Change
			where := r.Range(c)
			if seen[where] || c.Kind == changes.KindDrift {
				continue
			}
			seen[where] = true
			if !yield(where, r.commits.lines(c)) {
				return
			}
		}
	}
}

// commentMark is in the first line of a comment, so that a job finds its last one and replaces it.
const commentMark = "<!-- slackline history -->"

// writeMarkdown writes a comment for a pull or merge request.
func (r *checkReport) writeMarkdown(w io.Writer) {
	fmt.Fprintf(w, "%s\n## Performance: %s\n", commentMark, r.summary())
	if len(r.list) == 0 {
		fmt.Fprintf(w, "\n%s.\n", extent(r.Result))
		return
	}
	fmt.Fprintln(w)
	t := tables.Changes(r.Result, r.list)
	for i, row := range t.Rows {
		row[0].Text = map[string]string{"worse": "🔴 worse", "better": "🟢 better", "suspect": "🟡 suspect"}[r.list[i].Verdict()]
	}
	t.WriteMarkdown(w, "callpath", "metric", "commits")
	fmt.Fprintf(w, "\n<details><summary>Commits</summary>\n")
	for where, lines := range r.ranges() {
		fmt.Fprintf(w, "\n%s\n\n", table.CodeSpan(where))
		for _, line := range lines {
			fmt.Fprintf(w, "* %s\n", table.CodeSpan(line))
		}
	}
	fmt.Fprintf(w, "\n</details>\n\n%s. A series without a change is reported with a probability of at most %s.\n", extent(r.Result),
		phrase.Percent(r.options.level, 1))
}

func (r *checkReport) JSON(a *env.Env) (any, error) {
	o := r.options
	d := &document{
		Dir: o.dir, Verdict: r.verdict(), Commits: len(r.Commits), Series: len(r.Series), Level: o.level, Smallest: o.smallest,
		Since: o.since, Until: o.until, Changes: []changeDocument{}, Provenance: a.Record(),
	}
	for i := range r.list {
		c := &r.list[i]
		e := changeDocument{
			Verdict: c.Verdict(), CallPath: c.CallPath, Metric: c.Metric, Unit: c.Unit, Kind: c.Kind,
			Before: r.Commits[c.Before].ID, After: r.Commits[c.After].ID, From: c.From, To: phrase.Finite(c.To), P: phrase.Finite(c.P),
			LawFrom: c.LawFrom, LawTo: c.LawTo, FormulaFrom: c.FormulaFrom, FormulaTo: c.FormulaTo,
		}
		e.Between, e.More = r.commits.between(c.Change)
		d.Changes = append(d.Changes, e)
	}
	return d, nil
}
