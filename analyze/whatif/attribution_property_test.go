package whatif

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"slackline/analyze/simulate"
	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// drawRounds draws calculations and rounds of messages between any ranks, all of a round in one
// phase of each rank, so that every program ends. Times are small: that makes ties.
func drawRounds(t *rapid.T) *schedule.Graph {
	ranks := rapid.IntRange(1, 6).Draw(t, "ranks")
	places := rapid.IntRange(1, 2).Draw(t, "places")
	small := func(n int, what string) int { return rapid.IntRange(0, n).Draw(t, what) }
	var rounds [][]schedule.Block // by round and rank
	for range rapid.IntRange(1, 5).Draw(t, "rounds") {
		blocks := make([]schedule.Block, ranks)
		for rank := range blocks {
			for range small(2, "calcs") {
				blocks[rank].Add(schedule.Op{Kind: schedule.Calc, Size: int64(small(30, "work")), CPU: uint8(small(places-1, "cpu"))})
			}
		}
		if rapid.Bool().Draw(t, "apart") {
			rounds = append(rounds, blocks)
			blocks = make([]schedule.Block, ranks)
		}
		for range small(3*ranks, "messages") {
			from, to := small(ranks-1, "from"), small(ranks-1, "to")
			op := schedule.Op{Size: int64(small(12, "size")), Tag: uint32(small(1, "tag")),
				CPU: uint8(small(places-1, "cpu")), NIC: uint8(small(places-1, "nic"))}
			op.Kind, op.Peer = schedule.Send, int32(to)
			blocks[from].Add(op)
			op.Kind, op.Peer = schedule.Recv, int32(from)
			blocks[to].Add(op)
		}
		rounds = append(rounds, blocks)
	}
	build := schedule.NewBuilder(ranks)
	for rank := range ranks {
		for _, blocks := range rounds {
			build.Add(rank, &blocks[rank])
		}
	}
	return build.Graph()
}

func drawSmallMachine(t *rapid.T) *machine.Machine {
	small := func(what string) unit.Duration { return unit.Duration(rapid.IntRange(0, 15).Draw(t, what)) }
	eager := machine.NoLimit
	if rapid.Bool().Draw(t, "rendezvous") {
		eager = int64(rapid.IntRange(0, 12).Draw(t, "S"))
	}
	m := machine.FromParams("small", machine.Params{
		Latency: small("L"), Gap: small("g"), Overhead: machine.One(small("o")),
		PerByte: machine.One(unit.PerByte(small("G") * 300)), CPUByte: unit.PerByte(small("O") * 300), Eager: eager,
	})
	m.RanksPerNode = rapid.IntRange(1, 3).Draw(t, "ranks per node")
	m.SharedNIC = rapid.Bool().Draw(t, "shared NIC")
	return m
}

func drawInjection(t *rapid.T, ranks int) *noise.Injection {
	period := int64(rapid.IntRange(20, 60).Draw(t, "period"))
	var list []noise.Detour
	var of []int32
	at, free := int64(0), period-5
	for range rapid.IntRange(0, 4).Draw(t, "detours") {
		at += int64(rapid.IntRange(0, 10).Draw(t, "start"))
		length := min(int64(rapid.IntRange(0, 8).Draw(t, "length")), free)
		free -= length
		if at >= period {
			break
		}
		list = append(list, noise.Detour{Start: at, Length: length})
		of = append(of, int32(rapid.IntRange(0, 2).Draw(t, "label")))
	}
	trace, err := noise.NewLabeled(period, list, of, []string{"timer", "daemon", "timer"})
	if err != nil {
		t.Fatal(err)
	}
	offsets := make([]int64, ranks)
	for r := range offsets {
		offsets[r] = int64(rapid.IntRange(0, 100).Draw(t, "offset"))
	}
	in, err := noise.NewInjection(trace, offsets)
	if err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "CPU clock") {
		in.SetClock(noise.CPUClock)
	}
	for range rapid.IntRange(0, 3).Draw(t, "delays") {
		err := in.Delay(rapid.IntRange(0, ranks-1).Draw(t, "rank"),
			int64(rapid.IntRange(0, 100).Draw(t, "from")), int64(rapid.IntRange(0, 40).Draw(t, "length")))
		if err != nil {
			t.Fatal(err)
		}
	}
	return in
}

// plus adds two accounts.
func plus(x, y Account) Account {
	return Account{
		x.Injected + y.Injected, x.Critical + y.Critical, x.Absorbed + y.Absorbed, x.Waiting + y.Waiting,
		x.Busy + y.Busy, x.Transfer + y.Transfer, x.Tied + y.Tied, x.Finish + y.Finish,
	}
}

