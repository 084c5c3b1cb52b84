package waits

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

	"slackline/analyze/waits"
	"slackline/cli/env"
	"slackline/cli/flags"
	"slackline/internal/provenance"
	"slackline/model/cube"
	"slackline/model/timeline"
)

// writeCube writes the result for the Cube viewer: time, visits, waits and delay costs by call path and rank. What is
// known of a rank stands at its first thread.
func (r *waitsReport) writeCube(a *env.Env, path string, inputs []string) error {
	c := newCubeReport(r)
	c.addProfile()
	c.addWaits()
	c.addDelays()
	err := a.WriteBytes(path, inputs, func(w io.Writer) error { return cube.Write(w, &c.report) })
	if err == nil {
		a.Note("wrote %s", path)
	}
	return err
}

// cubeReport is a result on its way to a Cube file.
type cubeReport struct {
	*waitsReport
	report  cube.Report
	nodes   []int // by number of a call path: its node
	threads int
	first   []int          // by rank: its first location
	index   map[string]int // of metrics
}

func newCubeReport(r *waitsReport) *cubeReport {
	c := &cubeReport{waitsReport: r, threads: len(r.run.Timeline.Locations), index: map[string]int{}}
	c.report.Attributes = [][2]string{{"Creator", flags.Tool + " " + provenance.Version()}, {"Input", r.run.Name}}
	c.addTree()
	c.addSystem()
	return c
}

var (
	cubeParadigms = map[timeline.Paradigm]string{timeline.MPI: "mpi", timeline.OpenMP: "openmp", timeline.Tool: "measurement"}
	cubeRoles     = map[timeline.Role]string{
		timeline.PointToPoint: "point2point", timeline.CollectiveCall: "other collective", timeline.FileIO: "file io", timeline.OneSided: "rma",
		timeline.Parallel: "parallel", timeline.Barrier: "barrier", timeline.ImplicitBarrier: "implicit barrier", timeline.Workshare: "workshare",
	}
)

// addTree adds the call paths. Being in no call is a node of its own.
func (c *cubeReport) addTree() {
	p := c.result.Paths
	regions := map[string]int{}
	c.nodes = make([]int, p.Len())
	for path := range p.Names {
		region := p.Region[path]
		name := region.Name
		if path == 0 {
			name = "(no call)"
		}
		key := fmt.Sprintf("%s\x00%s\x00%d", name, region.File, region.Line)
		id, known := regions[key]
		if !known {
			id = len(c.report.Regions)
			regions[key] = id
			paradigm, role := cubeParadigms[region.Paradigm], cubeRoles[region.Role]
			paradigm = cmp.Or(paradigm, "user")
			role = cmp.Or(role, "function")
			c.report.Regions = append(c.report.Regions, cube.Region{Name: name, File: region.File, Line: region.Line, Paradigm: paradigm,
				Role: role})
		}
		parent := -1
		if up := p.Parent[path]; path != 0 && up != 0 {
			parent = c.nodes[up]
		}
		c.nodes[path] = len(c.report.Nodes)
		c.report.Nodes = append(c.report.Nodes, cube.Node{Parent: parent, Region: id})
	}
}

// addSystem adds ranks and threads, and the process grid.
func (c *cubeReport) addSystem() {
	tl := c.run.Timeline
	c.first = make([]int, tl.Ranks)
	var coords [][]int
	for i := range tl.Locations {
		l := &tl.Locations[i]
		n := len(c.report.Processes)
		if n == 0 || c.report.Processes[n-1].Rank != l.Rank {
			c.first[l.Rank] = i
			c.report.Processes = append(c.report.Processes, cube.Process{Rank: l.Rank, Host: l.Host})
			if tl.Grid != nil && l.Rank < len(tl.Grid.Coords) {
				coords = append(coords, tl.Grid.Coords[l.Rank])
			}
			n++
		}
		name := l.Name
		if strings.TrimSpace(name) == "" {
			name = fmt.Sprintf("thread %d", l.Thread)
		}
		c.report.Processes[n-1].Threads = append(c.report.Processes[n-1].Threads, name)
	}
	if tl.Grid != nil {
		c.report.Grid = &cube.Grid{Dims: tl.Grid.Dims, Periodic: tl.Grid.Periodic, Coords: coords}
	}
}

