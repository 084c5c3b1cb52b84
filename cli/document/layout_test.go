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
