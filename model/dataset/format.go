package dataset

import (
	"bytes"
	"fmt"
	"strings"

	"slackline/internal/plain"
	"slackline/internal/suggest"
	"slackline/model/cube"
)

// Format is a form in which measurements are kept.
type Format struct {
	Name  string // a word, for flags
	About string // what it is called in messages
	// sniff reports whether data, of which head is the beginning, looks like it.
	sniff func(head []byte) bool
	read  func(name string, data []byte) (*Dataset, error)
}

// formats are tried in this order: those with the clearest marks first.
var formats = []Format{
	{"cube", "Cube 4 profile", cube.IsCube, readCube},
	{"slackline", "slackline dataset", sniffOwn, readOwn},
	{"simulation", "result of slackline simulate", sniffSimulation, readSimulation},
	{"profile", "result of slackline profile", sniffProfile, readProfile},
	{"waits", "result of slackline waits", sniffWaits, readWaits},
	{"google", "Google Benchmark JSON", sniffGoogle, readGoogle},
	{"extrap-old", "Extra-P JSON (old)", sniffExtraPOld, readExtraPOld},
	{"extrap-json", "Extra-P JSON", sniffExtraPJSON, readExtraPJSON},
	{"jsonl", "Extra-P JSON lines", sniffLines, readLines},
	{"osu", "OSU micro-benchmarks", sniffOSU, readOSU},
	{"imb", "Intel MPI Benchmarks", sniffIMB, readIMB},
	{"gobench", "go test -bench", sniffGoBench, readGoBench},
	{"measured", "raw data of slackline measure collectives", sniffMeasured, readMeasured},
	{"extrap-text", "Extra-P text", sniffExtraPText, readExtraPText},
	{"csv", "CSV", sniffCSV, readCSV},
}

// binary reports whether files are no text.
func (f *Format) binary() bool { return f.Name == "cube" }

// Formats returns the formats that can be read.
func Formats() []Format { return formats }

// FormatNames returns the words for the formats.
func FormatNames() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return names
}

// headBytes is how much of an input is looked at to tell its format.
const headBytes = 64 << 10

// Sniff tells the format of data by its content.
func Sniff(data []byte) (Format, bool) {
	raw := data[:min(len(data), headBytes)]
	head := Clean(raw)
	for _, f := range formats {
		begin := head
		if f.binary() {
			begin = raw
		}
		if f.sniff(begin) {
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
		ok = false
		for _, known := range formats {
			if known.Name == format {
				f, ok = known, true
			}
		}
		if !ok {
			return nil, f, fmt.Errorf("%q is not a format of measurements%s", format, suggest.Phrase(format, FormatNames()))
		}
	case !ok:
		return nil, f, fmt.Errorf("%s: is no format of measurements that is known; name it with --input, one of %s", name, strings.Join(FormatNames(), ", "))
	}
	if !f.binary() {
		data = Clean(data)
	}
	d, err := f.read(name, data)
	if err != nil && !strings.HasPrefix(err.Error(), name+":") {
		err = fmt.Errorf("%s: %w", name, err) // every reader names its file
	}
	if err != nil {
		return nil, f, err
	}
	d.makePlain()
	d.tellMissing()
	if d.Measurements() == 0 {
		return nil, f, fmt.Errorf("%s: holds no measurement (read as %s)", name, f.About)
	}
	return d, f, nil
}

// makePlain makes names visible that others wrote.
func (d *Dataset) makePlain() {
	for i := range d.Parameters {
		d.Parameters[i] = plain.Name(d.Parameters[i])
	}
	for i := range d.Series {
		s := d.Series[i]
		s.CallPath, s.Metric, s.Unit = plain.Name(s.CallPath), plain.Name(s.Metric), plain.Name(s.Unit)
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

// lineOf returns the number of the line, from 1, in which an offset lies.
func lineOf(data []byte, offset int64) int {
	offset = min(max(offset, 0), int64(len(data)))
	return 1 + bytes.Count(data[:offset], []byte{'\n'})
}

// checkNames refuses parameters that cannot be told apart or spoken of.
func checkNames(parameters []string) error {
	if len(parameters) > MaxParameters {
		return fmt.Errorf("has %d parameters; at most %d are read", len(parameters), MaxParameters)
	}
	for i, p := range parameters {
		if p == "" {
			return fmt.Errorf("has a parameter without a name")
		}
		for _, other := range parameters[:i] {
			if p == other {
				return fmt.Errorf("has the parameter %s twice", p)
			}
		}
	}
	return nil
}
