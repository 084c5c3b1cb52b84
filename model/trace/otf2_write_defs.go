package trace

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"slackline/model/timeline"
	"slackline/model/trace/otf2"
)

// define collects the global definitions, but for those of writeDefinitions.
func (w *otf2Writer) define() (*otf2.DefinitionWriter, error) {
	d := &otf2.DefinitionWriter{Strings: map[string]uint32{}}
	w.defineClock(d)
	d.Text("")
	for _, word := range w.t.Command { // strings 1 and up, in order
		d.NewText(word)
	}
	w.defineLocations(d)
	w.defineRegions(d)
	w.defineComms(d)
	if err := w.defineCarts(d); err != nil {
		return nil, err
	}
	w.defineRest(d)
	return d, nil
}

// writeDefinitions adds the checksums of what was written to the global definitions, and writes these and the anchor file.
func (w *otf2Writer) writeDefinitions(d *otf2.DefinitionWriter, sums otf2.Sums) error {
	name := d.Text(otf2.SumName)
	for i, id := range slices.Concat(w.ids, w.streams.locations()) {
		d.Add(otf2.DefLocationProperty, func(r *otf2.Record) {
			r.U64(id)
			r.U32(name, otf2.Undefined32) // no text
			r.U8(otf2.AttributeU64)
			r.U64(w.sums[i])
		})
	}
	size := otf2DefChunk
	for _, b := range d.Records {
		for size < len(b)+otf2.ChunkHeader+otf2.Frame+16 {
			size *= 2
		}
	}
	if size > otf2MostChunk {
		return errors.New("a communicator is too large for OTF2, whose definitions have at most 16 MiB")
	}
	anchor := otf2.Anchor{
		EventChunk: otf2EventChunk, DefChunk: uint64(size), Definitions: uint64(len(d.Records)),
		Locations: uint64(len(w.t.Locations) + w.streams.count()),
	}
	if err := setOTF2Properties(&anchor, w.t.Properties); err != nil {
		return err
	}
	anchor.Identifier = w.identifier(slices.Concat(d.Records...))
	err := writeFile(w.d, w.name+".def", func(out io.Writer) error {
		sum := &otf2.Checksum{To: out}
		c := otf2.NewWriter(sum, size, true)
		for i, b := range d.Records {
			c.Room(len(b) + otf2.Frame)
			c.Record(b[0], &otf2.Record{Data: b[1:], Most: d.Most[i]})
		}
		err := c.Finish()
		sums.Definitions = sum.CRC
		return err
	})
	if err != nil {
		return err
	}
	return writeFile(w.d, w.name+".otf2", func(out io.Writer) error {
		_, err := out.Write(anchor.EncodeWith(sums))
		return err
	})
}

func (w *otf2Writer) defineClock(d *otf2.DefinitionWriter) {
	created := uint64(otf2.Undefined64)
	if w.t.Created > 0 {
		created = uint64(w.t.Created)
	}
	d.Add(otf2.DefClockProperties, func(r *otf2.Record) {
		r.U64(w.clock.Resolution, w.global, w.length, created)
	})
}

// withMasters returns the trace with a location for the first thread of each rank, missing where the rank has none: groups of OTF2 have
// no members but locations.
func (t *Trace) withMasters() *Trace {
	has := make([]bool, t.Ranks)
	for i := range t.Locations {
		if l := &t.Locations[i]; l.Thread == 0 && l.Rank < t.Ranks {
			has[l.Rank] = true
		}
	}
	if !slices.Contains(has, false) {
		return t
	}
	type numbered struct {
		Location
		before int // its number in t; -1: it is new
	}
	var list []numbered
	for i, l := range t.Locations {
		list = append(list, numbered{l, i})
	}
	for rank := range has {
		if !has[rank] {
			list = append(list, numbered{Location{ID: uint64(rank), Rank: rank, Missing: true}, -1})
		}
	}
	slices.SortStableFunc(list, func(a, b numbered) int { return a.compare(&b.Location) })
	whole, now := *t, make([]int, len(t.Locations))
	whole.Locations = nil
	for i := range list {
		whole.Locations = append(whole.Locations, list[i].Location)
		if list[i].before >= 0 {
			now[list[i].before] = i
		}
	}
	for i := range whole.Locations {
		trips := slices.Clone(whole.Locations[i].RoundTrips)
		for k := range trips {
			if p := trips[k].Partner; p >= 0 && p < len(now) {
				trips[k].Partner = now[p]
			}
		}
		whole.Locations[i].RoundTrips = trips
	}
	whole.Open = func(i int) (EventReader, error) { return t.Open(list[i].before) } // nobody opens a missing one
	return &whole
}

