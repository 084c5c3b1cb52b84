package paraver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// header reads the first line: the length of the run with its unit, the machine, and the tasks with their threads and nodes.
func (r *reader) header(lines *bufio.Reader) error {
	line, err := lines.ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	r.line = 1
	_, text, ok := strings.Cut(strings.TrimSpace(string(line)), "):")
	if !ok {
		return r.fail("the header has no date")
	}
	length, text, _ := strings.Cut(text, ":")
	r.scale = 1e6 // microseconds, unless a unit is named
	length, unit, named := strings.Cut(length, "_")
	if r.length, ok = number([]byte(length)); !ok || r.length < 0 {
		return r.fail("the length of the run, %q, is not a number", length)
	}
	if named {
		if r.scale, ok = map[string]int64{"ns": 1e3, "us": 1e6, "ms": 1e9}[unit]; !ok {
			return r.fail("the unit of time %q is unknown; it is ns, us or ms", unit)
		}
	}
	if _, after, ok := strings.Cut(text, "):"); ok && !strings.HasPrefix(text, "0:") {
		text = after // nodes and their CPUs
	} else if _, text, ok = strings.Cut(text, ":"); !ok {
		return r.fail("the header ends before the tasks")
	}
	applications, text, _ := strings.Cut(text, ":")
	if applications != "1" {
		return r.fail("the trace has %q applications; only traces of one can be read", applications)
	}
	return r.tasks(text)
}

// tasks reads the list of tasks: their number, and of each its threads and its node.
func (r *reader) tasks(text string) error {
	count, text, _ := strings.Cut(text, "(")
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > maxTasks {
		return r.fail("%q tasks; a number from 1 to %d is expected", count, maxTasks)
	}
	list, rest, closed := strings.Cut(text, ")")
	if !closed {
		return r.fail("the list of tasks has no end")
	}
	if r.announced, err = strconv.Atoi(strings.TrimPrefix(rest, ",")); err != nil {
		r.announced = -1
	}
	if got := strings.Count(list, ",") + 1; got != n {
		return r.fail("a list of %d tasks in a trace of %d", got, n)
	}
	world := make([]int32, 0, n)
	for item := range strings.SplitSeq(list, ",") {
		threads, node, _ := strings.Cut(item, ":")
		t, err := strconv.Atoi(threads)
		if err != nil || t < 1 || t > maxThreads-len(r.Threads) {
			return r.fail("task %d has %q threads", len(r.Tasks)+1, threads)
		}
		at, err := strconv.Atoi(node)
		if err != nil {
			return r.fail("task %d is on node %q", len(r.Tasks)+1, node)
		}
		task := len(r.Tasks)
		r.Tasks = append(r.Tasks, Task{first: len(r.Threads), threads: t, node: at - 1})
		for number := range t {
			r.Threads = append(r.Threads, &Thread{Task: task, Number: number})
		}
		world = append(world, int32(task))
	}
	r.Comms = [][]int32{world}
	return nil
}

// maxLine is how long a line of a .pcf or .row file may be.
const maxLine = 1 << 20

// scanned is why there are no more lines.
func scanned(lines *bufio.Scanner) error {
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("a line is longer than %d MiB", maxLine>>20)
	}
	return lines.Err()
}

// hosts reads the names of nodes from a .row file: levels, each with the number of its names.
//
//	LEVEL NODE SIZE 1
//	node-a
func (r *reader) hosts(row io.Reader) error {
	if row == nil {
		return nil
	}
	var last lastByte
	lines := bufio.NewScanner(io.TeeReader(row, &last))
	lines.Buffer(nil, maxLine)
	var names []string
	level, wanted, got := "", "", 0
	check := func() {
		if level != "" && strconv.Itoa(got) != wanted {
			r.warn("%s: the .row file has %d of %s names of level %s: it is damaged", r.show, got, wanted, level)
		}
	}
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		switch rest, starts := strings.CutPrefix(text, "LEVEL "); {
		case starts:
			check()
			level, wanted, _ = strings.Cut(rest, " SIZE ")
			got = 0
		case text != "":
			if got++; level == "NODE" {
				names = append(names, text)
			}
			if strings.ContainsFunc(text, unicode.IsControl) {
				r.warn("%s: the .row file is damaged: a control character in the name %q of level %s", r.show, text, level)
			}
		}
	}
	check()
	r.warnCut(last, ".row")
	unnamed := 0
	for i := range r.Tasks {
		if node := r.Tasks[i].node; node >= 0 && node < len(names) {
			r.Tasks[i].Host = names[node]
		} else {
			unnamed++
		}
	}
	if unnamed > 0 {
		r.warn("%s: the .row file has no name for the nodes of %d tasks", r.show, unnamed)
	}
	return scanned(lines)
}

