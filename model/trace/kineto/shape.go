package kineto

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Events of a file look alike: the same members in the same order, with the same spaces. The texts between the values that matter are
// therefore learned, as a tree, from the events that are read member by member (event.go); an event that goes along the tree is read by
// comparing texts and taking the values between them. Wherever an event differs, it is read member by member.

// shape is a place in the tree: a text, and the value that follows it.
type shape struct {
	text       string
	value      member
	kind       eventKind // of the event, as far as it was seen
	collective bool      // the arguments name a collective
	argsFrom   int       // where in the text the arguments begin and end, -1: not in it
	argsTo     int
	next       []*shape
	likely     *shape // what followed the last time; after an event: how the next one began
}

// The tree is bounded: files that are made to be unlike any other gain nothing by it.
const (
	maxShapes     = 4096
	maxAlike      = 64 // that follow a value
	maxShapeBytes = 512
)

// child returns what follows s with a text, and makes it if it is new; nil if there are too many.
func (f *rankFile) child(s *shape, text []byte, x shape) *shape {
	for _, n := range s.next {
		if n.text == string(text) {
			return n
		}
	}
	if f.shapes == maxShapes || len(s.next) == maxAlike || len(text) > maxShapeBytes {
		return nil
	}
	f.shapes++
	x.text = string(text)
	s.next = append(s.next, &x)
	return &x
}

// learn adds the event b, which was read before, to the tree.
func (f *rankFile) learn(b []byte) {
	at, from, inArgs := &f.shape, 0, false
	x := shape{argsFrom: -1, argsTo: -1}
	seen := uint16(0) // members: an event that has one twice is always read member by member
	for i := 1; i < len(b) && at != nil; {
		switch {
		case b[i] <= ' ' || b[i] == ',':
			i++
			continue
		case b[i] == '}' && inArgs:
			i++
			inArgs, x.argsTo = false, i-from
			continue
		case b[i] == '}' && (seen&(1<<memberPhase) == 0 || seen&(1<<memberCategory) == 0):
			return // it is counted member by member
		case b[i] == '}':
			x.value = memberEnd
			f.child(at, b[from:i+1], x)
			return
		}
		n, err := stringLength(b[i:])
		if err != nil || b[i] != '"' {
			return
		}
		key := b[i+1 : i+n-1]
		for i += n; i < len(b) && (b[i] <= ' ' || b[i] == ':'); i++ {
		}
		if !inArgs && string(key) == "args" && b[i] == '{' {
			if seen&(1<<memberOther) != 0 {
				return
			}
			seen |= 1 << memberOther
			inArgs, x.argsFrom = true, i-from
			i++
			continue
		}
		if n, err = jsonLength(b[i:]); err != nil {
			return
		}
		if x.value = memberOf(key, inArgs); x.value != memberOther {
			if seen&(1<<x.value) != 0 {
				return
			}
			seen |= 1 << x.value
		}
		switch x.value { // the values of ph and cat are part of the text
		case memberPhase, memberCategory:
			v := b[i : i+n]
			i += n
			if x.value == memberCategory {
				x.kind = kindOf[string(unquoted(v))]
			}
			if x.value == memberCategory && x.kind == kindOther && !leftCategories[string(unquoted(v))] || x.value == memberPhase && kindless(v) {
				return // it is counted member by member
			}
			if x.value == memberCategory && x.kind == kindOther || x.value == memberPhase && string(v) != `"X"` {
				x.value = memberRest
				f.child(at, b[from:i], x)
				return
			}
			continue
		case memberCollective:
			x.collective = true
		}
		at = f.child(at, b[from:i], x)
		i += n
		from = i
		x.argsFrom, x.argsTo = -1, -1
	}
}

// followed returns what follows s at the beginning of b; nil if it was not seen before.
func (s *shape) followed(b []byte) *shape {
	for _, n := range s.next {
		if len(b) > len(n.text) && string(b[:len(n.text)]) == n.text {
			return n
		}
	}
	return nil
}

