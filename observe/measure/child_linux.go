package measure

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// childRequest is the request to the measuring process, as JSON on its standard input.
type childRequest struct {
	Method    Method
	CPU       int
	TimeNS    int64
	QuantumNS int64
	Max       int
	Threshold float64
	StartNS   int64 // of CLOCK_MONOTONIC: all CPUs start together
}

// childHeader is what the measuring process answers as a line of JSON; Words numbers of 64 bits follow.
type childHeader struct {
	Error      string `json:",omitempty"`
	TickRate   float64
	Shortest   uint64   // ticks
	Spread     []uint64 // ticks
	Threshold  uint64   // ticks
	Iterations uint64
	First      uint64 // ticks
	Last       uint64
	Full       bool
	Switches   int64
	Pending    uint64
	Blocked    uint64
	GCs        uint32
	StealTicks int64 // of 1/100 s; -1: not known
	Words      int
}

// NoiseChild is the measuring process: it reads what to do, measures, and writes what it saw. It
// must be alone in its process.
func NoiseChild(r io.Reader, w io.Writer) error {
	var q childRequest
	if err := json.NewDecoder(r).Decode(&q); err != nil {
		return fmt.Errorf("the measuring process is started by 'measure noise' only: %w", err)
	}
	header, words, err := measureHere(&q)
	if err != nil {
		header = &childHeader{Error: err.Error()}
	}
	header.Words = len(words)
	out := bufio.NewWriter(w)
	if err := json.NewEncoder(out).Encode(header); err != nil {
		return err
	}
	if err := binary.Write(out, binary.LittleEndian, words); err != nil {
		return err
	}
	return out.Flush()
}

// measureHere measures on this thread, with nothing of the runtime in its way: no collection, no
// signals, no other thread of this process on the CPU (the parent has seen to that where there is
// another CPU).
func measureHere(q *childRequest) (*childHeader, []uint64, error) {
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
	var set unix.CPUSet
	set.Set(q.CPU)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return nil, nil, fmt.Errorf("cannot run on CPU %d: %w", q.CPU, err)
	}
	room := 2 * q.Max
	if q.Method != Selfish {
		room = 2 * (int(q.TimeNS/q.QuantumNS) + 2)
	}
	records := make([]uint64, room)
	for i := range records {
		records[i] = 1 // touched: the loop must not cause page faults
	}
	var all unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, nil); err != nil {
		return nil, nil, fmt.Errorf("cannot block signals: %w", err)
	}
	h := &childHeader{}
	start := stampPair()
	h.Shortest, h.Spread = findShortest(q.Method == Selfish)
	early := stampPair()
	for early.ns-start.ns < calibration {
		early = stampPair()
	}
	rate := ratePerNS(start, early)
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	steal := stealTicks(q.CPU)
	switches := involuntarySwitches()
	watch(records, ^uint64(0)-1, readTicks()+uint64(1e6*rate)) // the loop is warm when it counts
	end := waitFor(q.StartNS) + uint64(float64(q.TimeNS)*rate)
	var n int
	switch q.Method {
	case FixedWork:
		n = h.fixedWork(records, q, rate, end)
	case FixedQuantum:
		n = h.fixedQuantum(records, q, rate, end)
	default:
		h.Threshold = max(uint64(q.Threshold*float64(h.Shortest)), 1)
		n, h.Iterations, h.First, h.Last = watch(records, h.Threshold, end)
		h.Full = n == q.Max
	}
	h.TickRate = ratePerNS(start, stampPair()) * 1e9
	h.Switches = involuntarySwitches() - switches
	h.Pending, h.Blocked = signalState()
	if h.StealTicks = stealTicks(q.CPU); h.StealTicks >= 0 {
		h.StealTicks -= steal
	}
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	h.GCs = after.NumGC - before.NumGC
	return h, records[:2*n], nil
}

// calibration is the shortest time over which the counter is compared with the clock before the
// measurement, in ns; the rate that is reported comes from all of it.
const calibration = 100e6

// stamp is one instant on both clocks.
type stamp struct {
	ticks uint64
	ns    int64
}

// stampPair reads both clocks at once: of ten readings of the clock between two of the counter,
// the shortest one.
func stampPair() stamp {
	var best stamp
	width := ^uint64(0)
	for range 10 {
		a := readTicks()
		ns := monotonicRaw()
		b := readTicks()
		if b-a < width {
			width, best = b-a, stamp{ticks: a + (b-a)/2, ns: ns}
		}
	}
	return best
}

func ratePerNS(a, b stamp) float64 { return float64(b.ticks-a.ticks) / float64(b.ns-a.ns) }

func readClock(id int32) int64 {
	var ts unix.Timespec
	if unix.ClockGettime(id, &ts) != nil {
		return 0
	}
	return ts.Nano()
}

func monotonicRaw() int64 { return readClock(unix.CLOCK_MONOTONIC_RAW) }

// monotonic is the clock that processes agree on a start by.
func monotonic() int64 { return readClock(unix.CLOCK_MONOTONIC) }

// waitFor waits for an instant, all the time on the CPU, and returns the counter then.
func waitFor(ns int64) uint64 {
	for monotonic() < ns {
	}
	return readTicks()
}

// findShortest searches the shortest iteration several times, until many batches in a row were no
// shorter, and returns it with the result of each search, ascending.
func findShortest(thorough bool) (ticks uint64, found []uint64) {
	const searches, batch, patience = 5, 1000, 1000
	for range searches {
		best := ^uint64(0)
		for idle := 0; idle < patience; idle++ {
			if d := shortest(batch); d < best {
				best, idle = d, 0
			}
		}
		found = append(found, max(best, 1)) // 0: the counter is too coarse
		if !thorough {
			break
		}
	}
	slices.Sort(found)
	return found[0], found
}

func involuntarySwitches() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return 0
	}
	return u.Nivcsw
}

// signalState are the signals that were sent to this thread and not delivered, and those that it blocks, as bit sets.
func signalState() (pending, blocked uint64) {
	data, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(data)) {
		name, text, _ := strings.Cut(line, ":")
		v, err := strconv.ParseUint(strings.TrimSpace(text), 16, 64)
		switch {
		case err != nil:
		case name == "SigPnd":
			pending = v
		case name == "SigBlk":
			blocked = v
		}
	}
	return pending, blocked
}

// blockable are the signals that a thread can block, as a bit set: all but SIGKILL and SIGSTOP.
const blockable = ^uint64(1<<(unix.SIGKILL-1) | 1<<(unix.SIGSTOP-1))

// stealTicks is what the hypervisor has taken of a CPU so far, in 1/100 s; -1: not known.
func stealTicks(cpu int) int64 {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return -1
	}
	name := "cpu" + strconv.Itoa(cpu)
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) > 8 && fields[0] == name {
			if v, err := strconv.ParseInt(fields[8], 10, 64); err == nil {
				return v
			}
		}
	}
	return -1
}
