package trace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"slackline/model/timeline"
	"slackline/model/trace/damage"
)

// otf2Archive is an open archive.
type otf2Archive struct {
	src      source
	name     string // that the files share
	anchor   *otf2Anchor
	defs     *otf2Definitions
	clocks   []otf2Clock // by location
	regions  idTable
	comms    idTable
	contexts idTable
	windows  idTable
	files    idTable
	groups   map[uint32][]int32 // world ranks of the groups of MPI, if there are windows
	self     map[uint32]bool    // indices of communicators that each rank has for itself: those of rank 0
	kinds    map[uint32]Kind    // of events that parameters stand for
	skips    map[uint32]int     // parameters about what was skipped: which field
	trace    *Trace

	streams    []*otf2Stream
	artificial map[uint32]bool // by index of regions: they are no kernels

	ranks         map[uint64]int     // by location
	participating map[uint8][]uint64 // locations by paradigm, see commLocations
}

// readOTF2 opens an archive by its anchor file.
func readOTF2(src source, _ Options) (*Trace, error) {
	a, err := openOTF2(src)
	if err != nil {
		return nil, err
	}
	return a.trace, nil
}

func openOTF2(src source) (*otf2Archive, error) {
	data, err := src.readMain()
	if err != nil {
		return nil, err
	}
	a := &otf2Archive{src: src, name: archiveName(src.main), trace: &Trace{}}
	a.anchor, err = readOTF2Anchor(data, src.show)
	if a.anchor == nil {
		return nil, err
	}
	a.warnIf(err)
	if err := a.readDefinitions(); err != nil {
		return nil, err
	}
	a.trace.Open = a.openEvents
	return a, nil
}

func (a *otf2Archive) warnIf(err error) {
	if err != nil {
		a.trace.Warnings = append(a.trace.Warnings, err.Error())
	}
}

func (a *otf2Archive) warn(format string, args ...any) { a.warnIf(fmt.Errorf(format, args...)) }

// open opens a file of the archive.
func (a *otf2Archive) open(name string, chunk uint64) (*otf2File, fs.File, error) {
	return a.openWith(a.src.open, name, chunk)
}

func (a *otf2Archive) openWith(open func(name string) (fs.File, error), name string, chunk uint64) (*otf2File, fs.File, error) {
	file, err := open(name)
	if err != nil {
		return nil, nil, err
	}
	step := int64(1 << 18)
	if info, err := file.Stat(); err == nil && info.Size() < step {
		step = info.Size() + 1
	}
	return &otf2File{in: file, show: a.src.showBeside(name), size: int(chunk), step: int(step)}, file, nil
}

// readDefinitions reads the global definitions and the clocks of the locations.
func (a *otf2Archive) readDefinitions() error {
	f, file, err := a.openWith(a.src.openBeside, a.name+".def", a.anchor.defChunk)
	if err != nil {
		return err
	}
	defer file.Close()
	a.defs, err = readOTF2Definitions(f)
	d := a.defs
	if d.resolution == 0 {
		if err == nil {
			err = damage.At(f.show, -1, "the resolution of the clock is missing or wrong: %d ticks per second", d.resolution)
		}
		return err
	}
	if err != nil {
		a.warn("%v; definitions after it are lost", err)
	} else if d.count != a.anchor.definitions {
		a.warn("%s: there are %d definitions, but the anchor file announces %d", f.show, d.count, a.anchor.definitions)
	}
	t := a.trace
	t.Properties, err = a.anchor.toProperties()
	if err != nil {
		a.warn("%s: %v", a.src.show, err)
	}
	if t.Resolution == 0 {
		t.Resolution = int64(min(d.resolution, math.MaxInt64))
	}
	if d.realtime != undefined64 && d.realtime <= math.MaxInt64 {
		t.Created = int64(d.realtime)
	}
	a.kinds, a.skips = map[uint32]Kind{}, map[uint32]int{}
	for id, name := range d.parameters {
		if field, ok := strings.CutPrefix(d.strings[name], otf2SkipsName); ok && slices.Contains(otf2SkipFields, field) {
			a.skips[id] = slices.Index(otf2SkipFields, field)
		}
		for _, p := range otf2Parameters {
			if d.strings[name] == p.name {
				a.kinds[id] = p.kind
			}
		}
	}
	a.setLocations()
	a.setRegions()
	a.setComms()
	a.setContexts()
	a.setCarts()
	a.setObjects()
	return a.setClocks()
}

