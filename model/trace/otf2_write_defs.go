package trace

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"slackline/model/timeline"
)

// otf2Defs collects the global definitions.
type otf2Defs struct {
	records [][]byte // id, then the fields
	most    []int    // how long the fields could be
	strings map[string]uint32
	texts   uint32 // strings so far
}

// add adds a record; f writes its fields.
func (d *otf2Defs) add(id uint8, f func(r *otf2Record)) {
	r := otf2Record{b: []byte{id}}
	f(&r)
	d.records = append(d.records, r.b)
	d.most = append(d.most, r.most)
}

// text returns the reference of a string.
func (d *otf2Defs) text(s string) uint32 {
	if id, ok := d.strings[s]; ok {
		return id
	}
	return d.newText(s)
}

// newText defines a string, also if it is known.
func (d *otf2Defs) newText(s string) uint32 {
	id := d.texts
	d.texts++
	d.strings[s] = id
	d.add(defString, func(r *otf2Record) {
		r.u32(id)
		r.str(s)
	})
	return id
}

// writeDefinitions writes the global definitions and the anchor file.
func (w *otf2Writer) writeDefinitions() error {
	d := &otf2Defs{strings: map[string]uint32{}}
	w.defineClock(d)
	d.text("")
	for _, word := range w.t.Command { // strings 1 and up, in order
		d.newText(word)
	}
	w.defineLocations(d)
	w.defineRegions(d)
	w.defineComms(d)
	if err := w.defineCarts(d); err != nil {
		return err
	}
	w.defineRest(d)
	size := otf2DefChunk
	for _, b := range d.records {
		for size < len(b)+otf2ChunkHeader+otf2Frame+16 {
			size *= 2
		}
	}
	if size > otf2MostChunk {
		return errors.New("a communicator is too large for OTF2, whose definitions have at most 16 MiB")
	}
	anchor := otf2Anchor{
		eventChunk: otf2EventChunk, defChunk: uint64(size), locations: uint64(len(w.t.Locations)), definitions: uint64(len(d.records)),
	}
	if err := anchor.setProperties(w.t.Properties); err != nil {
		return err
	}
	anchor.identifier = w.identifier(slices.Concat(d.records...))
	err := writeFile(w.d, w.name+".def", func(out io.Writer) error {
		c := newOTF2Chunks(out, size, true)
		for i, b := range d.records {
			c.room(len(b) + otf2Frame)
			c.record(b[0], &otf2Record{b: b[1:], most: d.most[i]})
		}
		return c.finish()
	})
	if err != nil {
		return err
	}
	return writeFile(w.d, w.name+".otf2", func(out io.Writer) error {
		_, err := out.Write(anchor.bytes())
		return err
	})
}

func (w *otf2Writer) defineClock(d *otf2Defs) {
	created := uint64(undefined64)
	if w.t.Created > 0 {
		created = uint64(w.t.Created)
	}
	d.add(defClockProperties, func(r *otf2Record) {
		r.u64(w.clock.resolution, w.global, w.length, created)
	})
}

// defineLocations defines machine, nodes, processes and threads.
func (w *otf2Writer) defineLocations(d *otf2Defs) {
	node := d.text("node")
	nodes := map[string]uint32{}
	define := func(name, class, parent uint32) uint32 {
		id := uint32(len(nodes)) + 1
		if parent == undefined32 {
			id = 0
		}
		d.add(defSystemTreeNode, func(r *otf2Record) { r.u32(id, name, class, parent) })
		return id
	}
	define(d.text("machine"), d.text("machine"), undefined32)
	last := -1
	for i := range w.t.Locations {
		l := &w.t.Locations[i]
		if _, ok := nodes[l.Host]; !ok {
			nodes[l.Host] = define(d.text(l.Host), node, 0)
		}
		if l.Rank != last {
			name := d.text(fmt.Sprintf("MPI Rank %d", l.Rank))
			d.add(defLocationGroup, func(r *otf2Record) {
				r.u32(uint32(l.Rank), name)
				r.u8(groupProcess)
				r.u32(nodes[l.Host], undefined32)
			})
			last = l.Rank
		}
		w.defineLocation(d, i)
	}
}

