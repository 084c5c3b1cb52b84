package noise

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"slackline/internal/suggest"
	"slackline/internal/yamlfile"
	"slackline/model/unit"
)

// A profile file describes a model or a mixture:
//
//	name: altix                    # default: the name of the file
//	note: "where it comes from"    # optional
//	parts:                         # none: no noise
//	  - label: timer               # optional
//	    arrivals: periodic         # or poisson
//	    rate: 250Hz                # or the time between two detours
//	    length: uniform:1us:8us    # as in a specification, or a list of lengths
//	    jitter: 20%                # optional, periodic only
//	    phase: 1ms                 # optional, periodic only
//	  - label: recorded
//	    trace: detours.txt         # a trace in any format, beside this file
//
// Other keys, keys given twice, anchors and tags are errors.

var yamlFormat = Format{
	Name: "yaml", Info: "profile file (YAML)", Suffixes: []string{".yaml", ".yml"}, Text: true, Model: true,
	Sniff: func(line string) bool { return line[0] != '#' && !isTraceCmdHeader(line) }, // what no other format has
	Read:  readYAML,
	Write: func(w io.Writer, p *Profile, _ *Detours) error { return writeYAML(w, p) },
}

var profileRules = yamlfile.Rules{
	Thing:     "profile",
	MaxBytes:  64 << 10,
	MaxKeys:   4000,
	Long:      "put long lists into a trace",
	Deep:      "a profile has a list of parts, and lists of lengths in them",
	Empty:     "is empty; a profile without noise needs at least a name",
	Second:    "a second YAML document begins; give each profile a file of its own",
	PlainKeys: true,
}

var profileKeys = yamlfile.Keys{
	Names:   []string{"name", "note", "parts"},
	Example: "name: quiet",
}

var partKeys = yamlfile.Keys{
	Names:   []string{"label", "arrivals", "rate", "length", "jitter", "phase", "trace"},
	Example: "{rate: 250Hz, length: 5us}",
}

// yamlReader reads one profile file.
type yamlReader struct {
	*yamlfile.Document
	open openTrace
}

func readYAML(name string, data []byte, open openTrace) (*Profile, error) {
	r := yamlReader{yamlfile.New(name, &profileRules), open}
	p := &Profile{}
	if root, ok := r.Parse(data); ok && len(r.Errors) == 0 {
		r.profile(p, root)
	}
	if r.Err() == nil {
		return p, nil
	}
	var list []error
	for i, e := range r.Errors {
		if i == yamlfile.MaxShown {
			list = append(list, &FileError{e.File, 0, fmt.Sprintf("and %d more errors", len(r.Errors)-i)})
			break
		}
		list = append(list, &FileError{e.File, e.Line, e.Message})
	}
	return nil, errors.Join(list...)
}

