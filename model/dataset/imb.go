package dataset

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// Intel MPI Benchmarks: blocks
//
//	# Benchmarking Allreduce
//	# #processes = 64
//	       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
//	            8         1000        10.11        10.53        10.32

func sniffIMB(head []byte) bool {
	return bytes.Contains(head, []byte("# Benchmarking ")) && bytes.Contains(head, []byte("#processes"))
}

var (
	imbTitle     = regexp.MustCompile(`^#\s*Benchmarking\s+(\S+)`)
	imbProcesses = regexp.MustCompile(`^#\s*#processes\s*=\s*(\d+)`)
)

func readIMB(name string, data []byte) (*Dataset, error) {
	d := New()
	function, header := "", []string(nil)
	processes := 0.0
	number := 0
	for line := range bytes.Lines(data) {
		number++
		text := strings.TrimSpace(string(line))
		if m := imbTitle.FindStringSubmatch(text); m != nil {
			function, header, processes = m[1], nil, 0
			continue
		}
		if m := imbProcesses.FindStringSubmatch(text); m != nil {
			processes, _ = parseFinite(m[1])
			continue
		}
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		if fields[0] == "#bytes" || fields[0] == "#repetitions" {
			header = fields
			continue
		}
		if strings.HasPrefix(text, "#") || header == nil || function == "" || len(fields) != len(header) {
			continue // comments, and what other parts of the output say
		}
		if _, err := parseFinite(fields[0]); err != nil {
			continue
		}
		if processes == 0 {
			return nil, fmt.Errorf("%s:%d: the block of %s has no line \"# #processes = N\"", name, number, function)
		}
		if err := d.addIMB(function, processes, header, fields); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, number, err)
		}
	}
	for _, series := range d.Series {
		series.Unit = "us"
	}
	return d, nil
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
