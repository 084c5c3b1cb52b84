package schedule

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func slkBytes(t interface {
	Helper()
	Fatalf(string, ...any)
}, p Program) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := WriteSLK(&out, p); err != nil {
		t.Fatalf("WriteSLK: %v", err)
	}
	return out.Bytes()
}

func TestSLKRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t, rapid.IntRange(1, 9).Draw(t, "ranks"))
		if rapid.Bool().Draw(t, "named") {
			g.Names = &Names{File: "some.goal"}
			for i := range g.ops {
				g.Names.add([]byte(rapid.SampledFrom([]string{"", "l1", "l2", "work", "x07"}).Draw(t, "label")), 3*i)
			}
		}
		data := slkBytes(t, g)
		got, err := ReadSLK("test.slk", data)
		if err != nil {
			t.Fatalf("ReadSLK: %v", err)
		}
		if d := difference(got, g); d != "" {
			t.Fatal(d)
		}
		if d := differentNames(got, g); d != "" {
			t.Fatal(d)
		}
		if !bytes.Equal(slkBytes(t, got), data) {
			t.Fatal("writing it again gives other bytes")
		}
		whole, warning, err := ReadSLKPrefix("test.slk", data)
		if err != nil || warning != "" || difference(whole, g) != "" {
			t.Fatalf("ReadSLKPrefix gives something else: %q, %v", warning, err)
		}
	})
}

// Wildcards are matched in the order of the file, so lines must survive.
func TestSLKKeepsFileOrder(t *testing.T) {
	g := graphOf(rankOps{30, []Op{send(2, 1)}}, rankOps{20, []Op{send(2, 1)}},
		rankOps{10, []Op{recv(AnySource, 1), recv(AnySource, 1)}})
	got, err := ReadSLK("test.slk", slkBytes(t, g))
	if err != nil {
		t.Fatal(err)
	}
	m, err := Match(got)
	if err != nil {
		t.Fatal(err)
	}
	if pairs, want := describeMatching(got, m), "0>3 1>2"; pairs != want {
		t.Errorf("Match gives %q, want %q", pairs, want)
	}
}

func differentNames(got, want *Graph) string {
	if (got.Names == nil) != (want.Names == nil) || want.Names != nil && got.Names.File != want.Names.File {
		return fmt.Sprintf("names %v, want %v", got.Names, want.Names)
	}
	for rank := range want.Ranks() {
		for i := range want.RankOps(rank) {
			if g, w := got.Name(rank, i), want.Name(rank, i); g != w {
				return fmt.Sprintf("rank %d: operation %d is called %q, want %q", rank, i, g, w)
			}
			if g, w := got.Line(rank, i), want.Line(rank, i); g != w {
				return fmt.Sprintf("rank %d: operation %d is in line %d, want %d", rank, i, g, w)
			}
		}
	}
	return ""
}

// Any damage must be an error: every byte is covered by a checksum. Any cut gives whole ranks.
func TestSLKDamage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t, 4)
		data := slkBytes(t, g)
		bad := bytes.Clone(data)
		at := rapid.IntRange(0, len(bad)-1).Draw(t, "at")
		bad[at] ^= rapid.ByteRange(1, 255).Draw(t, "bits")
		_, err := ReadSLK("bad.slk", bad)
		var fault *FileError
		if !errors.As(err, &fault) || fault.File != "bad.slk" || !strings.Contains(fault.What, "byte ") {
			t.Fatalf("byte %d changed: error %v, want one with file and byte", at, err)
		}
		if p, warning, err := ReadSLKPrefix("bad.slk", bad); err == nil {
			checkPrefix(t, p, g, warning)
		}
		cut := rapid.IntRange(0, len(data)-1).Draw(t, "cut")
		if _, err := ReadSLK("cut.slk", data[:cut]); err == nil {
			t.Fatalf("cut to %d of %d bytes: no error", cut, len(data))
		}
		if p, warning, err := ReadSLKPrefix("cut.slk", data[:cut]); err == nil {
			checkPrefix(t, p, g, warning)
		}
	})
}