// defineLocations defines machine, nodes, processes and threads.
func (w *otf2Writer) defineLocations(d *otf2.DefinitionWriter) {
	node := d.Text("node")
	nodes := map[string]uint32{}
	define := func(name, class, parent uint32) uint32 {
		id := uint32(len(nodes)) + 1
		if parent == otf2.Undefined32 {
			id = 0
		}
		d.Add(otf2.DefSystemTreeNode, func(r *otf2.Record) { r.U32(id, name, class, parent) })
		return id
	}
	define(d.Text("machine"), d.Text("machine"), otf2.Undefined32)
	last := -1
	for i := range w.t.Locations {
		l := &w.t.Locations[i]
		if _, ok := nodes[l.Host]; !ok {
			nodes[l.Host] = define(d.Text(l.Host), node, 0)
		}
		if l.Rank != last {
			name := d.Text(fmt.Sprintf("MPI Rank %d", l.Rank))
			d.Add(otf2.DefLocationGroup, func(r *otf2.Record) {
				r.U32(uint32(l.Rank), name)
				r.U8(otf2.GroupProcess)
				r.U32(nodes[l.Host], otf2.Undefined32)
			})
			last = l.Rank
		}
		w.defineLocation(d, i)
	}
	w.streams.defineLocations(d, func(rank int) uint32 {
		at := slices.IndexFunc(w.t.Locations, func(l Location) bool { return l.Rank == rank })
		return nodes[w.t.Locations[max(at, 0)].Host]
	})
}

func (w *otf2Writer) defineLocation(d *otf2.DefinitionWriter, i int) {
	l := &w.t.Locations[i]
	name := d.Text(l.Name)
	d.Add(otf2.DefLocation, func(r *otf2.Record) {
		r.U64(w.ids[i])
		r.U32(name)
		r.U8(otf2.LocationCPUThread)
		r.U64(w.surveys[i].events)
		r.U32(uint32(l.Rank))
	})
	state := ""
	switch {
	case l.Missing:
		state = otf2Missing
	case l.Truncated || w.surveys[i].damage != nil:
		state = otf2Truncated
	default:
		return
	}
	key, value := d.Text(otf2StateName), d.Text(state)
	d.Add(otf2.DefLocationProperty, func(r *otf2.Record) {
		const typeString = 11
		r.U64(w.ids[i])
		r.U32(key, value)
		r.U8(typeString)
		r.U32(value)
	})
}

func (w *otf2Writer) defineRegions(d *otf2.DefinitionWriter) {
	for i := range w.t.Regions {
		g := &w.t.Regions[i]
		name, file := d.Text(g.Name), d.Text(g.File)
		paradigm, role := otf2.RegionTo(g)
		d.Add(otf2.DefRegion, func(r *otf2.Record) {
			r.U32(uint32(i), name, 0)                    // no description
			r.U8(0)                                      // type of older versions
			r.U32(file, uint32(max(g.Line, 0)), 0, name) // no last line; the canonical name
			r.U8(role, paradigm)
			r.U32(0) // flags
		})
	}
	w.streams.defineRegions(d, len(w.t.Regions))
}

// defineComms defines the communicators and, if there are teams of threads, those too.
func (w *otf2Writer) defineComms(d *otf2.DefinitionWriter) {
	masters := make([]uint64, w.t.Ranks)
	for r := range masters {
		masters[r] = otf2.Undefined64 // a rank without location
	}
	threads := make([][]uint64, w.t.Ranks) // places among all locations
	teams := false
	for i := range w.t.Locations {
		l := &w.t.Locations[i]
		if masters[l.Rank] == otf2.Undefined64 {
			masters[l.Rank] = w.ids[i]
		}
		threads[l.Rank] = append(threads[l.Rank], uint64(i))
		teams = teams || w.surveys[i].teams
	}
	groups := uint32(0)
	group := func(kind, paradigm uint8, members []uint64) uint32 {
		d.Group(groups, kind, paradigm, members)
		groups++
		return groups - 1
	}
	group(otf2.GroupCommLocations, otf2.ParadigmMPI, masters)
	for i := range w.t.Comms {
		w.defineComm(d, uint32(i), &w.t.Comms[i], group)
	}
	w.defineGroups(group)
	w.defineObjects(d)
	comms := uint32(len(w.t.Comms))
	if teams {
		comms = w.team(uint32(w.t.Ranks))
		w.defineTeams(d, threads, group)
	}
	w.streams.defineWindow(d, comms, masters, group)
}

// defineTeams defines the communicators of the threads of the ranks.
func (w *otf2Writer) defineTeams(d *otf2.DefinitionWriter, threads [][]uint64, group func(kind, paradigm uint8, members []uint64) uint32) {
	group(otf2.GroupCommLocations, otf2.ParadigmOpenMP, w.ids)
	name := d.Text("team")
	for r, members := range threads {
		g := group(otf2.GroupCommGroup, otf2.ParadigmOpenMP, members)
		d.Comm(w.team(uint32(r)), name, g, 0)
	}
}

