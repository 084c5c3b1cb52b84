package dataset

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strings"
)

// OSU micro-benchmarks:
//
//	# OSU MPI Allreduce Latency Test v7.3
//	# Size       Avg Latency(us)
//	8                      11.49
//
// The number of processes is not in the file. Several data types (option -T of version 7, lines # Datatype: MPI_CHAR.) stand in front of
// the call paths.

var osuFormat = Format{Name: "osu", Info: "OSU micro-benchmarks", Lines: true, PlaceInName: true, Sniff: sniffOSU, Read: readOSU}

func sniffOSU(head []byte) bool { return bytes.Contains(head, []byte("# OSU ")) }

var (
	osuTitle = regexp.MustCompile(`^#\s*OSU\s+(?:MPI(?:-[A-Z]+)?\s+)?(.*?)\s*Test\b`)
	osuType  = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*Datatype:[ \t]*(\S+?)\.?[ \t]*$`)
	columns  = regexp.MustCompile(`\s{2,}|\t+`)
)

func readOSU(name string, data []byte) (*Dataset, error) {
	d := New()
	function, datatype, header := "", "", []string(nil)
	datatypes := map[string]bool{}
	for _, m := range osuType.FindAllSubmatch(data, -1) {
		datatypes[string(m[1])] = true
	}
	var ignored, early leftOut
	var rows tableCheck
	err := eachLine(name, data, func(number int, line string) error {
		text := strings.TrimSpace(line)
		if m := osuTitle.FindStringSubmatch(text); m != nil {
			function, datatype, header = m[1], "", nil
			if short := strings.TrimSpace(strings.TrimSuffix(function, "Latency")); short != "" {
				function = short
			}
			return nil
		}
		if m := osuType.FindStringSubmatch(text); m != nil && len(datatypes) > 1 {
			datatype = m[1] + "->"
			rows.begin()
			return nil
		}
		if rest, ok := strings.CutPrefix(text, "#"); ok {
			if strings.HasPrefix(strings.TrimSpace(rest), "OSU ") {
				return fmt.Errorf("is not a title such as \"# OSU MPI Allreduce Latency Test\"")
			}
			if strings.Contains(rest, "(") && !strings.Contains(rest, ":") {
				header = columns.Split(strings.TrimSpace(rest), -1)
				rows.begin()
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
		case function == "": // what other programs printed before, or the title is lost
			if len(fields) > 1 {
				early.add(fmt.Sprintf("line %d", number))
			}
		case header == nil:
			return fmt.Errorf("a row of %s comes before the names of its columns (# Size  Latency (us))", function)
		case len(fields) != len(header):
			return fmt.Errorf("has %d numbers below %d columns", len(fields), len(header))
		default:
			rows.row(header, fields, number)
			return d.addRow(datatype+function, header, fields, osuMetric)
		}
		return nil
	})
	early.warn(d, "%s: rows of numbers before the first title (# OSU ... Test) are left out", name)
	ignored.warn(d, "%s: lines in tables that are not rows of numbers are left out", name)
	rows.warn(d, name)
	return d, err
}

// tableCheck looks for what cannot be in a table of times by message size.
type tableCheck struct {
	sizes  map[string]bool // of the table
	twice  leftOut         // rows of a size that was there
	beyond leftOut         // rows whose mean is not between the extremes
}

// begin begins a table.
func (c *tableCheck) begin() { c.sizes = map[string]bool{} }

// row looks at a row, whose fields are numbers.
func (c *tableCheck) row(header, fields []string, number int) {
	where := fmt.Sprintf("line %d", number)
	least, mean, most := math.NaN(), math.NaN(), math.NaN()
	for i, column := range header {
		x, _ := parseFinite(fields[i])
		switch name := strings.TrimPrefix(strings.ToLower(column), "t_"); {
		case isSize(column):
			if c.sizes[fields[i]] {
				c.twice.add(where)
			}
			c.sizes[fields[i]] = true
		case strings.HasPrefix(name, "min"):
			least = x
		case strings.HasPrefix(name, "avg"):
			mean = x
		case strings.HasPrefix(name, "max"):
			most = x
		}
	}
	if slack := 0.01 + 1e-6*math.Abs(mean); mean < least-slack || mean > most+slack { // of what was rounded
		c.beyond.add(where)
	}
}

// warn warns of what was found.
func (c *tableCheck) warn(d *Dataset, name string) {
	c.twice.warn(d, "%s: rows of a size that is in the same table already (is a line there twice?)", name)
	c.beyond.warn(d, "%s: rows whose mean is not between minimum and maximum (are they damaged?)", name)
}

// isSize reports whether a column is the size of messages.
func isSize(column string) bool { return column == "Size" || column == "#bytes" || column == "size" }

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
		if isSize(header[i]) {
			names, at = append(names, "bytes"), append(at, x)
		}
	}
	for i, column := range header {
		if m := metric(column); m != "" && !isSize(column) {
			d.Put(function, m, names, at, numbers[i])
		}
	}
	return nil
}
