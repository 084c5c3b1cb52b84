package noise

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"slackline/internal/source"
	"slackline/internal/yamlfile"
)

// MaxFile is the largest file of noise that is read, in bytes.
const MaxFile = 512 << 20

// Format is a format of files that hold noise.
type Format struct {
	Name     string   // as given to noise show --to, e.g. text
	Info     string   // one line for lists and help
	Suffixes []string // of names that noise show takes for this format, e.g. .txt
	Text     bool     // people can read it
	Model    bool     // it describes the noise; the others list its detours

	// Sniff reports whether a line, without the blanks around it, is one that only files of this format have.
	// Of a format that is not text it is asked about the start of the file only.
	Sniff func(line string) bool
	Read  func(name string, data []byte, open openTrace) (*Profile, error)
	// Write writes a profile, whose detours are given unless the format is a model; nil: the format is only read.
	Write func(w io.Writer, p *Profile, d *Detours) error
}

// openTrace reads the trace in a file that another file names.
type openTrace func(path string) (*Trace, error)

// formats is the table of all formats: a format is one file, and one entry here. The first whose Sniff knows a line gets
// the file.
var formats = []Format{binaryFormat, netgaugeFormat, linuxFormat, textFormat, yamlFormat}

// Formats returns all formats of noise.
func Formats() []Format { return formats[:len(formats):len(formats)] }

// FormatNamed returns the format with the given name; false if there is none.
func FormatNamed(name string) (Format, bool) {
	if i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == name }); i >= 0 {
		return formats[i], true
	}
	return Format{}, false
}

// LoadFrom reads a file of noise in any format; the content decides which.
func LoadFrom(from source.Source, path string) (*Profile, error) {
	data, err := readFile(from, path)
	if err != nil {
		return nil, err
	}
	return read(from, path, data)
}

func read(from source.Source, name string, data []byte) (*Profile, error) {
	format := sniff(data)
	if at := bytes.IndexByte(data, 0); format.Text && at >= 0 {
		return nil, &FileError{name, 1 + bytes.Count(data[:at], []byte{'\n'}), "has a byte 0, which no text has; the file is damaged"}
	}
	return format.Read(name, data, func(path string) (*Trace, error) {
		data, err := readFile(from, path)
		if err != nil {
			return nil, err
		}
		if sniff(data).Model {
			return nil, fmt.Errorf("trace %s is a profile; give a trace", yamlfile.Quote(path))
		}
		p, err := read(from, path, data)
		if err != nil {
			return nil, err
		}
		return p.Parts[0].Trace, nil
	})
}

// TracesOf are the files of traces that a profile names, whether they can be read or not.
func TracesOf(path string) []string {
	const most = 1 << 20 // bytes of what people write
	var list []string
	_, _ = LoadFrom(func(name string, _ int64) ([]byte, error) { // who reads the profile reports what is wrong
		if name != path {
			list = append(list, name)
			return nil, fs.ErrNotExist
		}
		data, err := source.Disk(path, most)
		if err == nil && !sniff(data).Model {
			err = fs.ErrInvalid
		}
		return data, err
	}, path)
	return list
}

func readFile(from source.Source, path string) ([]byte, error) {
	data, err := from(path, MaxFile+1)
	if err != nil {
		return nil, err
	}
	if len(data) > MaxFile {
		return nil, &FileError{path, 0, fmt.Sprintf("has more than %d bytes; cut it", MaxFile)}
	}
	return data, nil
}

// Read reads the content of a file of noise in any format. The name is for messages, and for a profile that
// has no name of its own.
func Read(name string, data []byte) (*Profile, error) {
	return read(source.Disk, name, data)
}

// sniff returns the format of a file by its content: the magic bytes, or the first line that only one format has.
func sniff(data []byte) Format {
	for _, f := range formats {
		if !f.Text && f.Sniff(string(data[:min(len(data), 300)])) {
			return f
		}
	}
	const most = 1000 // lines looked at
	rest := bytes.TrimPrefix(data, []byte("\ufeff"))
	for range most {
		if len(rest) == 0 {
			break
		}
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte{'\n'})
		text := strings.TrimSpace(string(line[:min(len(line), 300)]))
		for _, f := range formats {
			if f.Text && text != "" && f.Sniff(text) {
				return f
			}
		}
	}
	// Comments only, or nothing: a trace without detours lacks its period, and the reader reports it.
	if len(bytes.TrimSpace(data)) > 0 {
		return textFormat
	}
	return yamlFormat
}

// comment returns the text of a line that is a comment.
func comment(line string) (string, bool) {
	text, ok := strings.CutPrefix(line, "#")
	return strings.TrimSpace(text), ok
}

// hasAnyPrefix reports whether a text begins with one of several words.
func hasAnyPrefix(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}
