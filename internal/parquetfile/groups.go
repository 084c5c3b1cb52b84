package parquetfile

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/parquet-go/parquet-go"

	"slackline/internal/parallel"
)

// Writer takes rows one by one. It encodes them in groups, several at the same time, and writes these in their order.
type Writer[T any] struct {
	to    *parquet.GenericWriter[T]
	how   []parquet.WriterOption
	group *group[T]   // takes the rows
	queue []*group[T] // are being encoded, in order
	free  []*group[T]
	limit int // of the queue
	rows  int64
	stop  func() error
	err   error
}

// group is rows, and then the same rows as a file in memory.
type group[T any] struct {
	rows    []T
	encoder *parquet.GenericWriter[T]
	file    bytes.Buffer
	work    parallel.Group
	err     error
}

// askEvery is after how many rows the writer asks whether it should go on.
const askEvery = 1 << 12

// mostEncoders bounds how many groups are in memory, however many cores there are.
const mostEncoders = 8

// Add takes a row. After an error it does nothing: Write returns it.
func (w *Writer[T]) Add(row T) {
	if w.err != nil {
		return
	}
	if len(w.group.rows) == askEvery { // not a small table
		w.group.rows = slices.Grow(w.group.rows, rowsPerGroup-askEvery)
	}
	w.group.rows = append(w.group.rows, row)
	if w.rows++; w.rows%askEvery == 0 {
		w.err = w.stop()
	}
	if len(w.group.rows) == rowsPerGroup && w.err == nil {
		w.encode()
	}
}

// encode lets the rows of the group be encoded beside the caller, who goes on with another group.
func (w *Writer[T]) encode() {
	g := w.group
	g.work.Go(func() { g.err = g.encode(w.how) })
	if w.queue = append(w.queue, g); len(w.queue) >= w.limit {
		w.append()
	}
	if n := len(w.free); n > 0 {
		w.group, w.free = w.free[n-1], w.free[:n-1]
	} else {
		w.group = &group[T]{rows: make([]T, 0, rowsPerGroup)}
	}
}

func (g *group[T]) encode(how []parquet.WriterOption) error {
	g.file.Reset()
	if g.encoder == nil {
		g.encoder = parquet.NewGenericWriter[T](&g.file, how...)
	} else {
		g.encoder.Reset(&g.file)
	}
	_, err := g.encoder.Write(g.rows)
	clear(g.rows)
	g.rows = g.rows[:0]
	if err != nil {
		return err
	}
	return g.encoder.Close()
}

// append waits for the first group of the queue and appends it to the file: its pages are copied as they are.
func (w *Writer[T]) append() {
	g := w.queue[0]
	w.queue = w.queue[1:]
	g.work.Wait()
	if w.err == nil {
		w.err = g.err
	}
	if w.err != nil {
		return
	}
	var f *parquet.File
	if f, w.err = parquet.OpenFile(bytes.NewReader(g.file.Bytes()), int64(g.file.Len())); w.err != nil {
		return
	}
	for _, rows := range f.RowGroups() {
		if _, w.err = w.to.WriteRowGroup(rows); w.err != nil {
			return
		}
	}
	w.free = append(w.free, g)
}

// finish writes what is left. All goroutines have ended when it returns.
func (w *Writer[T]) finish() error {
	if w.err == nil {
		w.err = w.stop()
	}
	if w.err == nil && len(w.queue) > 0 {
		w.encode()
	}
	for len(w.queue) > 0 {
		w.append()
	}
	if w.err == nil {
		_, w.err = w.to.Write(w.group.rows)
	}
	return w.err
}

// Write writes the rows that fill adds as a file, and returns their number. Stop is asked from time to time: its error ends
// the work.
func Write[T any](to io.Writer, table string, stop func() error, fill func(w *Writer[T])) (int64, error) {
	columns := ColumnsOf[T]()
	o, err := options(table, columns)
	if err != nil {
		return 0, err
	}
	w := &Writer[T]{
		to: parquet.NewGenericWriter[T](to, o...), how: encoding(columns), group: new(group[T]), stop: stop,
		limit: max(2, min(runtime.GOMAXPROCS(0), mostEncoders)),
	}
	fill(w)
	if err := w.finish(); err != nil {
		return 0, err
	}
	if err := w.to.Close(); err != nil {
		return 0, fmt.Errorf("table %s: %w", table, err)
	}
	return w.rows, nil
}
