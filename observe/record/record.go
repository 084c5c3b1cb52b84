// Package record records MPI programs: it preloads a small C library into an unmodified program, and turns what that
// library wrote into a trace.
//
// The recorder (directory recorder) takes time stamps and writes; it communicates nothing but comparisons of clocks and
// computes nothing. Which communicators of different ranks are the same, which function an address belongs to, and
// what a record means in a trace is found here, after the run.
package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"slackline/internal/atomicfile"
	"slackline/internal/phrase"
	"slackline/internal/provenance"
	"slackline/model/missing"
	"slackline/model/trace"
	"slackline/observe/counters"
	"slackline/observe/mpi"
)

// Options say how a program is recorded.
type Options struct {
	Command []string // launcher with its options, program with its arguments
	Out     string   // directory of the trace; empty: after the name of the program
	Force   bool     // replace a trace that is there
	MPI     string   // the MPI to use: a compiler, or a part of its name; empty: the program tells

	CallPath string        // off, caller or full; empty: full, or off for instrumented programs
	Sample   time.Duration // time between two samples; 0: none, negative: choose
	Filter   []string      // patterns of instrumented functions: recorded, or with ! in front left out
	Depth    int           // of instrumented functions; 0: any

	Counters []counters.Event // what is counted beside; those of the processor first

	MaxSize  int64         // bytes per rank and thread; 0: any
	Ring     bool          // keep the end, not the beginning
	From, To time.Duration // window after MPI_Init; To 0: to the end
	StartOff bool          // wait for MPI_Pcontrol(1)
	Estimate bool          // write nothing, count

	PingEvery int    // compare clocks at every so many collectives of all ranks; 0: at both ends only
	PingAll   bool   // compare clocks also of ranks on one host
	Yield     string // auto, on or off: MPICH gives up the CPU while it waits
	KeepRaw   bool

	// Watchdog: when no rank has made an MPI call for that long, Standstill is called, beside the run; 0: never.
	Watchdog   time.Duration
	Standstill func(s *Sight, since time.Duration)

	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Note, Warn     func(format string, args ...any)
}

// Result is what came out of a recorded run.
type Result struct {
	ExitCode int    // of the command
	Out      string // directory of the trace; empty if there is none
	Ranks    int
	Samples  int64
	Heads    []Head
	Library  *mpi.Library
	Elapsed  time.Duration
	Period   time.Duration
	// ForcedYield: MPI was made to give up the CPU while it waits.
	ForcedYield bool
}

// DefaultPeriod is the time between two samples: a sample takes a few microseconds, so that it costs below 1 %.
const DefaultPeriod = time.Millisecond

// ErrExists says that a trace would replace something.
var ErrExists = errors.New("exists already; give another name with --out, or --force")

// Run runs a command and records it. If the context ends, the command is interrupted; what was recorded until then is
// kept, and the error is that of the context.
func Run(ctx context.Context, o Options) (*Result, error) {
	r, err := prepare(ctx, &o)
	if err != nil {
		return nil, err
	}
	defer r.cleanUp()
	if err := r.launch(ctx); err != nil {
		return nil, err
	}
	err = r.collect()
	if errors.Is(err, ErrNothing) {
		err = r.whyNothing()
	}
	if err != nil {
		if ctx.Err() != nil {
			return r.result, fmt.Errorf("%w; %w", ctx.Err(), err)
		}
		return r.result, err
	}
	return r.result, ctx.Err()
}

// run is one recorded run.
type run struct {
	*Options
	command *mpi.Command
	library string // the compiled recorder
	raw     string // directory of the raw files
	number  uint64 // of the run, which its raw files have
	lock    *os.File
	// unwritten says that the raw files are all there is of the run, or of a part of it.
	unwritten bool
	recovers  bool // of a run that has ended before
	period    time.Duration
	result    *Result
}

