// Package plain makes text harmless for terminals, logs and pages.
//
// Names come from files that others have written: of functions, files, hosts, communicators, metrics. Printed as they
// are, they could move the cursor, change the title of the window, write to the clipboard, or turn the direction of a
// line. Here control characters (C0 and C1), bidirectional and other invisible controls and bytes that are not text
// become visible: \u001b, \u202e, \x9b. In JSON the first two are the same character again.
package plain

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Name returns a name in one line of visible characters.
func Name(name string) string {
	return escape(name, func(r rune) bool { return hidden(r) || r == '\n' || r == '\t' })
}

// Text returns text of visible characters; it may have several lines, and tabs.
func Text(text string) string { return escape(text, hidden) }

// longest is how long a line of a message may be, and head and tail what is left of a longer one, in bytes.
const longest, head, tail = 2000, 1200, 200

// Short cuts lines in the middle that are too long to be read: a message may quote what is damaged, such as a number of a million digits.
func Short(text string) string {
	if len(text) <= longest {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if len(line) <= longest {
			continue
		}
		from, to := head, len(line)-tail
		for !utf8.RuneStart(line[from]) && from > head-utf8.UTFMax {
			from--
		}
		for !utf8.RuneStart(line[to]) && to < len(line)-tail+utf8.UTFMax {
			to++
		}
		lines[i] = fmt.Sprintf("%s ... (%d bytes) ... %s", line[:from], to-from, line[to:])
	}
	return strings.Join(lines, "\n")
}

// hidden reports whether a character must not be printed as it is. Those that join letters, as some languages need them,
// may.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return true
	case r < 0xad:
		return false
	case r == '\u200c' || r == '\u200d':
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// escape makes some characters of a text visible.
func escape(text string, hides func(rune) bool) string {
	for i, r := range text {
		if hides(r) || r == utf8.RuneError && broken(text[i:]) {
			return escapeFrom(text, i, hides)
		}
	}
	return text
}

func broken(text string) bool {
	_, size := utf8.DecodeRuneInString(text)
	return size == 1
}

// escapeFrom is escape from the first character on that is changed.
func escapeFrom(text string, from int, hides func(rune) bool) string {
	var b strings.Builder
	b.WriteString(text[:from])
	for text = text[from:]; text != ""; {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case r == '\n' && hides(r):
			b.WriteString(`\n`)
		case r == '\t' && hides(r):
			b.WriteString(`\t`)
		case !hides(r):
			b.WriteString(text[:size])
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		text = text[size:]
	}
	return b.String()
}

// A Writer passes text on, escaped. Text may be cut anywhere; what is left of a character is passed on by Flush.
type Writer struct {
	w    io.Writer
	left []byte // the start of a character
	err  error  // the first one
	// Marks in the text for sequences of ours, which are passed on as they are; see Pass.
	marks *strings.Replacer
}

// NewWriter returns a writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Pass replaces marks, which the author of a name cannot know, by sequences that are passed on as they are: pairs of
// both, as in strings.NewReplacer. Marks are plain text, and are not cut.
func (p *Writer) Pass(pairs ...string) *Writer {
	p.marks = strings.NewReplacer(pairs...)
	return p
}

// Raw is where the text goes to.
func (p *Writer) Raw() io.Writer { return p.w }

// Err is the first error of writing, for those who did not look at it.
func (p *Writer) Err() error { return p.err }

// Write implements io.Writer.
func (p *Writer) Write(data []byte) (int, error) {
	text := data
	if len(p.left) > 0 {
		text = append(p.left, data...)
		p.left = nil
	}
	if n := whole(text); n < len(text) {
		p.left = append([]byte{}, text[n:]...)
		text = text[:n]
	}
	if err := p.pass(text); err != nil {
		return 0, err
	}
	return len(data), nil
}

// whole returns the length of text without a character at its end that is cut.
func whole(text []byte) int {
	for n := len(text) - 1; n >= 0 && n >= len(text)-utf8.UTFMax; n-- {
		if utf8.RuneStart(text[n]) {
			if !utf8.FullRune(text[n:]) {
				return n
			}
			break
		}
	}
	return len(text)
}

func (p *Writer) pass(text []byte) (err error) {
	if p.marks == nil && harmless(text) {
		_, err = p.w.Write(text)
	} else {
		s := Text(string(text))
		if p.marks != nil {
			s = p.marks.Replace(s)
		}
		_, err = io.WriteString(p.w, s)
	}
	p.err = cmp.Or(p.err, err)
	return err
}

// harmless reports whether all of a text may be printed, without looking at what is not ASCII.
func harmless(text []byte) bool {
	for _, c := range text {
		if c < 0x20 && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// Flush passes on what is left.
func (p *Writer) Flush() error {
	left := p.left
	p.left = nil
	if len(left) == 0 {
		return nil
	}
	return p.pass(left)
}