// metric returns the values of a metric, which is new if there was none.
func (c *cubeReport) metric(name, title, unit, about string) *cube.Values {
	i, known := c.index[name]
	if !known {
		i = len(c.report.Metrics)
		c.index[name] = i
		c.report.Metrics = append(c.report.Metrics, cube.Values{Name: name, Title: title, Unit: unit, About: about, Whole: unit == "occ",
			Rows: map[int][]float64{}})
	}
	return &c.report.Metrics[i]
}

// add adds to a value of a metric.
func (c *cubeReport) add(m *cube.Values, path int32, location int, v float64) {
	if v == 0 || math.IsNaN(v) {
		return
	}
	node := c.nodes[path]
	row := m.Rows[node]
	if row == nil {
		row = make([]float64, c.threads)
		m.Rows[node] = row
	}
	row[location] += v
}

// addProfile adds time and visits.
func (c *cubeReport) addProfile() {
	p := c.waitsReport.profile
	c.metric("visits", "Visits", "occ", "Number of calls, where they are counted")
	c.metric("time", "Time", "sec", "Time in the call path itself, all threads of a rank together")
	for i := range p.Entries {
		e := &p.Entries[i]
		if p.Counted(e) {
			c.add(c.metric("visits", "", "", ""), e.Path, c.first[e.Rank], float64(e.Visits))
		} else if e.Pieces > 0 {
			c.add(c.metric("samples", "Samples", "occ", "Number of samples that saw the function and nothing that it called; its "+
				"calls are not counted"), e.Path, c.first[e.Rank], float64(e.Samples))
		}
		c.add(c.metric("time", "", "", ""), e.Path, c.first[e.Rank], e.Exclusive.InSeconds())
	}
}

// addWaits adds the waits of each kind, and how they split.
func (c *cubeReport) addWaits() {
	for _, m := range waits.Metrics() {
		if c.result.Totals.ByMetric[m].Amount.Sign() > 0 {
			c.metric(m.String(), m.Info().Title, "sec", m.Info().Meaning)
		}
	}
	for i := range c.result.Waits {
		w := &c.result.Waits[i]
		at := c.first[w.Rank]
		c.add(c.metric(w.Metric.String(), "", "", ""), w.Path, at, w.Amount.InSeconds())
		if w.Metric.IsPart() {
			continue
		}
		c.add(c.metric("wait_direct", "Direct waits", "sec", "Waiting caused by what the other one did"), w.Path, at, w.Direct.InSeconds())
		c.add(c.metric("wait_indirect", "Indirect waits", "sec", "Waiting caused by waits of the other one"), w.Path, at, w.Indirect.InSeconds())
		c.add(c.metric("wait_propagating", "Propagating waits", "sec", "Waiting that made others wait"), w.Path, at, w.Propagating.InSeconds())
		c.add(c.metric("wait_terminal", "Terminal waits", "sec", "Waiting that caused no other waiting"), w.Path, at, w.Terminal.InSeconds())
	}
}

// addDelays adds the costs of delays, short-term and long-term, by kind of wait.
func (c *cubeReport) addDelays() {
	for i := range c.result.Delays {
		d := &c.result.Delays[i]
		at := c.first[d.Rank]
		c.add(c.metric("delay_short", "Delay costs, short-term", "sec", "Waiting that the call path caused directly"), d.Path, at,
			d.Short.InSeconds())
		c.add(c.metric("delay_long", "Delay costs, long-term", "sec", "Waiting that the call path caused through other waits"), d.Path, at,
			d.Long.InSeconds())
		for _, cost := range d.ByWait {
			if cost.Sum().Sign() > 0 {
				info := cost.Metric.Info()
				c.add(c.metric("delay_"+info.Name, "Delay costs of "+strings.ToLower(info.Title), "sec", "Waiting of this kind that "+
					"the call path caused"), d.Path, at, cost.Sum().InSeconds())
			}
		}
	}
}