// The accounts of random programs balance, against numbers that the simulator counts in its own way.
func TestAttributionBalances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, m := drawRounds(t), drawSmallMachine(t)
		in := drawInjection(t, p.Ranks())
		run := func(o simulate.Options) *simulate.Result {
			r, err := simulate.Run(context.Background(), p, m, o)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		quiet, noisy := run(simulate.Options{}), run(simulate.Options{Noise: in, Breakdown: true})
		a, err := Attribute(context.Background(), p, m, simulate.Options{Noise: in})
		if err != nil {
			t.Fatal(err)
		}

		equal := func(what string, got, want unit.Nanoseconds) {
			t.Helper()
			if got != want {
				t.Errorf("%s = %d, want %d", what, got, want)
			}
		}
		equal("makespan", a.Makespan, unit.Nanoseconds(noisy.Makespan))
		equal("noiseless", a.Noiseless, unit.Nanoseconds(quiet.Makespan))
		equal("growth", a.Growth, a.Makespan-a.Noiseless)
		equal("growth of the path", a.Path.Noise+a.PathChange, a.Growth)
		equal("length of the path", unit.Nanoseconds(a.Path.Length()), a.Makespan)
		equal("noise on the path", a.Path.Noise, a.Total.Critical)
		equal("absorbed", a.Total.Absorbed, a.Total.Injected-a.Total.Critical)
		equal("absorbed by ways", a.Total.Waiting+a.Total.Busy+a.Total.Transfer+a.Total.Tied+a.Total.Finish, a.Total.Absorbed)
		var held, here, growth unit.Nanoseconds
		for _, h := range a.Path.Held {
			held += h.Noise
		}
		equal("sum of what held the path up", held, a.Path.Noise)

		var byRank, bySource Account
		seen := make([]bool, p.Ranks())
		for _, r := range a.Ranks {
			byRank = plus(byRank, r.Account)
			here += r.AbsorbedHere
			growth += unit.Nanoseconds(noisy.Finish[r.Rank] - quiet.Finish[r.Rank])
			equal("noise that prolonged steps of a rank", r.Injected-r.Transfer, unit.Nanoseconds(noisy.Ranks[r.Rank].Noise))
			seen[r.Rank] = true
		}
		for _, s := range a.Sources {
			bySource = plus(bySource, s.Account)
		}
		if byRank != a.Total || bySource != a.Total {
			t.Errorf("by rank %+v, by source %+v, want %+v", byRank, bySource, a.Total)
		}
		if slices.Contains(seen, false) {
			t.Errorf("ranks %v, want all", a.Ranks)
		}
		equal("absorbed at all ranks", here, a.Total.Absorbed)
		equal("growth of the finish times", a.FinishGrowth, growth)

		again, err := Attribute(context.Background(), p, m, simulate.Options{Noise: in, Threads: 3, Detail: true})
		if err != nil || !reflect.DeepEqual(a, again) {
			t.Errorf("once more: %+v (%v), want %+v", again, err, a)
		}
	})
}

// Noise that is absorbed has no influence on the makespan: without the delays of a rank that are
// absorbed as a whole, the critical path is what it was.
func TestAttributionAbsorbedIsHarmless(t *testing.T) {
	tried := 0
	rapid.Check(t, func(t *rapid.T) {
		// One calculation of each rank and a message of each to rank 0: no order can change.
		ranks := rapid.IntRange(2, 6).Draw(t, "ranks")
		build := schedule.NewBuilder(ranks)
		var b schedule.Block
		for rank := range ranks {
			b.Reset()
			b.Add(schedule.Op{Kind: schedule.Calc, Size: int64(rapid.IntRange(1, 200).Draw(t, "work"))})
			build.Add(rank, &b)
			b.Reset()
			if rank > 0 {
				b.Add(schedule.Op{Kind: schedule.Send, Peer: int32(rank - 1)})
				build.Add(rank, &b)
				b.Reset()
			}
			if rank < ranks-1 {
				b.Add(schedule.Op{Kind: schedule.Recv, Peer: int32(rank + 1)})
				build.Add(rank, &b)
			}
		}
		p, m := build.Graph(), drawSmallMachine(t)
		m.SharedNIC = false
		lengths := make([]int64, ranks)
		for rank := range lengths {
			lengths[rank] = int64(rapid.IntRange(0, 150).Draw(t, "delay"))
		}
		inject := func(only func(rank int) bool) *noise.Injection {
			in, err := noise.NewInjection(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			for rank, length := range lengths {
				if only(rank) {
					if err := in.Delay(rank, 0, length); err != nil {
						t.Fatal(err)
					}
				}
			}
			return in
		}
		a, err := Attribute(context.Background(), p, m, simulate.Options{Noise: inject(func(int) bool { return true })})
		if err != nil {
			t.Fatal(err)
		}
		absorbed := make([]bool, ranks)
		for _, r := range a.Ranks {
			absorbed[r.Rank] = r.Critical == 0
		}
		less, err := simulate.Run(context.Background(), p, m,
			simulate.Options{Noise: inject(func(rank int) bool { return !absorbed[rank] })})
		if err != nil {
			t.Fatal(err)
		}
		if less.Makespan != unit.Duration(a.Makespan) {
			t.Errorf("makespan without absorbed noise = %d, want %d", less.Makespan, a.Makespan)
		}
		if a.Total.Absorbed > 0 {
			tried++
		}
	})
	if tried == 0 {
		t.Error("no noise was absorbed in any case")
	}
}
