package explore

import (
	"context"
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"slackline/analyze/profile"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// oracle is what the picture must show, in the plainest way: every column is cut at every moment at which anything
// begins or ends, and for each piece all calls and wait states are looked at.
type oracle struct {
	v     *view
	color string
}

// categoryAt is what a location does from one moment to another, between which nothing begins or ends.
func (o oracle) categoryAt(location int, from, to unit.Duration) uint16 {
	v := o.v
	if o.color == "wait" || o.color == "cause" {
		f := v.analysis.found
		first, end := f.result.StatesOf(int32(location))
		for i := first; i < end; i++ { // the first that has not ended has the time
			if _, begin, until := f.result.SpanOf(i); begin <= from && until >= to {
				if o.color == "wait" {
					return f.waitCategory(i)
				}
				return f.causeCategory(i)
			}
		}
		for i := range f.idle[location] {
			switch idle := &f.idle[location][i]; {
			case idle.From > from || idle.To < to:
			case o.color == "wait":
				return firstWait + uint16(idleThreads)
			default:
				return f.originCategory(idle.origin)
			}
		}
	}
	c := &v.tl.Locations[location].Calls
	innermost := -1
	for i := range c.Enter {
		if c.Enter[i] <= from && c.Leave[i] >= to {
			innermost = i // those inside come later
		}
	}
	path := timeline.PathID(0)
	if innermost >= 0 {
		path = c.Path[innermost]
	}
	for _, l := range v.tl.Locations[location].NoCPU {
		if l.From <= from && l.To >= to {
			path = l.Path
		}
	}
	switch {
	case o.color == "path":
		return uint16(v.paths.Of[path])
	case path == 0:
		return uint16(profile.Outside)
	}
	return uint16(profile.KindOf(v.tl.RegionOf(path)))
}

// cell is the category of a location between two moments.
func (o oracle) cell(location int, from, to unit.Duration) uint16 {
	v := o.v
	from, to = v.tl.Start+from, min(v.tl.Start+to, max(v.tl.End, v.tl.Start+1))
	edges := []unit.Duration{from, to}
	add := func(t unit.Duration) {
		if t > from && t < to {
			edges = append(edges, t)
		}
	}
	c := &v.tl.Locations[location].Calls
	for i := range c.Enter {
		add(c.Enter[i])
		add(c.Leave[i])
	}
	for _, l := range v.tl.Locations[location].NoCPU {
		add(l.From)
		add(l.To)
	}
	if f := v.analysis.found; f != nil {
		first, end := f.result.StatesOf(int32(location))
		for i := first; i < end; i++ {
			_, begin, until := f.result.SpanOf(i)
			add(begin)
			add(until)
		}
		for _, idle := range f.idle[location] {
			add(idle.From)
			add(idle.To)
		}
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	times := map[uint16]unit.Duration{}
	for i := 1; i < len(edges); i++ {
		times[o.categoryAt(location, edges[i-1], edges[i])] += edges[i] - edges[i-1]
	}
	return mostOf(times)
}

// mostOf is the category with the greatest value, of equals the smallest one.
func mostOf[N int | unit.Duration](values map[uint16]N) uint16 {
	best, found := uint16(0), false
	for c, n := range values {
		if !found || n > values[best] || n == values[best] && c < best {
			best, found = c, true
		}
	}
	return best
}

// checkPicture compares a picture with the oracle.
func checkPicture(t interface {
	Helper()
	Fatalf(string, ...any)
}, v *view, color string, from, to unit.Duration, width, first, last, most int) {
	t.Helper()
	c, err := v.coloring(context.Background(), color)
	if err != nil {
		t.Fatalf("coloring: %v", err)
	}
	p, err := c.paint(context.Background(), from, to, width, rows{first: first, last: last}, most)
	if err != nil {
		t.Fatalf("paint: %v", err)
	}
	end := p.from + unit.Duration(p.columns)*p.step
	if p.from > from || end < to || p.columns > width || p.rows > most || p.rows*p.group < last-first {
		t.Fatalf("%s %d..%d in %d columns, locations %d..%d in %d rows: got %d columns of %d from %d, %d rows of %d",
			color, from, to, width, first, last, most, p.columns, p.step, p.from, p.rows, p.group)
	}
	o := oracle{v, color}
	for row := range p.rows {
		begin := first + row*p.group
		for x := range p.columns {
			votes := map[uint16]int{}
			left := p.from + unit.Duration(x)*p.step
			for location := begin; location < min(begin+p.group, last); location++ {
				votes[o.cell(location, left, left+p.step)]++
			}
			if got, want := p.cells[row*p.columns+x], mostOf(votes); got != want {
				t.Fatalf("%s %d..%d in %d columns, locations %d..%d in %d rows: row %d, column %d (%d..%d) = %d, want %d",
					color, from, to, width, first, last, most, row, x, left, left+p.step, got, want)
			}
		}
	}
}

// drawWindow draws what may be asked for.
func drawWindow(t *rapid.T, v *view) (from, to unit.Duration, width, first, last, most int) {
	length := max(v.length(), 1)
	from = unit.Duration(rapid.Int64Range(0, int64(length)-1).Draw(t, "from"))
	to = unit.Duration(rapid.Int64Range(int64(from)+1, int64(length)).Draw(t, "to"))
	if rapid.Bool().Draw(t, "whole") {
		from, to = 0, length
	}
	first = rapid.IntRange(0, len(v.tl.Locations)-1).Draw(t, "first")
	last = rapid.IntRange(first+1, len(v.tl.Locations)).Draw(t, "last")
	width = rapid.SampledFrom([]int{1, 2, 3, 7, 16, 33, 64, 100}).Draw(t, "width")
	most = rapid.IntRange(1, 12).Draw(t, "rows")
	return
}

func TestPictureOfRandomCalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		v, err := newView(ctx, ctx, &Opened{Timeline: drawCalls(t)}, 2)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			from, to, width, first, last, rows := drawWindow(t, v)
			checkPicture(t, v, rapid.SampledFrom([]string{"kind", "path"}).Draw(t, "color"), from, to, width, first, last, rows)
		}
	})
}

