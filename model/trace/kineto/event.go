package kineto

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// rawEvent is an event as it is in the file.
type rawEvent struct {
	cat, name, pid, tid, ts, dur, args []byte
	known                              knownArgs
}

// knownArgs are the arguments that most events have.
type knownArgs struct {
	scanned                     bool // the others are those of args
	correlation, device, stream []byte
	collective                  bool
}

// scan reads the arguments that b begins with and returns their length; false if they are not as usual, or cut.
func (k *knownArgs) scan(b []byte) (int, bool) {
	for i := 1; i < len(b); {
		switch c := b[i]; {
		case c <= ' ' || c == ',':
			i++
			continue
		case c == '}':
			k.scanned = true
			return i + 1, true
		case c != '"':
			return 0, false
		}
		from := i + 1
		for i = from; i < len(b) && b[i] != '"'; i++ {
			if b[i] == '\\' {
				return 0, false
			}
		}
		if i >= len(b) {
			return 0, false
		}
		key := b[from:i]
		for i++; i < len(b) && (b[i] <= ' ' || b[i] == ':'); i++ {
		}
		n, err := jsonLength(b[min(i, len(b)):])
		if err != nil {
			return 0, false
		}
		v := b[i : i+n]
		i += n
		switch len(key) {
		case len("device"): // and stream
			if string(key) == "device" {
				k.device = v
			} else if string(key) == "stream" {
				k.stream = v
			}
		case len("correlation"):
			if string(key) == "correlation" {
				k.correlation = v
			}
		case len("Collective name"):
			k.collective = k.collective || string(key) == "Collective name"
		}
	}
	return 0, false
}

// event reads the event that b begins with and returns its length.
func (f *rankFile) event(b []byte) (int, error) {
	var e rawEvent
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
		usual := false
		if len(key) == 4 && i < len(b) && b[i] == '{' && string(key) == "args" {
			e.known = knownArgs{}
			n, usual = e.known.scan(b[i:])
		}
		if !usual {
			e.known.scanned = false
			if n, err = jsonLength(b[min(i, len(b)):]); err != nil {
				return 0, err
			}
		}
		v := b[i : i+n]
		if i += n; i >= len(b) {
			return 0, errJSONCut // a number may go on
		}
		switch string(key) {
		case "ph":
			if complete = len(v) == 3 && v[1] == 'X'; !complete {
				return closing(b, i, 1)
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
func (f *rankFile) take(e *rawEvent) error {
	if !bytes.Equal(e.cat, f.lastCat) {
		f.lastCat = append(f.lastCat[:0], e.cat...)
		f.lastKind = kindOf[string(unquoted(e.cat))]
	}
	if f.lastKind == kindOther {
		return nil
	}
	if f.lastKind == kindSync {
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
	if f.lastKind == kindHost {
		return f.takeCall(e, begin, end)
	}
	return f.takeActivity(e, begin, end)
}

// nameOf numbers a name.
func (f *rankFile) nameOf(v []byte) uint32 {
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
func (f *rankFile) id(v []byte) int64 {
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

func (f *rankFile) takeCall(e *rawEvent, begin, end int64) error {
	if len(f.calls) == math.MaxInt32 {
		return errors.New("there are more calls than can be numbered")
	}
	at := threadID{f.id(e.pid), f.id(e.tid)}
	thread := f.lastThread
	if int(thread) >= len(f.threads) || f.threads[thread] != at {
		var ok bool
		if thread, ok = f.byID[at]; !ok {
			thread = uint32(len(f.threads))
			f.threads = append(f.threads, at)
			f.byID[at] = thread
		}
		f.lastThread = thread
	}
	c := hostCall{begin: begin, end: end, name: f.nameOf(e.name), thread: thread, number: int32(len(f.calls))}
	if e.known.scanned {
		c.correlation = correlationOf(e.known.correlation)
	} else if bytes.Contains(e.args, []byte(`"correlation"`)) {
		if err := members(e.args, func(key, v []byte) error {
			if string(key) == "correlation" {
				c.correlation = correlationOf(v)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	if f.names[c.name] == commsCall && len(e.args) > 0 && e.args[0] == '{' {
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

func (f *rankFile) takeActivity(e *rawEvent, begin, end int64) error {
	if len(f.acts) == math.MaxInt32 {
		return errors.New("there are more activities than can be numbered")
	}
	a := activity{begin: begin, end: end, kind: f.lastKind, name: f.nameOf(e.name), args: -1}
	device, stream, collective := false, false, false
	if e.known.scanned {
		a.device, device = integer(e.known.device)
		a.stream, stream = integer(e.known.stream)
		a.correlation, collective = correlationOf(e.known.correlation), e.known.collective
	} else if len(e.args) > 0 && e.args[0] == '{' {
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

func (f *rankFile) takeSync(e *rawEvent) {
	s := syncRecord{device: -1, stream: -1, waitOn: -1}
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
func communicationOf(args []byte) (commArgs, error) {
	a := noArgs
	numbers := map[string]*int64{
		"In msg nelems": &a.in, "Out msg nelems": &a.out, "Group size": &a.size, "Global rank start": &a.start, "Global rank stride": &a.stride,
		"Rank": &a.root, "Src Rank": &a.source, "Dst Rank": &a.destination, "Seq": &a.sequence,
	}
	texts := map[string]*string{
		"Collective name": &a.collective, "Process Group Name": &a.group, "Process Group Ranks": &a.ranks, "dtype": &a.dtype,
	}
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
func (a *commArgs) fill(b *commArgs) {
	numbers := func(a *commArgs) []*int64 {
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
