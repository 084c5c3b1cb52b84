package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"slackline/internal/stat"
)

// Link is a pair of processes that can be timed; times are ns. What carries it, MPI, TCP or a
// simulation, does not matter for the estimation.
type Link interface {
	// Burst lets the client send n messages with a pause after each but the last, and wait for one
	// answer of the same size: PRTT(n, pause, size). It returns the time of every repetition.
	Burst(n int, pause float64, size, repeat int) ([]float64, error)
	// Drain lets the server wait for pause before it takes each of n messages that have arrived by
	// then, and returns the time from the first to the last, of every repetition.
	Drain(n int, pause float64, size, repeat int) ([]float64, error)
	// Eager reports whether a send returns before its receive is posted. The late receiver lets
	// the library work (polls) or not.
	Eager(size int, polls bool) (bool, error)
}

// NetworkOptions define how to measure a link.
type NetworkOptions struct {
	Sizes    []int // of messages, ascending
	Repeat   int   // of each time; large messages are repeated less
	Messages int   // in a burst
	Rounds   int   // all sizes are measured so often; the spread of the rounds gives the intervals
	MaxEager int   // largest message that is tried for S
	// Renew, if there is one, gives a new link before each round but the first: the same two processes behave more
	// like themselves than like others that are started in the same way.
	Renew    func() (Link, error)
	Progress func(done, total int)
}

// DefaultNetwork are the options that suit most links.
func DefaultNetwork() NetworkOptions {
	return NetworkOptions{Sizes: Sizes(256 << 10), Repeat: 60, Messages: 10, Rounds: 5, MaxEager: 4 << 20}
}

// Sizes are sizes of messages up to a limit: powers of two with three between each two.
func Sizes(most int) []int {
	var list []int
	for base := 1; base <= most; base *= 2 {
		for quarter := range 4 {
			if s := base + base*quarter/4; s <= most && (len(list) == 0 || s > list[len(list)-1]) {
				list = append(list, s)
			}
		}
	}
	return list
}

// Figure is an estimate with what the rounds gave.
type Figure struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Network is what was found out about a link; times are ns, ns per byte for G.
type Network struct {
	L             Figure     `json:"L_ns"`          // the overheads are subtracted
	HalfRoundTrip Figure     `json:"L_half_rtt_ns"` // what many tools call latency
	Send          Figure     `json:"o_s_ns"`        // overheads of a byte
	Receive       Figure     `json:"o_r_ns"`
	Gap           Figure     `json:"g_ns"` // of the first protocol
	Protocols     []Protocol `json:"protocols"`
	// Eager is the largest message whose send returns before its receive is posted, while the receiver lets the library work.
	Eager       int            `json:"S"`
	EagerAsleep int            `json:"S_receiver_asleep"` // the same while it does not
	Points      []NetworkPoint `json:"sizes"`
	Remarks     []string       `json:"remarks"`
}

// Protocol is a range of sizes with one line of costs.
type Protocol struct {
	From    int    `json:"from"` // sizes of messages
	To      int    `json:"to"`
	Gap     Figure `json:"g_ns"`
	PerByte Figure `json:"G_ns"`
	Send    Figure `json:"o_s_ns"` // mean overheads
	Receive Figure `json:"o_r_ns"`
}

// NetworkPoint is what was measured for one size, over all rounds.
type NetworkPoint struct {
	Size int `json:"size"`
	// PRTT(1,0), PRTT(n,0), PRTT(n,d) without the pauses: median, minimum, 90th percentile.
	Single    Figure  `json:"single_ns"`
	Burst     Figure  `json:"burst_ns"`
	Paced     Figure  `json:"paced_ns"`
	Gap       float64 `json:"gap_ns"`
	Send      float64 `json:"send_ns"`
	Receive   float64 `json:"receive_ns"`
	Disturbed bool    `json:"disturbed"` // the 90th percentile is more than three times the minimum
}

// ErrWide wraps the reason why a measurement is inconclusive: a longer one may be conclusive.
var ErrWide = errors.New("the measurement is inconclusive")

// ErrImplausible wraps the reason why a measurement was refused.
var ErrImplausible = errors.New("the measurement makes no sense")

