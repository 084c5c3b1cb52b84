package kineto

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// member is what a member of an event is.
type member uint8

const (
	memberOther member = iota // it does not matter
	memberName
	memberPid
	memberTid
	memberTime
	memberDuration
	memberCorrelation // this and the next ones are arguments
	memberDevice
	memberStream
	memberCollective
	memberPhase
	memberCategory
	memberRest // not a member: nothing that follows matters
	memberEnd  // not a member: the end of the event
)

// memberOf is what a member is by its name.
func memberOf(key []byte, inArgs bool) member {
	if inArgs {
		switch string(key) {
		case "correlation":
			return memberCorrelation
		case "device":
			return memberDevice
		case "stream":
			return memberStream
		case "Collective name":
			return memberCollective
		}
		return memberOther
	}
	switch string(key) {
	case "ph":
		return memberPhase
	case "cat":
		return memberCategory
	case "name":
		return memberName
	case "pid":
		return memberPid
	case "tid":
		return memberTid
	case "ts":
		return memberTime
	case "dur":
		return memberDuration
	}
	return memberOther
}

// event is what matters of an event of the file.
type event struct {
	kind                eventKind
	collective          bool   // its arguments name a collective
	unlinked            bool   // a number of its arguments is none
	has                 uint16 // which members it has: bits
	name, args          []byte // as they are in the file
	us, ps, lasts, part int64  // time and duration: whole microseconds, picoseconds
	numbers             [memberStream + 1]int64
}

func (e *event) lacks(m member) bool { return e.has&(1<<m) == 0 }

// set takes a value that should be a whole number.
func (e *event) set(m member, v []byte) {
	if n, ok := integer(v); ok {
		e.numbers[m] = n
		e.has |= 1 << m
	} else if string(v) != "null" {
		e.unlinked = true
	}
}

// keep takes a member of an event that matters; a second one must have the same value.
func keep(raw *[memberCategory + 1][]byte, args *[]byte, m member, key, v []byte) error {
	to := args
	if m != memberOther {
		to = &raw[m]
	} else if string(key) != "args" {
		return nil
	}
	before := *to
	*to = v
	return once(key, before, v)
}

// once refuses a member that an object has twice, with two values.
func once(key, before, v []byte) error {
	if before == nil || bytes.Equal(before, v) {
		return nil
	}
	return fmt.Errorf("an event has the member %q twice, with two values", key)
}

// event reads the event that b begins with, member by member, and returns its length.
func (f *rankFile) event(b []byte) (int, error) {
	var raw [memberCategory + 1][]byte
	var args []byte
	complete := false
	i := 1
	for {
		key, value, err := memberAt(b, i)
		if i = value; err != nil {
			return 0, err
		}
		if key == nil {
			break
		}
		n, err := jsonLength(b[i:])
		if err != nil {
			return 0, err
		}
		v := b[i : i+n]
		if i += n; i >= len(b) {
			return 0, errJSONCut // a number may go on
		}
		m := memberOf(key, false)
		if err := keep(&raw, &args, m, key, v); err != nil {
			return 0, err
		}
		if m == memberPhase {
			if complete = string(v) == `"X"`; !complete {
				if kindless(v) {
					f.odd.kindless++
				}
				return closing(b, i, 1)
			}
		}
	}
	if !complete {
		f.odd.kindless++ // others have returned
		return i, nil
	}
	category := string(unquoted(raw[memberCategory]))
	e := &event{kind: kindOf[category], name: raw[memberName], args: args}
	if e.kind == kindOther {
		if !leftCategories[category] {
			if f.odd.foreign++; f.odd.foreign == 1 {
				f.odd.category = category
			}
		}
		return i, nil
	}
	var ok, okToo bool
	e.us, e.ps, ok = micros(raw[memberTime])
	if e.lasts, e.part, okToo = micros(raw[memberDuration]); len(raw[memberDuration]) == 0 {
		e.lasts, e.part, okToo = 0, 0, true
	} else {
		e.has |= 1 << memberDuration
	}
	if ok && okToo {
		e.has |= 1 << memberTime
	}
	for _, m := range []member{memberPid, memberTid} {
		var err error
		if e.numbers[m], err = f.id(raw[m]); err != nil {
			return 0, err
		}
		if len(raw[m]) > 0 && raw[m][0] != 'n' {
			e.has |= 1 << m
		}
	}
	if len(args) > 0 && args[0] == '{' && (e.kind != kindHost || bytes.Contains(args, []byte(`"correlation"`))) {
		if err := members(args, func(key, v []byte) error {
			switch m := memberOf(key, true); m {
			case memberCorrelation, memberDevice, memberStream:
				before := raw[m]
				raw[m] = v
				e.set(m, v)
				return once(key, before, v)
			case memberCollective:
				e.collective = true
			}
			return nil
		}); err != nil {
			return 0, err
		}
	}
	return i, f.take(e)
}