// defineComm defines a communicator of the trace.
func (w *otf2Writer) defineComm(d *otf2.DefinitionWriter, id uint32, c *timeline.Comm, group func(kind, paradigm uint8,
	members []uint64) uint32) {
	name := d.Text(c.Name)
	flags := uint32(0)
	for i := range w.surveys {
		if w.surveys[i].created[id] {
			flags = 1
		}
	}
	members := group(otf2.GroupCommGroup, otf2.ParadigmMPI, widen(c.Members))
	if c.Remote == nil {
		d.Comm(id, name, members, flags)
		return
	}
	remote := group(otf2.GroupCommGroup, otf2.ParadigmMPI, widen(c.Remote))
	d.Add(otf2.DefInterComm, func(r *otf2.Record) { r.U32(id, name, members, remote, otf2.Undefined32, flags) })
}

func widen(ranks []int32) []uint64 {
	wide := make([]uint64, len(ranks))
	for i, r := range ranks {
		wide[i] = uint64(r)
	}
	return wide
}

// defineCarts defines the process grids.
func (w *otf2Writer) defineCarts(d *otf2.DefinitionWriter) error {
	dimensions := uint32(0)
	for i := range w.t.Carts {
		c := &w.t.Carts[i]
		if len(c.Dims) > maxDims {
			return fmt.Errorf("a process grid has %d dimensions; OTF2 takes %d", len(c.Dims), maxDims)
		}
		first := dimensions
		for k, size := range c.Dims {
			d.Add(otf2.DefCartDimension, func(r *otf2.Record) {
				r.U32(dimensions, 0, uint32(size)) // no name
				r.U8(oneIf(k < len(c.Periodic) && c.Periodic[k]))
			})
			dimensions++
		}
		d.Add(otf2.DefCartTopology, func(r *otf2.Record) {
			r.U32(uint32(i), 0, c.Comm) // no name
			r.U8(uint8(len(c.Dims)))
			for k := range c.Dims {
				r.U32(first + uint32(k))
			}
		})
		for rank, at := range c.Coords {
			if len(at) != len(c.Dims) {
				continue // this rank is not in the grid
			}
			d.Add(otf2.DefCartCoordinate, func(r *otf2.Record) {
				r.U32(uint32(i), uint32(rank))
				r.U8(uint8(len(at)))
				for _, x := range at {
					r.U32(uint32(x))
				}
			})
		}
	}
	return nil
}

func oneIf(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// defineRest defines calling contexts and what some events need.
func (w *otf2Writer) defineRest(d *otf2.DefinitionWriter) {
	samples, parameters, skips := false, false, false
	for i := range w.surveys {
		survey := &w.surveys[i]
		samples, parameters, skips = samples || survey.samples, parameters || survey.parameters, skips || survey.skips
	}
	for i, s := range slices.Concat(w.t.Stacks[min(1, len(w.t.Stacks)):], w.extra) {
		d.Add(otf2.DefCallingContext, func(r *otf2.Record) {
			r.U32(uint32(i), s.Region, otf2.Undefined32, s.Parent-1) // no place in the source; the parent of the empty stack is undefined
		})
	}
	parameter := func(id int, text string) {
		name := d.Text(text)
		d.Add(otf2.DefParameter, func(r *otf2.Record) {
			const typeUnsigned = 2
			r.U32(uint32(id), name)
			r.U8(typeUnsigned)
		})
	}
	for id, p := range otf2Parameters { // all or none: their numbers must not have gaps
		if parameters || skips {
			parameter(id, p.name)
		}
	}
	for field, name := range otf2SkipFields {
		if skips {
			parameter(otf2SkipParameter(field), otf2SkipsName+name)
		}
	}
	for i, m := range w.t.Metrics {
		name, unit := d.Text(m.Name), d.Text(m.Unit)
		d.Add(otf2.DefMetricMember, func(r *otf2.Record) {
			r.U32(uint32(i), name, 0) // no description
			r.U8(otf2.MetricOther, 0, otf2.TypeU64, otf2.BaseDecimal)
			r.U64(0)
			r.U32(unit)
		})
		d.Add(otf2.DefMetricClass, func(r *otf2.Record) { // of its own, which always occurs with the start and end of calls
			r.U32(uint32(i))
			r.U8(1)
			r.U32(uint32(i))
			r.U8(0, otf2.RecorderCPU)
		})
	}
	if samples {
		name := d.Text("sampling")
		d.Add(otf2.DefInterruptGenerator, func(r *otf2.Record) {
			const modeTime, baseDecimal = 0, 1
			r.U32(0, name)
			r.U8(modeTime, baseDecimal)
			r.U64(otf2.Undefined64-11, uint64(max(w.t.SamplePeriod, 0))) // exponent -12: picoseconds
		})
	}
}