func (r yamlReader) profile(p *Profile, root yamlfile.Node) {
	for _, e := range given(root.Mapping("the profile", &profileKeys)) {
		switch e.Key {
		case "name":
			p.Name = scalar(e.Value, e.Key)
		case "note":
			p.Note = strings.TrimSpace(scalar(e.Value, e.Key))
		case "parts":
			p.Parts = r.parts(e.Value)
		}
	}
	if p.Name == "" {
		base := filepath.Base(r.File)
		p.Name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	if len(r.Errors) > 0 {
		return
	}
	if err := p.Check(); err != nil {
		r.Errorf(yamlfile.Place{}, "%s", strings.TrimPrefix(err.Error(), "noise: "))
	}
}

// given returns the entries that have a value, and notes the others.
func given(entries []yamlfile.Entry) []yamlfile.Entry {
	return slices.DeleteFunc(entries, func(e yamlfile.Entry) bool {
		if e.Value.Kind() != yamlfile.Null {
			return false
		}
		e.Errorf("key %s has no value; give one or leave the key out", e.Key)
		return true
	})
}

// scalar returns the text of a plain value.
func scalar(node yamlfile.Node, what string) string {
	text, ok := node.Scalar()
	if !ok {
		node.Errorf("%s must be one value", what)
	}
	return text
}

func (r yamlReader) parts(node yamlfile.Node) []Part {
	list, ok := node.List()
	if !ok {
		node.Errorf("parts must be a list: begin each part with \"- \"")
	}
	parts := make([]Part, len(list))
	for i, n := range list {
		parts[i] = r.part(n)
	}
	return parts
}

func (r yamlReader) part(node yamlfile.Node) Part {
	part := Part{Kind: KindPeriodic}
	mistakes := len(r.Errors)
	has := map[string]bool{}
	for _, e := range given(node.Mapping("a part", &partKeys)) {
		has[e.Key] = true
		if list, ok := e.Value.List(); ok && e.Key == "length" {
			part.Length = empirical(e.Value, list)
			continue
		}
		if text, ok := e.Value.Scalar(); !ok {
			e.Value.Errorf("%s must be one value", e.Key)
		} else if err := r.partValue(&part, e.Key, text); err != nil {
			r.note(e.Value, err)
		}
	}
	if len(r.Errors) > mistakes {
		return part
	}
	switch {
	case has["trace"] && (has["rate"] || has["length"] || has["arrivals"] || has["jitter"] || has["phase"]):
		node.Errorf("a part with a trace has no other key but label")
	case !has["trace"] && (!has["rate"] || !has["length"]):
		node.Errorf("a part needs rate and length, or trace")
	default:
		if err := part.check(); err != nil {
			node.Errorf("%s", strings.TrimPrefix(err.Error(), "noise: "))
		}
	}
	return part
}

// note notes a mistake in a value, or in the file that it names.
func (r yamlReader) note(value yamlfile.Node, err error) {
	if in := (*FileError)(nil); errors.As(err, &in) {
		r.Errors = append(r.Errors, &yamlfile.Error{File: in.File, Place: yamlfile.Place{Line: in.Line}, Message: in.Message})
		return
	}
	value.Errorf("%v", err)
}

func (r yamlReader) partValue(part *Part, key, text string) (err error) {
	switch key {
	case "label":
		part.Label = text
	case "arrivals":
		switch text {
		case "periodic":
		case "poisson":
			part.Kind = KindPoisson
		default:
			known := []string{"periodic", "poisson"}
			return fmt.Errorf("arrivals %s is unknown%s (known: %s)", yamlfile.Quote(text), suggest.Phrase(text, known), strings.Join(known, ", "))
		}
	case "rate":
		part.Every, err = parseRate(text)
	case "length":
		part.Length, err = parseLengths(text)
	case "jitter":
		part.Jitter, err = parsePercent(text)
	case "phase":
		var d unit.Duration
		d, err = unit.ParseDuration(text)
		part.Phase = int64(d)
	case "trace":
		err = r.traceFile(part, text)
	}
	return err
}

// traceFile reads the trace of a part.
func (r yamlReader) traceFile(part *Part, path string) (err error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(r.File), path)
	}
	part.Kind = KindTrace
	part.Trace, err = r.open(path)
	return err
}

// empirical reads a list of lengths.
func empirical(node yamlfile.Node, list []yamlfile.Node) Lengths {
	lengths := make(Empirical, len(list))
	for i, n := range list {
		d, err := unit.ParseDuration(scalar(n, "a length"))
		if err != nil && n.Kind() == yamlfile.Scalar {
			n.Errorf("%s", err)
		}
		lengths[i] = int64(d)
	}
	if err := lengths.check(); err != nil {
		node.Errorf("%s", err)
	}
	return lengths
}

// writeYAML writes a model as a profile file. A trace cannot stand in one: it is an error.
func writeYAML(w io.Writer, p *Profile) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "name: %s\n", strconv.Quote(strings.ToValidUTF8(p.Name, "?")))
	if p.Note != "" {
		fmt.Fprintf(&b, "note: %s\n", yamlText(strings.ToValidUTF8(p.Note, "?")))
	}
	if len(p.Parts) > 0 {
		b.WriteString("parts:\n")
	}
	for i := range p.Parts {
		part := &p.Parts[i]
		if part.Kind == KindTrace {
			return fmt.Errorf("noise: part %d of %s is a trace, which a profile file cannot hold; write the trace to a file of its own", i+1,
				p.title())
		}
		arrivals := "periodic"
		if part.Kind == KindPoisson {
			arrivals = "poisson"
		}
		lead := "  - "
		line := func(key, value string) {
			fmt.Fprintf(&b, "%s%s: %s\n", lead, key, value)
			lead = "    "
		}
		if part.Label != "" {
			line("label", strconv.Quote(strings.ToValidUTF8(part.Label, "?")))
		}
		line("arrivals", arrivals)
		line("rate", formatRate(part.Every))
		line("length", strconv.Quote(part.Length.String()))
		if part.Jitter != 0 {
			line("jitter", strconv.FormatFloat(part.Jitter, 'g', -1, 64))
		}
		if part.Phase != 0 {
			line("phase", unit.Duration(part.Phase).String())
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// yamlText returns a text as a YAML value: plain lines as a block, so that people can read them,
// everything else in quotes.
func yamlText(text string) string {
	lines := strings.Split(text, "\n")
	for _, line := range lines {
		odd := func(r rune) bool { return !unicode.IsPrint(r) }
		if line == "" || strings.TrimSpace(line) != line || strings.ContainsFunc(line, odd) {
			return strconv.Quote(text)
		}
	}
	if len(lines) == 1 {
		return strconv.Quote(text)
	}
	return "|\n  " + strings.Join(lines, "\n  ")
}
