package whatif

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"slackline/analyze/simulate"
	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/pattern"
	"slackline/model/schedule"
	"slackline/model/unit"
)

const us = int64(unit.Microsecond)

// plainMachine has L 2.5us, o 1.5us, g 1us, G 6ns and the given O.
func plainMachine(cpuByte unit.Duration) *machine.Machine {
	return machine.FromParams("plain", machine.Params{
		Latency:  2500 * unit.Nanosecond,
		Gap:      1000 * unit.Nanosecond,
		Overhead: machine.One(1500 * unit.Nanosecond),
		PerByte:  machine.One(unit.PerByte(6e6)),
		CPUByte:  unit.PerByte(cpuByte * 1000),
		Eager:    65535,
	})
}

func goal(t testing.TB, text string) *schedule.Graph {
	t.Helper()
	g, err := schedule.ReadGOAL("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// delayed returns an injection that holds ranks up: rank, from and length in us.
func delayed(t testing.TB, list ...[3]int64) *noise.Injection {
	t.Helper()
	in, err := noise.NewInjection(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		if err := in.Delay(int(d[0]), d[1]*us, d[2]*us); err != nil {
			t.Fatal(err)
		}
	}
	return in
}

func mustAttribute(t testing.TB, p schedule.Program, m *machine.Machine, in *noise.Injection) *Attribution {
	t.Helper()
	a, err := Attribute(context.Background(), p, m, simulate.Options{Noise: in})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// One message of a byte from rank 0 to rank 1, after calculations of each.
func pair(t testing.TB, calc0, calc1 string) *schedule.Graph {
	return goal(t, "num_ranks 2\nrank 0 {\na: calc "+calc0+"\nb: send 1b to 1\nb requires a\n}\n"+
		"rank 1 {\na: calc "+calc1+"\nb: recv 1b from 0\nb requires a\n}\n")
}

// Cases worked by hand; times in us. Without noise the receiver ends 5.5 us after the end of the
// sender's calculation, if it waits for it.
func TestAttributionByHand(t *testing.T) {
	const none = 0.0
	for _, tc := range []struct {
		name    string
		program *schedule.Graph
		delays  [][3]int64

		growth, change, critical, waiting, busy, tied, finish float64
		amplification                                         float64
		at                                                    int // rank that absorbs
	}{
		// The receiver is late, but not as late as the message: its wait takes the noise in.
		{name: "absorbed", program: pair(t, "100000", "10000"), delays: [][3]int64{{1, 0, 20}},
			waiting: 20, at: 1},
		// The sender is late: so is the receiver, by all of it.
		{name: "propagated", program: pair(t, "100000", "10000"), delays: [][3]int64{{0, 0, 20}},
			growth: 20, critical: 20, amplification: 2},
		// The receiver becomes later than the message: the path moves to its own work. It ends at
		// 131.5 instead of 105.5, and has 11.5 of its own beside the noise.
		{name: "overtaken", program: pair(t, "100000", "10000"), delays: [][3]int64{{1, 0, 120}},
			growth: 26, change: -94, critical: 120, amplification: 26.0 / 120},
		// The late message finds its receiver still at work.
		{name: "busy", program: pair(t, "10000", "100000"), delays: [][3]int64{{0, 0, 20}},
			busy: 20, amplification: 1, at: 1},
		{name: "finish", program: goal(t, "num_ranks 2\nrank 0 {\ncalc 10000\n}\nrank 1 {\ncalc 100000\n}\n"),
			delays: [][3]int64{{0, 0, 20}}, finish: 20, amplification: 1, at: 0},
		// Two ranks are equally late: one is on the path, the other one beside it.
		{name: "tied", program: goal(t, "num_ranks 2\nrank 0 {\ncalc 100000\n}\nrank 1 {\ncalc 100000\n}\n"),
			delays: [][3]int64{{0, 0, 20}, {1, 5, 20}}, growth: 20, critical: 20, tied: 20, amplification: 1, at: 1},
		// A delay while there is no work is not injected.
		{name: "idle", program: pair(t, "100000", "10000"), delays: [][3]int64{{1, 50, 20}}},
		// Only the delay before the last of the sender's calculations matters.
		{name: "both", program: pair(t, "100000", "10000"), delays: [][3]int64{{0, 30, 4}, {0, 60, 3}, {1, 2, 9}},
			growth: 7, critical: 7, waiting: 9, amplification: 14.0 / 16, at: 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := mustAttribute(t, tc.program, plainMachine(0), delayed(t, tc.delays...))
			micro := func(n unit.Nanoseconds) float64 { return float64(n) / float64(us) }
			for _, f := range []struct {
				name      string
				got, want float64
			}{
				{"growth", micro(a.Growth), tc.growth},
				{"path change", micro(a.PathChange), tc.change},
				{"critical", micro(a.Total.Critical), tc.critical},
				{"waiting", micro(a.Total.Waiting), tc.waiting},
				{"busy", micro(a.Total.Busy), tc.busy},
				{"tied", micro(a.Total.Tied), tc.tied},
				{"finish", micro(a.Total.Finish), tc.finish},
				{"transfer", micro(a.Total.Transfer), none},
				{"amplification", a.Amplification, tc.amplification},
			} {
				if f.got != f.want {
					t.Errorf("%s = %v, want %v", f.name, f.got, f.want)
				}
			}
			for _, r := range a.Ranks {
				if r.Rank == tc.at && r.AbsorbedHere != a.Total.Absorbed {
					t.Errorf("rank %d absorbs %v, want %v", r.Rank, r.AbsorbedHere, a.Total.Absorbed)
				}
			}
			if a.Total.Injected > 0 && (len(a.Sources) != 1 || a.Sources[0].Source != noise.DelayLabel || a.Sources[0].Account != a.Total) {
				t.Errorf("sources = %+v, want %s alone with %+v", a.Sources, noise.DelayLabel, a.Total)
			}
		})
	}
}

// A receiver with CPU work of 1 ns for each of the bytes, which arrive at 6 ns each: noise of up to
// 5 us of 1000 bytes is hidden, and the first of two sources is hidden first.
func TestAttributionBehindBytes(t *testing.T) {
	p := goal(t, "num_ranks 2\nrank 0 {\nsend 1001b to 1\n}\nrank 1 {\nrecv 1001b from 0\n}\n")
	m := plainMachine(unit.Nanosecond)
	const arrival = 4 * us
	for _, tc := range []struct {
		first, second                                                int64 // us, one after the other
		transferFirst, transferSecond, criticalFirst, criticalSecond int64
	}{
		{2, 0, 2, 0, 0, 0},
		{2, 1, 2, 1, 0, 0},
		{3, 4, 3, 2, 0, 2},
		{9, 4, 5, 0, 4, 4},
	} {
		trace, err := noise.NewLabeled(1000*us, []noise.Detour{
			{Start: arrival + us/2, Length: tc.first * us},
			{Start: arrival + us/2 + tc.first*us, Length: tc.second * us},
		}, []int32{0, 1}, []string{"first", "second"})
		if err != nil {
			t.Fatal(err)
		}
		in, err := noise.NewPerRank([]*noise.Detours{nil, trace}, nil)
		if err != nil {
			t.Fatal(err)
		}
		a := mustAttribute(t, p, m, in)
		got := map[string][2]int64{}
		for _, s := range a.Sources {
			got[s.Source] = [2]int64{int64(s.Transfer), int64(s.Critical)}
		}
		want := map[string][2]int64{
			"first":  {tc.transferFirst * us, tc.criticalFirst * us},
			"second": {tc.transferSecond * us, tc.criticalSecond * us},
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("noise of %d and %d us: transfer and critical = %v, want %v", tc.first, tc.second, got, want)
		}
		if a.PathChange != 0 || a.Path.Bytes != unit.Nanoseconds(6*us) {
			t.Errorf("path change %v, bytes %v; want 0 and 6 us", a.PathChange, a.Path.Bytes)
		}
	}
}

// Noise of a send that comes after its message has left does not travel with it.
func TestAttributionAfterMessage(t *testing.T) {
	p := goal(t, "num_ranks 2\nrank 0 {\nsend 1001b to 1\n}\nrank 1 {\nrecv 1001b from 0\n}\n")
	in := delayed(t)
	for _, d := range [][2]int64{{us, us}, {3 * us, us / 2}} { // o is done at 2.5 us, bytes at 4 us
		if err := in.Delay(0, d[0], d[1]); err != nil {
			t.Fatal(err)
		}
	}
	a := mustAttribute(t, p, plainMachine(unit.Nanosecond), in)
	if a.Total.Critical != unit.Nanoseconds(us) || a.Total.Finish != unit.Nanoseconds(us/2) {
		t.Errorf("critical %v, finish %v; want 1 us and 0.5 us", a.Total.Critical, a.Total.Finish)
	}
	want := []Hold{{Rank: 0, Start: 0, Noise: unit.Nanoseconds(us), During: "send"}}
	if !reflect.DeepEqual(a.Path.Held, want) {
		t.Errorf("held = %+v, want %+v", a.Path.Held, want)
	}
	path := CriticalPath{LastRank: 1, Steps: 2, Messages: 1, Ranks: 2, Held: want,
		Overhead: unit.Nanoseconds(3 * us), Latency: unit.Nanoseconds(25 * us / 10),
		Bytes: unit.Nanoseconds(6 * us), Noise: unit.Nanoseconds(us)}
	if !reflect.DeepEqual(a.Path, path) {
		t.Errorf("path = %+v, want %+v", a.Path, path)
	}
}

// All ranks compute the same at the same phase of the noise: the noise of each rank is the growth,
// on the path at the lowest rank and beside it at the others.
func TestAttributionCoScheduled(t *testing.T) {
	build := schedule.NewBuilder(3)
	for rank := range 3 {
		var b schedule.Block
		b.Add(schedule.Op{Kind: schedule.Calc, Size: 5000 * us})
		build.Add(rank, &b)
	}
	profile, err := noise.Parse("1000Hz:100us+300Hz:7us")
	if err != nil {
		t.Fatal(err)
	}
	trace, err := profile.Detours(1)
	if err != nil {
		t.Fatal(err)
	}
	in, err := noise.NewInjection(trace, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := mustAttribute(t, build.Graph(), plainMachine(0), in)
	if a.Growth == 0 || a.PathChange != 0 || a.Growth != a.Total.Critical || a.Amplification != 1 {
		t.Errorf("growth %v, path change %v, critical %v, amplification %v", a.Growth, a.PathChange, a.Total.Critical, a.Amplification)
	}
	for i, r := range a.Ranks {
		if r.Rank != i || r.Injected != a.Growth || r.Critical+r.Tied != r.Injected || (r.Critical > 0) != (i == 0) {
			t.Errorf("account %d = %+v, want all of %v on the path or beside it", i, r, a.Growth)
		}
	}
	if len(a.Sources) != 2 || a.Sources[0].Source != "1kHz:100us" && !strings.Contains(a.Sources[0].Source, "100us") {
		t.Errorf("sources = %+v, want two, the larger one first", a.Sources)
	}
}

func TestAttributionWithoutNoise(t *testing.T) {
	p, err := pattern.New("dissemination", pattern.Params{Ranks: 8, Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	empty, err := noise.NewInjection(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []*noise.Injection{nil, empty} {
		a := mustAttribute(t, p, plainMachine(0), in)
		if a.Growth != 0 || a.PathChange != 0 || a.FinishGrowth != 0 || a.Amplification != 0 || a.Total != (Account{}) || len(a.Sources) != 0 {
			t.Errorf("attribution of no noise = %+v", a)
		}
		if a.Path.Length() != unit.Duration(a.Makespan) || a.Makespan == 0 || len(a.Ranks) != 8 {
			t.Errorf("length %v, makespan %v, %d ranks", a.Path.Length(), a.Makespan, len(a.Ranks))
		}
	}
}

func TestAttributionErrors(t *testing.T) {
	p := pair(t, "100", "100")
	_, err := attribute(context.Background(), p, plainMachine(0), simulate.Options{}, 3)
	if err == nil || !strings.Contains(err.Error(), "more than 3 operations") || !strings.Contains(err.Error(), "fewer ranks") {
		t.Errorf("too large: error %v", err)
	}
	if _, err := attribute(context.Background(), p, plainMachine(0), simulate.Options{}, 4); err != nil {
		t.Errorf("just small enough: error %v", err)
	}
	if _, err := Attribute(context.Background(), p, plainMachine(0), simulate.Options{Model: simulate.LogGPS}); err == nil {
		t.Error("the static model: no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	big, err := pattern.New("dissemination", pattern.Params{Ranks: 1 << 12, Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Attribute(ctx, big, plainMachine(0), simulate.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: error %v", err)
	}
}
