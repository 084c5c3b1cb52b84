package kineto

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime"
	"strings"

	"slackline/internal/jsonkeys"
	"slackline/internal/parallel"
	"slackline/model/trace/damage"
)

// rankFile is what a file of one rank holds, in columns: its events are not in the order of time.
type rankFile struct {
	name   string // of the file
	show   string // what messages call it
	rank   int
	base   int64 // ns since 1970
	origin int64 // us after base: what times count from
	begun  bool  // there is an origin
	info   distributedInfo

	infoErr error // why the file says nothing about the run

	names   []string // as they are in the file
	byName  map[string]uint32
	threads []threadID
	byID    map[threadID]uint32
	words   map[string]int64    // ids that are not numbers
	labels  map[threadID]string // names of threads; nil: there are none
	bare    bool                // no call is around those of the file
	streams []streamID
	syncs   []syncRecord
	args    []commArgs // of communication
	events  int64
	skipped int64 // events whose times are no numbers
	odd     oddEvents

	calls      columns[hostCall] // in the order of the file, which numbers them
	correlated columns[correlatedCall]
	acts       columns[activity]
	byStream   map[streamID]uint16
	damage     error // why it ends early
	cut        bool  // it lacks something, of which others have said why

	seen       [1 << seenBits]seenName
	lastThread uint32
	lastStream uint16
	shape      shape  // root of the tree of shapes
	last       *shape // of the event before
	shapes     int
}

// distributedInfo is distributedInfo of a file.
type distributedInfo struct {
	Rank   *int           `json:"rank"`
	World  int            `json:"world_size"`
	Groups []processGroup `json:"pg_config"`
}

// processGroup is a process group; pg_name is a string or a number.
type processGroup struct {
	Name  any     `json:"pg_name"`
	Ranks []int32 `json:"ranks"`
}

type threadID struct{ pid, tid int64 }

type streamID struct{ device, stream int64 }

// hostCall is a host call.
type hostCall struct {
	begin, end int64 // ps since the origin
	name       uint32
	thread     uint32
}

// correlatedCall is a call with a correlation.
type correlatedCall struct {
	correlation uint32
	call        int32
}

// activity is something that ran on a stream.
type activity struct {
	begin, end  int64
	name        uint32
	correlation uint32 // 0: none
	args        int32  // index, -1: none
	stream      uint16
	kind        eventKind
}

// syncRecord is a record of synchronization.
type syncRecord struct {
	kind           string
	correlation    uint32
	record         uint32
	device, stream int64
	waitOn         int64
}

// commArgs are the arguments of communication; numbers are -1 if they are missing.
type commArgs struct {
	call                                int32 // number of the call, -1: of an activity
	collective, group, ranks, dtype     string
	in, out, size, start, stride        int64
	root, source, destination, sequence int64
	alone                               bool // no launch is known in such files: what counts is when it began
}

// noArgs are none.
var noArgs = commArgs{call: -1, in: -1, out: -1, size: -1, start: -1, stride: -1, root: -1, source: -1, destination: -1, sequence: -1}

type eventKind uint8

const (
	kindOther eventKind = iota
	kindHost
	kindKernel
	kindCopy
	kindMemset
	kindSync
)

// kindOf are the categories that matter.
var kindOf = map[string]eventKind{
	"cpu_op": kindHost, "user_annotation": kindHost, "python_function": kindHost, "cuda_runtime": kindHost, "cuda_driver": kindHost,
	"xpu_runtime": kindHost, "privateuse1_runtime": kindHost, "Operator": kindHost, "Runtime": kindHost,
	"kernel": kindKernel, "Kernel": kindKernel, "gpu_memcpy": kindCopy, "Memcpy": kindCopy, "gpu_memset": kindMemset, "Memset": kindMemset,
	"cuda_sync": kindSync,
}

