package table

import (
	"bytes"
	"encoding/json"
	"html"
	"slices"
	"strings"
	"testing"
)

func sample() *Table {
	t := New(Column{Key: "name"}, Column{Key: "latency_ns", Title: "L", Align: Right}, Column{Key: "note"})
	t.Add("chic", Cell{Text: "2.5 us", Value: 2500}, "a cluster, with comma")
	t.Add("altix", Cell{Text: "850 ns", Value: json.Number("850.5")}, "shared | memory")
	t.Add("größe", Cell{}, "")
	return t
}

func TestFormats(t *testing.T) {
	for _, tc := range []struct {
		name  string
		write func(*Table, *bytes.Buffer) error
		want  string
	}{
		{"text", func(tb *Table, b *bytes.Buffer) error { tb.WriteText(b, TextOptions{}); return nil },
			"name        L  note\n" +
				"chic   2.5 us  a cluster, with comma\n" +
				"altix  850 ns  shared | memory\n" +
				"größe\n"},
		{"narrow", func(tb *Table, b *bytes.Buffer) error {
			tb.WriteText(b, TextOptions{Width: 32, NoHeader: true})
			return nil
		},
			"chic   2.5 us  a cluster, with\n" +
				"               comma\n" +
				"altix  850 ns  shared | memory\n" +
				"größe\n"},
		{"decorated", func(tb *Table, b *bytes.Buffer) error {
			tb.Rows = tb.Rows[:1]
			tb.WriteText(b, TextOptions{Heading: func(s string) string { return "<" + s + ">" }})
			return nil
		},
			"<name>       <L>  <note>\n" +
				"chic  2.5 us  a cluster, with comma\n"},
		{"markdown", (*Table).markdown,
			"| name | L | note |\n| --- | --: | --- |\n" +
				"| chic | 2.5 us | a cluster, with comma |\n" +
				"| altix | 850 ns | shared \\| memory |\n| größe |  |  |\n"},
		{"csv", func(tb *Table, b *bytes.Buffer) error { return tb.WriteCSV(b) },
			"name,latency_ns,note\nchic,2500,\"a cluster, with comma\"\naltix,850.5,shared | memory\ngröße,,\n"},
		{"html", func(tb *Table, b *bytes.Buffer) error { return tb.WriteHTML(b, escaped) },
			"<table>\n<thead><tr><th>name</th><th class=\"right\">L</th><th>note</th></tr></thead>\n<tbody>" +
				`<tr><td class=""><span class="cell">chic</span></td><td class="right "><span class="cell">2.5 us</span></td>` +
				`<td class=""><span class="cell">a cluster, with comma</span></td></tr>` + "\n" +
				`<tr><td class=""><span class="cell">altix</span></td><td class="right "><span class="cell">850 ns</span></td>` +
				`<td class=""><span class="cell">shared | memory</span></td></tr>` + "\n" +
				`<tr><td class=""><span class="cell">größe</span></td><td class="right "><span class="cell"></span></td>` +
				`<td class=""><span class="cell"></span></td></tr>` + "\n</tbody></table>"},
		{"document", func(tb *Table, b *bytes.Buffer) error {
			tb.Columns[0].Title, tb.Rows = "name", tb.Rows[:1]
			return json.NewEncoder(b).Encode(tb)
		},
			`{"columns":[{"title":"name"},{"title":"L"},{"title":""}],"rows":[[{"text":"chic","value":"chic"},` +
				`{"text":"2.5 us","value":2500},{"text":"a cluster, with comma","value":"a cluster, with comma"}]]}` + "\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := tc.write(sample(), &b); err != nil {
				t.Fatal(err)
			}
			if b.String() != tc.want {
				t.Errorf("got\n%s\nwant\n%s", b.String(), tc.want)
			}
		})
	}
}

// TestMarkdown: texts that others wrote are no markup.
func TestMarkdown(t *testing.T) {
	tb := Of("name", "why")
	tb.Add("t<img src=x>`|@all", "a_b*c [x](y) <b> & | `c` \\ #1 ~~d~~")
	tb.Add("", "")
	var b bytes.Buffer
	tb.WriteMarkdown(&b, "name")
	want := "| name | why |\n| --- | --- |\n| `t<img src=x>'\\|@all` | " +
		"a\\_b\\*c \\[x\\](y) &lt;b> &amp; \\| \\`c\\` \\\\ \\#1 \\~\\~d\\~\\~ |\n|  |  |\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func (t *Table) markdown(b *bytes.Buffer) error { t.WriteMarkdown(b); return nil }

func TestLastColumnRight(t *testing.T) {
	tb := New(Column{Key: "what"}, Column{Key: "n", Align: Right})
	tb.Add("messages", 12)
	tb.Add("ops", 1234)
	var b bytes.Buffer
	tb.WriteText(&b, TextOptions{NoHeader: true})
	if want := "messages    12\nops       1234\n"; b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	if tb.Len() != 2 {
		t.Errorf("Len = %d, want 2", tb.Len())
	}
}

func TestAddPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Add with a missing cell did not panic")
		}
	}()
	sample().Add("x")
}

