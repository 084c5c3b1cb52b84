package table

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func sample() *Table {
	t := New(Column{Key: "name"}, Column{Key: "latency_ns", Title: "L", Align: Right}, Column{Key: "note"})
	t.Add("chic", Cell{"2.5 us", 2500}, "a cluster, with comma")
	t.Add("altix", Cell{"850 ns", json.Number("850.5")}, "shared | memory")
	t.Add("größe", Cell{"", nil}, "")
	return t
}

func TestFormats(t *testing.T) {
	for _, tc := range []struct {
		name  string
		write func(*Table, *bytes.Buffer) error
		want  string
	}{
		{"text", func(tb *Table, b *bytes.Buffer) error { return tb.WriteText(b, TextOptions{}) },
			"name        L  note\n" +
				"chic   2.5 us  a cluster, with comma\n" +
				"altix  850 ns  shared | memory\n" +
				"größe\n"},
		{"narrow", func(tb *Table, b *bytes.Buffer) error {
			return tb.WriteText(b, TextOptions{Width: 32, NoHeader: true})
		},
			"chic   2.5 us  a cluster, with\n" +
				"               comma\n" +
				"altix  850 ns  shared | memory\n" +
				"größe\n"},
		{"decorated", func(tb *Table, b *bytes.Buffer) error {
			tb.rows = tb.rows[:1]
			return tb.WriteText(b, TextOptions{Heading: func(s string) string { return "<" + s + ">" }})
		},
			"<name>       <L>  <note>\n" +
				"chic  2.5 us  a cluster, with comma\n"},
		{"markdown", (*Table).markdown,
			"| name | L | note |\n| --- | --: | --- |\n" +
				"| chic | 2.5 us | a cluster, with comma |\n" +
				"| altix | 850 ns | shared \\| memory |\n| größe |  |  |\n"},
		{"csv", func(tb *Table, b *bytes.Buffer) error { return tb.WriteCSV(b) },
			"name,latency_ns,note\nchic,2500,\"a cluster, with comma\"\naltix,850.5,shared | memory\ngröße,,\n"},
		{"json", func(tb *Table, b *bytes.Buffer) error { return tb.WriteJSON(b) },
			"[\n" +
				`  {"name": "chic", "latency_ns": 2500, "note": "a cluster, with comma"},` + "\n" +
				`  {"name": "altix", "latency_ns": 850.5, "note": "shared | memory"},` + "\n" +
				`  {"name": "größe", "latency_ns": null, "note": ""}` + "\n]\n"},
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

func (t *Table) markdown(b *bytes.Buffer) error { return t.WriteMarkdown(b) }

func TestLastColumnRight(t *testing.T) {
	tb := New(Column{Key: "what"}, Column{Key: "n", Align: Right})
	tb.Add("messages", 12)
	tb.Add("ops", 1234)
	var b bytes.Buffer
	if err := tb.WriteText(&b, TextOptions{NoHeader: true}); err != nil {
		t.Fatal(err)
	}
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
