// Package table holds rows and columns and writes them as text or HTML for people, or as
// CSV, JSON or Markdown for everything else.
//
// A cell may show one thing to people (2.5 us) and hold another for programs
// (2500): text, HTML and Markdown print the first, CSV and JSON the second. As a part of
// a JSON document, a table has both.
package table

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"slackline/internal/plain"
)

// Align is the side of its column on which a cell is.
type Align uint8

// The sides.
const (
	Left Align = iota
	Right
)

// A Column of a table.
type Column struct {
	Key   string `json:"-"`     // name in CSV and JSON, e.g. finish_ns
	Title string `json:"title"` // heading in text, HTML and Markdown; empty: Key
	Align Align  `json:"-"`
	Fixed bool   `json:"-"` // a text in which each letter has its place: it is not wrapped

	Short func(text string, letters int) string `json:"-"` // shortens the texts where the table is too wide; nil: they stay
}

// A Cell has a form for people and a value for programs. The value is a string,
// a number, a bool, a json.Number or nil.
type Cell struct {
	Text  string  `json:"text"`
	Value any     `json:"value,omitempty"`
	Mark  string  `json:"-"` // class of the cell in HTML
	Share float64 `json:"-"` // length of a bar under the text in HTML, 0 to 1
}

// A Table is a list of rows below named columns.
type Table struct {
	Title   string   `json:"title,omitempty"`
	Command string   `json:"command,omitempty"` // that shows all of it
	Columns []Column `json:"columns"`
	Rows    [][]Cell `json:"rows"`
	Left    int      `json:"rows_left_out,omitempty"`
	Limit   int      `json:"-"` // rows that are kept, the others are counted in Left; 0: all
}

// New returns an empty table.
func New(columns ...Column) *Table { return &Table{Columns: columns} }

// Of is New with Columns.
func Of(columns ...string) *Table { return New(Columns(columns...)...) }

// Columns are columns by their keys, each as KEY or KEY=TITLE; > before a key aligns its column on the right.
func Columns(columns ...string) []Column {
	list := make([]Column, len(columns))
	for i, text := range columns {
		key, right := strings.CutPrefix(text, ">")
		c := &list[i]
		if c.Key, c.Title, _ = strings.Cut(key, "="); right {
			c.Align = Right
		}
	}
	return list
}

// Add appends a row, up to the limit. Each cell is a Cell, or a plain value that is its own text.
// Add panics if the number of cells is not the number of columns.
func (t *Table) Add(cells ...any) {
	if len(cells) != len(t.Columns) {
		panic(fmt.Sprintf("table: %d cells in a table of %d columns", len(cells), len(t.Columns)))
	}
	if t.Limit > 0 && len(t.Rows) >= t.Limit {
		t.Left++
		return
	}
	row := make([]Cell, len(cells))
	for i, c := range cells {
		if cell, ok := c.(Cell); ok {
			row[i] = cell
		} else {
			row[i] = Cell{Text: fmt.Sprint(c), Value: c}
		}
		row[i].Text = plain.Name(row[i].Text)
	}
	t.Rows = append(t.Rows, row)
}

// Pick returns the table with some of its columns, in this order. Each is given by its key, or as KEY=TITLE with another heading.
// Pick panics if there is no such column.
func (t *Table) Pick(columns ...string) *Table {
	p := *t
	p.Columns, p.Rows = nil, make([][]Cell, len(t.Rows))
	for _, name := range columns {
		key, title, renamed := strings.Cut(name, "=")
		at := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Key == key })
		if at < 0 {
			panic(fmt.Sprintf("table: no column %s", key))
		}
		column := t.Columns[at]
		column.Title = t.title(at)
		if renamed {
			column.Title = title
		}
		p.Columns = append(p.Columns, column)
		for i, row := range t.Rows {
			p.Rows[i] = append(p.Rows[i], row[at])
		}
	}
	return &p
}

// Len is the number of rows.
func (t *Table) Len() int { return len(t.Rows) }

// TextOptions define how a table looks as text.
type TextOptions struct {
	Width    int                 // columns of the screen; 0: no limit
	NoHeader bool                // leave the headings out
	Heading  func(string) string // decorates a heading, e.g. with color; nil: not at all
}

// gap is how many blanks separate two columns; tight, if there is no room for that.
const gap, tight = 2, 1

// WriteText writes the table for people to a writer that keeps its errors, as bufio.Writer does. If it is wider than allowed,
// columns that can be shortened (Column.Short) are, and the last column is wrapped, provided that it is aligned left and some room is left;
// otherwise columns move closer together. Columns with headings that still have no room follow in a table below, beside the first column.
func (t *Table) WriteText(w io.Writer, o TextOptions) {
	widths := t.widths(!o.NoHeader)
	last := len(t.Columns) - 1
	between := gap
	over := between*last - o.Width
	for _, w := range widths {
		over += w
	}
	for i := range t.Columns {
		if o.Width > 0 && over > 0 && t.Columns[i].Short != nil && widths[i] > minShort {
			less := min(over, widths[i]-minShort)
			widths[i] -= less
			over -= less
		}
	}
	if c := &t.Columns[last]; o.Width > 0 && over > 0 && c.Align == Left && c.Short == nil && !c.Fixed && widths[last]-over >= minWrap {
		widths[last] -= over
	} else if o.Width > 0 && over > 0 && !o.NoHeader {
		between = tight
		if n := fitting(widths, o.Width); n < len(widths) {
			t.columns(1, n).WriteText(w, o)
			fmt.Fprintln(w)
			t.columns(n, len(widths)).WriteText(w, o)
			return
		}
	}
	out := bufio.NewWriter(w)
	if !o.NoHeader {
		heads := make([]string, len(t.Columns))
		for i := range t.Columns {
			heads[i] = t.title(i)
		}
		t.writeRow(out, heads, widths, between, o.Heading)
	}
	cells := make([]string, len(t.Columns))
	for _, row := range t.Rows {
		for i, c := range row {
			if cells[i] = c.Text; t.Columns[i].Short != nil {
				cells[i] = t.Columns[i].Short(c.Text, widths[i])
			}
		}
		t.writeRow(out, cells, widths, between, nil)
	}
	out.Flush()
}

