package campaign

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"slackline/internal/source"
	"slackline/internal/suggest"
	"slackline/internal/yamlfile"
	"slackline/model/dataset"
	"slackline/model/unit"
)

// Metric defines which measurements are taken from a run.
type Metric struct {
	from     string // one of the constants below
	callPath string // empty: the name of the program
	metric   string // empty: as the source calls it
	pattern  *regexp.Regexp
	format   string    // of fromOutput; empty: recognized by the content
	file     *template // nil: the standard output
	stderr   bool      // the standard error instead
}

// The sources of measurements.
const (
	fromWall   = "wall"
	fromCPU    = "cpu"
	fromRSS    = "max_rss"
	fromOutput = "output"
	fromRegex  = "regex"
)

var processSources = []string{fromWall, fromCPU, fromRSS}

// processMetric are the names of what is known of a process.
var processMetric = map[string]string{fromWall: "time", fromCPU: "cpu_time", fromRSS: "max_rss"}

var metricKeys = yamlfile.Keys{
	Names: []string{"process", "output", "regex", "callpath", "metric", "file", "stream"},
	Words: []yamlfile.Word{{Word: "format", Key: "output"}, {Word: "pattern", Key: "regex"}, {Word: "function", Key: "callpath"},
		{Word: "name", Key: "metric"}},
	Example: "regex: 'time: (?P<time>[0-9.]+)'",
}

func (r *planReader) metrics(e yamlfile.Entry) []Metric {
	var list []Metric
	for _, n := range nodes(e) {
		if text, ok := n.Scalar(); ok {
			switch {
			case slices.Contains(processSources, text), text == fromOutput:
				list = append(list, Metric{from: text})
			default:
				known := append(slices.Clone(processSources), fromOutput)
				n.Errorf("expected wall, cpu, max_rss, output, or {regex: ...}, got %s%s", yamlfile.Quote(text), suggest.Phrase(text, known))
			}
			continue
		}
		list = append(list, r.metric(n))
	}
	return list
}

func (r *planReader) metric(n yamlfile.Node) Metric {
	var m Metric
	sources := 0
	for _, e := range n.Mapping("a metric", &metricKeys) {
		text, ok := e.Value.Text(e.Key)
		if !ok {
			continue
		}
		switch e.Key {
		case "process":
			m.from = text
			sources++
			if !slices.Contains(processSources, text) {
				e.Value.Errorf("process: %s is not one of %s%s", yamlfile.Quote(text), strings.Join(processSources, ", "),
					suggest.Phrase(text, processSources))
			}
		case "output":
			m.from = fromOutput
			sources++
			if m.format = text; text == "auto" {
				m.format = ""
			} else if !slices.Contains(dataset.FormatNames(), text) {
				e.Value.Errorf("output: %s is not auto or a format of measurements%s", yamlfile.Quote(text),
					suggest.Phrase(text, dataset.FormatNames()))
			}
		case "regex":
			m.from = fromRegex
			sources++
			m.pattern = patternOf(e.Value, text)
		case "callpath":
			m.callPath = text
		case "metric":
			m.metric = text
		case "file":
			m.file = r.ownFile(e.Value, text)
		case "stream":
			if m.stderr = text == "stderr"; !m.stderr && text != "stdout" {
				e.Value.Errorf("stream: %s is neither stdout nor stderr", yamlfile.Quote(text))
			}
		}
	}
	if n.Kind() == yamlfile.Mapping && sources != 1 {
		n.Errorf("a metric comes from one of process, output and regex; this one has %d", sources)
	}
	if m.file != nil && m.stderr {
		n.Errorf("a metric comes from a file or a stream, not both")
	}
	return m
}

