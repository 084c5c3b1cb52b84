package measure

import (
	"slackline/cli/env"
	"slackline/internal/provenance"
	"slackline/model/unit"
	"slackline/observe/measure"
)

// measuredNoiseJSON is the result of measure noise; the figures at the top are those of all CPUs: the
// least t_min, all detours, the mean overhead, the longest duration.
type measuredNoiseJSON struct {
	Method          measure.Method     `json:"method"`
	Shortest        float64            `json:"t_min_ns"`
	Detours         int                `json:"detours"`
	OverheadPercent float64            `json:"overhead_percent"`
	Duration        float64            `json:"duration_s"`
	CPUs            []cpuNoiseJSON     `json:"cpus"`
	Provenance      *provenance.Record `json:"provenance"`
}

type cpuNoiseJSON struct {
	CPU             int             `json:"cpu"`
	Shortest        float64         `json:"t_min_ns"`
	Spread          []float64       `json:"t_min_spread_ns"`
	Threshold       float64         `json:"threshold_ns"`
	TickRate        float64         `json:"ticks_per_second"`
	Iterations      uint64          `json:"iterations"`
	Detours         int             `json:"detours"`
	OverheadPercent float64         `json:"overhead_percent"`
	Duration        float64         `json:"duration_s"`
	Full            bool            `json:"full"`
	Causes          []causeJSON     `json:"causes"`
	Spectrum        []frequencyJSON `json:"spectrum,omitempty"`
	List            []detourJSON    `json:"list"`
	Switches        int64           `json:"involuntary_switches"`
	Signals         uint64          `json:"pending_signals"`   // a bit set
	Delivered       *int            `json:"delivered_signals"` // 0: all were blocked; null: not known
	Collections     uint32          `json:"garbage_collections"`
	Steal           *float64        `json:"steal_s"`
	Load            float64         `json:"load_before"`
	Virtual         bool            `json:"virtual"`
}

type causeJSON struct {
	Name   string           `json:"name"`
	Period unit.Nanoseconds `json:"period_ns"`
	Count  int              `json:"detours"`
	Lost   unit.Nanoseconds `json:"lost_ns"`
}

type frequencyJSON struct {
	Hertz     float64          `json:"hertz"`
	Amplitude unit.Nanoseconds `json:"amplitude_ns"`
}

type detourJSON struct {
	Start  unit.Nanoseconds `json:"start_ns"`
	Length unit.Nanoseconds `json:"length_ns"`
	Cause  string           `json:"cause,omitempty"`
}

func (r *measuredNoise) json(a *env.Env) *measuredNoiseJSON {
	record := provenance.New(a.Args)
	record.Warnings = append(record.Warnings, a.Warnings...)
	j := &measuredNoiseJSON{Method: r.noise.Method, OverheadPercent: r.overhead(), CPUs: []cpuNoiseJSON{}, Provenance: record}
	for i := range r.noise.CPUs {
		c := cpuJSON(&r.noise.CPUs[i])
		if i == 0 || c.Shortest < j.Shortest {
			j.Shortest = c.Shortest
		}
		j.Detours += c.Detours
		j.Duration = max(j.Duration, c.Duration)
		j.CPUs = append(j.CPUs, c)
	}
	return j
}

func cpuJSON(c *measure.CPUNoise) cpuNoiseJSON {
	j := cpuNoiseJSON{
		CPU: c.CPU, Shortest: c.Shortest, Spread: c.Spread, Threshold: c.Threshold, TickRate: c.TickRate, Iterations: c.Iterations,
		Detours: len(c.Detours) + len(c.Samples), OverheadPercent: c.OverheadPercent(), Duration: seconds(c.Duration), Full: c.Full,
		Causes: []causeJSON{}, List: []detourJSON{}, Switches: c.Host.InvoluntarySwitches, Signals: c.Host.PendingSignals,
		Collections: c.Host.Collections, Load: c.Host.Load, Virtual: c.Host.Virtual,
	}
	if c.Host.SignalsBlocked {
		j.Delivered = new(int)
	}
	if c.Host.Steal >= 0 {
		s := seconds(c.Host.Steal)
		j.Steal = &s
	}
	for _, l := range c.Lines {
		j.Causes = append(j.Causes, causeJSON{l.Name, unit.Nanoseconds(l.Period), l.Count, unit.Nanoseconds(l.Lost)})
	}
	for _, f := range c.Spectrum {
		j.Spectrum = append(j.Spectrum, frequencyJSON{f.Hertz, unit.Nanoseconds(f.Amplitude)})
	}
	for _, d := range c.Detours {
		x := detourJSON{Start: unit.Nanoseconds(d.Start), Length: unit.Nanoseconds(d.Length)}
		if d.Label > 0 {
			x.Cause = c.Labels[d.Label]
		}
		j.List = append(j.List, x)
	}
	for _, s := range c.Samples {
		j.List = append(j.List, detourJSON{Start: unit.Nanoseconds(s.Start), Length: unit.Nanoseconds(s.Noise)})
	}
	return j
}
