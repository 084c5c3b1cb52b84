package tolerance

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// LinearProgram is T as the optimum of a linear program, the way of the LLAMP paper, for solvers that
// check our answers. It has a column for the start and the end of every operation and for the end
// of every block, a column for T and one for the variable; and a row for every edge of the graph:
// head - tail - slope*variable >= constant. Times are in the units of Point.
type LinearProgram struct {
	*timed
	variable Variable
	given    int64
	lowest   int64
	rows     []lpRow
	blocks   int
}

// lpRow is the edge head >= tail + c + a*x.
type lpRow struct {
	head, tail uint32 // columns
	a, c       int64
}

// Goal is what a linear program is solved for.
type Goal struct {
	// Within: the largest value of the variable with T at most Bound; otherwise the smallest T at the
	// given value of the variable.
	Within bool
	Bound  int64
}

// LinearProgram makes the linear program of T over a variable.
func (e *Evaluation) LinearProgram(v Variable) (*LinearProgram, error) {
	t, err := e.timed()
	if err != nil {
		return nil, err
	}
	costs, err := newCoster(e.s, e.n)
	if err != nil {
		return nil, err
	}
	axis, err := newAxis(e.s, costs, v)
	if err != nil {
		return nil, err
	}
	t = &timed{t.whole, costs, t.order, t.times}
	p := &LinearProgram{timed: t, variable: v, given: axis.at, lowest: axis.lowest}
	if t.whole.blocks != nil {
		p.blocks = len(t.whole.blocks.before)
	}
	if uint64(p.Columns()) > math.MaxUint32 {
		return nil, fmt.Errorf("%d operations are too many for a linear program", len(t.ops))
	}
	for op := range uint32(len(t.ops)) {
		for _, head := range []point{startOf(op), endOf(op)} {
			t.into(head, func(tail point, w way) {
				line := axis.line(t.edge(w, head))
				if line.a > 0 && p.lowest > maxPart/line.a {
					costs.fail(ErrOverflow)
				}
				p.add(uint32(head), uint32(tail), line)
			})
			if block, ok := t.blockBefore(head); ok {
				p.add(uint32(head), p.blockColumn(block), span{})
			}
		}
		if p.blocks > 0 {
			p.add(p.blockColumn(t.whole.blocks.of[op]), uint32(endOf(op)), span{})
		}
		p.add(p.timeColumn(), uint32(endOf(op)), span{})
	}
	return p, costs.err
}

// line is what is spent on an edge, as a line over the variable.
func (x *axis) line(c cost) span {
	s := x.calc(c.calc)
	if c.m == nil {
		return s
	}
	s = s.plus(x.overhead(c.m).times(c.overheads)).plus(x.latency(c.m).times(c.latencies))
	if c.data {
		s = s.plus(x.data(c.m))
	}
	if c.gap {
		s = s.plus(x.part(c.m.gap))
	}
	return s
}

// add adds a row. Lines count the variable from its lowest value on.
func (p *LinearProgram) add(head, tail uint32, line span) {
	p.rows = append(p.rows, lpRow{head, tail, line.a, line.c - line.a*p.lowest})
}

// Columns are numbered: start and end of each operation, blocks, T, the variable.

func (p *LinearProgram) blockColumn(block uint32) uint32 { return uint32(2*len(p.ops)) + block }
func (p *LinearProgram) timeColumn() uint32              { return uint32(2*len(p.ops) + p.blocks) }
func (p *LinearProgram) variableColumn() uint32          { return p.timeColumn() + 1 }

// Columns is the number of columns.
func (p *LinearProgram) Columns() int { return 2*len(p.ops) + p.blocks + 2 }

// Rows is the number of rows.
func (p *LinearProgram) Rows() int { return len(p.rows) }

// appendName appends the name of a column: s_RANK_OP and f_RANK_OP for the start and the finish of an
// operation.
func (p *LinearProgram) appendName(b []byte, column uint32) []byte {
	switch {
	case column == p.timeColumn():
		return append(b, 'T')
	case column == p.variableColumn():
		return append(b, p.variable.Parameter.String()...)
	case column >= uint32(2*len(p.ops)):
		return strconv.AppendInt(append(b, "b_"...), int64(column)-int64(2*len(p.ops)), 10)
	}
	at := point(column)
	prefix := "s_"
	if at.isEnd() {
		prefix = "f_"
	}
	rank, index := p.graph.Find(int(at.op()))
	b = strconv.AppendInt(append(b, prefix...), int64(rank), 10)
	return strconv.AppendInt(append(b, '_'), int64(index), 10)
}