func TestPictureOfWaits(t *testing.T) {
	v := viewOf(t, halo(t, 9, 6), true)
	if v.analysis.found.stateCount() == 0 {
		t.Fatal("the run has no waits")
	}
	for _, color := range colors {
		checkPicture(t, v, color, 0, v.length(), 40, 0, 9, 9)
		checkPicture(t, v, color, 0, v.length(), 40, 0, 9, 4)
	}
	rapid.Check(t, func(t *rapid.T) {
		from, to, width, first, last, rows := drawWindow(t, v)
		checkPicture(t, v, rapid.SampledFrom(colors).Draw(t, "color"), from, to, width, first, last, rows)
	})
}

// Every width of the index is exact, also where it is not the one that a picture takes.
func TestIndexIsExact(t *testing.T) {
	v := viewOf(t, halo(t, 6, 9), true) // those in the middle have more calls
	for _, color := range colors {
		checkIndex(t, v, color)
	}
}

// checkIndex compares all bins with the oracle; it returns how many it had to do without.
func checkIndex(t interface {
	Helper()
	Fatalf(string, ...any)
}, v *view, color string) (looked, missed int) {
	t.Helper()
	c, err := v.coloring(context.Background(), color)
	if err != nil {
		t.Fatalf("coloring: %v", err)
	}
	o := oracle{v, color}
	for width := v.layout.finest; ; width++ {
		bins := int((v.length()-1)>>width) + 1
		for location := range v.tl.Locations {
			const unknown = 1<<16 - 1
			got := slices.Repeat([]uint16{unknown}, bins)
			c.index.look(width, location, 0, got, func(from, to int) {
				missed += to - from
				for ; from < to; from++ {
					left := unit.Duration(from) << width
					if got[from] != unknown {
						t.Fatalf("%s, width 2^%d, location %d: bin %d is announced and missing", color, width, location, from)
					}
					got[from] = o.cell(location, left, left+1<<width)
				}
			})
			for bin, category := range got {
				left := unit.Duration(bin) << width
				if want := o.cell(location, left, left+1<<width); category != want {
					t.Fatalf("%s, width 2^%d, location %d, bin %d of %d = %d, want %d", color, width, location, bin, bins, category, want)
				}
			}
			looked += bins
		}
		if bins == 1 {
			return looked, missed
		}
	}
}

