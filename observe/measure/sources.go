package measure

import (
	"fmt"
	"slices"
)

// TimeSource is a way to read the time on a host.
type TimeSource struct {
	Name       string  `json:"name"`
	Read       float64 `json:"read_ns"`       // that reading it takes
	Resolution float64 `json:"resolution_ns"` // smallest step that was seen, which is never less than a read takes
	Backwards  int     `json:"backwards"`     // readings that were less than the one before, on one CPU
	Moves      int     `json:"moves"`         // from one CPU to another, with readings before and after
	MovedBack  int     `json:"moved_back"`    // of them: time ran backwards
}

// HostClock is what is known about the clocks of a host.
type HostClock struct {
	Rank          int          `json:"-"` // that looked
	Host          string       `json:"host"`
	CounterHertz  float64      `json:"counter_hz"`         // of the counter of the processor
	CounterSpread float64      `json:"counter_spread_ppm"` // of it, over intervals of 20 ms
	Invariant     *bool        `json:"counter_invariant"`  // the counter keeps its speed in all states; nil: not known
	Sources       []TimeSource `json:"sources"`
}

var sourceNames = []string{"CLOCK_MONOTONIC", "CLOCK_MONOTONIC_RAW", "CLOCK_REALTIME", "MPI_Wtime", "processor counter"}

const (
	sourceFigures = 5
	sourceSpeeds  = 5
	counterSource = 4   // its steps are ticks
	sourceBatches = 200 // of 1000 reads each
	steadyCounter = 20  // ppm
)

// sources examines the sources of time on the host of a rank.
func (j *Job) sources(rank int) (*HostClock, error) {
	values, err := j.do("sources", 0, 0, sourceBatches, 0, rank, 0)
	if err != nil {
		return nil, err
	}
	if len(values) != len(sourceNames)*sourceFigures+sourceSpeeds+1 {
		return nil, fmt.Errorf("the job answered %d figures about sources of time", len(values))
	}
	speeds, invariant := values[len(sourceNames)*sourceFigures:len(values)-1], values[len(values)-1]
	h := &HostClock{Rank: rank, Host: j.Hosts[rank], CounterHertz: median(speeds) / 1000}
	if yes := invariant == 1; invariant >= 0 {
		h.Invariant = &yes
	}
	if h.CounterHertz > 0 {
		h.CounterSpread = 1e6 * ((slices.Max(speeds) - slices.Min(speeds)) / 1000 / h.CounterHertz)
	}
	for i, name := range sourceNames {
		v := values[i*sourceFigures:]
		s := TimeSource{Name: name, Read: v[0] / 1000, Resolution: v[1], Backwards: int(v[2]), MovedBack: int(v[3]), Moves: int(v[4])}
		if i == counterSource {
			if h.CounterHertz <= 0 {
				continue // this kind of processor has none that is known
			}
			s.Resolution *= 1e9 / h.CounterHertz
		}
		h.Sources = append(h.Sources, s)
	}
	return h, nil
}

// Warnings lists what is wrong with the clocks of the host.
func (h *HostClock) Warnings() []string {
	var list []string
	for _, s := range h.Sources {
		if s.Name == "CLOCK_REALTIME" {
			continue // it may be set; nothing is measured with it
		}
		if s.Backwards > 0 {
			list = append(list, fmt.Sprintf("%s of %s ran backwards %d times", s.Name, h.Host, s.Backwards))
		}
		if s.MovedBack > 0 {
			list = append(list, fmt.Sprintf("%s of %s ran backwards in %d of %d moves between CPUs: pin the ranks", s.Name, h.Host, s.MovedBack,
				s.Moves))
		}
	}
	if h.Invariant != nil && !*h.Invariant {
		list = append(list, fmt.Sprintf("the processor's counter of %s is not invariant: it may change its speed or stop; use CLOCK_MONOTONIC",
			h.Host))
	}
	if h.CounterSpread > steadyCounter {
		list = append(list, fmt.Sprintf("the speed of the processor's counter of %s varied by %.0f ppm: it was disturbed, or it follows the "+
			"frequency of the CPU", h.Host, h.CounterSpread))
	}
	return list
}
