package dataset

import (
	"fmt"
)

// Extra-P JSON (new):
//
//	{"parameters":["p"],"measurements":{"main->f":{"time":[{"point":[16],"values":[1.5,1.6]}]}}}
//
// Other members are passed over. Call paths need not have the same points.

var extraPJSONFormat = Format{Name: "extrap-json", Info: "Extra-P JSON", Sniff: sniffExtraPJSON, Read: readExtraPJSON}

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
	var early []func() error // read measurements that come before the parameters
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
			if known {
				return readMeasurements(s, d)
			}
			next, err := s.later(func(inner *scanner) error { return readMeasurements(inner, d) })
			early = append(early, next)
			return err
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
	for i := 0; err == nil && i < len(early); i++ {
		err = early[i]()
	}
	return d, err
}

func readMeasurements(s *scanner, d *Dataset) error {
	var bare leftOut // call paths and metrics
	defer func() { bare.warn(d, "%s: call paths or metrics without a point", s.name) }()
	return s.object("measurements", func(path string) error {
		metrics := 0
		defer func() {
			if metrics == 0 {
				bare.add(path)
			}
		}()
		return s.object("a call path", func(metric string) error {
			metrics++
			points := 0
			defer func() {
				if points == 0 {
					bare.add(path + " " + metric)
				}
			}()
			return s.list("a metric", func() error {
				points++
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
