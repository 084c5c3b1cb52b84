package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"slackline/internal/cluster"
	"slackline/model/timeline"
	"slackline/model/trace/otf2"
)

// A trace of one file for each location can be read by several processes together, each of which reads the
// files of its own ranks. Files that all need (definitions, anchor) are read by process 0, which gives
// them to the others; what is to be known of the files of each location before they are read (whether they
// are there and whole, offsets of clocks) each process finds out for a share of them and tells all.

// ErrOneReader is returned by OpenPart if a format cannot be read by several processes.
var ErrOneReader = errors.New("a trace in this format is read by one process")

// OpenPart is Open by several processes together: all of them call it, and get the same trace.
func OpenPart(ctx context.Context, g cluster.Group, fsys fs.FS, name string, o Options) (*Trace, error) {
	if g.Size() == 1 {
		return Open(fsys, name, o)
	}
	var found struct{ Format, Main, Error string }
	if g.Rank() == 0 {
		f, main, ok, err := Find(fsys, name)
		switch {
		case err != nil:
			found.Error = err.Error()
		case !ok:
			found.Error = notATrace(name, &o).Error()
		}
		found.Format, found.Main = f.Name, main
	}
	if err := cluster.BroadcastValue(ctx, g, &found); err != nil {
		return nil, err
	}
	if found.Error != "" {
		return nil, errors.New(found.Error)
	}
	f, err := FormatNamed(found.Format)
	if err != nil {
		return nil, err
	}
	if !f.parts {
		return nil, ErrOneReader
	}
	t, err := f.open(source{fsys: fsys, main: found.Main, group: g, ctx: ctx}, name, o)
	if err == nil && t.attach != nil { // streams and hosts belong together
		t.release()
		return nil, ErrOneReader
	}
	return t, err
}

// shared reads a file that all processes need: process 0 does, and gives it to the others.
func (s *source) shared(read func() ([]byte, error)) ([]byte, error) {
	if s.group == nil {
		return read()
	}
	status := struct {
		Error   string
		Missing bool
	}{}
	var data []byte
	if s.group.Rank() == 0 {
		var err error
		if data, err = read(); err != nil {
			status.Error, status.Missing = err.Error(), errors.Is(err, fs.ErrNotExist)
		}
	}
	if err := cluster.BroadcastValue(s.ctx, s.group, &status); err != nil {
		return nil, err
	}
	if status.Error != "" {
		return nil, &sharedError{status.Error, status.Missing}
	}
	data, err := cluster.Broadcast(s.ctx, s.group, data)
	return bytes.Clone(data), err
}

// sharedError is an error of process 0 in reading a file.
type sharedError struct {
	text    string
	missing bool
}

func (e *sharedError) Error() string { return e.text }

func (e *sharedError) Is(target error) bool { return e.missing && target == fs.ErrNotExist }

// openShared opens a file that all processes need, given by its path.
func (s *source) openShared(path string) (fs.File, error) {
	if s.group == nil {
		return s.fsys.Open(path)
	}
	data, err := s.shared(func() ([]byte, error) {
		file, err := s.fsys.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return io.ReadAll(file)
	})
	if err != nil {
		return nil, err
	}
	return memoryFile{bytes.NewReader(data)}, nil
}

// memoryFile is a file whose content is known.
type memoryFile struct{ *bytes.Reader }

func (memoryFile) Stat() (fs.FileInfo, error) { return nil, fs.ErrInvalid }
func (memoryFile) Close() error               { return nil }

// fileCheck is what is known of the files of a location before they are read.
type fileCheck struct {
	Truncated  bool
	Doubtful   bool
	Unreadable string // why nothing can be read
	Warnings   []string
	First      uint64 // OTF2: time of the first event
	Started    bool   // OTF2: there is one
	Offsets    []otf2.Offset
	Found, Own bool     // OTF2: there is a file of local definitions; there are some in it
	Command    []string // OTF2: of the first location
}

