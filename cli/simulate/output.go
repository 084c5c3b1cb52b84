package simulate

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"slackline/analyze/simulate"
	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/model/machine"
	"slackline/model/pattern"
	"slackline/model/unit"
	"slackline/show/plot"
)

// simulation is the result of a simulation with everything that its output names.
type simulation struct {
	runDocument
	machine *machine.Machine
	draw    func() (plot.Figure, error)
}

func (s *simulation) Figure(*env.Env) (fig plot.Figure, title, subtitle string, err error) {
	fig, err = s.draw()
	return fig, titleOf(s.Input), fmt.Sprintf("%s on %s, makespan %s", phrase.Plural(s.Ranks, "rank"), s.machine.Name, s.Makespan.Short()), err
}

// titleOf names an input in a figure; applications with what they are.
func titleOf(input string) string {
	for _, p := range pattern.List() {
		if p.Name == input && p.Kind == pattern.Application {
			what, _, _ := strings.Cut(p.Info, ":")
			return input + ": " + what
		}
	}
	return input
}

func (s *simulation) JSON(*env.Env) (any, error) { return &s.runDocument, nil }

func (s *simulation) Rows(*env.Env) env.Rows { return s }

// maxListedRanks is the largest number of ranks whose finish times stand in the
// text output one by one.
const maxListedRanks = 32

func (s *simulation) Text(a *env.Env, w io.Writer) {
	r := &s.Result
	title := fmt.Sprintf("%s, %s on %s, model %s", s.Input, phrase.Plural(len(r.Finish), "rank"), s.machine.Name, s.Model)
	if s.Mapping != "" {
		title += ", mapping " + s.Mapping
	}
	if s.Noise != "" {
		title += ", noise " + s.Noise
	}
	if s.NoiseClock != "" {
		title += ", noise clock " + s.NoiseClock
	}
	a.WriteTitle(w, title)
	a.WriteText(w, s.summary(), false)
	if len(r.Ranks) > 0 {
		fmt.Fprintln(w)
		a.WriteText(w, breakdownTable(r), true)
	}
	writeAttribution(a, w, s.Attribution)
	if len(r.Finish) > maxListedRanks {
		fmt.Fprintf(w, "\nThe finish times of all ranks: --format csv or json.\n")
		return
	}
	fmt.Fprintln(w)
	a.WriteText(w, s.rankTable(), true)
}

// summary are the figures that describe the whole run.
func (s *simulation) summary() *table.Table {
	r := &s.Result
	t := table.Of("what", ">value", "remark")
	latest := slices.Index(r.Finish, r.Makespan)
	sorted := slices.Sorted(slices.Values(r.Finish))
	earliest := sorted[0]
	median := sorted[(len(sorted)-1)/2]
	t.Add("makespan", r.Makespan.Short(), fmt.Sprintf("%s ns, at rank %d", r.Makespan.NS(), latest))
	t.Add("median finish", median.Short(), share(median, r.Makespan))
	t.Add("earliest finish", earliest.Short(), fmt.Sprintf("%s, at rank %d", share(earliest, r.Makespan), slices.Index(r.Finish, earliest)))
	t.Add("messages", phrase.Grouped(r.Messages), fmt.Sprintf("%s of them larger than S", phrase.Grouped(r.Queues.Rendezvous)))
	t.Add("operations", phrase.Grouped(r.Ops), "")
	if s.Model == simulate.LogGOPS {
		q := r.Queues
		t.Add("expected", phrase.Grouped(q.Expected), fmt.Sprintf("messages found their receive posted; at most %s posted at a rank",
			phrase.Grouped(q.MaxPosted)))
		t.Add("unexpected", phrase.Grouped(q.Unexpected), fmt.Sprintf("messages waited for it; at most %s at a rank",
			phrase.Grouped(q.MaxUnexpected)))
	}
	return t
}

// share prints a part of the makespan as a percentage.
func share(part, whole unit.Duration) string {
	if whole == 0 {
		return ""
	}
	return phrase.Percent(part, whole) + " of the makespan"
}

// breakdownTable says where the time of all ranks went.
func breakdownTable(r *simulate.Result) *table.Table {
	t := table.Of("time of a rank", ">mean", ">share", ">largest", ">at rank")
	total := 0.0
	for i := range r.Ranks {
		for _, part := range breakdownParts {
			total += float64(part.of(&r.Ranks[i]))
		}
	}
	for _, part := range breakdownParts {
		sum, largest, at := 0.0, unit.Duration(-1), 0
		for i := range r.Ranks {
			d := part.of(&r.Ranks[i])
			sum += float64(d)
			if d > largest {
				largest, at = d, i
			}
		}
		t.Add(part.name, unit.Duration(sum/float64(len(r.Ranks))).Short(), phrase.Percent(sum, total), largest.Short(), strconv.Itoa(at))
	}
	return t
}

// breakdownParts are the parts of a rank's time, in the order of the output.
var breakdownParts = []struct {
	name string
	of   func(*simulate.Breakdown) unit.Duration
}{
	{"compute", func(b *simulate.Breakdown) unit.Duration { return b.Compute }},
	{"overhead", func(b *simulate.Breakdown) unit.Duration { return b.Overhead }},
	{"noise", func(b *simulate.Breakdown) unit.Duration { return b.Noise }},
	{"waiting", func(b *simulate.Breakdown) unit.Duration { return b.Waiting }},
}

// rankTable lists the finish times by rank.
func (s *simulation) rankTable() *table.Table {
	r := &s.Result
	columns := table.Columns(">rank", ">finish")
	if len(r.Ranks) > 0 {
		for _, part := range breakdownParts {
			columns = append(columns, table.Column{Key: part.name, Align: table.Right})
		}
	}
	t := table.New(columns...)
	for i, finish := range r.Finish {
		cells := []any{i, finish.String()}
		if len(r.Ranks) > 0 {
			for _, part := range breakdownParts {
				cells = append(cells, part.of(&r.Ranks[i]).String())
			}
		}
		t.Add(cells...)
	}
	return t
}

// Keys are the names of what is written for each rank.
func (s *simulation) Keys() []string {
	names := []string{"rank", "finish_ns"}
	if len(s.Result.Ranks) > 0 {
		for _, part := range breakdownParts {
			names = append(names, part.name+"_ns")
		}
	}
	return names
}

// WriteCSV writes one line per rank. It prints the numbers itself: a million
// ranks take a fraction of a second.
func (s *simulation) WriteCSV(w io.Writer) error {
	r := &s.Result
	b := append([]byte(strings.Join(s.Keys(), ",")), '\n')
	for i, finish := range r.Finish {
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, ',')
		b = finish.AppendNS(b)
		if len(r.Ranks) > 0 {
			for _, part := range breakdownParts {
				b = append(b, ',')
				b = part.of(&r.Ranks[i]).AppendNS(b)
			}
		}
		b = append(b, '\n')
		if len(b) >= 1<<16 {
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	_, err := w.Write(b)
	return err
}

// Values are what WriteCSV writes.
func (s *simulation) Values() iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		r := &s.Result
		row := make([]any, len(s.Keys()))
		for i, finish := range r.Finish {
			row[0], row[1] = i, finish.NS()
			if len(r.Ranks) > 0 {
				for j, part := range breakdownParts {
					row[2+j] = part.of(&r.Ranks[i]).NS()
				}
			}
			if !yield(row) {
				return
			}
		}
	}
}