// command returns program and arguments as the first location tells them among its first events.
func (a *otf2Archive) command() []string {
	if len(a.trace.Locations) == 0 {
		return nil
	}
	l := &a.trace.Locations[0]
	f, file, err := a.open(a.eventFile(l), a.anchor.eventChunk)
	if err != nil {
		return nil
	}
	defer file.Close()
	if f.nextChunk() != nil {
		return nil
	}
	local, _ := a.readLocal(l) // what is lost is said elsewhere
	names := local.maps[mapString]
	var e otf2Event
	for range 4 {
		if f.event(&e) != nil {
			return nil
		}
		if e.id != evtProgramBegin {
			continue
		}
		words := []string{a.defs.strings[uint32(names.global(uint64(e.body.u32())))]}
		for n := e.body.u32(); n > 0 && e.body.left() > 0; n-- {
			words = append(words, a.defs.strings[uint32(names.global(uint64(e.body.u32())))])
		}
		return words
	}
	return nil
}

// setRegions translates the regions.
func (a *otf2Archive) setRegions() {
	a.artificial = map[uint32]bool{}
	for _, g := range a.defs.regions {
		r := timeline.RegionNamed(a.defs.strings[g.name])
		if g.known {
			r.Paradigm, r.Role = regionFromOTF2(g.paradigm, g.role, r.Role)
		}
		r.File, r.Line = a.defs.strings[g.file], int(g.line)
		if g.line == undefined32 {
			r.Line = 0
		}
		if g.known && g.role == roleArtificial {
			a.artificial[uint32(len(a.trace.Regions))] = true
		}
		a.regions.set(g.id, uint32(len(a.trace.Regions)))
		a.trace.Regions = append(a.trace.Regions, r)
	}
}

// maxSelfComms bounds the communicators that are made of one definition for each rank.
const maxSelfComms = 1 << 22

// setComms translates the communicators of processes. Those of threads, the teams, are not needed.
func (a *otf2Archive) setComms() {
	d, t := a.defs, a.trace
	a.self = map[uint32]bool{}
	for _, c := range d.comms {
		g, ok := d.groups[c.group]
		if !ok || g.paradigm == paradigmOpenMP || g.paradigm == 7 || isAccelerator(g.paradigm) { // teams of threads, also of pthreads; hosts and devices
			continue
		}
		index := uint32(len(t.Comms))
		if g.kind == groupCommSelf {
			if len(a.self)*t.Ranks > maxSelfComms {
				continue
			}
			a.comms.set(c.id, index)
			a.self[index] = true
			for r := range t.Ranks {
				t.Comms = append(t.Comms, timeline.Comm{Name: d.strings[c.name], Members: []int32{int32(r)}})
			}
			continue
		}
		a.comms.set(c.id, index)
		comm := timeline.Comm{Name: d.strings[c.name], Members: a.members(&g)}
		if remote, ok := d.groups[c.remote]; c.inter && ok {
			comm.Remote = a.members(&remote)
		}
		t.Comms = append(t.Comms, comm)
	}
}

// members returns the world ranks of a group, with a warning about those that are not defined.
func (a *otf2Archive) members(g *otf2Group) []int32 {
	ranks, lost := a.ranksOf(g)
	if lost > 0 {
		a.warn("%s: a group has %d members that are not defined", a.src.showBeside(a.name+".def"), lost)
	}
	return ranks
}

// ranksOf returns the world ranks of a group, and how many of its members are not defined.
func (a *otf2Archive) ranksOf(g *otf2Group) (ranks []int32, lost int) {
	ranks = make([]int32, 0, len(g.members))
	locations := a.commLocations(g.paradigm)
	for _, m := range g.members {
		id := m
		if g.kind == groupCommGroup && g.flags&groupGlobalMembers == 0 {
			if m == undefined64 { // not recorded
				ranks = append(ranks, timeline.UnknownRank)
				continue
			}
			if m >= uint64(len(locations)) {
				lost++
				continue
			}
			id = locations[m]
		}
		rank, ok := a.rankOf(id)
		if !ok {
			lost++
			continue
		}
		ranks = append(ranks, int32(rank))
	}
	return ranks, lost
}