// fitting is how many columns fit close beside each other, but two at least.
func fitting(widths []int, width int) int {
	n, used := 0, -tight
	for ; n < len(widths); n++ {
		if used += tight + widths[n]; n >= 2 && used > width {
			break
		}
	}
	return n
}

// columns is the table with its first column and those from one to another.
func (t *Table) columns(from, to int) *Table {
	c := *t
	c.Columns, c.Rows = append([]Column{t.Columns[0]}, t.Columns[from:to]...), make([][]Cell, len(t.Rows))
	for i, row := range t.Rows {
		c.Rows[i] = append([]Cell{row[0]}, row[from:to]...)
	}
	return &c
}

// minWrap is the narrowest column that is still readable when wrapped.
const minWrap = 16

// minShort is how short a text may become.
const minShort = 24

func (t *Table) title(i int) string {
	return cmp.Or(t.Columns[i].Title, t.Columns[i].Key)
}

func (t *Table) widths(header bool) []int {
	widths := make([]int, len(t.Columns))
	for i := range t.Columns {
		if header {
			widths[i] = utf8.RuneCountInString(t.title(i))
		}
		for _, row := range t.Rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i].Text))
		}
	}
	return widths
}

// writeRow writes one row without blanks at its end.
func (t *Table) writeRow(w *bufio.Writer, cells []string, widths []int, between int, decorate func(string) string) {
	last := len(cells) - 1
	lines := Wrap(cells[last], widths[last])
	indent, blanks := 0, 0 // blanks are owed before the next letter
	write := func(s string) {
		if s != "" {
			w.WriteString(strings.Repeat(" ", blanks))
			w.WriteString(s)
			blanks = 0
		}
	}
	for i, c := range cells[:last] {
		pad := widths[i] - utf8.RuneCountInString(c)
		if decorate != nil {
			c = decorate(c)
		}
		if t.Columns[i].Align == Right {
			blanks += pad
			write(c)
		} else {
			write(c)
			blanks += pad
		}
		blanks += between
		indent += widths[i] + between
	}
	for i, line := range lines {
		if i > 0 {
			blanks = indent
		}
		if t.Columns[last].Align == Right {
			blanks += widths[last] - utf8.RuneCountInString(line)
		}
		if decorate != nil {
			line = decorate(line)
		}
		write(line)
		w.WriteByte('\n')
	}
}

// Wrap breaks text at blanks into lines of at most width letters; a longer word
// is alone on its line. There is at least one line. A width of 0 or less
// does not break.
func Wrap(text string, width int) []string {
	if width <= 0 || utf8.RuneCountInString(text) <= width {
		return []string{text}
	}
	var lines []string
	line, length := "", 0
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case length == 0:
			line, length = word, n
		case length+1+n <= width:
			line += " " + word
			length += 1 + n
		default:
			lines = append(lines, line)
			line, length = word, n
		}
	}
	return append(lines, line)
}

// Markdown is a text that others wrote, in which nothing is markup.
func Markdown(text string) string { return markup.Replace(text) }

var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", `\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "#", `\#`, "~",
	`\~`, "|", `\|`, "\r", " ", "\n", " ")

// CodeSpan is a name that others gave as a code span of Markdown, in which nothing is markup or mentions a user.
func CodeSpan(name string) string {
	if name == "" {
		return ""
	}
	return "`" + strings.NewReplacer("`", "'", "\r", " ", "\n", " ").Replace(name) + "`"
}

// WriteMarkdown writes the table as a Markdown table, with the columns of some keys as code; w is as in WriteText.
func (t *Table) WriteMarkdown(w io.Writer, code ...string) {
	out := bufio.NewWriter(w)
	for i := range t.Columns {
		fmt.Fprintf(out, "| %s ", Markdown(t.title(i)))
	}
	out.WriteString("|\n")
	for _, c := range t.Columns {
		if c.Align == Right {
			out.WriteString("| --: ")
		} else {
			out.WriteString("| --- ")
		}
	}
	out.WriteString("|\n")
	for _, row := range t.Rows {
		for i, c := range row {
			text := Markdown(c.Text)
			if slices.Contains(code, t.Columns[i].Key) {
				text = strings.ReplaceAll(CodeSpan(c.Text), "|", `\|`)
			}
			fmt.Fprintf(out, "| %s ", text)
		}
		out.WriteString("|\n")
	}
	out.Flush()
}

// Keys are those of the columns.
func (t *Table) Keys() []string {
	keys := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		keys[i] = c.Key
	}
	return keys
}

// Values are those of the rows, in a slice that the next row uses again.
func (t *Table) Values() iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		values := make([]any, len(t.Columns))
		for _, row := range t.Rows {
			for i, c := range row {
				values[i] = c.Value
			}
			if !yield(values) {
				return
			}
		}
	}
}

// WriteCSV writes the values as CSV with a line of keys; nil is an empty field.
func (t *Table) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	record := t.Keys()
	if err := out.Write(record); err != nil {
		return err
	}
	for _, row := range t.Rows {
		for i, c := range row {
			record[i] = ""
			if c.Value != nil {
				record[i] = plain.Name(fmt.Sprint(c.Value))
			}
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