const (
	disturbedRatio = 3   // p90 over minimum
	tooDisturbed   = 0.5 // of the sizes: no result
	unsteadyRatio  = 3   // upper end of the interval over the value of a small message's time
	longPause      = 3   // times the shortest round trip is as long as a pause gets; where others use the CPUs, the median means little
	someDisturbed  = 0.2 // of the sizes: minima are fitted instead of medians
)

// roundOf is what one round gave for one size; what was paced comes without the pauses, which differ from
// round to round.
type roundOf struct{ single, burst, paced, drain []float64 }

// MeasureNetwork estimates the LogGP parameters of a link.
func MeasureNetwork(ctx context.Context, link Link, o NetworkOptions) (*Network, error) {
	n := &Network{}
	rounds := make([][]roundOf, o.Rounds)
	for i := range rounds {
		if i > 0 && o.Renew != nil {
			var err error
			if link, err = o.Renew(); err != nil {
				return nil, err
			}
		}
		rounds[i] = make([]roundOf, len(o.Sizes))
		for k, size := range o.Sizes {
			if err := ctx.Err(); err != nil {
				return nil, context.Cause(ctx)
			}
			r, err := measureSize(link, &o, size)
			if err != nil {
				return nil, err
			}
			rounds[i][k] = r
			if o.Progress != nil {
				o.Progress(i*len(o.Sizes)+k+1, o.Rounds*len(o.Sizes))
			}
		}
		n.points(rounds[:i+1], &o)
		if _, err := n.disturbed(); err != nil {
			return nil, err // more rounds would not make it better
		}
	}
	if err := n.estimate(rounds, &o); err != nil {
		return nil, err
	}
	var err error
	if n.Eager, err = eagerLimit(link, o.MaxEager, true); err != nil {
		return nil, err
	}
	if n.EagerAsleep, err = eagerLimit(link, o.MaxEager, false); err != nil {
		return nil, err
	}
	return n, nil
}

// measureSize takes the four times of a size.
func measureSize(link Link, o *NetworkOptions, size int) (r roundOf, err error) {
	repeat := o.Repeat
	if size > 64<<10 {
		repeat = max(repeat/5, 10)
	}
	if r.single, err = link.Burst(1, 0, size, repeat); err != nil {
		return r, err
	}
	if r.burst, err = link.Burst(o.Messages, 0, size, repeat); err != nil {
		return r, err
	}
	pause := math.Floor(min(median(r.single), longPause*slices.Min(r.single)))
	if r.paced, err = link.Burst(o.Messages, pause, size, repeat); err != nil {
		return r, err
	}
	if r.drain, err = link.Drain(o.Messages, pause, size, repeat); err != nil {
		return r, err
	}
	for _, list := range [][]float64{r.paced, r.drain} {
		for i := range list {
			list[i] -= pause * float64(o.Messages-1)
		}
	}
	for _, list := range [][]float64{r.single, r.burst, r.paced, r.drain} {
		if err == nil && (len(list) == 0 || slices.Min(list) < 0 || math.IsNaN(list[0])) {
			err = fmt.Errorf("%w: a time of messages of %d bytes is negative or missing", ErrImplausible, size)
		}
	}
	return r, err
}

func median(values []float64) float64 { return stat.Quantile(stat.Sorted(values), 0.5) }

// spreadOf returns median, minimum and 90th percentile.
func spreadOf(values []float64) Figure {
	sorted := stat.Sorted(values)
	return Figure{Value: stat.Quantile(sorted, 0.5), Low: sorted[0], High: stat.Quantile(sorted, 0.9)}
}

// merged are the times of a size in all rounds.
func merged(rounds [][]roundOf, k int) (all roundOf) {
	for _, round := range rounds {
		all.single = append(all.single, round[k].single...)
		all.burst = append(all.burst, round[k].burst...)
		all.paced = append(all.paced, round[k].paced...)
		all.drain = append(all.drain, round[k].drain...)
	}
	return all
}

