package dataset

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"slackline/internal/plain"
	"slackline/internal/suggest"
)

// Format is a format of files that hold measurements.
type Format struct {
	Name   string // as given to --input, e.g. osu
	Info   string // what a file of it is called in messages and lists
	Suffix string // of names that scaling --dataset writes in this format, e.g. .csv; empty: none
	Binary bool   // it is not text
	Lines  bool   // it is lines, which all end: what is cut in the last number of a file still looks whole

	PlaceInName bool // names of files and directories may add parameters, because a file does not hold all of them
	OfRuns      bool // values are means over the ranks of a run

	// Sniff reports whether data that begins with head is of this format.
	Sniff func(head []byte) bool
	Read  func(name string, data []byte) (*Dataset, error)
	// Mark is a file, recognized by Sniff, that makes a directory one input, which ReadDir reads; Read then only refuses its files.
	Mark    string
	ReadDir func(name string, dir fs.FS) (*Dataset, error)
	// Write writes a dataset, with a provenance where the format has one; nil: the format is only read.
	Write func(d *Dataset, w io.Writer, provenance any) error
}

// formats is the table of all formats: a format is one file, and one entry here. They are tried in this order: those with
// the clearest marks first.
var formats = []Format{
	cubeFormat, hpctoolkitFormat, hpctoolkitXMLFormat, ownFormat, simulationFormat, profileFormat, waitsFormat, pytestFormat, reframeFormat,
	caliperFormat, googleFormat, extraPOldFormat, extraPJSONFormat,
	linesFormat, caliFormat, tauFormat, darshanFormat, ncclFormat, osuFormat, imbFormat, goBenchFormat,
	measuredFormat, extraPTextFormat, csvFormat,
}

// Formats returns all formats of measurements.
func Formats() []Format { return formats[:len(formats):len(formats)] }

// FormatNames returns the names of the formats.
func FormatNames() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return names
}

// headBytes is how much of an input is looked at to recognize its format.
const headBytes = 64 << 10

// Sniff returns the format of data by its content.
func Sniff(data []byte) (Format, bool) {
	raw := data[:min(len(data), headBytes)]
	head := Clean(raw)
	for _, f := range formats {
		start := head
		if f.Binary {
			start = raw
		}
		if f.Sniff(start) {
			return f, true
		}
	}
	return Format{}, false
}

// Read reads data in the format of a name, or of the one that it looks like if
// that is empty. name is that of the input in messages.
func Read(name string, data []byte, format string) (*Dataset, Format, error) {
	f, ok := Sniff(data)
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return nil, f, fmt.Errorf("%s: is empty; give measurements", name)
	case format != "":
		i := slices.Index(FormatNames(), format)
		if i < 0 {
			return nil, f, fmt.Errorf("%q is not a format of measurements%s", format, suggest.Phrase(format, FormatNames()))
		}
		f = formats[i]
	case !ok:
		return nil, f, fmt.Errorf("%s: is not in a known format of measurements; name it with --input, one of %s", name,
			strings.Join(FormatNames(), ", "))
	}
	if !f.Binary {
		data = Clean(data)
		if at := bytes.IndexByte(data, 0); at >= 0 {
			return nil, f, fmt.Errorf("%s:%d: has a byte 0, which no text has (read as %s): the file is damaged", name,
				lineOf(data, int64(at)), f.Info)
		}
	}
	var early []string
	if at := invalidUTF8(data); !f.Binary && at >= 0 {
		early = append(early, fmt.Sprintf("%s:%d: is not UTF-8 text: is the file damaged?", name, lineOf(data, int64(at))))
	}
	if last := data[bytes.LastIndexByte(data, '\n')+1:]; f.Lines && len(bytes.TrimSpace(last)) > 0 {
		early = append(early, fmt.Sprintf("%s:%d: the last line has no end: is the file cut, perhaps within a number? If it is whole, end it "+
			"with a line break", name, lineOf(data, int64(len(data)))))
	}
	d, err := f.Read(name, data)
	if err != nil && !strings.HasPrefix(err.Error(), name+":") {
		err = fmt.Errorf("%s: %w", name, err) // every reader names its file
	}
	if err != nil {
		return nil, f, err
	}
	d.Warnings = append(early, d.Warnings...)
	return d, f, d.finish(name, f)
}

// invalidUTF8 is where a text is not UTF-8; -1: nowhere.
func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	at := 0
	for r, n := utf8.DecodeRune(data); r != utf8.RuneError || n != 1; r, n = utf8.DecodeRune(data[at:]) {
		at += n
	}
	return at
}

// finish completes what a reader of a format has read.
func (d *Dataset) finish(name string, f Format) error {
	d.makePlain(name)
	d.warnOfMissing()
	if d.Measurements() == 0 {
		return fmt.Errorf("%s: holds no measurement (read as %s)", name, f.Info)
	}
	if err := d.CheckUnits(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// makePlain makes names visible that others wrote.
func (d *Dataset) makePlain(file string) {
	visible := func(name *string) {
		if shown := plain.Name(*name); shown != *name {
			d.warnf("%s: the name %s has characters that are not visible: is the file damaged?", file, shown)
			*name = shown
		}
	}
	for i := range d.Parameters {
		visible(&d.Parameters[i])
	}
	for _, s := range d.Series {
		if s.CallPath == "" || s.Metric == "" {
			d.warnf("%s: a series has no name of its call path or metric: is the file damaged?", file)
		}
		visible(&s.CallPath)
		visible(&s.Metric)
		visible(&s.Unit)
	}
	d.index = nil // by names
}

// Clean returns text without byte order mark, and with LF at the ends of lines.
func Clean(data []byte) []byte {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if bytes.IndexByte(data, '\r') < 0 {
		return data
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte{'\n'})
	return bytes.ReplaceAll(data, []byte{'\r'}, []byte{'\n'})
}

// lineOf returns the number of the line, from 1, that holds an offset.
func lineOf(data []byte, offset int64) int {
	offset = min(max(offset, 0), int64(len(data)))
	return 1 + bytes.Count(data[:offset], []byte{'\n'})
}

// eachLine calls read with the lines of a text, numbered from 1, and names the place of its error.
func eachLine(name string, data []byte, read func(number int, line string) error) error {
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if err := read(number, strings.TrimSuffix(string(line), "\n")); err != nil {
			return fmt.Errorf("%s:%d: %w", name, number, err)
		}
	}
	return nil
}

// checkNames refuses parameters without a name and names given twice.
func checkNames(parameters []string) error {
	if len(parameters) > MaxParameters {
		return fmt.Errorf("has %d parameters; at most %d are read", len(parameters), MaxParameters)
	}
	for i, p := range parameters {
		if p == "" {
			return fmt.Errorf("has a parameter without a name")
		}
		if slices.Contains(parameters[:i], p) {
			return fmt.Errorf("has the parameter %s twice", p)
		}
	}
	return nil
}
