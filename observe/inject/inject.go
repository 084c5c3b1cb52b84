// Package inject runs MPI programs under artificial latency and noise: it preloads a small C library into an unmodified
// program, which delays the delivery of messages and takes CPU time from ranks.
//
// The library (directory shim) works inside the program; what it did it leaves in a file for each rank, from which the
// report is made here. The package knows nothing of models and predictions.
package inject

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"slackline/model/noise"
	"slackline/model/unit"
	"slackline/observe/mpi"
)

// Options define what is injected into which program.
type Options struct {
	Command []string // launcher with its options, program with its arguments
	MPI     string   // the MPI to use: a compiler, or a part of its name; empty: that of the program
	Dir     string   // where ranks leave their reports for a while: all hosts must see it; empty: the current directory

	Latency Latency
	Gap     unit.PerByte  // further time for each byte of a message
	Base    unit.Duration // what a message takes by itself; negative: measured at the beginning of the run
	Eager   *unit.Size    // larger messages have a handshake; nil: as the MPI does, measured at the beginning of the run
	Panel   string        // d, or for comparison b or c: what naive ways of injecting do

	Noise     *noise.Profile // nil: none
	Alignment noise.Alignment
	Seed      uint64

	Sleep      string // auto, on or off: held ranks give up the CPU
	Streams    mpi.Streams
	Note, Warn func(format string, args ...any)
}

// Result is what was done to the ranks.
type Result struct {
	ExitCode  int           `json:"exit_code"`
	Elapsed   time.Duration `json:"elapsed_ns"`
	MPI       string        `json:"mpi"`
	Ranks     int           `json:"ranks"`
	Hosts     int           `json:"hosts"`
	Latency   string        `json:"latency,omitempty"`
	Noise     string        `json:"noise,omitempty"`
	Seed      uint64        `json:"seed,omitempty"`
	Sleeping  bool          `json:"sleeping"` // more ranks than CPUs: held ranks sleep
	Base      []BaseTime    `json:"base,omitempty"`
	FarBase   []BaseTime    `json:"base_between_hosts,omitempty"`
	Eager     *int64        `json:"eager_limit,omitempty"` // larger messages have a handshake; nil: none has
	FarEager  *int64        `json:"eager_limit_between_hosts,omitempty"`
	Replaced  []Count       `json:"replaced,omitempty"`  // collectives that became messages
	OneSided  []Count       `json:"one_sided,omitempty"` // one-sided calls with added latency
	Unhandled []Count       `json:"unhandled,omitempty"` // calls that communicate without added latency
	ByRank    []*RankReport `json:"by_rank"`
}

// Sum adds up a figure over all ranks.
func (r *Result) Sum(of func(*RankReport) int64) (sum int64) {
	for _, x := range r.ByRank {
		sum += of(x)
	}
	return sum
}

// Most is the largest value of a figure.
func (r *Result) Most(of func(*RankReport) int64) (most int64) {
	for _, x := range r.ByRank {
		most = max(most, of(x))
	}
	return most
}

// Waited is which part of their time the ranks could have run, but other processes had the CPU; false: it is unknown.
func (r *Result) Waited() (float64, bool) {
	var waited, whole int64
	for _, x := range r.ByRank {
		if x.RunNS > 0 && x.WaitedNS >= 0 {
			waited, whole = waited+x.WaitedNS, whole+x.RunNS
		}
	}
	return float64(waited) / float64(max(whole, 1)), whole > 0
}

// ErrNothing means that no rank loaded the library.
var ErrNothing = errors.New("nothing was injected")