// leftCategories are the known categories that do not matter.
var leftCategories = map[string]bool{
	"Trace": true, "overhead": true, "gpu_user_annotation": true, "external_correlation": true, "cpu_instant_event": true, "ac2g": true,
	"fwdbwd": true, "async_cpu_to_gpu": true, "async_gpu": true, "forward_backward": true, "mtia_runtime": true, "mtia_ccp_events": true,
	"mtia_insight": true, "mtia_workloadd": true, "mtia_counters": true, "cuda_profiler_range": true, "glow_runtime": true,
	"collective_comm": true, "hpu_op": true, "privateuse1_driver": true, "cuda_event": true, "gpu_pm_counter": true, "xpu_driver": true,
}

// oddEvents counts events that lack what all have, or have what none has.
type oddEvents struct {
	kindless, nameless, anonymous, endless, unlinked, bare, foreign int64
	category                                                        string // the first foreign one
}

// phases are the kinds of events (ph) that there are.
const phases = "BEXiICbneSTpFstfPNODMVvRc(),="

// kindless reports whether an event has no kind, or one that there is not.
func kindless(phase []byte) bool {
	p := unquoted(phase)
	return len(p) != 1 || strings.IndexByte(phases, p[0]) < 0
}

// notes say what was found.
func (o *oddEvents) notes() (list []string) {
	for _, n := range []struct {
		count int64
		what  string
	}{
		{o.kindless, "have no known kind (ph) and are left out"},
		{o.nameless, "have no name"},
		{o.anonymous, "name no process or no thread (pid, tid), and are taken for those of another one"},
		{o.endless, "have no duration (dur), which is taken to be 0"},
		{o.unlinked, "have a correlation, device or stream that is not a number"},
		{o.bare, "of devices have neither correlation nor device nor stream (args): what launched them is not known"},
		{o.foreign, fmt.Sprintf("have an unknown category and are left out; the first one is %q", o.category)},
	} {
		if n.count > 0 {
			list = append(list, fmt.Sprintf("%d events %s", n.count, n.what))
		}
	}
	return list
}

// seenBits is the logarithm of how many names are found without looking them up.
const seenBits = 9

// commsCall is the call that holds the arguments of communication.
const commsCall = "record_param_comms"

// open opens a file, unpacked.
func open(fsys fs.FS, name string) (io.Reader, io.Closer, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, nil, err
	}
	r, err := unpacked(file)
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return r, file, nil
}

