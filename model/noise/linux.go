package noise

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"slackline/internal/yamlfile"
)

var linuxFormat = Format{
	Name: "linux", Info: "trace of the Linux tracers osnoise and timerlat", Text: true,
	Sniff: func(line string) bool {
		if text, ok := comment(line); ok {
			return hasAnyPrefix(text, "tracer:", "entries-in-buffer")
		}
		_, ok := parseTraceLine(line)
		return ok
	},
	Read: readLinux,
}

// readLinux reads a trace of the Linux tracers osnoise and timerlat, as written in the file
// "trace" of tracefs or as trace-cmd report prints it. Of each line
//
//	TASK-PID [CPU] FLAGS TIMESTAMP: WHAT
//
// these kinds of WHAT are read, all others are passed over:
//
//	irq_noise: local_timer:236 start 5789.857529929 duration 1845 ns     (softirq_noise, thread_noise, nmi_noise)
//	sample_threshold: start 5789.858404555 duration 8812 ns interferences 2
//	1000000 190 99.98100 9 18 0 1007 18 1                                 (the summary of a sample)
//	#1 context irq timer_latency 932 ns                                   (and context thread)
//
// The durations of the kernel's noise events are net: what interrupted an interruption is not
// counted there. So that the time without CPU is the sum of all, the outer one is made longer by what
// came in between. What a sample_threshold has beyond the events in it counts as hardware, or, with
// interferences, as entry and exit. A timer latency counts as a detour from the moment when the
// timer was due. Summaries are used only if a CPU has nothing else: the longest detour of a sample
// is given, the others share the rest evenly. Several CPUs become one trace, one after the other.
func readLinux(name string, data []byte, _ openTrace) (*Profile, error) {
	r := &linuxReader{lineScanner: lineScanner{file: name, text: data}, label: map[string]int32{}, cpus: map[int]*linuxCPU{}}
	for text := range r.lines() {
		if err := r.readLine(text); err != nil {
			return nil, err
		}
	}
	return r.profile()
}

type linuxReader struct {
	lineScanner
	labels []string
	label  map[string]int32
	cpus   map[int]*linuxCPU
	events int // of all CPUs
	lost   int // lines that say that events were lost
	other  int // lines that are not events
	gaps   int // activations of timers that are missing, or lack their interrupt
}

// linuxCPU is what a trace says about one CPU, times in nanoseconds.
type linuxCPU struct {
	events     []linuxEvent
	summaries  []linuxSummary
	irqID      string // activation whose thread has not been seen yet
	irqTime    int64
	irqLatency int64
	last       int // activation
	time       int64
	what       string // of the last line
}

type linuxEvent struct {
	start, end int64
	label      int32
	net        bool // the length lacks what came in between
}

type linuxSummary struct {
	at                             int64 // end of the sample
	runtime, noise, longest, count int64
}

// traceLine is a line of a trace.
type traceLine struct {
	cpu  int
	time int64 // ns
	what string
}

// parseTraceLine takes a line apart. Task names may hold blanks, so the CPU in brackets leads.
func parseTraceLine(text string) (l traceLine, ok bool) {
	for rest := text; ; {
		_, after, found := strings.Cut(rest, "[")
		if !found {
			return l, false
		}
		number, tail, found := strings.Cut(after, "]")
		if !found {
			return l, false
		}
		cpu, err := strconv.ParseUint(number, 10, 20)
		if err != nil {
			rest = after
			continue
		}
		l.cpu = int(cpu)
		tail = strings.TrimLeft(tail, " \t")
		// The flags may be missing.
		for range 2 {
			word, next, _ := strings.Cut(tail, " ")
			next = strings.TrimLeft(next, " \t")
			if stamp, isStamp := strings.CutSuffix(word, ":"); isStamp && strings.Contains(stamp, ".") {
				l.time, ok = parseSeconds(stamp)
				l.what = next
				return l, ok
			}
			tail = next
		}
		return l, false
	}
}

// parseSeconds reads seconds with up to nine decimals as nanoseconds.
func parseSeconds(text string) (int64, bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	if len(fraction) > 9 {
		return 0, false
	}
	s, err1 := strconv.ParseUint(whole, 10, 32)
	ns, err2 := strconv.ParseUint(fraction+"000000000"[len(fraction):], 10, 32)
	return int64(s)*1e9 + int64(ns), err1 == nil && err2 == nil
}

