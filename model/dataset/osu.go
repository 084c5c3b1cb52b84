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

var osuFormat = Format{Name: "osu", Info: "OSU micro-benchmarks", PlaceInName: true, Sniff: sniffOSU, Read: readOSU}

func sniffOSU(head []byte) bool { return bytes.Contains(head, []byte("# OSU ")) }

var (
	osuTitle = regexp.MustCompile(`^#\s*OSU\s+(?:MPI(?:-[A-Z]+)?\s+)?(.*?)\s*Test\b`)
	columns  = regexp.MustCompile(`\s{2,}|\t+`)
)

func readOSU(name string, data []byte) (*Dataset, error) {
	d := New()
	function, header := "", []string(nil)
	var ignored leftOut
	err := eachLine(name, data, func(number int, line string) error {
		text := strings.TrimSpace(line)
		if m := osuTitle.FindStringSubmatch(text); m != nil {
			function, header = m[1], nil
			if short := strings.TrimSpace(strings.TrimSuffix(function, "Latency")); short != "" {
				function = short
			}
			return nil
		}
		if rest, ok := strings.CutPrefix(text, "#"); ok {
			if strings.HasPrefix(strings.TrimSpace(rest), "OSU ") {
				return fmt.Errorf("is not a title such as \"# OSU MPI Allreduce Latency Test\"")
			}
			if strings.Contains(rest, "(") && !strings.Contains(rest, ":") {
				header = columns.Split(strings.TrimSpace(rest), -1)
			}
			return nil
		}
		fields := strings.Fields(text)
		switch {
		case len(fields) == 0:
		case !looksLikeRow(fields) && !isRow(fields): // of the launcher, or damaged
			if header != nil {
				ignored.add(fmt.Sprintf("line %d", number))
			}
		case function == "": // what other programs printed before
		case header == nil:
			return fmt.Errorf("a row of %s comes before the names of its columns (# Size  Latency (us))", function)
		case len(fields) != len(header):
			return fmt.Errorf("has %d numbers below %d columns", len(fields), len(header))
		default:
			return d.addRow(function, header, fields, osuMetric)
		}
		return nil
	})
	ignored.warn(d, "%s: lines in tables that are not rows of numbers are left out", name)
	return d, err
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
