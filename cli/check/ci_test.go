package check

import (
	"encoding/xml"
	"testing"

	"slackline/analyze/scaling"
	"slackline/show/tables"
)

// Names that others wrote do not end a property or start a line of the log.
func TestEscapes(t *testing.T) {
	const name = "a%b:c,d;e]f\ng\rh"
	if got, want := githubText(name), "a%25b:c,d;e]f%0Ag%0Dh"; got != want {
		t.Errorf("githubText = %q, want %q", got, want)
	}
	if got, want := githubProperty(name), "a%25b%3Ac%2Cd;e]f%0Ag%0Dh"; got != want {
		t.Errorf("githubProperty = %q, want %q", got, want)
	}
	if got, want := azureProperty(name), "a%b:c,d%3Be%5Df%0Ag%0Dh"; got != want {
		t.Errorf("azureProperty = %q, want %q", got, want)
	}
	got := plainXML("a\x00\x1bb\n\uFFFE\xffc")
	if want := "a??b\n??c"; got != want {
		t.Errorf("plainXML = %q, want %q", got, want)
	}
	var back struct {
		Text string `xml:",chardata"`
	}
	data, err := xml.Marshal(struct {
		XMLName xml.Name `xml:"x"`
		Text    string   `xml:",chardata"`
	}{Text: got})
	if err != nil || xml.Unmarshal(data, &back) != nil || back.Text != got {
		t.Errorf("%s is read as %q, %v", data, back.Text, err)
	}
}

func TestSeverity(t *testing.T) {
	for _, tc := range []struct {
		outcome scaling.Outcome
		strict  bool
		want    string
	}{
		{scaling.Outcome{Verdict: scaling.Pass}, true, ""},
		{scaling.Outcome{Verdict: scaling.Fail}, false, "error"},
		{scaling.Outcome{Verdict: scaling.Inconclusive}, false, "warning"},
		{scaling.Outcome{Verdict: scaling.Skipped}, true, ""},
		{scaling.Outcome{Verdict: scaling.Fail, XFail: "known"}, true, ""},
		{scaling.Outcome{Verdict: scaling.Pass, XFail: "known"}, false, "warning"},
		{scaling.Outcome{Verdict: scaling.Pass, XFail: "known"}, true, "error"},
		{scaling.Outcome{Verdict: scaling.Fail, Litmus: true}, false, "warning"},
		{scaling.Outcome{Verdict: scaling.Skipped, Litmus: true}, false, ""},
	} {
		if got := severity(&tables.Verdict{Outcome: &tc.outcome}, tc.strict); got != tc.want {
			t.Errorf("%+v, strict %v: %q, want %q", tc.outcome, tc.strict, got, tc.want)
		}
	}
}