// checkPrefix checks that each rank of p is as in the whole program or empty, the whole ones first.
func checkPrefix(t *rapid.T, p, whole *Graph, warning string) {
	if p.Ranks() != whole.Ranks() || warning == "" {
		t.Fatalf("%d ranks with warning %q, want %d ranks", p.Ranks(), warning, whole.Ranks())
	}
	var a, b Block
	ended := false
	for rank := range whole.Ranks() {
		if p.Steps(rank) != whole.Steps(rank) {
			ended = true
		}
		if ended && p.Steps(rank) != 0 {
			t.Fatalf("rank %d has %d blocks, want none or %d", rank, p.Steps(rank), whole.Steps(rank))
		}
		for step := range p.Steps(rank) {
			p.Block(rank, step, &a)
			whole.Block(rank, step, &b)
			if d := differentBlocks(&a, &b); d != "" {
				t.Fatalf("rank %d, block %d: %s", rank, step, d)
			}
		}
	}
}

// A program of many chunks, with blocks and lists of dependents that are longer than a chunk, must
// survive, and be cut at the ranks.
func TestSLKLong(t *testing.T) {
	build := NewBuilder(4)
	var b Block
	for rank := range 3 {
		b.Reset()
		root := b.Calc(int64(rank))
		for i := range 200_000 {
			b.Require(b.Calc(int64(i*i)), root)
		}
		for i := range 600_000 { // some of the dependents lie far away
			b.Require(b.Send(1, 1, uint32(i%7)), root)
		}
		b.Link()
		build.Add(rank, &b)
	}
	g := build.Graph()
	data := slkBytes(t, g)
	got, err := ReadSLK("long.slk", data)
	if err != nil {
		t.Fatal(err)
	}
	if d := difference(got, g); d != "" {
		t.Fatal(d)
	}
	cut, warning, err := ReadSLKPrefix("long.slk", data[:len(data)/2])
	if err != nil {
		t.Fatal(err)
	}
	if want := "the file is truncated: only rank 0 of the 4 ranks is whole"; !strings.HasSuffix(warning, want) {
		t.Errorf("warning %q, want it to end in %q", warning, want)
	}
	if len(cut.RankOps(0)) != len(g.RankOps(0)) || len(cut.RankOps(1)) != 0 || cut.Ranks() != 4 {
		t.Errorf("the prefix has %d and %d operations", len(cut.RankOps(0)), len(cut.RankOps(1)))
	}
}

func TestSLKErrors(t *testing.T) {
	good := slkBytes(t, graphOf(rankOps{ops: []Op{send(1, 1)}}, rankOps{ops: []Op{recv(0, 1)}}))
	change := func(edit func(b []byte) []byte) []byte { return edit(bytes.Clone(good)) }
	for _, tc := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "x.slk: byte 0: not a slackline schedule: the file does not start with SLKSCHED"},
		{"newer", change(func(b []byte) []byte {
			newer := slkLayout
			newer.Version = 7
			return append(newer.Header(), b[16:]...)
		}), "x.slk: byte 0: the file needs a slackline that reads version 7 of the format; this one reads versions 1 to 3"},
		{"header", good[:12], "x.slk: byte 0: the file is truncated"},
		{"header damaged", change(func(b []byte) []byte { b[9] = 1; return b }),
			"x.slk: byte 0: the checksum of the header does not agree: the file is damaged"},
		{"chunk damaged", change(func(b []byte) []byte { b[40]++; return b }),
			"x.slk: byte 16: the checksum of the chunk does not agree: the file is damaged"},
		{"truncated", good[:len(good)-1],
			fmt.Sprintf("x.slk: byte %d: the file is truncated: only ranks 0 to 1 of the 2 ranks are whole", len(good)-16)},
		{"longer", append(bytes.Clone(good), 1, 2),
			fmt.Sprintf("x.slk: byte %d: 2 bytes follow where the file should end", len(good))},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := ReadSLK("x.slk", tc.data); err == nil || err.Error() != tc.want {
				t.Errorf("ReadSLK: %v, want %s", err, tc.want)
			}
		})
	}
}

