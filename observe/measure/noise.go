package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"slackline/model/unit"
)

// Method is a way to measure noise.
type Method string

// The methods.
const (
	Selfish      Method = "selfish" // read the clock all the time; what takes long is a detour
	FixedWork    Method = "fwq"     // do the same work again and again; how long does it take
	FixedQuantum Method = "ftq"     // how much work gets done in the same time
)

// Methods are all methods.
var Methods = []string{string(Selfish), string(FixedWork), string(FixedQuantum)}

// NoiseOptions define how to measure noise.
type NoiseOptions struct {
	Method     Method
	CPUs       []int         // measured at the same time, each by a process of its own
	Time       time.Duration // of the measurement, without its preparation
	MaxDetours int           // selfish: ends when a CPU has so many
	Threshold  float64       // selfish: a detour is what takes longer than so many times the shortest iteration
	Quantum    time.Duration // fwq: of work, ftq: of time
	Child      []string      // command that calls NoiseChild
}

// Defaults of a measurement.
const (
	DefaultThreshold  = 9 // writing a record costs a cache miss: 6 to 8 times the shortest iteration
	DefaultMaxDetours = 1 << 20
	DefaultQuantum    = time.Millisecond
)

// Noise is what was measured.
type Noise struct {
	Method Method
	CPUs   []CPUNoise // in the order of NoiseOptions.CPUs
	Runs   []float64  // of which this one is the quietest: the overhead of each in percent; nil: there was one
}

// OverheadPercent is the share of the time that noise took, as a mean over the CPUs.
func (n *Noise) OverheadPercent() float64 {
	sum := 0.0
	for i := range n.CPUs {
		sum += n.CPUs[i].OverheadPercent()
	}
	return sum / float64(len(n.CPUs))
}

// SamplingLimit is the smallest of those of the CPUs.
func (n *Noise) SamplingLimit() float64 {
	limit := math.Inf(1)
	for i := range n.CPUs {
		limit = min(limit, n.CPUs[i].SamplingLimit)
	}
	return limit
}

// MeasureQuietest measures several times, one after the other, and keeps the run with the smallest
// overhead, the first of equal ones: what only some runs saw was not the noise of the machine at rest.
func MeasureQuietest(ctx context.Context, o NoiseOptions, runs int) (*Noise, error) {
	return quietest(runs, func() (*Noise, error) { return MeasureNoise(ctx, o) })
}

func quietest(runs int, measure func() (*Noise, error)) (*Noise, error) {
	var best *Noise
	var overheads []float64
	for range runs {
		n, err := measure()
		if err != nil {
			return nil, err
		}
		overheads = append(overheads, n.OverheadPercent())
		if best == nil || n.OverheadPercent() < best.OverheadPercent() {
			best = n
		}
	}
	if runs > 1 {
		best.Runs = overheads
	}
	return best, nil
}

// CPUNoise is the noise of one CPU.
type CPUNoise struct {
	CPU       int       `json:"cpu"`
	Shortest  float64   `json:"t_min_ns"`        // the shortest iteration
	Spread    []float64 `json:"t_min_spread_ns"` // t_min in repeated searches
	Threshold float64   `json:"threshold_ns"`
	// SamplingLimit is the frequency above which noise cannot be told from a longer iteration: half of the rate of
	// samples, after Nyquist and Shannon. A sample is an iteration, or a quantum.
	SamplingLimit float64       `json:"sampling_limit_hz"`
	TickRate      float64       `json:"ticks_per_second"` // of the counter
	Iterations    uint64        `json:"iterations"`
	Duration      unit.Duration `json:"duration_s"`
	Full          bool          `json:"full"`               // ended because MaxDetours was reached
	Lines         []Line        `json:"causes"`             // periods that were found among the detours
	Spectrum      []Frequency   `json:"spectrum,omitempty"` // ftq: what repeats

	Detours []Detour `json:"-"` // selfish: by start, with Label
	Labels  []string `json:"-"` // what Detour.Label names: causes that show themselves; the first is "other"
	Samples []Sample `json:"-"` // fwq, ftq

	Host HostState `json:"-"`
}

// Detour is an interval of time that the program did not get.
type Detour struct {
	Start, Length unit.Duration
	Label         int
}

// Sample is one quantum: when it began, and what noise took of it.
type Sample struct{ Start, Noise unit.Duration }

