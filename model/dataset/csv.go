package dataset

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// CSV: a line of names, then one line for each value. The columns callpath (or
// function), metric and unit may be missing, repetition is passed over; the values are
// in the column value or, where there is none, in one called time, run_time,
// runtime, elapsed, duration or seconds, which is the metric then. All other
// columns are parameters.
//
//	callpath,metric,p,value
//	main->f,time,16,1.5
//
//	p,time
//	16,1.5

var csvFormat = Format{
	Name: "csv", Info: "CSV", Lines: true, Suffix: ".csv", PlaceInName: true, Sniff: sniffCSV, Read: readCSV,
	Write: func(d *Dataset, w io.Writer, _ any) error { return d.WriteCSV(w) },
}

// columnRoles are the names of the columns that are not parameters.
var columnRoles = map[string]string{
	"callpath": "callpath", "call_path": "callpath", "path": "callpath", "function": "callpath", "region": "callpath",
	"metric": "metric", "value": "value", "repetition": "", "rep": "", "unit": "unit",
}

// columnsOfTime are the names of the columns that hold the values where none is called value.
var columnsOfTime = []string{"time", "run_time", "runtime", "elapsed", "duration", "seconds"}

// valueColumn returns the place of the column of the values, -1 if there is none, and the metric that it names.
func valueColumn(header []string) (place int, metric string) {
	place = -1
	for i, column := range header {
		column = strings.ToLower(strings.TrimSpace(column))
		if column == "value" {
			return i, ""
		}
		if place < 0 && slices.Contains(columnsOfTime, column) {
			place, metric = i, column
		}
	}
	return place, metric
}

func sniffCSV(head []byte) bool {
	line, _, more := bytes.Cut(head, []byte{'\n'})
	if !more {
		return false
	}
	header := strings.Split(strings.ReplaceAll(string(line), `"`, ""), ",")
	place, _ := valueColumn(header)
	return place >= 0 && len(header) > 1
}

func readCSV(name string, data []byte) (*Dataset, error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.Comment, r.TrimLeadingSpace, r.ReuseRecord = '#', true, true
	header, err := r.Read()
	if err != nil {
		return nil, csvError(name, err)
	}
	d := New()
	roles := make([]string, len(header)) // "" for what is passed over, "p" and a place for parameters
	given := map[string]string{}
	places := make([]int, len(header))
	value, metric := valueColumn(header)
	if value < 0 {
		return nil, fmt.Errorf("%s:1: has no column value or time; the columns are callpath, metric, the parameters, value", name)
	}
	for i, column := range header {
		column = strings.TrimSpace(column)
		role, known := columnRoles[strings.ToLower(column)]
		switch {
		case i == value:
			role = "value"
		case role == "value":
			return nil, fmt.Errorf("%s:1: has two columns value; leave one out", name)
		case !known:
			role, places[i] = "parameter", len(d.Parameters)
			d.Parameters = append(d.Parameters, column)
		}
		if before, twice := given[role]; twice && (role == "callpath" || role == "metric" || role == "unit") {
			return nil, fmt.Errorf("%s:1: the columns %s and %s both are the %s; leave one out", name, before, column, role)
		}
		given[role], roles[i] = column, role
	}
	if err := checkNames(d.Parameters); err != nil {
		return nil, fmt.Errorf("%s:1: %w", name, err)
	}
	return d, eachRecord(name, r, func(_ int, record []string) error {
		return d.addRecord(record, roles, places, cmp.Or(metric, DefaultMetric))
	})
}

// eachRecord calls read with the records of a CSV and their lines, and names the place of its error.
func eachRecord(name string, r *csv.Reader, read func(line int, record []string) error) error {
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return csvError(name, err)
		}
		line, _ := r.FieldPos(0)
		if err := read(line, record); err != nil {
			return fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
}

func (d *Dataset) addRecord(record, roles []string, places []int, metric string) error {
	path, value, unit := RootPath, math.NaN(), ""
	at := make([]float64, len(d.Parameters))
	for i, field := range record {
		field = strings.TrimSpace(field)
		var err error
		switch roles[i] {
		case "callpath":
			path = strings.Clone(field)
		case "metric":
			metric = strings.Clone(field)
		case "unit":
			unit = strings.Clone(field)
		case "value":
			if field != "" && !strings.EqualFold(field, "nan") {
				value, err = parseFinite(field)
			}
		case "parameter":
			at[places[i]], err = parseFinite(field)
		}
		if err != nil {
			return err
		}
	}
	if len(unit) > maxNameBytes {
		return fmt.Errorf("the unit has %d bytes; at most %d are allowed", len(unit), maxNameBytes)
	}
	if !math.IsNaN(value) {
		s := d.Get(path, metric)
		s.takeUnit(unit)
		if err := s.checkUnits(); err != nil {
			return err
		}
	}
	d.addPresent(path, metric, at, values{value})
	return nil
}

// csvError describes what the reader found in our words.
func csvError(name string, err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return fmt.Errorf("%s:%d: %w", name, parse.Line, parse.Err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// WriteCSV writes the dataset as CSV; the column unit is there if a series has one.
func (d *Dataset) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	units := slices.ContainsFunc(d.Series, func(s *Series) bool { return s.Unit != "" })
	line := func(path, metric, unit string, rest ...string) error {
		record := []string{path, metric}
		if units {
			record = append(record, unit)
		}
		return out.Write(append(record, rest...))
	}
	if err := line("callpath", "metric", "unit", append(slices.Clone(d.Parameters), "repetition", "value")...); err != nil {
		return err
	}
	for _, s := range d.Series {
		for _, p := range d.withBlanks(s) {
			at := make([]string, len(p.At))
			for i, x := range p.At {
				at[i] = decimal(x)
			}
			if len(p.Values) == 0 {
				if err := line(s.CallPath, s.Metric, s.Unit, append(at, "0", "")...); err != nil {
					return err
				}
			}
			for i, v := range p.Values {
				if err := line(s.CallPath, s.Metric, s.Unit, append(slices.Clone(at), strconv.Itoa(i), decimal(v))...); err != nil {
					return err
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}
