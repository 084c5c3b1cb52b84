package report

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"slackline/analyze/replay"
	"slackline/cli/datasets"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/cli/scenario"
	"slackline/model/pattern"
	"slackline/model/schedule"
	"slackline/model/trace"
	"slackline/show/report"
)

// reportInputs are the inputs of a report, by what they are.
type reportInputs struct {
	runs []reportRun
	data []string
}

// reportRun is a recorded run, or a program that is simulated.
type reportRun struct {
	word     string
	recorded bool
}

// sortInputs separates runs, programs and measurements.
func sortInputs(words []string) (*reportInputs, error) {
	in := &reportInputs{}
	for _, word := range words {
		place, path := datasets.CutPlace(word)
		if word == input.Stdin {
			return nil, exit.Usagef("a report cannot come from the standard input; give a file")
		}
		info, err := os.Stat(path)
		switch {
		case place != "":
			in.data = append(in.data, word)
		case input.IsTrace(word):
			in.runs = append(in.runs, reportRun{word, true})
		case err != nil && pattern.Has(word):
			in.runs = append(in.runs, reportRun{word, false})
		case err != nil:
			return nil, input.Absent(word)
		case info.IsDir():
			traces := datasets.TracesOf(word, "")
			for _, t := range traces {
				in.runs = append(in.runs, reportRun{t, true})
			}
			if len(traces) == 0 {
				in.data = append(in.data, word)
			}
		default:
			isSchedule, err := input.HasSchedule(word)
			if err != nil {
				return nil, err
			}
			if isSchedule {
				in.runs = append(in.runs, reportRun{word, false})
			} else {
				in.data = append(in.data, word)
			}
		}
	}
	return in, nil
}

// openRun opens a run of the report.
func (o *reportOptions) openRun(a *env.Env, c *cobra.Command, in *report.Input, r reportRun) error {
	if err := o.run.Check(); err != nil {
		return err
	}
	open := o.openSimulated
	if r.recorded {
		open = o.openRecorded
	}
	if err := open(a, c, in, r.word); err != nil {
		return err
	}
	return o.run.CheckPart(in.Runs[len(in.Runs)-1].Timeline, r.word)
}

// openRecorded reads a recorded run and makes a program of it.
func (o *reportOptions) openRecorded(a *env.Env, c *cobra.Command, in *report.Input, word string) error {
	reading := input.TraceOptions{
		Ranks: o.run.Ranks.List, Strict: o.run.Strict, Partial: o.run.Future.Program.Partial, Clock: o.run.Clock,
		Threads: o.run.Threads, Hash: true,
	}
	t, err := input.OpenTrace(c.Context(), word, reading)
	if err != nil {
		return err
	}
	a.WarnAll(t.Warnings)
	scenario.NoteOfClocks(a, t.Clocks)
	scenario.WarnOfProblems(a, t.Timeline)
	part := t.Timeline
	if !o.run.Whole && o.run.Begin.Value == 0 && o.run.End.Value == 0 {
		part = part.Core(o.run.Threads, false)
	}
	a.WarnAll(part.Circumstances())
	if err := o.run.ApplyGrid(t.Timeline); err != nil {
		return err
	}
	properties, err := propertiesOf(word)
	if err != nil {
		return err
	}
	read := flags.Words(c, "partial")
	run := &report.Run{
		Name: word, Format: t.Format, Properties: properties, Timeline: t.Timeline, Clocks: t.Clocks, Begin: o.run.Begin.Value,
		End:      o.run.End.Value,
		Words:    slices.Concat([]string{word}, read, flags.Words(c, "grid", "only-ranks", "clock")),
		Simulate: slices.Concat([]string{word}, read, flags.Words(c, "scale-compute", "denoise", "without")),
		Read:     read,
	}
	in.Record.Inputs = append(in.Record.Inputs, t.Record)
	in.Runs = append(in.Runs, run)
	if len(in.Runs) > 1 {
		return nil // only the first run is simulated
	}
	program := o.run.Future.Program
	program.Ranks = nil
	options, err := program.Replay(c.Flags())
	if err != nil {
		return err
	}
	options.Threads = o.run.Threads
	if f := &o.run.Future.Machine; f.Name == "" && f.Override().IsZero() {
		options.KeepTransfers = true // the network is assumed to cost nothing
	}
	o.replayed = t.Timeline
	if reading.Clock != trace.ClockAuto { // what simulates runs knows no other clock
		reading.Clock = trace.ClockAuto
		again, err := input.OpenTrace(c.Context(), word, reading)
		if err != nil {
			return err
		}
		o.replayed = again.Timeline
	}
	p, err := replay.New(o.replayed, options)
	if err != nil {
		run.NoProgram = fmt.Sprintf("the run cannot be simulated: %v", err)
		return nil
	}
	a.WarnAll(p.Report().Warnings())
	options.CutOpen = true
	copies, err := replay.New(o.replayed, options)
	if err != nil {
		return err
	}
	if in.Machine.Assumed && p.Report().Accelerators {
		in.Machine.Words = scenario.RecordedMachine()
		in.Machine.Name += ", except that communication of accelerators takes as long as it took"
	}
	run.Program, run.Span, run.Denoised = p, p.Report().Span, options.Denoise
	run.Scaled = func(ranks int) (schedule.Program, error) { return copies.WithRanks(ranks) }
	return nil
}

// propertiesOf reads where a recorded run comes from.
func propertiesOf(word string) (trace.Properties, error) {
	t, err := input.OpenRawTrace(word, trace.Options{})
	if err != nil {
		return trace.Properties{}, err
	}
	if t.Close != nil {
		err = t.Close()
	}
	return t.Properties, err
}

// openSimulated simulates a pattern or a schedule.
func (o *reportOptions) openSimulated(a *env.Env, c *cobra.Command, in *report.Input, word string) error {
	if in.Machine.Assumed {
		if err := input.CheckRun(word); err != nil {
			return err
		}
		return exit.Usagef("%s", input.NotARun(word))
	}
	f, err := o.run.Future.Run(a, c, word, true)
	if err != nil {
		return err
	}
	if f.Timeline == nil {
		return fmt.Errorf("%s: the simulation gave no timeline", word)
	}
	if err := o.run.ApplyGrid(f.Timeline); err != nil {
		return err
	}
	a.WarnOfVoid(c, " on a simulated run", "only-ranks", "whole")
	program := append([]string{word}, flags.Words(c, scenario.ParameterNames()...)...)
	words := slices.Concat(program, in.Machine.Words, in.Mapping.Words, flags.Words(c, "model"), flags.Words(c, scenario.NoiseFlags...))
	run := &report.Run{
		Name: word, Format: "simulation", Timeline: f.Timeline, Machine: f.Machine, Begin: o.run.Begin.Value, End: o.run.End.Value,
		Words: words, Simulate: program, Program: f.Input.Program,
	}
	if f.Input.Pattern != "" {
		params := o.run.Future.Program.Params(c.Flags())
		run.Scaled = func(ranks int) (schedule.Program, error) {
			p := params
			p.Ranks, p.Grid = ranks, nil
			return pattern.New(f.Input.Pattern, p)
		}
	}
	in.Record.Inputs = append(in.Record.Inputs, f.Input.Record)
	in.Runs = append(in.Runs, run)
	return nil
}

// record notes a file that was read.
func (o *reportOptions) record(in *report.Input, path, kind string) error {
	r, err := input.RecordFile(path, kind)
	if err == nil {
		in.Record.Inputs = append(in.Record.Inputs, r)
	}
	return err
}
