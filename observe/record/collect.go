package record

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"slackline/model/state"
	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/observe/counters"
	"slackline/observe/mpi"
)

// Collection is what a recorded run left, ready to be written as a trace.
type Collection struct {
	*trace.Trace
	MissingRanks []int
	Unresolved   []string // files whose symbols could not be read
	WithoutDebug []string // programs without debug information
	Heads        []Head   // of the threads that left something
	Faults       []Fault  // of raw files
	Guessed      int      // connections between processes that were started, which may be others
}

// Head is what the recorder says of a thread beside its events.
type Head struct {
	Rank, Thread int
	Bytes        int64 // recorded, or counted if it was an estimate
	Samples      int64
	Full         bool          // recording stopped because the limit of size was reached
	Failure      syscall.Errno // why recording stopped early, e.g. no space left on device
	Wrapped      bool          // older records were overwritten
	Uncounted    bool          // and not all of them were counted
	Truncated    bool          // the thread did not end its trace
	NoCPU        time.Duration // how long it could have run but had no CPU
	Refused      int64         // threads of its process that could not be recorded
	Off          bool          // recording was never on
	Lasted       time.Duration // from the end of MPI_Init to that of the program; 0: not known, also of further threads
	// Counters say, for each event that was to be counted, why it was not; 0: it was. CountingEnded: not all of the time.
	Counters      []syscall.Errno
	CountingEnded bool
}

// threadFiles are the raw files of one thread.
type threadFiles struct {
	rank, thread int
	events       string
	head         *rawHead
	wrapped      bool
	dropped      *dropped // of a ring; nil: nothing was overwritten
	uncounted    bool     // how much was overwritten is unknown
	definitions  *threadDefinitions
	live         bool // its process may still write
	whole        bool // the definitions are
}

// ErrNothing says that no rank left a file.
var ErrNothing = errors.New("no rank left a trace")

// collect reads the raw files in a directory. The events are read when the trace is written. The library is the
// recorder's, whose own functions are no part of call paths.
func collect(dir, library string, run uint64, counted []counters.Event) (*Collection, error) {
	files, faults, err := findThreads(dir, run)
	if err != nil {
		return nil, err
	}
	if err := foreignFiles(faults); err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, ErrNothing
	}
	table, err := mpi.Functions()
	if err != nil {
		return nil, err
	}
	c := &collector{objects: objectTable{byKey: map[objectKey]uint32{}}, regions: newRegionTable(),
		symbols: newSymbolTable(library), counted: counted}
	c.calls = callTable(table, c.regions)
	c.omp = map[uint16]uint32{}
	for _, number := range slices.Sorted(maps.Keys(ompRegions)) {
		c.omp[number] = c.regions.region(timeline.RegionNamed(ompRegions[number]))
	}
	out, err := c.collect(files, ranksOfWorlds(dir))
	if err == nil {
		out.Faults = append(faults, out.Faults...)
	}
	return out, err
}

// findThreads finds the files of the threads of a run, by rank and thread; run is its number, 0: it is unknown. Files of other things are
// ignored. What is wrong with files is returned, too; those that cannot be read, or are of something else, are left out.
func findThreads(dir string, run uint64) ([]*threadFiles, []Fault, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	var list []*threadFiles
	var faults []Fault
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	for _, e := range entries {
		base, kind, _ := strings.Cut(e.Name(), ".")
		f := &threadFiles{events: filepath.Join(dir, base+".evt")}
		n, _ := fmt.Sscanf(base, "r%d-t%d", &f.rank, &f.thread)
		switch {
		case n != 2 || base != fmt.Sprintf("r%d-t%d", f.rank, f.thread):
			continue
		case kind == "def" && !names[base+".evt"] && !failed(names, base):
			faults = append(faults, Fault{f.events, errors.New("is missing, but its definitions are there"), false})
			continue
		case kind != "evt":
			continue
		}
		found := f.read(dir, base, run)
		faults = append(faults, found...)
		if f.head != nil && !slices.ContainsFunc(found, func(x Fault) bool { return x.Foreign && x.Path == f.events }) {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b *threadFiles) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.thread, b.thread))
	})
	for first, last := 0, 0; first < len(list); first = last {
		for last = first; last < len(list) && list[last].rank == list[first].rank; last++ {
		}
		faults = append(faults, rankFaults(list[first:last])...)
	}
	return list, faults, nil
}

