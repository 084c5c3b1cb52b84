package dataset

import (
	"encoding/json"
	"fmt"
	"io"
)

// The dataset of slackline:
//
//	{"slackline_dataset":1,"parameters":["p"],"series":[
//	  {"callpath":"main->f","metric":"time","unit":"s","points":[{"at":[16],"values":[1.5,1.6]}]}]}
//
// Further members, such as provenance, are passed over.

const ownVersion = 1

func sniffOwn(head []byte) bool { return isObject(head) && hasKey(head, "slackline_dataset") }

type ownFile struct {
	Version    int         `json:"slackline_dataset"`
	Parameters []string    `json:"parameters"`
	Series     []ownSeries `json:"series"`
	Provenance any         `json:"provenance,omitempty"`
}

type ownSeries struct {
	CallPath string     `json:"callpath"`
	Metric   string     `json:"metric"`
	Unit     string     `json:"unit,omitempty"`
	Points   []ownPoint `json:"points"`
}

type ownPoint struct {
	At     point  `json:"at"`
	Values values `json:"values"`
}

func readOwn(name string, data []byte) (*Dataset, error) {
	var file ownFile
	if err := decodeWhole(name, data, &file); err != nil {
		return nil, err
	}
	if file.Version > ownVersion || file.Version < 1 {
		return nil, fmt.Errorf("%s: is a dataset of version %d; this slackline reads 1 to %d", name, file.Version, ownVersion)
	}
	d := New(file.Parameters...)
	if err := checkNames(d.Parameters); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, s := range file.Series {
		for _, p := range s.Points {
			if len(p.At) != len(d.Parameters) {
				return nil, fmt.Errorf("%s: %s %s: a point has %d coordinates, but there are %d parameters", name, s.CallPath, s.Metric, len(p.At), len(d.Parameters))
			}
			d.addPresent(s.CallPath, s.Metric, p.At, p.Values)
		}
		if len(s.Unit) > maxNameBytes {
			return nil, fmt.Errorf("%s: %s %s: its unit has more than %d bytes", name, s.CallPath, s.Metric, maxNameBytes)
		}
		if added := d.index[seriesKey{s.CallPath, s.Metric}]; added != nil {
			added.Unit = s.Unit
		}
	}
	return d, nil
}

// WriteJSON writes the dataset in slackline's own form, with a provenance unless
// that is nil.
func (d *Dataset) WriteJSON(w io.Writer, provenance any) error {
	file := ownFile{Version: ownVersion, Parameters: d.Parameters, Series: []ownSeries{}, Provenance: provenance}
	if file.Parameters == nil {
		file.Parameters = []string{}
	}
	for _, s := range d.Series {
		o := ownSeries{CallPath: s.CallPath, Metric: s.Metric, Unit: s.Unit}
		for _, p := range s.Points {
			o.Points = append(o.Points, ownPoint{append(point{}, p.At...), p.Values}) // [] without parameters, not null
		}
		file.Series = append(file.Series, o)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(file)
}
