package kineto

import (
	"testing"
)

func TestMicros(t *testing.T) {
	for text, want := range map[string][3]int64{
		"5000000207.123": {5000000207, 123000, 1}, "1790862026000000": {1790862026000000, 0, 1}, "0.0000019": {0, 1, 1}, `"12.5"`: {12, 500000, 1},
		"-0.25": {-1, 750000, 1}, "-3": {-3, 0, 1}, "1.5e3": {1500, 0, 1}, "25e-1": {2, 500000, 1}, "1e400": {}, "": {}, "x": {},
		"-": {}, "1e": {},
		"99999999999999999999": {},
	} {
		us, ps, ok := micros([]byte(text))
		if want == [3]int64{} {
			if ok {
				t.Errorf("micros(%s) = %d, %d, want none", text, us, ps)
			}
		} else if !ok || us != want[0] || ps != want[1] {
			t.Errorf("micros(%s) = %d, %d, %v, want %d, %d", text, us, ps, ok, want[0], want[1])
		}
	}
}

// Names, colons and commas of an object are where JSON has them: a number of which the start is cut off together with its colon would be
// another number.
func TestMembers(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "", `{ "a" : 1 ,"b":[1,{}]}`: `a=1 b=[1,{}] `, `{"":"x"}`: `="x" `,
		`{"a"1}`:                        "expected a colon after the name of a member, got '1'",
		`{"a"::1}`:                      "unexpected ':'",
		`{"a":1 "b":2}`:                 "expected a comma between members, got '\"'",
		`{"a":1,,"b":2}`:                "expected the name of a member, got ','",
		`{,"a":1}`:                      "expected the name of a member, got ','",
		`{"a":1,}`:                      "expected the name of a member, got '}'",
		`{"a":NaN,"b":-1.5e3,"c":true}`: "a=NaN b=-1.5e3 c=true ",
		`{"a":nan}`:                     `"nan" is not a value`,
		`{"a":1_000}`:                   `"1_000" is not a value`,
		"{\"a\x00\":1}":                 errZeroByte.Error(),
		"{\"a\":\"0123456789012345678901234567890\x00\"}": errZeroByte.Error(),
		"{\"a\"\x00:1}":   "expected a colon after the name of a member, got '\\x00'",
		"{\"a\rb\":1}":    `a control character in the name of a member: "a\rb"`,
		`{"a":1, "b"`:     errJSONCut.Error(),
		`{"a":1, "b": 2 `: errJSONCut.Error(),
	} {
		got := ""
		if err := members([]byte(text), func(key, v []byte) error {
			got += string(key) + "=" + string(v) + " "
			return nil
		}); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