// failed reports whether a thread left word that it could not begin.
func failed(names map[string]bool, base string) bool {
	for name := range names {
		if strings.HasPrefix(name, base+".evt.failed-") {
			return true
		}
	}
	return false
}

// read reads what the files of a thread say beside its events, and returns what is wrong with them.
func (f *threadFiles) read(dir, base string, run uint64) (faults []Fault) {
	wrong := func(path string, err error, foreign bool) { faults = append(faults, Fault{path, err, foreign}) }
	raw, file, err := openRaw(f.events)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) { // it was just dropped
			wrong(f.events, err, !errors.Is(err, errRaw) && !errors.Is(err, errBegun))
		}
		return faults
	}
	defer file.Close()
	f.head, f.wrapped = raw.head, raw.wrapped
	if err := f.head.checkWhose(run, f.rank, f.thread, false); err != nil {
		wrong(f.events, err, true)
		return faults
	}
	status := statusOf(f.head, f.events)
	f.live = status == state.Running || status == state.Stopped
	if err := cmp.Or(raw.damage, raw.gaps(f.live)); err != nil {
		wrong(f.events, err, false)
	} else if !f.live {
		if err := raw.sealedAtEnd(); err != nil {
			wrong(f.events, err, false)
		}
	}
	if raw.wrapped {
		cut := filepath.Join(dir, base+".cut")
		f.dropped, err = readDropped(cut, raw.oldest, f.head)
		if f.uncounted = err != nil || f.dropped.uncounted > 0; err != nil {
			f.dropped = &dropped{}
			wrong(cut, err, false)
		}
	}
	path := filepath.Join(dir, base+".def")
	f.definitions, err = readDefinitionsOf(f.head, path)
	f.whole = err == nil
	begins := errors.Is(err, fs.ErrNotExist) || errors.Is(err, errBegun)
	if err != nil && !(begins && f.live && raw.oldest == 0) {
		wrong(path, err, errors.Is(err, errForeign) || !errors.Is(err, errDamaged) && !begins)
	}
	return faults
}

var (
	errForeign = errors.New("is not of the same process as the events beside it")
	errDamaged = errors.New("is damaged: call paths and communicators are lost")
)

