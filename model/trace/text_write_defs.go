package trace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// definitions writes what comes before the locations.
func (w *textWriter) definitions() {
	d := w.d
	w.print("%s %s\n", textMagic, textVersion)
	w.chooseUnit()
	w.properties()
	if len(d.Locations) == 0 || d.Locations[len(d.Locations)-1].Rank != d.Ranks-1 {
		w.print("ranks %d\n", d.Ranks)
	}
	w.comms = keysOf(d.Comms, func(c *timeline.Comm) string { return c.Name })
	for i := range d.Comms {
		c := &d.Comms[i]
		w.print("comm %s%s%s", quoted(w.comms[i]), nameUnless(c.Name, w.comms[i]), ranges(c.Members))
		if c.Remote != nil {
			w.print(" remote%s", ranges(c.Remote))
		}
		w.print("\n")
	}
	w.regions = keysOf(d.Regions, func(r *timeline.Region) string { return r.Name })
	for i := range d.Regions {
		w.region(w.regions[i], &d.Regions[i])
	}
	for i := 1; i < len(d.Stacks); i++ {
		w.print("stack %d %s", i, quoted(w.regions[d.Stacks[i].Region]))
		if parent := d.Stacks[i].Parent; parent != 0 {
			w.print(" in %d", parent)
		}
		w.print("\n")
	}
	for i := range d.Carts {
		w.cart(&d.Carts[i])
	}
	for i := range d.Comms {
		w.neighbors(w.comms[i], &d.Comms[i])
	}
	w.windows = w.objects("window", d.Windows)
	w.files = w.objects("file", d.Files)
	w.metrics = keysOf(d.Metrics, func(m *timeline.Metric) string { return m.Name })
	for i, m := range d.Metrics {
		w.print("metric %s%s", quoted(w.metrics[i]), nameUnless(m.Name, w.metrics[i]))
		if m.Unit != "" {
			w.print(" unit %s", quoted(m.Unit))
		}
		w.print("\n")
	}
}

// objects writes windows or files and returns their keys.
func (w *textWriter) objects(keyword string, list []timeline.Object) []string {
	keys := keysOf(list, func(o *timeline.Object) string { return o.Name })
	for i := range list {
		w.print("%s %s%s comm %s\n", keyword, quoted(keys[i]), nameUnless(list[i].Name, keys[i]), quoted(w.comms[list[i].Comm]))
	}
	return keys
}

// neighbors writes the neighbors of the ranks of a communicator.
func (w *textWriter) neighbors(key string, c *timeline.Comm) {
	for rank := range c.In {
		if rank > 0 && len(c.In[rank])+len(c.Out[rank]) == 0 { // the first one says that there is a graph, even one without edges
			continue
		}
		w.print("neighbors %s %d from", quoted(key), rank)
		for i, list := range [][]int32{c.In[rank], c.Out[rank]} {
			if i == 1 {
				w.print(" to")
			}
			for _, n := range list {
				if n == timeline.NoNeighbor {
					w.print(" -")
				} else {
					w.print(" %d", n)
				}
			}
		}
		w.print("\n")
	}
}

// chooseUnit makes times short: they are written in microseconds if the clock ticks no faster.
func (w *textWriter) chooseUnit() {
	for _, u := range []struct {
		name string
		size unit.Duration
	}{{"s", unit.Second}, {"ms", unit.Millisecond}, {"us", unit.Microsecond}} {
		if r := w.d.Resolution; r > 0 && r <= int64(unit.Second/u.size) {
			w.unit = uint64(u.size)
			w.print("unit %s\n", u.name)
			return
		}
	}
}

// nameUnless gives the name of a definition if its key is another one.
func nameUnless(name, key string) string {
	if name == key {
		return ""
	}
	return " name " + quoted(name)
}

