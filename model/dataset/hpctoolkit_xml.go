package dataset

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Databases of HPCToolkit before 2022, directories with a file experiment.xml. The DTD at its start says what its elements are:
//
//	<Metric i="2" n="CPUTIME (usec):Sum (I)" t="inclusive"/>    in the header; the number of a metric, its name with unit and statistic
//	<Procedure i="7" n="main"/>                                 in the header; the number of a function, its name
//	<SecCallPathProfileData>                                    the calls: M holds a value of the element around it
//	  <M n="2" v="4e+06"/>
//	  <PF n="7"><M n="2" v="4e+06"/>                            a call of a function; Pr: one inline
//	    <L><S l="12"><M n="3" v="1e+06"/></S></L>               a loop, a line
//	    <C l="15"><PF n="9">...</PF></C>                        a line that calls
//
// Call paths and values are as in databases of version 4: inclusive values are those of calls, summed over the lines that make them,
// exclusive ones are summed over the lines of a function. The number of ranks is that of ranks in the names of the files *.metric-db,
// which hold the values of single threads and are not read.

var hpctoolkitXMLFormat = Format{
	Name: "hpctoolkit-xml", Info: "HPCToolkit database before version 4", PlaceInName: true, OfRuns: true,
	Sniff: func(head []byte) bool { return hpcXMLTitle.Match(head) },
	Read: func(name string, _ []byte) (*Dataset, error) {
		return nil, fmt.Errorf("%s: is one file of an HPCToolkit database; give the directory with its %s", name, hpcXMLFile)
	},
	Mark: hpcXMLFile, ReadDir: readHPCToolkitXML,
}

const hpcXMLFile = "experiment.xml"

var (
	hpcXMLTitle      = regexp.MustCompile(`(?s)^\s*<\?xml.*<HPCToolkitExperiment\s`)
	hpcXMLMetric     = regexp.MustCompile(`^(.+?)(?: ?\((usec|us|sec|B)\))?(?::([^ ]+))?(?: \([IE]\))?$`)
	hpcXMLElementTag = regexp.MustCompile(`<[^!?]`)
	isNumber         = regexp.MustCompile(`^[0-9]+$`)
	hpcXMLThread     = regexp.MustCompile(`-(\d+)-\d+-[0-9a-f]+-\d+-\d+\.metric-db$`)

	// hpcXMLUnits are the units of metrics in ours.
	hpcXMLUnits = map[string]struct {
		name   string
		factor float64
	}{"usec": {"s", 1e-6}, "us": {"s", 1e-6}, "sec": {"s", 1}, "B": {"B", 1}, "": {"", 1}}
)

// hpcXML reads an experiment.xml.
type hpcXML struct {
	hpcTree
	file    string
	d       *xml.Decoder
	known   map[string]bool   // numbers of all metrics of the file
	numbers map[string]uint16 // of metrics, by those of the file
	factors []float64         // by number of the metric
	names   map[string]string // of functions
	open    []hpcXMLElement
	sums    map[hpcKey]float64
	order   []hpcKey
}

// hpcXMLElement is an element that has not ended.
type hpcXMLElement struct {
	tag   string
	calls bool     // it is inside of the calls, or holds them
	frame hpcFrame // the function that it is in
	total bool     // its inclusive values are those of its call path
	given []string // metrics
}

func readHPCToolkitXML(name string, dir fs.FS) (*Dataset, error) {
	f, err := dir.Open(hpcXMLFile)
	if err != nil {
		return nil, err
	}
	x := &hpcXML{
		hpcTree: hpcTree{hpcPaths: newHPCPaths(), metrics: map[uint16]hpcMetric{}},
		file:    path.Join(name, hpcXMLFile), d: xml.NewDecoder(f), known: map[string]bool{}, numbers: map[string]uint16{},
		names: map[string]string{}, sums: map[hpcKey]float64{},
	}
	err = errors.Join(x.read(), f.Close())
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, err
	}
	ranks := map[string]bool{}
	for _, e := range entries {
		if m := hpcXMLThread.FindStringSubmatch(e.Name()); m != nil {
			ranks[m[1]] = true
		}
	}
	d := New()
	return d, x.put(x.file, d, x.sums, x.order, len(ranks))
}

// fail is an error at the current place.
func (x *hpcXML) fail(format string, args ...any) error {
	line, _ := x.d.InputPos()
	return fmt.Errorf("%s:%d: %w", x.file, line, fmt.Errorf(format, args...))
}

