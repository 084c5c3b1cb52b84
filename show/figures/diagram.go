package figures

import (
	"fmt"

	"slackline/analyze/whatif"
	"slackline/model/timeline"
	"slackline/model/unit"
	"slackline/show/plot"
)

var spanKinds = map[timeline.Kind]plot.SpanKind{
	timeline.Compute: plot.Compute,
	timeline.Send:    plot.Send,
	timeline.Receive: plot.Receive,
	timeline.Blocked: plot.Blocked,
}

// Diagram draws the activities and messages of a small simulated run. Work that a delay interrupts is cut in two.
func Diagram(t *timeline.Detail, delays []whatif.Delay) *plot.MessageDiagram {
	d := &plot.MessageDiagram{}
	for row := range t.Tracks {
		l := &t.Tracks[row]
		d.Rows = append(d.Rows, plot.DiagramRow{Label: fmt.Sprint(l.Rank), Finish: l.Finish, Finished: true})
		var mine []whatif.Delay
		for _, e := range delays {
			if e.Rank != l.Rank || e.Length <= 0 {
				continue
			}
			mine = append(mine, e)
			if e.From < t.End {
				d.Spans = append(d.Spans, plot.Span{Row: row, Start: e.From, End: min(e.From+e.Length, t.End), Kind: plot.Noise})
			}
		}
		for _, act := range l.Activities {
			if act.Start == act.End {
				continue // a network whose messages take no CPU time
			}
			for _, part := range without(span{act.Start, act.End}, mine) {
				d.Spans = append(d.Spans, plot.Span{Row: row, Start: part.from, End: part.to, Kind: spanKinds[act.Kind]})
			}
		}
	}
	sizes := map[int64]bool{}
	for i := range t.Messages {
		if size := t.Messages[i].Size; size > 0 {
			sizes[size] = true
		}
	}
	for i := range t.Messages {
		m := &t.Messages[i]
		label := ""
		if len(sizes) > 1 && m.Size > 0 {
			label = unit.Size(m.Size).String()
		}
		d.Arrows = append(d.Arrows, plot.Arrow{
			From: int(m.From), To: int(m.To), Depart: min(m.SendEnd, m.Arrival), Arrive: m.Arrival, Label: label,
		})
	}
	return d
}

type span struct{ from, to unit.Duration }

// without returns the parts of s outside of all delays.
func without(s span, delays []whatif.Delay) []span {
	parts := []span{s}
	for _, e := range delays {
		var next []span
		for _, p := range parts {
			to := e.From + e.Length
			if to <= p.from || e.From >= p.to {
				next = append(next, p)
				continue
			}
			if p.from < e.From {
				next = append(next, span{p.from, e.From})
			}
			if to < p.to {
				next = append(next, span{to, p.to})
			}
		}
		parts = next
	}
	return parts
}
