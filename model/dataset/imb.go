package dataset

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Intel MPI Benchmarks: blocks
//
//	# Benchmarking Allreduce
//	# #processes = 64
//	       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
//	            8         1000        10.11        10.53        10.32

var imbFormat = Format{Name: "imb", Info: "Intel MPI Benchmarks", Lines: true, PlaceInName: true, Sniff: sniffIMB, Read: readIMB}

func sniffIMB(head []byte) bool {
	return bytes.Contains(head, []byte("# Benchmarking ")) && bytes.Contains(head, []byte("#processes"))
}

var (
	imbTitle     = regexp.MustCompile(`^#\s*Benchmarking\s+(\S+)`)
	imbProcesses = regexp.MustCompile(`^#\s*#processes\s*=\s*(\d+)`)
)

// imbIgnored are the columns that are not measurements of time.
var imbIgnored = []string{"#bytes", "#repetitions", "Mbytes/sec", "Msg/sec", "defects", "overlap", "t_pure", "t_CPU", "t_ovrl"}

// imbReader is the state of reading a file.
type imbReader struct {
	d         *Dataset
	function  string   // of the block
	processes float64  // 0: not known yet
	header    []string // nil: not known yet
	rows      int      // of the block
	ignored   leftOut  // lines in tables that are not rows
	columns   leftOut  // with unknown names
	empty     leftOut  // blocks
	early     leftOut  // rows below names of columns, but no title
	table     tableCheck
}

func readIMB(name string, data []byte) (*Dataset, error) {
	r := &imbReader{d: New()}
	err := eachLine(name, data, func(number int, line string) error { return r.line(strings.TrimSpace(line), number) })
	r.endBlock()
	for _, series := range r.d.Series {
		series.Unit = "us"
	}
	r.early.warn(r.d, "%s: rows of numbers before the first title (# Benchmarking NAME) are left out", name)
	r.ignored.warn(r.d, "%s: lines in tables that are not rows of numbers are left out", name)
	r.columns.warn(r.d, "%s: columns with unknown names are left out", name)
	r.empty.warn(r.d, "%s: blocks without rows", name)
	r.table.warn(r.d, name)
	return r.d, err
}

// endBlock notes a block of which nothing was read.
func (r *imbReader) endBlock() {
	if r.function != "" && r.rows == 0 {
		r.empty.add(r.function)
	}
}

func (r *imbReader) line(text string, number int) error {
	fields := strings.Fields(text)
	switch {
	case len(fields) == 0:
		return nil
	case imbTitle.MatchString(text):
		r.endBlock()
		r.function, r.header, r.processes, r.rows = imbTitle.FindStringSubmatch(text)[1], nil, 0, 0
		return nil
	case imbProcesses.MatchString(text):
		if r.rows > 0 || r.function == "" {
			return fmt.Errorf("the block that begins here has no line \"# Benchmarking NAME\"")
		}
		r.processes, _ = parseFinite(imbProcesses.FindStringSubmatch(text)[1])
		return nil
	case fields[0] == "#bytes" || fields[0] == "#repetitions":
		if r.rows > 0 {
			return fmt.Errorf("the block that begins here has no line \"# Benchmarking NAME\"")
		}
		r.header = fields
		r.table.begin()
		for _, column := range fields {
			plain, _, _ := strings.Cut(column, "[")
			if imbMetric(column) == "" && !slices.Contains(imbIgnored, plain) {
				r.columns.add(fmt.Sprintf("%q in line %d", column, number))
			}
		}
		return nil
	case strings.HasPrefix(text, "#"):
		return nil
	case !looksLikeRow(fields) && !isRow(fields):
		if r.header != nil { // of the launcher, or damaged
			r.ignored.add(fmt.Sprintf("line %d", number))
		}
		return nil
	case r.function == "": // what other programs printed before, or the title is lost
		if r.header != nil {
			r.early.add(fmt.Sprintf("line %d", number))
		}
		return nil
	case r.header == nil:
		return fmt.Errorf("a row of the block of %s comes before the names of its columns (#bytes #repetitions ...)", r.function)
	case len(fields) != len(r.header):
		return fmt.Errorf("has %d numbers below %d columns", len(fields), len(r.header))
	case r.processes == 0:
		return fmt.Errorf("the block of %s has no line \"# #processes = N\"", r.function)
	}
	r.rows++
	r.table.row(r.header, fields, number)
	return r.d.addIMB(r.function, r.processes, r.header, fields)
}

// addIMB adds the numbers of a row.
func (d *Dataset) addIMB(function string, processes float64, header, fields []string) error {
	row := New()
	if err := row.addRow(function, header, fields, imbMetric); err != nil {
		return err
	}
	for _, s := range row.Series {
		names, at := []string{"p"}, []float64{processes}
		d.Put(s.CallPath, s.Metric, append(names, row.Parameters...), append(at, s.Points[0].At...), s.Points[0].Values...)
	}
	return nil
}

// imbMetric returns the metric of a column; empty: it is none.
func imbMetric(column string) string {
	metric, _, _ := strings.Cut(column, "[")
	switch metric {
	case "t", "t_min", "t_max", "t_avg":
		return metric
	}
	return ""
}