// What a reader must reject, packed into chunks with the right checksums.
func TestSLKRejects(t *testing.T) {
	meta := []byte{2, 1, 1, 0, 0, 0, 0} // two ranks
	ops := func(begun, n byte, columns ...[]byte) []byte {
		b := []byte{begun, n}
		for i := range numColumns {
			length := 0
			if i < len(columns) {
				length = len(columns[i])
			}
			b = append(b, byte(length))
		}
		return append(b, bytes.Join(columns, nil)...)
	}
	message := [][]byte{{1, 2, 1, 2}, {0x1c, 0x1d}, {8, 8}, {3, 3}, {1, 1}}
	with := func(column int, b ...byte) []byte {
		c := append([][]byte{}, message...)
		for column >= len(c) {
			c = append(c, nil)
		}
		c[column] = b
		return ops(0, byte(len(c[colFlags])), c...)
	}
	for _, tc := range []struct {
		name   string
		chunks []rawChunk
		want   string
	}{
		{"the example", []rawChunk{{slkMeta, meta}, {slkOps, ops(0, 2, message...)}}, ""},
		{"no META", []rawChunk{{slkOps, ops(0, 2, message...)}}, "a chunk OPS  where it must not be"},
		{"two META", []rawChunk{{slkMeta, meta}, {slkMeta, meta}}, "a chunk META where it must not be"},
		{"unknown chunk", []rawChunk{{slkMeta, meta}, {"WHAT", nil}}, `there are no chunks of kind "WHAT"`},
		{"no ranks", []rawChunk{{slkMeta, []byte{0, 1, 1, 0, 0, 0, 0}}}, "out of range"},
		{"long META", []rawChunk{{slkMeta, append(meta[:7:7], 0)}}, "too short or too long"},
		{"ranks missing", []rawChunk{{slkMeta, meta}, {slkOps, ops(0, 0, []byte{0})}}, "end in rank 0 of 2"},
		{"ranks too many", []rawChunk{{slkMeta, meta}, {slkOps, ops(0, 0, []byte{0, 0, 0})}}, "more than the 2 ranks"},
		{"wrong begin", []rawChunk{{slkMeta, meta}, {slkOps, ops(1, 0, []byte{0})}}, "goes on after 1 ranks"},
		{"blocks missing", []rawChunk{{slkMeta, meta}, {slkOps, ops(0, 0, []byte{0, 9})}}, "end in rank 1 of 2"},
		{"ops missing", []rawChunk{{slkMeta, meta}, {slkOps, with(colStructure, 1, 2, 1, 4)}}, "end in rank 1 of 2"},
		{"ops too many", []rawChunk{{slkMeta, meta}, {slkOps, with(colStructure, 1, 2, 1, 0)}}, "does not fit the 2 operations"},
		{"flags", []rawChunk{{slkMeta, meta}, {slkOps, with(colFlags, 0x1c, 0x9d)}}, "flags 0x9d are not known"},
		{"peer", []rawChunk{{slkMeta, meta}, {slkOps, with(colPeers, 3, 4)}}, "a peer 4 away"},
		{"no destination", []rawChunk{{slkMeta, meta}, {slkOps, with(colPeers, 0, 2)}}, "a send without destination"},
		{"long column", []rawChunk{{slkMeta, meta}, {slkOps, with(colSizes, 8, 8, 8)}}, "column 2 is too long"},
		{"short column", []rawChunk{{slkMeta, meta}, {slkOps, with(colTags, 1)}}, "column 4 is too long or too short"},
		{"large tag", []rawChunk{{slkMeta, meta}, {slkOps, with(colTags, 255, 255, 255, 255, 31, 1)}}, "tag 8589934591 is too large"},
		{"cpu", []rawChunk{{slkMeta, meta}, {slkOps, ops(0, 1, []byte{1, 2}, []byte{0x22}, nil, nil, nil, []byte{255, 0, 0})}}, "cpu 255"},
		{"origin", []rawChunk{{slkMeta, meta}, {slkOps, ops(0, 1, []byte{1, 2}, []byte{0x42}, nil, nil, nil, nil, []byte{1})}},
			"origin 1, but there are 1"},
		{"call", []rawChunk{{slkMeta, meta}, {slkOps, ops(0, 1, []byte{1, 2}, []byte{3})}}, "call 0 is not defined"},
		{"no dependents", []rawChunk{{slkMeta, meta}, {slkOps, ops(0, 1, []byte{1, 3, 0}, []byte{2}, nil, nil, nil, nil, nil, []byte{0})}},
			"announces dependencies and has 0"},
		{"dependent outside", []rawChunk{{slkMeta, meta}, {slkOps, ops(0, 1, []byte{1, 3, 0}, []byte{2}, nil, nil, nil, nil, nil, []byte{1, 4})}},
			"operation 1 of a block of 1 waits for operation 0"},
		{"own dependent", []rawChunk{{slkMeta, meta}, {slkOps, ops(0, 1, []byte{1, 3, 0}, []byte{2}, nil, nil, nil, nil, nil, []byte{1, 0})}},
			"operation 0 of a block of 1 waits for operation 0"},
		{"dependents missing", []rawChunk{{slkMeta, meta},
			{slkOps, ops(0, 2, []byte{1, 5, 0}, []byte{2, 2}, nil, nil, nil, nil, nil, []byte{2, 4})}},
			"the dependents of an operation are missing"},
		{"cycle", []rawChunk{{slkMeta, meta}, {slkOps, ops(0, 3, []byte{2, 2, 5, 0}, []byte{2, 2, 2}, nil, nil, nil, nil, nil,
			[]byte{1, 4, 1, 2})}}, "rank 0: #1 and #2 wait for each other"},
		{"no member", []rawChunk{{slkMeta, []byte{2, 1, 1, 0, 2, 0, 0}},
			{slkDefs, []byte{'g', 0, 0, 0, 2, 'g', 0, 1, 1, 1, 'c', 0, 1, 0, 0, 0, 0, 0, 0, 0}}, {slkOps, ops(0, 1, []byte{1, 2, 0}, []byte{3})}},
			"barrier on group 1, of which the rank is not a member"},
		{"huge list", []rawChunk{{slkMeta, meta}, {slkDefs, []byte{'l', 0, 255, 255, 255, 255, 15}}}, "a list of 4294967295 entries in 0 bytes"},
		{"unknown definition", []rawChunk{{slkMeta, meta}, {slkDefs, []byte{'x'}}}, "no definition of kind 'x'"},
		{"cut definition", []rawChunk{{slkMeta, meta}, {slkDefs, []byte{'c', 0, 0}}}, "a definition is cut off"},
		{"group twice", []rawChunk{{slkMeta, []byte{2, 1, 1, 0, 1, 0, 0}}, {slkDefs, []byte{'l', 0, 2, 0, 0, 'g', 1, 0, 0, 2}}},
			"a rank is in it twice"},
		{"group outside", []rawChunk{{slkMeta, []byte{2, 1, 1, 0, 1, 0, 0}}, {slkDefs, []byte{'g', 0, 1, 1, 2}}}, "do not fit into 2 ranks"},
		{"groups missing", []rawChunk{{slkMeta, []byte{2, 1, 1, 0, 1, 0, 0}}, {slkOps, ops(0, 2, message...)}},
			"operations before the groups and origins"},
		{"root", []rawChunk{{slkMeta, meta}, {slkDefs, []byte{'c', 1, 0, 2, 8, 0, 0, 0, 0, 0}}}, "root 2 in a group of 2"},
		{"sizes", []rawChunk{{slkMeta, meta}, {slkDefs, []byte{'l', 0, 1, 2, 'c', 4, 0, 0, 8, 1, 0, 0, 0, 0}}}, "1 sizes in a group of 2"},
		{"negative", []rawChunk{{slkMeta, meta}, {slkDefs, []byte{'l', 0, 2, 1, 4, 'c', 4, 0, 0, 8, 1, 0, 0, 0, 0}}}, "size -1 is negative"},
		{"neighbor", []rawChunk{{slkMeta, meta}, {slkDefs, []byte{'l', 0, 1, 4, 'c', 11, 0, 0, 8, 0, 1, 0, 0, 0}}}, "list 1 has ranks 0 to 2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ReadSLK("x.slk", slkOf(tc.chunks))
			if tc.want == "" {
				if err != nil {
					t.Errorf("ReadSLK: %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("ReadSLK: %v, want it to contain %q", err, tc.want)
			}
		})
	}
}

// The example of the format's description, byte by byte.
func TestSLKExample(t *testing.T) {
	data := slkBytes(t, graphOf(rankOps{ops: []Op{send(1, 1)}}, rankOps{ops: []Op{recv(0, 1)}}))
	r, err := newSLKReader(data)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	var lengths []int
	for range 3 {
		kind, raw, length, err := r.chunk()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s % x", kind, raw))
		lengths = append(lengths, length)
		r.at += length
	}
	want := []string{
		"META 02 01 01 00 00 00 00",
		"RANK 00 02 04 02 02 02 02 00 00 00 00 00 01 02 01 02 1c 1d 08 08 03 03 01 01",
		fmt.Sprintf("INDX 02 02 00 02 % x %02x 00 00 % x %02x 00 02", "META", lengths[0], "RANK", lengths[1]),
	}
	if !slices.Equal(got, want) {
		t.Errorf("chunks\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

type rawChunk struct {
	kind string
	raw  []byte
}

// slkOf makes a file of chunks whose content may be wrong.
func slkOf(chunks []rawChunk) []byte {
	var out bytes.Buffer
	s := newSLKWriter(&out, graphOf(rankOps{}))
	for _, c := range chunks {
		begun, ops := 0, 0
		if c.kind == slkOps && len(c.raw) > 1 {
			begun, ops = int(c.raw[0]), int(c.raw[1])
			s.totalOps += int64(ops)
		}
		s.writeChunk(c.kind, c.raw, begun, ops)
	}
	s.totalBlocks = s.totalOps
	s.finish()
	return out.Bytes()
}

// An index that announces more than memory can hold must be found out before room is made for it.
func TestSLKLyingIndex(t *testing.T) {
	var out bytes.Buffer
	s := newSLKWriter(&out, graphOf(rankOps{}))
	s.writeChunk(slkMeta, []byte{255, 255, 255, 255, 7, 1, 1, 0, 0, 0, 0}, 0, 0)
	s.totalOps, s.totalBlocks, s.totalDependents = 1<<60, 1<<60, 1<<60
	s.finish()
	_, err := ReadSLK("x.slk", out.Bytes())
	if want := "the operations end in rank 0 of 2147483647"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("ReadSLK: %v, want it to contain %q", err, want)
	}
	_, _, err = ReadSLKPrefix("x.slk", out.Bytes())
	if want := "none of the 2147483647 ranks is whole"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("ReadSLKPrefix: %v, want it to contain %q", err, want)
	}
}

func TestSLKWriterRefuses(t *testing.T) {
	for _, tc := range []struct {
		name string
		op   Op
		call Call
		want string
	}{
		{"peer", send(2, 0), Call{}, "rank 0, block 0: operation 0: send: peer 2, but there are 1 ranks"},
		{"size", Op{Kind: Calc, Size: -1}, Call{}, "out of range"},
		{"tag", send(0, AnyTag), Call{}, "out of range"},
		{"cpu", Op{Kind: Calc, CPU: 255}, Call{}, "out of range"},
		{"kind", Op{Kind: 9}, Call{}, "there is no kind(9)"},
		{"origin", Op{Kind: Calc, Origin: 1}, Call{}, "out of range"},
		{"group", Op{Kind: Collective}, Call{Group: 1}, "group 1, but there are 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var b Block
			b.Reset()
			b.Call(tc.call)
			b.Ops[0] = tc.op
			build := NewBuilder(1)
			build.Add(0, &b)
			if err := WriteSLK(io.Discard, build.Graph()); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("WriteSLK: %v, want it to contain %q", err, tc.want)
			}
		})
	}
	failing := errors.New("the disk is full")
	if err := WriteSLK(failingWriter{failing}, graphOf(rankOps{})); !errors.Is(err, failing) {
		t.Errorf("WriteSLK: %v, want %v", err, failing)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func FuzzReadSLK(f *testing.F) {
	f.Add(slkBytes(f, graphOf(rankOps{ops: []Op{send(1, 1)}}, rankOps{ops: []Op{recv(0, 1)}})), false)
	f.Add(slkBytes(f, halo(4, 2, true)), false)
	f.Add([]byte{2, 1, 1, 0, 0, 0, 0, 'l', 0, 1, 2, 'c', 1, 0, 0, 8, 0, 0, 0, 0, 0}, true)
	f.Fuzz(func(t *testing.T, data []byte, pack bool) {
		if pack { // else hardly any input would get behind the checksums
			meta, rest := data[:min(7, len(data))], data[min(7, len(data)):]
			kind := slkOps
			if len(rest) > 0 && rest[0] >= 'a' {
				kind = slkDefs
			}
			data = slkOf([]rawChunk{{slkMeta, meta}, {kind, rest}})
		}
		g, err := ReadSLK("fuzz.slk", data)
		if err != nil {
			ReadSLKPrefix("fuzz.slk", data)
			return
		}
		if err := Check(g); err != nil {
			t.Fatalf("the reader has let it through: %v", err)
		}
		again, err := ReadSLK("again.slk", slkBytes(t, g))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if d := difference(again, g); d != "" {
			t.Fatal(d)
		}
	})
}

func BenchmarkSLK(b *testing.B) {
	for _, c := range []struct {
		pattern string
		graph   *Graph
	}{{"halo", halo(4096, 50, false)}, {"phases", phases(4096, 300)}} {
		data := slkBytes(b, c.graph)
		rate := func(b *testing.B) {
			b.ReportMetric(float64(c.graph.NumOps())*float64(b.N)/b.Elapsed().Seconds(), "ops/s")
			b.ReportMetric(float64(len(data))/float64(c.graph.NumOps()), "B/op(file)")
		}
		b.Run("pattern="+c.pattern+"/write", func(b *testing.B) {
			for b.Loop() {
				if err := WriteSLK(io.Discard, c.graph); err != nil {
					b.Fatal(err)
				}
			}
			rate(b)
		})
		b.Run("pattern="+c.pattern+"/read", func(b *testing.B) {
			for b.Loop() {
				if _, err := ReadSLK("bench.slk", data); err != nil {
					b.Fatal(err)
				}
			}
			rate(b)
		})
	}
}

// phases returns a program of phases with one send and one receive each, as dissemination has.
func phases(ranks, steps int) *Graph {
	build := NewBuilder(ranks)
	var b Block
	for r := range ranks {
		for step := range steps {
			b.Reset()
			d := 1 << (step % 12)
			b.Send((r+d)%ranks, 1, 0)
			b.Recv((r+ranks-d)%ranks, 1, 0)
			build.Add(r, &b)
		}
	}
	return build.Graph()
}

// ReadSLKPrefix reads what can be read of an slk file that is truncated or damaged: the operations
// of the first ranks, as far as they are whole. The other ranks are there but have no blocks. The
// warning says what is missing; it is empty if nothing is.
func ReadSLKPrefix(name string, data []byte) (g *Graph, warning string, err error) {
	r, err := newSLKReader(data)
	if err == nil {
		if err = r.run(); err == nil {
			return r.finish(), "", nil
		}
	}
	if r == nil || r.g == nil || !r.table.complete() {
		return nil, "", r.wrap(name, err)
	}
	whole := len(r.g.steps) - 1
	if lost := r.table.ranks - whole; lost > 1<<20 && lost > 64*len(data) {
		return nil, "", r.wrap(name, fmt.Errorf("%w: %s", err, r.missing()))
	}
	warning = r.wrap(name, fmt.Errorf("%w: %s", err, r.missing())).Error()
	return r.finish(), warning, nil
}
