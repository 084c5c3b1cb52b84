//go:build linux

package measure

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"slackline/internal/needed"
	"slackline/model/unit"
)

// The test binary is also the measuring process and a process that disturbs it.
const (
	roleVariable = "SLACKLINE_TEST_ROLE"
	disturbHertz = 100
	disturbFor   = 300 * time.Microsecond
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "child":
		if err := NoiseChild(os.Stdin, os.Stdout); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	case "disturb":
		disturb()
	case "killed":
		c := exec.Command("sleep", "600")
		c.Stdout = os.Stdout // open as long as it runs
		if err := startElsewhere(c, 0); err == nil {
			os.Stdout.WriteString("started\n")
		}
		time.Sleep(time.Hour)
	}
	os.Exit(m.Run())
}

// disturb spins for a fixed time at a fixed rate, on the CPU that it was put on, for ever. What it is too late for it makes up for.
func disturb() {
	next := monotonic()
	os.Stdout.WriteString("started\n")
	for {
		next += int64(time.Second) / disturbHertz
		ts := unix.NsecToTimespec(next)
		for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil) != nil {
		}
		for end := monotonic() + disturbFor.Nanoseconds(); monotonic() < end; {
		}
	}
}

func options(t *testing.T, m Method) NoiseOptions {
	t.Helper()
	t.Setenv(roleVariable, "child")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cpus := CPUs()
	return NoiseOptions{
		Method: m, CPUs: cpus[len(cpus)-1:], Time: 300 * time.Millisecond, MaxDetours: DefaultMaxDetours,
		Threshold: DefaultThreshold, Quantum: DefaultQuantum, Child: []string{self},
	}
}

// What load cannot change: the accounts of a measurement.
func TestSelfish(t *testing.T) {
	n, err := MeasureNoise(context.Background(), options(t, Selfish))
	if err != nil {
		t.Fatal(err)
	}
	c := &n.CPUs[0]
	if c.Host.PendingSignals != 0 || !c.Host.SignalsBlocked || c.Host.Collections != 0 {
		t.Errorf("signals %x were sent to the measuring thread, all blocked: %v, %d collections ran",
			c.Host.PendingSignals, c.Host.SignalsBlocked, c.Host.Collections)
	}
	if c.Shortest <= 0 || c.Shortest > 1000 || len(c.Spread) != 5 || c.Spread[0] != c.Shortest {
		t.Errorf("shortest iteration %g ns, of %v", c.Shortest, c.Spread)
	}
	if c.Duration < 299*unit.Millisecond { // the rate of the counter was known less well before than after
		t.Errorf("measured %v instead of 300 ms", c.Duration)
	}
	end := unit.Duration(0)
	for i, d := range c.Detours {
		if d.Start < end || float64(d.Length) < 1000*(c.Threshold-c.Shortest)-1000 || d.Label >= len(c.Labels) {
			t.Fatalf("detour %d: %+v after %v, threshold %g ns", i, d, end, c.Threshold)
		}
		end = d.Start + d.Length
	}
	if end > c.Duration {
		t.Errorf("the last detour ends at %v, after the measurement of %v", end, c.Duration)
	}
	if p := c.OverheadPercent(); p < 0 || p > 100 {
		t.Errorf("overhead %g %%", p)
	}
}