// alike reads the event that b begins with along the tree and returns its length; false if it is not like those before, or cut.
func (f *rankFile) alike(b []byte) (int, bool) {
	s := f.last.likely
	if s == nil || len(b) <= len(s.text) || string(b[:len(s.text)]) != s.text {
		if s = f.shape.followed(b); s == nil {
			return 0, false
		}
		f.last.likely = s
	}
	var e event
	argsFrom, argsTo := 0, 0
	for i := 0; ; {
		if s.argsFrom >= 0 {
			argsFrom = i + s.argsFrom
		}
		if s.argsTo >= 0 {
			argsTo = i + s.argsTo
		}
		i += len(s.text)
		if len(b)-i < 16 && s.value < memberRest {
			return 0, false
		}
		switch s.value {
		case memberOther, memberCollective:
			n := digits(binary.LittleEndian.Uint64(b[i:]))
			if b[i] == '[' {
				n = flatList(b[i:])
			}
			if n == 0 || b[i] != '[' && (n == 8 || !ends[b[i+n]]) {
				var err error
				if n, err = jsonLength(b[i:]); err != nil {
					return 0, false
				}
			}
			i += n
		case memberPid, memberTid, memberDevice, memberStream, memberCorrelation:
			x := binary.LittleEndian.Uint64(b[i:])
			n := digits(x)
			v := firstDigits(x, n)
			if n == 8 { // it may go on
				x = binary.LittleEndian.Uint64(b[i+8:])
				n = digits(x)
				v = v*powers[n] + firstDigits(x, n)
				n += 8
			}
			if n == 0 || n == 16 {
				return 0, false
			}
			i += n
			e.numbers[s.value] = int64(v)
			e.has |= 1 << s.value
		case memberTime:
			if e.us, e.ps, i = microsAt(b, i); i < 0 {
				return 0, false
			}
			e.has |= 1 << memberTime
		case memberDuration:
			if e.lasts, e.part, i = microsAt(b, i); i < 0 {
				return 0, false
			}
			e.has |= 1 << memberDuration
		case memberName:
			n := bytes.IndexByte(b[i+1:], '"')
			if b[i] != '"' || n < 0 || b[i+n] == '\\' {
				return 0, false
			}
			e.name = b[i : i+n+2]
			i += n + 2
		case memberRest:
			if f.last != s {
				f.last = s
			}
			n := flatEnd(b[i:])
			return i + n, n > 0
		case memberEnd:
			e.args, e.kind, e.collective = b[argsFrom:argsTo], s.kind, s.collective
			if f.last != s {
				f.last = s
			}
			return i, f.take(&e) == nil
		}
		if i >= len(b) || !ends[b[i]] {
			return 0, false
		}
		n := s.likely
		if n == nil || len(b)-i <= len(n.text) || string(b[i:i+len(n.text)]) != n.text {
			if n = s.followed(b[i:]); n == nil {
				return 0, false
			}
			s.likely = n
		}
		s = n
	}
}

// flatEnd is the place after the end of an object in which there is no other one, from a place in it on; 0 if it may be otherwise.
func flatEnd(b []byte) int {
	n := bytes.IndexByte(b, '}')
	if n < 0 || bytes.IndexByte(b[:n], '\\') >= 0 || bytes.IndexByte(b[:n], '{') >= 0 || bytes.Count(b[:n], []byte{'"'})%2 != 0 {
		return 0
	}
	return n + 1
}

// flatList is the length of a list of numbers; 0 if it may be something else.
func flatList(b []byte) int {
	for i := 1; i < len(b)-1; i++ {
		if structural[b[i]] {
			if b[i] == ']' {
				return i + 1
			}
			return 0
		}
	}
	return 0
}

// digits counts the digits that the eight characters of x, the lowest one first, begin with.
func digits(x uint64) int {
	x ^= 0x3030303030303030
	x = ((x & 0x7F7F7F7F7F7F7F7F) + 0x7676767676767676 | x) & 0x8080808080808080
	return bits.TrailingZeros64(x) >> 3
}

// firstDigits is the number that the first n characters of x make, all of them digits.
func firstDigits(x uint64, n int) uint64 {
	x = x << ((8 - n) * 8 & 63) & 0x0F0F0F0F0F0F0F0F
	x = x*10 + x>>8
	return ((x&0x000000FF000000FF)*0x000F424000000064 + (x>>16&0x000000FF000000FF)*0x0000271000000001) >> 32
}

var powers = [9]uint64{1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000}

// microsAt is micros of the number at a place of b that has 16 more characters, with the place where it ends; -1 if it is not as usual.
func microsAt(b []byte, i int) (us, ps int64, end int) {
	x := binary.LittleEndian.Uint64(b[i:])
	n := digits(x)
	if n == 0 {
		return 0, 0, -1
	}
	v := firstDigits(x, n)
	i += n
	if n == 8 { // it may go on
		x = binary.LittleEndian.Uint64(b[i:])
		if n = digits(x); n == 8 {
			v = v*powers[8] + firstDigits(x, 8)
			if len(b)-i < 16 || digits(binary.LittleEndian.Uint64(b[i+8:])) > 2 {
				return 0, 0, -1
			}
			i += 8
			for ; b[i]-'0' < 10; i++ {
				v = 10*v + uint64(b[i]-'0')
			}
		} else if n > 0 {
			v = v*powers[n] + firstDigits(x, n)
			i += n
		}
	}
	if i >= len(b) || b[i] != '.' {
		return int64(v), 0, i
	}
	i++
	if len(b)-i < 8 {
		return 0, 0, -1
	}
	x = binary.LittleEndian.Uint64(b[i:])
	if n = digits(x); n == 0 || n > 6 {
		return 0, 0, -1
	}
	return int64(v), int64(firstDigits(x, n) * powers[6-n]), i + n
}