func (w *textWriter) properties() {
	p := &w.d.Properties
	for _, f := range []struct {
		keyword string
		words   []string
	}{
		{"command", p.Command}, {"launch", p.Launch}, {"mpi", nonEmpty(p.MPI)}, {"tool", nonEmpty(p.Tool)},
		{"machine", nonEmpty(p.Machine)}, {"callpaths", nonEmpty(p.CallPaths)}, {"yield", nonEmpty(p.Yield)},
		{"recording", nonEmpty(p.Recording)}, {"missing", nonEmpty(p.Missing)},
	} {
		if len(f.words) > 0 {
			var list []string
			for _, word := range f.words {
				list = append(list, quoted(word))
			}
			w.print("%s %s\n", f.keyword, strings.Join(list, " "))
		}
	}
	if p.Created != 0 {
		w.print("created %d\n", p.Created)
	}
	if p.SamplePeriod != 0 {
		w.print("sample-period %s\n", w.time(nil, p.SamplePeriod))
	}
	if p.Resolution != 0 {
		w.print("resolution %d\n", p.Resolution)
	}
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// ranges are ranks as numbers and ranges.
func ranges(ranks []int32) string {
	var b strings.Builder
	for i := 0; i < len(ranks); {
		if ranks[i] == timeline.UnknownRank {
			b.WriteString(" ?")
			i++
			continue
		}
		n := 1
		for i+n < len(ranks) && ranks[i+n] == ranks[i]+int32(n) {
			n++
		}
		if n > 2 {
			fmt.Fprintf(&b, " %d-%d", ranks[i], ranks[i+n-1])
		} else {
			n = 1
			fmt.Fprintf(&b, " %d", ranks[i])
		}
		i += n
	}
	return b.String()
}

func (w *textWriter) region(key string, g *timeline.Region) {
	w.print("region %s%s", quoted(key), nameUnless(g.Name, key))
	usual := timeline.RegionNamed(g.Name)
	if g.Paradigm != usual.Paradigm {
		w.print(" %s", textParadigms[g.Paradigm])
	}
	if g.Role != usual.Role {
		w.print(" %s", textRoles[g.Role])
	}
	if g.File != "" || g.Line != 0 {
		w.print(" at %s %d", quoted(g.File), g.Line)
	}
	w.print("\n")
}

func (w *textWriter) cart(c *Cart) {
	w.print("cart %s", quoted(w.comms[c.Comm]))
	for i, size := range c.Dims {
		w.print(" %d", size)
		if i < len(c.Periodic) && c.Periodic[i] {
			w.print("p")
		}
	}
	w.print("\n")
	usual := true
	for rank, at := range c.Coords {
		usual = usual && slices.Equal(at, rowMajor(c.Dims, rank))
	}
	if usual {
		return
	}
	for rank, at := range c.Coords {
		if len(at) == len(c.Dims) {
			w.print("coordinates %d %s\n", rank, strings.Trim(fmt.Sprint(at), "[]"))
		}
	}
}

func (w *textWriter) location(l *Location) {
	w.print("\nrank %d", l.Rank)
	if l.Thread != 0 {
		w.print(" thread %d", l.Thread)
	}
	for _, f := range []struct{ keyword, value string }{{"name", l.Name}, {"host", l.Host}} {
		if f.value != "" {
			w.print(" %s %s", f.keyword, quoted(f.value))
		}
	}
	if l.ID != uint64(l.Thread)<<32|uint64(l.Rank) {
		w.print(" id %d", l.ID)
	}
	if l.Truncated {
		w.print(" truncated")
	}
	if l.Missing {
		w.print(" missing")
	}
	w.print("\n")
	for _, o := range l.Offsets {
		w.print("offset %s %s", w.time(nil, o.Time), w.time(nil, o.Offset))
		if o.Deviation != 0 {
			w.print(" deviation %s", strconv.FormatFloat(o.Deviation, 'g', -1, 64))
		}
		w.print("\n")
	}
	for _, r := range l.RoundTrips {
		p := &w.d.Locations[r.Partner]
		w.print("trip %d.%d %s %s %s\n", p.Rank, p.Thread, w.time(nil, r.Sent), w.time(nil, r.Answered), w.time(nil, r.Back))
	}
}