func TestFullRecord(t *testing.T) {
	o := options(t, Selfish)
	o.MaxDetours, o.Threshold, o.Time = 3, 2, time.Second
	n, err := MeasureNoise(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if c := &n.CPUs[0]; !c.Full || len(c.Detours) != 3 || len(c.Warnings()) == 0 {
		t.Errorf("full %v with %d detours, warnings %q", c.Full, len(c.Detours), c.Warnings())
	}
}

func TestQuanta(t *testing.T) {
	for _, m := range []Method{FixedWork, FixedQuantum} {
		n, err := MeasureNoise(context.Background(), options(t, m))
		if err != nil {
			t.Fatal(err)
		}
		c := &n.CPUs[0]
		if len(c.Samples) < 10 {
			t.Errorf("%s: %d samples", m, len(c.Samples))
		}
		for i, s := range c.Samples {
			if s.Noise < 0 || i > 0 && s.Start <= c.Samples[i-1].Start {
				t.Fatalf("%s: sample %d is %+v", m, i, s)
			}
		}
	}
}

// A process on the same CPU that wakes at a fixed rate is found at that rate. If it had no CPU when it was its turn, it spins several
// times in a row later, which is one detour; other load takes the CPU as well. Both only add to the time that is found lost.
func TestKnownDetours(t *testing.T) {
	needed.Full(t, "measurements of a known noise")
	o := options(t, Selfish)
	o.Time = 2 * time.Second
	c := exec.Command(needed.Tool(t, "taskset"), "-c", strconv.Itoa(o.CPUs[0]), o.Child[0])
	c.Env = append(os.Environ(), roleVariable+"=disturb")
	started, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()         //nolint:errcheck // it was killed
	defer c.Process.Kill() //nolint:errcheck
	if _, err := io.ReadFull(started, make([]byte, len("started\n"))); err != nil {
		t.Fatal(err)
	}
	n, err := MeasureNoise(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, d := range n.CPUs[0].Detours {
		found += int(d.Length / (unit.Duration(disturbFor.Nanoseconds()) * unit.Nanosecond))
	}
	if want := 2 * disturbHertz; float64(found) < 0.75*float64(want) {
		t.Errorf("detours of %d times %v, want about %d", found, disturbFor, want)
	}
}

func TestCancelled(t *testing.T) {
	o := options(t, Selfish)
	o.Time = time.Minute
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := MeasureNoise(ctx, o); err == nil {
		t.Error("no error")
	}
}

func TestRefusals(t *testing.T) {
	for _, change := range []func(*NoiseOptions){
		func(o *NoiseOptions) { o.Time = 0 },
		func(o *NoiseOptions) { o.Threshold = 1 },
		func(o *NoiseOptions) { o.MaxDetours = 0 },
		func(o *NoiseOptions) { o.CPUs = nil },
		func(o *NoiseOptions) { o.Method, o.Quantum = FixedWork, 0 },
		func(o *NoiseOptions) { o.CPUs = []int{1000} },
	} {
		o := options(t, Selfish)
		change(&o)
		if _, err := MeasureNoise(context.Background(), o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}

// tickTrace are detours of two ticks and of random ones, with the clocks of all apart.
func tickTrace(rates ...float64) *CPUNoise {
	c := &CPUNoise{Duration: 4 * unit.Second}
	x := uint64(1)
	for t := range 4000 {
		x = x*6364136223846793005 + 1442695040888963407
		c.Detours = append(c.Detours, Detour{Start: unit.Duration(t)*unit.Millisecond + unit.Duration(x>>40)*40, Length: unit.Microsecond})
	}
	for i, rate := range rates {
		for k := 0; ; k++ {
			at := unit.Duration((float64(k) + 0.3 + 0.1*float64(i)) / rate * 1e12)
			if at >= c.Duration {
				break
			}
			c.Detours = append(c.Detours, Detour{Start: at, Length: 5 * unit.Microsecond})
		}
	}
	slices.SortFunc(c.Detours, func(a, b Detour) int { return cmp.Compare(a.Start, b.Start) })
	return c
}

func TestTicksAreFound(t *testing.T) {
	c := tickTrace(1000*(1+40e-6), 250)
	c.findCauses()
	if len(c.Lines) != 2 || c.Lines[0].Name != "tick 1000 Hz" || c.Lines[1].Name != "tick 250 Hz" {
		t.Fatalf("found %+v", c.Lines)
	}
	for i, want := range []int{4000, 1000} {
		if got := c.Lines[i].Count; math.Abs(float64(got-want)) > 0.05*float64(want) {
			t.Errorf("%s: %d detours, want about %d", c.Lines[i].Name, got, want)
		}
	}
	c = tickTrace(250, 250, 250) // three detours with each tick, of which one is on the line
	c.findCauses()
	if len(c.Lines) != 1 || c.Lines[0].Name != "tick 250 Hz" {
		t.Errorf("detours that follow a tick were taken for %+v", c.Lines)
	}
	c = tickTrace()
	c.findCauses()
	if len(c.Lines) != 0 {
		t.Errorf("chance was taken for %+v", c.Lines)
	}
}

func TestThrottlingIsFound(t *testing.T) {
	c := &CPUNoise{Duration: 5 * unit.Second}
	for s := range 5 {
		c.Detours = append(c.Detours, Detour{Start: unit.Duration(s)*unit.Second + 950*unit.Millisecond, Length: 50 * unit.Millisecond})
	}
	c.findCauses()
	if len(c.Lines) != 1 || c.Lines[0].Count != 5 {
		t.Errorf("found %+v", c.Lines)
	}
}

func TestStealIsTold(t *testing.T) {
	c := &CPUNoise{Duration: 5 * unit.Second, Host: HostState{Steal: 30 * unit.Millisecond}}
	c.findCauses()
	if len(c.Lines) != 1 || c.Lines[0].Name != StealCause || c.Lines[0].Lost != 30*unit.Millisecond {
		t.Errorf("found %+v", c.Lines)
	}
}

func TestSpectrum(t *testing.T) {
	var samples []Sample
	for i := range 1000 {
		s := Sample{Start: unit.Duration(i) * unit.Millisecond}
		if i%10 == 3 {
			s.Noise = 50 * unit.Microsecond
		}
		samples = append(samples, s)
	}
	list := spectrum(samples, time.Millisecond)
	if len(list) == 0 || math.Abs(math.Mod(list[0].Hertz+50, 100)-50) > 1 {
		t.Errorf("noise of 100 Hz gave %+v", list)
	}
}

func TestTransform(t *testing.T) {
	const n = 64
	v := make([]complex128, n)
	for i := range v {
		v[i] = complex(math.Cos(2*math.Pi*5*float64(i)/n)+0.5*math.Sin(2*math.Pi*9*float64(i)/n), 0)
	}
	transform(v)
	for i, x := range v[:n/2] {
		want := map[int]float64{5: n / 2, 9: n / 4}[i]
		if got := math.Hypot(real(x), imag(x)); math.Abs(got-want) > 1e-9 {
			t.Errorf("coefficient %d is %g, want %g", i, got, want)
		}
	}
}

// BenchmarkShortestIteration compares the shortest iteration of our loop with that of an equivalent loop in C, on the same CPU in
// turns: at most 1.2 times as long.
func BenchmarkShortestIteration(b *testing.B) {
	program := compileShortest(b)
	cpus := CPUs()
	cpu := cpus[len(cpus)-1]
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	b.Setenv(roleVariable, "child")
	o := NoiseOptions{Method: Selfish, CPUs: []int{cpu}, Time: 10 * time.Millisecond, MaxDetours: 1 << 16, Threshold: DefaultThreshold,
		Child: []string{self}}
	own, c := math.Inf(1), math.Inf(1)
	for b.Loop() {
		n, err := MeasureNoise(context.Background(), o)
		if err != nil {
			b.Fatal(err)
		}
		own = min(own, n.CPUs[0].Shortest)
		out, err := exec.Command(program, strconv.Itoa(cpu)).Output()
		if err != nil {
			b.Fatal(err)
		}
		ticks, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		if err != nil {
			b.Fatal(err)
		}
		c = min(c, ticks/n.CPUs[0].TickRate*1e9)
	}
	b.ReportMetric(own, "ns-t_min")
	b.ReportMetric(c, "ns-t_min-in-C")
	b.ReportMetric(own/c, "times-C")
}

// compileShortest compiles the loop in C.
func compileShortest(tb testing.TB) string {
	tb.Helper()
	program := filepath.Join(tb.TempDir(), "shortest")
	if out, err := exec.Command(needed.Tool(tb, "gcc"), "-O2", "testdata/shortest.c", "-o", program).CombinedOutput(); err != nil {
		tb.Fatalf("%v: %s", err, out)
	}
	return program
}

func TestQuietestRunIsKept(t *testing.T) {
	lost := []unit.Duration{30, 10, 20, 10}
	i := 0
	n, err := quietest(len(lost), func() (*Noise, error) {
		i++
		return &Noise{CPUs: []CPUNoise{{CPU: i, Duration: 1000, Detours: []Detour{{Length: lost[i-1]}}, SamplingLimit: float64(i)}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n.CPUs[0].CPU != 2 || !slices.Equal(n.Runs, []float64{3, 1, 2, 1}) || n.SamplingLimit() != 2 {
		t.Errorf("kept run %d of %v", n.CPUs[0].CPU, n.Runs)
	}
	if n, err := quietest(1, func() (*Noise, error) { return &Noise{CPUs: make([]CPUNoise, 1)}, nil }); err != nil || n.Runs != nil {
		t.Errorf("one run: %v, %v", n, err)
	}
	failure := errors.New("no CPU")
	if _, err := quietest(3, func() (*Noise, error) { return nil, failure }); !errors.Is(err, failure) {
		t.Errorf("error = %v, want %v", err, failure)
	}
}

// A measuring process does not outlive the one that started it, even if that one is killed: it would take a CPU for as long as was
// asked for.
func TestMeasuringProcessEnds(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := exec.Command(self)
	c.Env, c.Stdout = append(os.Environ(), roleVariable+"=killed"), w
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	started := make([]byte, len("started\n"))
	if _, err := io.ReadFull(r, started); err != nil {
		t.Errorf("no measuring process: %v", err)
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	_ = r.SetReadDeadline(time.Now().Add(time.Minute))
	if n, err := r.Read(started); err != io.EOF {
		t.Errorf("after the end of the parent: %d bytes, %v; want the end of the measuring process", n, err)
	}
}
