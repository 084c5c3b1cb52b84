package noise

import (
	"bytes"
	"fmt"
	"strings"

	"slackline/internal/source"
)

// MaxFile is the largest file of noise that is read, in bytes.
const MaxFile = 512 << 20

// Format is a format of files that hold noise.
type Format uint8

// The formats.
const (
	FormatYAML     Format = iota // a profile file
	FormatText                   // start and duration per line, as LogGOPSim reads it
	FormatBinary                 // our own
	FormatNetgauge               // output of Netgauge's pattern noise
	FormatLinux                  // trace of the Linux tracers osnoise and timerlat
)

// String returns the name of the format.
func (f Format) String() string {
	return [...]string{"yaml", "text", "binary", "netgauge", "linux"}[f]
}

// Load reads a file of noise in any format; the content tells which.
func Load(path string) (*Profile, error) { return LoadFrom(source.Disk, path) }

// LoadFrom is Load with the file from a source.
func LoadFrom(from source.Source, path string) (*Profile, error) {
	data, err := readFile(from, path)
	if err != nil {
		return nil, err
	}
	return readAs(from, Sniff(data), path, data)
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

// Read reads the content of a file of noise in any format. The name stands in messages, and is the
// name of a profile that does not say its own.
func Read(name string, data []byte) (*Profile, error) {
	return readAs(source.Disk, Sniff(data), name, data)
}

func readAs(from source.Source, format Format, name string, data []byte) (*Profile, error) {
	switch format {
	case FormatBinary:
		return readBinary(name, data)
	case FormatText:
		return readText(name, data)
	case FormatNetgauge:
		return readNetgauge(name, data)
	case FormatLinux:
		return readLinux(name, data)
	}
	return readYAML(from, name, data)
}

// Sniff tells the format by the content: by the magic bytes, the comments that only one program
// writes, or the first line that is no comment.
func Sniff(data []byte) Format {
	if bytes.HasPrefix(data, []byte(binaryMagic)) {
		return FormatBinary
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
		comment, isComment := strings.CutPrefix(text, "#")
		comment = strings.TrimSpace(comment)
		switch {
		case text == "":
		case isComment && (strings.HasPrefix(comment, "Benchmark Method:") || strings.HasPrefix(comment, "Selfish Benchmark") ||
			strings.HasPrefix(comment, "Fixed Work Quantum") || strings.HasPrefix(comment, "Fixed Time Quantum")):
			return FormatNetgauge
		case isComment && (strings.HasPrefix(comment, "tracer:") || strings.HasPrefix(comment, "entries-in-buffer")):
			return FormatLinux
		case isComment:
			if _, ok := cutPeriodHeader(comment); ok {
				return FormatText
			}
		case isTraceLine(text):
			return FormatLinux
		case strings.ContainsAny(text[:1], "0123456789.-+") && !strings.HasPrefix(text, "- ") && !strings.HasPrefix(text, "---"):
			return FormatText
		case strings.HasPrefix(text, "CPU ") || strings.HasPrefix(text, "cpus="):
			// trace-cmd begins with lines such as "cpus=8" and "CPU 3 is empty".
		default:
			return FormatYAML
		}
	}
	// Comments only, or nothing: a trace without detours lacks its period, and the reader says so.
	if len(bytes.TrimSpace(data)) > 0 {
		return FormatText
	}
	return FormatYAML
}
