package explore

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"slackline/analyze/profile"
	"slackline/show/figures"
)

// TestColorsAreThoseOfFigures wants the pages to show kinds of activity in the colors that figures have, and each kind of work to have a
// category with one.
func TestColorsAreThoseOfFigures(t *testing.T) {
	data, err := pages.ReadFile("web/timeline/legend.js")
	if err != nil {
		t.Fatal(err)
	}
	categories := kindCategories()
	for kind, class := range map[profile.Kind]string{
		profile.Computation: "computation", profile.PointToPoint: "communication", profile.OtherMPI: "communication",
		profile.OpenMP: "runtime", profile.Recording: "runtime", profile.NoCPU: "runtime", profile.Outside: "outside",
	} {
		i := slices.IndexFunc(categories, func(c Category) bool { return c.Kind == kind.String() })
		if i < 0 || categories[i].Class != class || categories[i].ID != int(kind) || categories[i].ID >= firstWait {
			t.Errorf("%s has the category %d of %+v, want one of %s", kind, i, categories, class)
			continue
		}
		color := figures.KindColor(kind)
		for set, want := range map[string]string{"LIGHT": color.Light, "DARK": color.Dark} {
			before := fmt.Sprintf(`(?s)const %s = \{[^}]*?\b%s: (?:rgb\(|\[)(?:"[^"]*", ){%d}"%s"`, set, class, categories[i].Slot, want)
			if !regexp.MustCompile(before).Match(data) {
				t.Errorf("%s: color %d of %s in %s of legend.js is not %s", kind, categories[i].Slot, class, set, want)
			}
		}
	}
}