// Run runs a command with what the options define. If the context ends, the command is interrupted, and the error is that of
// the context.
func Run(ctx context.Context, o Options) (*Result, error) {
	if !o.Latency.given() && o.Noise == nil {
		return nil, errors.New("there is neither latency nor noise to inject")
	}
	command, err := mpi.ParseCommand(o.Command)
	if err != nil {
		return nil, err
	}
	library, err := command.Choose(ctx, o.MPI)
	if err != nil {
		return nil, err
	}
	s, err := source()
	if err != nil {
		return nil, err
	}
	shim, fresh, err := library.Compile(ctx, s)
	if err != nil {
		return nil, err
	}
	if fresh {
		o.Note("compiled the library for %s", library)
	}
	dir, err := os.MkdirTemp(cmp.Or(o.Dir, "."), ".slackline-inject-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	variables, err := o.variables(dir, baseFile(shim))
	if err != nil {
		return nil, err
	}
	r := &Result{MPI: library.String(), Latency: o.Latency.String()}
	if o.Noise != nil {
		r.Noise, r.Seed = o.Noise.Spec(), o.Seed
	}
	if r.ExitCode, r.Elapsed, err = command.Run(ctx, shim, variables, o.Streams); err != nil {
		return nil, err
	}
	if err = command.CheckApart(dir, library); err == nil {
		err = o.collect(dir, r, command, library)
	}
	if err != nil {
		return r, errors.Join(ctx.Err(), err)
	}
	if o.Latency.given() && o.Base < 0 {
		_ = keepBases(baseFile(shim), r.ByRank[0]) // the next run measures it again
	}
	return r, ctx.Err()
}

// variables are the settings of the library.
func (o *Options) variables(dir, bases string) ([]mpi.Variable, error) {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	list := []mpi.Variable{{Name: "DIR", Value: dir}}
	add := func(name, value string) { list = append(list, mpi.Variable{Name: name, Value: value}) }
	if o.Latency.given() {
		uniform, ok := o.Latency.uniform()
		add("LATENCY", number(nanoseconds(uniform)))
		if !ok {
			add("RULES", o.Latency.shimRules())
		}
		if o.Gap > 0 {
			add("GAP", number(int64(o.Gap)))
		}
		if o.Base >= 0 {
			add("BASE", number(nanoseconds(o.Base)))
		} else if list := readBases(bases); list != nil {
			add("BASES", formatBases(list))
		}
		if o.Eager != nil {
			add("EAGER", number(int64(*o.Eager)))
		}
		if o.Panel != "" {
			add("PANEL", number(int64(o.Panel[0])))
		}
	}
	if crowded, ok := map[string]string{"on": "1", "off": "0"}[o.Sleep]; ok {
		add("CROWDED", crowded)
	}
	if o.Noise != nil {
		path := filepath.Join(dir, "noise")
		if err := o.writeNoise(path); err != nil {
			return nil, err
		}
		add("NOISE", path)
	}
	for i := range list {
		list[i].Name = mpi.InjectVariables + list[i].Name
	}
	return list, nil
}

// writeNoise writes the trace of the noise, and where in it each rank starts: as in a simulation with the same seed.
func (o *Options) writeNoise(path string) error {
	detours, err := o.Noise.Detours(o.Seed)
	if err != nil {
		return err
	}
	const ranks = 1 << 16
	offsets := make([]int64, ranks)
	noise.Offsets{Alignment: o.Alignment, Seed: o.Seed}.Draw(offsets, detours.Period())
	ns := func(ps int64) int64 { return nanoseconds(unit.Duration(ps)) }
	intervals := detours.Intervals()
	values := []int64{max(ns(detours.Period()), 1), int64(len(intervals)), ranks}
	for _, d := range intervals {
		values = append(values, ns(d.Start), ns(d.Length))
	}
	for _, offset := range offsets {
		values = append(values, ns(offset))
	}
	data := make([]byte, 0, 8*len(values))
	for _, v := range values {
		data = binary.LittleEndian.AppendUint64(data, uint64(v))
	}
	return os.WriteFile(path, data, 0o666)
}

// collect reads what the library left, and warns about what is not as it should be.
func (o *Options) collect(dir string, r *Result, command *mpi.Command, library *mpi.Library) error {
	list, err := readReports(dir)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		why := command.WhyUnseen(library, r.ExitCode)
		if name, err := os.ReadFile(filepath.Join(dir, "displaced")); err == nil {
			why = fmt.Sprintf("the program, or a library that is loaded before slackline's, has an %s of its own, which other calls would "+
				"not match when they are delayed: build or start the program without it", name)
		} else if r.ExitCode == 0 {
			why += "; into sessions without MPI_Init nothing can be injected"
		}
		return fmt.Errorf("%w: %s", ErrNothing, why)
	}
	all, err := functions()
	if err != nil {
		return err
	}
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = "MPI_" + f.Name
	}
	r.ByRank, r.Ranks = list, list[0].ranks
	r.Hosts = list[0].hosts
	r.Base, r.FarBase = bases(list[0].base[0]), bases(list[0].base[1])
	eager := func(limit int64) *int64 {
		if !o.Latency.given() || limit < 0 || limit == math.MaxInt64 {
			return nil
		}
		return &limit
	}
	if r.Eager = eager(list[0].eager[0]); r.Hosts > 1 {
		r.FarEager = eager(list[0].eager[1])
	}
	for _, c := range counts(list, func(x *RankReport) []int64 { return x.replaced }, names) {
		if i := slices.Index(names, c.Function); treatmentOf(all[i]) == oneSided {
			r.OneSided = append(r.OneSided, c)
		} else {
			r.Replaced = append(r.Replaced, c)
		}
	}
	r.Unhandled = counts(list, func(x *RankReport) []int64 { return x.unhandled }, names)
	o.warn(r)
	return nil
}

