package replay

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"slackline/model/schedule"
)

// failer is a test of any kind.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// encoded returns the bytes of a program.
func encoded(t failer, p *Program) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sameProgram fails unless two programs yield the same blocks and say the same of themselves.
func sameProgram(t failer, got, want *Program) {
	t.Helper()
	if got.Ranks() != want.Ranks() || got.Shape() != want.Shape() || *got.Report() != *want.Report() {
		t.Fatalf("%d ranks, %+v, %+v; want %d, %+v, %+v", got.Ranks(), got.Shape(), got.Report(), want.Ranks(), want.Shape(), want.Report())
	}
	if !reflect.DeepEqual(got.Groups(), want.Groups()) {
		t.Fatalf("groups %v, want %v", got.Groups(), want.Groups())
	}
	if len(got.Origins()) != len(want.Origins()) {
		t.Fatalf("%d origins, want %d", len(got.Origins()), len(want.Origins()))
	}
	for i, o := range want.Origins() {
		if g := got.Origins()[i]; g.Call != o.Call || len(g.Path) != len(o.Path) || len(o.Path) > 0 && !reflect.DeepEqual(g.Path, o.Path) {
			t.Fatalf("origin %v, want %v", g, o)
		}
	}
	var a, b schedule.Block
	for rank := range want.Ranks() {
		if got.Steps(rank) != want.Steps(rank) {
			t.Fatalf("rank %d: %d blocks, want %d", rank, got.Steps(rank), want.Steps(rank))
		}
		for step := range want.Steps(rank) {
			got.Block(rank, step, &a)
			want.Block(rank, step, &b)
			if len(a.Ops) != len(b.Ops) || len(a.First) != len(b.First) || len(a.Dependents) != len(b.Dependents) {
				t.Fatalf("rank %d, block %d has other lengths", rank, step)
			}
			for i := range b.Ops {
				if a.Ops[i] != b.Ops[i] {
					t.Fatalf("rank %d, block %d: %+v, want %+v", rank, step, a.Ops[i], b.Ops[i])
				}
				if b.Ops[i].Kind == schedule.Collective && !reflect.DeepEqual(a.Calls[a.Ops[i].Size], b.Calls[b.Ops[i].Size]) {
					t.Fatalf("rank %d, block %d: %+v, want %+v", rank, step, a.Calls[a.Ops[i].Size], b.Calls[b.Ops[i].Size])
				}
			}
			for i := range b.First {
				if a.First[i] != b.First[i] {
					t.Fatalf("rank %d, block %d: dependencies differ", rank, step)
				}
			}
			for i := range b.Dependents {
				if a.Dependents[i] != b.Dependents[i] {
					t.Fatalf("rank %d, block %d: dependencies differ", rank, step)
				}
			}
		}
	}
}

// checkEncoded fails unless a program is the same after Decode, also with more ranks.
func checkEncoded(t failer, p *Program) {
	t.Helper()
	got, err := Decode(bytes.NewReader(encoded(t, p)))
	if err != nil {
		t.Fatal(err)
	}
	sameProgram(t, got, p)
	for _, copies := range []int{1, 3} {
		ranks := copies * p.Report().Recorded
		more, err := got.WithRanks(ranks)
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.WithRanks(ranks)
		if err != nil {
			t.Fatal(err)
		}
		sameProgram(t, more, want)
	}
}

func TestEncodedRuns(t *testing.T) {
	for _, o := range []Options{{}, {Ranks: 8}, {CutOpen: true}, {Denoise: true, Quantile: DefaultQuantile}} {
		p, err := New(ring(4, 30), o)
		if err != nil {
			t.Fatal(err)
		}
		checkEncoded(t, p)
		if p, err = New(standing(200), o); err != nil {
			if o.Ranks == 0 {
				t.Fatal(err)
			}
			continue
		}
		checkEncoded(t, p)
	}
}

// What is cut off is refused.
func TestDecodeCut(t *testing.T) {
	p, err := New(ring(4, 5), Options{})
	if err != nil {
		t.Fatal(err)
	}
	data := encoded(t, p)
	for cut := range data {
		if _, err := Decode(bytes.NewReader(data[:cut])); !errors.Is(err, errEncoded) {
			t.Fatalf("cut at %d of %d: %v", cut, len(data), err)
		}
	}
}
