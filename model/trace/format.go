package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"slackline/internal/atomicfile"
	"slackline/internal/cluster"
	"slackline/model/missing"
	"slackline/model/timeline"
	"slackline/model/trace/damage"
	"slackline/model/trace/streams"
)

// Format is a format of traces.
type Format struct {
	Name     string   // as given to convert, e.g. otf2
	Noun     string   // what a file of it is in a message, e.g. a slackline trace
	Info     string   // one line for lists
	Suffixes []string // of names that convert takes for this format, e.g. .otf2
	Text     bool     // people can read it

	// Sniff reports whether a file that begins with head is the main file of a trace in this format.
	// It looks at magic numbers and first words only and never decodes. nil: the format is only written.
	Sniff func(head []byte) bool
	// Main returns which of the files in a directory is the main file of a trace; empty: none. nil: a
	// trace in this format is never named by a directory.
	Main func(names []string) string
	// Among returns which of the files in a directory may be main files of traces in this format, which their content then decides;
	// nil: Main decides by their names.
	Among func(names []string) []string
	// Beside reports whether another file or directory beside a main file belongs to its trace; nil: none does.
	Beside func(main, other string) bool
	// parts: several processes can read a trace together, because each location has files of its own.
	parts bool
	// startsAtZero: times count from the start of the run, which may be before the first event.
	startsAtZero bool
	// keepsStreams: what ran on accelerators is written, too, so that the timeline is the same.
	keepsStreams bool
	// read opens the trace of a main file.
	read func(src source, o Options) (*Trace, error)

	// Stream writes a trace as one file and returns warnings about what the format cannot express; nil if
	// a trace is several files, or if the format is only read.
	Stream func(w io.Writer, t *Trace, o WriteOptions) (warnings []string, err error)
	// group writes a trace as several files.
	group *fileGroup
}

// Writable reports whether traces can be written in this format.
func (f *Format) Writable() bool { return f.Stream != nil || f.group != nil }

// fileGroup is how a format of several files is written.
type fileGroup struct {
	// names are the files and directories, side by side, of a trace that is to be written at a path
	// with the given last element. If there is only one it is a directory, and write gets that.
	names func(base string) []string
	write func(d *atomicfile.Dir, base string, t *Trace, o WriteOptions) (warnings []string, err error)
}

// Options set how a trace is read. The zero value is fine.
type Options struct {
	Strict      bool         // refuse a trace that is damaged or incomplete
	Name        string       // what messages call the file; empty: its path
	Interrupt   func() error // asked now and then while opening; an error ends it. nil: never
	RequestSize int          // liballprof: bytes of a request, 8 (Open MPI) or 4 (MPICH); 0: find out
}

// WriteOptions set how a trace is written. The zero value is fine.
type WriteOptions struct {
	Force     bool         // replace what is there
	Strict    bool         // refuse a trace whose events are damaged
	Partial   bool         // leave out locations whose events cannot be read
	Threads   int          // that write at the same time; 0: as many as make sense
	Interrupt func() error // asked now and then; an error ends the writing. nil: never

	lost *warningList // what of the streams of accelerators cannot be read
}

// interrupted returns the error that ends the writing, if there is one.
func (o *WriteOptions) interrupted() error {
	if o.Interrupt == nil {
		return nil
	}
	return o.Interrupt()
}

// formats is the table of all formats: a format is one file, and one entry here.
var formats = []Format{sltFormat, otf2Format, textFormat, allprofFormat, paraverFormat, kinetoFormat, chromeFormat, perfettoFormat,
	nsysFormat, inspectorFormat, flightFormat, foldedFormat, speedscopeFormat, pprofFormat, hatchetFormat}

// Formats returns all formats of traces.
func Formats() []Format { return formats[:len(formats):len(formats)] }

// formatNames returns the names of the formats.
func formatNames() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return names
}

// FormatNamed returns the format with the given name.
func FormatNamed(name string) (Format, error) {
	if i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == name }); i >= 0 {
		return formats[i], nil
	}
	return Format{}, fmt.Errorf("there is no trace format %q; there are %s", name, strings.Join(formatNames(), ", "))
}

