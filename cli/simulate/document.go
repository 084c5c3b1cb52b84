package simulate

import (
	"slackline/analyze/simulate"
	"slackline/analyze/whatif"
	"slackline/cli/env"
	"slackline/cli/input"
	"slackline/internal/provenance"
	"slackline/model/missing"
	"slackline/model/unit"
)

// runDocument is one run.
type runDocument struct {
	Input      string         `json:"input"`
	Ranks      int            `json:"ranks"`
	Model      simulate.Model `json:"model"`
	Mapping    string         `json:"mapping,omitempty"`     // of symbolic collectives
	Noise      string         `json:"noise,omitempty"`       // as the user named it
	NoiseClock string         `json:"noise_clock,omitempty"` // absent: time
	simulate.Result
	Breakdown   *breakdown          `json:"breakdown,omitempty"`
	Attribution *whatif.Attribution `json:"attribution,omitempty"`
	Missing     *missing.Parts      `json:"missing,omitempty"` // of the recorded run that was simulated
	Provenance  *provenance.Record  `json:"provenance"`
}

// missingOf is what is missing of the recorded run that was simulated; nil: nothing, or there is none.
func missingOf(in *input.Input) *missing.Parts {
	if in.Replay == nil {
		return nil
	}
	run := missing.Run{Parts: in.Replay.Report().Missing}
	if run.Simulated = true; run.IsWhole() {
		return nil
	}
	return &run.Parts
}

// breakdown is where the time of the ranks went, each a list by rank.
type breakdown struct {
	Compute  []unit.Duration `json:"compute_ns"`
	Overhead []unit.Duration `json:"overhead_ns"`
	Noise    []unit.Duration `json:"noise_ns"`
	Waiting  []unit.Duration `json:"waiting_ns"`
}

func newBreakdown(ranks []simulate.Breakdown) *breakdown {
	if len(ranks) == 0 {
		return nil
	}
	b := &breakdown{}
	for i := range ranks {
		r := &ranks[i]
		b.Compute, b.Overhead = append(b.Compute, r.Compute), append(b.Overhead, r.Overhead)
		b.Noise, b.Waiting = append(b.Noise, r.Noise), append(b.Waiting, r.Waiting)
	}
	return b
}

// seriesDocument is a series of runs.
type seriesDocument struct {
	Input      string             `json:"input"`
	Model      string             `json:"model"`
	Mapping    string             `json:"mapping,omitempty"`
	Noise      string             `json:"noise,omitempty"`
	Offsets    string             `json:"offsets,omitempty"`
	NoiseClock string             `json:"noise_clock,omitempty"` // absent: time
	NoiseRanks string             `json:"noise_ranks,omitempty"`
	Complete   bool               `json:"complete"`
	Bottleneck *bottleneck        `json:"bottleneck,omitempty"`
	Results    []distribution     `json:"results"`
	Missing    *missing.Parts     `json:"missing,omitempty"` // of the recorded run that was simulated
	Provenance *provenance.Record `json:"provenance"`
}

// bottleneck is where noise becomes the bottleneck.
type bottleneck struct {
	Threshold float64        `json:"threshold"`
	Ranks     int            `json:"ranks"` // the smallest number found at or above the threshold; 0: none
	Below     int            `json:"below"` // the largest number tried below it; 0: none
	Searched  [2]int         `json:"searched"`
	Job       *whatif.Relief `json:"job,omitempty"`
}

// distribution describes the replicas of one number of ranks.
type distribution struct {
	whatif.Distribution
	Samples []unit.Duration `json:"samples_ns,omitempty"`
}

// JSON is the series for programs.
func (s *seriesReport) JSON(*env.Env) (any, error) {
	r := s.run
	d := &seriesDocument{
		Input: r.input.Name, Model: string(r.Machine.Model()), Noise: r.Noise.Name(), NoiseClock: r.Noise.OtherClock(),
		NoiseRanks: r.Noise.Only.String(), Complete: s.complete, Missing: missingOf(r.input),
	}
	if r.Program.Mapped(r.input) {
		d.Mapping = r.Mapping
	}
	if d.Noise != "" {
		d.Offsets = r.offsetsWord()
	}
	if s.search != nil {
		q, f := s.search.question, s.search.found
		d.Bottleneck = &bottleneck{q.Threshold, f.Ranks, f.Below, [2]int{q.From, q.To}, f.Relief}
	}
	for i := range s.points {
		x := distribution{Distribution: s.points[i].Distribution()}
		if r.replicas.samples {
			x.Samples = s.points[i].Samples
		}
		d.Results = append(d.Results, x)
	}
	var err error
	if d.Provenance, err = r.scenario.Provenance(r.input); err == nil {
		d.Provenance.Seed = &r.Program.Seed
	}
	return d, err
}
