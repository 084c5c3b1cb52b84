package trace

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"
	"unicode/utf8"
)

// kinetoFile is what a file of one rank holds, in columns: its events are not in the order of time.
type kinetoFile struct {
	name   string // of the file
	show   string // what messages call it
	rank   int
	base   int64 // ns since 1970
	origin int64 // us after base: what times count from
	begun  bool  // there is an origin
	info   kinetoDistributed

	names   []string // as they are in the file
	byName  map[string]uint32
	threads []kinetoThread
	byID    map[kinetoThread]uint32
	words   map[string]int64 // ids that are not numbers
	calls   []kinetoCall
	acts    []kinetoActivity
	syncs   []kinetoSync
	args    []kinetoArgs // of communication
	events  int64
	skipped int64 // events whose times are no numbers

	lastCat  []byte // of the event before
	lastKind kinetoKind
	damage   error // why it ends early
}

// kinetoDistributed is distributedInfo of a file.
type kinetoDistributed struct {
	Rank   *int          `json:"rank"`
	World  int           `json:"world_size"`
	Groups []kinetoGroup `json:"pg_config"`
}

// kinetoGroup is a process group; pg_name is a string or a number.
type kinetoGroup struct {
	Name  any     `json:"pg_name"`
	Ranks []int32 `json:"ranks"`
}

type kinetoThread struct{ pid, tid int64 }

// kinetoCall is a host call.
type kinetoCall struct {
	begin, end  int64 // ps since the origin
	name        uint32
	thread      uint32
	correlation uint32 // 0: none
	number      int32  // in the order of the file
}

// kinetoActivity is something that ran on a stream.
type kinetoActivity struct {
	begin, end     int64
	device, stream int64
	name           uint32
	correlation    uint32
	args           int32 // index, -1: none
	kind           kinetoKind
}

// kinetoSync is a record of synchronization.
type kinetoSync struct {
	kind           string
	correlation    uint32
	record         uint32
	device, stream int64
	waitOn         int64
}

// kinetoArgs are the arguments of communication; numbers are -1 if they are missing.
type kinetoArgs struct {
	call                                int32 // number of the call, -1: of an activity
	collective, group, ranks, dtype     string
	in, out, size, start, stride        int64
	root, source, destination, sequence int64
}

type kinetoKind uint8

const (
	kinetoOther kinetoKind = iota
	kinetoHost
	kinetoKernel
	kinetoCopy
	kinetoMemset
	kinetoSyncs
)

// kinetoKinds are the categories that matter.
var kinetoKinds = map[string]kinetoKind{
	"cpu_op": kinetoHost, "user_annotation": kinetoHost, "python_function": kinetoHost, "cuda_runtime": kinetoHost, "cuda_driver": kinetoHost,
	"xpu_runtime": kinetoHost, "privateuse1_runtime": kinetoHost, "Operator": kinetoHost, "Runtime": kinetoHost,
	"kernel": kinetoKernel, "Kernel": kinetoKernel, "gpu_memcpy": kinetoCopy, "Memcpy": kinetoCopy, "gpu_memset": kinetoMemset, "Memset": kinetoMemset,
	"cuda_sync": kinetoSyncs,
}

// kinetoComms is the call that holds the arguments of communication.
const kinetoComms = "record_param_comms"

