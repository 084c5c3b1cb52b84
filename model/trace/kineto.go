package trace

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"slackline/internal/parallel"
	"slackline/internal/plain"
	"slackline/model/timeline"
)

// Traces of the PyTorch profiler: JSON files as its library Kineto writes them, one for each rank, packed by gzip or not; a file, or a
// directory of them, in which all other files are left alone. How they become a timeline:
//
//   - Events of the host are calls, nested by containment. The master of a rank is the thread whose id is that of its process; it gets an
//     outermost call "host" over the whole time of the rank. Names lose what differs from step to step and from rank to rank.
//   - Kernels, copies and memsets are activities of streams, named device:stream; the call with the same correlation launched them.
//   - Times are decimal numbers of microseconds after the base time of the file; they are kept to the picosecond. The first event of all
//     ranks is at 0.
//   - Kernels of NCCL and RCCL carry out collectives and messages (kineto_comm.go). If these are impossible as recorded, the clocks of
//     ranks are moved (kineto_clock.go).
//   - A file that ends too early gives all events before the cut, with a warning.
var kinetoFormat = Format{
	Name: "kineto", Noun: "a trace of the PyTorch profiler", Info: "JSON of the PyTorch profiler (Kineto): a file, or a directory with one for each rank",
	Text: true, Sniff: sniffKineto, Among: kinetoNames, read: readKineto,
}

