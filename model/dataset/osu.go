package dataset

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// OSU micro-benchmarks:
//
//	# OSU MPI Allreduce Latency Test v7.3
//	# Size       Avg Latency(us)
//	8                      11.49
//
// The number of processes is not in the file.

func sniffOSU(head []byte) bool { return bytes.Contains(head, []byte("# OSU ")) }

var (
	osuTitle = regexp.MustCompile(`^#\s*OSU\s+(?:MPI(?:-[A-Z]+)?\s+)?(.*?)\s*Test\b`)
	columns  = regexp.MustCompile(`\s{2,}|\t+`)
)

func readOSU(name string, data []byte) (*Dataset, error) {
	d := New()
	function, header := "", []string(nil)
	number := 0
	for line := range bytes.Lines(data) {
		number++
		text := strings.TrimSpace(string(line))
		if m := osuTitle.FindStringSubmatch(text); m != nil {
			function, header = m[1], nil
			if short := strings.TrimSpace(strings.TrimSuffix(function, "Latency")); short != "" {
				function = short
			}
			continue
		}
		if rest, ok := strings.CutPrefix(text, "#"); ok {
			if strings.Contains(rest, "(") && !strings.Contains(rest, ":") {
				header = columns.Split(strings.TrimSpace(rest), -1)
			}
			continue
		}
		fields := strings.Fields(text)
		if len(fields) == 0 || header == nil || function == "" {
			continue // what the launcher says
		}
		if _, err := parseFinite(fields[0]); err != nil {
			continue
		}
		if len(fields) != len(header) {
			return nil, fmt.Errorf("%s:%d: has %d numbers below %d columns", name, number, len(fields), len(header))
		}
		if err := d.addRow(function, header, fields, osuMetric); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, number, err)
		}
	}
	return d, nil
}

// osuMetric returns the metric of a column; empty: it is none.
func osuMetric(column string) string {
	if column == "Iterations" {
		return ""
	}
	return strings.ReplaceAll(column, " (", "(")
}

// addRow adds the numbers of a row of a table whose columns are named. The size
// of the messages is the parameter bytes.
func (d *Dataset) addRow(function string, header, fields []string, metric func(string) string) error {
	var names []string
	var at []float64
	numbers := make([]float64, len(fields))
	for i, field := range fields {
		x, err := parseFinite(field)
		if err != nil {
			return err
		}
		numbers[i] = x
		if header[i] == "Size" || header[i] == "#bytes" {
			names, at = append(names, "bytes"), append(at, x)
		}
	}
	for i, column := range header {
		if m := metric(column); m != "" && column != "Size" && column != "#bytes" {
			d.Put(function, m, names, at, numbers[i])
		}
	}
	return nil
}
