package simulate

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"slackline/analyze/simulate"
	"slackline/analyze/whatif"
	"slackline/cli/env"
	"slackline/cli/input"
	"slackline/cli/phrase"
	"slackline/internal/provenance"
	"slackline/internal/table"
	"slackline/model/machine"
	"slackline/model/unit"
)

// simulation is the result of a simulation with everything that its output
// names.
type simulation struct {
	input       *input.Input
	machine     *machine.Machine
	model       simulate.Model
	mapping     string // of the collectives; empty: there are none
	noise       string // as the user named it; empty: none
	result      *simulate.Result
	attribution *whatif.Attribution // nil: not wanted
	provenance  *provenance.Record  // only in JSON
}

func (s *simulation) write(a *env.Env, w io.Writer, format string) error {
	switch format {
	case env.FormatJSON:
		return s.writeJSON(w)
	case env.FormatCSV:
		return s.writeCSV(w)
	}
	return s.writeText(a, w)
}

// maxListedRanks is the largest number of ranks whose finish times stand in the
// text output one by one.
const maxListedRanks = 32

func (s *simulation) writeText(a *env.Env, w io.Writer) error {
	r := s.result
	fmt.Fprintf(w, "%s, %s on %s, model %s", s.input.Name, phrase.Plural(len(r.Finish), "rank"), s.machine.Name, s.model)
	if s.mapping != "" {
		fmt.Fprintf(w, ", mapping %s", s.mapping)
	}
	if s.noise != "" {
		fmt.Fprintf(w, ", noise %s", s.noise)
	}
	fmt.Fprint(w, "\n\n")
	if err := a.WriteText(w, s.summary(), false); err != nil {
		return err
	}
	if len(r.Ranks) > 0 {
		fmt.Fprintln(w)
		if err := a.WriteText(w, breakdownTable(r), true); err != nil {
			return err
		}
	}
	if err := writeAttribution(a, w, s.attribution); err != nil {
		return err
	}
	if len(r.Finish) > maxListedRanks {
		_, err := fmt.Fprintf(w, "\nThe finish times of all ranks: --format csv or json.\n")
		return err
	}
	fmt.Fprintln(w)
	return a.WriteText(w, s.rankTable(), true)
}

// summary are the figures that describe the whole run.
func (s *simulation) summary() *table.Table {
	r := s.result
	t := table.New(table.Column{Key: "what"}, table.Column{Key: "value", Align: table.Right}, table.Column{Key: "remark"})
	latest := slices.Index(r.Finish, r.Makespan)
	sorted := slices.Sorted(slices.Values(r.Finish))
	earliest := sorted[0]
	median := sorted[(len(sorted)-1)/2]
	t.Add("makespan", r.Makespan.Short(), fmt.Sprintf("%s ns, at rank %d", r.Makespan.NS(), latest))
	t.Add("median finish", median.Short(), share(median, r.Makespan))
	t.Add("earliest finish", earliest.Short(), fmt.Sprintf("%s, at rank %d", share(earliest, r.Makespan), slices.Index(r.Finish, earliest)))
	t.Add("messages", phrase.Grouped(r.Messages), fmt.Sprintf("%s of them larger than S", phrase.Grouped(r.Queues.Rendezvous)))
	t.Add("operations", phrase.Grouped(r.Ops), "")
	if s.model == simulate.LogGOPS {
		q := r.Queues
		t.Add("expected", phrase.Grouped(q.Expected), fmt.Sprintf("messages found their receive posted; at most %s posted at a rank", phrase.Grouped(q.MaxPosted)))
		t.Add("unexpected", phrase.Grouped(q.Unexpected), fmt.Sprintf("messages waited for it; at most %s at a rank", phrase.Grouped(q.MaxUnexpected)))
	}
	return t
}

// share prints a part of the makespan as a percentage.
func share(part, whole unit.Duration) string {
	if whole == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %% of the makespan", 100*float64(part)/float64(whole))
}

