package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Extra-P text: lines of a keyword and its rest; # begins a comment.
//
//	PARAMETER p n
//	POINTS (8 100) (16 100)
//	METRIC time
//	REGION main->solve
//	DATA 1.1 1.2
//	DATA 2.1 2.0
//
// The k-th DATA after a REGION or METRIC belongs to the k-th point.

var extraPTextFormat = Format{
	Name: "extrap-text", Info: "Extra-P text", Lines: true, Suffix: ".txt", Sniff: sniffExtraPText, Read: readExtraPText,
	Write: func(d *Dataset, w io.Writer, _ any) error { return d.WriteExtraPText(w) },
}

func sniffExtraPText(head []byte) bool {
	for line := range bytes.Lines(head) {
		text := strings.TrimSpace(string(line))
		if text == "" || text[0] == '#' {
			continue
		}
		word, _, _ := strings.Cut(text, " ")
		switch word {
		case "PARAMETER", "POINTS", "METRIC", "REGION", "EXPERIMENT":
			return true
		}
		return false
	}
	return false
}

// waitsFor is what has been named and has no DATA yet.
type waitsFor uint8

const (
	nothing waitsFor = iota
	metricData
	regionData
)

// textReader is the state of reading Extra-P text.
type textReader struct {
	d              *Dataset
	points         [][]float64
	numbers        []float64 // of POINTS so far, in groups of the parameters
	region, metric string
	next           int // point of the next DATA
	short, bare    leftOut
	named          waitsFor
}

// endSeries notes that points of a region have no DATA: if it is not the last ones that are missing, values are at wrong points.
func (r *textReader) endSeries() {
	if r.next > 0 && r.next < len(r.points) {
		r.short.add(fmt.Sprintf("%s %s with %d", r.region, r.metric, r.next))
	}
	r.next = 0
}

// endRegion notes that DATA is missing.
func (r *textReader) endRegion(since waitsFor) {
	if r.named >= since {
		r.bare.add(fmt.Sprintf("%q", r.region))
	}
}

func readExtraPText(name string, data []byte) (*Dataset, error) {
	r := &textReader{d: New(), region: RootPath, metric: DefaultMetric}
	err := eachLine(name, data, func(_ int, line string) error {
		text := strings.TrimSpace(line)
		if text == "" || text[0] == '#' {
			return nil
		}
		word, rest := text, ""
		if i := strings.IndexAny(text, " \t"); i >= 0 {
			word, rest = text[:i], strings.TrimSpace(text[i:])
		}
		return r.line(word, rest)
	})
	if err != nil {
		return nil, err
	}
	if r.d.Parameters == nil {
		return nil, fmt.Errorf("%s: has no line PARAMETER", name)
	}
	r.endSeries()
	r.endRegion(metricData)
	r.bare.warn(r.d, "%s: regions without a line DATA (is the file cut?)", name)
	r.short.warn(r.d, "%s: series with fewer lines DATA than the %d points (if one is missing in the middle, those after it are at wrong "+
		"points)", name, len(r.points))
	return r.d, nil
}

func (r *textReader) line(word, rest string) error {
	switch word {
	case "PARAMETER":
		if r.numbers != nil {
			return fmt.Errorf("a PARAMETER after POINTS; put all parameters first")
		}
		r.d.Parameters = append(r.d.Parameters, strings.Fields(rest)...)
		return checkNames(r.d.Parameters)
	case "POINTS":
		return r.addPoints(rest)
	case "METRIC":
		r.endSeries()
		r.metric = rest
		r.named = max(r.named, metricData)
	case "REGION":
		r.endSeries()
		r.endRegion(regionData)
		r.region = rest
		r.named = regionData
	case "DATA":
		return r.addData(rest)
	case "EXPERIMENT": // a name that nothing refers to
	default:
		return fmt.Errorf("unknown keyword %q; there are PARAMETER, POINTS, METRIC, REGION and DATA", word)
	}
	if len(rest) > maxNameBytes {
		return fmt.Errorf("a name of %d bytes is too long", len(rest))
	}
	return nil
}

func (r *textReader) addPoints(rest string) error {
	n := len(r.d.Parameters)
	if n == 0 {
		return fmt.Errorf("POINTS before PARAMETER")
	}
	if opened, closed := strings.Count(rest, "("), strings.Count(rest, ")"); opened != closed {
		return fmt.Errorf("POINTS has %d opening and %d closing brackets", opened, closed)
	}
	fields := strings.FieldsFunc(rest, func(c rune) bool { return strings.ContainsRune("() \t,", c) })
	for _, field := range fields {
		x, err := parseFinite(field)
		if err != nil {
			return err
		}
		r.numbers = append(r.numbers, x)
	}
	if len(r.numbers)%n != 0 {
		return fmt.Errorf("POINTS has %d numbers, which are not points of %d parameters", len(r.numbers), n)
	}
	for at := len(r.points) * n; at < len(r.numbers); at += n {
		r.points = append(r.points, r.numbers[at:at+n:at+n])
	}
	return nil
}

func (r *textReader) addData(rest string) error {
	if r.next >= len(r.points) {
		return fmt.Errorf("DATA number %d of %s, but there are %d points", r.next+1, r.region, len(r.points))
	}
	var list values
	for _, field := range strings.Fields(rest) {
		x, err := strconv.ParseFloat(field, 64)
		if err != nil || math.IsInf(x, 0) {
			return fmt.Errorf("%q is not a number", field)
		}
		list = append(list, x)
	}
	r.d.addPresent(r.region, r.metric, r.points[r.next], list)
	r.next++
	r.named = nothing
	return nil
}

// parseFinite parses a number that is neither infinite nor none.
func parseFinite(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return x, nil
}

// decimal prints a number exactly and as short as possible.
func decimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// WriteExtraPText writes the dataset as Extra-P text. All series get the points
// of all; where one has none, its line is empty.
func (d *Dataset) WriteExtraPText(w io.Writer) error {
	if len(d.Parameters) == 0 {
		return errors.New("Extra-P text needs a parameter; give the measurements one, e.g. with --set p=64")
	}
	var b bytes.Buffer
	all := &Series{}
	for _, s := range d.Series {
		for _, p := range d.withBlanks(s) {
			all.Add(p.At)
		}
	}
	fmt.Fprintf(&b, "PARAMETER %s\nPOINTS", strings.Join(d.Parameters, " "))
	for _, p := range all.Points {
		var numbers []string
		for _, x := range p.At {
			numbers = append(numbers, decimal(x))
		}
		fmt.Fprintf(&b, " (%s)", strings.Join(numbers, " "))
	}
	b.WriteByte('\n')
	for _, s := range d.Series {
		fmt.Fprintf(&b, "METRIC %s\nREGION %s\n", s.Metric, s.CallPath)
		byPlace := map[string][]float64{}
		for _, p := range s.Points {
			byPlace[placeKey(p.At)] = p.Values
		}
		for _, p := range all.Points {
			b.WriteString("DATA")
			for _, v := range byPlace[placeKey(p.At)] {
				b.WriteString(" " + decimal(v))
			}
			b.WriteByte('\n')
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
