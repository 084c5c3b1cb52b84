package noise

// Clock is what moves a CPU on in the noise of its rank.
type Clock uint8

// The clocks.
const (
	// TimeClock is simulated time: a CPU that is idle misses the detours that pass meanwhile.
	TimeClock Clock = iota
	// CPUClock is the CPU's own work, together with the detours that interrupt it: idle time does
	// not move a CPU on, so that it meets the same detours however long it waits.
	CPUClock
)

// SetClock chooses the clock; that of a new injection is TimeClock. Delays keep to simulated time.
func (in *Injection) SetClock(c Clock) { in.clock = c }

// Clock returns the clock.
func (in *Injection) Clock() Clock { return in.clock }

// Advance is Finish with CPUClock, for the next work of a CPU: it takes the CPU from position to the
// end of the work. The caller keeps a position for each CPU, 0 at first. A delay is idle time.
func (in *Injection) Advance(rank int, t, work int64, position *int64, hint *int32) int64 {
	if in.delays == nil {
		return moved(in.Finish(rank, *position, work, hint), t, position)
	}
	if work == 0 {
		return t
	}
	for _, d := range in.delays[int32(rank)] {
		if d.to <= t {
			continue
		}
		if t < d.from {
			held := *position + d.from - t // fits: the position is never ahead of the time
			if x := in.finishTrace(rank, *position, work, hint); x >= 0 && x <= held {
				return moved(x, t, position)
			}
			work -= in.available(rank, *position, held)
			*position = held
		}
		t = d.to
	}
	return moved(in.finishTrace(rank, *position, work, hint), t, position)
}

// moved takes a CPU from position to x, which takes as long, and returns when it is there if it starts
// at t; -1: beyond 63 bits.
func moved(x, t int64, position *int64) int64 {
	if x < 0 {
		return -1
	}
	t = add(t, x-*position)
	*position = x
	return t
}
