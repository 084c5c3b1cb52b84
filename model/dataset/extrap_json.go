package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Extra-P JSON (new):
//
//	{"parameters":["p"],"measurements":{"main->f":{"time":[{"point":[16],"values":[1.5,1.6]}]}}}
//
// Other members are passed over. Call paths need not have the same points.

func sniffExtraPJSON(head []byte) bool {
	return isObject(head) && (hasKey(head, "measurements") || hasKey(head, "parameters"))
}

// point is a place: a number or a list of numbers.
type point []float64

// UnmarshalJSON reads a number or a list of numbers.
func (p *point) UnmarshalJSON(data []byte) error {
	return (*values)(p).UnmarshalJSON(data)
}

func readExtraPJSON(name string, data []byte) (*Dataset, error) {
	d := New()
	s := newScanner(name, data)
	found, known := false, false
	var early []func() error // measurements that stand before the parameters
	err := s.object("the file", func(key string) error {
		switch key {
		case "parameters":
			if err := s.value(&d.Parameters); err != nil {
				return err
			}
			known = true
			if err := checkNames(d.Parameters); err != nil {
				return s.errorf("%v", err)
			}
		case "measurements":
			found = true
			if !known {
				var raw json.RawMessage
				if err := s.value(&raw); err != nil {
					return err
				}
				at := s.dec.InputOffset() - int64(len(raw))
				early = append(early, func() error {
					inner := newScanner(name, raw)
					inner.before = lineOf(data, at) - 1
					return readMeasurements(inner, d)
				})
				return nil
			}
			return readMeasurements(s, d)
		default:
			return s.skip()
		}
		return nil
	})
	if err == nil {
		err = s.end()
	}
	if err == nil && !(found && known) {
		err = fmt.Errorf("%s: has no \"parameters\" or no \"measurements\"", name)
	}
	for _, f := range early {
		if err == nil {
			err = f()
		}
	}
	return d, err
}

func readMeasurements(s *scanner, d *Dataset) error {
	return s.object("measurements", func(path string) error {
		return s.object("a call path", func(metric string) error {
			return s.list("a metric", func() error {
				at, v, err := s.point("point")
				if err != nil {
					return err
				}
				if len(at) != len(d.Parameters) {
					return s.errorf("%s %s: a point has %d coordinates, but there are %d parameters", path, metric, len(at), len(d.Parameters))
				}
				d.addPresent(path, metric, at, v)
				return nil
			})
		})
	})
}

// WriteExtraPJSON writes the dataset as Extra-P JSON (new). The
// series of one call path stand together.
func (d *Dataset) WriteExtraPJSON(w io.Writer) error {
	type member struct {
		path   string
		series []*Series
	}
	var members []member
	places := map[string]int{}
	for _, s := range d.Series {
		i, ok := places[s.CallPath]
		if !ok {
			i, members = len(members), append(members, member{path: s.CallPath})
			places[s.CallPath] = i
		}
		members[i].series = append(members[i].series, s)
	}
	var b bytes.Buffer
	put := func(v any) {
		text, err := json.Marshal(v)
		if err != nil {
			text = []byte("null") // a value that is no number
		}
		b.Write(text)
	}
	b.WriteString(`{"parameters":`)
	put(d.Parameters)
	b.WriteString(`,"measurements":{`)
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		put(m.path)
		b.WriteString(`:{`)
		for j, s := range m.series {
			if j > 0 {
				b.WriteByte(',')
			}
			put(s.Metric)
			b.WriteString(`:[`)
			for k, p := range s.Points {
				if k > 0 {
					b.WriteByte(',')
				}
				b.WriteString(`{"point":`)
				put(p.At)
				b.WriteString(`,"values":`)
				put(p.Values)
				b.WriteByte('}')
			}
			b.WriteByte(']')
		}
		b.WriteByte('}')
	}
	b.WriteString("\n}}\n")
	_, err := w.Write(b.Bytes())
	return err
}
