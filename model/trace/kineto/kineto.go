// Package kineto reads traces of the PyTorch profiler: JSON files as its library Kineto writes them, one for each rank, packed by gzip or
// not; a file, or a directory of them, in which all other files are left alone. How they become a timeline:
//
//   - Events of the host are calls, nested by containment. The master of a rank is the thread whose id is that of its process; it gets an
//     outermost call "host" over the whole time of the rank. Names lose what differs from step to step and from rank to rank.
//   - Kernels, copies and memsets are activities of streams, named device:stream; the call with the same correlation launched them.
//   - Times are decimal numbers of microseconds after the base time of the file; they are kept to the picosecond. They count from
//     the first event of the files, which need not be the earliest.
//   - Kernels of NCCL and RCCL carry out collectives and messages (communication.go). If these are impossible as recorded, the clocks of
//     ranks are moved (moveClocks).
//   - A file that ends too early gives all events before the cut, with a warning.
//
// Files of trace events that others wrote (Chrome's format) become a timeline likewise, with what is left without devices: chrome.go.
//
// It gives a timeline. What a trace of slackline is, and which formats there are, it does not know.
package kineto

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"slackline/internal/plain"
	"slackline/model/timeline"
	"slackline/model/trace/damage"
)

// headBytes is how much of a packed file is looked at to recognize it.
const headBytes = 64 << 10

// Names are the files of a directory that may be those of a trace.
func Names(names []string) []string {
	var list []string
	for _, name := range names {
		if strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".json.gz") || strings.HasSuffix(name, ".trace.gz") {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// Sniff looks for the keys and categories that such a file begins with.
func Sniff(head []byte) bool {
	head = unpackedHead(head)
	return areTraceEvents(head) && isKineto(head)
}

// unpackedHead is the head of a file, as far as it can be unpacked, without space before it.
func unpackedHead(head []byte) []byte {
	if len(head) > 2 && head[0] == 0x1f && head[1] == 0x8b {
		unpacked, err := gzip.NewReader(bytes.NewReader(head))
		if err != nil {
			return nil
		}
		head, _ = io.ReadAll(io.LimitReader(unpacked, headBytes)) // as far as the head goes
	}
	return bytes.TrimLeft(head, " \t\r\n")
}

// areTraceEvents reports whether a file begins like one of trace events.
func areTraceEvents(head []byte) bool {
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
		end, err := jsonLength(first)
		return err == nil && first[0] == '{' && bytes.Contains(first[:end], []byte(`"ph"`))
	}
	return false
}

// Profile is a trace whose files have been read.
type Profile struct {
	files    []*rankFile // by rank
	Ranks    int         // as many as the highest rank of a file requires
	Warnings []string    // what was lost or repaired while reading
	Lost     int         // files that gave nothing; whose ranks, is not known
	Absent   bool        // the job had ranks that left no file; known after Timeline
	notes    []string    // of the timeline
	oneClock bool        // all ranks share a clock
}

func (k *Profile) warn(format string, args ...any) {
	k.Warnings = append(k.Warnings, fmt.Sprintf(format, args...))
}

// Read reads the files of a trace that lie in a directory. Messages call a file what show makes of its name.
func Read(fsys fs.FS, dir string, names []string, show func(name string) string, interrupt func() error) (*Profile, error) {
	files, err := readEach(fsys, dir, names, show, func(in io.Reader, name, shown string) (*rankFile, error) {
		return readFile(in, name, shown, interrupt)
	})
	if err != nil {
		return nil, err
	}
	k := &Profile{files: files}
	if err := k.checkRun(); err != nil {
		return nil, err
	}
	k.setRanks()
	return k, k.check()
}

// checkRun refuses files that are not of one run by what they say about it.
func (k *Profile) checkRun() error {
	var world *rankFile
	groups := map[string]*rankFile{}
	of := map[string][]int32{}
	for _, f := range k.files {
		if f.info.World > 0 && world == nil {
			world = f
		}
		if f.info.World > 0 && f.info.World != world.info.World {
			return damage.At(f.show, -1, "it is of a run of %d ranks, but %s of one of %d; give the files of one run", f.info.World, world.show,
				world.info.World)
		}
		for _, g := range f.info.Groups {
			name := fmt.Sprint(g.Name)
			if groups[name] == nil {
				groups[name], of[name] = f, g.Ranks
			} else if len(g.Ranks) > 0 && len(of[name]) > 0 && !slices.Equal(g.Ranks, of[name]) {
				k.warn("%s: its process group %s has the ranks %v, but that of %s %v: are they of one run?", f.show, plain.Name(name), g.Ranks,
					groups[name].show, of[name])
			}
		}
	}
	return nil
}

// maxKinetoRank bounds the number of a rank that a file names.
const maxKinetoRank = 1 << 22

var rankInName = regexp.MustCompile(`(?i)(?:rank|worker)[^0-9]{0,3}([0-9]{1,9})`)

// setRanks finds the rank of each file: what it says, the number in its name, or its place among the files.
func (k *Profile) setRanks() {
	for i, f := range k.files {
		f.rank = i
		if m := rankInName.FindStringSubmatch(f.name); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil && n < maxKinetoRank {
				f.rank = n
			}
		}
		if r := f.info.Rank; r != nil && *r >= 0 && *r < maxKinetoRank {
			f.rank = *r
		}
	}
	slices.SortStableFunc(k.files, func(x, y *rankFile) int { return cmp.Compare(x.rank, y.rank) })
	n := 0
	for i, f := range k.files {
		if i > 0 && n > 0 && k.files[n-1].rank == f.rank {
			k.warn("%s: rank %d is also that of %s; the file is left out", f.show, f.rank, k.files[n-1].show)
			continue
		}
		k.files[n] = f
		n++
		k.Ranks = f.rank + 1
	}
	k.files = k.files[:n]
}

