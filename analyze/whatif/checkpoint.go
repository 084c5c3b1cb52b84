package whatif

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"slackline/model/unit"
)

// Checkpoint holds the finished runs of a series, so that it can go on after an interrupt, with more
// replicas or at further process counts.
//
// As a file it is lines of JSON: the first says which series it is, each of the others holds what is
// known of one process count, or of a part of its replicas.
//
//	{"slackline_replicas":1,"series":[{"name":"input","value":"dissemination"},{"name":"seed","value":"1"}]}
//	{"ranks":1024,"ops":20480,"noiseless_ps":105100000,"first":0,"makespans_ps":[496843000,512010000]}
//
// A makespan of -1 is not known yet.
type Checkpoint struct {
	series []Property
	points map[int]*kept
}

// Property is one of the things that make a series what it is: its input, machine, noise, seed.
// Series with other properties are other series.
type Property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// kept is what is known of a process count.
type kept struct {
	Noiseless unit.Duration
	Ops       int64 // of one run; 0: the run without noise is missing
	makespans []unit.Duration
}

// unknown is the makespan of a replica that has not been run.
const unknown = unit.Duration(-1)

// NewCheckpoint returns an empty checkpoint of the series with these properties.
func NewCheckpoint(series []Property) *Checkpoint {
	return &Checkpoint{series: series, points: map[int]*kept{}}
}

// Replicas is the number of replicas that are finished.
func (c *Checkpoint) Replicas() int {
	n := 0
	for _, p := range c.points {
		for _, m := range p.makespans {
			if m != unknown {
				n++
			}
		}
	}
	return n
}

// at returns what is known of a process count.
func (c *Checkpoint) at(ranks int) *kept {
	p := c.points[ranks]
	if p == nil {
		p = &kept{}
		c.points[ranks] = p
	}
	return p
}

func (k *kept) set(replica int, makespan unit.Duration) {
	for len(k.makespans) <= replica {
		k.makespans = append(k.makespans, unknown)
	}
	k.makespans[replica] = makespan
}

// missing are the replicas below n that have not been run.
func (k *kept) missing(n int) []int {
	var list []int
	for i := range n {
		if i >= len(k.makespans) || k.makespans[i] == unknown {
			list = append(list, i)
		}
	}
	return list
}

// prefix are the makespans from replica 0 to the first that is missing, at most n.
func (k *kept) prefix(n int) []unit.Duration {
	end := slices.Index(k.makespans, unknown)
	if end < 0 {
		end = len(k.makespans)
	}
	return slices.Clone(k.makespans[:min(end, n)])
}

type checkpointHead struct {
	Version int        `json:"slackline_replicas"`
	Series  []Property `json:"series"`
}

type checkpointLine struct {
	Ranks     int             `json:"ranks"`
	Ops       int64           `json:"ops"`
	Noiseless unit.Duration   `json:"noiseless_ps"`
	First     int             `json:"first"`
	Makespans []unit.Duration `json:"makespans_ps"`
}

// checkpointVersion is the version that Write writes and ReadCheckpoint reads.
const checkpointVersion = 1

// lineReplicas bounds the length of a line.
const lineReplicas = 1000

// Write writes the checkpoint.
func (c *Checkpoint) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(checkpointHead{checkpointVersion, c.series}); err != nil {
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
			part := p.makespans[first:min(first+lineReplicas, len(p.makespans))]
			if part == nil {
				part = []unit.Duration{}
			}
			if err := e.Encode(checkpointLine{ranks, p.Ops, p.Noiseless, first, part}); err != nil {
				return err
			}
		}
	}
	return nil
}

// longestLine is the longest line of a checkpoint that is read: machines are described in full.
const longestLine = 1 << 20

// ReadCheckpoint reads a checkpoint and wants it to be of the series with these properties. The name
// stands in messages.
func ReadCheckpoint(name string, r io.Reader, series []Property) (*Checkpoint, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 1<<16), longestLine)
	fail := func(line int, format string, args ...any) (*Checkpoint, error) {
		return nil, fmt.Errorf("%s:%d: %s", name, line, fmt.Sprintf(format, args...))
	}
	var head checkpointHead
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &head) != nil || head.Version == 0 {
		if err := lines.Err(); err != nil {
			return fail(1, "%v", err)
		}
		return fail(1, "this is no file of replicas; give another name, or remove it")
	}
	if head.Version != checkpointVersion {
		return fail(1, "the file has version %d, this slackline reads %d", head.Version, checkpointVersion)
	}
	if differs := difference(head.Series, series); differs != "" {
		return nil, fmt.Errorf("%s holds replicas of another series: %s; give another file, or remove it", name, differs)
	}
	c := NewCheckpoint(series)
	for line := 2; lines.Scan(); line++ {
		var l checkpointLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return fail(line, "%v", err)
		}
		if err := c.add(&l); err != nil {
			return fail(line, "%v", err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// add takes over a line of a file.
func (c *Checkpoint) add(l *checkpointLine) error {
	if l.Ranks < 1 || l.Ops < 1 || l.Noiseless < 0 {
		return fmt.Errorf("a number is out of range")
	}
	p := c.at(l.Ranks)
	if l.First != len(p.makespans) {
		return fmt.Errorf("begins at replica %d instead of %d of %d ranks", l.First, len(p.makespans), l.Ranks)
	}
	if p.Ops > 0 && (p.Ops != l.Ops || p.Noiseless != l.Noiseless) {
		return fmt.Errorf("contradicts an earlier line about %d ranks", l.Ranks)
	}
	p.Ops, p.Noiseless = l.Ops, l.Noiseless
	for i, m := range l.Makespans {
		if m < unknown {
			return fmt.Errorf("a makespan is negative")
		}
		p.set(l.First+i, m)
	}
	return nil
}

// difference says in which properties two series differ; empty: in none.
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

// withoutReplicas returns a checkpoint that knows the run without noise of one process count, for the
// same program with other noise.
func (c *Checkpoint) withoutReplicas(ranks int) *Checkpoint {
	other := NewCheckpoint(nil)
	p := c.at(ranks)
	*other.at(ranks) = kept{Noiseless: p.Noiseless, Ops: p.Ops}
	return other
}
