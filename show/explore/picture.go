package explore

import (
	"context"
	"encoding/binary"
	"slices"
	"sync/atomic"

	"slackline/internal/parallel"
	"slackline/model/unit"
)

// picture is what can be seen of a window: a category for each row and column.
type picture struct {
	from, step    unit.Duration // since the start of the run
	columns, rows int
	locations     rows
	group, looked int
	cells         []uint16 // by row, then column
}

// mostLooks is how many cells of single locations are looked at for one picture; if rows show so many locations
// that this is not enough, some of each row are looked at.
const mostLooks = 20 << 20

// answerTimeline makes a picture.
func answerTimeline(ctx context.Context, v *view, q *query) (any, error) {
	from, to := q.span(v.length())
	locations := q.rows(v)
	width := int(q.number("width", 1, MaxWidth, 1024))
	rows := int(q.number("rows", 1, MaxRows, 512))
	color := q.word("color", colors, colors[colorKind])
	if width*rows > MaxCells {
		q.refuse("rows", "width times rows is %d; at most %d are possible", width*rows, MaxCells)
	}
	if q.err != nil {
		return nil, q.err
	}
	c, err := v.coloring(ctx, color)
	if err != nil {
		return nil, err
	}
	end, err := v.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	p, err := c.paint(ctx, from, to, width, locations, rows)
	if err != nil {
		return nil, err
	}
	return &binaryAnswer{kind: "application/octet-stream", data: p.encode(v.generation, slices.Index(colors, color), v.threads)}, nil
}

// paint makes a picture of at most so many columns and rows.
func (c *coloring) paint(ctx context.Context, from, to unit.Duration, width int, locations rows, most int) (*picture, error) {
	p := &picture{locations: locations}
	n := locations.last - locations.first
	p.group = (n + most - 1) / most
	p.rows = (n + p.group - 1) / p.group
	bins := c.choose(p, from, to, width)
	p.cells = make([]uint16, p.rows*p.columns)
	p.looked = min(p.group, max(1, mostLooks/len(p.cells)))
	var stopped atomic.Bool
	painters := make([]*painter, c.v.threads)
	chunk := max(1, p.rows/(8*c.v.threads))
	parallel.Chunks(p.rows, chunk, c.v.threads, func(worker, begin, end int) {
		if painters[worker] == nil {
			painters[worker] = &painter{c: c, p: p, width: bins}
		}
		for row := begin; row < end; row++ {
			if stopped.Load() || ctx.Err() != nil {
				stopped.Store(true)
				return
			}
			painters[worker].paintRow(row)
		}
	})
	return p, ctx.Err()
}

// direct is the width of pictures that are made from calls and not from the index.
const direct = -1

// choose decides on the columns, and on the width of the bins that they are, as a power of two.
func (c *coloring) choose(p *picture, from, to unit.Duration, columns int) (width int) {
	width = c.v.layout.finest
	p.from, p.step = from, (to-from-1)/unit.Duration(columns)+1
	p.columns = int((to-from-1)/p.step) + 1
	if 2*p.step <= 1<<width {
		return direct
	}
	for {
		begin, end := from>>width, (to-1)>>width+1
		if end-begin <= unit.Duration(columns) {
			p.from, p.step, p.columns = begin<<width, 1<<width, int(end-begin)
			return width
		}
		width++
	}
}

// painter is one worker of a picture.
type painter struct {
	c      *coloring
	p      *picture
	width  int // of the bins of the index, as a power of two; direct: none
	binner *binner[uint16]
	all    []uint16    // of all locations of a row, by location, then column
	votes  []uint32    // by category
	few    [][2]uint64 // by column; see voteOfFew
}

// paintRow fills a row of the picture.
func (w *painter) paintRow(row int) {
	p := w.p
	out := p.cells[row*p.columns : (row+1)*p.columns]
	begin := p.locations.first + row*p.group
	n := min(p.group, p.locations.last-begin)
	if n == 1 {
		w.paintLocation(p.locations.at(begin), out)
		return
	}
	looked := min(n, p.looked)
	w.all = slices.Grow(w.all[:0], looked*p.columns)[:looked*p.columns]
	for i := range looked {
		w.paintLocation(p.locations.at(begin+i*n/looked), w.all[i*p.columns:(i+1)*p.columns])
	}
	w.vote(looked, out)
}

// paintLocation fills the columns of one location.
func (w *painter) paintLocation(location int, out []uint16) {
	if w.width == direct {
		w.walk(location, 0, out)
		return
	}
	w.c.index.look(w.width, location, int(w.p.from>>w.width), out, func(from, to int) { w.walk(location, from, out[from:to]) })
}