// HostState is what else happened on the CPU during the measurement.
type HostState struct {
	InvoluntarySwitches int64         `json:"involuntary_switches"` // the thread lost its CPU to another
	PendingSignals      uint64        `json:"pending_signals"`      // sent to the measuring thread, and waiting: a bit set
	SignalsBlocked      bool          `json:"-"`                    // when the loop was over, all still were: none was delivered
	Collections         uint32        `json:"garbage_collections"`  // in the measuring process
	Steal               unit.Duration `json:"-"`                    // what the hypervisor took, to the kernel's ticks; -1: not known
	Load                float64       `json:"load_before"`          // runnable processes of the last minute; -1: not known
	Virtual             bool          `json:"virtual"`              // a hypervisor is below
}

// lost is the time that noise took.
func (c *CPUNoise) lost() unit.Duration {
	var sum unit.Duration
	for _, d := range c.Detours {
		sum += d.Length
	}
	for _, s := range c.Samples {
		sum += s.Noise
	}
	return sum
}

// OverheadPercent is the share of the time that noise took.
func (c *CPUNoise) OverheadPercent() float64 {
	if c.Duration == 0 {
		return 0
	}
	return 100 * float64(c.lost()) / float64(c.Duration)
}

// switchesPerSecond above which another process shared the CPU; the kernel's own threads stay below.
const switchesPerSecond = 20

// Warnings lists why the results may not be those of a quiet machine.
func (c *CPUNoise) Warnings() []string {
	var list []string
	seconds := float64(c.Duration) / float64(unit.Second)
	if n := c.Host.InvoluntarySwitches; float64(n) > switchesPerSecond*seconds {
		list = append(list, fmt.Sprintf("CPU %d was shared with other processes: the measuring thread lost it %d times; measure an idle machine",
			c.CPU, n))
	}
	if c.Host.Virtual {
		list = append(list, fmt.Sprintf("CPU %d is virtual: what the host takes looks like noise of the guest", c.CPU))
	}
	if c.Host.Steal > 0 {
		list = append(list, fmt.Sprintf("the hypervisor took %s of CPU %d", c.Host.Steal.Short(), c.CPU))
	}
	if c.Host.Steal < 0 {
		list = append(list, fmt.Sprintf("what a hypervisor took of CPU %d is not known: /proc/stat cannot be read", c.CPU))
	}
	if !c.Host.SignalsBlocked {
		list = append(list, fmt.Sprintf("the thread on CPU %d could be interrupted by signals, or the kernel does not report it: "+
			"/proc/thread-self/status cannot be read", c.CPU))
	}
	if c.Host.Load < 0 {
		list = append(list, "whether other processes ran before the measurement is not known: /proc/loadavg cannot be read")
	}
	if c.Host.Load > 0.5 {
		list = append(list, fmt.Sprintf("the machine was loaded before the measurement: %.1f processes on average", c.Host.Load))
	}
	if len(c.Spread) > 0 && c.Spread[len(c.Spread)-1] > 1.5*c.Spread[0] {
		list = append(list, fmt.Sprintf("the shortest iteration on CPU %d varies from %.1f to %.1f ns: its frequency changes, "+
			"or it was never quiet", c.CPU, c.Spread[0], c.Spread[len(c.Spread)-1]))
	}
	if c.Full {
		list = append(list, fmt.Sprintf("CPU %d: the record was full after %s; allow more detours or measure a shorter time", c.CPU,
			c.Duration.Short()))
	}
	return list
}

// Check returns an error if the options cannot be followed.
func (o *NoiseOptions) Check() error {
	switch {
	case !hasTicks:
		return errors.New("noise is measured with the counters of amd64 (RDTSC) and arm64 (CNTVCT_EL0); those of other processors, such as " +
			"the time base of POWER (MFTB) and the interval timer of Itanium (AR.ITC), are not supported")
	case o.Time < time.Millisecond || o.Time > 24*time.Hour:
		return fmt.Errorf("a measurement takes 1ms to 24h, not %s", o.Time)
	case o.Method == Selfish && !(o.Threshold >= 2 && o.Threshold <= 1e6):
		return fmt.Errorf("the threshold is 2 to 1000000 times the shortest iteration, not %g", o.Threshold)
	case o.Method == Selfish && (o.MaxDetours < 1 || o.MaxDetours > 1<<24):
		return fmt.Errorf("1 to %d detours can be kept, not %d", 1<<24, o.MaxDetours)
	case o.Method != Selfish && (o.Quantum < 10*time.Microsecond || o.Quantum > o.Time/2):
		return fmt.Errorf("a quantum takes at least 10us and at most half of the measurement, not %s", o.Quantum)
	case len(o.CPUs) == 0:
		return errors.New("no CPU to measure")
	}
	return nil
}
