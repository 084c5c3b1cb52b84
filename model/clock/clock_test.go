package clock

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"slackline/model/unit"
)

const (
	us = unit.Microsecond
	ms = unit.Millisecond
)

func TestBestPing(t *testing.T) {
	pings := []Ping{{0, 5, 30}, {100, 120, 110}, {200, 206, 210}, {5, 6, 1}}
	got, ok := Best(pings)
	if want := pings[1]; !ok || got != want {
		t.Errorf("Best = %v, %v, want %v", got, ok, want)
	}
	if got := got.offset(); got != 105-120 {
		t.Errorf("Offset = %d, want -15", got)
	}
	if _, ok := Best([]Ping{{5, 6, 1}}); ok {
		t.Error("Best of a ping that came back before it was sent = true")
	}
}

// The rule of OTF2: t + o + rint(s*(t-t0)), the interval never going back.
func TestOffsets(t *testing.T) {
	o, err := NewOffsets([]Knot{{100, 10}, {200, 20}, {300, 15}})
	if err != nil {
		t.Fatal(err)
	}
	c := o.Cursor()
	for _, tc := range []struct{ t, want unit.Duration }{
		{50, 55},   // before the first: its slope goes on
		{100, 110}, //
		{105, 115}, // rint(0.5) = 0
		{115, 127}, // rint(1.5) = 2
		{200, 220}, // still the first interval
		{201, 221}, // rint(-0.05)
		{210, 230}, // rint(-0.5) = 0
		{230, 248}, // rint(-1.5) = -2
		{400, 410}, // behind the last: its slope goes on
		{150, 172}, // never back: 150 + 20 + rint(-0.05 * -50) = 150 + 20 + rint(2.5)
	} {
		if got := c.Correct(tc.t); got != tc.want {
			t.Errorf("Correct(%d) = %d, want %d", tc.t, got, tc.want)
		}
	}
	for _, knots := range [][]Knot{nil, {{1, 1}}, {{2, 1}, {2, 1}}, {{3, 1}, {2, 1}}} {
		if _, err := NewOffsets(knots); err == nil {
			t.Errorf("NewOffsets(%v) gave no error", knots)
		}
	}
}

// wrongClock is a clock with an offset and a drift, and a speed that varies a little.
type wrongClock struct {
	offset        float64
	drift, wander float64
	period        float64
}

func (c wrongClock) at(t unit.Duration) unit.Duration {
	x := float64(t)
	wave := c.wander * c.period / (2 * math.Pi) * math.Sin(2*math.Pi*x/c.period)
	return unit.Duration(c.offset) + t + unit.Duration(math.Round(c.drift*x+wave))
}

func drawClock(random *rand.Rand) wrongClock {
	return wrongClock{
		offset: (random.Float64() - 0.5) * float64(unit.Second),
		drift:  (random.Float64() - 0.5) * 2 * 100e-6,
		wander: random.Float64() * Wander / 4,
		period: (0.1 + random.Float64()) * float64(unit.Second),
	}
}

// ping exchanges at true time t; both ways take some time.
func ping(random *rand.Rand, asker, answerer wrongClock, t unit.Duration) Ping {
	there, back := unit.Duration(random.ExpFloat64()*float64(10*us)), unit.Duration(random.ExpFloat64()*float64(10*us))
	return Ping{asker.at(t), answerer.at(t + us + there), asker.at(t + 2*us + there + back)}
}

func TestSynchronizeKeepsItsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n := rapid.IntRange(2, 9).Draw(t, "clocks")
		phases := rapid.IntRange(1, 4).Draw(t, "phases")
		length := unit.Duration(rapid.Int64Range(int64(ms), int64(20*unit.Second)).Draw(t, "length"))
		clocks := make([]wrongClock, n)
		for i := range clocks {
			clocks[i] = drawClock(random)
		}
		var comparisons []Comparison
		for i := 1; i < n; i++ {
			for _, parent := range []int{random.IntN(i), random.IntN(n)} { // a tree and something more
				a, b := i, parent
				if random.IntN(2) == 0 {
					a, b = b, a
				}
				c := Comparison{Asker: a, Answerer: b}
				for phase := range phases {
					at := length * unit.Duration(phase) / unit.Duration(phases)
					for k := range random.IntN(20) + 1 {
						c.Pings = append(c.Pings, ping(random, clocks[a], clocks[b], at+unit.Duration(k)*100*us))
					}
				}
				comparisons = append(comparisons, c)
			}
		}
		corrections := Synchronize(n, 0, comparisons)
		for i, c := range corrections {
			if !c.Known {
				t.Fatalf("clock %d is not known", i)
			}
			bound := c.Error(clocks[i].at(0), clocks[i].at(length))
			for range 50 {
				at := unit.Duration(random.Int64N(int64(length)))
				local := clocks[i].at(at)
				off := c.Offsets.correctOr(local) - clocks[0].at(at)
				if off < 0 {
					off = -off
				}
				if here := c.Error(local, local); off > bound || off > here {
					t.Fatalf("clock %d: wrong by %d ps at %d ps; bound of the run %d, here %d", i, off, at, bound, here)
				}
			}
		}
	})
}

func TestSynchronize(t *testing.T) {
	link := func(a, b int, pings ...Ping) Comparison { return Comparison{a, b, pings} }
	shared := Ping{1000, 1000, 1000}
	corrections := Synchronize(6, 0, []Comparison{
		link(1, 0, Ping{100 * us, 0, 104 * us}, Ping{1100*ms + 100*us, 1100 * ms, 1100*ms + 104*us}), // 1 is 102 us ahead
		link(1, 2, Ping{1000 * us, 1500 * us, 1010 * us}),                                            // 2 is 495 us ahead of 1, asked by 1
		link(3, 2, shared), // on one host
		link(4, 0, Ping{50, 40, 10}),
	})
	for i, want := range []struct {
		known bool
		more  unit.Duration
		error float64 // about
	}{{true, 0, 0}, {true, 102 * us, 2e6}, {true, 597 * us, 7e6}, {true, 597 * us, 7e6}, {false, 0, 0}, {false, 0, 0}} {
		c := corrections[i]
		if c.Known != want.known {
			t.Errorf("clock %d: known = %v, want %v", i, c.Known, want.known)
		}
		at := 1 * ms
		if got := at - c.Offsets.correctOr(at); got != want.more {
			t.Errorf("clock %d: shows %d ps more, want %d", i, got, want.more)
		}
		if got := float64(c.Error(at, at)); got < want.error || got > want.error*1.1+100 {
			t.Errorf("clock %d: error %g ps, want %g or little more", i, got, want.error)
		}
	}
	again := Synchronize(6, 0, []Comparison{link(0, 0, shared)})
	if again[1].Known || !again[0].Known {
		t.Errorf("without comparisons: known = %v, %v, want only the reference", again[0].Known, again[1].Known)
	}
}

// A ping with a long round trip between two good ones says less than the line between them.
func TestBadReadingsAreLeftOut(t *testing.T) {
	good := func(at unit.Duration) Ping { return Ping{at, at + us, at + 2*us} }
	corrections := Synchronize(2, 0, []Comparison{{1, 0, []Ping{
		good(0), {10 * us, 14 * us, 15 * us}, {500 * ms, 504 * ms, 505 * ms}, good(unit.Second),
	}}})
	if got := corrections[1].Offsets.At(500*ms) - 500*ms; got != 0 {
		t.Errorf("offset half way = %d ps, want 0", got)
	}
	if got, want := corrections[1].Error(0, unit.Second), 2*us; got > want {
		t.Errorf("error = %d ps, want at most %d", got, want)
	}
}

func TestLine(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	a, b, c := wrongClock{offset: 1e9, drift: 22e-6, period: 1}, wrongClock{offset: -3e8, drift: -30e-6, period: 1},
		wrongClock{offset: 5, period: 1}
	fit := func(asker, answerer wrongClock) Line {
		var pings []Ping
		for i := range 30 {
			pings = append(pings, ping(random, asker, answerer, unit.Duration(i)*50*ms))
		}
		l, ok := FitLine(pings)
		if !ok {
			t.Fatal("no line")
		}
		return l
	}
	l := fit(a, b).Then(fit(b, c))
	at := unit.Second
	if got, want := l.Correct(a.at(at)), c.at(at); got < want-20*us || got > want+20*us {
		t.Errorf("corrected time = %d, want %d within 20 us", got, want)
	}
	if slope := l.Slope * 1e6; math.Abs(slope-22) > 20 {
		t.Errorf("slope = %g ppm, want about 22", slope)
	}
	if _, ok := FitLine(nil); ok {
		t.Error("FitLine of nothing = true")
	}
	one, _ := FitLine([]Ping{{100, 90, 120}})
	if got := one.Correct(5000); got != 5000-20 {
		t.Errorf("line of one ping corrects 5000 to %d, want 4980", got)
	}
}

func TestEnvelopeHoldsTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		asker, answerer := drawClock(random), drawClock(random)
		asker.wander, answerer.wander = 0, 0
		var pings []Ping
		for i := range rapid.IntRange(1, 40).Draw(t, "pings") {
			pings = append(pings, ping(random, asker, answerer, unit.Duration(i)*ms))
		}
		e := NewEnvelope(pings)
		lines, ok := e.Straight()
		if !ok || e.Len() != len(pings) {
			t.Fatal("no line agrees with a straight clock")
		}
		for range 20 {
			at := unit.Duration(random.Int64N(int64(100 * ms)))
			more := asker.at(at) - answerer.at(at)
			least, most := lines.At(answerer.at(at))
			if more < least-1 || more > most+1 { // clocks show whole picoseconds
				t.Fatalf("at %d: offset %d is not between %d and %d", at, more, least, most)
			}
			low, high, ok := e.Drifting(answerer.at(at), FreeDrift)
			if !ok || more < low || more > high {
				t.Fatalf("at %d: offset %d is not between %d and %d (%v)", at, more, low, high, ok)
			}
		}
		slope := (1+asker.drift)/(1+answerer.drift) - 1
		if least, most := lines.Slopes(); slope < least-1e-9 || slope > most+1e-9 {
			t.Fatalf("slope %g is not between %g and %g", slope, least, most)
		}
	})
}

func TestEnvelopeOfAClockThatWasSet(t *testing.T) {
	var pings []Ping
	for i := range unit.Duration(10) {
		at, step := i*ms, unit.Duration(0)
		if i >= 5 {
			step = 100 * us
		}
		pings = append(pings, Ping{at + step, at + us, at + 2*us + step})
	}
	if _, ok := NewEnvelope(pings).Straight(); ok {
		t.Error("a line agrees with a clock that was set")
	}
	if _, _, ok := NewEnvelope(pings).Drifting(0, FreeDrift); ok {
		t.Error("a drifting clock agrees with one that was set")
	}
	if _, ok := NewEnvelope(nil).Straight(); ok {
		t.Error("a line agrees with no pings")
	}
}

func ExampleSynchronize() {
	// Clock 1 is 100 us ahead of clock 0 at first and 120 us a second later.
	corrections := Synchronize(2, 0, []Comparison{{Asker: 1, Answerer: 0, Pings: []Ping{
		{Sent: 99 * us, Answered: 0, Back: 101 * us},
		{Sent: unit.Second + 119*us, Answered: unit.Second, Back: unit.Second + 121*us},
	}}})
	half := 500*ms + 110*us
	fmt.Println(corrections[1].Offsets.At(half), corrections[1].Error(half, half))
	// Output: 500ms 1.500613us
}

// Then returns the model that corrects by l and the result by outer: with l from a grandchild to its
// parent and outer from that to the reference, slopes compose as s1 + s2 - s1*s2.
func (l Line) Then(outer Line) Line {
	between := l.Correct(l.Origin)
	return Line{
		Origin: l.Origin,
		Offset: float64(l.Origin-between) + outer.More(between),
		Slope:  l.Slope + outer.Slope - l.Slope*outer.Slope,
	}
}

// FitLine fits a line to pings of this clock with the reference, by least squares over their offsets; each
// ping should be the best one of its moment. One ping gives a line without slope.
func FitLine(pings []Ping) (Line, bool) {
	points := make([]Point, len(pings))
	for i, p := range pings {
		points[i] = Point{p.Middle(), float64(p.offset())}
	}
	return FitPoints(points)
}

// Len is the number of pings.
func (e *Envelope) Len() int { return len(e.at) }
