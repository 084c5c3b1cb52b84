package replay

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slackline/analyze/simulate"
	"slackline/model/timeline"
	"slackline/model/trace"
	"slackline/model/trace/tracetest"
	"slackline/model/unit"
)

// readDeviceCase reads a recorded run with accelerators.
func readDeviceCase(t testing.TB, dir string) *timeline.Timeline {
	t.Helper()
	name := "ranks"
	if _, err := os.Stat(filepath.Join(dir, "traces.otf2")); err == nil {
		name = "traces.otf2"
	}
	tr, err := trace.Open(os.DirFS(dir), name, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tl, err := trace.ToTimeline(tr, trace.TimelineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

// differ returns the largest difference of a time in two runs, and where it is.
func differ(x, y *timeline.Timeline) (most unit.Duration, what string) {
	note := func(a, b []unit.Duration, where string) {
		for i := range a {
			if d := max(a[i]-b[i], b[i]-a[i]); d > most {
				most, what = d, where
			}
		}
	}
	for i := range x.Locations {
		note(x.Locations[i].Calls.Enter, y.Locations[i].Calls.Enter, "enter of "+x.Locations[i].Name)
		note(x.Locations[i].Calls.Leave, y.Locations[i].Calls.Leave, "leave of "+x.Locations[i].Name)
	}
	for i := range x.Devices.Streams {
		note(x.Devices.Streams[i].Begin, y.Devices.Streams[i].Begin, "begin on "+x.Devices.Streams[i].Name)
		note(x.Devices.Streams[i].End, y.Devices.Streams[i].End, "end on "+x.Devices.Streams[i].Name)
	}
	return most, what
}

// runAgain simulates a program with its own transfer times, by both models, and checks that each of its times is that of a run.
func runAgain(t *testing.T, p *Program, want *timeline.Timeline) {
	t.Helper()
	for _, model := range []simulate.Model{simulate.LogGOPS, simulate.LogGPS} {
		r, err := simulate.Run(t.Context(), p, free(), simulate.Options{Model: model, Calls: true})
		if err != nil {
			t.Fatal(err)
		}
		if d, where := differ(want, r.Calls); d != 0 || r.Makespan != want.End-want.Start {
			t.Errorf("%s: simulated %s, want %s; times differ by up to %s (%s)", model, r.Makespan, want.End-want.Start, d, where)
		}
	}
}

// With its own transfer times a run without MPI takes as long as it took, and every call and activity is where it was.
// MPI costs nothing there.
func TestDeviceCases(t *testing.T) {
	dirs, err := filepath.Glob("../../testdata/accelerator/cases/*")
	if err != nil || len(dirs) != 22 {
		t.Fatalf("%d cases, want 22: %v", len(dirs), err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			tl := readDeviceCase(t, dir)
			p, err := New(tl, Options{KeepTransfers: true})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(dir, "mpi") {
				if got := simulated(t, p, free(), nil).Makespan; got > p.Report().Span || got < p.Report().Span*9/10 {
					t.Errorf("without a network %s, but the run took %s", got, p.Report().Span)
				}
			} else {
				runAgain(t, p, tl)
			}
			p, err = New(tl, Options{Ranks: 2 * tl.Ranks}) // as many, on a machine
			if err != nil {
				t.Fatal(err)
			}
			if got := simulated(t, p, cluster(1<<14), nil).Makespan; got < p.Report().Span/3 || got > 2*p.Report().Span {
				t.Errorf("twice the ranks on a cluster take %s, but the run took %s", got, p.Report().Span)
			}
			checkEncoded(t, p)
		})
	}
}

// The simulated run, written down as the recorded one at other times, takes as long as the simulation says: without the recorded MPI_Init
// and MPI_Finalize, and with every call inside of it.
func TestDeviceCasesTakeTheirMakespan(t *testing.T) {
	dirs, err := filepath.Glob("../../testdata/accelerator/cases/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no cases", err)
	}
	for _, dir := range dirs {
		name := filepath.Base(dir)
		p, err := New(readDeviceCase(t, dir), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, model := range []simulate.Model{simulate.LogGOPS, simulate.LogGPS} {
			r, err := simulate.Run(t.Context(), p, cluster(1<<14), simulate.Options{Model: model, Calls: true})
			if err != nil {
				t.Fatalf("%s, %s: %v", name, model, err)
			}
			if got := r.Calls.End - r.Calls.Start; got != r.Makespan {
				t.Errorf("%s, %s: the run takes %s, the makespan is %s", name, model, got, r.Makespan)
			}
		}
	}
}

// A random program of ranks with one thread and two streams each. It says what it does in words of its own.
type deviceProgram [][]deviceStep // by rank

type deviceStep struct {
	what   string // work, launch, collective, after, sync
	stream int
	name   string
	length unit.Duration
}

func randomDevices(random *rand.Rand) deviceProgram {
	p := make(deviceProgram, 1+random.IntN(4))
	collectives := random.IntN(4)
	for rank := range p {
		for c := range collectives + 1 {
			for range 1 + random.IntN(8) {
				p[rank] = append(p[rank], deviceStep{
					what: []string{"work", "launch", "launch", "after", "sync"}[random.IntN(5)], stream: random.IntN(2),
					name: []string{"a", "b"}[random.IntN(2)], length: 2 * unit.Microsecond * unit.Duration(1+random.IntN(40)),
				})
			}
			if c < collectives && len(p) > 1 {
				p[rank] = append(p[rank], deviceStep{"collective", random.IntN(2), "ncclDevKernel_AllReduce",
					unit.Microsecond * unit.Duration(1+random.IntN(20))})
			}
		}
	}
	return p
}

// run carries the program out and writes it down; kernels b take half as long if faster is set. Launches begin what they launch at once.
func (p deviceProgram) run(faster bool) *timeline.Timeline {
	var met []unit.Duration // when the last kernel of each collective began
	for {
		b := timeline.NewBuilder(len(p))
		regions := map[string]timeline.RegionID{}
		for _, name := range []string{"host", "work", "cudaLaunchKernel", "cudaStreamWaitEvent", "cudaStreamSynchronize"} {
			regions[name] = b.Region(timeline.Region{Name: name})
		}
		type activity struct {
			begin, end unit.Duration
			step       deviceStep
			call       int32
		}
		streams := make([][2][]activity, len(p))
		var references []timeline.Reference
		begun := make([]unit.Duration, len(met))
		for rank, steps := range p {
			l := b.Location(rank, 0, "master", "")
			now, call := unit.Duration(0), int32(0)
			l.Enter(0, regions["host"])
			during := func(name string, until unit.Duration) {
				call++
				l.Enter(now, regions[name])
				l.Leave(until)
				now = until
			}
			var held [2]unit.Duration
			var isHeld [2]bool
			collective := 0
			last := func(stream int) unit.Duration {
				if n := len(streams[rank][stream]); n > 0 {
					return streams[rank][stream][n-1].end
				}
				return 0
			}
			for _, s := range steps {
				switch s.what {
				case "work":
					during("work", now+s.length)
				case "after": // the stream waits for the other one; once before an activity
					if isHeld[s.stream] || last(1-s.stream) == 0 {
						continue
					}
					held[s.stream], isHeld[s.stream] = last(1-s.stream), true
					index := int32(2*rank + s.stream)
					references = append(references, timeline.Reference{Location: int32(rank), Call: call + 1, Stream: index, Device: -1, Event: index ^ 1,
						Recorded: now})
					during("cudaStreamWaitEvent", now+unit.Microsecond)
				case "sync":
					references = append(references, timeline.Reference{Location: int32(rank), Call: call + 1, Stream: int32(2*rank + s.stream), Device: -1,
						Event: -1})
					if len(streams[rank][s.stream]) == 0 {
						references[len(references)-1].Stream = timeline.NoStream
					}
					during("cudaStreamSynchronize", max(now, last(s.stream))+unit.Microsecond)
				default:
					a := activity{begin: max(now, last(s.stream), held[s.stream]), step: s, call: call + 1}
					held[s.stream], isHeld[s.stream] = 0, false
					a.end = a.begin + s.length
					if s.name == "b" && faster {
						a.end = a.begin + s.length/2
					}
					if s.what == "collective" {
						if len(met) == collective {
							met, begun = append(met, 0), append(begun, 0)
						}
						begun[collective] = max(begun[collective], a.begin)
						a.end = max(a.begin, met[collective]) + s.length
						collective++
					}
					streams[rank][s.stream] = append(streams[rank][s.stream], a)
					during("cudaLaunchKernel", now+unit.Microsecond)
				}
			}
			l.Leave(now)
		}
		if !slices.Equal(met, begun) {
			met = begun
			continue
		}
		tl := b.Finish(1)
		d := timeline.NewDeviceBuilder(tl)
		comm := timeline.Comm{}
		members := make([][]timeline.Member, len(met))
		for rank := range p {
			comm.Members = append(comm.Members, int32(rank))
			collective := map[unit.Duration]timeline.Member{} // by launch
			var launches []unit.Duration
			for k := range streams[rank] {
				s := d.Stream(rank, 0, int64(k), string(rune('0'+k)))
				for i, a := range streams[rank][k] {
					kind := timeline.ComputeKernel
					if a.step.what == "collective" {
						kind = timeline.CommunicationKernel
						at := tl.Locations[rank].Calls.Enter[a.call]
						launches = append(launches, at)
						collective[at] = timeline.Member{Location: int32(2*rank + k), Issue: int32(i), Complete: int32(i), Sent: 1 << 10, Received: 1 << 10,
							Counts: -1}
					}
					s.Add(a.begin, a.end, d.Region(a.step.name), kind, timeline.Launch{Thread: int32(rank), Call: a.call})
				}
			}
			slices.Sort(launches)
			for i, at := range launches {
				members[i] = append(members[i], collective[at])
			}
		}
		made := d.Finish(references)
		made.Comms = []timeline.Comm{comm}
		for _, list := range members {
			made.Collectives = append(made.Collectives, timeline.Collective{Op: timeline.OpAllreduce, Root: -1, First: len(made.Members)})
			made.Members = append(made.Members, list...)
		}
		return tl
	}
}

// A run of a random program is replayed at its own times, and a faster kernel gives the run that the program has with it.
func TestRandomDevicePrograms(t *testing.T) {
	for seed := range uint64(60) {
		program := randomDevices(rand.New(rand.NewPCG(seed, 30)))
		tl := program.run(false)
		p, err := New(tl, Options{KeepTransfers: true})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		runAgain(t, p, tl)
		for rank := range p.programs {
			for i := range p.programs[rank].ops {
				op := &p.programs[rank].ops[i]
				if path := p.origins[op.Origin].Path; len(path) > 0 && path[len(path)-1] == "b" {
					op.Size /= 2
				}
			}
		}
		runAgain(t, p, program.run(true))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// What finishes with contention finishes in the static model, too, where a rank sends one message after the other in the order of its
// operations: those of several streams are in one order that holds for all ranks.
func TestRandomDeviceProgramsFinishWithGaps(t *testing.T) {
	for seed := range uint64(200) {
		p, err := New(randomDevices(rand.New(rand.NewPCG(seed, 31))).run(false), Options{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		simulated(t, p, cluster(1<<14), nil)
		if _, err := simulate.Run(t.Context(), p, cluster(1<<14), simulate.Options{Model: simulate.LogGPS}); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// The ranks of a collective of hosts begin it before or after a kernel that communicates: in the order of their operations both are in the
// same order on all ranks.
func TestHostsAndKernelsFinishWithGaps(t *testing.T) {
	const ranks = 4
	hosts, devices := "slackline trace 1\nunit us\n", ""
	members := ""
	for rank := range ranks {
		enter, begin := 2+28*(rank%2), 10-5*(rank%2)
		hosts += fmt.Sprintf("rank %d\n0 main {\n  0..1 cudaLaunchKernel\n", rank)
		hosts += fmt.Sprintf("  %d..40 MPI_Allreduce: begin; allreduce sent 8 received 8\n} 50\n", enter)
		devices += fmt.Sprintf("device host %d 0\ndevice stream %[1]d 0 s\n", rank)
		devices += fmt.Sprintf("device activity %d %d000000 30000000 0 1 ncclDevKernel_AllReduce\n", timeline.CommunicationKernel, begin)
		members += fmt.Sprintf("device member %d 0 8 8 0\n", rank)
	}
	text := hosts + devices + fmt.Sprintf("device group 0 1 2 3 world\ndevice collective %d 0 -1\n", timeline.OpAllreduce) + members
	p, err := New(tracetest.Timeline(t, text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p.Report().Collectives != 2 {
		t.Fatalf("%d collectives, want 2", p.Report().Collectives)
	}
	if _, err := simulate.Run(t.Context(), p, cluster(1<<14), simulate.Options{Model: simulate.LogGPS}); err != nil {
		t.Error(err)
	}
}