// take keeps an event, if it matters.
func (f *rankFile) take(e *event) error {
	switch e.kind {
	case kindOther:
		return nil
	case kindSync:
		return f.takeSync(e)
	}
	us := e.us
	if !f.begun && !e.lacks(memberTime) {
		f.origin, f.begun = us, true
	}
	const far = math.MaxInt64 / 4 / 1_000_000
	if us -= f.origin; e.lacks(memberTime) || us > far || us < -far || e.lasts < 0 || e.lasts > far {
		f.skipped++
		return nil
	}
	begin := us*1_000_000 + e.ps
	end := begin + e.lasts*1_000_000 + e.part
	if e.lacks(memberPid) || e.lacks(memberTid) {
		f.odd.anonymous++
	}
	if e.lacks(memberDuration) {
		f.odd.endless++
	}
	if e.unlinked {
		f.odd.unlinked++
	}
	for _, m := range []member{memberPid, memberTid} {
		if e.lacks(m) {
			e.numbers[m], _ = f.id(nil)
		}
	}
	if e.kind == kindHost {
		return f.takeCall(e, begin, end)
	}
	return f.takeActivity(e, begin, end)
}

// seenName is a name that was met, as it is in the file.
type seenName struct {
	text string
	id   uint32
}

// nameOf numbers a name.
func (f *rankFile) nameOf(v []byte) uint32 {
	if len(v) <= len(`""`) || v[0] != '"' {
		f.odd.nameless++
	}
	v = unquoted(v)
	var seen *seenName // where the name is, if it was met of late: by its length and last characters
	if n := len(v); n >= 8 {
		h := (binary.LittleEndian.Uint64(v[n-8:]) + uint64(n)) * 0x9E3779B97F4A7C15
		if seen = &f.seen[h>>(64-seenBits)]; seen.text == string(v) {
			return seen.id
		}
	}
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
	if seen != nil && f.names[id] == string(v) {
		*seen = seenName{f.names[id], id}
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
func (f *rankFile) id(v []byte) (int64, error) {
	if n, ok := integer(v); ok {
		return n, nil
	}
	if len(v) > 0 && v[0] != '"' && string(v) != "null" {
		x, err := strconv.ParseFloat(string(v), 64) // some writers have no integers: 12.0
		if err != nil || x != math.Trunc(x) || math.Abs(x) > 1<<53 {
			return 0, fmt.Errorf("%q is not the number of a process or thread", v[:min(len(v), 40)])
		}
		return int64(x), nil
	}
	n, ok := f.words[string(v)]
	if !ok {
		n = math.MinInt32 - int64(len(f.words))
		f.words[string(v)] = n
	}
	return n, nil
}

func (f *rankFile) takeCall(e *event, begin, end int64) error {
	name := f.nameOf(e.name)
	comms := f.names[name] == commsCall && len(e.args) > 0 && e.args[0] == '{'
	var args commArgs
	if comms {
		var err error
		if args, err = communicationOf(e.args); err != nil {
			return err
		}
	}
	number, err := f.addCall(threadID{e.numbers[memberPid], e.numbers[memberTid]}, begin, end, name, e.correlation())
	if err == nil && comms {
		args.call = number
		f.args = append(f.args, args)
	}
	return err
}

// addCall adds a call and returns its number.
func (f *rankFile) addCall(at threadID, begin, end int64, name, correlation uint32) (int32, error) {
	if f.calls.len() == math.MaxInt32 {
		return 0, errors.New("there are more calls than can be numbered")
	}
	thread := f.threadOf(at)
	number := int32(f.calls.len())
	*f.calls.add() = hostCall{begin, end, name, thread}
	if correlation != 0 {
		*f.correlated.add() = correlatedCall{correlation, number}
	}
	return number, nil
}

// threadOf numbers a thread.
func (f *rankFile) threadOf(at threadID) uint32 {
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
	return thread
}

// correlation is that of an event, 0 if there is none.
func (e *event) correlation() uint32 {
	if e.lacks(memberCorrelation) {
		return 0
	}
	return correlated(e.numbers[memberCorrelation])
}

func (f *rankFile) takeActivity(e *event, begin, end int64) error {
	on := streamID{e.numbers[memberDevice], e.numbers[memberStream]}
	if e.lacks(memberDevice) {
		on.device = e.numbers[memberPid]
	}
	if e.lacks(memberStream) {
		on.stream = e.numbers[memberTid]
	}
	if !e.unlinked && e.lacks(memberCorrelation) && e.lacks(memberDevice) && e.lacks(memberStream) {
		f.odd.bare++
	}
	args := int32(-1)
	if e.collective {
		a, err := communicationOf(e.args)
		if err != nil {
			return err
		}
		args = int32(len(f.args))
		f.args = append(f.args, a)
	}
	return f.addActivity(on, activity{begin: begin, end: end, kind: e.kind, name: f.nameOf(e.name), correlation: e.correlation(), args: args})
}

// addActivity adds an activity of a stream.
func (f *rankFile) addActivity(on streamID, a activity) error {
	if f.acts.len() == math.MaxInt32 {
		return errors.New("there are more activities than can be numbered")
	}
	a.stream = f.lastStream
	if int(a.stream) >= len(f.streams) || f.streams[a.stream] != on {
		var ok bool
		if a.stream, ok = f.byStream[on]; !ok {
			if len(f.streams) > math.MaxUint16 {
				return errors.New("there are more streams than can be numbered")
			}
			a.stream = uint16(len(f.streams))
			f.streams = append(f.streams, on)
			f.byStream[on] = a.stream
		}
		f.lastStream = a.stream
	}
	*f.acts.add() = a
	return nil
}

func (f *rankFile) takeSync(e *event) error {
	s := syncRecord{device: -1, stream: -1, waitOn: -1}
	if len(e.args) == 0 || e.args[0] != '{' {
		return nil
	}
	number := func(v []byte) int64 {
		if n, ok := integer(v); ok && n != math.MaxUint32 {
			return n
		}
		return -1
	}
	correlation := func(v []byte) uint32 {
		n, _ := integer(v)
		return correlated(n)
	}
	var seen values
	err := members(e.args, func(key, v []byte) error {
		switch string(key) {
		case "cuda_sync_kind":
			s.kind = string(unquoted(v))
		case "stream":
			s.stream = number(v)
		case "device":
			s.device = number(v)
		case "correlation":
			s.correlation = correlation(v)
		case "wait_on_stream":
			s.waitOn = number(v)
		case "wait_on_cuda_event_record_corr_id":
			s.record = correlation(v)
		default:
			return nil
		}
		return seen.once(key, v)
	})
	if err == nil && s.correlation != 0 {
		f.syncs = append(f.syncs, s)
	}
	return err
}
