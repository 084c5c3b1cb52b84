package tolerance

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"slackline/model/machine"
	"slackline/model/pattern"
	"slackline/model/schedule"
)

// repeated is a program that does the same several times, but for the times of calculations, and with a change here and there.
type repeated struct {
	*schedule.Graph
	laps int
	odd  []int // repetitions in which sends have another size
}

func (p repeated) Steps(rank int) int { return p.laps * p.Graph.Steps(rank) }

func (p repeated) Block(rank, step int, b *schedule.Block) {
	n := p.Graph.Steps(rank)
	p.Graph.Block(rank, step%n, b)
	b.Own()
	lap := step / n
	for i := range b.Ops {
		switch op := &b.Ops[i]; {
		case op.Kind == schedule.Calc:
			op.Size += int64((rank*5 + lap*7 + i*3) % 11)
		case op.Kind == schedule.Send && slices.Contains(p.odd, lap):
			op.Size++
		}
	}
}

// passBoth goes over a schedule with and without a look at what repeats itself. It reports whether something did.
func passBoth(t interface{ Fatalf(string, ...any) }, s *Schedule, n Network, v Variable) (quick, slow *pass, err error) {
	pass := func(isOff bool) (*pass, error) {
		p, err := newPass(s, n)
		if err != nil {
			return nil, err
		}
		p.repeat.isOff, p.paths = isOff, &decisions{ranks: make([]rankDecisions, s.ranks)}
		if err := p.trace(v); err != nil {
			return nil, err
		}
		return p, p.run()
	}
	quick, err = pass(false)
	slow, slowErr := pass(true)
	if (err == nil) != (slowErr == nil) || err != nil && err.Error() != slowErr.Error() {
		t.Fatalf("error %v, want %v", err, slowErr)
	}
	return quick, slow, err
}

// comparePasses compares all that is known after a pass.
func comparePasses(t interface{ Fatalf(string, ...any) }, got, want *pass) {
	if got.last != want.last || got.ops != want.ops || got.mail.messages != want.mail.messages || got.rendezvous != want.rendezvous {
		t.Fatalf("last %+v, %d operations, %d messages; want %+v, %d, %d", got.last, got.ops, got.mail.messages,
			want.last, want.ops, want.mail.messages)
	}
	if !slices.Equal(got.finish, want.finish) {
		t.Fatalf("ranks finish at %v, want %v", got.finish, want.finish)
	}
	for rank := range want.paths.ranks {
		g, w := &got.paths.ranks[rank], &want.paths.ranks[rank]
		if !slices.Equal(g.start, w.start) || !slices.Equal(g.end, w.end) || !slices.Equal(g.marks, w.marks) {
			t.Fatalf("rank %d: decisions\n%v\n%v\n%v, want\n%v\n%v\n%v", rank, g.start, g.end, g.marks, w.start, w.end, w.marks)
		}
	}
	g, err := got.graph()
	w, wantErr := want.graph()
	if err != nil || wantErr != nil {
		if err == nil || wantErr == nil || err.Error() != wantErr.Error() {
			t.Fatalf("graph: error %v, want %v", err, wantErr)
		}
		return
	}
	if g.constant != w.constant || g.slope != w.slope || g.steepest != w.steepest {
		t.Fatalf("T is %d + %d*x, from %d; want %d + %d*x, from %d", g.steepest, g.slope, g.constant, w.steepest, w.slope, w.constant)
	}
	xs := []int64{0, 1, 7, 23}
	gotHeights, wantHeights := g.tape.heights(xs), w.tape.heights(xs)
	gotHeights[0].left, wantHeights[0].left = 0, 0 // there is nothing to the left
	if !slices.Equal(gotHeights, wantHeights) {
		t.Fatalf("T at %v is %v, want %v", xs, gotHeights, wantHeights)
	}
	near := g.heights(xs)
	if near[0].left = 0; !slices.Equal(near, wantHeights) {
		t.Fatalf("T at %v is %v, want %v", xs, near, wantHeights)
	}
	if got, want := g.web().point(23, new(scratch)), w.web().point(23, new(scratch)); got != want {
		t.Fatalf("as a web T is %v, want %v", got, want)
	}
}

func TestLaps(t *testing.T) {
	followed, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		d := draws{t}
		ranks := d.between(1, 4)
		p := repeated{Graph: d.schedule(ranks), laps: d.between(8, 40)}
		for d.chance(1, 3) {
			p.odd = append(p.odd, d.between(0, p.laps-1))
		}
		s, err := Prepare(p, nil, 0)
		if err != nil {
			return
		}
		quick, slow, err := passBoth(t, s, d.network(ranks), Variable{Parameter: Parameter(d.between(0, int(O)))})
		if err != nil {
			return
		}
		comparePasses(t, quick, slow)
		all++
		if quick.repeat.laps > 0 {
			followed++
		}
	})
	if followed*5 < all {
		t.Errorf("only %d of %d programs were found to repeat themselves", followed, all)
	}
}

// TestLapsOfPatterns holds that applications are found to repeat themselves.
func TestLapsOfPatterns(t *testing.T) {
	m, err := machine.Named("xt4")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"skeleton", "skeleton-overlap", "halo3d", "pop", "amg"} {
		t.Run(name, func(t *testing.T) {
			s, n := patternOn(t, m, name, pattern.Params{Ranks: 8, Iterations: 15})
			quick, slow, err := passBoth(t, s, n, Variable{})
			if err != nil {
				t.Fatal(err)
			}
			comparePasses(t, quick, slow)
			if quick.repeat.laps == 0 {
				t.Error("it was not found to repeat itself")
			}
		})
	}
}
