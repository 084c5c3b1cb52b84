package dataset

import (
	"bytes"
	"cmp"
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
// parameters, other parts belong to the call path; a plain number is the parameter
// n if there is no other. The number of processors at the end is dropped, unless an
// output has a benchmark with several of them (-cpu 1,8): then it is the parameter
// cpus. If an output has several packages, they stand in front of the call paths.

var goBenchFormat = Format{Name: "gobench", Info: "go test -bench", Lines: true, PlaceInName: true, Sniff: sniffGoBench, Read: readGoBench}

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

// goResult is a line with the results of a benchmark.
type goResult struct {
	name   string // without the number of processors
	cpus   float64
	pkg    string // empty: not known
	values []float64
	units  []string
}

func readGoBench(name string, data []byte) (*Dataset, error) {
	d := New()
	var results []goResult
	var ignored leftOut
	var packages goPackages
	err := eachLine(name, data, func(number int, line string) error {
		fields := strings.Fields(line)
		if !isGoBench(line) {
			if pkg, ended := packages.line(fields, number); ended { // also of those whose line pkg: is missing
				for i := len(results) - 1; i >= 0 && results[i].pkg == ""; i-- {
					results[i].pkg = pkg
				}
			}
			if len(fields) > 1 && (strings.HasPrefix(fields[0], "Benchmark") || slices.Contains(fields, "ns/op")) {
				ignored.add(fmt.Sprintf("line %d", number)) // a name alone has its result in a later line
			}
			return nil
		}
		packages.benchmark(number)
		if len(fields)%2 != 0 {
			return errors.New("has a value without a unit")
		}
		r := goResult{pkg: packages.name}
		r.name, r.cpus = cutProcessors(fields[0])
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := parseFinite(fields[i])
			if err != nil {
				return err
			}
			r.values, r.units = append(r.values, v), append(r.units, fields[i+1])
		}
		results = append(results, r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	packages.end()
	packages.failed.warn(d, "%s: benchmarks that failed", name)
	packages.broken.warn(d, "%s: packages that failed as a whole (a panic or a build that failed?), whose benchmarks are missing or not all "+
		"there", name)
	ignored.warn(d, "%s: lines of benchmarks without a result are left out", name)
	packages.cut.warn(d, "%s: packages in which neither PASS nor FAIL follows the last benchmark (not finished, or lines are lost)",
		name)
	return d, d.addGoResults(results)
}

// addGoResults adds results, told apart by what differs among them.
func (d *Dataset) addGoResults(results []goResult) error {
	packages, processors := false, false
	type benchmark struct{ pkg, name string }
	cpus := map[benchmark]float64{}
	for _, r := range results {
		packages = packages || r.pkg != results[0].pkg
		first, seen := cpus[benchmark{r.pkg, r.name}]
		processors = processors || seen && first != r.cpus
		cpus[benchmark{r.pkg, r.name}] = r.cpus
	}
	for _, r := range results {
		path, names, at := goBenchName(r.name)
		if packages && r.pkg != "" {
			path = r.pkg + "->" + path
		}
		if processors {
			parameter := "cpus"
			if slices.Contains(names, parameter) {
				parameter = "gomaxprocs"
			}
			names, at = append(names, parameter), append(at, r.cpus)
		}
		if len(names) == 0 {
			d.warnf("%s has no parameter in its name, such as n=1024, and is left out", path)
			continue
		}
		for i, v := range r.values {
			d.Put(path, r.units[i], names, at, v)
		}
		if len(d.Parameters) > MaxParameters {
			return fmt.Errorf("the benchmarks have more than %d parameters", MaxParameters)
		}
	}
	return nil
}

// goPackages follows the packages of an output: their heads (goos:, pkg:), PASS or FAIL, and ok or FAIL with their names.
type goPackages struct {
	heads bool // there are any
	goPackage
	failed leftOut // benchmarks and tests
	broken leftOut // packages that failed, and not in a benchmark or test
	cut    leftOut // packages without an end
}

// goPackage is one of them.
type goPackage struct {
	name   string // empty: not known
	first  int    // line; 0: none was there yet
	named  bool   // no name can follow
	open   bool   // its end has to follow
	fails  bool   // a benchmark or test of it failed
	panics bool
}

// line looks at a line that is no result. It returns the name of a package that ends there.
func (g *goPackages) line(fields []string, number int) (pkg string, ended bool) {
	if len(fields) == 0 {
		return "", false
	}
	switch word := fields[0]; {
	case word == "goos:":
		g.end()
		g.heads, g.goPackage = true, goPackage{first: number, open: true}
	case word == "pkg:" && len(fields) > 1:
		if g.named || g.first == 0 {
			g.end()
			g.heads, g.goPackage = true, goPackage{first: number, open: true}
		}
		g.name, g.named = fields[1], true
	case strings.HasPrefix(word, "Benchmark"):
		g.benchmark(number)
	case word == "panic:":
		g.panics = true
	case word == "---" && len(fields) > 2 && fields[1] == "FAIL:":
		g.fails = true
		g.failed.add(fields[2])
	case len(fields) == 1 && (word == "PASS" || word == "FAIL"):
		g.open = false
	case len(fields) > 1 && (word == "ok" || word == "FAIL"):
		if pkg = fields[1]; g.name != "" && g.name != pkg { // the end of one and the start of the other are lost
			g.open = true
			g.end()
		}
		if word == "FAIL" && (g.panics || !g.fails) {
			g.broken.add(pkg)
		}
		g.goPackage = goPackage{}
		return pkg, true
	}
	return "", false
}

// benchmark notes that one starts in a line, or its result.
func (g *goPackages) benchmark(number int) {
	g.first, g.named, g.open = cmp.Or(g.first, number), true, true
}

// end notes a package that ends without a word of it.
func (g *goPackages) end() {
	if g.heads && g.open {
		g.cut.add(cmp.Or(g.name, fmt.Sprintf("that of line %d", g.first)))
	}
}

// cutProcessors takes the number of processors off the name of a benchmark: without one it is 1.
func cutProcessors(name string) (string, float64) {
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		if n, err := strconv.ParseUint(name[i+1:], 10, 32); err == nil {
			return name[:i], float64(n)
		}
	}
	return name, 1
}

// goBenchName takes the name of a benchmark apart.
func goBenchName(name string) (path string, names []string, at []float64) {
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
