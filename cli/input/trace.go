package input

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"slackline/internal/cluster"
	"slackline/internal/provenance"
	"slackline/internal/spill"
	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/model/trace/nccl"
	"slackline/model/unit"
)

// TraceOptions define which part of a recorded run is read, and how.
type TraceOptions struct {
	Begin, End unit.Duration // since the start of the run; End 0: to its end
	Ranks      []int         // those that are read; nil: all
	Strict     bool          // refuse a trace that is damaged or incomplete
	Partial    bool          // leave out ranks whose events cannot be read
	Clock      trace.Clock   // how clocks are brought together; empty: trace.ClockAuto
	Threads    int           // 0: one per core
	Space      *spill.Space  // that the long lists of the timeline are in; nil: they are on the heap
	Hash       bool          // fill Trace.Record with the hash of the files
	Group      cluster.Group // processes that read it together, each the files of its own ranks; nil: there is one
}

// A Trace is a recorded run that has been read.
type Trace struct {
	Format   string
	Timeline *timeline.Timeline
	Clocks   *trace.ClockReport // what was done to bring the clocks together
	Record   provenance.Input
	Warnings []string // what was lost or repaired while reading
}

// IsTrace reports whether word is a recorded run: the main file of a trace, or a directory with one.
func IsTrace(word string) bool {
	if word == Stdin {
		return false
	}
	dir, base, err := split(word)
	if err != nil {
		return false
	}
	if info, err := os.Stat(word); err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return false // a pipe would be read
	}
	_, _, found, err := trace.Find(Dir(dir), base)
	return err == nil && found
}

// split returns the directory and the name of a path.
func split(word string) (dir, base string, err error) {
	full, err := filepath.Abs(word)
	return filepath.Dir(full), filepath.Base(full), err
}

// OpenDumps reads dumps of Flight Recorder; nil if the word names none.
func OpenDumps(ctx context.Context, word string) (*nccl.Dumps, error) {
	if _, err := os.Stat(word); err != nil {
		return nil, nil // it is named otherwise
	}
	dir, base, err := split(word)
	if err != nil {
		return nil, err
	}
	return trace.OpenDumps(Dir(dir), base, trace.Options{Name: word, Interrupt: ctx.Err})
}

// OpenRawTrace opens a recorded run as it is on disk, each location on its own clock, for those that write
// it in another format.
func OpenRawTrace(word string, o trace.Options) (*trace.Trace, error) {
	return openTrace(context.Background(), cluster.Alone(), word, o)
}

func openTrace(ctx context.Context, g cluster.Group, word string, o trace.Options) (*trace.Trace, error) {
	if _, err := os.Stat(word); errors.Is(err, fs.ErrNotExist) {
		return nil, Absent(word)
	}
	dir, base, err := split(word)
	if err != nil {
		return nil, err
	}
	o.Name = word
	return trace.OpenPart(ctx, g, Dir(dir), base, o)
}

// OpenTrace reads a recorded run: all of it, on one clock. When ctx is done it stops reading. If several processes
// read it together, all of them call it and each gets its part of the timeline; trace.ErrOneReader means that its format does
// not allow that.
func OpenTrace(ctx context.Context, word string, o TraceOptions) (*Trace, error) {
	if o.Group == nil {
		o.Group = cluster.Alone()
	}
	t, err := openTrace(ctx, o.Group, word, trace.Options{Strict: o.Strict})
	if err != nil {
		return nil, err
	}
	clocks := &trace.ClockReport{}
	tl, err := trace.ToTimelinePart(ctx, o.Group, t, trace.TimelineOptions{
		Ranks: o.Ranks, Begin: o.Begin, End: o.End, Strict: o.Strict, Partial: o.Partial, Threads: o.Threads, Interrupt: ctx.Err,
		Clock: cmp.Or(o.Clock, trace.ClockAuto), Clocks: clocks, Space: o.Space,
	})
	if t.Close != nil {
		err = errors.Join(err, t.Close())
	}
	if err != nil {
		return nil, err
	}
	if err := tl.CheckPaths(); err != nil {
		return nil, fmt.Errorf("%s: %w", word, err)
	}
	in := &Trace{Format: t.Format, Timeline: tl, Clocks: clocks, Warnings: slices.Clone(t.Warnings)}
	in.Record, err = recordTrace(ctx, o.Group, word, t.Format, o.Hash)
	return in, err
}

// recordTrace describes a trace. What consists of several files has the size of all of them, and the hash of
// their names, sizes and hashes, in the order of their names. Several processes read a share of them each.
func recordTrace(ctx context.Context, g cluster.Group, word, format string, hash bool) (provenance.Input, error) {
	record := provenance.Input{Path: word, Kind: format}
	if !hash {
		return record, nil
	}
	base := filepath.Dir(word)
	if info, err := os.Stat(word); err == nil && info.IsDir() { // whose name, or that of a link to it, is none of its content
		if real, err := filepath.EvalSymlinks(word); err == nil {
			word, base = real, real
		}
	}
	files, err := filesOf(word)
	if err != nil {
		return record, err
	}
	return recordAll(ctx, g, record, base, files)
}

// recordAll completes the record of what consists of files; their names are those from the directory base on.
func recordAll(ctx context.Context, g cluster.Group, record provenance.Input, base string, files []string) (provenance.Input, error) {
	if len(files) == 1 {
		return RecordFile(files[0], record.Kind)
	}
	records, err := recordFiles(ctx, g, files, record.Kind)
	if err != nil {
		return record, err
	}
	sum := sha256.New()
	for i, file := range files {
		r := &records[i]
		name, err := filepath.Rel(base, file)
		if err != nil {
			return record, err
		}
		fmt.Fprintf(sum, "%s\t%d\t%s\n", filepath.ToSlash(name), r.Bytes, r.SHA256)
		record.Bytes += r.Bytes
	}
	record.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return record, nil
}

// recordFiles describes files, each of which is read by one process.
func recordFiles(ctx context.Context, g cluster.Group, files []string, format string) ([]provenance.Input, error) {
	first, last := cluster.Share(len(files), g.Rank(), g.Size())
	var own []provenance.Input
	for _, file := range files[first:last] {
		r, err := RecordFile(file, format)
		if err != nil {
			return nil, err
		}
		own = append(own, r)
	}
	if g.Size() == 1 {
		return own, nil
	}
	parts, err := cluster.AllGatherValues(ctx, g, &own)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(parts...)
	if len(all) != len(files) {
		return nil, fmt.Errorf("process 0 sees %d files of the trace, others see other ones; wait until it is written", len(files))
	}
	return all, nil
}

// filesOf are the files of a trace, by name: what is in the directory, or the file itself and what belongs to it, as to the
// anchor file of an OTF2 archive.
func filesOf(word string) ([]string, error) {
	roots := []string{word}
	if info, err := os.Stat(word); err == nil && !info.IsDir() {
		beside, err := besides(word)
		if err != nil {
			return nil, err
		}
		roots = append(roots, beside...)
	}
	var files []string
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.Type().IsRegular():
				files = append(files, path)
			case d.Type()&fs.ModeSymlink != 0:
				if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
					files = append(files, path)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// besides are the files and directories beside the main file of a trace that belong to it.
func besides(main string) ([]string, error) {
	dir, base, err := split(main)
	if err != nil {
		return nil, err
	}
	f, _, found, err := trace.Find(Dir(dir), base)
	if err != nil || !found || f.Beside == nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		if e.Name() != base && f.Beside(base, e.Name()) {
			list = append(list, filepath.Join(filepath.Dir(main), e.Name()))
		}
	}
	return list, nil
}
