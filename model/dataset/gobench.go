package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// go test -bench: lines
//
//	BenchmarkSort/n=1024-8   500   2345678 ns/op   16 B/op   2 allocs/op
//
// The name up to the first / is the function; parts key=value with a number are
// parameters, the number of processors at the end is dropped, other parts belong
// to the call path; a plain number is the parameter n if there is no other.

var goBenchFormat = Format{Name: "gobench", Info: "go test -bench", PlaceInName: true, Sniff: sniffGoBench, Read: readGoBench}

func sniffGoBench(head []byte) bool {
	for line := range bytes.Lines(head) {
		if isGoBench(string(line)) {
			return true
		}
	}
	return false
}

func isGoBench(line string) bool {
	fields := strings.Fields(line)
	if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
		return false
	}
	_, err := strconv.Atoi(fields[1])
	return err == nil
}

func readGoBench(name string, data []byte) (*Dataset, error) {
	d := New()
	var ignored, failed leftOut
	announced, ended := false, true
	err := eachLine(name, data, func(number int, line string) error {
		fields := strings.Fields(line)
		if !isGoBench(line) {
			switch {
			case len(fields) == 0:
			case fields[0] == "goos:" || fields[0] == "pkg:":
				announced = true
			case fields[0] == "PASS" || fields[0] == "FAIL" || fields[0] == "ok":
				ended = true
			case strings.HasPrefix(fields[0], "Benchmark"):
				ended = false
			case len(fields) > 2 && fields[0] == "---" && fields[1] == "FAIL:":
				failed.add(fields[2])
			}
			if len(fields) > 1 && (strings.HasPrefix(fields[0], "Benchmark") || slices.Contains(fields, "ns/op")) {
				ignored.add(fmt.Sprintf("line %d", number)) // a name alone has its result in a later line
			}
			return nil
		}
		ended = false
		if len(fields)%2 != 0 {
			return errors.New("has a value without a unit")
		}
		path, names, at := goBenchName(fields[0])
		if len(names) == 0 {
			d.warnf("%s has no parameter in its name, such as n=1024, and is left out", path)
			return nil
		}
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := parseFinite(fields[i])
			if err != nil {
				return err
			}
			d.Put(path, fields[i+1], names, at, v)
		}
		if len(d.Parameters) > MaxParameters {
			return fmt.Errorf("the benchmarks have more than %d parameters", MaxParameters)
		}
		return nil
	})
	failed.warn(d, "%s: benchmarks that failed", name)
	ignored.warn(d, "%s: lines of benchmarks without a result are left out", name)
	if announced && !ended {
		d.warnf("%s: neither PASS nor FAIL follows the last benchmark: the run was not finished, or the end of the file is lost", name)
	}
	return d, err
}

// goBenchName takes the name of a benchmark apart.
func goBenchName(name string) (path string, names []string, at []float64) {
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		if _, err := strconv.ParseUint(name[i+1:], 10, 32); err == nil {
			name = name[:i]
		}
	}
	parts := strings.Split(name, "/")
	rest := parts[:1:1]
	for _, part := range parts[1:] {
		key, value, ok := strings.Cut(part, "=")
		x, err := parseFinite(value)
		if !ok || err != nil || key == "" || slices.Contains(names, key) {
			rest = append(rest, part)
			continue
		}
		names, at = append(names, key), append(at, x)
	}
	if len(names) == 0 {
		for i, part := range rest[1:] {
			if x, err := parseFinite(part); err == nil {
				rest = append(rest[:1+i:1+i], rest[2+i:]...)
				return strings.Join(rest, "->"), []string{"n"}, []float64{x}
			}
		}
	}
	return strings.Join(rest, "->"), names, at
}