// sniff returns the format of a main file by its first bytes.
func sniff(head []byte) (Format, bool) {
	for _, f := range append(Formats(), unfinishedFormat) {
		if f.Sniff != nil && f.Sniff(head) {
			return f, true
		}
	}
	return Format{}, false
}

// Find looks for a trace: name is a path in a file system, of a main file or of a directory that has one.
// It returns the format and the path of the main file; found is false if there is no trace.
func Find(fsys fs.FS, name string) (f Format, main string, found bool, err error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return Format{}, "", false, err
	}
	if !info.IsDir() {
		head, err := readHead(fsys, name)
		if err != nil {
			return Format{}, "", false, err
		}
		f, found = sniff(head)
		return f, name, found, nil
	}
	entries, err := fs.ReadDir(fsys, name)
	if err != nil {
		return Format{}, "", false, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	for _, f := range append(Formats(), unfinishedFormat) {
		if f.Among != nil {
			for _, main := range f.Among(names) {
				main = path.Join(name, main)
				if head, err := readHead(fsys, main); err == nil && f.Sniff(head) {
					return f, main, true, nil
				}
			}
		}
		if f.Main == nil {
			continue
		}
		if main := f.Main(names); main != "" {
			return f, path.Join(name, main), true, nil
		}
	}
	return Format{}, "", false, nil
}

// headBytes is how much of a file is looked at to recognize its format.
const headBytes = 64 << 10

func readHead(fsys fs.FS, name string) ([]byte, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, headBytes))
}

// Open opens a trace in any format. The name is a path in a file system, of a main file or of a directory
// that has one; the format is recognized by the content. Close the trace after use.
func Open(fsys fs.FS, name string, o Options) (*Trace, error) {
	f, main, found, err := Find(fsys, name)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, notATrace(name, &o)
	}
	return f.open(source{fsys: fsys, main: main}, name, o)
}

// notATrace is the error of something that is not a trace.
func notATrace(name string, o *Options) error {
	var nouns []string
	for _, f := range formats {
		if f.read != nil {
			nouns = append(nouns, f.Noun)
		}
	}
	return &damage.Error{File: cmp.Or(o.Name, name), Offset: -1, What: "not a trace: neither " + strings.Join(nouns, " nor ")}
}

// open opens a trace of this format that was found under a name.
func (f *Format) open(src source, name string, o Options) (*Trace, error) {
	src.show = cmp.Or(o.Name, name)
	if src.main != name { // a directory was named
		src.show = path.Join(src.show, path.Base(src.main))
		src.inDir = true
	}
	src = src.watched()
	t, err := f.read(src, o)
	if err == nil {
		err = t.checkRanks(src.show)
	}
	if err != nil {
		t.release()
		return nil, err
	}
	t.disk = src.disk
	if err := src.disk.Failure(); err != nil && src.group == nil { // several processes have told each other
		t.release()
		return nil, err
	}
	t.Name, t.Format, t.startsAtZero = src.show, f.Name, f.startsAtZero
	var lacks []string
	if p, err := t.missing(); err == nil && f.Writable() && p != (missing.Parts{}) {
		lacks = []string{fmt.Sprintf("%s: the run is %s", src.show, missing.Describe(p))}
		if p.Ranks+p.Files > 0 { // else it is as it was recorded
			t.Warnings, lacks = append(t.Warnings, lacks...), nil
		}
	}
	if o.Strict && len(t.Warnings) > 0 {
		t.release()
		return nil, fmt.Errorf("%s (without --strict the rest is read)", t.Warnings[0])
	}
	t.Warnings = append(t.Warnings, lacks...)
	return t, nil
}

// checkRanks refuses more ranks than the definitions can know of: all of them would take memory.
func (t *Trace) checkRanks(show string) error {
	const few, most = 1 << 16, 16 // ranks that are no trouble, and ranks for each one that is named somewhere
	named := len(t.Locations)
	for i := range t.Comms {
		named += len(t.Comms[i].Members)
	}
	if t.Ranks > few && t.Ranks/most > named {
		return damage.At(show, -1, "a trace of %d ranks that names only %d of them: its definitions are damaged", t.Ranks, named)
	}
	return nil
}

