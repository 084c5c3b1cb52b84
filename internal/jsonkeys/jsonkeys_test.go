package jsonkeys

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
		if err := Check([]byte(text), nil); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

type inner struct {
	Share float64 `json:"share,omitempty"`
	Ranks int     `json:"ranks"`
}

type result struct {
	Run *struct {
		Time *float64 `json:"time_s"`
		inner
		Inside int `json:"-"`
	} `json:"run"`
	Waits []struct {
		Path    string     `json:"callpath"`
		Seconds []*float64 `json:"seconds"`
	} `json:"waits"`
	ByName map[string]inner `json:"by_name"`
	Own    own              `json:"own"`
	Under  []*result        `json:"under"`
	At     []float64        `json:"at"`
}

// own decodes itself.
type own struct {
	Value int `json:"value"`
}

func (*own) UnmarshalJSON([]byte) error { return nil }

func TestDamaged(t *testing.T) {
	for text, want := range map[string]string{
		`{"run":{"time_s":1,"share":1,"ranks":2},"waits":[{"callpath":"a","seconds":[1]}]}`: "",
		`{"run":{"tiem_s":1}}`:                     `line 1: unknown key "tiem_s" in run; did you mean time_s?`,
		"{\"run\":{\"time_s\":1,\n\"shrae\":0.5}}": `line 2: unknown key "shrae" in run; did you mean share?`,
		`{"run":{"shar3s":0.5}}`:                   `line 1: unknown key "shar3s" in run; did you mean share?`,
		`{"run":{"scores":0.5}}`:                   "",
		`{"run":{"time_s":1,"time_ms":1}}`:         "", // of a later version
		`{"run":{"time_ms":1,"time_s":1}}`:         "",
		`{"run":{"time_s":1,"Time_s":2}}`:          `line 1: unknown key "Time_s" in run; did you mean time_s?`, // it would replace the other one
		`{"run":{"TIME_S":2}}`:                     `line 1: unknown key "TIME_S" in run; did you mean time_s?`,
		`{"rnu":{"time_s":1}}`:                     `line 1: unknown key "rnu"; did you mean run?`,
		`{"r":{"time_s":1}}`:                       "",
		`{"run":{"insidf":1,"inside":{"time":1}}}`: "",
		`{"waits":[{"callpath":"a","seconds":1},{"callpath":"a","second":1}]}`: `line 1: unknown key "second" in waits; did you mean seconds?`,
		`{"waits":[{"callpath":"a","sec\u006fndz":1}]}`:                        `line 1: unknown key "secondz" in waits; did you mean seconds?`,
		`{"later":{"tiem_s":1,"waitz":[{"second":1}]}}`:                        "",
		`{"later":[{"waitz":1}],"waits":[]}`:                                   "",
		`{"by_name":{"shrae":{"share":1},"ranks":{"share":1}}}`:                "",
		`{"by_name":{"shrae":{"shrae":1}}}`:                                    `line 1: unknown key "shrae" in by_name; did you mean share?`,
		`{"own":{"valeu":1}}`:                                                  "",
		`{"under":[{"under":[{"run":{"time":1}}]}]}`:                           `line 1: unknown key "time" in run; did you mean time_s?`,
		`{"at":[1],"by_name":[{"share":1}],"ta":5}`:                            "",
		`{"ta":5}`:                          `line 1: unknown key "ta"; did you mean at?`,
		`{"run":[{"time_s":{"time_s":1}}]}`: "",
		`{"run":{"` + strings.Repeat("x", 1000) + `":1}}`: "",
		`[{"rnu":1}]`: `line 1: unknown key "rnu"; did you mean run?`,
		`{"rnu":1`:    "",
		`"rnu":1}`:    "",
	} {
		got := ""
		if err := Check([]byte(text), &result{}); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// BenchmarkCheck checks a result of many waits.
func BenchmarkCheck(b *testing.B) {
	var text strings.Builder
	text.WriteString(`{"waits":[`)
	for i := range 10000 {
		fmt.Fprintf(&text, `{"metric":"late_sender","rank":%d,"callpath":"main/solve/MPI_Recv","seconds":0.00012345,"direct_s":0.0001,"count":7},`, i)
	}
	text.WriteString(`{}]}`)
	data := []byte(text.String())
	for name, into := range map[string]any{"keys=twice": nil, "keys=known": &result{}} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if err := Check(data, into); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
