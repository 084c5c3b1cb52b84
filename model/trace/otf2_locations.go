package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"slackline/model/trace/damage"
	"slackline/model/trace/otf2"
)

// setLocations finds the threads of the ranks.
func (a *otf2Archive) setLocations() {
	d, t := a.defs, a.trace
	ranks := a.ranksOfGroups()
	masters := map[uint64]bool{}
	for _, id := range a.commLocations(otf2.ParadigmMPI) {
		masters[id] = true
	}
	states := map[uint64]string{}
	for _, p := range d.Properties {
		if d.Strings[p.Name] == otf2StateName {
			states[p.Location] = d.Strings[p.Value]
		}
	}
	seen := map[uint64]bool{}
	for _, l := range d.Locations {
		rank, ok := ranks[l.Group]
		if !ok || l.Kind != otf2.LocationCPUThread || seen[l.ID] {
			continue
		}
		seen[l.ID] = true
		t.Locations = append(t.Locations, Location{
			ID: l.ID, Rank: rank, Name: d.Strings[l.Name], Host: a.hostOf(l.Group), Events: l.Events,
			Truncated: states[l.ID] == otf2Truncated, Missing: states[l.ID] == otf2Missing,
		})
	}
	slices.SortFunc(t.Locations, func(x, y Location) int {
		master := 0
		if masters[x.ID] != masters[y.ID] {
			master = 1
			if masters[x.ID] {
				master = -1
			}
		}
		return cmp.Or(cmp.Compare(x.Rank, y.Rank), master, cmp.Compare(x.ID, y.ID))
	})
	a.setStreams(ranks)
	for i := range t.Locations {
		if l := &t.Locations[i]; i > 0 && t.Locations[i-1].Rank == l.Rank {
			l.Thread = t.Locations[i-1].Thread + 1
		}
		t.Ranks = max(t.Ranks, t.Locations[i].Rank+1)
	}
	for rank, id := range a.commLocations(otf2.ParadigmMPI) {
		if _, ok := a.rankOf(id); !ok {
			t.Ranks = max(t.Ranks, rank+1)
		}
	}
	if int(a.anchor.Locations) != len(d.Locations) {
		a.warn("%s: there are %d locations, but the anchor file announces %d", a.src.showBeside(a.name+".def"), len(d.Locations),
			a.anchor.Locations)
	}
}

// ranksOfGroups numbers the processes: by the places of their locations in the group of all that take part
// in MPI, or, without one, by the ids of the processes.
func (a *otf2Archive) ranksOfGroups() map[uint32]int {
	d := a.defs
	groupOf := map[uint64]uint32{}
	hasThreads := map[uint32]bool{}
	for _, l := range d.Locations {
		groupOf[l.ID] = l.Group
		hasThreads[l.Group] = hasThreads[l.Group] || l.Kind == otf2.LocationCPUThread
	}
	ranks := map[uint32]int{}
	next := 0
	for rank, id := range a.commLocations(otf2.ParadigmMPI) {
		if group, ok := groupOf[id]; ok {
			if _, twice := ranks[group]; !twice {
				ranks[group] = rank
			}
		}
		next = rank + 1
	}
	for _, id := range slices.Sorted(maps.Keys(d.Processes)) {
		if _, ok := ranks[id]; !ok && d.Processes[id].Kind == otf2.GroupProcess && hasThreads[id] {
			ranks[id] = next
			next++
		}
	}
	return ranks
}

// hostOf returns the name of the node that a process runs on.
func (a *otf2Archive) hostOf(group uint32) string {
	id := a.defs.Processes[group].Parent
	nearest := a.defs.Strings[a.defs.Nodes[id].Name]
	for range len(a.defs.Nodes) { // a loop in the tree ends somewhere
		node, ok := a.defs.Nodes[id]
		if !ok {
			break
		}
		if class := strings.ToLower(a.defs.Strings[node.Class]); class == "node" || class == "host" {
			return a.defs.Strings[node.Name]
		}
		id = node.Parent
	}
	return nearest
}

// rankOf returns the rank of a location.
func (a *otf2Archive) rankOf(id uint64) (int, bool) {
	if a.ranks == nil {
		a.ranks = make(map[uint64]int, len(a.trace.Locations))
		for i := range a.trace.Locations {
			a.ranks[a.trace.Locations[i].ID] = a.trace.Locations[i].Rank
		}
	}
	rank, ok := a.ranks[id]
	return rank, ok
}

