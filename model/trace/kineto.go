package trace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"

	"slackline/model/missing"
	"slackline/model/timeline"
	"slackline/model/trace/damage"
	"slackline/model/trace/kineto"
	"slackline/model/trace/nccl"
	"slackline/model/trace/streams"
)

var kinetoFormat = Format{
	Name: "kineto", Noun: "a trace of the PyTorch profiler", Info: "JSON of the PyTorch profiler (Kineto): a file, or a directory " +
		"with one for each rank",
	Text: true, Sniff: kineto.Sniff, Among: kineto.Names, read: readKineto,
}

var chromeFormat = Format{
	Name: "chrome", Noun: "a file of Chrome trace events", Info: "JSON of trace events, as chrome://tracing and Perfetto show it: a file, " +
		"or a directory with one for each process",
	Text: true, Sniff: kineto.SniffChrome, Among: kineto.Names,
	read: readDumps("trace events", kineto.Names, kineto.SniffChrome, kineto.ReadChrome),
}

// readKineto reads the files of a trace. Its events are those of its timeline.
func readKineto(src source, o Options) (*Trace, error) {
	names, left, err := src.alike(kineto.Names, kineto.Sniff)
	if err != nil {
		return nil, err
	}
	return traceOf("PyTorch profiler", left, func() (*kineto.Profile, error) {
		return kineto.Read(src.fsys, path.Dir(src.main), names, src.showBeside, o.Interrupt)
	})
}

// traceOf makes a trace of a profile. Its events are those of its timeline, from which parts of the ranks are made, too: what ranks have to
// do with each other and the clocks that were moved are those of the whole run. The warnings come before those of the profile.
func traceOf(tool string, left leftOut, read func() (*kineto.Profile, error)) (*Trace, error) {
	p, err := read()
	if err != nil {
		return nil, err
	}
	t := &Trace{Warnings: append(left.warnings, p.Warnings...)}
	t.Ranks = p.Ranks
	c, err := newConversion(t, TimelineOptions{})
	if err != nil {
		return nil, err
	}
	whole, notes, err := p.Timeline(c.threads)
	if whole == nil && err == nil {
		err = c.nothingRead()
	}
	if err != nil {
		return nil, err
	}
	whole.Problems.LostFiles = left.lost + p.Lost
	if p.Absent {
		whole.Chosen.Profiled = missing.Ranks(whole.RanksRead())
	}
	whole.Shift(-whole.Start, c.threads) // once: all timelines of the trace share its lists
	events := FromTimeline(whole)
	t.Definitions, t.Open, t.hosts = events.Definitions, events.Open, events.hosts
	t.Tool = tool
	t.timeline = func() *timeline.Timeline {
		copied := *whole
		return &copied
	}
	t.recorded = func() *Trace {
		hosts := *events
		if events.hosts != nil {
			threads, _ := events.hosts()
			hosts = *threads
		}
		hosts.Name, hosts.Format, hosts.Tool = t.Name, t.Format, tool
		hosts.attach = func(c *conversion, tl *timeline.Timeline) error {
			c.warnings = append(c.warnings, t.Notes...)
			if whole.Devices == nil {
				return nil
			}
			return attachRecords(c, tl, t.Name, func(visit func(*streams.Record) error) error {
				return streams.Records(whole, func(r streams.Record) error { return visit(&r) })
			})
		}
		return &hosts
	}
	t.Notes, t.noted = notes, slices.Concat(notes, whole.Problems.Notes)
	return t, nil
}

// What NCCL and PyTorch write without a profiler becomes a timeline as files of the profiler do.
var (
	inspectorFormat = Format{
		Name: "inspector", Noun: "a log of NCCL Inspector", Info: "logs of NCCL Inspector (with NCCL_INSPECTOR_DUMP_VERBOSE=1): a file, " +
			"or a directory with one for each process",
		Text: true, Sniff: nccl.SniffInspector, Among: nccl.InspectorNames,
		read: readDumps("NCCL Inspector", nccl.InspectorNames, nccl.SniffInspector, nccl.ReadInspector),
	}
	flightFormat = Format{
		Name: "flight", Noun: "a dump of Flight Recorder", Info: "JSON dumps of PyTorch's Flight Recorder: a file, or a directory with one " +
			"for each rank",
		Text: true, Sniff: nccl.SniffFlight, Among: nccl.FlightNames,
		read: readDumps("Flight Recorder", nccl.FlightNames, nccl.SniffFlight, nccl.ReadFlight),
	}
)