// checkFiles finds out about the files of all locations, several processes each for a share of them, and notes
// what is missing or truncated.
func (s *source) checkFiles(t *Trace, check func(i int) fileCheck) ([]fileCheck, error) {
	all := make([]fileCheck, len(t.Locations))
	first, last := 0, len(all)
	if s.group != nil {
		first, last = ownLocations(t, rankBounds(&t.Definitions, nil, s.group.Size()), s.group.Rank())
	}
	for i := first; i < last; i++ {
		all[i] = check(i)
		if err := s.disk.Forget(); err != nil && all[i].Unreadable == "" {
			all[i] = fileCheck{Unreadable: fmt.Sprintf("%v; the events of %s cannot be read", err, t.Locations[i].describe())}
		}
	}
	if s.group != nil {
		own := all[first:last]
		parts, err := cluster.AllGatherValues(s.ctx, s.group, &own)
		if err != nil {
			return nil, err
		}
		all = slices.Concat(parts...)
		if len(all) != len(t.Locations) {
			return nil, cluster.ErrGarbled
		}
	}
	for i := range all {
		l := &t.Locations[i]
		l.Truncated = l.Truncated || all[i].Truncated
		l.Doubtful = all[i].Doubtful
		if why := all[i].Unreadable; why != "" {
			l.Missing, l.Unreadable = true, why
			t.Warnings = append(t.Warnings, why)
		}
		t.Warnings = append(t.Warnings, all[i].Warnings...)
	}
	return all, nil
}

// rankBounds gives where the ranks of each process begin: one after the other, with about the same number of events
// each; of the selected ranks, nil: all. One more at the end. Process 0 has rank 0.
func rankBounds(d *Definitions, selected []bool, size int) []int {
	events := make([]uint64, d.Ranks)
	total := uint64(0)
	for i := range d.Locations {
		l := &d.Locations[i]
		if l.Rank < 0 || l.Rank >= d.Ranks || selected != nil && !selected[l.Rank] {
			continue
		}
		n := min(l.Events, 1<<40) + 1 // what a damaged file says of itself may be anything
		events[l.Rank] += n
		total += n
	}
	bounds := make([]int, size+1)
	bounds[size] = d.Ranks
	rank, before := 0, uint64(0)
	for p := 1; p < size; p++ {
		for rank < d.Ranks && (before+events[rank]/2)*uint64(size) < total*uint64(p) {
			before += events[rank]
			rank++
		}
		if p == 1 && rank == 0 && d.Ranks > 0 {
			before += events[0]
			rank = 1
		}
		bounds[p] = rank
	}
	return bounds
}

// ownLocations returns the locations of the ranks of a process.
func ownLocations(t *Trace, bounds []int, p int) (first, last int) {
	begin := func(rank int) int {
		for i := range t.Locations {
			if t.Locations[i].Rank >= rank {
				return i
			}
		}
		return len(t.Locations)
	}
	return begin(bounds[p]), begin(bounds[p+1])
}

// ToTimelinePart is ToTimeline by several processes together: each reads the events of its own ranks and gets a part of
// the timeline. All of them call it, with a trace from OpenPart.
func ToTimelinePart(ctx context.Context, g cluster.Group, t *Trace, o TimelineOptions) (*timeline.Timeline, error) {
	if g.Size() == 1 {
		return ToTimeline(t, o)
	}
	c, err := newConversion(t, o)
	if err != nil {
		return nil, err
	}
	c.group = g
	c.bounds = rankBounds(&t.Definitions, c.selected, g.Size())
	if err := c.read(); err != nil {
		return nil, err
	}
	if err := c.gatherLost(ctx); err != nil {
		return nil, err
	}
	begun, err := cluster.AllGatherValues(ctx, g, new(c.begun.Load()))
	if err != nil {
		return nil, err
	}
	if !slices.Contains(begun, true) {
		return nil, c.nothingRead()
	}
	tl, err := c.builder.FinishPart(ctx, g, c.bounds, c.threads)
	if err != nil {
		return nil, err
	}
	c.explainMissing(tl)
	if err := c.control(ctx, tl); err != nil {
		return nil, err
	}
	return c.cut(ctx, tl)
}

// reads reports whether this process reads the events of a rank.
func (c *conversion) reads(rank int) bool {
	if c.group == nil {
		return true
	}
	return rank >= c.bounds[c.group.Rank()] && rank < c.bounds[c.group.Rank()+1]
}

// gatherLost sends all processes what is missing of the locations that this one read.
func (c *conversion) gatherLost(ctx context.Context) error {
	own := map[int]string{}
	for i, what := range c.lost {
		if what != "" && c.reads(c.Locations[i].Rank) {
			own[i] = what
		}
	}
	all, err := cluster.AllGatherValues(ctx, c.group, &own)
	if err != nil {
		return err
	}
	clear(c.lost)
	for p := range all {
		for i, what := range all[p] {
			if i < 0 || i >= len(c.lost) {
				return cluster.ErrGarbled
			}
			c.lost[i] = what
		}
	}
	return nil
}
