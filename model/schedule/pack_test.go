package schedule

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// randomBlocks returns a graph of random blocks, many of which are equal.
func randomBlocks(ranks int) *Graph {
	r := rand.New(rand.NewPCG(1, 2))
	build := NewBuilder(ranks)
	for rank := range ranks {
		for range 60 + r.IntN(20) {
			var b Block
			for i := range r.IntN(8) {
				b.Send((rank+1)%ranks, int64(i), 0)
				if i > 2 && r.IntN(2) == 0 {
					b.Require(i, r.IntN(i))
				}
			}
			b.Link()
			build.Add(rank, &b)
		}
	}
	return build.Graph()
}

// A packed graph does what the graph does, and keeps equal blocks once.
func TestPackKeepsBlocks(t *testing.T) {
	g := randomBlocks(300)
	p := Pack(g)
	for rank := range g.Ranks() {
		var block Block
		var ops []Op
		for step := range p.Steps(rank) {
			p.Block(rank, step, &block)
			ops = append(ops, block.Ops...)
		}
		if got, want := fmt.Sprint(ops), fmt.Sprint(g.RankOps(rank)); got != want {
			t.Fatalf("rank %d does\n%s, want\n%s", rank, got, want)
		}
	}
	if kept := len(p.stores[0].ops); kept > g.NumOps()*2/3 {
		t.Errorf("%d of %d operations are kept, of which many blocks are equal", kept, g.NumOps())
	}
}

// What an engine is chosen by is that of the blocks.
func TestPackKnowsTheLargest(t *testing.T) {
	build := NewBuilder(2)
	var b Block
	b.Send(1, 70, 0)
	b.Recv(1, 900, 0)
	b.Ops[b.Send(1, 80, 0)].Context |= Buffered
	build.Add(0, &b)
	b.Reset()
	for range 3 {
		b.Calc(1000)
	}
	b.RequireStart(1, 0)
	b.Require(2, 0)
	b.Link()
	build.Add(1, &b)
	p := Pack(build.Graph())
	if p.LargestSend() != 70 || p.LargestLinked() != 3 || !p.Shape().Graphs {
		t.Errorf("largest send %d, largest block with dependencies %d, shape %v; want 70, 3 and graphs",
			p.LargestSend(), p.LargestLinked(), p.Shape())
	}
}

// The steps at which all ranks make the same call are those that are equal on all of them.
func TestPackFindsSameCalls(t *testing.T) {
	const ranks = 4
	build := NewBuilder(ranks)
	build.SetGroups([]Group{World(ranks), NewGroup([]int32{0, 1, 2, 3})})
	barrier := Call{Op: Barrier}
	for rank := range ranks {
		for step, call := range []Call{barrier, {Op: Bcast, Size: 8}, barrier, {Op: Barrier, Group: 1}, {Op: Bcast, Size: 8}} {
			var b Block
			if step == 2 {
				b.Calc(int64(rank))
			}
			if step == 4 && rank == 3 {
				call.Size = 9
			}
			b.Call(call)
			build.Add(rank, &b)
		}
	}
	g := build.Graph()
	calls := g.calls[:0:0]
	for i := range g.ops { // as a file has them: equal calls are one
		if op := &g.ops[i]; op.Kind == Collective {
			op.Size = slicesIndexCall(&calls, g.calls[op.Size])
		}
	}
	g.calls = calls
	p := Pack(g)
	var got []bool
	for step := range 6 {
		got = append(got, p.SameCall(step))
	}
	if want := "[true true false false false false]"; fmt.Sprint(got) != want {
		t.Errorf("the same call at %v, want %s", got, want)
	}
}

// slicesIndexCall returns the place of a call in a list, to which it is added if it is not there.
func slicesIndexCall(list *[]Call, call Call) int64 {
	for i := range *list {
		if fmt.Sprint((*list)[i]) == fmt.Sprint(call) {
			return int64(i)
		}
	}
	*list = append(*list, call)
	return int64(len(*list) - 1)
}

func BenchmarkPack(b *testing.B) {
	flat, err := Flatten(Materialize(Blocks(randomBlocks(300))))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		Pack(flat)
	}
	b.ReportMetric(float64(flat.NumOps())*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mops/s")
}

// samePacked reports how the Pack of a format differs from what Read makes of the same data, on any number of threads;
// an empty string if it does not.
func samePacked(format Format, data []byte) string {
	g, wanted := format.Read("file", data)
	for _, threads := range []int{1, 3} {
		p, err := format.Pack("file", bytes.NewReader(data), int64(len(data)), PackOptions{Threads: threads, text: 10 * threads})
		if fmt.Sprint(err) != fmt.Sprint(wanted) {
			return fmt.Sprintf("%d threads: error %v, want %v", threads, err, wanted)
		}
		if err != nil {
			continue
		}
		want := Pack(g)
		if p.Shape() != want.Shape() || p.LargestSend() != want.LargestSend() || p.LargestLinked() != want.LargestLinked() ||
			p.File() != want.File() {
			return fmt.Sprintf("%d threads: %+v of %s, largest %d and %d; want %+v of %s, %d and %d", threads, p.Shape(), p.File(),
				p.LargestSend(), p.LargestLinked(), want.Shape(), want.File(), want.LargestSend(), want.LargestLinked())
		}
		for rank := range want.Ranks() {
			if got, want := packedText(p, rank), packedText(want, rank); got != want {
				return fmt.Sprintf("%d threads: rank %d does\n%s, want\n%s", threads, rank, got, want)
			}
		}
	}
	return ""
}

