package dataset_test

import "testing"

// The readers of JSON report the line of a mistake, and leave nothing out silently.
func TestJSONMistakes(t *testing.T) {
	const head = "{\"slackline_dataset\":1,\"parameters\":[\"p\"],\"series\":[\n"
	checkReading(t, "slackline", []reading{
		{name: "null is a missing value",
			input: head + `{"callpath":"f","metric":"t","points":[{"at":[1],"values":[null,2]}]}]}`,
			want:  "p\nf t [1]=[2]", warnings: 1},
		{name: "numbers instead of lists",
			input: head + `{"callpath":"f","metric":"t","points":[{"at":1,"values":2}]}]}`, want: "p\nf t [1]=[2]"},
		{name: "a key twice", input: head + `{"callpath":"f","callpath":"g","metric":"t","points":[]}]}`, want: "x:2:", bad: true},
		{name: "an unknown key", input: head + `{"callpath":"f","metrik":"t","points":[]}]}`, want: "x:2:", bad: true},
		{name: "a text instead of a number",
			input: head + `{"callpath":"f","metric":"t","points":[{"at":[1],"values":["2"]}]}]}`, want: "x:2:", bad: true},
		{name: "a number instead of an object", input: head + "7]}", want: "x:2:", bad: true},
		{name: "too large for a number",
			input: head + `{"callpath":"f","metric":"t","points":[{"at":[1],"values":[1e400]}]}]}`, want: "x:2:", bad: true},
		{name: "syntax", input: head + "{callpath:1}]}", want: "x:2:", bad: true},
		{name: "cut off", input: head + `{"callpath":"f",`, want: "x:2:", bad: true},
		{name: "more after the end", input: head + "]}\n{}", want: "x:3:", bad: true},
	})
}
