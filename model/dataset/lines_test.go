package dataset_test

import (
	"strings"
	"testing"

	"slackline/model/dataset"
)

func TestReadLines(t *testing.T) {
	checkReading(t, "jsonl", []reading{
		{name: "parameters in another order",
			input: `{"params":{"p":1,"n":2},"value":3}` + "\n" + `{"params":{"n":2,"p":1},"value":4}` + "\n",
			want:  "p n\n<root> <default> [1 2]=[3 4]"},
		{name: "missing values", input: `{"params":{"p":1},"value":[null,4]}` + "\n", want: "p\n<root> <default> [1]=[4]", warnings: 1},
		{name: "a parameter is missing",
			input: `{"params":{"p":1,"n":2},"value":3}` + "\n" + `{"params":{"p":1},"value":4}` + "\n", want: "x:2:", bad: true},
		{name: "a parameter without a number", input: `{"params":{"p":null},"value":3}` + "\n", want: "x:1:", bad: true},
		{name: "an unknown key", input: `{"params":{"p":1},"value":3,"time":4}` + "\n", want: "x:1:", bad: true},
		{name: "no value", input: `{"params":{"p":1},"value":3}` + "\n\n" + `{"params":{"p":1}}` + "\n", want: "x:3:", bad: true},
		{name: "two objects in a line", input: `{"params":{"p":1},"value":3}{}` + "\n", want: "x:1:", bad: true},
	})
}

func TestWriteLines(t *testing.T) {
	d := dataset.New("p", `a"b`)
	d.Get("f", "time").Add([]float64{1, 2.5}, 3, 4)
	var b strings.Builder
	if err := d.WriteLines(&b); err != nil {
		t.Fatal(err)
	}
	if want := `{"params":{"p":1,"a\"b":2.5},"callpath":"f","metric":"time","value":[3,4]}` + "\n"; b.String() != want {
		t.Errorf("lines = %s, want %s", b.String(), want)
	}
}
