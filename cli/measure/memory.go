package measure

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/model/dataset"
	"slackline/model/unit"
	"slackline/observe/measure"
	"slackline/show/tables"
)

// measureMemoryOptions are the flags of measure memory.
type measureMemoryOptions struct {
	job     jobFlags
	ranks   string
	objects int
	result  env.ResultFlags
}

func measureMemoryCommand(a *env.Env) *cobra.Command {
	o := &measureMemoryOptions{}
	c := &cobra.Command{
		Use:   "memory",
		Short: "Measure the memory that an MPI takes: for its objects, and for itself.",
		Long: "Measure the memory that an MPI takes. For each communicator, duplicate, topology and window: the bytes that the call " +
			"leaves allocated, counted in the place of malloc and free. For the library: the share of memory of each process before " +
			"MPI_Init, after it, and before MPI_Finalize, when every collective and every object was used. JSON and CSV are data that " +
			"'check' and 'scaling' read.",
		Example: `  slackline measure memory
  slackline measure memory --ranks 2,4,8,16,32 --format json --out memory.json
  slackline check mpi memory.json`,
		Args: flags.ExactArgs(),
		RunE: func(c *cobra.Command, _ []string) error { return o.run(a, c) },
	}
	a.AddGroup(c, "MPI", func(fs *pflag.FlagSet) { o.job.addNumbers(fs, &o.ranks) })
	a.AddGroup(c, "Measurement", func(fs *pflag.FlagSet) {
		fs.IntVar(&o.objects, "objects", 10, "`number` of objects of each kind that live at the same time")
	})
	a.AddGroup(c, "Output", func(fs *pflag.FlagSet) {
		o.result.AddFlags(fs, "form of the output; json and csv are data for 'check' and 'scaling'")
	})
	return c
}

func (o *measureMemoryOptions) run(a *env.Env, c *cobra.Command) error {
	ranks, err := parseRanks(o.ranks)
	if err != nil {
		return err
	}
	options := measure.MemoryOptions{Ranks: ranks, Objects: o.objects}
	if err := options.Check(); err != nil {
		return exit.Usagef("%v", err)
	}
	if err := o.result.Check(nil); err != nil {
		return err
	}
	r := &measuredMemory{}
	if err := r.measure(c.Context(), a, o, options); err != nil {
		return err
	}
	return a.WriteResult("measure memory", r, &o.result, nil)
}

// measuredMemory is a measurement with what its output needs.
type measuredMemory struct{ jobs []*measure.JobMemory }

func (r *measuredMemory) measure(ctx context.Context, a *env.Env, o *measureMemoryOptions, options measure.MemoryOptions) error {
	start, err := o.job.starter(ctx, a, false)
	if err != nil {
		return err
	}
	line := a.StartProgress()
	defer a.Progress.Clear()
	options.Progress = func(done, total int, what string) {
		line.Report(func() string { return fmt.Sprintf("%s, %d of %d", what, done+1, total) })
	}
	r.jobs, err = measure.MeasureMemory(ctx, start, options)
	return err
}

func (r *measuredMemory) JSON(a *env.Env) (any, error) {
	d := measure.MemoryDataset(r.jobs)
	return &memoryDocument{1, d.Parameters, d.Series, r.jobs, a.Record()}, nil
}

func (r *measuredMemory) Rows(*env.Env) env.Rows { return rowsOf(measure.MemoryDataset(r.jobs)) }

// measurements are the rows of a dataset.
type measurements struct {
	*table.Table
	data *dataset.Dataset
}

func rowsOf(d *dataset.Dataset) measurements { return measurements{tables.Measurements(d), d} }

// WriteCSV writes them in the form that datasets are read in.
func (m measurements) WriteCSV(w io.Writer) error { return m.data.WriteCSV(w) }

func (r *measuredMemory) Text(a *env.Env, w io.Writer) {
	fmt.Fprintf(w, "memory: %s on %s\n\nBytes that a call leaves allocated\n\n", r.jobs[0].MPI,
		hostsText(r.jobs[len(r.jobs)-1].Hosts))
	objects := table.Of("call", ">ranks", ">bytes", ">least rank", ">first call", ">pools grew")
	for i := range measure.ObjectKinds {
		for _, m := range r.jobs {
			o := &m.Objects[i]
			objects.Add(o.Kind, m.Ranks, phrase.Grouped(o.Steady), phrase.Grouped(o.Least), phrase.Grouped(o.First), o.Odd)
		}
	}
	a.WriteText(w, objects, true)
	fmt.Fprint(w, "\nMemory that MPI adds to a process, the largest of all ranks\n\n")
	a.WriteText(w, r.processes(), true)
}

// processes has a line for each number of ranks.
func (r *measuredMemory) processes() *table.Table {
	t := table.Of(">ranks", ">before Init", ">by Init", ">at the end", ">private", ">resident", ">of all ranks")
	for _, m := range r.jobs {
		var before, initial, end, private, resident, all int64
		for i := range m.Process {
			p := &m.Process[i]
			added := p.Added()
			before, initial, end = max(before, p.Before.PSS), max(initial, p.After.PSS-p.Before.PSS), max(end, added.PSS)
			private, resident, all = max(private, added.Private), max(resident, added.RSS), all+added.PSS
		}
		size := func(n int64) string { return unit.Size(n / 1024 * 1024).String() }
		t.Add(m.Ranks, size(before), size(initial), size(end), size(private), size(resident), size(all))
	}
	return t
}