// pointOf evaluates all rounds of a size.
func pointOf(size int, all roundOf, messages int) NetworkPoint {
	p := NetworkPoint{Size: size, Single: spreadOf(all.single), Burst: spreadOf(all.burst), Paced: spreadOf(all.paced)}
	p.Gap, p.Send, p.Receive = all.costs(messages, median)
	p.Disturbed = p.Single.High > disturbedRatio*p.Single.Low || p.Burst.High > disturbedRatio*p.Burst.Low
	return p
}

// costs are gap, send overhead and receive overhead of a size, with the given estimator of a time.
func (r *roundOf) costs(messages int, of func([]float64) float64) (gap, send, receive float64) {
	between := float64(messages - 1)
	single := of(r.single)
	gap = (of(r.burst) - single) / between
	send = (of(r.paced) - single) / between
	receive = of(r.drain) / between
	return gap, max(send, 0), max(receive, 0)
}

// points puts the rounds so far together.
func (n *Network) points(rounds [][]roundOf, o *NetworkOptions) {
	n.Points = n.Points[:0]
	for k, size := range o.Sizes {
		n.Points = append(n.Points, pointOf(size, merged(rounds, k), o.Messages))
	}
}

// disturbed counts the disturbed sizes; too many are an error.
func (n *Network) disturbed() (int, error) {
	count := countOf(n.Points, func(p *NetworkPoint) bool { return p.Disturbed })
	if float64(count) > tooDisturbed*float64(len(n.Points)) {
		return count, fmt.Errorf("%w: %d of %d sizes were disturbed (the 90th percentile is more than %d times the minimum); measure an idle "+
			"machine, with a core for each process",
			ErrImplausible, count, len(n.Points), disturbedRatio)
	}
	return count, nil
}

// estimate fits the parameters to each round, and takes the spread of the rounds as interval.
func (n *Network) estimate(rounds [][]roundOf, o *NetworkOptions) error {
	of := median
	disturbed, err := n.disturbed()
	if err != nil {
		return err
	}
	if float64(disturbed) > someDisturbed*float64(len(n.Points)) {
		of = slices.Min[[]float64]
		n.Remarks = append(n.Remarks, fmt.Sprintf("%d of %d sizes were disturbed: minima were fitted instead of medians", disturbed,
			len(n.Points)))
	}
	all := make([]roundOf, len(n.Points))
	for k := range all {
		all[k] = merged(rounds, k)
	}
	whole := fitRound(all, o, of, nil)
	fits := make([]networkFit, len(rounds))
	for i, round := range rounds {
		fits[i] = fitRound(round, o, of, whole.segments)
	}
	n.fill(&whole, fits, o)
	return n.check()
}

// fill puts values and intervals together.
func (n *Network) fill(whole *networkFit, fits []networkFit, o *NetworkOptions) {
	figure := func(of func(*networkFit) float64) Figure {
		values := make([]float64, len(fits))
		for i := range fits {
			values[i] = of(&fits[i])
		}
		return interval(of(whole), values)
	}
	n.HalfRoundTrip = figure(func(f *networkFit) float64 { return f.half })
	n.Send = figure(func(f *networkFit) float64 { return f.send })
	n.Receive = figure(func(f *networkFit) float64 { return f.receive })
	n.L = figure(func(f *networkFit) float64 { return f.half - f.send - f.receive })
	if n.L.Value <= 0 {
		n.Remarks = append(n.Remarks, fmt.Sprintf("L came out as %.0f ns and is taken as 0: on this link the work of sender and receiver "+
			"overlaps, nearly all time is overhead", n.L.Value))
		n.L.Value = 0
	}
	for i, s := range whole.segments {
		n.Protocols = append(n.Protocols, Protocol{
			From: o.Sizes[s.first], To: o.Sizes[s.last],
			Gap:     figure(func(f *networkFit) float64 { return f.gap[i] }),
			PerByte: figure(func(f *networkFit) float64 { return f.perByte[i] }),
			Send:    figure(func(f *networkFit) float64 { return f.sends[i] }),
			Receive: figure(func(f *networkFit) float64 { return f.receives[i] }),
		})
	}
	n.Gap = n.Protocols[0].Gap
}

// interval widens the range of what the rounds gave by a half on both sides: the rounds of one run are more
// alike than two runs.
func interval(value float64, rounds []float64) Figure {
	low, high := min(value, slices.Min(rounds)), max(value, slices.Max(rounds))
	half := (high - low) / 2
	return Figure{Value: value, Low: low - half, High: high + half}
}