// readDefinitionsOf reads the definitions that belong to events, as far as it goes; the error says why that is not all of them.
func readDefinitionsOf(events *rawHead, path string) (*threadDefinitions, error) {
	raw, file, err := openRaw(path)
	if errors.Is(err, errRaw) {
		err = fmt.Errorf("%w: %w", errDamaged, err)
	}
	if err != nil {
		return noDefinitions(), err
	}
	defer file.Close()
	if err := raw.head.checkWhose(events.run, events.rank, events.thread, true); err != nil {
		return noDefinitions(), fmt.Errorf("%w: %w", errForeign, err)
	}
	if raw.head.pid != events.pid || raw.head.host != events.host {
		return noDefinitions(), errForeign
	}
	raw.found(raw.gaps(true))
	d, err := readDefinitions(raw)
	if err := cmp.Or(err, raw.damage); err != nil {
		return d, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return d, nil
}

type collector struct {
	calls   []mpiCall
	omp     map[uint16]uint32
	comms   *commTable
	objects objectTable
	regions *regionTable
	symbols *symbolTable
	counted []counters.Event // that were to be counted
	metrics map[int]uint32   // those that were
}

func (c *collector) collect(files []*threadFiles, ranks int) (*Collection, error) {
	head := files[0].head
	out := &Collection{Trace: &trace.Trace{Format: "raw"}}
	t := out.Trace
	t.Ranks = ranks
	for _, f := range files {
		t.Ranks = max(t.Ranks, f.head.ranks)
	}
	known, guessed := joinWorlds(files)
	c.comms, out.Guessed = newCommTable(known), guessed
	compareWorlds(files)
	t.MPI, _, _ = strings.Cut(head.library, "\n")
	t.SamplePeriod = picoseconds(head.period)
	t.Created = head.wall
	t.Resolution = 1e9
	c.findMetrics(t, files)
	tables := make([]*streamTables, 0, len(files))
	paths := make([]string, 0, len(files))
	locationOf := map[int]int{} // of the first thread of a rank
	var programs []string
	for first := 0; first < len(files); {
		last := first
		for last < len(files) && files[last].rank == files[first].rank {
			last++
		}
		rank := files[first].rank
		for r := nextRank(t.Locations); r < rank; r++ {
			c.addMissing(out, r, &tables, &paths)
		}
		locationOf[rank] = len(t.Locations)
		if path := files[first].head.program; !slices.Contains(programs, path) {
			programs = append(programs, path)
		}
		list, err := c.rank(out, files[first:last])
		if err != nil {
			return nil, err
		}
		for i, f := range files[first:last] {
			tables, paths = append(tables, list[i]), append(paths, f.events)
		}
		first = last
	}
	for r := nextRank(t.Locations); r < t.Ranks; r++ {
		c.addMissing(out, r, &tables, &paths)
	}
	c.finish(out, tables, paths, locationOf)
	out.WithoutDebug = c.symbols.withoutDebug(programs)
	return out, nil
}

func nextRank(list []trace.Location) int {
	if len(list) == 0 {
		return 0
	}
	return list[len(list)-1].Rank + 1
}

func (c *collector) addMissing(out *Collection, rank int, tables *[]*streamTables, paths *[]string) {
	out.MissingRanks = append(out.MissingRanks, rank)
	out.Locations = append(out.Locations, trace.Location{ID: uint64(rank), Rank: rank, Name: locationName(rank, 0), Missing: true})
	*tables, *paths = append(*tables, nil), append(*paths, "")
}

func locationName(rank, thread int) string {
	if thread == 0 {
		return fmt.Sprintf("rank %d", rank)
	}
	return fmt.Sprintf("rank %d thread %d", rank, thread)
}

// rank adds the threads of one rank, and makes the tables that their events need.
func (c *collector) rank(out *Collection, files []*threadFiles) ([]*streamTables, error) {
	counts := map[uint32][]int64{}
	var carts []rawCart
	var objects []rawObject
	var edges []rawNeighbors
	res := &resolver{symbols: c.symbols, regions: c.regions}
	for _, f := range files {
		maps.Copy(counts, f.definitions.counts)
		carts = append(carts, f.definitions.carts...)
		objects = append(objects, f.definitions.objects...)
		edges = append(edges, f.definitions.edges...)
		res.maps = append(res.maps, f.definitions.maps...)
	}
	if files[0].head.self != 0 && c.symbols.self == "" {
		if m := findMapping(res.maps, files[0].head.self); m != nil {
			c.symbols.self = m.path
		}
	}
	late := map[uint64][]uint64{}
	for _, f := range files {
		for _, request := range f.definitions.late {
			late[request[0]] = append(late[request[0]], request...)
		}
	}
	numbers := c.comms.addRank(files[0].rank, carts, edges)
	known := c.objects.addRank(objects, numbers, c.calls)
	var list []*streamTables
	for _, f := range files {
		s := &streamTables{
			calls: c.calls, comms: numbers, objects: known, stacks: res.stacksOf(f.definitions), omp: c.omp,
			names: map[uint32]uint32{}, code: map[uint64]uint32{}, period: picoseconds(f.head.period),
			thread: f.thread, end: f.definitions.end, counts: counts, late: late, dropped: f.dropped, cut: f.wrapped || f.head.full(),
			metrics: c.metricsOf(f.head),
		}
		for _, number := range slices.Sorted(maps.Keys(f.definitions.names)) {
			s.names[number] = c.regions.region(timeline.RegionNamed(f.definitions.names[number]))
		}
		damage, err := findCode(f.events, s, res, f.whole)
		if err != nil {
			return nil, err
		}
		if damage != nil {
			out.Faults = append(out.Faults, Fault{f.events, damage, false})
		}
		list = append(list, s)
		out.Locations = append(out.Locations, trace.Location{
			ID: uint64(f.thread)<<32 + uint64(f.rank), Rank: f.rank, Thread: f.thread, Name: locationName(f.rank, f.thread),
			Host: f.head.host, Truncated: f.head.closed != rawClosed || !f.whole, RoundTrips: f.definitions.pings,
		})
		out.Heads = append(out.Heads, Head{
			Rank: f.rank, Thread: f.thread, Bytes: int64(f.head.bytes), Samples: int64(f.head.samples),
			Failure: f.head.failure, Full: f.head.closed == rawFull || f.head.lost > 0, Wrapped: f.wrapped, Uncounted: f.uncounted,
			Truncated: f.head.closed == rawOpenEnd, NoCPU: time.Duration(f.head.waited), Refused: int64(f.head.refused),
			Counters: f.head.counters, CountingEnded: f.head.countingEnded, Off: s.neverOn, Lasted: time.Duration(s.lasted),
		})
		if f.head.yields {
			out.Yield = "forced"
		}
	}
	return list, nil
}

// findCode resolves the addresses of instrumented functions and parallel regions.
// It reads all of the file: damage is what is wrong with it. Whole: so are the definitions.
func findCode(path string, s *streamTables, res *resolver, whole bool) (damage, err error) {
	raw, file, err := openRaw(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	function := func(kind uint16, address uint64) {
		if _, ok := s.code[address]; !ok && (kind == rawEnter || kind == rawLeave) {
			s.code[address] = res.functionAt(address)
		}
	}
	if s.dropped != nil {
		frames(s.dropped.skips, function)
	}
	var rec rawRecord
	recorded, on, initialized := s.dropped != nil, true, int64(0)
	for {
		switch err := raw.next(&rec); {
		case err == io.EOF:
			s.neverOn = !on && !recorded
			return raw.damage, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if !s.explains(&rec, whole) {
			raw.found(errRecord)
		}
		recorded = recorded || on && rec.kind != rawProgramBegin && rec.kind != rawThreadBegin && rec.kind != rawOff
		switch {
		case s.thread == 0 && initialized == 0 && rec.isCall():
			initialized = rec.leave
		case rec.kind == rawProgramEnd && initialized != 0:
			s.lasted = rec.enter - initialized
		case rec.kind == rawOff:
			s.cut, on = true, false
		case rec.kind == rawOn:
			on = true
		case rec.kind == rawSkips:
			for i := 0; i+skipWords <= rec.words(); i += skipWords {
				frames([]skip{skipOf(rec.list(i, skipWords))}, function)
			}
		case rec.kind == rawEnter || rec.kind == rawLeave:
			function(rec.kind, rec.word(0))
		case rec.kind == rawOMP && rec.function == ompTeamBegin:
			if _, ok := s.code[rec.word(0)]; !ok {
				s.code[rec.word(0)] = res.parallelAt(rec.word(0))
			}
		}
	}
}

// finish completes the definitions.
func (c *collector) finish(out *Collection, tables []*streamTables, paths []string, locationOf map[int]int) {
	t := out.Trace
	t.Regions, t.Stacks = c.regions.regions, c.regions.stacks
	t.Comms, t.Carts = c.comms.comms, c.comms.carts()
	t.Windows, t.Files = c.objects.windows, c.objects.files
	for i := range t.Locations {
		l := &t.Locations[i]
		l.RoundTrips = slices.DeleteFunc(l.RoundTrips, func(r trace.RoundTrip) bool {
			_, ok := locationOf[r.Partner]
			return !ok
		})
		for k := range l.RoundTrips {
			l.RoundTrips[k].Partner = locationOf[l.RoundTrips[k].Partner]
		}
	}
	for path := range c.symbols.missing {
		out.Unresolved = append(out.Unresolved, path)
	}
	slices.Sort(out.Unresolved)
	t.Open = func(i int) (trace.EventReader, error) {
		if tables[i] == nil {
			return nil, fmt.Errorf("rank %d left nothing", t.Locations[i].Rank)
		}
		raw, file, err := openRaw(paths[i])
		if err != nil {
			return nil, err
		}
		tables[i].parents = t.Stacks
		own := *tables[i] // it changes while events are read
		return &eventStream{
			streamTables: &own, file: raw, close: file, issued: map[uint64]trace.Event{}, splitsAtBegin: splitsAtBegin(t.MPI),
		}, nil
	}
}

// explains reports whether the tables have what a record refers to. Whole: they have all call paths.
func (s *streamTables) explains(rec *rawRecord, whole bool) bool {
	if whole && rec.path > 0 && int(rec.path) >= len(s.stacks) {
		return false
	}
	if !rec.isCall() {
		return true
	}
	return rec.function > 0 && int(rec.function) < len(s.calls) && (rec.kind != rawCollective || s.calls[rec.function].collective)
}