func (w *otf2Writer) defineLocation(d *otf2Defs, i int) {
	l := &w.t.Locations[i]
	name := d.text(l.Name)
	d.add(defLocation, func(r *otf2Record) {
		r.u64(w.ids[i])
		r.u32(name)
		r.u8(locationCPUThread)
		r.u64(w.surveys[i].events)
		r.u32(uint32(l.Rank))
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
	key, value := d.text(otf2StateName), d.text(state)
	d.add(defLocationProperty, func(r *otf2Record) {
		const typeString = 11
		r.u64(w.ids[i])
		r.u32(key, value)
		r.u8(typeString)
		r.u32(value)
	})
}

func (w *otf2Writer) defineRegions(d *otf2Defs) {
	for i := range w.t.Regions {
		g := &w.t.Regions[i]
		name, file := d.text(g.Name), d.text(g.File)
		paradigm, role := regionToOTF2(g)
		d.add(defRegion, func(r *otf2Record) {
			r.u32(uint32(i), name, 0)                    // no description
			r.u8(0)                                      // type of older versions
			r.u32(file, uint32(max(g.Line, 0)), 0, name) // no last line; the canonical name
			r.u8(role, paradigm)
			r.u32(0) // flags
		})
	}
}

// defineGroup defines a group.
func (d *otf2Defs) defineGroup(id uint32, kind, paradigm uint8, members []uint64) {
	legacy := uint8(0)
	if paradigm == paradigmMPI {
		legacy = map[uint8]uint8{groupCommLocations: 6, groupCommGroup: 4}[kind]
	}
	d.add(defGroup, func(r *otf2Record) {
		r.u32(id, 0) // no name
		r.u8(legacy)
		r.u32(uint32(len(members)))
		r.u64(members...)
		r.u8(kind, paradigm)
		r.u32(0) // flags
	})
}

// defineComms defines the communicators and, if there are teams of threads, those too.
func (w *otf2Writer) defineComms(d *otf2Defs) {
	masters := make([]uint64, w.t.Ranks)
	for r := range masters {
		masters[r] = undefined64 // a rank without location
	}
	threads := make([][]uint64, w.t.Ranks) // places among all locations
	teams := false
	for i := range w.t.Locations {
		l := &w.t.Locations[i]
		if masters[l.Rank] == undefined64 {
			masters[l.Rank] = w.ids[i]
		}
		threads[l.Rank] = append(threads[l.Rank], uint64(i))
		teams = teams || w.surveys[i].teams
	}
	groups := uint32(0)
	group := func(kind, paradigm uint8, members []uint64) uint32 {
		d.defineGroup(groups, kind, paradigm, members)
		groups++
		return groups - 1
	}
	group(groupCommLocations, paradigmMPI, masters)
	for i := range w.t.Comms {
		w.defineComm(d, uint32(i), &w.t.Comms[i], group)
	}
	w.defineGroups(group)
	w.defineObjects(d)
	if !teams {
		return
	}
	group(groupCommLocations, paradigmOpenMP, w.ids)
	name := d.text("team")
	for r, members := range threads {
		g := group(groupCommGroup, paradigmOpenMP, members)
		d.defineComm(w.team(uint32(r)), name, g, 0)
	}
}

// defineComm defines a communicator of the trace.
func (w *otf2Writer) defineComm(d *otf2Defs, id uint32, c *timeline.Comm, group func(kind, paradigm uint8, members []uint64) uint32) {
	name := d.text(c.Name)
	flags := uint32(0)
	for i := range w.surveys {
		if w.surveys[i].created[id] {
			flags = 1
		}
	}
	members := group(groupCommGroup, paradigmMPI, widen(c.Members))
	if c.Remote == nil {
		d.defineComm(id, name, members, flags)
		return
	}
	remote := group(groupCommGroup, paradigmMPI, widen(c.Remote))
	d.add(defInterComm, func(r *otf2Record) { r.u32(id, name, members, remote, undefined32, flags) })
}

func (d *otf2Defs) defineComm(id, name, group, flags uint32) {
	d.add(defComm, func(r *otf2Record) { r.u32(id, name, group, undefined32, flags) }) // no parent
}

func widen(ranks []int32) []uint64 {
	wide := make([]uint64, len(ranks))
	for i, r := range ranks {
		wide[i] = uint64(r)
	}
	return wide
}

// defineCarts defines the process grids.
func (w *otf2Writer) defineCarts(d *otf2Defs) error {
	dimensions := uint32(0)
	for i := range w.t.Carts {
		c := &w.t.Carts[i]
		if len(c.Dims) > maxDims {
			return fmt.Errorf("a process grid has %d dimensions; OTF2 takes %d", len(c.Dims), maxDims)
		}
		first := dimensions
		for k, size := range c.Dims {
			d.add(defCartDimension, func(r *otf2Record) {
				r.u32(dimensions, 0, uint32(size)) // no name
				r.u8(oneIf(k < len(c.Periodic) && c.Periodic[k]))
			})
			dimensions++
		}
		d.add(defCartTopology, func(r *otf2Record) {
			r.u32(uint32(i), 0, c.Comm) // no name
			r.u8(uint8(len(c.Dims)))
			for k := range c.Dims {
				r.u32(first + uint32(k))
			}
		})
		for rank, at := range c.Coords {
			if len(at) != len(c.Dims) {
				continue // this rank is not in the grid
			}
			d.add(defCartCoordinate, func(r *otf2Record) {
				r.u32(uint32(i), uint32(rank))
				r.u8(uint8(len(at)))
				for _, x := range at {
					r.u32(uint32(x))
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
func (w *otf2Writer) defineRest(d *otf2Defs) {
	samples, parameters, skips := false, false, false
	for i := range w.surveys {
		survey := &w.surveys[i]
		samples, parameters, skips = samples || survey.samples, parameters || survey.parameters, skips || survey.skips
	}
	for i, s := range slices.Concat(w.t.Stacks[min(1, len(w.t.Stacks)):], w.extra) {
		d.add(defCallingContext, func(r *otf2Record) {
			r.u32(uint32(i), s.Region, undefined32, s.Parent-1) // no place in the source; the parent of the empty stack is undefined
		})
	}
	parameter := func(id int, text string) {
		name := d.text(text)
		d.add(defParameter, func(r *otf2Record) {
			const typeUnsigned = 2
			r.u32(uint32(id), name)
			r.u8(typeUnsigned)
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
	if samples {
		name := d.text("sampling")
		d.add(defInterruptGenerator, func(r *otf2Record) {
			const modeTime, baseDecimal = 0, 1
			r.u32(0, name)
			r.u8(modeTime, baseDecimal)
			r.u64(undefined64-11, uint64(max(w.t.SamplePeriod, 0))) // exponent -12: picoseconds
		})
	}
}
