package noise

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"iter"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"slackline/internal/yamlfile"
	"slackline/model/unit"
)

var textFormat = Format{
	Name: "text", Info: "trace as text, as LogGOPSim reads it", Suffixes: []string{".txt"}, Text: true,
	Sniff: func(line string) bool {
		if text, ok := comment(line); ok {
			_, isHeader := cutPeriodHeader(text)
			return isHeader
		}
		return strings.ContainsAny(line[:1], "0123456789.-+") && !hasAnyPrefix(line, "- ", "---")
	},
	Read:  readText,
	Write: func(w io.Writer, _ *Profile, d *Detours) error { return WriteText(w, d) },
}

// maxNS is the largest number of nanoseconds that fits into picoseconds.
const maxNS = math.MaxInt64 / 1000

// periodHeader is the comment that gives the period of a trace in nanoseconds.
const periodHeader = "period_ns"

// cutPeriodHeader returns what follows the header in a comment.
func cutPeriodHeader(comment string) (string, bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(comment), periodHeader)
	if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' && rest[0] != ':' && rest[0] != '=' {
		return "", false
	}
	return strings.TrimSpace(strings.TrimLeft(rest, " \t:=")), true
}

// lineScanner goes through the lines of a text in memory.
type lineScanner struct {
	file string
	text []byte
	line int
}

// lines are the lines without the blanks around them.
func (s *lineScanner) lines() iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range bytes.Lines(s.text) {
			if s.line++; !yield(string(bytes.TrimSpace(line))) {
				return
			}
		}
	}
}

func (s *lineScanner) errorf(format string, args ...any) error {
	return &FileError{s.file, s.line, fmt.Sprintf(format, args...)}
}

// readText reads the text that LogGOPSim reads: a line "start<TAB>duration" in nanoseconds for each
// detour, with "# period_ns N" for the period; other lines with # are comments. A fraction is
// rounded half up to whole nanoseconds. Without the header the period is the start of the last
// line, which is then no detour.
func readText(name string, data []byte, _ openTrace) (*Profile, error) {
	s := &lineScanner{file: name, text: bytes.TrimPrefix(data, []byte("\ufeff"))}
	t := &Trace{}
	headerLine := 0
	var lines []int32 // of each detour
	for text := range s.lines() {
		if text == "" {
			continue
		}
		if comment, ok := strings.CutPrefix(text, "#"); ok {
			value, isHeader := cutPeriodHeader(comment)
			if !isHeader {
				continue
			}
			if headerLine > 0 {
				return nil, s.errorf("gives the period again; line %d has it", headerLine)
			}
			headerLine = s.line
			var err error
			if t.Period, err = parseNS(value); err != nil || t.Period <= 0 {
				return nil, s.errorf("the period %s is not a number of nanoseconds above 0", yamlfile.Quote(value))
			}
			continue
		}
		d, err := parseTextLine(text)
		if err != nil {
			return nil, s.errorf("%s", err)
		}
		if len(t.List) == MaxDetours {
			return nil, s.errorf("has more than %d detours", MaxDetours)
		}
		t.List = append(t.List, d)
		lines = append(lines, int32(s.line))
	}
	if headerLine == 0 {
		if len(t.List) == 0 {
			return nil, s.errorf("no detours and no period; give the line \"# %s N\"", periodHeader)
		}
		last := len(t.List) - 1
		t.Period, t.List = t.List[last].Start, t.List[:last]
		if t.Period <= 0 {
			return nil, s.errorf("without \"# %s N\" the start of the last line is the period; it must be above 0", periodHeader)
		}
	}
	for i := range t.List {
		if err := checkDetour(t.Period, t.List, i); err != nil {
			return nil, &FileError{name, int(lines[i]), "the detour " + err.Error()}
		}
	}
	return traceProfile(name, "Trace read from a text file.", t)
}

func parseTextLine(text string) (d Detour, err error) {
	words := strings.Fields(text)
	if len(words) != 2 {
		return d, fmt.Errorf("%s is not \"start<TAB>duration\" in ns", yamlfile.Quote(text))
	}
	if d.Start, err = parseNS(words[0]); err != nil {
		return d, fmt.Errorf("start %w", err)
	}
	if d.Length, err = parseNS(words[1]); err != nil {
		return d, fmt.Errorf("duration %w", err)
	}
	return d, nil
}

// parseNS reads a number of nanoseconds of at least 0, rounds it half up to a whole one, and
// returns picoseconds.
func parseNS(text string) (int64, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	if whole+fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return 0, fmt.Errorf("%s is not a number of nanoseconds of at least 0", yamlfile.Quote(text))
	}
	whole = cmp.Or(whole, "0")
	ns, err := strconv.ParseUint(whole, 10, 63)
	if fraction != "" && fraction[0] >= '5' {
		ns++
	}
	if err != nil || ns > maxNS {
		return 0, fmt.Errorf("%s is above %d ns", yamlfile.Quote(text), uint64(maxNS))
	}
	return int64(ns) * 1000, nil
}

// traceProfile makes the profile of a trace that was read; the name comes from the file.
func traceProfile(file, note string, t *Trace) (*Profile, error) {
	base := filepath.Base(file)
	p := &Profile{
		Name:  strings.TrimSuffix(base, filepath.Ext(base)),
		Note:  note,
		Parts: []Part{{Label: "noise", Kind: KindTrace, Trace: t}},
	}
	if err := t.check(); err != nil {
		return nil, &FileError{file, 0, strings.TrimPrefix(err.Error(), "noise: ")}
	}
	return p, nil
}

// WriteText writes a trace as LogGOPSim reads it, with the period in the header. Times that are no
// whole nanoseconds are rounded half up; the binary format keeps them.
func WriteText(w io.Writer, d *Detours) error {
	out := bufio.NewWriter(w)
	period := roundNS(d.period)
	if period <= 1 {
		return fmt.Errorf("noise: a period of %d ps is too short for a text file; write the binary format", d.period)
	}
	fmt.Fprintf(out, "# %s %d\n", periodHeader, period)
	var buf []byte
	for _, x := range d.list {
		// What lies close to the end of the period must not be rounded to it.
		buf = strconv.AppendInt(buf[:0], min(roundNS(x.Start), period-1), 10)
		buf = append(buf, '\t')
		buf = strconv.AppendInt(buf, min(roundNS(x.Length), period-1), 10)
		out.Write(append(buf, '\n')) // errors stay until Flush
	}
	return out.Flush()
}

// roundNS rounds picoseconds half up to nanoseconds.
func roundNS(ps int64) int64 {
	ns := ps / 1000
	if ps%1000 >= 500 {
		ns++
	}
	return ns
}

// nsText prints picoseconds as nanoseconds.
func nsText(ps int64) string {
	if ps < 0 {
		return strconv.FormatFloat(float64(ps)/1000, 'g', -1, 64)
	}
	return unit.Duration(ps).NS()
}