func prepare(ctx context.Context, o *Options) (prepared *run, err error) {
	command, err := mpi.ParseCommand(o.Command)
	if err != nil {
		return nil, err
	}
	if err := chooseOut(o, command); err != nil {
		return nil, err
	}
	r := &run{Options: o, command: command, result: &Result{}, number: rand.Uint64() | 1}
	parent, err := filepath.Abs(filepath.Dir(o.Out))
	if err != nil {
		return nil, err
	}
	// Before the recorder is compiled, which takes long: perhaps nothing can be written there.
	if r.raw, err = os.MkdirTemp(parent, "."+filepath.Base(o.Out)+"-raw-"); err != nil {
		return nil, fmt.Errorf("%w; give a directory with --out in which you can write", err)
	}
	defer func() {
		if prepared == nil {
			_ = os.RemoveAll(r.raw) // nothing depends on it
		}
	}()
	l, err := command.Choose(ctx, o.MPI)
	if err != nil {
		return nil, err
	}
	r.result.Library = l
	s, err := sources()
	if err != nil {
		return nil, err
	}
	var fresh bool
	if r.library, fresh, err = l.Compile(ctx, s); err != nil {
		return nil, err
	}
	if fresh {
		o.Note("compiled the recorder for %s", l)
	}
	r.chooseRegions()
	tellLeftovers(o)
	if err := errors.Join(os.Chmod(r.raw, 0o777&^umask()), r.writeOrder()); err != nil {
		return nil, err
	}
	return r, nil
}

// umask is the mask for new files of this process.
func umask() os.FileMode {
	mask := syscall.Umask(0)
	syscall.Umask(mask)
	return os.FileMode(mask)
}

func chooseOut(o *Options, c *mpi.Command) error {
	if o.Out == "" {
		name := "trace"
		if path := c.Programs[0].Path; path != "" {
			name = strings.TrimSuffix(filepath.Base(path), ".exe")
		}
		o.Out = name + ".slt"
	}
	o.Out = filepath.Clean(o.Out)
	if o.Estimate {
		return nil
	}
	err := trace.CheckFree(o.Out, "slt", o.Force)
	if errors.Is(err, atomicfile.ErrExists) {
		return fmt.Errorf("%s %w", o.Out, ErrExists)
	}
	return err
}

// chooseRegions decides how functions of the program are found.
func (r *run) chooseRegions() {
	instrumented := false
	for i := range r.command.Programs {
		instrumented = instrumented || r.command.Programs[i].Imports("__cyg_profile_func_enter")
	}
	r.period = r.Sample
	if r.period < 0 {
		r.period = DefaultPeriod
		if instrumented {
			r.period = 0
			r.Note("the program was built with -finstrument-functions: its functions are recorded, not sampled")
		}
	}
	if r.CallPath == "" {
		r.CallPath = "full"
		if instrumented && r.period == 0 {
			r.CallPath = "off"
		}
	}
	if !instrumented && len(r.Filter) > 0 {
		r.Warn("--filter has no influence: the program was not built with -finstrument-functions")
	}
	if !instrumented && r.Depth > 0 {
		r.Warn("--depth has no influence: the program was not built with -finstrument-functions")
	}
	if !instrumented && r.period == 0 {
		r.Warn("functions of the program are not recorded: there are no samples, and it was not built with -finstrument-functions")
	}
}

