package document

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"slackline/model/unit"
)

type times struct {
	A unit.Duration   `json:"a_ns"`
	B unit.Duration   `json:"b_s"`
	C unit.Duration   `json:"c_ps"`
	D []unit.Duration `json:"d_ns"`
	E *unit.Duration  `json:"e_ns"`
	F unit.PerByte    `json:"f_ns"`
	G time.Duration   `json:"g_ns"`
	H time.Duration   `json:"seconds"`
}

func written(t *testing.T, value any) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, value); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The suffix of a key names the unit, and the value is exact.
func TestUnits(t *testing.T) {
	d := unit.Duration(1_234_567_890_123_456_789)
	got := written(t, times{A: d, B: d, C: d, D: []unit.Duration{1, 1000}, F: 18, G: 1500, H: 1500 * time.Millisecond})
	for _, want := range []string{
		`"a_ns": 1234567890123456.789`, `"b_s": 1234567.890123456789`, `"c_ps": 1234567890123456789`, `"d_ns": [0.001,1]`, `"e_ns": null`,
		`"f_ns": 0.000018`, `"g_ns": 1500`, `"seconds": 1.5`,
	} {
		if !strings.Contains(got, want+",") && !strings.Contains(got, want+"\n") {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if err := Write(&strings.Builder{}, struct{ T unit.Duration }{}); err == nil {
		t.Error("a time without a unit is written")
	}
}

type inner struct {
	X int `json:"x"`
	Y int `json:"y,omitempty"`
}

type everything struct {
	Text   string `json:"text"`
	Hidden int    `json:"-"`
	inner
	*times
	List  []inner        `json:"list"`
	Map   map[string]int `json:"map"`
	None  map[string]int `json:"none"`
	Any   any            `json:"any"`
	Zero  inner          `json:"zero,omitzero"`
	Float float64        `json:"float"`
	Small float64        `json:"small"`
	Whole uint64         `json:"whole"`
	Yes   bool           `json:"yes"`
	Array [2]string      `json:"array"`
}

// Without quantities the text is that of encoding/json, but for blanks.
func TestAsEncodingJSON(t *testing.T) {
	for _, value := range []any{
		everything{List: []inner{{1, 2}, {3, 0}}, Map: map[string]int{"b": 1, "a": 2}, Any: []any{1, "x", nil, 2.5},
			Text: "a -> \"b\" \u2028 [{"},
		everything{inner: inner{7, 8}, List: []inner{}, Any: &inner{1, 1}, Float: 1e30, Small: 1e-9, Whole: math.MaxUint64, Yes: true},
		[]int{1, 2}, "text", nil, map[int]string{10: "x", 9: "y"}, json.Number("1.50"), struct{}{}, []string{},
	} {
		var want strings.Builder
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(value); err != nil {
			t.Fatal(err)
		}
		var compact strings.Builder
		plain := strings.NewReplacer("\n", "", "  ", "", ", ", ",", ": ", ":")
		compact.WriteString(plain.Replace(written(t, value)))
		if compact.String() != plain.Replace(want.String()) {
			t.Errorf("got  %s\nwant %s", compact.String(), want.String())
		}
		if !json.Valid([]byte(written(t, value))) {
			t.Errorf("%s is not JSON", written(t, value))
		}
	}
}

func TestLists(t *testing.T) {
	got := written(t, struct {
		None  []int        `json:"none"`
		Order Members[int] `json:"order"`
	}{Order: Members[int]{{"b", 1}, {"a", 2}}})
	if want := "{\n  \"none\": [],\n  \"order\": {\"b\": 1, \"a\": 2}\n}\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestNotFinite(t *testing.T) {
	got := written(t, struct {
		X float64 `json:"x" nan:"null"`
		Y float64 `json:"y" nan:"null"`
	}{math.NaN(), 2})
	if want := "{\n  \"x\": null,\n  \"y\": 2\n}\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := Write(&strings.Builder{}, struct{ X float64 }{math.Inf(1)}); err == nil {
		t.Error("infinity is written")
	}
}
