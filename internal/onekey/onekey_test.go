package onekey

import "testing"

func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"b":{"a":2,"c":["a","a",{"a":1},{"a":"a"}]},"c":"a"}`: "",
		`{"a":"b","b":"a","c":[],"d":{},"e":"c"}`:                     "",
		`["a","a"]`:             "",
		`"a"`:                   "",
		"{\"a\":1,\n\"a\":2}":   `line 2: the key "a" is there twice in one object`,
		`[{"b":[[{}]],"b":[]}]`: `line 1: the key "b" is there twice in one object`,
		`{"x":{"y":1},"z":[{"y":{"q":1},"k":true,"y":null}]}`: `line 1: the key "y" is there twice in one object`,
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