// setClocks reads the local definitions for the offsets of the clocks, and looks whether the files of
// events are there and have an end.
func (a *otf2Archive) setClocks() error {
	d, t := a.defs, a.trace
	a.clocks = make([]otf2.Clock, len(t.Locations))
	checks, err := a.src.checkFiles(t, a.checkFile)
	if err != nil {
		return err
	}
	earliest := uint64(math.MaxUint64)
	for i := range checks {
		if checks[i].Started {
			earliest = min(earliest, checks[i].First)
		}
		a.locals = a.locals || checks[i].Own
	}
	for i := range checks {
		a.checkRun(&t.Locations[i], &checks[i])
	}
	if len(t.Command) == 0 && len(checks) > 0 {
		t.Command = checks[0].Command
	}
	global := d.GlobalOffset
	const far = math.MaxInt64 / 4 // ps
	probe := otf2.NewClock(d.Resolution, global)
	if ps, ok := probe.Time(earliest); earliest != math.MaxUint64 && (!ok || ps > far || ps < -far) && !slices.ContainsFunc(checks,
		fileCheck.corrects) {
		global = earliest // the global offset is no use
	}
	for i := range t.Locations {
		base := global
		offsets := checks[i].Offsets
		if checks[i].corrects() {
			probe := otf2.NewClock(d.Resolution, global)
			if ps, ok := probe.Time(offsets[0].Time); !ok || ps > far || ps < -far {
				base = global - uint64(offsets[0].Offset) // a clock of another origin
			}
			if err := a.setOffsets(&t.Locations[i], offsets, base, global); err != nil {
				a.warn("rank %d, thread %d: %v", t.Locations[i].Rank, t.Locations[i].Thread, err)
			}
		}
		a.clocks[i] = otf2.NewClock(d.Resolution, base)
	}
	return nil
}

// checkFile finds out about the files of a location.
func (a *otf2Archive) checkFile(i int) fileCheck {
	l := &a.trace.Locations[i]
	c := a.checkEvents(l)
	local, err := a.readLocal(l)
	if err != nil {
		c.Doubtful = true
		c.Warnings = append(c.Warnings, err.Error()+localLost)
	}
	c.Offsets, c.Found, c.Own = local.Offsets, local.Found, !local.Empty()
	if i == 0 {
		c.Command = a.command()
	}
	return c
}

// localLost ends a warning about a file of local definitions.
const localLost = "; mappings and offsets after it are lost"

// checkRun warns if the files of a location do not fit the archive: local definitions are there for all locations or for none,
// and nothing happens before the run begins or after it has ended.
func (a *otf2Archive) checkRun(l *Location, c *fileCheck) {
	if a.locals && !c.Found && c.Started {
		l.Doubtful = true
		a.warn("%s: the file is missing, although other locations have one; ids and clock of %s may be wrong",
			a.src.showBeside(a.localFile(l)), l.describe())
	}
	first := c.First - a.defs.GlobalOffset // after the start of the run
	if c.Started && !c.corrects() && a.defs.Length > 0 && first > a.defs.Length {
		a.warn("%s: the first event is at tick %d, but the run has %d ticks from %d on; is this a file of another run?",
			a.src.showBeside(a.eventFile(l)), c.First, a.defs.Length, a.defs.GlobalOffset)
	}
}

// corrects reports whether there are offsets enough to correct a clock.
func (c fileCheck) corrects() bool { return len(c.Offsets) >= 2 }

// setOffsets translates the offsets of a clock; if one is out of range, the location gets none.
func (a *otf2Archive) setOffsets(l *Location, offsets []otf2.Offset, base, global uint64) error {
	clock := otf2.NewClock(a.defs.Resolution, base)
	for _, o := range offsets {
		time, ok := clock.Time(o.Time)
		offset, fits := clock.Span(o.Offset + int64(base-global))
		if !ok || !fits {
			l.Offsets = nil
			return errors.New("an offset of its clock is out of range; its clock is not corrected")
		}
		scale := second / float64(a.defs.Resolution)
		l.Offsets = append(l.Offsets, ClockOffset{time, offset, o.Deviation * scale})
	}
	return nil
}

// eventFile and localFile are the files of a location.
func (a *otf2Archive) eventFile(l *Location) string {
	return path.Join(a.name, fmt.Sprintf("%d.evt", l.ID))
}

func (a *otf2Archive) localFile(l *Location) string {
	return path.Join(a.name, fmt.Sprintf("%d.def", l.ID))
}

// readLocal reads the local definitions of a location. Archives without such files are usual.
func (a *otf2Archive) readLocal(l *Location) (*otf2.Local, error) {
	f, file, err := a.open(a.localFile(l), a.anchor.DefChunk)
	sum, summed := a.sums[l.ID]
	if errors.Is(err, fs.ErrNotExist) && !summed {
		return &otf2.Local{}, nil
	}
	if err != nil {
		return &otf2.Local{Found: true}, damage.At(a.src.showBeside(a.localFile(l)), -1, "the file cannot be read: %v", damage.Reason(err))
	}
	defer file.Close()
	local, err := otf2.ReadLocal(f)
	if summed && err == nil {
		err = f.CheckSum(uint32(sum))
	}
	return local, err
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
	var head [otf2.ChunkHeader + 9]byte
	if n, err := io.ReadFull(file, head[:]); err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		r := otf2.Bytes{Data: head[:n], Big: head[1] == otf2.Big, At: min(otf2.ChunkHeader, n)}
		if r.U8() == otf2.Timestamp {
			c.First = r.Full(8)
			c.Started = !r.Short
		}
	}
	at, isAt := file.(io.ReaderAt)
	info, err := file.Stat()
	if !isAt || err != nil {
		return c // it will turn out while reading
	}
	var tail [2]byte
	if _, err := at.ReadAt(tail[:], info.Size()-2); err != nil || tail != [2]byte{otf2.EndOfFile, otf2.EndOfBuffer} {
		c.Truncated = true
		warn("%s: byte %d: the file has no end; the events of rank %d, thread %d are read as far as they are whole",
			show, info.Size(), l.Rank, l.Thread)
	}
	return c
}