func (r *linuxReader) readLine(text string) error {
	if strings.HasPrefix(text, "CPU:") && strings.Contains(text, "LOST") {
		r.lost++
		return nil
	}
	l, ok := parseTraceLine(text)
	if !ok {
		switch {
		case text == "" || text[0] == '#' || isTraceCmdHeader(text):
		case isNoiseEvent(text) || strings.Contains(text, "[") && strings.Contains(text, "]"):
			return r.errorf("%s is not \"TASK-PID [CPU] FLAGS TIMESTAMP: WHAT\"", yamlfile.Quote(text))
		default:
			r.other++
		}
		return nil
	}
	if r.events++; r.events > MaxDetours/2 {
		return r.errorf("has more than %d events; cut it", MaxDetours/2)
	}
	cpu := r.cpus[l.cpu]
	if cpu == nil {
		cpu = &linuxCPU{}
		r.cpus[l.cpu] = cpu
	}
	switch {
	case l.time < cpu.time:
		return r.errorf("is at %d ns, but the line before it of CPU %d at %d: lines are not in the order of time", l.time, l.cpu, cpu.time)
	case l.time == cpu.time && l.what == cpu.what:
		return r.errorf("%s is there twice", yamlfile.Quote(text))
	}
	cpu.time, cpu.what = l.time, l.what
	kind, rest, _ := strings.Cut(l.what, " ")
	rest = strings.TrimLeft(rest, " ")
	switch kind {
	case "irq_noise:", "softirq_noise:", "thread_noise:", "nmi_noise:", "sample_threshold:":
		return r.readEvent(cpu, strings.TrimSuffix(kind, ":"), rest)
	case "osnoise:", "timerlat:": // as trace-cmd names the lines of the tracer itself
		kind, rest, _ = strings.Cut(rest, " ")
	}
	words := strings.Fields(rest)
	switch {
	case strings.HasPrefix(kind, "#") && len(words) == 5 && words[0] == "context" && words[2] == "timer_latency":
		return r.readLatency(cpu, l.time, kind, words[1], words[3])
	case len(words) >= 7 && startsWithDigit(kind):
		return r.readSummary(cpu, l.time, kind, words)
	case startsWithDigit(kind) && len(words) > 0 && looksLikeDetour(kind+" "+words[0]):
		return r.errorf("%s has %d columns; the summary of a sample has at least 8", yamlfile.Quote(l.what), 1+len(words))
	case isNoiseEvent(l.what) || strings.HasPrefix(kind, "#") && strings.HasPrefix(rest, "context"):
		return r.errorf("%s is not an event of osnoise or timerlat", yamlfile.Quote(l.what))
	}
	return nil
}

// isTraceCmdHeader reports whether a line is one of those that trace-cmd begins with, such as "cpus=8" and "CPU 3 is empty".
func isTraceCmdHeader(line string) bool { return hasAnyPrefix(line, "CPU ", "cpus=") }

// isNoiseEvent reports whether a text says what only the events of these tracers say.
func isNoiseEvent(text string) bool {
	return strings.Contains(text, "timer_latency") || strings.Contains(text, "_noise:") || strings.Contains(text, "sample_threshold:") ||
		strings.Contains(text, " start ") && strings.Contains(text, " duration ")
}

// readEvent reads "NAME:NUMBER start SECONDS duration N ns".
func (r *linuxReader) readEvent(cpu *linuxCPU, kind, text string) error {
	name, rest, ok := strings.Cut(" "+text, " start ")
	words := strings.Fields(rest)
	if !ok || len(words) < 4 || words[1] != "duration" || words[3] != "ns" {
		return r.errorf("event %s: %s is not \"start SECONDS duration N ns\"", kind, yamlfile.Quote(text))
	}
	start, ok := parseSeconds(words[0])
	length, err := strconv.ParseUint(words[2], 10, 50)
	if !ok || err != nil {
		return r.errorf("event %s: %s is not \"start SECONDS duration N ns\"", kind, yamlfile.Quote(text))
	}
	e := linuxEvent{start: start, end: start + int64(length), net: kind != "sample_threshold"}
	switch kind {
	case "sample_threshold":
		label := "entry and exit"
		if last := words[len(words)-1]; len(words) >= 6 && last == "0" {
			label = "hardware"
		}
		e.label = r.labelOf(label)
	case "nmi_noise":
		e.label = r.labelOf("nmi")
	default:
		// Of "migration/8:54" the thread on any CPU, of "local_timer:236" the interrupt.
		name = strings.TrimSpace(name)
		if i := strings.LastIndexByte(name, ':'); i >= 0 {
			name = name[:i]
		}
		name, _, _ = strings.Cut(name, "/")
		e.label = r.labelOf(strings.TrimSuffix(kind, "_noise") + " " + name)
	}
	cpu.events = append(cpu.events, e)
	return nil
}