// release closes a trace that is not used.
func (t *Trace) release() {
	if t != nil && t.Close != nil {
		_ = t.Close() // nothing was written
	}
}

// Write writes a trace to a path in the format of that name. The files take their place when they
// are complete. It returns warnings about what the format cannot express and about damaged events.
func Write(name string, t *Trace, format string, o WriteOptions) (warnings []string, err error) {
	f, err := FormatNamed(format)
	if err != nil {
		return nil, err
	}
	switch {
	case f.group != nil:
		o.lost = &warningList{list: slices.Clone(t.noted)}
		t = t.withDoubts()
		warnings, err = f.group.writeAt(name, t, o)
		return append(warnings, o.lost.list...), err
	case f.Stream != nil:
		err = atomicfile.Write(name, func(w io.Writer) error {
			var err error
			warnings, err = f.WriteTo(w, t, o)
			return err
		})
		return warnings, err
	}
	return nil, fmt.Errorf("%s is only read, not written", f.Name)
}

// WriteTo writes a trace in a format of one file. It returns warnings as Write does. Formats that do not keep streams get those of
// accelerators as further threads.
func (f *Format) WriteTo(w io.Writer, t *Trace, o WriteOptions) (warnings []string, err error) {
	o.lost = &warningList{list: slices.Clone(t.noted)}
	t = t.withDoubts()
	if p, _ := t.missing(); f.read == nil && p != (missing.Parts{}) {
		o.lost.add("%s does not say what is missing: the run is %s", f.Name, missing.Describe(p))
	}
	if t.attach != nil && !f.keepsStreams {
		_, tl, err := t.accelerators(&o)
		if err != nil {
			return nil, err
		}
		if tl != nil {
			if len(t.Metrics) > 0 {
				warnings = []string{"counters are left out: what is written has the streams of accelerators as threads instead"}
			}
			threads := FromTimeline(tl)
			threads.Properties = t.Properties
			t = threads
		}
	}
	more, err := f.Stream(w, t, o)
	return slices.Concat(warnings, more, o.lost.list), err
}

// accelerators returns the trace of the hosts, and a timeline with what ran on accelerators, in the times of the trace; nil: nothing did.
func (t *Trace) accelerators(o *WriteOptions) (*Trace, *timeline.Timeline, error) {
	if t.hosts != nil {
		hosts, tl := t.hosts()
		return hosts, tl, nil
	}
	if t.attach == nil {
		return t, nil, nil
	}
	c, err := newConversion(t, TimelineOptions{Strict: o.Strict, Partial: o.Partial, Threads: o.Threads, Interrupt: o.Interrupt})
	if err != nil {
		return nil, nil, err
	}
	if err := c.read(); err != nil {
		return nil, nil, err
	}
	tl := c.builder.Finish(c.threads)
	before := len(c.warnings) // of what is read again
	err = t.attach(c, tl)
	if o.lost != nil {
		o.lost.list = append(o.lost.list, c.warnings[before:]...)
	}
	if err != nil {
		return nil, nil, err
	}
	if tl.Problems.LostFiles > 0 {
		cut := *t
		p, _ := t.missing()
		p.Files += tl.Problems.LostFiles
		cut.Missing = MissingWord(p)
		t = &cut
	}
	if tl.Devices == nil {
		tl = nil
	}
	return t, tl, nil
}