// unpacked unpacks what gzip has packed, all else stays as it is.
func unpacked(r io.Reader) (io.Reader, error) {
	var head [2]byte
	n, err := io.ReadFull(r, head[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	r = io.MultiReader(bytes.NewReader(head[:n]), r)
	if n == 2 && head == [2]byte{0x1f, 0x8b} {
		return gzip.NewReader(r)
	}
	return r, nil
}

func newRankFile(rank int, show string) *rankFile {
	return &rankFile{
		show: show, rank: rank, last: &shape{},
		byName: map[string]uint32{}, byID: map[threadID]uint32{}, byStream: map[streamID]uint16{}, words: map[string]int64{},
	}
}

// readEach reads the files of a trace side by side.
func readEach[T any](fsys fs.FS, dir string, names []string, show func(name string) string,
	read func(in io.Reader, name, shown string) (T, error)) ([]T, error) {
	files, errs := make([]T, len(names)), make([]error, len(names))
	parallel.Each(len(names), runtime.GOMAXPROCS(0), func(i int) {
		in, file, err := open(fsys, path.Join(dir, names[i]))
		if err != nil {
			errs[i] = damage.At(show(names[i]), -1, "%v", damage.Reason(err))
			return
		}
		defer file.Close()
		files[i], errs[i] = read(in, names[i], show(names[i]))
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// readFile reads a file as far as it is whole.
func readFile(in io.Reader, name, show string, interrupt func() error) (*rankFile, error) {
	f := newRankFile(-1, show)
	f.name = name
	s := &jsonStream{in: in}
	err := readTraceEvents(s, interrupt, f.next, f.member)
	var stop *interruption
	if errors.As(err, &stop) {
		return nil, stop.cause
	}
	if err != nil {
		f.damage = damage.At(show, s.offset+int64(s.at), "%v", err)
	}
	return f, nil
}

// interruption is an error that ends the reading of a file that is fine.
type interruption struct{ cause error }

func (i *interruption) Error() string { return i.cause.Error() }

// member takes a member of the file.
func (f *rankFile) member(key, v []byte) error {
	switch string(key) {
	case "baseTimeNanoseconds":
		base, ok := integer(v)
		if !ok {
			return fmt.Errorf("baseTimeNanoseconds is not a number")
		}
		f.base = base
	case "distributedInfo":
		var info distributedInfo
		if err := cmp.Or(json.Unmarshal(v, &info), jsonkeys.Check(v, nil)); err != nil {
			f.infoErr = damage.Reason(err) // the rank follows from the name
		} else {
			f.info = info
		}
	}
	return nil
}

// next takes the event that b begins with and returns its length.
func (f *rankFile) next(b []byte) (int, error) {
	size, ok := f.alike(b)
	if !ok {
		var err error
		if size, err = f.event(b); err != nil {
			return 0, err
		}
		f.learn(b[:size])
	}
	f.events++
	return size, nil
}

// readTraceEvents reads the object, or the bare list of events. event takes the event that its argument begins with and returns its
// length, member the other members of the object.
func readTraceEvents(s *jsonStream, interrupt func() error, event func([]byte) (int, error), member func(key, v []byte) error) error {
	c, ok := s.next()
	switch {
	case !ok:
		return s.cut()
	case c == '[':
		if err := readEvents(s, interrupt, event); err != nil {
			return err
		}
		return s.end()
	}
	if err := s.take('{'); err != nil {
		return err
	}
	seen := map[string]bool{} // members that matter
	for {
		c, ok := s.next()
		switch {
		case !ok:
			return s.cut()
		case c == '}':
			s.at++
			return s.end()
		case c == ',':
			s.at++
			continue
		}
		v, err := s.value()
		if err != nil {
			return err
		}
		key := string(unquoted(v))
		if err := s.take(':'); err != nil {
			return err
		}
		switch key {
		case "traceEvents", "baseTimeNanoseconds", "distributedInfo":
			if seen[key] {
				return fmt.Errorf("the member %q is there twice", key)
			}
			seen[key] = true
		}
		if key == "traceEvents" {
			if err := readEvents(s, interrupt, event); err != nil {
				return err
			}
			continue
		}
		if v, err = s.value(); err != nil {
			return err
		}
		if err := member([]byte(key), v); err != nil {
			return err
		}
	}
}

// readEvents reads the list of events.
func readEvents(s *jsonStream, interrupt func() error, event func([]byte) (int, error)) error {
	if err := s.take('['); err != nil {
		return err
	}
	for n := 0; ; n++ {
		if n%(1<<16) == 0 && interrupt != nil {
			if err := interrupt(); err != nil {
				return &interruption{err}
			}
		}
		for s.at < len(s.buf) && (s.buf[s.at] <= ' ' || s.buf[s.at] == ',') {
			s.at++
		}
		c, ok := s.next()
		switch {
		case !ok && errors.Is(s.cut(), errJSONCut):
			return errListCut
		case !ok:
			return s.cut()
		case c == ']':
			s.at++
			return nil
		case c == ',':
			s.at++
			continue
		case c != '{':
			return fmt.Errorf("expected an event, got %q", c)
		}
		for {
			size, err := event(s.buf[s.at:])
			if err == nil {
				s.at += size
				break
			}
			if !errors.Is(err, errJSONCut) {
				return err
			}
			if !s.more() {
				return s.cut()
			}
		}
	}
}
