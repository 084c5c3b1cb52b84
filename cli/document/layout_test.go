package document

import (
	"strings"
	"testing"
)

func TestLayout(t *testing.T) {
	long := strings.Repeat("x", lineWidth)
	for _, tc := range []struct {
		value any
		want  string
	}{
		{Members[any]{}, "{}\n"},
		{Members[any]{{"a", []int{1, 2, 3}}}, "{\n  \"a\": [1,2,3]\n}\n"},
		{Members[any]{{"a", Members[any]{{"b", 1}, {"c", []string{"[", "}"}}}}}, "{\n  \"a\": {\"b\": 1, \"c\": [\"[\",\"}\"]}\n}\n"},
		{[]any{Members[any]{{"a", 1}}, Members[any]{{"a", long}}}, "[\n  {\"a\": 1},\n  {\n    \"a\": \"" + long + "\"\n  }\n]\n"},
		{Members[any]{{"a\"b", "c\\"}}, "{\n  \"a\\\"b\": \"c\\\\\"\n}\n"},
	} {
		if got := written(t, tc.value); got != tc.want {
			t.Errorf("got\n%s\nwant\n%s", got, tc.want)
		}
	}
}

// A list or an object is on one line if it fits, with its indentation, into the width; the outermost one never is.
func TestLineWidth(t *testing.T) {
	for _, tc := range []struct {
		letters int
		oneLine bool
	}{{lineWidth - 10, true}, {lineWidth - 9, false}} { // {"b":"..."} at depth 1 needs 8 letters besides, and 2 of indentation
		text := strings.Repeat("x", tc.letters)
		got := written(t, Members[any]{{"a", Members[any]{{"b", text}}}})
		want := "{\n  \"a\": {\"b\": \"" + text + "\"}\n}\n"
		if !tc.oneLine {
			want = "{\n  \"a\": {\n    \"b\": \"" + text + "\"\n  }\n}\n"
		}
		if got != want {
			t.Errorf("%d letters:\n%s\nwant\n%s", tc.letters, got, want)
		}
	}
	long := make([]int, 500)
	if got := written(t, Members[any]{{"a", long}}); strings.Count(got, "\n") != 3 {
		t.Errorf("a long list of numbers is on %d lines, want one in an object", strings.Count(got, "\n")-2)
	}
	if got, want := written(t, []any{[]int{1}, []int{2, 3}}), "[\n  [1],\n  [2,3]\n]\n"; got != want {
		t.Errorf("lists of lists\n%s\nwant\n%s", got, want)
	}
}
