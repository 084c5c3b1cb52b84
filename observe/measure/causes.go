package measure

import (
	"fmt"
	"math"

	"slackline/model/unit"
)

// StealCause is the name of what the hypervisor took: a sum, without single detours.
const StealCause = "hypervisor (steal time)"

// Line is something that comes back with a fixed period: a line in the plot of the phase of the
// detours.
type Line struct {
	Name   string        `json:"name"`
	Period unit.Duration `json:"period_ns"` // as it was fitted
	Count  int           `json:"detours"`
	Lost   unit.Duration `json:"lost_ns"`
}

// The periods in which kernels tick, shortest first: what is seen at 1000 Hz must not be taken for four
// lines of 250 Hz.
var tickRates = []int{1000, 300, 250, 100}

const (
	lineWidth     = 20 * unit.Microsecond // detours of a line start within this much of each other
	lineShare     = 0.7                   // of the periods must have a detour on the line
	lineContrast  = 3                     // times as many as chance would put there
	clockMismatch = 100e-6                // the tick and the counter may run apart by so much
	lineSpan      = 10 * unit.Second      // a line is searched in so much of the run
	throttleShare = 0.05                  // of a second that the kernel keeps real-time tasks from running
)

// findCauses labels the detours whose cause shows.
func (c *CPUNoise) findCauses() {
	c.Labels = []string{"other"}
	for _, rate := range tickRates {
		c.findLine(rate)
	}
	c.findThrottling()
	if c.Host.Steal > 0 { // the kernel counts it in ticks, so no single detour can be given the label
		c.Lines = append(c.Lines, Line{Name: StealCause, Lost: c.Host.Steal})
	}
}

// findLine looks for detours of one tick rate among those that have no label yet: it folds their starts by
// the period and looks for a phase at which nearly every period has one.
func (c *CPUNoise) findLine(rate int) {
	period := float64(unit.Second) / float64(rate)
	span := min(c.Duration, lineSpan)
	var starts []float64
	for _, d := range c.Detours {
		if d.Start >= span {
			break
		}
		if d.Label == 0 {
			starts = append(starts, float64(d.Start))
		}
	}
	expected := float64(span) / period
	if expected < 20 || float64(len(starts)) < lineShare*expected {
		return
	}
	bestCount, bestPeriod, bestPhase := 0, 0.0, 0.0
	step := float64(lineWidth) / 4 / float64(span)
	for off := -clockMismatch; off <= clockMismatch; off += step {
		p := period * (1 + off)
		if n, phase := densestPhase(starts, p); n > bestCount {
			bestCount, bestPeriod, bestPhase = n, p, phase
		}
	}
	chance := float64(len(starts)) * float64(lineWidth) / period
	if float64(bestCount) < lineContrast*chance || float64(periodsOnLine(starts, bestPeriod, bestPhase)) < lineShare*expected {
		return
	}
	line := Line{Name: fmt.Sprintf("tick %d Hz", rate), Period: unit.Duration(bestPeriod)}
	c.Labels = append(c.Labels, line.Name)
	for i := range c.Detours {
		d := &c.Detours[i]
		if d.Label == 0 && math.Mod(float64(d.Start)-bestPhase+bestPeriod, bestPeriod) < float64(lineWidth) {
			d.Label = len(c.Labels) - 1
			line.Count++
			line.Lost += d.Length
		}
	}
	c.Lines = append(c.Lines, line)
}

// periodsOnLine is in how many periods a detour starts on the line. What comes in clusters, or with another period, is on the line often,
// but not in nearly every period.
func periodsOnLine(starts []float64, period, phase float64) int {
	n, last := 0, math.Inf(-1)
	for _, s := range starts {
		number := math.Floor((s - phase + period) / period)
		if s-phase+period-number*period < float64(lineWidth) && number != last {
			n, last = n+1, number
		}
	}
	return n
}

// densestPhase returns the phase at which most starts begin within the width of a line, and how many.
func densestPhase(starts []float64, period float64) (int, float64) {
	const perWidth = 4
	width := float64(lineWidth) / perWidth
	bins := make([]int, int(period/width)+1)
	for _, s := range starts {
		bins[int(math.Mod(s, period)/width)]++
	}
	sum, best, at := 0, 0, 0
	for i := range len(bins) + perWidth - 1 {
		sum += bins[i%len(bins)]
		if i >= perWidth {
			sum -= bins[(i-perWidth)%len(bins)]
		}
		if sum > best {
			best, at = sum, i-perWidth+1
		}
	}
	return best, float64((at+len(bins))%len(bins)) * width
}

// findThrottling labels the gaps of the kernel's limit on real-time tasks: about 50 ms in each second.
func (c *CPUNoise) findThrottling() {
	typical := throttleShare * float64(unit.Second)
	near := func(d *Detour) bool {
		return d.Label == 0 && math.Abs(float64(d.Length)-typical) < 0.1*typical
	}
	var found []int
	for i := range c.Detours {
		if d := &c.Detours[i]; near(d) {
			if n := len(found); n > 0 {
				gap := float64(d.Start - c.Detours[found[n-1]].Start)
				if math.Abs(math.Mod(gap/float64(unit.Second)+0.5, 1)-0.5) > 0.02 {
					return // not once in a second
				}
			}
			found = append(found, i)
		}
	}
	if len(found) < 2 || float64(len(found)) < lineShare*float64(c.Duration)/float64(unit.Second)-1 {
		return
	}
	line := Line{Name: "real-time throttling", Period: unit.Second, Count: len(found)}
	c.Labels = append(c.Labels, line.Name)
	for _, i := range found {
		c.Detours[i].Label = len(c.Labels) - 1
		line.Lost += c.Detours[i].Length
	}
	c.Lines = append(c.Lines, line)
}