// kinetoNames are the files of a directory that may be those of a trace.
func kinetoNames(names []string) []string {
	var list []string
	for _, name := range names {
		if strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".json.gz") || strings.HasSuffix(name, ".trace.gz") {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// sniffKineto looks for the keys that such a file begins with.
func sniffKineto(head []byte) bool {
	if len(head) > 2 && head[0] == 0x1f && head[1] == 0x8b {
		unpacked, err := gzip.NewReader(bytes.NewReader(head))
		if err != nil {
			return false
		}
		head, _ = io.ReadAll(io.LimitReader(unpacked, headBytes)) // as far as the head goes
	}
	head = bytes.TrimLeft(head, " \t\r\n")
	if len(head) == 0 {
		return false
	}
	switch head[0] {
	case '{':
		for _, key := range []string{`"traceEvents"`, `"baseTimeNanoseconds"`, `"deviceProperties"`, `"distributedInfo"`} {
			if bytes.Contains(head, []byte(key)) {
				return true
			}
		}
	case '[':
		first := bytes.TrimLeft(head[1:], " \t\r\n")
		end := bytes.IndexByte(first, '}')
		return len(first) > 0 && first[0] == '{' && end > 0 && bytes.Contains(first[:end], []byte(`"ph"`))
	}
	return false
}

// kinetoTrace is a trace whose files have been read.
type kinetoTrace struct {
	files    []*kinetoFile // by rank
	ranks    int
	warnings *[]string
}

func (k *kinetoTrace) warn(format string, args ...any) {
	*k.warnings = append(*k.warnings, fmt.Sprintf(format, args...))
}

// readKineto reads the files of a trace.
func readKineto(src source, o Options) (*Trace, error) {
	names := []string{path.Base(src.main)}
	if src.inDir {
		entries, err := fs.ReadDir(src.fsys, path.Dir(src.main))
		if err != nil {
			return nil, err
		}
		names = names[:0]
		for _, e := range entries {
			if !e.IsDir() {
				names = append(names, e.Name())
			}
		}
		names = slices.DeleteFunc(kinetoNames(names), func(name string) bool {
			head, err := readHead(src.fsys, src.beside(name))
			return err != nil || !sniffKineto(head)
		})
	}
	t := &Trace{}
	k := &kinetoTrace{files: make([]*kinetoFile, len(names)), warnings: &t.Warnings}
	errs := make([]error, len(names))
	parallel.Each(len(names), runtime.GOMAXPROCS(0), func(i int) {
		in, file, err := openKineto(src.fsys, src.beside(names[i]))
		if err != nil {
			errs[i] = damagedAt(src.showBeside(names[i]), -1, "%v", reasonOf(err))
			return
		}
		defer file.Close()
		k.files[i], errs[i] = readKinetoFile(in, names[i], src.showBeside(names[i]), o.Interrupt)
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	k.setRanks()
	if err := k.check(); err != nil {
		return nil, err
	}
	t.Ranks, t.Tool = k.ranks, "PyTorch profiler"
	c, err := newConversion(t, TimelineOptions{})
	if err != nil {
		return nil, err
	}
	whole, err := k.timeline(c)
	if err != nil {
		return nil, err
	}
	events := FromTimeline(whole.StreamsAsThreads())
	t.Definitions, t.Open = events.Definitions, events.Open
	t.Tool = "PyTorch profiler"
	t.timeline = func(c *conversion) (*timeline.Timeline, error) {
		if c.selected != nil {
			return k.timeline(c)
		}
		copied := *whole
		return &copied, nil
	}
	t.Notes = c.warnings
	return t, nil
}

// maxKinetoRank bounds the number of a rank that a file names.
const maxKinetoRank = 1 << 22

var kinetoRank = regexp.MustCompile(`(?i)(?:rank|worker)[^0-9]{0,3}([0-9]{1,9})`)

// setRanks finds the rank of each file: what it says, the number in its name, or its place among the files.
func (k *kinetoTrace) setRanks() {
	for i, f := range k.files {
		f.rank = i
		if m := kinetoRank.FindStringSubmatch(f.name); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil && n < maxKinetoRank {
				f.rank = n
			}
		}
		if r := f.info.Rank; r != nil && *r >= 0 && *r < maxKinetoRank {
			f.rank = *r
		}
	}
	slices.SortStableFunc(k.files, func(x, y *kinetoFile) int { return cmp.Compare(x.rank, y.rank) })
	n := 0
	for i, f := range k.files {
		if i > 0 && n > 0 && k.files[n-1].rank == f.rank {
			k.warn("%s: rank %d is also that of %s; the file is left out", f.show, f.rank, k.files[n-1].show)
			continue
		}
		k.files[n] = f
		n++
		k.ranks = f.rank + 1
	}
	k.files = k.files[:n]
}

// check reports what is wrong with the files.
func (k *kinetoTrace) check() error {
	some := false
	for _, f := range k.files {
		if f.damage != nil {
			k.warn("%v; the events before it are read: %d of rank %d", f.damage, f.events, f.rank)
		}
		if f.skipped > 0 {
			k.warn("%s: %d events have no valid time and are left out", f.show, f.skipped)
		}
		some = some || len(f.calls)+len(f.acts) > 0
	}
	if !some && len(k.files) > 0 {
		if d := k.files[0].damage; d != nil {
			return d
		}
		return damagedAt(k.files[0].show, -1, "there is no call and no kernel in the trace")
	}
	return nil
}

var (
	kinetoStep    = regexp.MustCompile(`^ProfilerStep#([0-9]+)$`)
	kinetoMessage = regexp.MustCompile(`^nccl:(send|recv) ([0-9]+)(?:->|<-)([0-9]+)$`)
)

// kinetoName is a name without what differs from step to step and from rank to rank.
func kinetoName(name string) string {
	if kinetoStep.MatchString(name) {
		return "ProfilerStep"
	}
	if m := kinetoMessage.FindStringSubmatch(name); m != nil {
		return "nccl:" + m[1]
	}
	return name
}

// activityName is the name of an activity.
func activityName(name string, kind kinetoKind) string {
	if kind != kinetoKernel {
		name, _, _ = strings.Cut(name, " (")
	}
	return plain.Name(name)
}

// isCommunication reports whether a kernel of this name communicates.
func isCommunication(name string) bool {
	return strings.HasPrefix(name, "ncclKernel") || strings.HasPrefix(name, "ncclDevKernel") || strings.HasPrefix(name, "rcclDevKernel")
}

// timeline makes the timeline of the ranks that are wanted.
func (k *kinetoTrace) timeline(c *conversion) (*timeline.Timeline, error) {
	b := &kinetoBuilder{threads: c.threads, builder: timeline.NewBuilder(k.ranks), warn: func(format string, args ...any) {
		c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
	}}
	for _, f := range k.files {
		if c.wanted(f.rank) {
			b.ranks = append(b.ranks, &kinetoRankBuilder{kinetoFile: f})
		}
	}
	if len(b.ranks) == 0 {
		return nil, c.nothingRead()
	}
	if err := b.align(); err != nil {
		return nil, err
	}
	return b.build(), nil
}