// openKineto opens a file, unpacked.
func openKineto(fsys fs.FS, name string) (io.Reader, io.Closer, error) {
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

// readKinetoFile reads a file as far as it is whole.
func readKinetoFile(in io.Reader, name, show string, interrupt func() error) (*kinetoFile, error) {
	f := &kinetoFile{name: name, show: show, rank: -1, byName: map[string]uint32{}, byID: map[kinetoThread]uint32{}, words: map[string]int64{}}
	s := &jsonStream{in: in}
	err := f.read(s, interrupt)
	var stop *interruption
	if errors.As(err, &stop) {
		return nil, stop.cause
	}
	if err != nil {
		f.damage = damagedAt(show, s.offset+int64(s.at), "%v", err)
	}
	return f, nil
}

// interruption is an error that ends the reading of a file that is fine.
type interruption struct{ cause error }

func (i *interruption) Error() string { return i.cause.Error() }

// read reads the object, or the bare list of events.
func (f *kinetoFile) read(s *jsonStream, interrupt func() error) error {
	c, ok := s.next()
	switch {
	case !ok:
		return s.cut()
	case c == '[':
		return f.readEvents(s, interrupt)
	}
	if err := s.take('{'); err != nil {
		return err
	}
	for {
		c, ok := s.next()
		switch {
		case !ok:
			return s.cut()
		case c == '}':
			return nil
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
		if key == "traceEvents" {
			if err := f.readEvents(s, interrupt); err != nil {
				return err
			}
			continue
		}
		if v, err = s.value(); err != nil {
			return err
		}
		switch key {
		case "baseTimeNanoseconds":
			if base, ok := integer(v); ok {
				f.base = base
			} else {
				return fmt.Errorf("baseTimeNanoseconds is not a number")
			}
		case "distributedInfo":
			var info kinetoDistributed
			if json.Unmarshal(v, &info) == nil { // else the rank follows from the name
				f.info = info
			}
		}
	}
}

// readEvents reads the list of events.
func (f *kinetoFile) readEvents(s *jsonStream, interrupt func() error) error {
	if err := s.take('['); err != nil {
		return err
	}
	for n := 0; ; n++ {
		if n%(1<<16) == 0 && interrupt != nil {
			if err := interrupt(); err != nil {
				return &interruption{err}
			}
		}
		c, ok := s.next()
		switch {
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
			size, err := f.event(s.buf[s.at:])
			if err == nil {
				s.at += size
				f.events++
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

// kinetoEvent is an event as it is in the file.
type kinetoEvent struct{ cat, name, pid, tid, ts, dur, args []byte }

// event reads the event that b begins with and returns its length.
func (f *kinetoFile) event(b []byte) (int, error) {
	var e kinetoEvent
	complete := false
	i := 1
	for {
		for i < len(b) && (b[i] <= ' ' || b[i] == ',') {
			i++
		}
		if i >= len(b) {
			return 0, errJSONCut
		}
		if b[i] == '}' {
			i++
			break
		}
		if b[i] != '"' {
			return 0, fmt.Errorf("expected the name of a member, got %q", b[i])
		}
		n, err := stringLength(b[i:])
		if err != nil {
			return 0, err
		}
		key := b[i+1 : i+n-1]
		for i += n; i < len(b) && (b[i] <= ' ' || b[i] == ':'); {
			i++
		}
		if n, err = jsonLength(b[i:]); err != nil {
			return 0, err
		}
		v := b[i : i+n]
		if i += n; i >= len(b) {
			return 0, errJSONCut // a number may go on
		}
		switch string(key) {
		case "ph":
			if complete = len(v) == 3 && v[1] == 'X'; !complete {
				n, err := braceLength(b, '}')
				return n, err
			}
		case "cat":
			e.cat = v
		case "name":
			e.name = v
		case "pid":
			e.pid = v
		case "tid":
			e.tid = v
		case "ts":
			e.ts = v
		case "dur":
			e.dur = v
		case "args":
			e.args = v
		}
	}
	if complete {
		return i, f.take(&e)
	}
	return i, nil
}

// take keeps an event, if it matters.
func (f *kinetoFile) take(e *kinetoEvent) error {
	if !bytes.Equal(e.cat, f.lastCat) {
		f.lastCat = append(f.lastCat[:0], e.cat...)
		f.lastKind = kinetoKinds[string(unquoted(e.cat))]
	}
	if f.lastKind == kinetoOther {
		return nil
	}
	if f.lastKind == kinetoSyncs {
		f.takeSync(e)
		return nil
	}
	us, ps, ok := micros(e.ts)
	lasts, part, okToo := micros(e.dur)
	if len(e.dur) == 0 {
		lasts, part, okToo = 0, 0, true
	}
	if !f.begun {
		f.origin, f.begun = us, ok
	}
	const far = math.MaxInt64 / 4 / 1_000_000
	if us -= f.origin; !ok || !okToo || us > far || us < -far || lasts < 0 || lasts > far {
		f.skipped++
		return nil
	}
	begin := us*1_000_000 + ps
	end := begin + lasts*1_000_000 + part
	if f.lastKind == kinetoHost {
		return f.takeCall(e, begin, end)
	}
	return f.takeActivity(e, begin, end)
}

// nameOf numbers a name.
func (f *kinetoFile) nameOf(v []byte) uint32 {
	v = unquoted(v)
	id, ok := f.byName[string(v)]
	if !ok {
		text := string(v)
		id = uint32(len(f.names))
		f.byName[text] = id
		if strings.ContainsRune(text, '\\') || !utf8.ValidString(text) {
			text = unescaped(text)
		}
		f.names = append(f.names, text)
	}
	return id
}

// unescaped resolves the escapes of a string.
func unescaped(text string) string {
	var out string
	if json.Unmarshal([]byte(`"`+text+`"`), &out) != nil {
		return text
	}
	return out
}

// id is the number of a process or thread; words get numbers of their own.
func (f *kinetoFile) id(v []byte) int64 {
	if n, ok := integer(v); ok {
		return n
	}
	n, ok := f.words[string(v)]
	if !ok {
		n = math.MinInt32 - int64(len(f.words))
		f.words[string(v)] = n
	}
	return n
}

func (f *kinetoFile) takeCall(e *kinetoEvent, begin, end int64) error {
	if len(f.calls) == math.MaxInt32 {
		return errors.New("there are more calls than can be numbered")
	}
	at := kinetoThread{f.id(e.pid), f.id(e.tid)}
	thread, ok := f.byID[at]
	if !ok {
		thread = uint32(len(f.threads))
		f.threads = append(f.threads, at)
		f.byID[at] = thread
	}
	c := kinetoCall{begin: begin, end: end, name: f.nameOf(e.name), thread: thread, number: int32(len(f.calls))}
	if bytes.Contains(e.args, []byte(`"correlation"`)) {
		if err := members(e.args, func(key, v []byte) error {
			if string(key) == "correlation" {
				c.correlation = correlationOf(v)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	if f.names[c.name] == kinetoComms && len(e.args) > 0 && e.args[0] == '{' {
		a, err := communicationOf(e.args)
		if err != nil {
			return err
		}
		a.call = c.number
		f.args = append(f.args, a)
	}
	f.calls = append(f.calls, c)
	return nil
}

// correlationOf is a correlation, 0 if there is none.
func correlationOf(v []byte) uint32 {
	if n, ok := integer(v); ok && n > 0 && n < math.MaxUint32 {
		return uint32(n)
	}
	return 0
}

func (f *kinetoFile) takeActivity(e *kinetoEvent, begin, end int64) error {
	if len(f.acts) == math.MaxInt32 {
		return errors.New("there are more activities than can be numbered")
	}
	a := kinetoActivity{begin: begin, end: end, kind: f.lastKind, name: f.nameOf(e.name), args: -1}
	device, stream, collective := false, false, false
	if len(e.args) > 0 && e.args[0] == '{' {
		if err := members(e.args, func(key, v []byte) error {
			switch string(key) {
			case "device":
				a.device, device = integer(v)
			case "stream":
				a.stream, stream = integer(v)
			case "correlation":
				a.correlation = correlationOf(v)
			case "Collective name":
				collective = true
			}
			return nil
		}); err != nil {
			return err
		}
	}
	if !device {
		a.device = f.id(e.pid)
	}
	if !stream {
		a.stream = f.id(e.tid)
	}
	if collective {
		args, err := communicationOf(e.args)
		if err != nil {
			return err
		}
		a.args = int32(len(f.args))
		f.args = append(f.args, args)
	}
	f.acts = append(f.acts, a)
	return nil
}

func (f *kinetoFile) takeSync(e *kinetoEvent) {
	s := kinetoSync{device: -1, stream: -1, waitOn: -1}
	if len(e.args) == 0 || e.args[0] != '{' {
		return
	}
	number := func(v []byte) int64 {
		if n, ok := integer(v); ok && n != math.MaxUint32 {
			return n
		}
		return -1
	}
	err := members(e.args, func(key, v []byte) error {
		switch string(key) {
		case "cuda_sync_kind":
			s.kind = string(unquoted(v))
		case "stream":
			s.stream = number(v)
		case "device":
			s.device = number(v)
		case "correlation":
			s.correlation = correlationOf(v)
		case "wait_on_stream":
			s.waitOn = number(v)
		case "wait_on_cuda_event_record_corr_id":
			s.record = correlationOf(v)
		}
		return nil
	})
	if err == nil && s.correlation != 0 {
		f.syncs = append(f.syncs, s)
	}
}

// communicationOf reads the arguments of communication.
func communicationOf(args []byte) (kinetoArgs, error) {
	a := kinetoArgs{call: -1, in: -1, out: -1, size: -1, start: -1, stride: -1, root: -1, source: -1, destination: -1, sequence: -1}
	numbers := map[string]*int64{
		"In msg nelems": &a.in, "Out msg nelems": &a.out, "Group size": &a.size, "Global rank start": &a.start, "Global rank stride": &a.stride,
		"Rank": &a.root, "Src Rank": &a.source, "Dst Rank": &a.destination, "Seq": &a.sequence,
	}
	texts := map[string]*string{"Collective name": &a.collective, "Process Group Name": &a.group, "Process Group Ranks": &a.ranks, "dtype": &a.dtype}
	err := members(args, func(key, v []byte) error {
		if to := numbers[string(key)]; to != nil {
			if n, ok := integer(v); ok {
				*to = n
			}
		} else if to := texts[string(key)]; to != nil {
			*to = string(unquoted(v))
		}
		return nil
	})
	return a, err
}

// fill takes what is missing from other arguments.
func (a *kinetoArgs) fill(b *kinetoArgs) {
	numbers := func(a *kinetoArgs) []*int64 {
		return []*int64{&a.in, &a.out, &a.size, &a.start, &a.stride, &a.root, &a.source, &a.destination, &a.sequence}
	}
	from := numbers(b)
	for i, to := range numbers(a) {
		if *to < 0 {
			*to = *from[i]
		}
	}
	for to, from := range map[*string]string{&a.collective: b.collective, &a.group: b.group, &a.ranks: b.ranks, &a.dtype: b.dtype} {
		if *to == "" {
			*to = from
		}
	}
}
