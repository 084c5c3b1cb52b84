package yamlfile

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var testRules = Rules{
	Thing: "recipe", MaxBytes: 16 << 10, MaxKeys: 50,
	Long: "cook less", Deep: "keep it flat", Empty: "is empty; cook something", Second: "a second recipe begins",
}

var testKeys = Keys{
	Names:   []string{"name", "minutes", "parts"},
	Words:   []Word{{"duration", "minutes"}, {"ingredients", "parts"}},
	Example: "name: soup",
}

// walk reads every node as what it is, and the root by its known keys.
func walk(d *Document, data []byte) error {
	root, ok := d.Parse(data)
	if !ok {
		return d.Err()
	}
	for _, e := range root.Mapping("the recipe", &testKeys) {
		if e.Key != "parts" {
			e.Value.Text(e.Key)
			continue
		}
		list, ok := e.Value.List()
		if !ok {
			e.Errorf("parts must be a list")
		}
		for _, n := range list {
			n.Text("a part")
		}
	}
	return d.Err()
}

func TestErrors(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"sound", "name: soup\nminutes: 5\nparts: [water, 1, true, .inf, 'x', \"y\"]\n", nil},
		{"braces", "{name: soup}", nil},
		{"one key", "name: soup", nil},
		{"comments and marker", "# soup\n---\nname: soup # good\n", nil},
		{"unknown keys", "nam: a\ndurations: 3\nwxyz: 1\n", []string{
			`f:1:1: unknown key "nam" in the recipe; did you mean name?`,
			`f:2:1: unknown key "durations" in the recipe; did you mean minutes (duration)?`,
			`f:3:1: unknown key "wxyz" in the recipe; the keys are name, minutes, parts`,
		}},
		{"long key", strings.Repeat("x", 60) + ": 1\n", []string{
			`f:1:1: unknown key "` + strings.Repeat("x", 40) + `..." in the recipe; the keys are name, minutes, parts`,
		}},
		{"twice", "name: a\n'name': b\n", []string{
			`f:2:1: key "name" is given twice in the recipe, first in line 1; keep one of them`,
		}},
		{"kinds", "name: [a]\nminutes:\n  a: b\nparts: 3\n", []string{
			"f:1:7: name is a list; give one value",
			"f:3:3: minutes is a mapping; give one value",
			"f:4:1: parts must be a list",
		}},
		{"no values", "name:\nminutes: ~\nparts: [a, ~, {b: c}]\n", []string{
			"f:1:6: name has no value; give one or leave the key out",
			"f:2:10: minutes has no value; give one or leave the key out",
			"f:3:12: a part has no value; give one or leave the key out",
			"f:3:15: a part is a mapping; give one value",
		}},
		{"no mapping", "- a\n", []string{`f:1:1: the recipe must be keys with values, as in "name: soup"`}},
		{"empty", " \n# nothing\n", []string{"f: is empty; cook something"}},
		{"two documents", "name: a\n---\nname: b\n", []string{"f:3:1: a second recipe begins"}},
		{"anchor", "name: &a x\n", []string{
			"f:1:7: anchors and aliases are not read in recipe files; write the value itself",
			"f:1:7: name must be one value",
		}},
		{"many aliases", "parts: [" + strings.Repeat("*a, ", 10) + "]\n", []string{
			"f:1:9: anchors and aliases are not read in recipe files; write the value itself",
		}},
		{"merge", "<<: {name: x}\n", []string{
			"f:1:1: anchors and aliases are not read in recipe files; write the value itself",
			`f:1:1: unknown key "<<" in the recipe; the keys are name, minutes, parts`,
		}},
		{"tag", "name: !!str x\n", []string{
			"f:1:7: YAML tags and directives are not read in recipe files; leave them out",
			"f:1:7: name must be one value",
		}},
		{"marked key", "? name\n: x\n", []string{
			`f:1:1: keys marked with a question mark are not read in recipe files; write "key: value"`,
			`f:1:1: unknown key "?" in the recipe; the keys are name, minutes, parts`,
		}},
		{"deep brackets", strings.Repeat("[", 9), []string{"f:1:9: lists are nested more than 8 deep; keep it flat"}},
		{"deep dashes", strings.Repeat("- ", 9), []string{"f:1:17: lists are nested more than 8 deep; keep it flat"}},
		{"many keys", strings.Repeat("a: 1\n", 51), []string{"f:51:2: has more than 50 keys; a recipe needs far fewer"}},
		{"many lines", strings.Repeat("\n", 4001), []string{"f: has 4001 lines, more than the limit of 4000; cook less"}},
		{"large", strings.Repeat("#", 20000), []string{"f: has 20000 bytes of YAML, more than the limit of 16384; cook less"}},
		{"not UTF-8", "name: \xff", []string{"f:1:7: is not UTF-8 text; save it as UTF-8"}},
		{"zero byte", "name: \x00", []string{"f: holds a zero byte; a recipe file is YAML text"}},
		{"syntax", "name: [1\n", []string{"f:1:7: sequence end token ']' not found"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := walk(New("f", &testRules), []byte(tc.text))
			if tc.want == nil {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(tc.want, strings.Split(err.Error(), "\n")); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestShortForms(t *testing.T) {
	rules := testRules
	rules.PlainKeys, rules.LinesOnly = true, true
	d := New("f", &rules)
	root, ok := d.Parse([]byte("{x: 1, name: a, name: b}"))
	if !ok {
		t.Fatal(d.Err())
	}
	root.Mapping("", &testKeys)
	const want = "f:1: unknown key \"x\"; the keys are name, minutes, parts\n" +
		"f:1: key name is given twice, first in line 1; keep one of them"
	if err := d.Err(); err == nil || err.Error() != want {
		t.Errorf("error:\n%v\nwant:\n%s", err, want)
	}
}

// Scalars are the text in the file, without quotes.
func TestValues(t *testing.T) {
	const text = "a: 0x1F\nb: 1_000\nc: 1.50\nd: True\ne: \"x\\ty\"\nf: 'it''s'\ng: |\n  two\n  lines\nh: 2KiB\ni: .nan\n"
	want := map[string]string{"a": "0x1F", "b": "1_000", "c": "1.50", "d": "True", "e": "x\ty", "f": "it's", "g": "two\nlines\n", "h": "2KiB",
		"i": ".nan"}
	for _, text := range []string{text, strings.ReplaceAll(text, "\n", "\r\n"), strings.ReplaceAll(text, "\n", "\r"), "\ufeff" + text} {
		d := New("f", &testRules)
		root, ok := d.Parse([]byte(text))
		if !ok {
			t.Fatal(d.Err())
		}
		entries, ok := root.Entries()
		if !ok || root.Kind() != Mapping {
			t.Fatalf("the root is of kind %d, want a mapping", root.Kind())
		}
		got := map[string]string{}
		for i, e := range entries {
			got[e.Key], _ = e.Value.Text(e.Key)
			if value, ok := e.Value.Bool(); ok != (e.Key == "d") || value != ok {
				t.Errorf("Bool of %s = %t, %t", e.Key, value, ok)
			}
			if line := i + 1; i < 7 && e.At != (Place{line, 1}) {
				t.Errorf("%s is at %v, want line %d", e.Key, e.At, line)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || d.Err() != nil {
			t.Errorf("%v; want -, got +:\n%s", d.Err(), diff)
		}
	}
}

// Lines that a reader has taken out count in all places.
func TestCutLines(t *testing.T) {
	d := New("f", &testRules)
	d.CutLines(1, 100)
	err := walk(d, []byte("name: a\nminutes: 1\nminutes: 2\nparts: [x\n"))
	if want := "f:104:8: sequence end token ']' not found"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	d = New("f", &testRules)
	d.CutLines(1, 100)
	err = walk(d, []byte("name: a\nminutes: 1\nminutes: 2\n"))
	if want := `f:103:1: key "minutes" is given twice in the recipe, first in line 102; keep one of them`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// Mistakes are reported in the order of their places, the first ones only.
func TestErrorList(t *testing.T) {
	d := New("f", &testRules)
	for i := range 25 {
		d.Errorf(Place{Line: 30 - i}, "mistake %d", i)
	}
	d.Errorf(Place{}, "all is wrong")
	err := d.Err()
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != MaxShown+1 || lines[0] != "f: all is wrong" || lines[1] != "f:6: mistake 24" ||
		lines[MaxShown] != "f: and 6 more errors" {
		t.Errorf("error:\n%v", err)
	}
	first := (*Error)(nil)
	if !errors.As(fmt.Errorf("wrapped: %w", err), &first) || first.Message != "all is wrong" {
		t.Errorf("the first mistake = %v", first)
	}
}

// FuzzParse: whatever a text holds, it is walked to its ends, and every mistake has a message and a
// place in the text.
func FuzzParse(f *testing.F) {
	f.Add("name: soup\nminutes: 5\nparts: [water, {a: [b, ~]}, 'c']\n")
	f.Add("a: &a [*a]\n<<: *a\n")
	f.Add("? x\n: !!int y\n---\n- - - z\n")
	f.Add("note: |\n  a\n\n  b\n? [a, b]: {c: }\n")
	f.Fuzz(func(t *testing.T, text string) {
		d := New("f", &testRules)
		lines := strings.Count(string(Clean([]byte(text))), "\n") + 1
		if root, ok := d.Parse([]byte(text)); ok {
			walkAll(t, root, lines)
			root.Mapping("the recipe", &testKeys)
		} else if d.Err() == nil {
			t.Fatal("neither a root nor an error")
		}
		for _, e := range d.Errors {
			if e.Message == "" || e.Line < 0 || e.Line > lines {
				t.Errorf("mistake %q in line %d of %d", e.Message, e.Line, lines)
			}
		}
	})
}

func walkAll(t *testing.T, n Node, lines int) {
	if n.At.Line > lines {
		t.Fatalf("a node in line %d of %d", n.At.Line, lines)
	}
	_, scalar := n.Scalar()
	list, isList := n.List()
	entries, isMapping := n.Entries()
	if kind := n.Kind(); scalar != (kind == Scalar) || isList != (kind == List) || isMapping != (kind == Mapping) {
		t.Fatalf("kind %d, but scalar %t, list %t, mapping %t", kind, scalar, isList, isMapping)
	}
	for _, v := range list {
		walkAll(t, v, lines)
	}
	for _, e := range entries {
		walkAll(t, e.Value, lines)
	}
}