// decodePicture reads the binary form as the comment of the package describes it.
func decodePicture(t *testing.T, data []byte) (*picture, uint32, uint32) {
	t.Helper()
	le := binary.LittleEndian
	if len(data) < 64 || string(data[:4]) != "SLTL" || le.Uint16(data[4:]) != 1 {
		t.Fatalf("the header is wrong: %q", data[:min(len(data), 64)])
	}
	p := &picture{
		from: unit.Duration(le.Uint64(data[8:])), step: unit.Duration(le.Uint64(data[16:])),
		columns: int(le.Uint32(data[24:])), rows: int(le.Uint32(data[28:])), locations: rows{first: int(le.Uint32(data[32:]))},
		group: int(le.Uint32(data[36:])), looked: int(le.Uint32(data[40:])),
	}
	if words := int(le.Uint32(data[52:])); len(data) != 64+2*words {
		t.Fatalf("%d bytes, want those of %d words", len(data), words)
	}
	word := func(i int) uint16 { return le.Uint16(data[64+2*i:]) }
	switch le.Uint16(data[6:]) {
	case 0:
		for i := range p.rows * p.columns {
			p.cells = append(p.cells, word(i))
		}
	case 1:
		for i := 0; 64+2*i < len(data); i += 2 {
			for range int(word(i)) + 1 {
				p.cells = append(p.cells, word(i+1))
			}
		}
	}
	if len(p.cells) != p.rows*p.columns {
		t.Fatalf("%d cells, want %d x %d", len(p.cells), p.rows, p.columns)
	}
	return p, le.Uint32(data[44:]), le.Uint32(data[48:])
}

func TestPictureIsCoded(t *testing.T) {
	for _, cells := range [][]uint16{
		{5, 5, 5, 5, 5, 5, 5, 6}, {1, 2, 3, 4, 5, 6, 7, 8}, make([]uint16, 200_000),
		append(make([]uint16, longestRun), 1, 1), append(make([]uint16, longestRun-1), 1),
	} {
		p := &picture{from: 1 << 40, step: 3, columns: len(cells) / 2, rows: 2, locations: rows{first: 7}, group: 9, looked: 8, cells: cells}
		if len(cells)%2 == 1 {
			p.columns, p.rows = len(cells), 1
		}
		data := p.encode(4, colorCause, 2)
		got, generation, color := decodePicture(t, data)
		if got.from != p.from || got.step != p.step || got.locations.first != 7 || got.group != 9 || got.looked != 8 || generation != 4 ||
			color != colorCause {
			t.Errorf("header = %+v, generation %d, color %d, want %+v", got, generation, color, p)
		}
		if !slices.Equal(got.cells, cells) {
			t.Errorf("%d cells change on the way", len(cells))
		}
		if len(data) > 64+2*len(cells) {
			t.Errorf("%d cells take %d bytes, more than plain ones", len(cells), len(data))
		}
	}
}

// Rows that stand for very many locations look at some of them, spread evenly.
func TestManyLocationsAreSampled(t *testing.T) {
	v := viewOf(t, halo(t, 64, 2), false)
	p := &picture{locations: rows{last: 64}, rows: 1, group: 64, columns: 4, from: 0, step: (v.length() + 3) / 4, looked: 5}
	p.cells = make([]uint16, 4)
	w := &painter{c: v.kinds, p: p, width: direct}
	w.paintRow(0)
	o := oracle{v, "kind"}
	for x := range p.columns {
		votes := map[uint16]int{}
		for i := range 5 {
			left := unit.Duration(x) * p.step
			votes[o.cell(i*64/5, left, left+p.step)]++
		}
		if got, want := p.cells[x], mostOf(votes); got != want {
			t.Errorf("column %d = %d, want %d", x, got, want)
		}
	}
}