// OpenDumps reads dumps of Flight Recorder, a file or all of a directory, for what they say of a job that stands still; nil if the path
// does not name any.
func OpenDumps(fsys fs.FS, name string, o Options) (*nccl.Dumps, error) {
	f, main, found, err := Find(fsys, name)
	if err != nil || !found || f.Name != flightFormat.Name {
		return nil, err
	}
	src := source{fsys: fsys, main: main, show: cmp.Or(o.Name, name), inDir: main != name}
	if src.inDir {
		src.show = path.Join(src.show, path.Base(main))
	}
	names, left, err := src.dumps(nccl.FlightNames, nccl.SniffFlight)
	if err != nil {
		return nil, err
	}
	d, err := nccl.ReadMissing(fsys, path.Dir(main), names, src.showBeside, o.Interrupt)
	if d != nil {
		d.Warnings = append(left.warnings, d.Warnings...)
	}
	return d, err
}

// dumpReader reads files of a directory, as those of package nccl are.
type dumpReader func(fsys fs.FS, dir string, names []string, show func(string) string, interrupt func() error) (*kineto.Profile, error)

// readDumps returns a reader of a file, or of all files of a directory that are of the same format.
func readDumps(tool string, among func([]string) []string, sniff func([]byte) bool, read dumpReader) func(source, Options) (*Trace, error) {
	return func(src source, o Options) (*Trace, error) {
		names, left, err := src.dumps(among, sniff)
		if err != nil {
			return nil, err
		}
		return traceOf(tool, left, func() (*kineto.Profile, error) {
			return read(src.fsys, path.Dir(src.main), names, src.showBeside, o.Interrupt)
		})
	}
}

// dumps are the files that are alike, none of which may be a pickle.
func (s *source) dumps(among func([]string) []string, sniff func([]byte) bool) (names []string, left leftOut, err error) {
	names, left, err = s.alike(among, sniff)
	for _, name := range names {
		if head, err := readHead(s.fsys, s.beside(name)); err == nil && len(head) > 0 && head[0] == 0x80 {
			return nil, left, damage.At(s.showBeside(name), -1, "the dump is a pickle, which can run programs and is not read; "+
				"let PyTorch write JSON (torch._C._distributed_c10d._dump_nccl_trace_json)")
		}
	}
	return names, left, err
}

// leftOut is what is named like the files of a trace and is none of them.
type leftOut struct {
	warnings []string
	lost     int // files that are no copies
}

// alike returns the main file, or all files of its directory that are of the same format if the directory was named. What is not, but
// is named like one that is, apart from its numbers, belongs to the trace: warnings name it.
func (s *source) alike(among func([]string) []string, sniff func([]byte) bool) (names []string, out leftOut, err error) {
	if !s.inDir {
		return []string{path.Base(s.main)}, out, nil
	}
	entries, err := fs.ReadDir(s.fsys, path.Dir(s.main))
	if err != nil {
		return nil, out, err
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	masks := map[string]bool{}
	left := map[string]string{} // why
	copies := map[string]bool{}
	sizes := map[int64][]string{}
	names = slices.DeleteFunc(among(names), func(name string) bool {
		switch head, err := readHead(s.fsys, s.beside(name)); {
		case err != nil:
			left[name] = damage.Reason(err).Error()
		case len(head) == 0:
			left[name] = "it is empty"
		case !sniff(head):
			left[name] = "its first bytes are not those of the others"
		default:
			masks[anyNumber.ReplaceAllString(name, "0")] = true
			other := s.copied(name, sizes)
			if other == "" {
				return false
			}
			left[name], copies[name] = "it is a copy of "+other, true
		}
		return true
	})
	for _, name := range slices.Sorted(maps.Keys(left)) {
		if masks[anyNumber.ReplaceAllString(name, "0")] {
			out.warnings = append(out.warnings, fmt.Sprintf("%s is left out: %s", s.showBeside(name), left[name]))
			if !copies[name] {
				out.lost++
			}
		}
	}
	return names, out, nil
}

// copied returns the file of the same bytes among those of the same size, and notes the size of this one.
func (s *source) copied(name string, sizes map[int64][]string) string {
	info, err := fs.Stat(s.fsys, s.beside(name))
	if err != nil {
		return ""
	}
	for _, other := range sizes[info.Size()] {
		if same, err := sameBytes(s.fsys, s.beside(name), s.beside(other)); err == nil && same {
			return other
		}
	}
	sizes[info.Size()] = append(sizes[info.Size()], name)
	return ""
}

// sameBytes compares two files of the same size.
func sameBytes(fsys fs.FS, x, y string) (bool, error) {
	var files [2]fs.File
	var err error
	for i, name := range []string{x, y} {
		if files[i], err = fsys.Open(name); err != nil {
			return false, err
		}
		defer files[i].Close()
	}
	var parts [2][1 << 16]byte
	for {
		n, err := io.ReadFull(files[0], parts[0][:])
		m, other := io.ReadFull(files[1], parts[1][:])
		if !bytes.Equal(parts[0][:n], parts[1][:m]) {
			return false, nil
		}
		if err != nil || other != nil {
			return isEnd(err) && isEnd(other), nil
		}
	}
}

func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

var anyNumber = regexp.MustCompile("[0-9]+")
