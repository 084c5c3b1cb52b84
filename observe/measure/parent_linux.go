package measure

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"slackline/internal/fault"
	"slackline/model/unit"
)

// preparation is how long a measuring process takes to get ready, generously: all start together.
const preparation = 1500 * time.Millisecond

// CPUs are the CPUs that this process may use.
func CPUs() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var list []int
	for i := range len(set) * 64 {
		if set.IsSet(i) {
			list = append(list, i)
		}
	}
	return list
}

// MeasureNoise measures the noise of CPUs, each by a process of its own, all at the same time. If
// the context ends, the processes end and nothing is returned.
func MeasureNoise(ctx context.Context, o NoiseOptions) (*Noise, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	load := loadAverage("/")
	start := monotonic() + preparation.Nanoseconds()
	type answer struct {
		i   int
		c   *CPUNoise
		err error
	}
	answers := make(chan answer, len(o.CPUs))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i, cpu := range o.CPUs {
		fault.Go(func() {
			c, err := o.measureCPU(ctx, cpu, start)
			answers <- answer{i, c, err}
		})
	}
	result := &Noise{Method: o.Method, CPUs: make([]CPUNoise, len(o.CPUs))}
	var failure error
	for range o.CPUs {
		a := <-answers
		if a.err != nil && failure == nil {
			failure = a.err
			cancel()
		}
		if a.err == nil {
			a.c.Host.Load, a.c.Host.Virtual = load, virtual("/")
			result.CPUs[a.i] = *a.c
		}
	}
	if failure != nil {
		return nil, failure
	}
	return result, nil
}

// measureCPU runs the measuring process of one CPU.
func (o *NoiseOptions) measureCPU(ctx context.Context, cpu int, start int64) (*CPUNoise, error) {
	q := childRequest{
		Method: o.Method, CPU: cpu, TimeNS: o.Time.Nanoseconds(), QuantumNS: o.Quantum.Nanoseconds(),
		Max: o.MaxDetours, Threshold: o.Threshold, StartNS: start,
	}
	request, err := json.Marshal(&q)
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, o.Child[0], o.Child[1:]...)
	c.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1", "GOGC=off", "GOMAXPROCS=1")
	c.Stdin = bytes.NewReader(request)
	var out, messages bytes.Buffer
	c.Stdout, c.Stderr = &out, &messages
	if err := startElsewhere(c, cpu); err != nil {
		return nil, fmt.Errorf("cannot start the measuring process: %w", err)
	}
	if err := c.Wait(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("the measuring process of CPU %d failed: %w: %s", cpu, err, strings.TrimSpace(messages.String()))
	}
	return o.decode(cpu, &out)
}

// startElsewhere starts a process whose threads, but for the one that will measure, stay off the
// measured CPU, if there is another one. It ends with this one, however this one ends.
func startElsewhere(c *exec.Cmd, cpu int) error {
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var own, others unix.CPUSet
	if err := unix.SchedGetaffinity(0, &own); err != nil {
		return c.Start()
	}
	others = own
	others.Clear(cpu)
	if others.Count() > 0 && unix.SchedSetaffinity(0, &others) == nil {
		defer unix.SchedSetaffinity(0, &own) //nolint:errcheck // what was allowed before is allowed again
	}
	return c.Start()
}

// decode turns the answer of a measuring process into times.
func (o *NoiseOptions) decode(cpu int, out *bytes.Buffer) (*CPUNoise, error) {
	r := bufio.NewReader(out)
	line, err := r.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("the measuring process of CPU %d printed nothing", cpu)
	}
	var h childHeader
	if err := json.Unmarshal(line, &h); err != nil {
		return nil, fmt.Errorf("the measuring process of CPU %d: %w", cpu, err)
	}
	if h.Error != "" {
		return nil, errors.New(h.Error)
	}
	words := make([]uint64, h.Words)
	if err := binary.Read(r, binary.LittleEndian, words); err != nil && err != io.EOF {
		return nil, fmt.Errorf("the measuring process of CPU %d: %w", cpu, err)
	}
	return o.interpret(cpu, &h, words), nil
}

// loadAverage is the number of runnable processes of the last minute; -1: not known.
func loadAverage(root string) float64 {
	data, err := os.ReadFile(filepath.Join(root, "proc/loadavg"))
	if err != nil {
		return -1
	}
	v, err := strconv.ParseFloat(strings.Fields(string(data) + " x")[0], 64)
	if err != nil {
		return -1
	}
	return v
}

// virtual reports whether the kernel reports a hypervisor.
func virtual(root string) bool {
	data, err := os.ReadFile(filepath.Join(root, "proc/cpuinfo"))
	return err == nil && bytes.Contains(data, []byte(" hypervisor"))
}

// interpret turns ticks into times.
func (o *NoiseOptions) interpret(cpu int, h *childHeader, words []uint64) *CPUNoise {
	const hundredth = unit.Second / 100
	perTick := 1e12 / h.TickRate // ps
	ps := func(ticks uint64) unit.Duration { return unit.Duration(float64(ticks)*perTick + 0.5) }
	c := &CPUNoise{
		CPU: cpu, TickRate: h.TickRate, Iterations: h.Iterations, Full: h.Full,
		Shortest: float64(h.Shortest) * perTick / 1000, Threshold: float64(h.Threshold) * perTick / 1000,
		Duration: ps(h.Last - h.First),
		Host: HostState{
			InvoluntarySwitches: h.Switches, PendingSignals: h.Pending, SignalsBlocked: h.Blocked&blockable == blockable, Collections: h.GCs,
			Steal: -1,
		},
	}
	if h.StealTicks >= 0 {
		c.Host.Steal = unit.Duration(h.StealTicks) * hundredth
	}
	for _, s := range h.Spread {
		c.Spread = append(c.Spread, float64(s)*perTick/1000)
	}
	c.SamplingLimit = 1e9 / (2 * c.Shortest)
	if o.Method != Selfish {
		c.SamplingLimit = 1 / (2 * o.Quantum.Seconds())
	}
	switch o.Method {
	case Selfish:
		for i := 0; i+1 < len(words); i += 2 {
			c.Detours = append(c.Detours, Detour{Start: ps(words[i] - h.First), Length: ps(words[i+1] - words[i] - h.Shortest)})
		}
		c.findCauses()
	case FixedWork:
		shortest := ^uint64(0)
		for i := 1; i < len(words); i += 2 {
			shortest = min(shortest, words[i])
		}
		for i := 0; i+1 < len(words); i += 2 {
			c.Samples = append(c.Samples, Sample{Start: ps(words[i] - h.First), Noise: ps(words[i+1] - shortest)})
		}
	case FixedQuantum:
		most := uint64(1)
		for i := 1; i < len(words); i += 2 {
			most = max(most, words[i])
		}
		quantum := float64(o.Quantum.Nanoseconds()) * 1000
		for i := 0; i+1 < len(words); i += 2 {
			lost := float64(most-words[i+1]) / float64(most) * quantum
			c.Samples = append(c.Samples, Sample{Start: ps(words[i] - h.First), Noise: unit.Duration(lost + 0.5)})
		}
		c.Spectrum = spectrum(c.Samples, o.Quantum)
	}
	return c
}
