package schedule

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawRanks draws some ranks.
func drawRanks(t *rapid.T, ranks int) func(rank int) bool {
	mask := rapid.Uint64().Draw(t, "ranks of the part")
	if rapid.Bool().Draw(t, "contiguous") {
		first := rapid.IntRange(0, ranks-1).Draw(t, "first")
		last := rapid.IntRange(first, ranks).Draw(t, "last")
		return func(rank int) bool { return rank >= first && rank < last }
	}
	return func(rank int) bool { return mask>>(rank%64)&1 != 0 }
}

// checkPart fails unless a graph is the part of another one.
func checkPart(t *rapid.T, part, whole *Graph, has func(rank int) bool) {
	if !part.IsPart() || whole.IsPart() {
		t.Fatal("not marked as a part")
	}
	if part.Shape() != whole.Shape() {
		t.Fatalf("shape %+v, want %+v", part.Shape(), whole.Shape())
	}
	if diff := difference(part, someRanks{whole, has}); diff != "" {
		t.Fatal(diff)
	}
	for rank := range whole.Ranks() {
		if !has(rank) {
			continue
		}
		for i := range part.RankOps(rank) {
			if got, want := part.Name(rank, i), whole.Name(rank, i); got != want || part.Line(rank, i) != whole.Line(rank, i) {
				t.Fatalf("rank %d, operation %d: %s in line %d, want %s in line %d", rank, i, got, part.Line(rank, i), want, whole.Line(rank, i))
			}
		}
	}
}

func TestPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(1, 9).Draw(t, "ranks")
		g := drawGraph(t, ranks)
		has := drawRanks(t, ranks)
		checkPart(t, Part(g, has), g, has)
		data, err := EncodePart(g, has)
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := DecodePart("x", data)
		if err != nil {
			t.Fatal(err)
		}
		checkPart(t, decoded, g, has)
		file := slkBytes(t, g)
		read, err := ReadSLKPart("x", bytes.NewReader(file), int64(len(file)), func(int) (func(int) bool, error) { return has, nil })
		if err != nil {
			t.Fatal(err)
		}
		checkPart(t, read, g, has)
	})
}

// ring is a program of many phases in which every rank sends to the next one.
func ring(ranks, steps int) *Graph {
	build := NewBuilder(ranks)
	var b Block
	for rank := range ranks {
		for step := range steps {
			b.Reset()
			b.Send((rank+1)%ranks, int64(step), 0)
			b.Recv((rank+ranks-1)%ranks, int64(step), 0)
			build.Add(rank, &b)
		}
	}
	return build.Graph()
}

// Of a file of many chunks each process reads its own.
func TestSLKPartReadsOnlyItsRanks(t *testing.T) {
	g := ring(2000, 100)
	file := slkBytes(t, g)
	const processes = 8
	for p := range processes {
		has := func(rank int) bool { return rank*processes/2000 == p }
		part := &slkPart{file: bytes.NewReader(file), size: int64(len(file))}
		read, err := part.read(func(int) (func(int) bool, error) { return has, nil })
		if err != nil {
			t.Fatal(err)
		}
		if diff := difference(read, someRanks{g, has}); diff != "" {
			t.Fatal(diff)
		}
		if most := int64(len(file)) / 3; part.bytes > most {
			t.Errorf("process %d reads %d of %d bytes", p, part.bytes, len(file))
		}
	}
}

// A rank that is larger than a chunk goes on in chunks that do not begin with a rank.
func TestSLKPartOfLongRanks(t *testing.T) {
	build := NewBuilder(4)
	var b Block
	for rank := range 4 {
		b.Reset()
		for i := range 100_000 {
			b.Calc(int64(i * (rank + 1)))
		}
		build.Add(rank, &b)
	}
	g := build.Graph()
	file := slkBytes(t, g)
	for want := range 4 {
		has := func(rank int) bool { return rank == want }
		read, err := ReadSLKPart("x", bytes.NewReader(file), int64(len(file)), func(int) (func(int) bool, error) { return has, nil })
		if err != nil {
			t.Fatal(err)
		}
		if diff := difference(read, someRanks{g, has}); diff != "" {
			t.Fatalf("rank %d: %s", want, diff)
		}
	}
}

func TestSLKPartDamage(t *testing.T) {
	g := ring(500, 100)
	file := slkBytes(t, g)
	all := func(int) (func(int) bool, error) { return func(int) bool { return true }, nil }
	for _, cut := range []int{0, 5, 16, 40, len(file) / 2, len(file) - 1} {
		if _, err := ReadSLKPart("x.slk", bytes.NewReader(file[:cut]), int64(cut), all); err == nil ||
			!strings.HasPrefix(err.Error(), "x.slk: byte ") {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
	for at := 0; at < len(file); at += 1 + len(file)/300 {
		bad := bytes.Clone(file)
		bad[at] ^= 0x10
		if _, err := ReadSLKPart("x.slk", bytes.NewReader(bad), int64(len(bad)), all); err == nil {
			t.Errorf("byte %d changed: no error", at)
		}
	}
	if _, err := ReadSLKPart("x.slk", bytes.NewReader(file), int64(len(file)), func(n int) (func(int) bool, error) {
		return nil, fmt.Errorf("%d ranks do not fit", n)
	}); err == nil || !strings.Contains(err.Error(), "500 ranks do not fit") {
		t.Errorf("error of the ranks: %v", err)
	}
}

func FuzzReadSLKPart(f *testing.F) {
	f.Add(slkBytes(f, ring(40, 3)), uint8(3))
	f.Add(slkBytes(f, graphOf(rankOps{ops: []Op{send(1, 1)}}, rankOps{ops: []Op{recv(0, 1)}})), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, process uint8) {
		has := func(rank int) bool { return rank%8 == int(process%8) }
		g, err := ReadSLKPart("x", bytes.NewReader(data), int64(len(data)), func(ranks int) (func(int) bool, error) {
			if ranks > 1<<20 {
				return nil, fmt.Errorf("%d ranks are too many for a test", ranks)
			}
			return has, nil
		})
		if err != nil {
			return
		}
		whole, err := ReadSLK("x", data)
		if err != nil {
			return // what is wrong is elsewhere
		}
		if diff := difference(g, someRanks{whole, has}); diff != "" {
			t.Error(diff)
		}
	})
}
