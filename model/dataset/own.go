package dataset

import (
	"encoding/json"
	"fmt"
	"io"

	"slackline/internal/jsonkeys"
)

// The dataset of slackline:
//
//	{"slackline_dataset":1,"parameters":["p"],"series":[
//	  {"callpath":"main->f","metric":"time","unit":"s","points":[{"at":[16],"values":[1.5,1.6]}]}]}
//
// A point at which there should be values, but a program failed, has "values":[].
//
// A series of runs of which something is missing, or that were simulated, has "runs", too: one of each kind, its name as "run", its
// "machine", and what is missing of it (see package missing). Further members of the file, such as provenance, are passed over if they do
// not resemble one that is not there; those of series, runs and points are a mistake.

const ownVersion = 1

var ownFormat = Format{Name: "slackline", Info: "slackline dataset", Suffix: ".json", Sniff: sniffOwn, Read: readOwn,
	Write: (*Dataset).WriteJSON}

func sniffOwn(head []byte) bool { return isObject(head) && hasKey(head, "slackline_dataset") }

type ownFile struct {
	Version    int       `json:"slackline_dataset"`
	Parameters []string  `json:"parameters"`
	Series     []*Series `json:"series"`
	Provenance any       `json:"provenance,omitempty"`
}

func readOwn(name string, data []byte) (*Dataset, error) {
	r := &ownReader{scanner: newScanner(name, data), d: New()}
	if err := jsonkeys.Check(data, &ownFile{}); err != nil {
		return nil, r.plain(err)
	}
	version := 0
	early := func() error { return nil } // reads series that come before the parameters
	seen := map[string]bool{}
	err := r.object("the file", func(key string) error {
		seen[key] = true
		switch key {
		case "slackline_dataset":
			if err := r.value(&version); err != nil {
				return err
			}
			if version > ownVersion || version < 1 {
				return r.errorf("is a dataset of version %d; this slackline reads 1 to %d", version, ownVersion)
			}
		case "parameters":
			if err := r.value(&r.d.Parameters); err != nil {
				return err
			}
			if err := checkNames(r.d.Parameters); err != nil {
				return r.errorf("%v", err)
			}
		case "series":
			if seen["parameters"] {
				return r.series()
			}
			var err error
			early, err = r.later(func(inner *scanner) error { return (&ownReader{inner, r.d}).series() })
			return err
		default:
			return r.skip()
		}
		return nil
	})
	if err == nil {
		err = r.end()
	}
	if err == nil && !seen["series"] {
		err = fmt.Errorf("%s: has no \"series\"", name)
	}
	if err == nil {
		err = early()
	}
	return r.d, err
}

// ownReader reads series into a dataset.
type ownReader struct {
	*scanner
	d *Dataset
}

var seriesKeys = []string{"callpath", "metric", "unit", "runs", "points"}

func (r *ownReader) series() error {
	return r.list("series", func() error {
		var s Series
		_, err := r.members("a series", seriesKeys, func(key string) error {
			switch key {
			case "callpath":
				return r.value(&s.CallPath)
			case "metric":
				return r.value(&s.Metric)
			case "unit":
				return r.value(&s.Unit)
			case "runs":
				r.dec.DisallowUnknownFields()
				err := r.value(&s.Runs)
				for i := range s.Runs {
					if wrong := s.Runs[i].Check(); err == nil && wrong != nil {
						err = r.errorf("%s %s: %v", s.CallPath, s.Metric, wrong)
					}
				}
				return err
			}
			return r.list("points", func() error {
				at, v, err := r.point("at")
				if err == nil && len(at) != len(r.d.Parameters) {
					err = r.errorf("%s %s: a point has %d coordinates, but there are %d parameters", s.CallPath, s.Metric, len(at), len(r.d.Parameters))
				}
				s.Points = append(s.Points, Point{at, v})
				return err
			})
		})
		if err != nil {
			return err
		}
		if len(s.Unit) > maxNameBytes {
			return r.errorf("%s %s: its unit has more than %d bytes", s.CallPath, s.Metric, maxNameBytes)
		}
		key := seriesKey{s.CallPath, s.Metric}
		before := r.d.index[key]
		if before != nil {
			before.takeUnit(s.Unit)
			before.takeRuns(&s)
		}
		for _, p := range s.Points {
			r.d.addPresent(s.CallPath, s.Metric, p.At, p.Values)
		}
		if added := r.d.index[key]; before == nil && added != nil {
			added.Unit, added.Runs = s.Unit, s.Runs
		}
		return nil
	})
}

// WriteJSON writes the dataset in slackline's own form, with a provenance unless
// that is nil.
func (d *Dataset) WriteJSON(w io.Writer, provenance any) error {
	// What is empty is [], not null.
	file := ownFile{ownVersion, append([]string{}, d.Parameters...), []*Series{}, provenance}
	for _, s := range d.Series {
		file.Series = append(file.Series, &Series{CallPath: s.CallPath, Metric: s.Metric, Unit: s.Unit, Points: d.withBlanks(s), Runs: s.Runs})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(file)
}