// warnClocks reports how well the clocks of several hosts were known.
func (o *Options) warnClocks(r *Result) {
	const soon = 1_000_000_000 // ns; until then clocks that are not compared again are right enough
	var answers, off, unheard int64
	for _, x := range r.ByRank {
		answers, off = answers+x.ClockAnswers, off+x.ClockOffNS
		if x.OtherClock && x.ClockAnswers == 0 && x.RunNS > soon {
			unheard++
		}
	}
	if unheard > 0 && o.Latency.given() {
		o.Warn("the clocks of %d ranks were compared at MPI_Init only, because UDP packets do not get from their hosts to that of rank 0: "+
			"latencies between hosts become wrong by up to 100 us in a second", unheard)
	}
	if answers > 0 && off/answers > max(5_000, nanoseconds(o.Latency.most())/20) {
		o.Warn("the clocks of the hosts were known to %d us only: latencies between hosts are wrong by so much on average", off/answers/1000)
	}
}

// warn reports what a user should know before using the result.
func (o *Options) warn(r *Result) {
	if n := r.Ranks - len(r.ByRank); n > 0 {
		o.Warn("%d of %d ranks left no report: they ended early, or their host does not see this directory", n, r.Ranks)
	}
	for _, x := range r.ByRank {
		r.Sleeping = r.Sleeping || x.crowded
	}
	if r.Sleeping && o.Sleep != "on" {
		o.Warn("there are more ranks than CPUs: held ranks sleep, which adds some 10 us, and waiting for a CPU adds more")
	}
	if h := o.Latency.highest(); o.Latency.given() && h >= r.Ranks {
		o.Warn("--latency names rank %d, but there are only %d ranks (0..%d)", h, r.Ranks, r.Ranks-1)
	}
	o.warnClocks(r)
	const plausible = 100_000 // ns
	if len(r.Base) > 0 && r.Base[0].NS > plausible && o.Base < 0 {
		o.Warn("an empty message takes %d us by itself: the machine is busy, and messages are delayed too much; give --base", r.Base[0].NS/1000)
	}
	if held := r.Sum(func(x *RankReport) int64 { return x.Held }); held > 0 {
		late := r.Sum(func(x *RankReport) int64 { return x.OverNS }) / held
		if late > max(5_000, nanoseconds(o.Latency.most())/20) {
			o.Warn("messages were delivered %d us later than they should on average: other processes had the CPUs", late/1000)
		}
	}
	const disturbed = 0.02
	if waited, ok := r.Waited(); ok && waited > disturbed {
		o.Warn("ranks waited for a CPU for %.0f %% of their time: other processes had it, and what they took is in all times", 100*waited)
	}
	if len(r.Unhandled) > 0 {
		o.Warn("these calls communicate without the added latency: %s", joined(r.Unhandled))
	}
	if n := r.Sum(func(x *RankReport) int64 { return x.EarlyProbes }); n > 0 && o.Latency.most() > 0 {
		o.Warn("%d probes found a message at their first look, perhaps before it was due: what is held is its receive", n)
	}
	if o.Noise != nil && r.Sum(func(x *RankReport) int64 { return x.Detours + x.DetoursSlept }) == 0 {
		o.Warn("the program ended before the first detour of its noise")
	}
}
