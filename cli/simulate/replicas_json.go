package simulate

import (
	"encoding/json"
	"fmt"
	"io"

	"slackline/analyze/whatif"
	"slackline/model/unit"
)

// seriesHead are the members of the JSON output of a series before its results.
type seriesHead struct {
	Input      string      `json:"input"`
	Model      string      `json:"model"`
	Mapping    string      `json:"mapping,omitempty"`
	Noise      string      `json:"noise,omitempty"`
	Offsets    string      `json:"offsets,omitempty"`
	NoiseRanks string      `json:"noise_ranks,omitempty"`
	Complete   bool        `json:"complete"`
	Search     *searchJSON `json:"bottleneck,omitempty"`
}

// distributionJSON describes the replicas of one number of ranks, but for the
// lists: median_ci_ns, whiskers_ns, outliers_ns and samples_ns. The names and meanings of its
// members stay as they are: other programs rely on them.
type distributionJSON struct {
	Ranks     int              `json:"ranks"`
	Replicas  int              `json:"replicas"`
	Noiseless unit.Nanoseconds `json:"noiseless_ns"`
	Min       unit.Nanoseconds `json:"min_ns"`
	Q1        unit.Nanoseconds `json:"q1_ns"`
	Median    unit.Nanoseconds `json:"median_ns"`
	Q3        unit.Nanoseconds `json:"q3_ns"`
	Max       unit.Nanoseconds `json:"max_ns"`
	Mean      unit.Nanoseconds `json:"mean_ns"`
	Slowdown  slowdownJSON     `json:"slowdown"`
}

// slowdownJSON are noisy times over the noiseless one; 1 is no slowdown.
type slowdownJSON struct {
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

// writeJSON writes one object, piece by piece: the lists stand in one line each.
func (s *seriesReport) writeJSON(w io.Writer) error {
	r := s.run
	head := seriesHead{
		Input: r.input.Name, Model: r.model.Value, Noise: r.Noise.Name(), NoiseRanks: r.Noise.Only.String(), Complete: s.complete,
	}
	if r.Program.Mapped(r.input) {
		head.Mapping = r.Mapping
	}
	if head.Noise != "" {
		head.Offsets = r.offsetsWord()
	}
	if s.search != nil {
		head.Search = s.search.json()
	}
	text, err := json.MarshalIndent(head, "", "  ")
	if err != nil {
		return err
	}
	b := append(text[:len(text)-2], ",\n  \"results\": ["...) // without the closing "\n}"
	for i := range s.points {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = s.appendResult(b, &s.points[i]); err != nil {
			return err
		}
	}
	tail, err := json.MarshalIndent(s.provenance, "  ", "  ")
	if err != nil {
		return err
	}
	b = fmt.Appendf(b, "\n  ],\n  \"provenance\": %s\n}\n", tail)
	_, err = w.Write(b)
	return err
}

// appendResult appends the object of one number of ranks.
func (s *seriesReport) appendResult(b []byte, p *whatif.Point) ([]byte, error) {
	d := p.Distribution()
	ns := func(t unit.Duration) unit.Nanoseconds { return unit.Nanoseconds(t) }
	text, err := json.MarshalIndent(distributionJSON{
		Ranks: d.Ranks, Replicas: d.Replicas, Noiseless: ns(d.Noiseless),
		Min: ns(d.Min), Q1: ns(d.Q1), Median: ns(d.Median), Q3: ns(d.Q3), Max: ns(d.Max), Mean: ns(d.Mean),
		Slowdown: slowdownJSON{d.MedianSlowdown, d.MaxSlowdown},
	}, "    ", "  ")
	if err != nil {
		return nil, err
	}
	b = append(append(b, "\n    "...), text[:len(text)-len("\n    }")]...)
	list := func(name string, times []unit.Duration) {
		b = fmt.Appendf(b, ",\n      %q: ", name)
		b = unit.AppendNSList(b, times)
	}
	if d.MedianInterval != nil {
		list("median_ci_ns", d.MedianInterval[:])
	}
	list("whiskers_ns", []unit.Duration{d.LowWhisker, d.HighWhisker})
	list("outliers_ns", d.Outliers)
	if s.run.replicas.samples {
		list("samples_ns", p.Samples)
	}
	return append(b, "\n    }"...), nil
}
