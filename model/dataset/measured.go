package dataset

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The raw data of slackline measure collectives: a line for each rank of each execution, or of each loop of
// executions, with when it began and ended.
//
//	scheme,operation,ranks,size,launch,repetition,rank,start_ns,end_ns,flags,executions,counts
//	round-time,MPI_Bcast,2,8,0,0,0,12,1200,0,1,1
//	round-time,MPI_Bcast,2,8,0,0,1,15,1350,0,1,1
//
// An execution is as long as its slowest process took, or, in schemes that look at rank 0 alone, as that. One in which
// a rank has flags is invalid; counts is 0 on the lines of launches in which too few are valid. The parameters are p
// and, if there are several, size; times are ns. The times of the first scheme are called time, those of another one
// time-SCHEME.

var measuredFormat = Format{Name: "measured", Info: "raw data of slackline measure collectives", Lines: true, Sniff: sniffMeasured,
	Read: readMeasured}

var measuredColumns = []string{"scheme", "operation", "ranks", "size", "launch", "repetition", "rank", "start_ns", "end_ns", "flags",
	"executions", "counts"}

// mostRanksMeasured bounds what a line can make the reader keep.
const mostRanksMeasured = 1 << 24

func sniffMeasured(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	return strings.TrimSpace(string(line)) == strings.Join(measuredColumns, ",")
}

// execution names one execution, or one loop of them.
type execution struct {
	scheme, operation               string
	ranks, size, launch, repetition int64
}

// executionTimes are those of its ranks, as far as they were read.
type executionTimes struct {
	execution
	line          int   // its first one
	root, max     int64 // ns
	invalid, left bool  // left: its launch does not count
	executions    int64
	has           map[int64]bool // ranks
}

// measuredRow is a line of numbers.
type measuredRow struct {
	execution
	rank, start, end, flags, executions, counts int64
}

func parseMeasuredRow(record []string) (r measuredRow, err error) {
	r.scheme, r.operation = strings.Clone(record[0]), strings.Clone(record[1])
	into := []*int64{2: &r.ranks, 3: &r.size, 4: &r.launch, 5: &r.repetition, 6: &r.rank, 7: &r.start, 8: &r.end, 9: &r.flags,
		10: &r.executions, 11: &r.counts}
	for i := 2; i < len(record); i++ {
		if *into[i], err = strconv.ParseInt(record[i], 10, 64); err != nil {
			return r, fmt.Errorf("%s: %q is not a whole number", measuredColumns[i], record[i])
		}
	}
	switch {
	case r.scheme == "" || r.operation == "":
		return r, errors.New("scheme and operation must have names")
	case r.ranks < 1 || r.ranks > mostRanksMeasured:
		return r, fmt.Errorf("ranks: %d is not in 1..%d", r.ranks, mostRanksMeasured)
	case r.rank < 0 || r.rank >= r.ranks:
		return r, fmt.Errorf("rank %d is not one of %d ranks", r.rank, r.ranks)
	case r.size < 0 || r.executions < 1:
		return r, fmt.Errorf("size %d and executions %d: give at least 0 and 1", r.size, r.executions)
	case r.end < r.start || r.end-r.start < 0:
		return r, fmt.Errorf("ends at %d ns, before it began at %d ns", r.end, r.start)
	}
	return r, nil
}

func readMeasured(name string, data []byte) (*Dataset, error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord, r.ReuseRecord = len(measuredColumns), true
	if _, err := r.Read(); err != nil {
		return nil, csvError(name, err)
	}
	m := measurements{of: map[execution]*executionTimes{}}
	err := eachRecord(name, r, func(line int, record []string) error {
		row, err := parseMeasuredRow(record)
		if err == nil {
			err = m.add(&row, line)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, e := range m.list {
		if seen := int64(len(e.has)); seen != e.ranks {
			return nil, fmt.Errorf("%s:%d: repetition %d of %s has %d of %d ranks", name, e.line, e.repetition, e.operation, seen, e.ranks)
		}
	}
	return m.dataset(), nil
}

// measurements are executions in the order of the file.
type measurements struct {
	list []*executionTimes
	of   map[execution]*executionTimes
}

func (m *measurements) add(r *measuredRow, line int) error {
	e := m.of[r.execution]
	if e == nil {
		e = &executionTimes{execution: r.execution, line: line, executions: r.executions, has: map[int64]bool{}}
		m.of[r.execution] = e
		m.list = append(m.list, e)
	}
	if e.has[r.rank] {
		return fmt.Errorf("rank %d of repetition %d of %s is there twice", r.rank, r.repetition, r.operation)
	}
	e.has[r.rank] = true
	e.max = max(e.max, r.end-r.start)
	if r.rank == 0 {
		e.root = r.end - r.start
	}
	e.invalid, e.left = e.invalid || r.flags != 0, e.left || r.counts == 0
	return nil
}

// time is that of one execution, ns.
func (e *executionTimes) time() float64 {
	took := e.max
	if e.scheme == "mpptest" || e.scheme == "mpbench" {
		took = e.root
	}
	return float64(took) / float64(e.executions)
}

// launchesOf counts the launches of a point, and those that are left out.
type launchesOf struct{ all, left map[int64]bool }

type measuredPoint struct {
	scheme, operation string
	ranks, size       int64
}

func (e *executionTimes) point() measuredPoint {
	return measuredPoint{e.scheme, e.operation, e.ranks, e.size}
}

// dataset has the valid times. A point of which most launches are left out has none, and neither has an operation that was
// never measured well.
func (m *measurements) dataset() *Dataset {
	launches := map[measuredPoint]*launchesOf{}
	sizes := map[string][]int64{} // by operation
	var all []int64               // of operations that move data
	for _, e := range m.list {
		p := e.point()
		if launches[p] == nil {
			launches[p] = &launchesOf{map[int64]bool{}, map[int64]bool{}}
		}
		launches[p].all[e.launch] = true
		if e.left {
			launches[p].left[e.launch] = true
		}
		if !slices.Contains(sizes[e.operation], e.size) {
			sizes[e.operation] = append(sizes[e.operation], e.size)
		}
	}
	for _, list := range sizes {
		for _, size := range list {
			if (len(list) > 1 || size != 0) && !slices.Contains(all, size) {
				all = append(all, size)
			}
		}
	}
	slices.Sort(all)
	names := []string{"p"}
	if len(all) > 1 {
		names = append(names, "size")
	}
	d := New(names...)
	refused := 0
	for _, e := range m.list {
		l := launches[e.point()]
		good := len(l.all) - len(l.left)
		if good == 0 || 2*good < len(l.all) || l.left[e.launch] || e.invalid {
			refused++
			continue
		}
		metric := "time"
		if e.scheme != m.list[0].scheme {
			metric += "-" + e.scheme
		}
		at := []int64{e.size}
		if s := sizes[e.operation]; len(s) == 1 && s[0] == 0 && len(all) > 0 {
			at = all // what moves nothing stands at every size
		}
		series := d.Get(e.operation, metric)
		series.Unit = "ns"
		for _, size := range at {
			series.Add([]float64{float64(e.ranks), float64(size)}[:len(names)], e.time())
		}
	}
	if refused > 0 {
		d.warnf("executions that do not count are left out: %d of %d", refused, len(m.list))
	}
	return d
}