// labelOf returns the index of a label. Beyond some thousand they share one.
func (r *linuxReader) labelOf(name string) int32 {
	const most = 4096
	if i, known := r.label[name]; known {
		return i
	}
	if len(r.labels) >= most {
		if i, known := r.label["other"]; known {
			return i
		}
		name = "other"
	}
	i := int32(len(r.labels))
	r.label[name] = i
	r.labels = append(r.labels, name)
	return i
}

// readLatency reads a line of timerlat: the interrupt of an activation, then its thread.
func (r *linuxReader) readLatency(cpu *linuxCPU, time int64, id, context, latency string) error {
	ns, err := strconv.ParseUint(latency, 10, 50)
	if err != nil {
		return r.errorf("timer latency %s is not a number of ns", yamlfile.Quote(latency))
	}
	if context != "irq" && context != "thread" && context != "user-ret" {
		return r.errorf("the context of a timer latency is %s; there are irq, thread and user-ret", yamlfile.Quote(context))
	}
	number, err := strconv.Atoi(strings.TrimPrefix(id, "#"))
	if err != nil {
		return r.errorf("activation %s is not # and a number", yamlfile.Quote(id))
	}
	if cpu.last > 0 && number != cpu.last+1 && (context == "irq" || number != cpu.last) || context != "irq" && cpu.irqID != id {
		r.gaps++
	}
	cpu.last = number
	if context == "irq" {
		r.endActivation(cpu)
		cpu.irqID, cpu.irqTime, cpu.irqLatency = id, time, int64(ns)
		return nil
	}
	due := time - int64(ns)
	ready := due
	if cpu.irqID == id {
		ready = due + min(cpu.irqLatency, int64(ns))
		cpu.events = append(cpu.events, linuxEvent{start: due, end: ready, label: r.labelOf("timer interrupt")})
	} else {
		r.endActivation(cpu)
	}
	cpu.irqID = ""
	cpu.events = append(cpu.events, linuxEvent{start: ready, end: time, label: r.labelOf("timer " + context)})
	return nil
}

// endActivation counts the interrupt of an activation whose thread was not seen.
func (r *linuxReader) endActivation(cpu *linuxCPU) {
	if cpu.irqID != "" {
		cpu.irqID = ""
		cpu.events = append(cpu.events, linuxEvent{start: cpu.irqTime - cpu.irqLatency, end: cpu.irqTime, label: r.labelOf("timer interrupt")})
	}
}

// readSummary reads the columns RUNTIME, NOISE, % OF CPU, MAX SINGLE, HW, NMI, IRQ, SIRQ, THREAD;
// times are in us. Old kernels leave out some counters.
func (r *linuxReader) readSummary(cpu *linuxCPU, time int64, runtime string, words []string) error {
	s := linuxSummary{at: time}
	for i, field := range []struct {
		text string
		to   *int64
	}{{runtime, &s.runtime}, {words[0], &s.noise}, {words[2], &s.longest}} {
		n, err := strconv.ParseUint(field.text, 10, 40)
		if err != nil {
			return r.errorf("column %d of the summary, %s, is not a number of us", i+1, yamlfile.Quote(field.text))
		}
		*field.to = int64(n) * 1000
	}
	for _, w := range words[3:] {
		n, err := strconv.ParseUint(w, 10, 32)
		if err != nil {
			return r.errorf("counter %s of the summary is not a number", yamlfile.Quote(w))
		}
		s.count += int64(n)
	}
	if s.runtime == 0 || s.noise >= s.runtime || s.longest > s.noise {
		return r.errorf("a sample of %d ns with %d ns of noise, %d ns at most at once, is not possible", s.runtime, s.noise, s.longest)
	}
	cpu.summaries = append(cpu.summaries, s)
	return nil
}