// patternOf compiles a regular expression and wants a named group.
func patternOf(n yamlfile.Node, text string) *regexp.Regexp {
	p, err := regexp.Compile("(?m)" + text)
	if err != nil {
		n.Errorf("regex: %v", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		return nil
	}
	for _, name := range p.SubexpNames() {
		if name != "" && name != "callpath" && name != "metric" {
			return p
		}
	}
	n.Errorf("regex has no named group for a value; write e.g. 'time: (?P<time>[0-9.]+)'")
	return p
}

// ownFile reads the name of a file of which each run has its own.
func (r *planReader) ownFile(n yamlfile.Node, text string) *template {
	t, err := parseTemplate(text, r.names, textNames)
	if err != nil {
		n.Errorf("file: %v", err)
		return nil
	}
	r.noteFormulas(n, "file", []string{text}, []*template{t})
	if !slices.ContainsFunc(t.parts, func(p templatePart) bool { return p.name == "dir" || p.name == "run" }) {
		n.Errorf("file: %s is the same file in all runs; put {dir} (the directory of the run) or {run} (its name) into it", yamlfile.Quote(text))
	}
	return t
}

// maxOutput is how much output of a run is read.
const maxOutput = 256 << 20

// measure takes the measurements from a run that has ended. base is where the program ran, dir the
// directory of the run.
func (r *Run) measure(base, dir string, result *result) (*dataset.Dataset, error) {
	names := r.plan.Names()
	all := dataset.New(names...)
	for i := range r.plan.Metrics {
		m := &r.plan.Metrics[i]
		if err := r.addMetric(all, m, base, dir, result); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (r *Run) addMetric(all *dataset.Dataset, m *Metric, base, dir string, result *result) error {
	callPath := cmp.Or(m.callPath, r.program())
	if name := processMetric[m.from]; name != "" {
		if m.metric != "" {
			name = m.metric
		}
		value := map[string]float64{fromWall: result.Wall, fromCPU: result.CPU, fromRSS: float64(result.MaxRSS)}[m.from]
		all.Put(callPath, name, r.plan.Names(), r.At, value)
		all.Get(callPath, name).Unit = map[string]string{fromWall: "s", fromCPU: "s", fromRSS: "B"}[m.from]
		return nil
	}
	file := filepath.Join(dir, stdoutFile)
	switch {
	case m.stderr:
		file = filepath.Join(dir, stderrFile)
	case m.file != nil:
		if file = m.file.fill(r.plan.named(r.At), r.texts(dir)); !filepath.IsAbs(file) {
			file = filepath.Join(base, file)
		}
	}
	data, err := readOutput(file)
	if err != nil {
		return err
	}
	if m.from == fromRegex {
		return r.addMatches(all, m, callPath, file, data)
	}
	return r.addOutput(all, m, file, data)
}

// program is the name of the program that is run.
func (r *Run) program() string {
	return path.Base(r.plan.command[0].fill(r.plan.named(r.At), r.texts("")))
}

func readOutput(file string) ([]byte, error) {
	f, err := source.Kept(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no such file", file)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxOutput+1))
	if err == nil && len(data) > maxOutput {
		err = fmt.Errorf("%s: has more than %d MiB", file, maxOutput>>20)
	}
	return data, err
}

// addMatches takes the values of the named groups, of each place that matches.
func (r *Run) addMatches(all *dataset.Dataset, m *Metric, callPath, file string, data []byte) error {
	text := string(dataset.Clean(data))
	matches := m.pattern.FindAllStringSubmatch(text, -1)
	if len(matches) == 0 {
		return fmt.Errorf("%s: nothing matches the regular expression %s", file, strings.TrimPrefix(m.pattern.String(), "(?m)"))
	}
	found := 0
	for _, match := range matches {
		named := map[string]string{}
		for i, name := range m.pattern.SubexpNames() {
			named[name] = match[i]
		}
		at := callPath
		if s := named["callpath"]; s != "" {
			at = s
		}
		for i, name := range m.pattern.SubexpNames() {
			if name == "" || name == "callpath" || name == "metric" || match[i] == "" {
				continue
			}
			x, err := unit.ParseNumber(match[i])
			if err != nil {
				return fmt.Errorf("%s: the regular expression finds %q for %s, which is not a number", file, match[i], name)
			}
			switch {
			case named["metric"] != "":
				name = named["metric"]
			case m.metric != "":
				name = m.metric
			}
			all.Put(at, name, r.plan.Names(), r.At, x)
			found++
		}
	}
	if found == 0 {
		return fmt.Errorf("%s: the regular expression %s matches, but none of its groups holds a value", file,
			strings.TrimPrefix(m.pattern.String(), "(?m)"))
	}
	return nil
}

// addOutput reads an output in one of the formats of measurements, and gives it the point of the run.
func (r *Run) addOutput(all *dataset.Dataset, m *Metric, file string, data []byte) error {
	if _, ok := dataset.Sniff(data); !ok && m.format == "" {
		return fmt.Errorf("%s: is not in a known format of measurements; use a regular expression, or give output: FORMAT, one of %s",
			file, strings.Join(dataset.FormatNames(), ", "))
	}
	d, _, err := dataset.Read(file, data, m.format)
	if err != nil {
		return err
	}
	for i := len(r.At) - 1; i >= 0; i-- { // each becomes the first
		if name := r.plan.Parameters[i].Name; !slices.Contains(d.Parameters, name) {
			if err := d.SetParameter(name, r.At[i]); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	for _, s := range d.Series {
		if m.callPath != "" {
			s.CallPath = m.callPath + "->" + s.CallPath
		}
		if m.metric != "" {
			s.Metric = m.metric
		}
	}
	all.Merge(d)
	return nil
}