// commLocations returns the locations that take part in the communication of a paradigm.
func (a *otf2Archive) commLocations(paradigm uint8) []uint64 {
	if found, ok := a.participating[paradigm]; ok {
		return found
	}
	var found []uint64
	first := uint32(math.MaxUint32)
	for id, g := range a.defs.groups {
		if g.kind == groupCommLocations && g.paradigm == paradigm && id <= first {
			first, found = id, g.members
		}
	}
	if a.participating == nil {
		a.participating = map[uint8][]uint64{}
	}
	a.participating[paradigm] = found
	return found
}

// setContexts translates calling contexts to stacks. A parent comes before its children. Contexts that
// have no root, because an ancestor is missing or because they are their own ancestors, are left out.
func (a *otf2Archive) setContexts() {
	t := a.trace
	t.Stacks = []Stack{{}}
	byID := make(map[uint32]otf2Context, len(a.defs.contexts))
	for _, c := range a.defs.contexts {
		byID[c.id] = c
	}
	lost := 0
	for _, c := range a.defs.contexts {
		var chain []otf2Context // up to one that is known
		parent, rooted := uint32(0), true
		for {
			if at, known := a.contexts.get(c.id); known {
				parent = at
				break
			}
			if _, known := a.regions.get(c.region); !known || len(chain) > len(byID) {
				rooted = false
				break
			}
			chain = append(chain, c)
			if c.parent == undefined32 {
				break
			}
			if c, rooted = byID[c.parent]; !rooted {
				break
			}
		}
		for _, c := range slices.Backward(chain) {
			if !rooted {
				delete(byID, c.id)
				continue
			}
			region, _ := a.regions.get(c.region)
			a.contexts.set(c.id, uint32(len(t.Stacks)))
			t.Stacks = append(t.Stacks, Stack{parent, region})
			parent = uint32(len(t.Stacks) - 1)
		}
		if !rooted {
			lost++
		}
	}
	if lost > 0 {
		a.warn("%s: %d calling contexts have a region or an ancestor that is not defined", a.src.showBeside(a.name+".def"), lost)
	}
}

// setCarts translates process grids.
func (a *otf2Archive) setCarts() {
	d, t := a.defs, a.trace
	byID := map[uint32]int{}
	for _, topology := range d.topologies {
		comm, ok := a.comms.get(topology.comm)
		if !ok {
			continue
		}
		c := Cart{Comm: comm, Coords: make([][]int, len(t.Comms[comm].Members))}
		for _, id := range topology.dimensions {
			c.Dims = append(c.Dims, int(d.dimensions[id].size))
			c.Periodic = append(c.Periodic, d.dimensions[id].periodic)
		}
		byID[topology.id] = len(t.Carts)
		t.Carts = append(t.Carts, c)
	}
	for _, c := range d.coordinates {
		i, ok := byID[c.topology]
		if !ok || int(c.rank) >= len(t.Carts[i].Coords) {
			continue
		}
		at := make([]int, len(c.at))
		for k, x := range c.at {
			at[k] = int(x)
		}
		t.Carts[i].Coords[c.rank] = at
	}
}

// setClocks reads the local definitions for the offsets of the clocks, and looks whether the files of
// events are there and have an end.
func (a *otf2Archive) setClocks() error {
	d, t := a.defs, a.trace
	a.clocks = make([]otf2Clock, len(t.Locations))
	checks, err := a.src.checkFiles(t, a.checkFile)
	if err != nil {
		return err
	}
	earliest := uint64(math.MaxUint64)
	for i := range checks {
		if checks[i].Started {
			earliest = min(earliest, checks[i].First)
		}
	}
	if len(t.Command) == 0 && len(checks) > 0 {
		t.Command = checks[0].Command
	}
	global := d.globalOffset
	const far = math.MaxInt64 / 4 // ps
	probe := newOTF2Clock(d.resolution, global)
	if ps, ok := probe.time(earliest); earliest != math.MaxUint64 && (!ok || ps > far || ps < -far) && !slices.ContainsFunc(checks, fileCheck.corrects) {
		global = earliest // the global offset is no use
	}
	for i := range t.Locations {
		base := global
		offsets := checks[i].Offsets
		if checks[i].corrects() {
			probe := newOTF2Clock(d.resolution, global)
			if ps, ok := probe.time(offsets[0].Time); !ok || ps > far || ps < -far {
				base = global - uint64(offsets[0].Offset) // a clock of another origin
			}
			a.setOffsets(&t.Locations[i], offsets, base, global)
		}
		a.clocks[i] = newOTF2Clock(d.resolution, base)
	}
	return nil
}

