package record

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"slackline/internal/parallel"
	"slackline/model/state"
	"slackline/model/timeline"
	"slackline/observe/mpi"
)

// Sight is what the raw files of a run show of it at one moment, while it runs or after its end.
type Sight struct {
	state.Run
	Command []string      // that was recorded
	Out     string        // the trace that it will be
	Apart   time.Duration // between the two looks
	Calls   int64         // of MPI, until now
	Alive   bool          // a process may still run
	Faults  []Fault       // of raw files; what their ranks do is unknown

	run     uint64 // its number
	files   map[int][]*threadFiles
	symbols *symbolTable
	regions *regionTable
	stacks  map[*threadFiles][]uint32
	// unreadable are the ranks of which a file is damaged.
	unreadable map[int]bool
}

// Look reads the raw files of a run, which lie in one folder, or, if the hosts share none, in one for each of them. It looks
// twice, some time apart, to see who moves.
func Look(ctx context.Context, dirs []string, apart time.Duration) (*Sight, error) {
	s := &Sight{Apart: apart, files: map[int][]*threadFiles{}, regions: newRegionTable(), stacks: map[*threadFiles][]uint32{}}
	of := &order{}
	for i, dir := range dirs {
		o, err := readOrder(dir)
		if err != nil {
			return nil, err
		}
		if i > 0 && (o.Run != of.Run || !slices.Equal(o.Command, of.Command) || o.Out != of.Out) {
			return nil, fmt.Errorf("%s and %s are of different runs; give the directories of one run", dirs[0], dir)
		}
		of = o
	}
	s.Command, s.Out, s.run = of.Command, of.Out, of.Run
	s.symbols = newSymbolTable(of.Recorder)
	functions, err := mpi.Functions()
	if err != nil {
		return nil, err
	}
	paths, err := eventFiles(dirs)
	if err != nil {
		return nil, err
	}
	// Who is in the same call in both looks was in it all the time between: what is read of all of them held at one moment.
	before := pulses(paths, callKinds(functions))
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(apart):
	}
	return s, s.read(dirs, functions, paths, before)
}

// read fills in the state; files that came later than the first look are left for the next one.
func (s *Sight) read(dirs []string, functions []mpi.Function, paths []string, before []pulse) error {
	var files []*threadFiles
	for _, dir := range dirs {
		list, faults, err := findThreads(dir, s.run)
		if err != nil {
			return err
		}
		files, s.Faults = append(files, list...), append(s.Faults, faults...)
	}
	if len(files) == 0 && len(s.Faults) > 0 {
		return s.Faults[0]
	}
	if len(files) == 0 {
		return fmt.Errorf("%s: %w: no rank has done MPI_Init", dirs[0], ErrNothing)
	}
	earlier := map[string]pulse{}
	for i := range before {
		earlier[paths[i]] = before[i]
	}
	ranks := 0
	for _, f := range files {
		ranks = max(ranks, f.head.ranks)
		if i := slices.IndexFunc(s.files[f.rank], func(o *threadFiles) bool { return o.thread == f.thread }); i >= 0 {
			return fmt.Errorf("%s and %s are both of rank %d; give each directory once", s.files[f.rank][i].events, f.events, f.rank)
		}
		s.files[f.rank] = append(s.files[f.rank], f)
	}
	known, _ := joinWorlds(files)
	c := &collector{comms: newCommTable(known), objects: objectTable{byKey: map[objectKey]uint32{}}, regions: s.regions}
	c.calls = callTable(functions, s.regions)
	kinds := callKinds(functions)
	s.Ranks = make([]state.Rank, ranks)
	all := make([]*rankNow, ranks)
	for r := range ranks {
		if len(s.files[r]) > 0 {
			all[r] = newRankNow(s.files[r], c, kinds)
		}
	}
	parallel.Each(ranks, runtime.GOMAXPROCS(0), func(r int) {
		if all[r] != nil {
			all[r].read(earlier)
		}
	})
	s.addFaults(all, dirs)
	now := newClocks(all)
	for r := range all {
		if all[r] == nil {
			s.Ranks[r] = state.Rank{Status: state.Missing}
			if s.unreadable[r] {
				s.Ranks[r] = state.Rank{Status: state.Unreadable, Partial: true}
			}
			continue
		}
		if s.unreadable[r] {
			all[r].status = state.Unreadable
		}
		s.Ranks[r] = all[r].state(now, c.comms.comms, c.objects.windows)
		for _, t := range s.Ranks[r].Threads {
			s.Calls += t.Calls
		}
		s.Alive = s.Alive || all[r].status == state.Running || all[r].status == state.Stopped
	}
	s.Comms, s.Windows, s.Files = c.comms.comms, c.objects.windows, c.objects.files
	return nil
}

