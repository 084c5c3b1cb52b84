package trace

import (
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"slackline/model/timeline"
	"slackline/model/trace/damage"
	"slackline/model/trace/otf2"
	"slackline/model/trace/streams"
)

// otf2Archive is an open archive.
type otf2Archive struct {
	src      source
	name     string // that the files share
	anchor   *otf2.Anchor
	defs     *otf2.Definitions
	clocks   []otf2.Clock // by location
	regions  otf2.Indices
	comms    otf2.Indices
	contexts otf2.Indices
	windows  otf2.Indices
	files    otf2.Indices
	metrics  map[uint32][]otf2Metric // members of classes
	groups   map[uint32][]int32      // world ranks of the groups of MPI, if there are windows
	self     map[uint32]bool         // indices of communicators that each rank has for itself: those of rank 0
	kinds    map[uint32]Kind         // of events that parameters stand for
	skips    map[uint32]int          // parameters about what was skipped: which field
	trace    *Trace
	locals   bool              // locations have local definitions
	sums     map[uint64]uint64 // checksums of the files of locations; nil: there are none

	streams    []*otf2Stream
	artificial []bool       // by region: it is no kernel
	traits     []callTraits // by region; of archives with streams
	references otf2.Indices // attributes that refer to streams and events: hasStream or hasEvent
	callsites  otf2.Indices // parameters that are ids of call sites

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
	a.anchor, err = otf2.ReadAnchor(data, src.show)
	if a.anchor == nil {
		return nil, err
	}
	a.warnIf(err)
	sums, err := a.anchor.Sums(data, src.show)
	a.warnIf(err)
	files := &sltFiles{}
	if sums != nil && err == nil {
		files.run, files.streams = 1, sums.Streams
	}
	// It has more than the locations of streams.
	name := path.Join(a.name, streams.Name)
	err = a.src.attachStreams(a.trace, name, func(file fs.File) error {
		if file == nil {
			return nil // streams are locations, too
		}
		return files.checkStreams(file)
	})
	if err != nil {
		return nil, err
	}
	if files.streams.Length > 0 && a.trace.attach == nil {
		a.warn("%s: the file is missing: which kernels communicate is lost", a.src.showBeside(name))
	}
	if err := a.readDefinitions(sums); err != nil {
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
func (a *otf2Archive) open(name string, chunk uint64) (*otf2.File, fs.File, error) {
	return a.openWith(a.src.open, name, chunk)
}

func (a *otf2Archive) openWith(open func(name string) (fs.File, error), name string, chunk uint64) (*otf2.File, fs.File, error) {
	file, err := open(name)
	if err != nil {
		return nil, nil, err
	}
	step := int64(1 << 20)
	if info, err := file.Stat(); err == nil && info.Size() < step {
		step = info.Size() + 1
	}
	return &otf2.File{In: file, Show: a.src.showBeside(name), Size: int(chunk), Step: int(step)}, file, nil
}

// readDefinitions reads the global definitions and the clocks of the locations. Its checksum may be known.
func (a *otf2Archive) readDefinitions(sums *otf2.Sums) error {
	f, file, err := a.openWith(a.src.openBeside, a.name+".def", a.anchor.DefChunk)
	if err != nil {
		return err
	}
	defer file.Close()
	a.defs, err = otf2.ReadDefinitions(f)
	d := a.defs
	if d.Resolution == 0 {
		if err == nil {
			err = damage.At(f.Show, -1, "the resolution of the clock is missing or wrong: %d ticks per second", d.Resolution)
		}
		return err
	}
	if err != nil {
		a.warn("%v; definitions after it are lost", err)
	} else if d.Count != a.anchor.Definitions {
		a.warn("%s: there are %d definitions, but the anchor file announces %d", f.Show, d.Count, a.anchor.Definitions)
	} else if sums != nil {
		a.warnIf(f.CheckSum(sums.Definitions))
	}
	for _, p := range d.Properties {
		if d.Strings[p.Name] == otf2.SumName {
			if a.sums == nil {
				a.sums = map[uint64]uint64{}
			}
			a.sums[p.Location] = p.Number
		}
	}
	if sums == nil && a.sums != nil {
		a.warn("%s: the file has no checksums, but the definitions have: it is damaged or of another archive", a.src.show)
	}
	t := a.trace
	t.Properties, err = propertiesOf(a.anchor)
	if err != nil {
		a.warn("%s: %v", a.src.show, err)
	}
	if t.Resolution == 0 {
		t.Resolution = int64(min(d.Resolution, math.MaxInt64))
	}
	if d.Realtime != otf2.Undefined64 && d.Realtime <= math.MaxInt64 {
		t.Created = int64(d.Realtime)
	}
	a.kinds, a.skips = map[uint32]Kind{}, map[uint32]int{}
	for id, name := range d.Parameters {
		if field, ok := strings.CutPrefix(d.Strings[name], otf2SkipsName); ok && slices.Contains(otf2SkipFields, field) {
			a.skips[id] = slices.Index(otf2SkipFields, field)
		}
		for _, p := range otf2Parameters {
			if d.Strings[name] == p.name {
				a.kinds[id] = p.kind
			}
		}
	}
	a.setLocations()
	a.setRegions()
	a.setDeviceCalls()
	a.setComms()
	a.setContexts()
	a.setCarts()
	a.setObjects()
	a.setMetrics()
	return a.setClocks()
}

// command returns program and arguments as the first location tells them among its first events.
func (a *otf2Archive) command() []string {
	if len(a.trace.Locations) == 0 {
		return nil
	}
	l := &a.trace.Locations[0]
	f, file, err := a.open(a.eventFile(l), a.anchor.EventChunk)
	if err != nil {
		return nil
	}
	defer file.Close()
	if f.NextChunk() != nil {
		return nil
	}
	local, _ := a.readLocal(l) // what is lost is said elsewhere
	names := local.Maps[otf2.MapString]
	var e otf2.Event
	for range 4 {
		if f.Event(&e) != nil {
			return nil
		}
		if e.ID != otf2.EvtProgramBegin {
			continue
		}
		words := []string{a.defs.Strings[uint32(names.Global(uint64(e.Body.U32())))]}
		for n := e.Body.U32(); n > 0 && e.Body.Left() > 0; n-- {
			words = append(words, a.defs.Strings[uint32(names.Global(uint64(e.Body.U32())))])
		}
		return words
	}
	return nil
}

// setRegions translates the regions.
func (a *otf2Archive) setRegions() {
	twice, nameless := a.defs.Twice, 0
	defer func() {
		if show := a.src.showBeside(a.name + ".def"); twice+nameless > 0 {
			a.warn("%s: %d ids of strings and regions are defined twice, %d regions have a name that is not defined; names are wrong", show,
				twice, nameless)
		}
	}()
	for _, g := range a.defs.Regions {
		if _, ok := a.regions.Get(g.ID); ok {
			twice++
		}
		if _, ok := a.defs.Strings[g.Name]; !ok && g.Name != otf2.Undefined32 {
			nameless++
		}
		if g.Role == otf2.RoleKernel && a.trace.attach != nil && len(a.streams) == 0 {
			continue // the file of streams has its name
		}
		r := timeline.RegionNamed(a.defs.Strings[g.Name])
		if g.Known {
			r.Paradigm, r.Role = otf2.RegionFrom(g.Paradigm, g.Role, r.Role)
		}
		r.File, r.Line = a.defs.Strings[g.File], int(g.Line)
		if g.Line == otf2.Undefined32 {
			r.Line = 0
		}
		a.regions.Set(g.ID, uint32(len(a.trace.Regions)))
		a.trace.Regions = append(a.trace.Regions, r)
		a.artificial = append(a.artificial, g.Known && g.Role == otf2.RoleArtificial)
	}
}

// maxSelfComms bounds the communicators that are made of one definition for each rank.
const maxSelfComms = 1 << 22

// setComms translates the communicators of processes. Those of threads, the teams, are not needed.
func (a *otf2Archive) setComms() {
	d, t := a.defs, a.trace
	a.self = map[uint32]bool{}
	for _, c := range d.Comms {
		g, ok := d.Groups[c.Group]
		// teams of threads, also of pthreads; hosts and devices
		if !ok || g.Paradigm == otf2.ParadigmOpenMP || g.Paradigm == 7 || otf2.IsAccelerator(g.Paradigm) {
			continue
		}
		index := uint32(len(t.Comms))
		if g.Kind == otf2.GroupCommSelf {
			if len(a.self)*t.Ranks > maxSelfComms {
				continue
			}
			a.comms.Set(c.ID, index)
			a.self[index] = true
			for r := range t.Ranks {
				t.Comms = append(t.Comms, timeline.Comm{Name: d.Strings[c.Name], Members: []int32{int32(r)}})
			}
			continue
		}
		a.comms.Set(c.ID, index)
		comm := timeline.Comm{Name: d.Strings[c.Name], Members: a.members(&g)}
		if remote, ok := d.Groups[c.Remote]; c.Inter && ok {
			comm.Remote = a.members(&remote)
		}
		t.Comms = append(t.Comms, comm)
	}
}

// members returns the world ranks of a group, with a warning about those that are not defined.
func (a *otf2Archive) members(g *otf2.Group) []int32 {
	ranks, lost := a.ranksOf(g)
	if lost > 0 {
		a.warn("%s: a group has %d members that are not defined", a.src.showBeside(a.name+".def"), lost)
	}
	return ranks
}

// ranksOf returns the world ranks of a group, and how many of its members are not defined.
func (a *otf2Archive) ranksOf(g *otf2.Group) (ranks []int32, lost int) {
	ranks = make([]int32, 0, len(g.Members))
	locations := a.commLocations(g.Paradigm)
	for _, m := range g.Members {
		id, place := m, -1
		if g.Kind == otf2.GroupCommGroup && g.Flags&otf2.GroupGlobalMembers == 0 {
			if m == otf2.Undefined64 { // not recorded
				ranks = append(ranks, timeline.UnknownRank)
				continue
			}
			if m >= uint64(len(locations)) {
				lost++
				continue
			}
			id, place = locations[m], int(m)
		}
		rank, ok := a.rankOf(id)
		if !ok && place >= 0 && g.Paradigm == otf2.ParadigmMPI { // a rank without location
			rank, ok = place, true
		}
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
	for id, g := range a.defs.Groups {
		if g.Kind == otf2.GroupCommLocations && g.Paradigm == paradigm && id <= first {
			first, found = id, g.Members
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
	byID := make(map[uint32]otf2.Context, len(a.defs.Contexts))
	for _, c := range a.defs.Contexts {
		byID[c.ID] = c
	}
	lost := 0
	for _, c := range a.defs.Contexts {
		var chain []otf2.Context // up to one that is known
		parent, rooted := uint32(0), true
		for {
			if at, known := a.contexts.Get(c.ID); known {
				parent = at
				break
			}
			if _, known := a.regions.Get(c.Region); !known || len(chain) > len(byID) {
				rooted = false
				break
			}
			chain = append(chain, c)
			if c.Parent == otf2.Undefined32 {
				break
			}
			if c, rooted = byID[c.Parent]; !rooted {
				break
			}
		}
		for _, c := range slices.Backward(chain) {
			if !rooted {
				delete(byID, c.ID)
				continue
			}
			region, _ := a.regions.Get(c.Region)
			a.contexts.Set(c.ID, uint32(len(t.Stacks)))
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
	for _, topology := range d.Topologies {
		comm, ok := a.comms.Get(topology.Comm)
		if !ok {
			continue
		}
		c := Cart{Comm: comm, Coords: make([][]int, len(t.Comms[comm].Members))}
		for _, id := range topology.Dimensions {
			c.Dims = append(c.Dims, int(d.Dimensions[id].Size))
			c.Periodic = append(c.Periodic, d.Dimensions[id].Periodic)
		}
		byID[topology.ID] = len(t.Carts)
		t.Carts = append(t.Carts, c)
	}
	for _, c := range d.Coordinates {
		i, ok := byID[c.Topology]
		if !ok || int(c.Rank) >= len(t.Carts[i].Coords) {
			continue
		}
		at := make([]int, len(c.At))
		for k, x := range c.At {
			at[k] = int(x)
		}
		t.Carts[i].Coords[c.Rank] = at
	}
}
