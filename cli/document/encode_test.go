package document

import (
	"encoding/json"
	"errors"
	"fmt"
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

// percent writes itself as a number, word as a text, pair as what JSONValue returns.
type (
	percent int
	word    int
	pair    struct{ a, b unit.Duration }
	failing struct{}
)

func (p percent) MarshalJSON() ([]byte, error) {
	return []byte(`{ "percent" : ` + fmt.Sprint(int(p)) + ` }`), nil
}
func (w word) MarshalText() ([]byte, error)  { return []byte(strings.Repeat("x", int(w))), nil }
func (p pair) JSONValue() any                { return []unit.Duration{p.a, p.b} }
func (failing) MarshalJSON() ([]byte, error) { return nil, errors.New("cannot be written") }

// A value that can be missing is written like one that cannot, and a value of another form as that form, in the unit of its key.
func TestForms(t *testing.T) {
	d, zero := unit.Duration(1_500_000), unit.Duration(0)
	for _, tc := range []struct {
		value any
		want  string
	}{
		{struct {
			T *unit.Duration `json:"t_ns"`
			U *unit.Duration `json:"u_s"`
			V *unit.Duration `json:"v_ps,omitempty"`
		}{&d, &zero, nil}, `{"t_ns":1500,"u_s":0}`},
		{struct {
			T any `json:"t_ns"`
			U any `json:"u_s"`
		}{d, nil}, `{"t_ns":1500,"u_s":null}`},
		{struct {
			T unit.Duration `json:"seconds"`
			U unit.Duration `json:"first" unit:"ps"`
		}{d, d}, `{"seconds":0.0000015,"first":1500000}`},
		{struct {
			P pair `json:"p_ns"`
			Q pair `json:"q_s"`
		}{pair{d, 1}, pair{d, 0}}, `{"p_ns":[1500,0.001],"q_s":[0.0000015,0]}`},
		{struct {
			M map[string]unit.Duration `json:"m_ns"`
			L [2]unit.Duration         `json:"l_s"`
			N []unit.Duration          `json:"n_ns"`
			O []*unit.Duration         `json:"o_ns"`
		}{map[string]unit.Duration{"b": d, "a": 1}, [2]unit.Duration{d, 0}, nil, []*unit.Duration{&d, nil}},
			`{"m_ns":{"a":0.001,"b":1500},"l_s":[0.0000015,0],"n_ns":[],"o_ns":[1500,null]}`},
		{struct {
			P percent
			W word
			Q *percent
		}{5, 3, nil}, `{"P":{"percent":5},"W":"xxx","Q":null}`},
		{Members[unit.Duration]{{"a_ns", d}, {"b_s", d}}, `{"a_ns":1500,"b_s":0.0000015}`},
	} {
		got := strings.NewReplacer("\n", "", " ", "").Replace(written(t, tc.value))
		if got != tc.want {
			t.Errorf("%+v: %s, want %s", tc.value, got, tc.want)
		}
	}
}

// What a document cannot hold is an error, wherever it is.
func TestErrors(t *testing.T) {
	for name, value := range map[string]any{
		"a time without a unit":        unit.Duration(1),
		"in a list":                    []any{1, unit.Duration(1)},
		"in a map":                     map[string]any{"a": math.NaN()},
		"in a struct in a list":        []any{struct{ X float64 }{math.Inf(-1)}},
		"in members":                   Members[float64]{{"a", math.NaN()}},
		"a function":                   func() {},
		"a value that cannot":          struct{ F failing }{},
		"a pointer to one that cannot": &failing{},
	} {
		var b strings.Builder
		if err := Write(&b, value); err == nil || b.Len() > 0 {
			t.Errorf("%s: error %v, written %q; want an error and nothing", name, err, b.String())
		}
	}
}

// Numbers keep all their digits: the largest whole numbers, and fractions as short as they can be read back.
func TestNumbers(t *testing.T) {
	got := written(t, []any{int64(math.MaxInt64), int64(math.MinInt64), uint64(math.MaxUint64), 0.1, 1e21, 5e-324, float32(0.1), int8(-1)})
	if want := "[9223372036854775807,-9223372036854775808,18446744073709551615,0.1,1e+21,5e-324,0.1,-1]\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Names keep arrows and brackets; what is not UTF-8 becomes readable, as in encoding/json.
func TestNames(t *testing.T) {
	got := written(t, Members[int]{{"main->solve<T>&", 1}, {"a\nb", 2}, {"\xff", 3}, {"", 4}})
	if want := "{\n  \"main->solve<T>&\": 1,\n  \"a\\nb\": 2,\n  \"\\ufffd\": 3,\n  \"\": 4\n}\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// omitzero asks the type, omitempty looks at the length; a pointer to zero is neither.
func TestOmitted(t *testing.T) {
	zero := 0
	type all struct {
		Time  time.Time         `json:"time,omitzero"`
		Inner inner             `json:"inner,omitzero"`
		Empty inner             `json:"empty,omitempty"`
		List  []int             `json:"list,omitempty"`
		Map   map[string]int    `json:"map,omitempty"`
		Text  string            `json:"text,omitempty"`
		Ref   *int              `json:"ref,omitempty"`
		Nil   *int              `json:"nil,omitempty"`
		Yes   bool              `json:"yes,omitempty"`
		D     unit.Duration     `json:"d_ns,omitempty"`
		Pairs map[string]string `json:"-"`
	}
	got := strings.NewReplacer("\n", "", " ", "").Replace(written(t, all{List: []int{}, Map: map[string]int{}, Ref: &zero}))
	if want := `{"empty":{"x":0},"ref":0}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The members of an embedded struct are those of the outer one; without it they are missing.
func TestEmbedded(t *testing.T) {
	type outer struct {
		First int `json:"first"`
		*inner
		Last int `json:"last"`
	}
	for _, tc := range []struct {
		value outer
		want  string
	}{{outer{1, &inner{2, 3}, 4}, `{"first":1,"x":2,"y":3,"last":4}`}, {outer{First: 1}, `{"first":1,"last":0}`}} {
		if got := strings.NewReplacer("\n", "", " ", "").Replace(written(t, tc.value)); got != tc.want {
			t.Errorf("%s, want %s", got, tc.want)
		}
	}
	type same struct { // as encoding/json has it: the own member, once
		X string `json:"x"`
		inner
	}
	if got, want := strings.NewReplacer("\n", "", " ", "").Replace(written(t, same{"own", inner{2, 3}})), `{"x":"own","y":3}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