// checkFile finds out about the files of a location.
func (a *otf2Archive) checkFile(i int) fileCheck {
	l := &a.trace.Locations[i]
	c := a.checkEvents(l)
	local, err := a.readLocal(l)
	if err != nil {
		c.Warnings = append(c.Warnings, err.Error()+"; mappings and offsets after it are lost")
	}
	c.Offsets = local.offsets
	if i == 0 {
		c.Command = a.command()
	}
	return c
}

// corrects reports whether there are offsets enough to correct a clock.
func (c fileCheck) corrects() bool { return len(c.Offsets) >= 2 }

// setOffsets translates the offsets of a clock.
func (a *otf2Archive) setOffsets(l *Location, offsets []otf2Offset, base, global uint64) {
	clock := newOTF2Clock(a.defs.resolution, base)
	for _, o := range offsets {
		time, ok := clock.time(o.Time)
		offset, fits := clock.span(o.Offset + int64(base-global))
		if !ok || !fits {
			a.warn("rank %d, thread %d: an offset of its clock is out of range; its clock is not corrected", l.Rank, l.Thread)
			l.Offsets = nil
			return
		}
		scale := second / float64(a.defs.resolution)
		l.Offsets = append(l.Offsets, ClockOffset{time, offset, o.Deviation * scale})
	}
}

// eventFile and localFile are the files of a location.
func (a *otf2Archive) eventFile(l *Location) string {
	return path.Join(a.name, fmt.Sprintf("%d.evt", l.ID))
}

func (a *otf2Archive) localFile(l *Location) string {
	return path.Join(a.name, fmt.Sprintf("%d.def", l.ID))
}

// readLocal reads the local definitions of a location. Files that are missing are usual.
func (a *otf2Archive) readLocal(l *Location) (*otf2Local, error) {
	f, file, err := a.open(a.localFile(l), a.anchor.defChunk)
	if err != nil {
		return &otf2Local{}, nil
	}
	defer file.Close()
	return readOTF2Local(f)
}

// checkEvents looks at the start and the end of a file of events.
func (a *otf2Archive) checkEvents(l *Location) (c fileCheck) {
	warn := func(format string, args ...any) { c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...)) }
	name := a.eventFile(l)
	show := a.src.showBeside(name)
	file, err := a.src.open(name)
	switch none := errors.Is(err, fs.ErrNotExist); {
	case err != nil && l.Missing:
		warn("%s: the events of %s are missing", show, l.describe())
		return c
	case err != nil && none && l.Events == 0:
		return c
	case err != nil:
		c.Unreadable = fmt.Sprintf("%s: the events of %s cannot be read: %v", show, l.describe(), damage.Reason(err))
		return c
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() == 0 && l.Events > 0 {
		c.Unreadable = fmt.Sprintf("%s: the events of %s cannot be read: the file is empty", show, l.describe())
		return c
	}
	var head [otf2ChunkHeader + 9]byte
	if n, err := io.ReadFull(file, head[:]); err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		r := otf2Bytes{b: head[:n], big: head[1] == otf2Big, at: min(otf2ChunkHeader, n)}
		if r.u8() == otf2Timestamp {
			c.First = r.full(8)
			c.Started = !r.short
		}
	}
	at, isAt := file.(io.ReaderAt)
	info, err := file.Stat()
	if !isAt || err != nil {
		return c // it will turn out while reading
	}
	var tail [2]byte
	if _, err := at.ReadAt(tail[:], info.Size()-2); err != nil || tail != [2]byte{otf2EndOfFile, otf2EndOfBuffer} {
		c.Truncated = true
		warn("%s: byte %d: the file has no end; the events of rank %d, thread %d are read as far as they are whole",
			show, info.Size(), l.Rank, l.Thread)
	}
	return c
}
