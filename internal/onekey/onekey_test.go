package onekey

import (
	"fmt"
	"strings"
	"testing"
)

// many are members.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"k%d":%d,`, i, i)
	}
	return b.String()
}

func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"b":{"a":2,"c":["a","a",{"a":1},{"a":"a"}]},"c":"a"}`: "",
		`{"a":"b","b":"a","c":[],"d":{},"e":"c"}`:                     "",
		`["a","a"]`:             "",
		`"a"`:                   "",
		"{\"a\":1,\n\"a\":2}":   `line 2: the key "a" is there twice in one object`,
		`[{"b":[[{}]],"b":[]}]`: `line 1: the key "b" is there twice in one object`,
		`{"x":{"y":1},"z":[{"y":{"q":1},"k":true,"y":null}]}`:          `line 1: the key "y" is there twice in one object`,
		`{"a\"":1, "b\\":"\"a\":", "a\\\"":3, "a":{"":1}, "": {"":2}}`: "",
		`{"a":1, "\u0061" : 2}`:                                        `line 1: the key "a" is there twice in one object`,
		"{\"a\\\\\": 1,\n\"b\": 5,\n \"a\\\\\"\n: 1}":                  `line 3: the key "a\\" is there twice in one object`,
		"{" + many(40) + `"z":1}`:                                      "",
		"{" + many(40) + `"k3":1}`:                                     `line 1: the key "k3" is there twice in one object`,
		"{" + many(40) + `"k39":1}`:                                    `line 1: the key "k39" is there twice in one object`,
		"{" + many(15) + many(1) + "}":                                 `line 1: the key "k0" is there twice in one object`,
		"[{" + many(16) + `"x":{"k0":[]},"k15":1}]`:                    `line 1: the key "k15" is there twice in one object`,
		`{"a":"`:  "",
		`{"a":1,`: "",
		`}`:       "",
	} {
		got := ""
		if err := Check([]byte(text)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
