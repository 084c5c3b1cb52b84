package whatif

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"slackline/internal/journal"
	"slackline/model/unit"
)

// checkpointHead is the first line of a file.
type checkpointHead struct {
	Version int        `json:"slackline_replicas"`
	Series  []Property `json:"series"`
}

// checkpointLine is each of the other lines.
type checkpointLine struct {
	Ranks     int           `json:"ranks"`
	Ops       int64         `json:"ops"`
	Noiseless picoseconds   `json:"noiseless_ps"`
	First     int           `json:"first"`
	Makespans []picoseconds `json:"makespans_ps"`
}

// picoseconds are in files as whole numbers.
type picoseconds unit.Duration

const (
	// checkpointVersion is the version that Write writes and ReadCheckpoint reads.
	checkpointVersion = 2
	// withoutSums is the version that had no checksums. It is not read: damage would not be noticed.
	withoutSums = 1

	// lineReplicas bounds the length of a line.
	lineReplicas = 1000
	// longestLine is the longest line that is read: machines are described in full.
	longestLine = 1 << 20
)

// Write writes the checkpoint as lines of JSON: the first describes the series, each of the others
// holds what is known of one process count, or of a part of its replicas.
//
//	{"slackline_replicas":2,"series":[{"name":"input","value":"ring"},{"name":"seed","value":"1"}],"crc32c":"fba69141"}
//	{"ranks":8,"ops":48,"noiseless_ps":31530000,"first":0,"makespans_ps":[31530000,-1],"crc32c":"5535352e"}
//
// A makespan of -1 is not known yet. The last field is the CRC-32C of the file so far, without the
// checksums of the lines, the ends of lines, and what closes the line.
func (c *Checkpoint) Write(w io.Writer) error {
	var sum journal.Chain
	add := func(v any) error {
		line, err := sum.Encode(v)
		if err == nil {
			_, err = w.Write(line)
		}
		return err
	}
	if err := add(checkpointHead{checkpointVersion, c.series}); err != nil {
		return err
	}
	var counts []int
	for ranks, p := range c.points {
		if p.Ops > 0 {
			counts = append(counts, ranks)
		}
	}
	slices.Sort(counts)
	for _, ranks := range counts {
		p := c.points[ranks]
		for first := 0; first == 0 || first < len(p.makespans); first += lineReplicas {
			part := []picoseconds{}
			for _, m := range p.makespans[first:min(first+lineReplicas, len(p.makespans))] {
				part = append(part, picoseconds(m))
			}
			if err := add(checkpointLine{ranks, p.Ops, picoseconds(p.Noiseless), first, part}); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkpointReader reads the lines of a file.
type checkpointReader struct {
	name  string
	lines *bufio.Scanner
	line  int // number of the last one
	sum   journal.Chain
}

// damaged is what to do about a line that is not as it was written.
const damaged = "the line is damaged, or lines before it were moved, added or removed; " +
	"remove this line and all after it, and what they held is run again"

// ReadCheckpoint reads a checkpoint and wants it to be of the series with these properties. The name
// is used in messages. A file that differs from what was written is refused, unless it only lacks its
// end; see Torn.
func ReadCheckpoint(name string, r io.Reader, series []Property) (*Checkpoint, error) {
	in := checkpointReader{name: name, lines: bufio.NewScanner(r)}
	in.lines.Buffer(make([]byte, 0, 1<<16), longestLine)
	in.lines.Split(splitLines)
	if err := in.head(series); err != nil {
		return nil, err
	}
	c := NewCheckpoint(series)
	for {
		text, whole, err := in.next()
		if err != nil {
			return nil, err
		}
		if text == nil {
			return c, nil
		}
		body, ok := in.sum.Check(text)
		if !ok {
			if !whole { // it is the last one
				c.torn = in.line
				return c, nil
			}
			return nil, in.fail(damaged)
		}
		var l checkpointLine
		if err = json.Unmarshal(body, &l); err == nil {
			err = c.add(&l)
		}
		if err != nil {
			return nil, in.fail("%v; remove this line and all after it, or give another file", err)
		}
	}
}

func (in *checkpointReader) fail(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", in.name, max(in.line, 1), fmt.Sprintf(format, args...))
}

// splitLines is bufio.ScanLines, but leaves the ends of the lines.
func splitLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// next returns the next line, or nil after the last one, and whether it is ended.
func (in *checkpointReader) next() (text []byte, whole bool, err error) {
	in.line++
	if in.lines.Scan() {
		text, whole = bytes.CutSuffix(in.lines.Bytes(), []byte("\n"))
		return text, whole, nil
	}
	switch err := in.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, false, in.fail("the line has more than %d bytes; %s", longestLine, damaged)
	case err != nil:
		return nil, false, in.fail("%v", err)
	}
	return nil, true, nil
}

// head reads the first line.
func (in *checkpointReader) head(series []Property) error {
	text, _, err := in.next()
	if err != nil {
		return err
	}
	var head checkpointHead
	body, ok := in.sum.Check(text)
	if !ok {
		switch {
		case json.Unmarshal(text, &head) == nil && head.Version == withoutSums && !bytes.Contains(text, []byte(journal.SumField)):
			return in.fail("the file has version %d, which has no checksums, this slackline reads %d; remove it, or give another file",
				withoutSums, checkpointVersion)
		case bytes.HasPrefix(text, []byte(`{"slackline_replicas"`)):
			return in.fail("the line is damaged: the series of these replicas is unknown; remove the file, or give another one")
		}
		return in.fail("this is not a file of replicas; give another name, or remove it")
	}
	if err := json.Unmarshal(body, &head); err != nil || head.Version == 0 {
		return in.fail("this is not a file of replicas; give another name, or remove it")
	}
	if head.Version != checkpointVersion {
		return in.fail("the file has version %d, this slackline reads %d; remove it, or give another file", head.Version, checkpointVersion)
	}
	if differs := difference(head.Series, series); differs != "" {
		return fmt.Errorf("%s holds replicas of another series: %s; give another file, or remove it", in.name, differs)
	}
	return nil
}

// Torn is the line at which the file ended in the middle, as after a full disk; 0 if it did not. That
// line is dropped, and the replicas that it held are run again.
func (c *Checkpoint) Torn() (line int) { return c.torn }

// add takes over a line of a file.
func (c *Checkpoint) add(l *checkpointLine) error {
	if l.Ranks < 1 || l.Ops < 1 || l.Noiseless < 0 {
		return errors.New("a number is out of range")
	}
	p := c.at(l.Ranks)
	if l.First != len(p.makespans) {
		return fmt.Errorf("begins at replica %d instead of %d of %d ranks", l.First, len(p.makespans), l.Ranks)
	}
	if p.Ops > 0 && (p.Ops != l.Ops || p.Noiseless != unit.Duration(l.Noiseless)) {
		return fmt.Errorf("contradicts an earlier line about %d ranks", l.Ranks)
	}
	p.Ops, p.Noiseless = l.Ops, unit.Duration(l.Noiseless)
	for i, m := range l.Makespans {
		if unit.Duration(m) < unknown {
			return errors.New("a makespan is negative")
		}
		p.set(l.First+i, unit.Duration(m))
	}
	return nil
}

// difference describes in which properties two series differ; empty: in none.
func difference(file, wanted []Property) string {
	var parts []string
	for _, w := range wanted {
		i := slices.IndexFunc(file, func(p Property) bool { return p.Name == w.Name })
		if i >= 0 && file[i].Value == w.Value {
			continue
		}
		has := ""
		if i >= 0 {
			has = file[i].Value
		}
		parts = append(parts, differenceOf(w.Name, has, w.Value))
	}
	for _, f := range file {
		if !slices.ContainsFunc(wanted, func(p Property) bool { return p.Name == f.Name }) {
			parts = append(parts, differenceOf(f.Name, f.Value, ""))
		}
	}
	return strings.Join(parts, ", ")
}

// differenceOf names both values if they are short.
func differenceOf(name, has, wanted string) string {
	short := func(s string) bool { return utf8.RuneCountInString(s) <= 60 && !strings.Contains(s, "\n") }
	if !short(has) || !short(wanted) {
		return "its " + name + " differs"
	}
	return fmt.Sprintf("its %s is %s, not %s", name, orNone(has), orNone(wanted))
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
