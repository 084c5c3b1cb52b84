package record

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"slackline/model/trace"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// build compiles a program from testdata and returns its path.
func build(t testing.TB, l *mpi.Library, source string, flags ...string) string {
	t.Helper()
	return mpitest.Build(t, l, filepath.Join("testdata", source), flags...)
}

// recording is a recorded run, read back.
type recording struct {
	*trace.Trace
	result         *Result
	stdout, stderr string
	talk           []string
}

// recorded runs a command, records it and opens the trace.
func recorded(t *testing.T, o Options) *recording {
	t.Helper()
	r, err := tryRecord(t, o)
	if err != nil {
		t.Fatalf("%v: %v\nstdout:\n%s\nstderr:\n%s\n%s", o.Command, err, r.stdout, r.stderr, r.talk)
	}
	return r
}

func tryRecord(t *testing.T, o Options) (*recording, error) {
	t.Helper()
	r := &recording{}
	var stdout, stderr bytes.Buffer
	o.Stdout, o.Stderr = &stdout, &stderr
	if o.Out == "" {
		o.Out = filepath.Join(t.TempDir(), "run.slt")
	}
	say := func(format string, args ...any) { r.talk = append(r.talk, fmt.Sprintf(format, args...)) }
	o.Note, o.Warn = say, say
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var err error
	r.result, err = Run(ctx, o)
	r.stdout, r.stderr = stdout.String(), stderr.String()
	if i := slices.IndexFunc(r.talk, func(s string) bool { return strings.Contains(s, "raw files are damaged") }); i >= 0 {
		t.Errorf("%v: what the recorder wrote is taken for damaged:\n%s", o.Command, strings.Join(r.talk[:i+1], "\n"))
	}
	if err != nil || o.Estimate {
		return r, err
	}
	r.Trace, err = trace.Open(os.DirFS(filepath.Dir(o.Out)), filepath.Base(o.Out), trace.Options{})
	if err == nil {
		t.Cleanup(func() {
			if r.Trace.Close != nil {
				r.Trace.Close()
			}
		})
	}
	return r, err
}

// sampled are options of a run with samples. Other tests may need the CPUs, too.
func sampled(command ...string) Options {
	return Options{Command: command, Sample: DefaultPeriod, Yield: "on"}
}

// events returns all events of a location.
func (r *recording) events(t *testing.T, location int) []trace.Event {
	t.Helper()
	reader, err := r.Open(location)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var all []trace.Event
	buffer := make([]trace.Event, 1000)
	for {
		n, err := reader.Read(buffer)
		for _, e := range buffer[:n] {
			e.Counts = slices.Clone(e.Counts)
			all = append(all, e)
		}
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatalf("location %d: %v", location, err)
		}
	}
}

// calls counts the calls of a location by name; polls count as often as they were made.
func (r *recording) calls(t *testing.T, location int) map[string]int64 {
	counts := map[string]int64{}
	last := ""
	for _, e := range r.events(t, location) {
		switch e.Kind {
		case trace.Enter:
			last = r.Regions[e.Region].Name
			counts[last]++
		case trace.Polls:
			counts[last] += e.Size - 1
		}
	}
	return counts
}

// path is the names of a stack, joined.
func (r *recording) path(stack uint32) string {
	var names []string
	for ; stack != 0; stack = r.Stacks[stack].Parent {
		names = append(names, r.Regions[r.Stacks[stack].Region].Name)
	}
	slices.Reverse(names)
	return strings.Join(names, "/")
}

// times returns how long a location was in each call path, in ps. The time between two samples belongs half to each;
// time without a sample belongs to the path of the next call.
func (r *recording) times(t *testing.T, location int) map[string]int64 {
	times := map[string]int64{}
	var open []string
	var last int64
	pending := "" // path of the sample before
	for i, e := range r.events(t, location) {
		if i == 0 {
			last = e.Time
		}
		here := pending
		if len(open) > 0 {
			here = open[len(open)-1]
		}
		switch e.Kind {
		case trace.Sample:
			now := r.path(e.Stack)
			if pending == "" {
				here = now
			}
			half := (e.Time - last) / 2
			times[here] += half
			times[now] += e.Time - last - half
			pending = now
		case trace.Enter:
			outside := r.path(e.Stack)
			if len(open) > 0 && outside == "" {
				outside = open[len(open)-1]
			}
			if here == "" {
				here = outside
			}
			times[here] += e.Time - last
			pending = ""
			open = append(open, strings.TrimPrefix(outside+"/"+r.Regions[e.Region].Name, "/"))
		case trace.Leave:
			times[here] += e.Time - last
			open = open[:len(open)-1]
		default:
			continue
		}
		last = e.Time
	}
	return times
}

// inclusive sums the times of all paths that a name is part of.
func inclusive(times map[string]int64, name string) int64 {
	var sum int64
	for path, d := range times {
		if slices.Contains(strings.Split(path, "/"), name) {
			sum += d
		}
	}
	return sum
}

// Flags for functions that were built in have no influence where there are none.
func TestFlagsOfBuiltInFunctions(t *testing.T) {
	for flag, o := range map[string]*Options{"--filter": {Filter: []string{"solve"}}, "--depth": {Depth: 1}} {
		var warned []string
		o.Sample = -1
		o.Warn = func(format string, args ...any) { warned = append(warned, fmt.Sprintf(format, args...)) }
		(&run{Options: o, command: &mpi.Command{}}).chooseRegions()
		if len(warned) != 1 || !strings.HasPrefix(warned[0], flag+" has no influence") {
			t.Errorf("%s: warnings %q", flag, warned)
		}
	}
}