func (r *linuxReader) profile() (*Profile, error) {
	var numbers []int
	for n, cpu := range r.cpus {
		if r.endActivation(cpu); len(cpu.events)+len(cpu.summaries) > 0 {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	t := &Trace{}
	summarized := false
	for _, n := range numbers {
		cpu := r.cpus[n]
		var err error
		if len(cpu.events) == 0 {
			summarized = true
			err = r.addSummaries(t, cpu)
		} else {
			err = r.addEvents(t, n, cpu)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(numbers) == 0 {
		return nil, &FileError{r.file, 0, "holds no event of the tracers osnoise or timerlat"}
	}
	if t.Labels = r.labels; len(t.Labels) == 0 {
		t.Labels, t.Of = []string{"noise"}, nil
	}
	p, err := traceProfile(r.file, "", t)
	if err != nil {
		return nil, err
	}
	p.Note = fmt.Sprintf("Recorded by a Linux tracer, read from %s, CPUs: %s, one after the other.", filepath.Base(r.file), joinInts(numbers))
	if summarized {
		p.Note += " From summaries of samples: the longest detour of each is given, the others share the rest evenly."
	}
	if r.lost > 0 {
		p.Note += fmt.Sprintf(" The trace says %d times that events were lost.", r.lost)
	}
	if r.gaps > 0 {
		p.Note += fmt.Sprintf(" Activations of timers that are missing, or lack their interrupt: %d.", r.gaps)
	}
	if r.other > 0 {
		p.Note += fmt.Sprintf(" Lines that are not events were left out: %d.", r.other)
	}
	return p, nil
}

func joinInts(list []int) string {
	const most = 16
	var words []string
	for i, n := range list {
		if i == most {
			words = append(words, fmt.Sprintf("and %d more", len(list)-most))
			break
		}
		words = append(words, strconv.Itoa(n))
	}
	return strings.Join(words, ", ")
}

// addEvents appends the events of a CPU to the trace so far.
func (r *linuxReader) addEvents(t *Trace, number int, cpu *linuxCPU) error {
	list := cpu.events
	slices.SortStableFunc(list, func(a, b linuxEvent) int { return cmp.Compare(a.start, b.start) })
	lengthen(list)
	first, lastStart, end := list[0].start, list[len(list)-1].start, int64(0)
	for _, e := range list {
		end = max(end, e.end)
	}
	from := first
	if n := len(cpu.summaries); n > 0 {
		from = min(from, cpu.summaries[0].at-cpu.summaries[0].runtime)
		end = max(end, cpu.summaries[n-1].at)
	} else {
		if lastStart == first {
			return &FileError{r.file, 0, fmt.Sprintf("CPU %d has a single detour; at least two are needed to know how often they come", number)}
		}
		// A mean distance after the last one, the first one comes again.
		end = max(end, lastStart+(lastStart-first)/int64(len(list)-1))
	}
	begin := t.Period
	if err := r.extend(t, end-from); err != nil {
		return err
	}
	for _, e := range list {
		t.List = append(t.List, Detour{begin + (e.start-from)*1000, (e.end - e.start) * 1000})
		t.Of = append(t.Of, e.label)
	}
	return nil
}

// lengthen makes net events longer by the net events that came in between. The list is sorted by
// start.
func lengthen(list []linuxEvent) {
	var open []int // events under way, outermost first
	for i := range list {
		if !list[i].net {
			continue
		}
		for len(open) > 0 && list[open[len(open)-1]].end <= list[i].start {
			open = open[:len(open)-1]
		}
		for _, o := range open {
			list[o].end = min(list[o].end+list[i].end-list[i].start, 1<<62) // refused later if that long
		}
		// Interruptions nest a few deep; more is a trace that makes no sense.
		if open = append(open, i); len(open) > 64 {
			open = open[1:]
		}
	}
}

// maxSummarized bounds the detours that are made from counters, so that a short file does not ask
// for much memory.
const maxSummarized = 1 << 21

// addSummaries appends samples to the trace so far, each with its runtime.
func (r *linuxReader) addSummaries(t *Trace, cpu *linuxCPU) error {
	longest, rest := r.labelOf("longest of a sample"), r.labelOf("rest of a sample")
	for _, s := range cpu.summaries {
		others := int64(0)
		if left := s.noise - s.longest; left > 0 {
			others = min(max(s.count-1, 1), left)
		}
		if int64(len(t.List))+others >= maxSummarized {
			return &FileError{r.file, 0, fmt.Sprintf("its summaries count more than %d detours; cut it, or record the events themselves",
				maxSummarized)}
		}
		if s.noise > 0 {
			t.List, t.Of = append(t.List, Detour{t.Period, s.longest * 1000}), append(t.Of, longest)
		}
		left := s.noise - s.longest
		for i := range others {
			// Evenly over what is left of the sample; the lengths differ by 1 ns at most.
			at := s.longest + (s.runtime-s.longest)/(others+1)*(i+1)
			length := left / others
			if i < left%others {
				length++
			}
			t.List = append(t.List, Detour{t.Period + at*1000, length * 1000})
			t.Of = append(t.Of, rest)
		}
		if err := r.extend(t, s.runtime); err != nil {
			return err
		}
	}
	return nil
}

// extend makes the period longer by some nanoseconds.
func (r *linuxReader) extend(t *Trace, ns int64) error {
	if ns > (maxSpan-t.Period)/1000 {
		return &FileError{r.file, 0, "spans too long a time; cut it"}
	}
	t.Period += ns * 1000
	return nil
}