// addFaults finds the ranks whose files are damaged or missing. When one rank has made a call, all have files: they agree on that first.
func (s *Sight) addFaults(all []*rankNow, dirs []string) {
	s.unreadable = map[int]bool{}
	begun := false
	for _, n := range all {
		if n != nil {
			s.Faults = append(s.Faults, n.faults...)
			begun = begun || slices.ContainsFunc(n.threads, func(t *threadNow) bool { return t.calls > 0 })
		}
	}
	slices.SortStableFunc(s.Faults, func(a, b Fault) int { return strings.Compare(a.Path, b.Path) })
	s.Faults = slices.CompactFunc(s.Faults, func(a, b Fault) bool { return a.Path == b.Path })
	for _, f := range s.Faults {
		var rank int
		if n, _ := fmt.Sscanf(filepath.Base(f.Path), "r%d-", &rank); n == 1 {
			s.unreadable[rank] = true
		}
	}
	for r, n := range all {
		if n == nil && begun && !s.unreadable[r] {
			s.unreadable[r] = true
			s.Faults = append(s.Faults, Fault{filepath.Join(dirs[0], fmt.Sprintf("r%d-t0.evt", r)),
				fmt.Errorf("the files of rank %d are missing; if they are on its host, give their directory, too", r), true})
		}
	}
}

// rankNow is a rank that is being looked at.
type rankNow struct {
	files   []*threadFiles
	numbers map[uint32]uint32
	objects map[uint32]object
	comms   map[uint32]rawComm
	history *history
	threads []*threadNow
	moved   []bool
	status  state.Status
	faults  []Fault
}

func newRankNow(files []*threadFiles, c *collector, kinds []callKind) *rankNow {
	n := &rankNow{files: files, comms: c.comms.known.comms[files[0].rank]}
	var objects []rawObject
	for _, f := range files {
		objects = append(objects, f.definitions.objects...)
	}
	n.numbers = c.comms.addRank(files[0].rank, nil, nil)
	n.objects = c.objects.addRank(objects, n.numbers, c.calls)
	n.history = newHistory(kinds, objects)
	return n
}

func (n *rankNow) read(earlier map[string]pulse) {
	for _, f := range n.files {
		t, err := readThread(f, n.history)
		if err != nil {
			n.faults = append(n.faults, Fault{f.events, err, true})
			continue
		}
		if t.damage != nil {
			n.faults = append(n.faults, Fault{f.events, t.damage, false})
		}
		if f.thread > 0 && (t.calls == 0 || f.head.closed == rawClosed) { // it has ended: nothing waits for it, nor can it do anything
			continue
		}
		before, known := earlier[f.events]
		n.threads = append(n.threads, t)
		n.moved = append(n.moved, known && before.movedTo(pulse{mark: t.mark, polls: len(t.polls) > 0}))
	}
	head := n.files[0].head
	n.status = statusOf(head, n.files[0].events)
}

// CallPath returns the functions that lead to what a thread does, outermost first; nil if they are unknown.
func (s *Sight) CallPath(rank, thread int) []timeline.Region {
	if rank < 0 || rank >= len(s.Ranks) {
		return nil
	}
	i := slices.IndexFunc(s.files[rank], func(f *threadFiles) bool { return f.thread == thread })
	k := slices.IndexFunc(s.Ranks[rank].Threads, func(t state.Thread) bool { return t.Number == thread })
	if i < 0 || k < 0 {
		return nil
	}
	f := s.files[rank][i]
	if s.stacks[f] == nil {
		res := &resolver{symbols: s.symbols, regions: s.regions}
		for _, other := range s.files[rank] {
			res.maps = append(res.maps, other.definitions.maps...)
		}
		if m := findMapping(res.maps, f.head.self); m != nil && s.symbols.self == "" {
			s.symbols.self = m.path
		}
		s.stacks[f] = res.stacksOf(f.definitions)
	}
	var path []timeline.Region
	if at := s.Ranks[rank].Threads[k].Path; int(at) < len(s.stacks[f]) {
		for stack := s.stacks[f][at]; stack != 0; stack = s.regions.stacks[stack].Parent {
			path = append(path, s.regions.regions[s.regions.stacks[stack].Region])
		}
	}
	slices.Reverse(path)
	return path
}