// variables are the settings of the recorder.
func (r *run) variables() ([]mpi.Variable, error) {
	flag := func(b bool) string {
		if b {
			return "1"
		}
		return "0"
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	paths := map[string]string{"off": "0", "caller": "1", "full": "2"}
	yields := map[string]string{"off": "0", "on": "1", "auto": "2", "": "2"}
	pings := "1"
	if r.PingAll {
		pings = "2"
	}
	list := []mpi.Variable{
		{Name: "DIR", Value: r.raw}, {Name: "RUN", Value: strconv.FormatUint(r.number, 10)},
		{Name: "CALLPATH", Value: paths[r.CallPath]}, {Name: "PERIOD", Value: number(r.period.Nanoseconds())},
		{Name: "MAX", Value: number(r.MaxSize)}, {Name: "RING", Value: flag(r.Ring)}, {Name: "ESTIMATE", Value: flag(r.Estimate)},
		{Name: "FROM", Value: number(r.From.Nanoseconds())}, {Name: "TO", Value: number(r.To.Nanoseconds())},
		{Name: "OFF", Value: flag(r.StartOff)},
		{Name: "PINGS", Value: pings}, {Name: "PING_EVERY", Value: number(int64(r.PingEvery))},
		{Name: "DEPTH", Value: number(int64(r.Depth))}, {Name: "YIELD", Value: yields[r.Yield]},
	}
	if len(r.Counters) > 0 {
		list = append(list, mpi.Variable{Name: "COUNTERS", Value: countersVariable(r.Counters)})
	}
	if len(r.Filter) > 0 {
		path := filepath.Join(r.raw, "filter")
		if err := writeFilter(path, r.command.Programs, r.Filter); err != nil {
			return nil, err
		}
		list = append(list, mpi.Variable{Name: "FILTER", Value: path})
	}
	for i := range list {
		list[i].Name = "SLACKLINE_RECORD_" + list[i].Name
	}
	return list, nil
}

// launch runs the command to its end.
func (r *run) launch(ctx context.Context) error {
	variables, err := r.variables()
	if err != nil {
		return err
	}
	r.result.Period = r.period
	end, err := r.watch(ctx)
	if err != nil {
		return err
	}
	defer end()
	r.result.ExitCode, r.result.Elapsed, err = r.command.Run(ctx, r.library, variables, mpi.Streams{In: r.Stdin, Out: r.Stdout, Err: r.Stderr})
	return err
}

// collect turns what the recorder wrote into a trace.
func (r *run) collect() error {
	if err := r.command.CheckApart(r.raw, r.result.Library); err != nil {
		return err
	}
	c, err := collect(r.raw, r.library, r.number, r.Counters)
	if err != nil {
		return err
	}
	r.result.Ranks, r.result.Heads, r.result.ForcedYield = c.Ranks, c.Heads, c.Yield != ""
	for _, h := range c.Heads {
		r.result.Samples += h.Samples
	}
	if r.Estimate {
		return nil
	}
	r.describe(c)
	r.report(c)
	// An interrupted run is still written as a whole.
	warnings, err := trace.Write(r.Out, c.Trace, "slt", trace.WriteOptions{Force: r.Force})
	if err != nil {
		r.unwritten = true
		return fmt.Errorf("%w; what was recorded is kept: 'slackline record --recover %s --out PLACE' makes a trace of it", err, r.raw)
	}
	for _, w := range warnings {
		r.Warn("%s", w)
	}
	r.result.Out = r.Out
	return nil
}

// whyNothing says why no rank left a trace.
func (r *run) whyNothing() error {
	if failed := failures(r.raw); len(failed) > 0 {
		rank := slices.Sorted(maps.Keys(failed))[0]
		why := failed[rank]
		return fmt.Errorf("no rank left a trace: rank %d cannot write to %s: %w; %s", rank, filepath.Dir(r.raw), why, wayOut(why))
	}
	return fmt.Errorf("no rank left a trace: %s", r.command.WhyUnseen(r.result.Library, r.result.ExitCode))
}

// wayOut is what helps if the files of the recorder cannot be written.
func wayOut(why error) string {
	switch why {
	case syscall.ENOSPC, syscall.EDQUOT:
		return "free some space, give another place with --out, or limit what each thread writes with --max-size"
	case syscall.EFBIG:
		return "allow larger files (ulimit -f), or limit what each thread writes with --max-size"
	}
	return "give a directory with --out in which all hosts can write"
}

// describe says where the trace comes from.
func (r *run) describe(c *Collection) {
	p := &c.Properties
	p.Launch = r.Command
	p.Command = r.command.Programs[0].Args
	p.Tool = "slackline " + provenance.Version()
	p.CallPaths = r.CallPath
	if r.From > 0 || r.To > 0 {
		p.Recording = "window " + windowText(r.From, r.To)
	} else if slices.ContainsFunc(c.Heads, func(h Head) bool { return h.Wrapped }) {
		p.Recording = missing.Ring
	}
	if host, err := os.Hostname(); err == nil {
		p.Machine = host
	}
	if c.Guessed > 0 {
		p.Missing = trace.MissingWord(missing.Parts{Guessed: c.Guessed})
	}
}

// windowText is a window as its flag has it, however that was written.
func windowText(from, to time.Duration) string {
	text := from.String() + ".."
	if to > 0 {
		text += to.String()
	}
	return text
}

// report tells what is not as it should be.
func (r *run) report(c *Collection) {
	r.reportMissing(c)
	r.reportCounters(c)
	r.reportFaults(c.Faults)
	if c.Guessed > 0 {
		r.Warn("%s between worlds of processes cannot be told from others by sizes and times: their messages may be matched wrongly",
			phrase.Plural(c.Guessed, "connection"))
	}
	full, wrapped, uncounted, truncated, refused := 0, 0, 0, 0, int64(0)
	failures := map[syscall.Errno][]int{} // the ranks of the threads
	for _, h := range c.Heads {
		refused += h.Refused
		switch {
		case h.Failure != 0:
			failures[h.Failure] = append(failures[h.Failure], h.Rank)
		case h.Full:
			full++
		}
		if h.Wrapped {
			wrapped++
		}
		if h.Uncounted {
			uncounted++
		}
		if h.Truncated && h.Thread == 0 {
			truncated++
		}
	}
	for _, why := range slices.Sorted(maps.Keys(failures)) {
		r.Warn("recording stopped early in %d threads, the first is of rank %d: %s: %s; %s", len(failures[why]), slices.Min(failures[why]),
			filepath.Dir(r.raw), why.Error(), wayOut(why))
	}
	if refused > 0 {
		r.Warn("%d threads were not recorded: there was no room or memory for them, or too many files are open", refused)
	}
	if full > 0 {
		r.Warn("the limit of size was reached in %d threads: their traces end early; --ring keeps the end instead", full)
	}
	if wrapped > 0 {
		r.Note("the beginning of %d threads was overwritten", wrapped)
	}
	if uncounted > 0 {
		r.Warn("not everything that was overwritten in %d threads could be counted: their messages and collectives may be matched wrongly; "+
			"give a larger --max-size", uncounted)
	}
	if truncated > 0 {
		r.Note("%d of %d ranks ended without MPI_Finalize; their traces reach to their last call", truncated, c.Ranks)
	}
	if apart := time.Duration(c.SamplePeriod / 1000); r.period > 0 && apart > r.period {
		r.Note("samples are %v apart, not %v: they come with the ticks of the system, because perf events cannot be used here (see "+
			"kernel.perf_event_paranoid)", apart, r.period)
	}
	for _, path := range c.WithoutDebug {
		if r.period > 0 {
			r.Note("%s has no debug information (-g): functions that were inlined count for their callers", path)
		}
	}
	for _, path := range c.Unresolved {
		r.Warn("%s cannot be read: its functions have no names", path)
	}
}

// reportFaults names the raw files that are damaged. They are kept: somebody may have better ones.
func (r *run) reportFaults(faults []Fault) {
	const most = 10
	for _, f := range faults[:min(most, len(faults))] {
		r.Warn("%v", f)
	}
	if len(faults) > most {
		r.Warn("%d further raw files are damaged", len(faults)-most)
	}
	if len(faults) > 0 {
		r.unwritten = true
		r.Warn("calls, call paths and communicators may be missing or wrong in the trace, for raw files are damaged")
	}
}

// reportMissing tells which ranks left no trace, and why.
func (r *run) reportMissing(c *Collection) {
	failed := failures(r.raw)
	byReason := map[string][]int{}
	for _, rank := range c.MissingRanks {
		text := "it ended before MPI_Init was done, or its host does not see " + filepath.Dir(r.raw)
		if r.recovers {
			text = "it had not done MPI_Init, or its raw files were removed from " + r.raw
		}
		if why, ok := failed[rank]; ok {
			text = fmt.Sprintf("%s: %v; %s", filepath.Dir(r.raw), why, wayOut(why))
		}
		byReason[text] = append(byReason[text], rank)
	}
	for _, text := range slices.Sorted(maps.Keys(byReason)) {
		ranks := byReason[text]
		r.Warn("%d of %d ranks left no trace, the first is rank %d: %s", len(ranks), c.Ranks, ranks[0], text)
	}
}

// cleanUp removes the raw files.
func (r *run) cleanUp() {
	if r.lock != nil {
		r.lock.Close()
	}
	if r.KeepRaw || r.unwritten {
		r.Note("the raw files are in %s", r.raw)
		return
	}
	_ = os.Remove(filepath.Join(r.raw, orderFile)) // first: nobody is to make a trace of what is left if this is interrupted
	_ = os.RemoveAll(r.raw)                        // nothing depends on it
}