func (x *hpcXML) read() error {
	for {
		token, err := x.d.RawToken()
		if err == io.EOF && len(x.open) == 0 {
			break
		}
		if err != nil {
			return x.fail("%w; the file is not complete or damaged: copy it again, or write it again with hpcprof", err)
		}
		if x.d.InputOffset() > maxFileBytes {
			return x.fail("more than %d MiB; such a database is not read", maxFileBytes>>20)
		}
		switch t := token.(type) {
		case xml.StartElement:
			err = x.start(t)
		case xml.Directive:
			if len(x.open) > 0 || hpcXMLElementTag.Match(t) {
				err = x.fail("a declaration among elements, or around them; the file is damaged")
			}
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 { // such as an element without its <
				err = x.fail("text among elements; the file is damaged")
			}
		case xml.EndElement:
			if n := len(x.open) - 1; n < 0 || x.open[n].tag != t.Name.Local {
				err = x.fail("the end of %s, which is not the element that is open; the file is damaged", t.Name.Local)
			} else {
				x.open = x.open[:n]
			}
		}
		if err != nil {
			return err
		}
	}
	switch {
	case len(x.metrics) == 0:
		return fmt.Errorf("%s: none of %d metrics has a sum over threads; write the database with 'hpcprof -M sum'", x.file, x.without.count)
	case len(x.order) == 0:
		return fmt.Errorf("%s: has no values of call paths, because hpcprof kept them elsewhere; write the database again with a version of "+
			"2022 or later", x.file)
	}
	return nil
}

// start reads the start of an element.
func (x *hpcXML) start(t xml.StartElement) error {
	var e hpcXMLElement
	if n := len(x.open); n > 0 {
		e.frame, e.calls = x.open[n-1].frame, x.open[n-1].calls
	}
	attribute := func(name string) string {
		for _, a := range t.Attr {
			if a.Name.Local == name {
				return a.Value
			}
		}
		return ""
	}
	switch e.tag = t.Name.Local; e.tag {
	case "Metric":
		if i := attribute("i"); x.known[i] || !isNumber.MatchString(i) {
			return x.fail("a metric has the number %q, which is another one's or none; the file is damaged", i)
		}
		x.known[attribute("i")] = true
		x.metric(attribute("i"), attribute("n"), attribute("t") == "inclusive")
	case "Procedure":
		x.names[attribute("i")] = attribute("n")
	case "SecCallPathProfileData":
		e.frame, e.calls, e.total = hpcFrame{0, true}, true, true
	case "PF", "Pr":
		name, ok := x.names[attribute("n")]
		if !ok {
			name = attribute("n")
		}
		switch {
		case !e.calls:
			return x.fail("a call outside of the calls; the file is damaged")
		case name == "": // not known
			e.frame = x.call(e.frame, hpcUnknown)
		case name != "<program root>": // what the main thread starts with
			e.frame = x.call(e.frame, name)
		}
		e.total = e.frame.whole && name != "<program root>"
	case "M":
		if !e.calls {
			return x.fail("a value outside of the calls; the file is damaged")
		}
		if err := x.value(&x.open[len(x.open)-1], attribute("n"), attribute("v")); err != nil {
			return err
		}
	}
	x.open = append(x.open, e)
	return nil
}

// metric keeps a metric, if it is a sum over threads.
func (x *hpcXML) metric(number, full string, inclusive bool) {
	m := hpcXMLMetric.FindStringSubmatch(full)
	if m == nil || m[3] != "" && m[3] != "Sum" || len(x.factors) > 1<<15 {
		x.without.add(full)
		return
	}
	unit, i := hpcXMLUnits[m[2]], uint16(len(x.factors))
	metric := hpcMetric{m[1], unit.name, inclusive}
	if inclusive {
		metric.name = "inclusive_" + metric.name
	}
	for _, other := range x.metrics {
		if other.name == metric.name {
			x.without.add(full)
			return
		}
	}
	x.numbers[number], x.metrics[i], x.factors = i, metric, append(x.factors, unit.factor)
}

// value adds a value of an element: inclusive ones of calls, exclusive ones of lines.
func (x *hpcXML) value(of *hpcXMLElement, number, text string) error {
	if !x.known[number] {
		return x.fail("a value of the metric %q, which is not one of the header; the file is damaged", number)
	}
	if slices.Contains(of.given, number) {
		return x.fail("two values of the metric %q in one place; the file is damaged", number)
	}
	of.given = append(of.given, number)
	metric, ok := x.numbers[number]
	isLine := of.tag == "S" || of.tag == "C"
	if !ok || x.metrics[metric].inclusive && !of.total || !x.metrics[metric].inclusive && !isLine {
		return nil
	}
	v, err := parseFinite(strings.TrimSpace(text))
	if err != nil {
		return x.fail("the value of a metric: %w", err)
	}
	key := hpcKey{of.frame.path, metric}
	old, there := x.sums[key]
	sum := old + v*x.factors[metric]
	if math.IsInf(sum, 0) {
		return x.fail("a value is too large to be added; the file is damaged")
	}
	if x.sums[key] = sum; !there {
		if x.order = append(x.order, key); len(x.order) > maxHPCValues {
			return x.fail("more than %d values of call paths; such a database is not read", maxHPCValues)
		}
	}
	return nil
}
