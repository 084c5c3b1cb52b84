package trace

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// Formats of viewers of call stacks and flame graphs. They have calls and their times, but neither messages nor collectives.

var foldedFormat = Format{
	Name: "folded", Noun: "folded stacks", Info: "call stacks for flamegraph.pl and its relatives: time by rank and call path, in nanoseconds",
	Suffixes: []string{".folded"}, Text: true, Stream: streamOf(writeFolded, onlyCalls),
}

var speedscopeFormat = Format{
	Name: "speedscope", Noun: "a speedscope file", Info: "calls of each rank and thread over time for speedscope.app",
	Suffixes: []string{".speedscope.json"}, Text: true, Stream: streamOf(writeSpeedscope, onlyCalls),
}

var pprofFormat = Format{
	Name: "pprof", Noun: "a pprof profile", Info: "time and calls by rank and call path for pprof",
	Suffixes: []string{".pprof", ".pb.gz"}, Stream: streamOf(writePprof, onlyCalls),
}

var hatchetFormat = Format{
	Name: "hatchet", Noun: "a Hatchet literal", Info: "tree of call paths with time and calls for Hatchet (GraphFrame.from_literal)",
	Suffixes: []string{".hatchet.json"}, Text: true, Stream: streamOf(writeHatchet, onlyCalls),
}

// onlyCalls is what formats without messages lose.
const onlyCalls = "call stacks have no messages and no collectives; these are left out"

// streamOf makes a writer of traces of one of timelines. If there are messages or collectives it warns of their loss; empty: none are lost.
func streamOf(write func(io.Writer, *timeline.Timeline, WriteOptions) error,
	loss string) func(io.Writer, *Trace, WriteOptions) ([]string, error) {
	return func(w io.Writer, t *Trace, o WriteOptions) ([]string, error) {
		tl, err := ToTimeline(t, TimelineOptions{Strict: o.Strict, Partial: o.Partial, Threads: o.Threads, Interrupt: o.Interrupt})
		if err != nil {
			return nil, err
		}
		warnings := append(tl.Problems.Notes, tl.Circumstances()...)
		if missing := tl.Problems.MissingRanks; len(missing) > 0 {
			warnings = append(warnings, fmt.Sprintf("%d of %d ranks left nothing, the first is rank %d: they are not in what is written",
				len(missing), tl.Ranks, missing[0]))
		}
		if loss != "" && len(tl.Messages)+len(tl.Collectives) > 0 {
			warnings = append(warnings, loss)
		}
		return warnings, write(w, tl, o)
	}
}

// stackTime is the time of a call path without what it calls, and its calls.
type stackTime struct {
	path  timeline.PathID
	own   unit.Duration
	calls int64
}

// eachRank calls visit with the times by call path of every rank, in the order of the paths.
func eachRank(tl *timeline.Timeline, o WriteOptions, visit func(rank int, list []stackTime) error) error {
	own, calls := make([]unit.Duration, len(tl.Paths)), make([]int64, len(tl.Paths))
	for first := 0; first < len(tl.Locations); {
		last := first
		for last < len(tl.Locations) && tl.Locations[last].Rank == tl.Locations[first].Rank {
			addOwn(&tl.Locations[last].Calls, own, calls)
			last++
		}
		var list []stackTime
		for path := 1; path < len(own); path++ {
			if calls[path] > 0 {
				list = append(list, stackTime{timeline.PathID(path), own[path], calls[path]})
			}
		}
		if err := o.interrupted(); err != nil {
			return err
		}
		if err := visit(tl.Locations[first].Rank, list); err != nil {
			return err
		}
		clear(own)
		clear(calls)
		first = last
	}
	return nil
}

// addOwn adds the time of each call, without that of the calls inside it.
func addOwn(c *timeline.Calls, own []unit.Duration, calls []int64) {
	var open []int32
	for i := range c.Len() {
		for len(open) > 0 && c.Skip[open[len(open)-1]] <= int32(i) {
			open = open[:len(open)-1]
		}
		d := c.Leave[i] - c.Enter[i]
		own[c.Path[i]] += d
		calls[c.Path[i]]++
		if len(open) > 0 {
			own[c.Path[open[len(open)-1]]] -= d
		}
		open = append(open, int32(i))
	}
}