// packedText is what a rank does, in pieces, with the names of its operations.
func packedText(p *Packed, rank int) string {
	var b Block
	text, index := "", 0
	for step := range p.Steps(rank) {
		p.Block(rank, step, &b)
		text += fmt.Sprintln(b.Ops, b.First, b.Dependents, p.SameCall(step))
		for range b.Ops {
			text += p.Name(rank, index) + " "
			index++
		}
	}
	return text
}

// All formats pack what they read, and have the same errors.
func TestPackIsAsRead(t *testing.T) {
	var files []string
	for _, pattern := range []string{"vectors/*.goal", "vectors/bin/*.bin", "errors/*.*"} {
		found, err := filepath.Glob(filepath.Join(referenceDir, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no files %s: %v", pattern, err)
		}
		files = append(files, found...)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		format, err := Sniff(path, data)
		if err != nil || len(data) > 1<<20 {
			continue
		}
		if diff := samePacked(format, data); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
		g, err := format.Read(path, data)
		if err != nil {
			continue
		}
		for _, other := range Formats() {
			var out bytes.Buffer
			if other.Pack == nil || other.Write == nil || other.Name == format.Name {
				continue
			}
			if _, err := other.Write(&out, g); err != nil {
				t.Fatal(err)
			}
			if diff := samePacked(other, out.Bytes()); diff != "" {
				t.Errorf("%s as %s: %s", path, other.Name, diff)
			}
		}
	}
}

// A schedule that needs more memory than it may take is refused.
func TestPackRefusesLarge(t *testing.T) {
	var out bytes.Buffer
	for _, format := range []Format{binaryFormat, slkFormat} {
		out.Reset()
		if _, err := format.Write(&out, Materialize(Blocks(randomBlocks(300)))); err != nil {
			t.Fatal(err)
		}
		_, err := format.Pack("large", bytes.NewReader(out.Bytes()), int64(out.Len()), PackOptions{Threads: 2, Memory: 1 << 16})
		if err == nil || !strings.Contains(err.Error(), "half of the free memory") {
			t.Errorf("%s: error %v, want one about the memory", format.Name, err)
		}
	}
}

// shrinking is a file that becomes shorter while it is read.
type shrinking struct {
	*bytes.Reader
	left int // calls of ReadAt before it does
}

func (s *shrinking) ReadAt(b []byte, at int64) (int, error) {
	if s.left--; s.left < 0 {
		return s.Reader.ReadAt(b[:len(b)/2], at)
	}
	return s.Reader.ReadAt(b, at)
}

func TestPackOfShrinkingFile(t *testing.T) {
	for _, format := range []Format{binaryFormat} {
		var out bytes.Buffer
		if _, err := format.Write(&out, Materialize(Blocks(randomBlocks(20)))); err != nil {
			t.Fatal(err)
		}
		for calls := range 4 {
			file := &shrinking{bytes.NewReader(out.Bytes()), calls}
			_, err := format.Pack("short", file, int64(out.Len()), PackOptions{})
			if err == nil || !strings.Contains(err.Error(), "short: ") || !strings.Contains(err.Error(), "while it was read") {
				t.Errorf("%s, after %d calls: error %v, want one of the file that became shorter", format.Name, calls, err)
			}
		}
	}
}

// What is known as an exchange is the block that Next gives.
func TestPackedExchanges(t *testing.T) {
	const ranks = 5
	build := NewBuilder(ranks)
	for rank := range ranks {
		for kind := range 6 {
			var b Block
			b.Send((rank+2)%ranks, 8, 3)
			b.Recv((rank+3)%ranks, 8, 3)
			switch kind {
			case 1:
				b.Ops[1].Tag++
			case 2:
				b.Ops[0].Context |= Buffered
			case 3:
				b.Ops[1].Peer = AnySource
			case 4:
				b.RequireStart(1, 0)
				b.Link()
			case 5:
				b.Ops[0].CPU = 1
			}
			build.Add(rank, &b)
		}
	}
	p := Pack(build.Graph())
	var b Block
	for rank := range ranks {
		for at := (Cursor{}); int(at.Step) < p.Steps(rank); {
			x, after, ok := p.NextExchange(rank, at, &b)
			if want := at.Step == 0; ok != want {
				t.Fatalf("rank %d, step %d: an exchange: %t, want %t", rank, at.Step, ok, want)
			}
			next, _ := p.Next(rank, at, &b)
			if s, r := &b.Ops[0], &b.Ops[1]; ok && (x != Exchange{s.Size, s.Peer, r.Peer, s.Tag, s.Context} || after != next) {
				t.Errorf("rank %d, step %d: %+v, but the block is %v", rank, at.Step, x, b.Ops)
			}
			at = next
		}
		if _, _, ok := p.NextExchange(rank, Cursor{Step: 6}, &b); ok {
			t.Error("an exchange after the last step")
		}
	}
}
