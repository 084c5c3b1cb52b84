package measure

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"slackline/internal/stat"
	"slackline/model/dataset"
)

// ObjectKinds are the calls that make MPI objects, in the order of their numbers in the job.
var ObjectKinds = []string{
	"MPI_Comm_create", "MPI_Comm_dup", "MPI_Comm_split", "MPI_Cart_create", "MPI_Dist_graph_create_adjacent", "MPI_Win_create",
}

// libraryMemory is what the memory of the library itself is called in datasets.
const libraryMemory = "MPI_memory"

// MemoryOptions define how memory is measured.
type MemoryOptions struct {
	Ranks    []int
	Objects  int // of each kind, all alive at the same time
	Progress func(done, total int, what string)
}

// Check returns an error if the options cannot be followed.
func (o *MemoryOptions) Check() error {
	if len(o.Ranks) == 0 {
		return errors.New("numbers of ranks are needed, one at least")
	}
	for _, p := range o.Ranks {
		if p < 2 || p > 1<<16 { // Open MPI has no windows for one
			return fmt.Errorf("the memory of 2 to 65536 ranks can be measured, not of %d", p)
		}
	}
	if o.Objects < 2 || o.Objects > 500 {
		return fmt.Errorf("2 to 500 objects of each kind, not %d: libraries have limits, and the first is special", o.Objects)
	}
	return nil
}

// ObjectMemory is what a call leaves allocated, in bytes.
type ObjectMemory struct {
	Kind   string    `json:"call"`
	Steady int64     `json:"bytes"`       // median of the later calls, the largest of all ranks
	Least  int64     `json:"least_bytes"` // and the smallest
	First  int64     `json:"first_bytes"` // of the first call, the largest of all ranks: it pays what is done once
	Odd    int       `json:"pools_grew"`  // later calls in which a rank took more than twice its median: a pool of the library grew
	Bytes  [][]int64 `json:"calls"`       // by rank, of each call
}

// Usage is the memory of a process in bytes.
type Usage struct {
	PSS     int64 `json:"pss_bytes"` // its share: pages of several processes are divided among them
	RSS     int64 `json:"rss_bytes"`
	Private int64 `json:"private_bytes"`
}

// RankMemory is the memory of a rank.
type RankMemory struct {
	Before Usage `json:"before_init"`
	After  Usage `json:"after_init"`
	End    Usage `json:"before_finalize"` // when everything was used and freed
}

// Added is what MPI takes of the memory of the rank at its end.
func (m *RankMemory) Added() Usage {
	return Usage{m.End.PSS - m.Before.PSS, m.End.RSS - m.Before.RSS, m.End.Private - m.Before.Private}
}

// JobMemory is what was measured with a number of ranks.
type JobMemory struct {
	Ranks   int            `json:"ranks"`
	MPI     string         `json:"mpi"`
	Version string         `json:"mpi_library_version"` // what the library calls itself when it runs
	Command []string       `json:"launch"`
	Hosts   []string       `json:"hosts"`
	Objects []ObjectMemory `json:"objects"`
	Process []RankMemory   `json:"processes"` // by rank
}

// library is the largest share of memory that MPI takes of a rank.
func (m *JobMemory) library() int64 {
	most := m.Process[0].Added().PSS
	for i := range m.Process {
		most = max(most, m.Process[i].Added().PSS)
	}
	return most
}

// usedSize is the size of the messages of the collectives by which the library is used before its memory is looked at.
const usedSize = 64

// MeasureMemory measures the memory of a job for each number of ranks.
func MeasureMemory(ctx context.Context, start Starter, o MemoryOptions) ([]*JobMemory, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	var list []*JobMemory
	for i, p := range o.Ranks {
		if o.Progress != nil {
			o.Progress(i, len(o.Ranks), fmt.Sprintf("memory of %d ranks", p))
		}
		m, err := measureMemory(ctx, start, p, o.Objects)
		if err != nil {
			return nil, orCause(ctx, err)
		}
		list = append(list, m)
	}
	return list, nil
}

func measureMemory(ctx context.Context, start Starter, ranks, objects int) (m *JobMemory, err error) {
	j, err := start(ctx, ranks)
	if err != nil {
		return nil, err
	}
	defer j.closeInto(&err)
	m = &JobMemory{Ranks: ranks, Hosts: j.Hosts, Command: j.Command, MPI: j.Library.String(), Version: j.Version, Process: make([]RankMemory,
		ranks)}
	if err := m.usage(j, func(r *RankMemory, before, now Usage) { r.Before, r.After = before, now }); err != nil {
		return nil, err
	}
	for _, op := range allOperations {
		if op.Kind != BlockingOperations {
			continue
		}
		if _, err := j.order("collective", op.number, usedSize, 1, 0, IMB.number(), 1); err != nil {
			return nil, fmt.Errorf("%s: %w", op.Name, err)
		}
	}
	for kind, name := range ObjectKinds {
		values, err := j.stamps(objects*ranks, "objects", kind, 0, objects, 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if slices.Contains(values, -1) {
			return nil, errors.New("allocations cannot be counted with this C library; glibc is needed")
		}
		m.Objects = append(m.Objects, objectMemory(name, values, objects))
	}
	err = m.usage(j, func(r *RankMemory, _, now Usage) { r.End = now })
	return m, err
}

// usage asks all ranks for their memory.
func (m *JobMemory) usage(j *Job, set func(r *RankMemory, before, now Usage)) error {
	values, err := j.stamps(6*m.Ranks, "usage", 0, 0, 0, 0)
	if err != nil {
		return err
	}
	if slices.Contains(values, -1) {
		return errors.New("the kernel does not report the memory of processes: /proc/self/smaps_rollup cannot be read (Linux " +
			"4.14 or newer has it)")
	}
	const kilobyte = 1024
	for r := range m.Process {
		v := values[6*r:]
		set(&m.Process[r], Usage{v[0] * kilobyte, v[1] * kilobyte, v[2] * kilobyte}, Usage{v[3] * kilobyte, v[4] * kilobyte, v[5] * kilobyte})
	}
	return nil
}

// objectMemory describes what calls took, given by rank and call.
func objectMemory(name string, values []int64, objects int) ObjectMemory {
	o := ObjectMemory{Kind: name}
	for bytes := range slices.Chunk(values, objects) {
		later := stat.Sorted(bytes[1:])
		median := int64(stat.Quantile(later, 0.5))
		if len(o.Bytes) == 0 {
			o.First, o.Steady, o.Least = bytes[0], median, median
		}
		o.First, o.Steady, o.Least = max(o.First, bytes[0]), max(o.Steady, median), min(o.Least, median)
		for _, b := range later {
			if b > max(2*median, 0) {
				o.Odd++
			}
		}
		o.Bytes = append(o.Bytes, slices.Clone(bytes))
	}
	return o
}

// MemoryDataset has the bytes of each kind of object and of the library, over p.
func MemoryDataset(list []*JobMemory) *dataset.Dataset {
	d := dataset.New("p")
	for _, m := range list {
		at := []float64{float64(m.Ranks)}
		for _, o := range m.Objects {
			d.Get(o.Kind, "bytes").Add(at, float64(o.Steady))
		}
		d.Get(libraryMemory, "bytes").Add(at, float64(m.library()))
	}
	for _, s := range d.Series {
		s.Unit = "B"
	}
	return d
}