// check refuses what cannot be true.
func (n *Network) check() error {
	for i := range n.Protocols {
		p := &n.Protocols[i]
		switch {
		case p.PerByte.High >= 0:
		case i+1 < len(n.Protocols) && p.To < narrow*p.From: // a library that changes its ways there
			n.Remarks = append(n.Remarks, fmt.Sprintf("from %d to %d bytes larger messages take less time (%.4g ns per byte): taken as 0 per byte",
				p.From, p.To, p.PerByte.Value))
			p.Gap, p.PerByte = n.flat(p), Figure{}
		default:
			return fmt.Errorf("%w: from %d to %d bytes larger messages take less time (%.4g ns per byte)", ErrImplausible, p.From, p.To,
				p.PerByte.Value)
		}
	}
	if n.HalfRoundTrip.Value <= 0 {
		return fmt.Errorf("%w: a message takes %.4g ns", ErrImplausible, n.HalfRoundTrip.Value)
	}
	if h := n.HalfRoundTrip; h.High > unsteadyRatio*h.Value {
		return fmt.Errorf("%w: a small message takes %s, but up to %s in some rounds; measure an idle machine, with a core for each process",
			ErrImplausible, picoseconds(h.Value).Short(), picoseconds(h.High).Short())
	}
	if most := n.HalfRoundTrip.Value * 4; n.Send.Value > most || n.Receive.Value > most {
		return fmt.Errorf("%w: overheads of %s and %s on a link where a message takes %s", ErrImplausible,
			picoseconds(n.Send.Value).Short(), picoseconds(n.Receive.Value).Short(), picoseconds(n.HalfRoundTrip.Value).Short())
	}
	return n.wide()
}

// wide refuses parameters about which the rounds show nothing: whose interval is wider than several times what a message
// takes as a whole, a small one for L, o and g, the largest one of its protocol for G.
func (n *Network) wide() error {
	type parameter struct {
		name  string
		width float64 // ns
		whole float64
	}
	var list []parameter
	add := func(name string, f Figure, bytes int, whole float64) {
		list = append(list, parameter{name, (f.High - max(f.Low, 0)) * float64(bytes), whole})
	}
	half := n.HalfRoundTrip.Value
	add("L", n.L, 1, half)
	add("o_s", n.Send, 1, half)
	add("o_r", n.Receive, 1, half)
	for i, p := range n.Protocols {
		if i == 0 {
			add("g", p.Gap, 1, max(half, p.Gap.Value))
		}
		add(fmt.Sprintf("G from %d to %d bytes", p.From, p.To), p.PerByte, p.To, max(half, p.Gap.Value)+max(p.PerByte.Value, 0)*float64(p.To))
	}
	for _, p := range list {
		if p.width > unsteadyRatio*p.whole {
			return fmt.Errorf("%w: the rounds differ so much that the interval of %s is %s wide, where a message as a whole takes %s; give more "+
				"--rounds and a larger --repeat, on an idle machine",
				ErrWide, p.name, picoseconds(p.width).Short(), picoseconds(p.whole).Short())
		}
	}
	return nil
}

// narrow is the ratio of the ends of a range of sizes below which it may be irregular.
const narrow = 4

// flat is the gap of a range of sizes in which it does not grow.
func (n *Network) flat(p *Protocol) Figure {
	var gaps []float64
	for _, point := range n.Points {
		if point.Size >= p.From && point.Size <= p.To {
			gaps = append(gaps, point.Gap)
		}
	}
	return Figure{Value: median(gaps), Low: slices.Min(gaps), High: slices.Max(gaps)}
}

// eagerLimit searches the largest message whose send returns before its receive is posted.
func eagerLimit(link Link, most int, polls bool) (int, error) {
	eager, err := link.Eager(most, polls)
	if err != nil || eager {
		return most, err
	}
	low, high := 0, most // low is eager (nothing is), high is not
	for high-low > 1 {
		middle := low + (high-low)/2
		eager, err := link.Eager(middle, polls)
		if err != nil {
			return 0, err
		}
		if eager {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}
