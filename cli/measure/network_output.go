package measure

import (
	"fmt"
	"io"
	"math"
	"strings"

	"slackline/cli/env"
	"slackline/cli/phrase"
	"slackline/internal/provenance"
	"slackline/internal/table"
	"slackline/model/unit"
	"slackline/observe/measure"
	"slackline/show/plot"
)

func (r *measuredNetwork) write(a *env.Env, w io.Writer, format string) error {
	switch format {
	case env.FormatJSON:
		return env.WriteJSONObject(w, r.json(a))
	case env.FormatCSV:
		return r.points().WriteCSV(w)
	}
	return r.writeText(a, w)
}

// nsText is a time for people, ns as far as it matters.
func nsText(ns float64) string {
	return unit.Duration(math.Round(ns * float64(unit.Nanosecond))).Short()
}

// perByteText is a cost per byte for people.
func perByteText(ns float64) string { return fmt.Sprintf("%.3gns", ns) }

func intervalText(f measure.Figure, text func(float64) string) string {
	return text(max(f.Low, 0)) + " .. " + text(max(f.High, 0))
}

func (r *measuredNetwork) writeText(a *env.Env, w io.Writer) error {
	for i := range r.classes {
		c := &r.classes[i]
		n := c.Network
		var b strings.Builder
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "network: %s, ranks %d and %d on %s", r.over, c.Class.Usual[0], c.Class.Usual[1], hostsText([]string{r.hosts[c.Class.Usual[0]], r.hosts[c.Class.Usual[1]]}))
		fmt.Fprintf(&b, ": class %s with %s\n\n", c.Class.Name, phrase.Plural(len(c.Class.Pairs), "pair"))
		if _, err := io.WriteString(w, b.String()); err != nil {
			return err
		}
		if err := a.WriteText(w, parameterTable(n), true); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		if err := a.WriteText(w, protocolTable(n), true); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "\n%s\n", eagerText(n, r.options)); err != nil {
			return err
		}
		for _, remark := range n.Remarks {
			if _, err := fmt.Fprintln(w, "remark: "+remark); err != nil {
				return err
			}
		}
	}
	return nil
}

func parameterTable(n *measure.Network) *table.Table {
	t := table.New(table.Column{Key: "parameter"}, table.Column{Key: "value", Align: table.Right}, table.Column{Key: "interval", Align: table.Right}, table.Column{Key: "meaning"})
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
	t := table.New(append([]table.Column{{Key: "sizes"}}, phrase.RightColumns("g", "G", "interval of G", "bandwidth", "o_s", "o_r")...)...)
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

// points has a line for each size of each class.
func (r *measuredNetwork) points() *table.Table {
	t := table.New(append([]table.Column{{Key: "class"}}, phrase.RightColumns("size", "single_ns", "single_min_ns", "single_p90_ns", "burst_ns", "burst_min_ns", "burst_p90_ns",
		"paced_ns", "paced_min_ns", "paced_p90_ns", "gap_ns", "send_ns", "receive_ns", "disturbed")...)...)
	for i := range r.classes {
		c := &r.classes[i]
		for _, p := range c.Network.Points {
			t.Add(c.Class.Name, p.Size, p.Single.Value, p.Single.Low, p.Single.High, p.Burst.Value, p.Burst.Low, p.Burst.High,
				p.Paced.Value, p.Paced.Low, p.Paced.High, p.Gap, p.Send, p.Receive, p.Disturbed)
		}
	}
	return t
}

// chart shows half round trips and gaps with the fitted lines.
func (r *measuredNetwork) chart() *plot.Chart {
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
	return chart
}

// measuredNetworkJSON is the result of measure network.
type measuredNetworkJSON struct {
	Over       string             `json:"over"`
	Version    string             `json:"mpi_library_version,omitempty"`
	Hosts      []string           `json:"hosts"`
	Classes    []networkJSON      `json:"classes"`
	Provenance *provenance.Record `json:"provenance"`
}

// networkJSON is one class of pairs; all times are ns, those of G ns per byte.
type networkJSON struct {
	Class         string         `json:"class"`
	Pair          [2]int         `json:"pair"`
	Pairs         [][2]int       `json:"pairs"`
	L             figureJSON     `json:"L_ns"`
	HalfRoundTrip figureJSON     `json:"L_half_rtt_ns"`
	Send          figureJSON     `json:"o_s_ns"`
	Receive       figureJSON     `json:"o_r_ns"`
	Gap           figureJSON     `json:"g_ns"`
	Protocols     []protocolJSON `json:"protocols"`
	Eager         int            `json:"S"`
	EagerAsleep   int            `json:"S_receiver_asleep"`
	Jumps         []int          `json:"jumps"`
	Points        []pointJSON    `json:"sizes"`
	Remarks       []string       `json:"remarks"`
}

type figureJSON struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

type protocolJSON struct {
	From    int        `json:"from"`
	To      int        `json:"to"`
	Gap     figureJSON `json:"g_ns"`
	PerByte figureJSON `json:"G_ns"`
	Send    figureJSON `json:"o_s_ns"`
	Receive figureJSON `json:"o_r_ns"`
}

// pointJSON is one size: median (value), minimum (low) and 90th percentile (high) of one message and its answer, of bursts, and
// of bursts with pauses, without these.
type pointJSON struct {
	Size      int        `json:"size"`
	Single    figureJSON `json:"single_ns"`
	Burst     figureJSON `json:"burst_ns"`
	Paced     figureJSON `json:"paced_ns"`
	Gap       float64    `json:"gap_ns"`
	Send      float64    `json:"send_ns"`
	Receive   float64    `json:"receive_ns"`
	Disturbed bool       `json:"disturbed"`
}

func (r *measuredNetwork) json(a *env.Env) *measuredNetworkJSON {
	record := provenance.New(a.Args)
	record.Warnings = append(record.Warnings, a.Warnings...)
	j := &measuredNetworkJSON{Over: r.over, Version: r.version, Hosts: r.hosts, Classes: []networkJSON{}, Provenance: record}
	for i := range r.classes {
		c := &r.classes[i]
		n := c.Network
		x := networkJSON{
			Class: c.Class.Name, Pair: c.Class.Usual, Pairs: c.Class.Pairs, L: figureJSON(n.L), HalfRoundTrip: figureJSON(n.HalfRoundTrip),
			Send: figureJSON(n.Send), Receive: figureJSON(n.Receive), Gap: figureJSON(n.Gap), Protocols: []protocolJSON{},
			Eager: n.Eager, EagerAsleep: n.EagerAsleep, Jumps: append([]int{}, n.Jumps()...), Points: []pointJSON{}, Remarks: append([]string{}, n.Remarks...),
		}
		for _, p := range n.Protocols {
			x.Protocols = append(x.Protocols, protocolJSON{p.From, p.To, figureJSON(p.Gap), figureJSON(p.PerByte), figureJSON(p.Send), figureJSON(p.Receive)})
		}
		for _, p := range n.Points {
			x.Points = append(x.Points, pointJSON{p.Size, figureJSON(p.Single), figureJSON(p.Burst), figureJSON(p.Paced), p.Gap, p.Send, p.Receive, p.Disturbed})
		}
		j.Classes = append(j.Classes, x)
	}
	return j
}