func TestWrap(t *testing.T) {
	for _, tc := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 5, ""},
		{"one two", 0, "one two"},
		{"one two three", 7, "one two/three"},
		{"extraordinary it is", 5, "extraordinary/it is"},
		{"äöü äöü", 3, "äöü/äöü"},
	} {
		if got := strings.Join(Wrap(tc.text, tc.width), "/"); got != tc.want {
			t.Errorf("Wrap(%q, %d) = %q, want %q", tc.text, tc.width, got, tc.want)
		}
	}
}

func escaped(c Cell) string { return html.EscapeString(c.Text) }

// Rows beyond the limit are counted. Bars and marks are in HTML only.
func TestLimit(t *testing.T) {
	tb := &Table{Columns: []Column{{Key: "share", Align: Right}}, Limit: 1}
	for range 3 {
		tb.Add(Cell{Text: "<50 %", Mark: "good", Share: 0.5})
	}
	if tb.Len() != 1 || tb.Left != 2 {
		t.Errorf("%d rows, %d left out; want 1 and 2", tb.Len(), tb.Left)
	}
	var b bytes.Buffer
	want := `<td class="right good"><span class="cell">&lt;50 %</span><span class="cellbar"><span style="width:50.00%"></span></span></td>`
	if err := tb.WriteHTML(&b, escaped); err != nil || !strings.Contains(b.String(), want) {
		t.Errorf("%v, %s does not contain %s", err, b.String(), want)
	}
}

// Pick takes columns in another order and may rename them; the table keeps what was left out.
func TestPick(t *testing.T) {
	tab := New(Column{Key: "a"}, Column{Key: "b", Title: "B", Align: Right}, Column{Key: "c"})
	tab.Limit = 1
	tab.Add(1, 2, 3)
	tab.Add(4, 5, 6)
	var b bytes.Buffer
	if tab.Pick("c=last", "b").WriteText(&b, TextOptions{}); b.String() != "last  B\n3     2\n" {
		t.Errorf("Pick = %q", b.String())
	}
	if got := tab.Pick("a"); got.Left != 1 || len(tab.Columns) != 3 || len(tab.Rows[0]) != 3 {
		t.Errorf("Pick left %d out and changed the table to %v", got.Left, tab.Columns)
	}
}

func TestColumns(t *testing.T) {
	want := []Column{{Key: "a"}, {Key: "b_ns", Title: "b", Align: Right}, {Key: "c", Align: Right}, {Key: "d", Title: "at p=4"}}
	if got := Columns("a", ">b_ns=b", ">c", "d=at p=4"); !slices.EqualFunc(got, want, func(x, y Column) bool {
		return x.Key == y.Key && x.Title == y.Title && x.Align == y.Align
	}) {
		t.Errorf("Columns = %+v, want %+v", got, want)
	}
}

// TestTooWide: columns move closer together first; those that have no room then follow below, beside the first one, until nothing is left.
func TestTooWide(t *testing.T) {
	wide := Of("name", ">one", ">two", ">three", ">four")
	wide.Add("a", "11111111", "2", "33333333", "4")
	wide.Add("bb", "1", "22222222", "3", "44444444")
	var b strings.Builder
	wide.WriteText(&b, TextOptions{Width: 24})
	want := `
name       one       two
a     11111111         2
bb           1  22222222

name     three      four
a     33333333         4
bb           3  44444444
`
	if got := "\n" + b.String(); got != want {
		t.Errorf("%s\nwant%s", got, want)
	}
	b.Reset()
	wide.WriteText(&b, TextOptions{Width: 40})
	want = `
name      one      two    three     four
a    11111111        2 33333333        4
bb          1 22222222        3 44444444
`
	if got := "\n" + b.String(); got != want {
		t.Errorf("%s\nwant%s", got, want)
	}
	b.Reset()
	wide.WriteText(&b, TextOptions{Width: 3}) // two columns beside each other, whatever their width
	if n := strings.Count(b.String(), "name"); n != 4 {
		t.Errorf("%d tables, want 4:\n%s", n, b.String())
	}
}