// check reports what is wrong with the files.
func (k *Profile) check() error {
	var some []*rankFile
	for _, f := range k.files {
		if f.damage != nil {
			k.warn("%v; the events before it are read: %d of rank %d", f.damage, f.events, f.rank)
		}
		for _, note := range f.odd.notes() {
			k.warn("%s: %s", f.show, note)
		}
		if f.infoErr != nil {
			k.warn("%s: distributedInfo is not as expected: %v; the file is taken for that of rank %d", f.show, f.infoErr, f.rank)
		}
		if f.skipped > 0 {
			k.warn("%s: %d events have no valid time and are left out", f.show, f.skipped)
		}
		if f.calls.len()+f.acts.len() > 0 {
			some = append(some, f)
		}
	}
	if len(some) == 0 && len(k.files) > 0 {
		if d := k.files[0].damage; d != nil {
			return d
		}
		return damage.At(k.files[0].show, -1, "there is no call and no kernel in the trace")
	}
	if len(some) < len(k.files) {
		for _, f := range k.files {
			if f.damage == nil && f.calls.len()+f.acts.len() == 0 {
				k.warn("%s: there is no call and no kernel of rank %d in it; the file is left out", f.show, f.rank)
			}
		}
		k.files = some
	}
	return nil
}

var (
	stepName    = regexp.MustCompile(`^ProfilerStep#([0-9]+)$`)
	messageName = regexp.MustCompile(`^nccl:(send|recv) ([0-9]+)(?:->|<-)([0-9]+)$`)
)

// regionName is a name without what differs from step to step and from rank to rank.
func regionName(name string) string {
	if stepName.MatchString(name) {
		return "ProfilerStep"
	}
	if m := messageName.FindStringSubmatch(name); m != nil {
		return "nccl:" + m[1]
	}
	return name
}

// activityName is the name of an activity.
func activityName(name string, kind eventKind) string {
	if kind != kindKernel {
		name, _, _ = strings.Cut(name, " (")
	}
	return plain.Name(name)
}

// Timeline makes the timeline; nil: no rank left anything. The warnings are what was found wrong while it was made.
func (k *Profile) Timeline(threads int) (tl *timeline.Timeline, warnings []string, err error) {
	b := &builder{threads: threads, oneClock: k.oneClock, builder: timeline.NewBuilder(k.Ranks), warn: func(format string, args ...any) {
		warnings = append(warnings, fmt.Sprintf(format, args...))
	}}
	for _, f := range k.files {
		b.ranks = append(b.ranks, &rankBuilder{rankFile: f})
	}
	if len(b.ranks) == 0 {
		return nil, nil, nil
	}
	if err := b.align(); err != nil {
		return nil, warnings, err
	}
	tl = b.build()
	k.Absent = b.absent || len(b.ranks) < b.world
	tl.Problems.Notes = append(tl.Problems.Notes, k.notes...)
	return tl, warnings, nil
}
