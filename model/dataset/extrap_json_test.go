package dataset_test

import (
	"strings"
	"testing"

	"slackline/model/dataset"
)

func TestReadExtraPJSON(t *testing.T) {
	checkReading(t, "extrap-json", []reading{
		{name: "call paths with different points", input: `{"parameters":["p"],"measurements":{
"f":{"time":[{"point":[1],"values":[1]},{"point":[2],"values":[2]}]},
"g":{"time":[{"point":[2],"values":[3]}]}}}`, want: "p\nf time [1]=[1] [2]=[2]\ng time [2]=[3]"},
		{name: "equal points are joined",
			input: `{"parameters":["p"],"measurements":{"f":{"time":[{"point":1,"values":1},{"point":1.0,"values":[2]}]}}}`,
			want:  "p\nf time [1]=[1 2]"},
		{name: "a point without values",
			input: `{"parameters":["p"],"measurements":{"f":{"time":[{"point":1,"values":[]},{"point":2,"values":[3]}]}}}`,
			want:  "p\nf time [2]=[3]", warnings: 1},
		{name: "a point without a place",
			input: "{\"parameters\":[\"p\"],\n\"measurements\":{\"f\":{\"time\":[{\"values\":[1]}]}}}", want: "x:2:", bad: true},
		{name: "an unknown key",
			input: "{\"parameters\":[\"p\"],\n\"measurements\":{\"f\":{\"time\":[{\"point\":1,\"valeus\":[1]}]}}}",
			want:  "x:2:", bad: true},
		{name: "measurements before bad parameters",
			input: "{\"measurements\":\n{\"f\":{\"time\":\n[{\"point\":[1,2],\"values\":[1]}]}},\n\"parameters\":[\"p\"]}",
			want:  "x:3:", bad: true},
		{name: "no parameters", input: `{"measurements":{}}`, want: "x:", bad: true},
	})
}

// The series of a call path are written together, whatever their order.
func TestWriteExtraPJSON(t *testing.T) {
	d := dataset.New("p")
	for _, name := range [][2]string{{"f", "time"}, {"g", "time"}, {"f", "bytes"}} {
		d.Get(name[0], name[1]).Add([]float64{2}, 1.5)
	}
	var b strings.Builder
	if err := d.WriteExtraPJSON(&b); err != nil {
		t.Fatal(err)
	}
	back, _, err := dataset.Read("x", []byte(b.String()), "extrap-json")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := text(back), "p\nf time [2]=[1.5]\nf bytes [2]=[1.5]\ng time [2]=[1.5]"; got != want {
		t.Errorf("dataset =\n%s\nwant\n%s", got, want)
	}
}
