package measure

import (
	"fmt"
	"io"
	"slices"

	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/internal/stat"
	"slackline/internal/table"
	"slackline/model/dataset"
	"slackline/model/unit"
	"slackline/observe/measure"
)

func (r *measuredCollectives) Rows(*env.Env) env.Rows { return rowsOf(r.data()) }

// data are the times of all schemes; those of the first are called time.
func (r *measuredCollectives) data() *dataset.Dataset {
	all := r.schemes[0].Dataset(r.how(r.schemes[0]))
	for _, c := range r.schemes[1:] {
		d := c.Dataset(r.how(c))
		for _, s := range d.Series {
			s.Metric += "-" + string(c.Options.Scheme)
		}
		all.Merge(d)
	}
	return all
}

func (r *measuredCollectives) Text(a *env.Env, w io.Writer) {
	for i, c := range r.schemes {
		if i > 0 {
			fmt.Fprintln(w)
		}
		o := &c.Options
		fmt.Fprintf(w, "collectives: %s on %s, scheme %s, %s, %s, seed %d\n\n", c.MPI, hostsText(c.Hosts[slices.Max(o.Ranks)]),
			o.Scheme,
			reductionText(r.how(c)), launchesText(o.Launches), r.seed)
		a.WriteText(w, r.table(c), true)
	}
}

func launchesText(n int) string {
	if n == 1 {
		return "1 launch"
	}
	return phrase.Grouped(n) + " launches"
}

func reductionText(r measure.Reduction) string {
	return map[measure.Reduction]string{
		measure.ByRoot: "time of rank 0", measure.ByMax: "time of the slowest process", measure.BySpan: "from the first start to the last end",
		measure.ByMean: "mean time of the processes", measure.ByMin: "time of the fastest process",
	}[r]
}

// table has a line for each operation, number of ranks and size.
func (r *measuredCollectives) table(c *measure.Collectives) *table.Table {
	artificial := slices.ContainsFunc(c.Options.Operations, func(o measure.Operation) bool { return o.Work > 0 })
	overlaps := slices.ContainsFunc(c.Options.Operations, func(o measure.Operation) bool { return o.Overlaps() })
	columns := table.Columns("operation", ">ranks", ">size", ">median", ">95 % interval", ">quartiles", ">min",
		">medians of launches", ">valid")
	if overlaps {
		columns = append(columns, table.Columns(">overlap")...)
	}
	if artificial {
		columns = append(columns, table.Columns(">true", ">bias")...)
	}
	if r.before != nil {
		columns = append(columns, table.Columns(">before", ">change", ">p")...)
	}
	t := table.New(columns...)
	for _, p := range c.Points {
		how := r.how(c)
		s, ok := c.Summarize(p, how)
		cells := append(pointCells(p), summaryCells(&s, ok)...)
		cells = append(cells, validText(c, p))
		if overlaps {
			cells = append(cells, overlapText(p))
		}
		if artificial {
			cells = append(cells, trueCells(p, &s, ok)...)
		}
		if r.before != nil {
			cells = append(cells, r.before.cells(c, p, &s, ok)...)
		}
		t.Add(cells...)
	}
	return t
}

// validText says how many executions count, and marks those of a crowded host. Loops have no common start that could be missed.
func validText(c *measure.Collectives, p *measure.CollectivePoint) string {
	valid, tried := p.Counts()
	text := fmt.Sprintf("%d of %d", valid, tried)
	if !c.Options.Scheme.Single() {
		text = "not checked"
	}
	bad := 0
	for i := range p.Runs {
		if p.Runs[i].Refused {
			bad++
		}
	}
	if bad > 0 && !p.Refused() {
		text += fmt.Sprintf(", %d of %s left out", bad, launchesText(len(p.Runs)))
	}
	if c.Crowded[p.Ranks] {
		text += ", crowded"
	}
	return text
}

func pointCells(p *measure.CollectivePoint) []any {
	size := "-"
	if p.Operation.Sized {
		size = unit.Size(p.Size).String()
	}
	return []any{p.Operation.Name, p.Ranks, size}
}

// summaryCells are the figures of a point; one that is refused has none.
func summaryCells(s *measure.Summary, ok bool) []any {
	if !ok {
		return []any{"refused", "-", "-", "-", "-"}
	}
	interval := "-"
	if s.Low != nil {
		interval = nsText(*s.Low) + " .. " + nsText(*s.High)
	}
	return []any{
		nsText(s.Median), interval, nsText(s.Q1) + " .. " + nsText(s.Q3), nsText(s.Min),
		nsText(slices.Min(s.LaunchMedians)) + " .. " + nsText(slices.Max(s.LaunchMedians)),
	}
}

func overlapText(p *measure.CollectivePoint) string {
	if v, ok := p.Overlap(); ok {
		return phrase.PercentCell(v).Text
	}
	return "-"
}

func trueCells(p *measure.CollectivePoint, s *measure.Summary, ok bool) []any {
	want, known := p.Operation.True(measure.ByMax, p.Ranks)
	if !known || !ok {
		return []any{"-", "-"}
	}
	return []any{nsText(float64(want)), fmt.Sprintf("%+.2f %%", 100*(s.Median/float64(want)-1))}
}

// significantChange is the probability below which a difference is taken for one.
const significantChange = 0.05

// cells compare a point with an earlier measurement: launches are the samples, since those of one launch are alike.
func (b *collectivesBaseline) cells(c *measure.Collectives, p *measure.CollectivePoint, s *measure.Summary, ok bool) []any {
	before := b.launches(c.Options.Scheme, p, s.Reduction)
	if !ok || len(before) == 0 {
		return []any{"-", "-", "-"}
	}
	old, now := stat.Quantile(stat.Sorted(before), 0.5), stat.Quantile(stat.Sorted(s.LaunchMedians), 0.5)
	change := fmt.Sprintf("%+.1f %%", 100*(now/old-1))
	if stat.SmallestRankSum(len(before), len(s.LaunchMedians)) > significantChange {
		return []any{nsText(old), change, "too few launches"}
	}
	chance := stat.RankSum(before, s.LaunchMedians)
	text := fmt.Sprintf("%.3f", chance)
	if chance < significantChange {
		text += " *"
	}
	return []any{nsText(old), change, text}
}