// walk fills columns of a location, from a number on, from its calls.
func (w *painter) walk(location, first int, out []uint16) {
	p, v := w.p, w.c.v
	if w.binner == nil {
		w.binner = newBinner[uint16](w.c.categories)
	}
	from := v.tl.Start + p.from + unit.Duration(first)*p.step
	w.binner.begin(from, p.step, nil, out)
	add(w.c, location, from, min(from+unit.Duration(len(out))*p.step, v.end()), w.binner)
	w.binner.flush()
}

// vote gives each column the category that most locations have.
func (w *painter) vote(n int, out []uint16) {
	if n < 1<<8 && w.c.categories <= firstWait {
		w.voteOfFew(n, out)
		return
	}
	if w.votes == nil {
		w.votes = make([]uint32, w.c.categories)
	}
	columns := len(out)
	for x := range out {
		best := w.all[x]
		for i := x; i < n*columns; i += columns {
			category := w.all[i]
			w.votes[category]++
			if count := w.votes[category]; count > w.votes[best] || count == w.votes[best] && category < best {
				best = category
			}
		}
		for i := x; i < n*columns; i += columns {
			w.votes[w.all[i]] = 0
		}
		out[x] = best
	}
}

// voteOfFew is vote for fewer than 256 locations and up to 16 categories: the counters of a column are bytes of two words,
// so that the lines can be counted one after the other.
func (w *painter) voteOfFew(n int, out []uint16) {
	columns := len(out)
	w.few = slices.Grow(w.few[:0], columns)[:columns]
	clear(w.few)
	for i := range n {
		line := w.all[i*columns:][:columns]
		for x, category := range line {
			w.few[x][category>>3&1] += 1 << (category & 7 * 8)
		}
	}
	before := [2]uint64{}
	for x, counters := range w.few {
		if x > 0 && counters == before {
			out[x] = out[x-1]
			continue
		}
		before = counters
		best, most := uint16(0), uint64(0)
		for category := range uint16(w.c.categories) {
			if count := counters[category>>3] >> (category & 7 * 8) & 0xff; count > most {
				best, most = category, count
			}
		}
		out[x] = best
	}
}

// The binary form; see the comment of the package.
const (
	pictureHeader  = 64
	pictureVersion = 1
	codingPlain    = 0
	codingRuns     = 1
)

// encode writes the picture in the shorter of the two codings.
func (p *picture) encode(generation, color, threads int) []byte {
	parts := p.runs(threads)
	words, coding := len(p.cells), codingPlain
	if parts != nil {
		words, coding = 0, codingRuns
		for _, part := range parts {
			words += len(part)
		}
	}
	out := make([]byte, pictureHeader+2*words)
	le := binary.LittleEndian
	copy(out, "SLTL")
	le.PutUint16(out[4:], pictureVersion)
	le.PutUint16(out[6:], uint16(coding))
	le.PutUint64(out[8:], uint64(p.from))
	le.PutUint64(out[16:], uint64(p.step))
	for i, value := range []int{p.columns, p.rows, p.locations.first, p.group, p.looked, generation, color, words} {
		le.PutUint32(out[24+4*i:], uint32(value))
	}
	if coding == codingPlain {
		parts = [][]uint16{p.cells}
	}
	rest := out[pictureHeader:]
	for _, part := range parts {
		for i, word := range part {
			le.PutUint16(rest[2*i:], word)
		}
		rest = rest[2*len(part):]
	}
	return out
}

const (
	longestRun = 1 << 16 // that its coding can represent
	runsChunk  = 1 << 17 // cells that are coded at a time; runs end with it
)

// runs codes the cells as runs, in parts; nil if that takes no fewer words than the cells themselves.
func (p *picture) runs(threads int) [][]uint16 {
	parts := make([][]uint16, (len(p.cells)+runsChunk-1)/runsChunk)
	var words atomic.Int64
	parallel.Each(len(parts), threads, func(i int) {
		if words.Load() < int64(len(p.cells)) {
			parts[i] = appendRuns(nil, p.cells[i*runsChunk:min((i+1)*runsChunk, len(p.cells))])
			words.Add(int64(len(parts[i])))
		}
	})
	if words.Load() >= int64(len(p.cells)) {
		return nil
	}
	return parts
}

// appendRuns codes cells as pairs of a length minus one and a category.
func appendRuns(out, cells []uint16) []uint16 {
	begin := 0
	for i, c := range cells {
		if c != cells[begin] || i-begin == longestRun {
			out = append(out, uint16(i-begin-1), cells[begin])
			begin = i
		}
	}
	return append(out, uint16(len(cells)-begin-1), cells[begin])
}