// stackOf are the names of a call path, the outermost first.
func stackOf(tl *timeline.Timeline, path timeline.PathID) []string {
	names := make([]string, tl.Paths[path].Depth)
	for ; path != 0; path = tl.Paths[path].Parent {
		names[tl.Paths[path].Depth-1] = tl.Regions[tl.Paths[path].Region].Name
	}
	return names
}

var foldedNames = strings.NewReplacer(";", ",", "\n", " ", "\r", " ")

// writeFolded writes a line for each call path of each rank.
func writeFolded(w io.Writer, tl *timeline.Timeline, o WriteOptions) error {
	out := bufio.NewWriter(w)
	err := eachRank(tl, o, func(rank int, list []stackTime) error {
		for _, s := range list {
			if s.own < unit.Nanosecond {
				continue
			}
			fmt.Fprintf(out, "rank %d", rank)
			for _, name := range stackOf(tl, s.path) {
				out.WriteString(";" + foldedNames.Replace(name))
			}
			fmt.Fprintf(out, " %d\n", s.own/unit.Nanosecond)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// writeHatchet writes the tree of call paths as Hatchet's literals have it: a list of nodes with their frame, metrics and children. Times
// are in seconds, over all ranks, and of the rank that spent most.
func writeHatchet(w io.Writer, tl *timeline.Timeline, o WriteOptions) error {
	n := len(tl.Paths)
	own, inclusive, most, calls := make([]unit.Duration, n), make([]unit.Duration, n), make([]unit.Duration, n), make([]int64, n)
	err := eachRank(tl, o, func(_ int, list []stackTime) error {
		for _, s := range list {
			own[s.path] += s.own
			most[s.path] = max(most[s.path], s.own)
			calls[s.path] += s.calls
		}
		return nil
	})
	if err != nil {
		return err
	}
	children := make([][]timeline.PathID, n)
	for path := n - 1; path > 0; path-- { // a path comes after the one that it belongs to
		parent := tl.Paths[path].Parent
		inclusive[path] += own[path]
		inclusive[parent] += inclusive[path]
		if inclusive[path] > 0 || calls[path] > 0 || len(children[path]) > 0 {
			children[parent] = append(children[parent], timeline.PathID(path))
		}
	}
	out := bufio.NewWriter(w)
	var nodes func(of timeline.PathID)
	nodes = func(of timeline.PathID) {
		out.WriteString("[")
		for i, path := range slices.Backward(children[of]) {
			r := &tl.Regions[tl.Paths[path].Region]
			name, _ := json.Marshal(r.Name) // of a string: never fails
			fmt.Fprintf(out, "%s\n{\"frame\":{\"name\":%s,\"type\":\"function\"},\"metrics\":{\"time\":%s,\"time (inc)\":%s,\"time (max rank)\":%s,"+
				"\"calls\":%d},\"children\":", comma(len(children[of])-1-i), name, seconds(own[path]), seconds(inclusive[path]), seconds(most[path]),
				calls[path])
			nodes(path)
			out.WriteString("}")
		}
		out.WriteString("]")
	}
	nodes(0)
	out.WriteString("\n")
	return out.Flush()
}

// seconds writes a time in seconds with all its digits.
func seconds(d unit.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	return fmt.Sprintf("%s%d.%012d", sign, d/unit.Second, d%unit.Second)
}

// writeSpeedscope writes the calls of each location as a profile of events.
func writeSpeedscope(w io.Writer, tl *timeline.Timeline, o WriteOptions) error {
	out := bufio.NewWriter(w)
	quoted := func(text string) string {
		data, _ := json.Marshal(text) // of a string: never fails
		return string(data)
	}
	out.WriteString(`{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"slackline","shared":{"frames":[`)
	for i := range tl.Regions {
		r := &tl.Regions[i]
		fmt.Fprintf(out, `%s{"name":%s`, comma(i), quoted(r.Name))
		if r.File != "" {
			fmt.Fprintf(out, `,"file":%s,"line":%d`, quoted(r.File), r.Line)
		}
		out.WriteString("}")
	}
	out.WriteString("]},\"profiles\":[")
	for i := range tl.Locations {
		if err := o.interrupted(); err != nil {
			return err
		}
		l := &tl.Locations[i]
		name := fmt.Sprintf("rank %d", l.Rank)
		if l.Thread > 0 {
			name += fmt.Sprintf(", thread %d", l.Thread)
		}
		fmt.Fprintf(out, "%s\n{\"type\":\"evented\",\"name\":%s,\"unit\":\"nanoseconds\",\"startValue\":%s,\"endValue\":%s,\"events\":[",
			comma(i), quoted(name), nanoseconds(tl.Start), nanoseconds(tl.End))
		writeOpenings(out, tl, &l.Calls)
		out.WriteString("]}")
	}
	out.WriteString("]}\n")
	return out.Flush()
}

// writeOpenings writes when calls of a location are entered and left.
func writeOpenings(out *bufio.Writer, tl *timeline.Timeline, c *timeline.Calls) {
	var open []int32
	events := 0
	event := func(kind string, call int32, at unit.Duration) {
		fmt.Fprintf(out, `%s{"type":"%s","frame":%d,"at":%s}`, comma(events), kind, tl.Paths[c.Path[call]].Region, nanoseconds(at))
		events++
	}
	leave := func(next int32) {
		for n := len(open); n > 0 && c.Skip[open[n-1]] <= next; n = len(open) {
			event("C", open[n-1], c.Leave[open[n-1]])
			open = open[:n-1]
		}
	}
	for i := range int32(c.Len()) {
		leave(i)
		event("O", i, c.Enter[i])
		open = append(open, i)
	}
	leave(int32(c.Len()))
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

// nanoseconds writes a time in nanoseconds with all its digits.
func nanoseconds(d unit.Duration) string {
	if d%unit.Nanosecond == 0 {
		return fmt.Sprint(int64(d / unit.Nanosecond))
	}
	return fmt.Sprintf("%d.%03d", d/unit.Nanosecond, d%unit.Nanosecond)
}

// Fields of profile.proto of pprof.
const (
	profileSampleType = 1
	profileSample     = 2
	profileLocation   = 4
	profileFunction   = 5
	profileString     = 6
	profileDuration   = 10
)

// pprofWriter collects the names of a profile.
type pprofWriter struct {
	out     protoMessage
	strings map[string]uint64
	list    []string
}

// name is the number of a text.
func (p *pprofWriter) name(text string) uint64 {
	id, known := p.strings[text]
	if !known {
		id = uint64(len(p.list))
		p.strings[text] = id
		p.list = append(p.list, text)
	}
	return id
}

// writePprof writes a profile with a sample for each call path of each rank. Functions are regions.
func writePprof(w io.Writer, tl *timeline.Timeline, o WriteOptions) error {
	p := &pprofWriter{strings: map[string]uint64{}}
	p.name("")
	for _, kind := range [][2]string{{"calls", "count"}, {"time", "nanoseconds"}} {
		var m protoMessage
		m.uint(1, p.name(kind[0]))
		m.uint(2, p.name(kind[1]))
		p.out.bytes(profileSampleType, m.b)
	}
	err := eachRank(tl, o, func(rank int, list []stackTime) error {
		for _, s := range list {
			var places, sample, label protoMessage
			for path := s.path; path != 0; path = tl.Paths[path].Parent { // the innermost first
				places.b = binary.AppendUvarint(places.b, uint64(tl.Paths[path].Region)+1)
			}
			values := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(s.calls)), uint64(max(s.own, 0)/unit.Nanosecond))
			label.uint(1, p.name("rank"))
			label.uint(3, uint64(rank))
			sample.bytes(1, places.b)
			sample.bytes(2, values)
			sample.bytes(3, label.b)
			p.out.bytes(profileSample, sample.b)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range tl.Regions {
		r := &tl.Regions[i]
		var place, line, function protoMessage
		line.uint(1, uint64(i)+1)
		line.uint(2, uint64(max(r.Line, 0)))
		place.uint(1, uint64(i)+1)
		place.bytes(4, line.b)
		p.out.bytes(profileLocation, place.b)
		function.uint(1, uint64(i)+1)
		function.uint(2, p.name(r.Name))
		function.uint(3, p.name(r.Name))
		function.uint(4, p.name(r.File))
		p.out.bytes(profileFunction, function.b)
	}
	for _, text := range p.list {
		p.out.string(profileString, text)
	}
	p.out.uint(profileDuration, uint64((tl.End-tl.Start)/unit.Nanosecond))
	zip := gzip.NewWriter(w)
	if _, err := zip.Write(p.out.b); err != nil {
		return err
	}
	return zip.Close()
}
