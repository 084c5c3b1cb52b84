package simulate

import (
	"fmt"
	"math"
	"strings"

	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// testMachine is a machine with or without noise.
type testMachine struct {
	machine *machine.Machine
	noise   *testNoise // nil: none
}

// fin returns R8's function for referenceRun.
func (m *testMachine) fin() refNoise {
	if m.noise == nil {
		return nil
	}
	return m.noise.fin
}

// runReference runs the oracle on a program.
func runReference(p schedule.Program, m *testMachine) ([]int64, error) {
	layout, err := m.machine.Layout(p.Ranks())
	if err != nil {
		return nil, err
	}
	return referenceRun(schedule.Blocks(p), layout, m.fin())
}

func (m *testMachine) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "ranks per node %d, nodes per switch %d, shared NIC %t, cyclic %t, nodes %v\n",
		m.machine.RanksPerNode, m.machine.NodesPerSwitch, m.machine.SharedNIC, m.machine.Placement.Cyclic, m.machine.Placement.Nodes)
	for class, p := range m.machine.Classes {
		if class > 0 && p.Equal(&m.machine.Classes[class-1]) {
			continue
		}
		limit := fmt.Sprint(p.Eager)
		if p.Eager == machine.NoLimit {
			limit = "none"
		}
		fmt.Fprintf(&s, "class %d: L %dps o %v g %dps G %v fs O %dfs S %s\n",
			class, int64(p.Latency), p.Overhead, int64(p.Gap), p.PerByte, int64(p.CPUByte), limit)
	}
	if m.noise != nil {
		fmt.Fprintf(&s, "noise: %+v\n", *m.noise)
	}
	return s.String()
}

// nanoseconds returns times of a file in ps.
func nanoseconds(list []int64) []int64 {
	ps := make([]int64, len(list))
	for i, t := range list {
		ps[i] = t * int64(unit.Nanosecond)
	}
	return ps
}

// testNoise is the noise of R8 and delays of single ranks, in ps.
type testNoise struct {
	period  int64
	detours []noise.Detour
	offsets []int64
	delays  []testDelay
	clock   noise.Clock
}

type testDelay struct {
	rank         int
	from, length int64
}