// breakdownTable says where the time of all ranks went.
func breakdownTable(r *simulate.Result) *table.Table {
	t := table.New(table.Column{Key: "time of a rank"}, table.Column{Key: "mean", Align: table.Right},
		table.Column{Key: "share", Align: table.Right}, table.Column{Key: "largest", Align: table.Right}, table.Column{Key: "at rank", Align: table.Right})
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
		percent := "-"
		if total > 0 {
			percent = fmt.Sprintf("%.1f %%", 100*sum/total)
		}
		t.Add(part.name, unit.Duration(sum/float64(len(r.Ranks))).Short(), percent, largest.Short(), strconv.Itoa(at))
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
	r := s.result
	columns := []table.Column{{Key: "rank", Align: table.Right}, {Key: "finish", Align: table.Right}}
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

// writeCSV writes one line per rank. It prints the numbers itself: a million
// ranks take a fraction of a second.
func (s *simulation) writeCSV(w io.Writer) error {
	r := s.result
	b := []byte("rank,finish_ns")
	if len(r.Ranks) > 0 {
		for _, part := range breakdownParts {
			b = append(b, ',')
			b = append(b, part.name...)
			b = append(b, "_ns"...)
		}
	}
	b = append(b, '\n')
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

// simulationHead are the members of the JSON output before the lists. The
// members finish_ns, makespan_ns, messages and ops are what other programs rely
// on: they keep name and meaning.
type simulationHead struct {
	Input    string           `json:"input"`
	Ranks    int              `json:"ranks"`
	Model    simulate.Model   `json:"model"`
	Mapping  string           `json:"mapping,omitempty"` // of symbolic collectives
	Noise    string           `json:"noise,omitempty"`
	Engine   string           `json:"engine"`
	Threads  int              `json:"threads"`
	Makespan unit.Nanoseconds `json:"makespan_ns"`
	Messages int64            `json:"messages"`
	Ops      int64            `json:"ops"`
	Queues   queuesJSON       `json:"queues"`
}

type queuesJSON struct {
	Expected      int64 `json:"expected"`
	Unexpected    int64 `json:"unexpected"`
	Rendezvous    int64 `json:"rendezvous"`
	MaxPosted     int   `json:"max_posted"`
	MaxUnexpected int   `json:"max_unexpected"`
}

// writeJSON writes one object, piece by piece: the lists by rank are long.
func (s *simulation) writeJSON(w io.Writer) error {
	r := s.result
	head, err := json.MarshalIndent(simulationHead{
		Input: s.input.Name, Ranks: len(r.Finish), Model: s.model, Mapping: s.mapping, Noise: s.noise, Engine: r.Engine, Threads: r.Threads,
		Makespan: unit.Nanoseconds(r.Makespan), Messages: r.Messages, Ops: r.Ops,
		Queues: queuesJSON{r.Queues.Expected, r.Queues.Unexpected, r.Queues.Rendezvous, r.Queues.MaxPosted, r.Queues.MaxUnexpected},
	}, "", "  ")
	if err != nil {
		return err
	}
	b := append(head[:len(head)-2], ",\n  \"finish_ns\": "...) // without the closing "\n}"
	b = unit.AppendNSList(b, r.Finish)
	if _, err := w.Write(b); err != nil {
		return err
	}
	if len(r.Ranks) > 0 {
		b = append(b[:0], ",\n  \"breakdown\": {"...)
		column := make([]unit.Duration, len(r.Ranks))
		for i, part := range breakdownParts {
			for rank := range r.Ranks {
				column[rank] = part.of(&r.Ranks[rank])
			}
			if i > 0 {
				b = append(b, ',')
			}
			b = fmt.Appendf(b, "\n    \"%s_ns\": ", part.name)
			b = unit.AppendNSList(b, column)
		}
		b = append(b, "\n  }"...)
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	if b, err = appendAttribution(b[:0], s.attribution); err != nil {
		return err
	}
	if _, err := w.Write(b); err != nil {
		return err
	}
	tail, err := json.MarshalIndent(s.provenance, "  ", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, ",\n  \"provenance\": %s\n}\n", tail)
	return err
}