// labels are the names of values, by type of event.
type labels map[int64]map[int64]string

// find returns the name of a value: by its own type, or by the one that callers or samples of all levels share.
func (l labels) find(kind, value int64) (label string, ok bool) {
	for _, k := range []int64{kind, kind - kind%100} {
		if label, ok = l[k][value]; ok {
			break
		}
	}
	return label, ok
}

func (l labels) has(kind, value int64) bool {
	_, ok := l.find(kind, value)
	return ok
}

// name names the value of an event, by its number if there is no name.
func (l labels) name(kind, value int64) string {
	if label, ok := l.find(kind, value); ok {
		return label
	}
	if kind == typeFunction {
		return fmt.Sprintf("function %d", value)
	}
	return fmt.Sprintf("MPI call %d of type %d", value, kind)
}

// readLabels reads a .pcf file: lists of types (EVENT_TYPE), and lists of the names of their values (VALUES), which an empty line ends.
func (r *reader) readLabels(pcf io.Reader) (labels, error) {
	all := labels{}
	if pcf == nil {
		return all, nil
	}
	var last lastByte
	lines := bufio.NewScanner(io.TeeReader(pcf, &last))
	lines.Buffer(nil, maxLine)
	values := map[int64]string{} // before the first type: of none
	section := ""
	for lines.Scan() {
		text := bytes.TrimSpace(lines.Bytes())
		switch word := string(text); word {
		case "EVENT_TYPE":
			section, values = word, map[int64]string{}
			continue
		case "VALUES":
			section = word
			continue
		case "":
			section = ""
			continue
		}
		first, rest, _ := bytes.Cut(text, []byte{' '})
		if tab := bytes.IndexByte(first, '\t'); tab >= 0 {
			first, rest = text[:tab], text[tab:]
		}
		rest = bytes.TrimSpace(rest)
		value, ok := number(first)
		switch {
		case !ok && section != "":
			r.warn("%s: the .pcf file is damaged: %q is not a number, in a list of %s", r.show, first, section)
			section = ""
		case !ok:
		case section == "EVENT_TYPE": // color, type, label
			kind, _, _ := strings.Cut(strings.ReplaceAll(string(rest), "\t", " "), " ")
			k, ok := number([]byte(kind))
			if !ok {
				r.warn("%s: the .pcf file is damaged: %q is not the number of a type", r.show, kind)
				break
			}
			if all[k] != nil {
				r.warn("%s: the .pcf file has type %d twice: the last list of its values counts", r.show, k)
			}
			all[k] = values
		case bytes.ContainsFunc(bytes.ReplaceAll(rest, []byte{'\t'}, nil), unicode.IsControl):
			r.warn("%s: the .pcf file is damaged: a control character in the name of value %d", r.show, value)
		case section == "VALUES" && value != 0 && len(rest) > 0:
			name := function(string(rest))
			if before := values[value]; before != "" && before != name {
				r.warn("%s: the .pcf file has two names of value %d of a type: %q and %q", r.show, value, before, name)
			}
			values[value] = name
		}
	}
	r.warnCut(last, ".pcf")
	return all, scanned(lines)
}

// warnCut warns if the last byte of a file is not the end of a line.
func (r *reader) warnCut(last lastByte, suffix string) {
	if last != '\n' && last != 0 {
		r.warn("%s: the %s file ends within a line: it is cut off", r.show, suffix)
	}
}

// lastByte is the last one that was written.
type lastByte byte

func (b *lastByte) Write(p []byte) (int, error) {
	if len(p) > 0 {
		*b = lastByte(p[len(p)-1])
	}
	return len(p), nil
}

// function is the name of a function without the place that follows it in brackets.
func function(label string) string {
	if name, _, ok := strings.Cut(label, " ["); ok && strings.HasSuffix(label, "]") && name != "" {
		return name
	}
	return label
}
