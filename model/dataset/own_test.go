package dataset_test

import (
	"strings"
	"testing"

	"slackline/model/dataset"
)

func TestReadOwn(t *testing.T) {
	checkReading(t, "slackline", []reading{
		{name: "units",
			input: `{"slackline_dataset":1,"parameters":["p"],"series":[{"callpath":"f","metric":"t","unit":"s","points":[{"at":[1],"values":[2]}]}]}`,
			want:  "p\nf t [s] [1]=[2]"},
		{name: "series before the parameters",
			input: `{"slackline_dataset":1,"series":[{"callpath":"f","metric":"t","points":[{"at":[1],"values":[2]}]}],"parameters":["p"],"provenance":{"x":[1]}}`,
			want:  "p\nf t [1]=[2]"},
		{name: "a series without values is not there",
			input: `{"slackline_dataset":1,"parameters":["p"],"series":[{"callpath":"f","metric":"t","points":[{"at":[1],"values":[2]}]},{"callpath":"g","metric":"t","points":[]}]}`,
			want:  "p\nf t [1]=[2]"},
		{name: "a series twice",
			input: `{"slackline_dataset":1,"parameters":["p"],"series":[{"callpath":"f","metric":"t","unit":"s","points":[{"at":[1],"values":[2]}]},
{"callpath":"f","metric":"t","unit":"s","points":[{"at":[2],"values":[3]}]}]}`,
			want: "p\nf t [s] [1]=[2] [2]=[3]"},
		{name: "in two units",
			input: `{"slackline_dataset":1,"parameters":["p"],"series":[{"callpath":"f","metric":"t","unit":"s","points":[{"at":[1],"values":[2]}]},
{"callpath":"f","metric":"t","unit":"ms","points":[{"at":[2],"values":[3]}]}]}`,
			want: "x: f t has values in s and in ms; give all of them in one unit", bad: true},
		{name: "a newer version", input: `{"slackline_dataset":2,"parameters":["p"],"series":[]}`, want: "x:1:", bad: true},
		{name: "version 0", input: `{"slackline_dataset":0,"parameters":["p"],"series":[]}`, want: "x:1:", bad: true},
		{name: "a point of another dimension",
			input: "{\"slackline_dataset\":1,\"parameters\":[\"p\"],\"series\":[\n" +
				"{\"callpath\":\"f\",\"metric\":\"t\",\"points\":[{\"at\":[1,2],\"values\":[2]}]}]}",
			want: "x:2:", bad: true},
		{name: "no series", input: `{"slackline_dataset":1,"parameters":["p"]}`, want: "x:", bad: true},
	})
}

// The keys of the file are a contract; names are not escaped for HTML.
func TestWriteJSON(t *testing.T) {
	d := dataset.New("p")
	d.Get("main->f", "time").Add([]float64{4}, 1, 0.1)
	d.Series[0].Unit = "s"
	var b strings.Builder
	if err := d.WriteJSON(&b, map[string]int{"seed": 1}); err != nil {
		t.Fatal(err)
	}
	want := `{"slackline_dataset":1,"parameters":["p"],"series":[{"callpath":"main->f","metric":"time","unit":"s","points":[{"at":[4],"values":[1,0.1]}]}],"provenance":{"seed":1}}` + "\n"
	if b.String() != want {
		t.Errorf("JSON = %s, want %s", b.String(), want)
	}
	b.Reset()
	empty := dataset.New()
	empty.Get("f", "t").Add(nil, 1)
	if err := empty.WriteJSON(&b, nil); err != nil {
		t.Fatal(err)
	}
	if back, _, err := dataset.Read("x", []byte(b.String()), ""); err != nil || text(back) != text(empty) {
		t.Errorf("a dataset without parameters read again: %v, %v", back, err)
	}
}