// injection returns the noise as the engines take it.
func (n *testNoise) injection() (*noise.Injection, error) {
	if n == nil {
		return nil, nil
	}
	trace, err := noise.NewDetours(n.period, n.detours)
	if err != nil {
		return nil, err
	}
	in, err := noise.NewInjection(trace, n.offsets)
	if err != nil {
		return nil, err
	}
	in.SetClock(n.clock)
	for _, d := range n.delays {
		if err := in.Delay(d.rank, d.from, d.length); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// fin is R8: go on from one change between available and not available to the next. Detours come by
// the clock of the noise, delays by time; a CPU that is held up by a delay is idle.
func (n *testNoise) fin(rank int, t, position, work int64) (end, moved int64) {
	for work > 0 && t >= 0 {
		if held := n.heldFor(rank, t); held > 0 {
			t += held
			continue
		}
		at := t
		if n.clock == noise.CPUClock {
			at = position
		}
		step := n.untilDelay(rank, t)
		if busy := n.busyFor(rank, at); busy > 0 {
			step = min(step, busy)
		} else {
			step = min(step, work, n.freeFor(rank, at))
			work -= step
		}
		t += step
		position += step
	}
	if t < 0 {
		return -1, 0
	}
	return t, position
}

// busyFor is how long the CPU is not available from there on because of one detour; 0 if it is
// available.
func (n *testNoise) busyFor(rank int, at int64) int64 {
	at = (at + n.offsets[rank]) % n.period
	for _, d := range n.detours {
		if since := (at - d.Start + n.period) % n.period; since < d.Length {
			return d.Length - since
		}
	}
	return 0
}

// freeFor is how long it takes from where the CPU is available to the next detour, at most a period.
func (n *testNoise) freeFor(rank int, at int64) int64 {
	free := n.period
	at = (at + n.offsets[rank]) % n.period
	for _, d := range n.detours {
		if d.Length > 0 {
			free = min(free, (d.Start-at+n.period)%n.period)
		}
	}
	return free
}

// heldFor is how long a delay holds the rank up from t on; 0: there is none.
func (n *testNoise) heldFor(rank int, t int64) int64 {
	for _, d := range n.delays {
		if d.rank == rank && d.from <= t && t < d.from+d.length {
			return d.from + d.length - t
		}
	}
	return 0
}

// untilDelay is how long it takes from t to the next delay of the rank.
func (n *testNoise) untilDelay(rank int, t int64) int64 {
	free := int64(math.MaxInt64)
	for _, d := range n.delays {
		if d.rank == rank && d.from > t && d.length > 0 {
			free = min(free, d.from-t)
		}
	}
	return free
}

// vectorDefaults are the parameters of the cases in errors.json and of the worked examples.
func vectorDefaults() testMachine {
	return testMachine{machine: machine.FromParams("defaults", machine.Params{
		Latency:  2500 * unit.Nanosecond,
		Gap:      1000 * unit.Nanosecond,
		Overhead: machine.One(1500 * unit.Nanosecond),
		PerByte:  machine.One(unit.PerByte(6e6)),
		Eager:    65535,
	})}
}

func drawMachine(d draw, kind caseKind, ranks int, scale int64) testMachine {
	m := &machine.Machine{RanksPerNode: 1}
	most := []int{20, 20, 20, 3}[d(4)] // small times make many ties
	m.Classes[machine.Node] = drawParams(d, most, scale, false)
	for class := range m.Classes[1:] {
		m.Classes[class+1] = m.Classes[machine.Node]
	}
	if d.chance(2, 5) {
		pieces := d.chance(1, 2)
		for class := range m.Classes {
			m.Classes[class] = drawParams(d, most, scale, pieces)
		}
		m.RanksPerNode = d.between(1, 4)
		m.NodesPerSwitch = d(4)
	}
	if d.chance(1, 5) && kind != kindDense {
		m.SharedNIC = true
		m.RanksPerNode = d.between(1, 4)
	}
	switch d(6) {
	case 0:
		m.Placement.Cyclic = true
	case 1:
		m.Placement.Nodes = make([]int32, ranks)
		for rank := range m.Placement.Nodes {
			m.Placement.Nodes[rank] = int32(d(ranks + 1))
		}
	}
	if kind == kindRendezvous || kind == kindDense && d.chance(1, 2) {
		limit, short := int64(d(4)), d.chance(1, 2)
		for class := range m.Classes {
			m.Classes[class].Eager = limit
			if short { // messages that wait for the CPU are younger than what went before
				m.Classes[class].Latency = unit.Duration(int64(d(3)) * scale)
			}
		}
	}
	t := testMachine{machine: m}
	if kind != kindOverflow && d.chance(2, 5) {
		t.noise = drawNoise(d, ranks, scale)
	}
	return t
}

// drawParams draws L, o and g of up to most units, and G and O of up to 3 units, whole or not.
func drawParams(d draw, most int, scale int64, pieces bool) machine.Params {
	limits := []int64{machine.NoLimit, machine.NoLimit, 0, int64(d(8))}
	time := func() unit.Duration { return unit.Duration(int64(d(most+1)) * scale) }
	perByte := func() unit.PerByte {
		if scale > 1000 {
			return unit.PerByte(d(4)) // of what overflows, one time is enough
		}
		if d.chance(1, 4) {
			return unit.PerByte(int64(d(3001)) * scale)
		}
		return unit.PerByte(int64(d(4)) * 1000 * scale)
	}
	p := machine.Params{
		Latency:  time(),
		Gap:      time(),
		Overhead: machine.Pieces[unit.Duration]{{Value: time()}},
		PerByte:  machine.Pieces[unit.PerByte]{{Value: perByte()}},
		CPUByte:  perByte(),
		Eager:    limits[d(len(limits))],
	}
	if d.chance(1, 6) { // no window
		p.Latency, p.Overhead[0].Value = 0, 0
	}
	if pieces {
		from := int64(0)
		for range d(3) {
			from += int64(d.between(1, 5))
			p.Overhead = append(p.Overhead, machine.Piece[unit.Duration]{From: from, Value: time()})
		}
		from = 0
		for range d(3) {
			from += int64(d.between(1, 5))
			p.PerByte = append(p.PerByte, machine.Piece[unit.PerByte]{From: from, Value: perByte()})
		}
	}
	return p
}

// drawNoise draws a period of 1 to 60 units with up to 4 detours, which leave at least a unit free.
func drawNoise(d draw, ranks int, scale int64) *testNoise {
	units := d.between(1, 60)
	n := &testNoise{period: int64(units) * scale}
	free := units - 1 // what detours may still take
	var starts []int
	for range d(5) {
		starts = append(starts, d(units))
	}
	for at := range units { // ascending
		for _, start := range starts {
			if start == at {
				length := d(free + 1)
				free -= length
				n.detours = append(n.detours, noise.Detour{Start: int64(start) * scale, Length: int64(length) * scale})
			}
		}
	}
	same := d.chance(1, 5)
	for rank := range ranks {
		offset := int64(d(2*units)) * scale
		if same && rank > 0 {
			offset = n.offsets[0]
		}
		n.offsets = append(n.offsets, offset)
	}
	for range d(3) {
		n.delays = append(n.delays, testDelay{d(ranks), int64(d(100)) * scale, int64(d(60)) * scale})
	}
	if d.chance(1, 2) {
		n.clock = noise.CPUClock
	}
	return n
}
