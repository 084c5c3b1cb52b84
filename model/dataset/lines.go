package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"slackline/internal/jsonkeys"
)

// Extra-P JSON lines: one object per line,
//
//	{"params":{"p":16},"callpath":"main->f","metric":"time","value":1.5}
//
// value may be a list. The order of the parameters is that of the first line.

var linesFormat = Format{
	Name: "jsonl", Info: "Extra-P JSON lines", Suffix: ".jsonl", Sniff: sniffLines, Read: readLines,
	Write: func(d *Dataset, w io.Writer, _ any) error { return d.WriteLines(w) },
}

func sniffLines(head []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t\n"), []byte{'\n'})
	return isObject(line) && hasKey(line, "params") && hasKey(line, "value")
}

// ordered are the members of an object of numbers in their order.
type ordered struct {
	names  []string
	values map[string]float64
}

// UnmarshalJSON reads an object of numbers.
func (o *ordered) UnmarshalJSON(data []byte) error {
	o.values = map[string]float64{}
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("params must be an object, as in {\"p\":16}")
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var v *float64
		if err := dec.Decode(&v); err != nil || v == nil {
			return fmt.Errorf("the parameter %v has no number", key)
		}
		name := key.(string)
		if _, twice := o.values[name]; twice {
			return fmt.Errorf("the parameter %s is given twice", name)
		}
		o.names = append(o.names, name)
		o.values[name] = *v
	}
	return nil
}

func readLines(name string, data []byte) (*Dataset, error) {
	d := New()
	err := eachLine(name, data, func(_ int, line string) error {
		if strings.TrimSpace(line) == "" {
			return nil
		}
		entry := struct {
			Params   *ordered `json:"params"`
			CallPath *string  `json:"callpath"`
			Metric   *string  `json:"metric"`
			Value    values   `json:"value"`
		}{}
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields() // what is under another key would be lost
		if err := dec.Decode(&entry); err != nil {
			return fmt.Errorf("is not a line of Extra-P JSON: %v", err)
		}
		if _, err := dec.Token(); err != io.EOF {
			return errors.New("is not a line of Extra-P JSON: something follows its end")
		}
		if jsonkeys.Check([]byte(line), nil) != nil {
			return errors.New("is not a line of Extra-P JSON: a key is there twice")
		}
		if entry.Params == nil {
			return errors.New("has no params")
		}
		if d.Parameters == nil {
			d.Parameters = append([]string{}, entry.Params.names...)
			if err := checkNames(d.Parameters); err != nil {
				return err
			}
		}
		at := make([]float64, len(d.Parameters))
		for i, p := range d.Parameters {
			v, ok := entry.Params.values[p]
			if !ok || len(entry.Params.names) != len(at) {
				return fmt.Errorf("has the parameters %s, the first line %s", list(entry.Params.names), list(d.Parameters))
			}
			at[i] = v
		}
		path, metric := RootPath, DefaultMetric
		if entry.CallPath != nil {
			path = *entry.CallPath
		}
		if entry.Metric != nil {
			metric = *entry.Metric
		}
		if len(entry.Value) == 0 {
			return errors.New("has no value")
		}
		d.addPresent(path, metric, at, entry.Value)
		return nil
	})
	return d, err
}

// WriteLines writes the dataset as Extra-P JSON lines.
func (d *Dataset) WriteLines(w io.Writer) error {
	for _, s := range d.Series {
		for _, p := range d.withBlanks(s) {
			if len(p.Values) == 0 {
				p.Values = nil // null: a list has a value
			}
			line := []byte(`{"params":{`)
			for i, name := range d.Parameters {
				if i > 0 {
					line = append(line, ',')
				}
				key, err := json.Marshal(name)
				if err != nil {
					return err
				}
				line = fmt.Appendf(line, "%s:%s", key, decimal(p.At[i]))
			}
			rest, err := json.Marshal(struct {
				CallPath string    `json:"callpath"`
				Metric   string    `json:"metric"`
				Value    []float64 `json:"value"`
			}{s.CallPath, s.Metric, p.Values})
			if err != nil {
				return err
			}
			line = append(append(line, "},"...), rest[1:]...)
			if _, err := w.Write(append(line, '\n')); err != nil {
				return err
			}
		}
	}
	return nil
}
