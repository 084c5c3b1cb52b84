package schedule

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Format is a file format of schedules.
type Format struct {
	Name     string   // as given to convert, e.g. goal
	Noun     string   // what a file of it is in a message, e.g. GOAL text
	Info     string   // one line for lists
	Suffixes []string // of names that convert takes for this format, e.g. .goal
	Text     bool     // people can read it

	// Sniff reports whether a file that begins with head is of this format. It looks at magic
	// numbers and first words only and never decodes. A head of a few hundred bytes is enough,
	// unless a text begins with a long comment. It is nil if the format is only written.
	Sniff func(head []byte) bool
	// Read reads a whole file. The graph does not refer to data afterwards. The name is for
	// messages. It is nil if the format is only written.
	Read func(name string, data []byte) (*Graph, error)
	// Pack reads a file of the given size into the form in which a program is run, without more of it in
	// memory than it needs: the same program as that of Read, and the same errors. It is nil if Read is.
	Pack func(name string, file io.ReaderAt, size int64, o PackOptions) (*Packed, error)
	// Write writes a graph and returns warnings about what the format cannot express; nil if the
	// format is only read.
	Write func(w io.Writer, g *Graph) (warnings []string, err error)

	// RankFiles returns, for a file and the names of all files in its directory, those of the same schedule in the order of the ranks;
	// nil: a schedule is one file.
	RankFiles func(base string, names []string) ([]string, error)
	// ReadRanks reads such files, which may need so many bytes of memory (0: there is no limit). It returns warnings about what they lack.
	ReadRanks func(names []string, open func(name string) (io.ReadCloser, error), memory int64) (g *Graph, warnings []string, err error)
}

// formats is the table of all formats: a format is one file, and one entry here.
var formats = []Format{goalFormat, binaryFormat, slkFormat, dotFormat, chakraFormat}

// Formats returns all formats of schedules.
func Formats() []Format { return formats[:len(formats):len(formats)] }

// Sniff returns the format of a file by its first bytes. The error reports what was found instead.
func Sniff(name string, head []byte) (Format, error) {
	for _, f := range formats {
		if f.Sniff != nil && f.Sniff(head) {
			return f, nil
		}
	}
	if len(head) == 0 {
		return Format{}, &FileError{File: name, What: "the file is empty"}
	}
	return Format{}, &UnknownError{File: name, Content: unknownContent(head)}
}

// Read reads a schedule in any format. The format is recognized by the content.
func Read(name string, data []byte) (*Graph, error) {
	f, err := Sniff(name, data)
	if err != nil {
		return nil, err
	}
	return f.Read(name, data)
}

// FileError is a fault in a file: where it is and what is wrong.
type FileError struct {
	File string
	Line int // from 1; 0: not known, or not a text file
	What string
}

// Error implements error, in the form file:line: what.
func (e *FileError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.What)
	}
	return e.File + ": " + e.What
}

// UnknownError is the error of a file that is in no format of schedules.
type UnknownError struct {
	File    string
	Content string // what the file is instead
}

func (e *UnknownError) Error() string {
	var nouns []string
	for _, f := range formats {
		if f.Read != nil {
			nouns = append(nouns, f.Noun)
		}
	}
	return e.File + ": neither " + strings.Join(nouns, " nor ") + ": " + e.Content
}

// unknownContent describes what a file is that no format wants.
func unknownContent(head []byte) string {
	for _, known := range []struct{ magic, what string }{
		{"\x1f\x8b", "the file is compressed with gzip; unpack it first"},
		{"\x28\xb5\x2f\xfd", "the file is compressed with zstd; unpack it first"},
		{"\xef\xbb\xbf", "the file begins with a byte order mark; save it as plain ASCII"},
		{"\xff\xfe", "the file is UTF-16 text; save it as plain ASCII"},
		{"\x7fELF", "the file is a program"},
		{"digraph", "the file is a Graphviz picture, which slackline only writes; give the schedule that it shows"},
	} {
		if bytes.HasPrefix(head, []byte(known.magic)) {
			return known.what
		}
	}
	rest := bytes.TrimLeft(head, " \t\r\n")
	if len(rest) == 0 {
		return "the file has only blanks and empty lines"
	}
	if !isText(head[:min(len(head), 512)]) {
		return fmt.Sprintf("the file begins with the bytes % x, which are not text", head[:min(len(head), 8)])
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return fmt.Sprintf("the text begins with %s", quote(bytes.TrimRight(line, "\r")))
}

// isText reports whether nearly all bytes are ASCII text: a stray letter of another alphabet in a
// comment does not make a file binary, but a control character does.
func isText(b []byte) bool {
	high := 0
	for _, c := range b {
		switch {
		case c >= 0x80:
			high++
		case c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f', c == 0x7f:
			return false
		}
	}
	return high*4 <= len(b)
}

// quote shows a piece of a file in a message, at most some twenty bytes of it.
func quote(b []byte) string {
	const most = 24
	if len(b) > most {
		return fmt.Sprintf("%q...", b[:most])
	}
	return fmt.Sprintf("%q", b)
}
