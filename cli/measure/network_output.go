package measure

import (
	"fmt"
	"io"
	"math"
	"strings"

	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/model/unit"
	"slackline/observe/measure"
	"slackline/show/plot"
)

// nsText is a time for people, ns as far as it matters.
func nsText(ns float64) string {
	return unit.Duration(math.Round(ns * float64(unit.Nanosecond))).Short()
}

// perByteText is a cost per byte for people.
func perByteText(ns float64) string { return fmt.Sprintf("%.3gns", ns) }

func intervalText(f measure.Figure, text func(float64) string) string {
	return text(max(f.Low, 0)) + " .. " + text(max(f.High, 0))
}

func (r *measuredNetwork) Text(a *env.Env, w io.Writer) {
	for i := range r.classes {
		c := &r.classes[i]
		n := c.Network
		var b strings.Builder
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "network: %s, ranks %d and %d on %s", r.over, c.Class.Usual[0], c.Class.Usual[1],
			hostsText([]string{r.hosts[c.Class.Usual[0]], r.hosts[c.Class.Usual[1]]}))
		fmt.Fprintf(&b, ": class %s with %s\n\n", c.Class.Name, phrase.Plural(len(c.Class.Pairs), "pair"))
		io.WriteString(w, b.String())
		a.WriteText(w, parameterTable(n), true)
		fmt.Fprintln(w)
		a.WriteText(w, protocolTable(n), true)
		fmt.Fprintf(w, "\n%s\n", eagerText(n, r.options))
		for _, remark := range n.Remarks {
			fmt.Fprintln(w, "remark: "+remark)
		}
	}
}

func parameterTable(n *measure.Network) *table.Table {
	t := table.Of("parameter", ">value", ">interval", "meaning")
	add := func(name string, f measure.Figure, text func(float64) string, meaning string) {
		t.Add(name, text(f.Value), intervalText(f, text), meaning)
	}
	add("L", n.L, nsText, "latency without the work of both sides")
	add("half RTT", n.HalfRoundTrip, nsText, "what many tools call latency")
	add("o_s", n.Send, nsText, "work of sending a small message")
	add("o_r", n.Receive, nsText, "work of receiving it")
	add("g", n.Gap, nsText, "between two small messages")
	return t
}

func protocolTable(n *measure.Network) *table.Table {
	t := table.Of("sizes", ">g", ">G", ">interval of G", ">bandwidth", ">o_s", ">o_r")
	for _, p := range n.Protocols {
		bandwidth := "-"
		if p.PerByte.Value > 0 {
			bandwidth = fmt.Sprintf("%.3g GB/s", 1/p.PerByte.Value)
		}
		t.Add(fmt.Sprintf("%s .. %s", unit.Size(p.From), unit.Size(p.To)), nsText(max(p.Gap.Value, 0)), perByteText(max(p.PerByte.Value, 0)),
			intervalText(p.PerByte, perByteText), bandwidth, nsText(p.Send.Value), nsText(p.Receive.Value))
	}
	return t
}

// eagerText says what S is.
func eagerText(n *measure.Network, o *measure.NetworkOptions) string {
	limit := func(s int) string {
		if s >= o.MaxEager {
			return "all messages up to " + unit.Size(s).String()
		}
		return unit.Size(s).String()
	}
	text := "S: " + limit(n.Eager)
	if n.Eager < o.MaxEager {
		text += " (larger sends wait for their receive)"
	}
	if n.EagerAsleep != n.Eager {
		text += fmt.Sprintf("; %s if the receiver does something else", limit(n.EagerAsleep))
	}
	for i, s := range n.Jumps() {
		if i == 0 {
			text += "; round trips jump after "
		} else {
			text += ", "
		}
		text += unit.Size(s).String()
	}
	return text
}

// Rows has a line for each size of each class.
func (r *measuredNetwork) Rows(*env.Env) env.Rows {
	t := table.Of("class", ">size", ">single_ns", ">single_min_ns", ">single_p90_ns", ">burst_ns", ">burst_min_ns",
		">burst_p90_ns", ">paced_ns", ">paced_min_ns", ">paced_p90_ns", ">gap_ns", ">send_ns", ">receive_ns",
		">disturbed")
	for i := range r.classes {
		c := &r.classes[i]
		for _, p := range c.Network.Points {
			t.Add(c.Class.Name, p.Size, p.Single.Value, p.Single.Low, p.Single.High, p.Burst.Value, p.Burst.Low, p.Burst.High,
				p.Paced.Value, p.Paced.Low, p.Paced.High, p.Gap, p.Send, p.Receive, p.Disturbed)
		}
	}
	return t
}

// Figure shows half round trips and gaps with the fitted lines.
func (r *measuredNetwork) Figure(*env.Env) (fig plot.Figure, title, subtitle string, err error) {
	chart := &plot.Chart{
		Title:    "Messages over " + r.over,
		Subtitle: fmt.Sprintf("%s; lines are g + (s-1) G of each protocol", hostsText(r.hosts)),
		X:        plot.Axis{Label: "size of the message", Quantity: plot.Bytes, Scale: plot.Log2},
		Y:        plot.Axis{Label: "time", Quantity: plot.Time, Scale: plot.Log10},
	}
	for i := range r.classes {
		c := &r.classes[i]
		half := &plot.Points{Name: "half round trip", Slot: 2*i + 1}
		gap := &plot.Points{Name: "gap", Slot: 2*i + 2}
		if len(r.classes) > 1 {
			half.Name, gap.Name = half.Name+", "+c.Class.Name, gap.Name+", "+c.Class.Name
		}
		for _, p := range c.Network.Points {
			half.X, half.Y = append(half.X, float64(p.Size)), append(half.Y, p.Single.Value/2*float64(unit.Nanosecond))
			if p.Gap > 0 {
				gap.X, gap.Y = append(gap.X, float64(p.Size)), append(gap.Y, p.Gap*float64(unit.Nanosecond))
			}
		}
		chart.Layers = append(chart.Layers, half, gap)
		for _, p := range c.Network.Protocols {
			l := &plot.Line{Slot: 2*i + 2}
			for _, q := range c.Network.Points {
				y := (p.Gap.Value + p.PerByte.Value*float64(q.Size-1)) * float64(unit.Nanosecond)
				if q.Size >= p.From && q.Size <= p.To && y > 0 {
					l.X, l.Y = append(l.X, float64(q.Size)), append(l.Y, y)
				}
			}
			if len(l.X) > 1 {
				chart.Layers = append(chart.Layers, l)
			}
		}
	}
	return chart, "", "", nil
}
