package dataset_test

import (
	"testing"
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
