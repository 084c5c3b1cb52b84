package simulate

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// The worked examples of the model's rules, in ns.
func TestReferenceExamples(t *testing.T) {
	for _, tc := range []struct {
		name string
		fill func(p *plan)
		want []int64
	}{
		{"one byte", func(p *plan) {
			p.message(0, 0, 1, 0, 1, 0)
		}, []int64{1500, 5500}},
		{"two sends in a row", func(p *plan) {
			p.message(0, 0, 1, 0, 101, 0)
			p.message(0, 0, 1, 0, 101, 0)
		}, []int64{3100, 8200}},
		{"rendezvous with a late receiver", func(p *plan) {
			p.calc(1, 0, 500000e3)
			p.message(0, 0, 1, 1, 70000, 0)
		}, []int64{500000, 921494}},
		{"a calc before a message in a tie", func(p *plan) {
			p.message(0, 0, 1, 0, 1, 0)
			p.calc(1, 0, 4000e3)
			p.calc(1, 0, 100e3).requires = []int{2}
		}, []int64{1500, 5600}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := vectorDefaults()
			p := plan{ranks: 2}
			tc.fill(&p)
			got, err := runReference(p.graph(), &m)
			if want := nanoseconds(tc.want); err != nil || !slices.Equal(got, want) {
				t.Errorf("finish = %v, %v, want %v", got, err, want)
			}
		})
	}
}

// dissemination is a barrier in which both operations of a step require both of the step before.
func dissemination(ranks int) *schedule.Graph {
	build := schedule.NewBuilder(ranks)
	var b schedule.Block
	for rank := range ranks {
		for distance := 1; distance < ranks; distance *= 2 {
			b.Reset()
			b.Send((rank+distance)%ranks, 1, 0)
			b.Recv((rank-distance+ranks)%ranks, 1, 0)
			build.Add(rank, &b)
		}
	}
	return build.Graph()
}

// noisyDissemination are exact figures: one detour at trace time 0 of each period of 1 ms, rank r
// with the offset r * 617293 mod 1000000 ns. Times in ns.
var noisyDissemination = []struct {
	ranks                 int
	detour                int64
	latest, earliest, sum int64
	latestRank            int
}{
	{1024, 100_000, 432_170, 213_947, 318_067_688, 808},
	{1024, 200_000, 852_550, 422_351, 592_514_482, 822},
	{32768, 100_000, 591_704, 402_843, 15_727_794_180, 27_054},
	{32768, 200_000, 1_161_928, 792_247, 29_927_277_406, 1_580},
}

func noisyMachine(ranks int, detour int64) testMachine {
	m := testMachine{
		machine: machine.FromParams("cnl", machine.Params{
			Latency:  4770 * unit.Nanosecond,
			Gap:      2040 * unit.Nanosecond,
			Overhead: machine.One(2870 * unit.Nanosecond),
			PerByte:  machine.One(unit.PerByte(2.67e6)),
			Eager:    machine.NoLimit,
		}),
		noise: &testNoise{period: 1e9, detours: []noise.Detour{{Start: 0, Length: detour * 1000}}},
	}
	for rank := range ranks {
		m.noise.offsets = append(m.noise.offsets, int64(rank)*617293%1000000*1000)
	}
	return m
}

func TestReferenceNoisyDissemination(t *testing.T) {
	for _, tc := range noisyDissemination[:2] { // the others take the oracle too long
		m := noisyMachine(tc.ranks, tc.detour)
		got, err := runReference(dissemination(tc.ranks), &m)
		if err != nil {
			t.Fatal(err)
		}
		sum := int64(0)
		for _, x := range got {
			sum += x
		}
		latest := slices.Max(got)
		if latest != tc.latest*1000 || slices.Index(got, latest) != tc.latestRank ||
			slices.Min(got) != tc.earliest*1000 || sum != tc.sum*1000 {
			t.Errorf("%d ranks, detour %d ns: latest %d at %d, earliest %d, sum %d; want %+v",
				tc.ranks, tc.detour, latest, slices.Index(got, latest), slices.Min(got), sum, tc)
		}
	}
}

// A block is the same as requiring all of the block before.
func TestReferenceBlocksAreDependencies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapidCase(t, rapid.SampledFrom([]caseKind{kindPhases, kindCollectives}).Draw(t, "kind"))
		flat := c.plan.oneBlock()
		got, gotErr := runReference(flat.graph(), &c.testMachine)
		want, wantErr := runReference(c.graph(), &c.testMachine)
		if (gotErr == nil) != (wantErr == nil) || !slices.Equal(got, want) {
			t.Fatalf("with dependencies %v, %v, with blocks %v, %v\n%v", got, gotErr, want, wantErr, c.String())
		}
	})
}

// The literal fin of the oracle and that of package noise agree.
func TestNoiseAgreesWithReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		const ranks = 3
		n := drawNoise(r.IntN, ranks, 1+r.Int64N(3))
		in, err := n.injection()
		if err != nil {
			t.Fatalf("%+v: %v", n, err)
		}
		var hint [ranks]int32
		var position, done [ranks]int64
		at := int64(0)
		for range 20 {
			rank, work := r.IntN(ranks), r.Int64N(200)
			if r.IntN(4) == 0 {
				at = r.Int64N(300) // also back in time
			}
			if n.clock == noise.CPUClock {
				start := max(at, done[rank])
				end, moved := n.fin(rank, start, position[rank], work)
				if got := in.Advance(rank, start, work, &position[rank], &hint[rank]); got != end || position[rank] != moved {
					t.Fatalf("Advance(%d, %d, %d) = %d at %d, want %d at %d with %+v", rank, start, work, got, position[rank], end, moved, n)
				}
				done[rank] = end
				continue
			}
			got := in.Finish(rank, at, work, &hint[rank])
			if want, _ := n.fin(rank, at, 0, work); got != want {
				t.Fatalf("Finish(%d, %d, %d) = %d, want %d with %+v", rank, at, work, got, want, n)
			}
			at += r.Int64N(50)
		}
	}
}

// Most random programs of each kind can finish, else they would test little.
func TestRandomCasesFinish(t *testing.T) {
	for kind := range numCaseKinds {
		t.Run(kind.String(), func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, uint64(kind)))
			cases := 200
			if kind == kindWide {
				cases = 20
			}
			finished := 0
			for range cases {
				c := randomCase(r, kind)
				if _, err := runReference(c.graph(), &c.testMachine); err == nil {
					finished++
				}
			}
			least := cases * 3 / 4
			if kind == kindBroken || kind == kindOverflow {
				least = cases / 5
			}
			if finished < least {
				t.Errorf("%d of %d programs finish, want at least %d", finished, cases, least)
			}
			t.Logf("%d of %d finish", finished, cases)
		})
	}
}