// WriteLP writes the program in the LP format of CPLEX.
func (p *LinearProgram) WriteLP(w io.Writer, goal Goal) error {
	out := bufio.NewWriterSize(w, 1<<16)
	name := p.variable.Parameter.String()
	if goal.Within {
		fmt.Fprintf(out, "Maximize\n obj: 0 T + %s\n", name)
	} else {
		fmt.Fprintf(out, "Minimize\n obj: T + 0 %s\n", name)
	}
	fmt.Fprint(out, "Subject To\n")
	var b []byte
	for i, r := range p.rows {
		b = append(b[:0], " r"...)
		b = strconv.AppendInt(b, int64(i), 10)
		b = p.appendName(append(b, ": "...), r.head)
		b = p.appendName(append(b, " - "...), r.tail)
		if r.a != 0 {
			b = strconv.AppendInt(append(b, " - "...), r.a, 10)
			b = append(append(b, ' '), name...)
		}
		b = strconv.AppendInt(append(b, " >= "...), r.c, 10)
		if _, err := out.Write(append(b, '\n')); err != nil {
			return err
		}
	}
	fmt.Fprint(out, "Bounds\n")
	if goal.Within {
		fmt.Fprintf(out, " T <= %d\n %s >= %d\n", goal.Bound, name, p.lowest)
	} else {
		fmt.Fprintf(out, " %s = %d\n", name, p.given)
	}
	fmt.Fprint(out, "End\n")
	return out.Flush()
}

// WriteMPS writes the program in the free MPS format. It is a minimisation: to make the variable large,
// its negative is made small.
func (p *LinearProgram) WriteMPS(w io.Writer, goal Goal) error {
	out := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprint(out, "NAME tolerance FREE\nROWS\n N obj\n")
	for i := range p.rows {
		fmt.Fprintf(out, " G r%d\n", i)
	}
	fmt.Fprint(out, "COLUMNS\n")
	if err := p.writeColumns(out, goal); err != nil {
		return err
	}
	fmt.Fprint(out, "RHS\n")
	for i, r := range p.rows {
		if r.c != 0 {
			fmt.Fprintf(out, " RHS r%d %d\n", i, r.c)
		}
	}
	name := p.variable.Parameter.String()
	if goal.Within {
		fmt.Fprintf(out, "BOUNDS\n UP BND T %d\n LO BND %s %d\n", goal.Bound, name, p.lowest)
	} else {
		fmt.Fprintf(out, "BOUNDS\n FX BND %s %d\n", name, p.given)
	}
	fmt.Fprint(out, "ENDATA\n")
	return out.Flush()
}

// writeColumns writes the matrix column by column.
func (p *LinearProgram) writeColumns(out *bufio.Writer, goal Goal) error {
	first := make([]int, p.Columns()+1)
	count := func(visit func(column uint32, row int, value int64)) {
		for i, r := range p.rows {
			visit(r.head, i, 1)
			visit(r.tail, i, -1)
			if r.a != 0 {
				visit(p.variableColumn(), i, -r.a)
			}
		}
	}
	entries := 0
	count(func(column uint32, _ int, _ int64) { first[column+1]++; entries++ })
	for c := 1; c < len(first); c++ {
		first[c] += first[c-1]
	}
	type entry struct {
		row   int
		value int64
	}
	list, next := make([]entry, entries), slices.Clone(first)
	count(func(column uint32, row int, value int64) {
		list[next[column]] = entry{row, value}
		next[column]++
	})
	weights := map[uint32]int{p.timeColumn(): 1, p.variableColumn(): 0}
	if goal.Within {
		weights = map[uint32]int{p.timeColumn(): 0, p.variableColumn(): -1}
	}
	var name []byte
	for c := range uint32(p.Columns()) {
		name = p.appendName(name[:0], c)
		if weight, ok := weights[c]; ok { // also 0: both have bounds, and may be in no row
			fmt.Fprintf(out, " %s obj %d\n", name, weight)
		}
		for _, e := range list[first[c]:first[c+1]] {
			if _, err := fmt.Fprintf(out, " %s r%d %d\n", name, e.row, e.value); err != nil {
				return err
			}
		}
	}
	return nil
}