// attachStreams lets a trace have what the file of streams beside its definitions says, if there is one. The check refuses a file, or that
// there is none (nil). The error is that of processes that no longer read together.
func (s *source) attachStreams(t *Trace, name string, check func(file fs.File) error) error {
	_, err := s.shared(func() ([]byte, error) { // of several processes one looks
		file, err := s.open(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if _, linked := fs.Lstat(s.fsys, s.beside(name)); linked == nil {
				return nil, errors.New("the file is a link to one that does not exist")
			}
			return nil, cmp.Or(check(nil), err)
		case err != nil:
			_ = s.disk.Forget() // it is this one
			return nil, damage.Reason(err)
		}
		defer file.Close()
		err = check(file)
		return nil, cmp.Or(s.disk.Forget(), err)
	})
	if _, told := err.(*sharedError); err != nil && s.group != nil && !told {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	show := s.showBeside(name)
	t.attach = func(c *conversion, tl *timeline.Timeline) error {
		if err != nil && !c.Partial {
			return damage.At(show, -1, "the streams of accelerators cannot be read: %v %s", err, partialHint)
		}
		if err != nil {
			c.warnings = append(c.warnings, fmt.Sprintf("%s: the streams of accelerators cannot be read: %v", show, err))
			tl.Problems.LostFiles++
			return nil
		}
		return attachRecords(c, tl, show, func(visit func(*streams.Record) error) error {
			file, err := s.open(name)
			if err != nil {
				return err
			}
			defer file.Close()
			return streams.Read(file, visit)
		})
	}
	return nil
}

// replaceable are the suffixes of the files in directories that are replaced.
func replaceable(force bool) []string {
	if !force {
		return nil
	}
	return []string{".slt", ".otf2", ".def", ".evt"}
}

// CheckFree returns an error if a trace of several files cannot be written at a path because of what is there; force: traces are
// replaced.
func CheckFree(name, format string, force bool) error {
	f, err := FormatNamed(format)
	if err != nil || f.group == nil {
		return err
	}
	for _, path := range f.Paths(name) {
		if err := atomicfile.CheckFree(path, replaceable(force)); err != nil {
			return err
		}
	}
	return nil
}

// Paths are the files and directories of a trace that is written at a path.
func (f *Format) Paths(name string) []string {
	if f.group == nil {
		return []string{name}
	}
	name = filepath.Clean(name)
	var paths []string
	for _, n := range f.group.names(filepath.Base(name)) {
		paths = append(paths, filepath.Join(filepath.Dir(name), n))
	}
	return paths
}

// writeAt writes the files of a group at a path.
func (g *fileGroup) writeAt(name string, t *Trace, o WriteOptions) (warnings []string, err error) {
	name = filepath.Clean(name)
	base := filepath.Base(name)
	if base == string(filepath.Separator) || base == "." || base == ".." {
		return nil, fmt.Errorf("%s is not the name of a new directory", name)
	}
	fill := func(d *atomicfile.Dir) error {
		warnings, err = g.write(d, base, t, o)
		return err
	}
	replace := replaceable(o.Force)
	if names := g.names(base); len(names) > 1 {
		err = atomicfile.WriteGroup(filepath.Dir(name), names, replace, fill)
	} else {
		err = atomicfile.WriteDir(name, replace, fill)
	}
	return warnings, err
}

// source is the main file of a trace in a file system; others lie beside it and below.
type source struct {
	fsys  fs.FS
	main  string          // its path
	show  string          // what messages call it
	inDir bool            // a directory was named
	disk  *damage.Watched // fsys

	group cluster.Group   // of processes that open it together; nil: there is one
	ctx   context.Context // of the group
}

// watched returns the source with an eye on the disk.
func (s source) watched() source {
	s.disk = damage.Watch(s.fsys, func(file string) string {
		below, _ := strings.CutPrefix(file, path.Dir(s.main)+"/")
		return s.showBeside(below)
	})
	s.fsys = s.disk
	return s
}

// beside returns the path of another file, given relative to the directory of the main file.
func (s *source) beside(name string) string { return path.Join(path.Dir(s.main), name) }

// showBeside returns what messages call another file.
func (s *source) showBeside(name string) string { return path.Join(path.Dir(s.show), name) }

// open opens a file relative to the directory of the main file.
func (s *source) open(name string) (fs.File, error) { return s.fsys.Open(s.beside(name)) }

// openBeside is open of a file that all processes need.
func (s *source) openBeside(name string) (fs.File, error) { return s.openShared(s.beside(name)) }

// readMain reads the main file as a whole.
func (s *source) readMain() ([]byte, error) {
	return s.shared(func() ([]byte, error) { return fs.ReadFile(s.fsys, s.main) })
}
