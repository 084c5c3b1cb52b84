package explore

import (
	"fmt"
	"regexp"
	"testing"

	"slackline/analyze/profile"
	"slackline/show/figures"
)

// TestColorsAreThoseOfFigures wants the pages to show kinds of activity in the colors that figures have.
func TestColorsAreThoseOfFigures(t *testing.T) {
	data, err := pages.ReadFile("web/timeline/legend.js")
	if err != nil {
		t.Fatal(err)
	}
	for name, class := range map[string]struct {
		kind  profile.Kind
		class string
	}{
		"computation": {profile.Computation, "computation: ["}, "communication": {profile.PointToPoint, "communication: ["},
		"runtime": {profile.OpenMP, "runtime: ["}, "outside": {profile.Outside, "outside: rgb("},
	} {
		color := figures.KindColor(class.kind)
		for set, want := range map[string]string{"LIGHT": color.Light, "DARK": color.Dark} {
			first := fmt.Sprintf(`(?s)const %s = \{.*?%s"%s"`, set, regexp.QuoteMeta(class.class), want)
			if !regexp.MustCompile(first).Match(data) {
				t.Errorf("%s: legend.js does not begin %s of %s with %s", name, class.class, set, want)
			}
		}
	}
}
