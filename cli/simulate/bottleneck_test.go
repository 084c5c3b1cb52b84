package simulate

import (
	"slices"
	"strings"
	"testing"

	"slackline/analyze/whatif"
	"slackline/model/unit"
)

// six are six replicas: as few as an interval of their median needs, from the smallest to the largest.
func six(ranks int, slowest unit.Duration) whatif.Point {
	return whatif.Point{Ranks: ranks, Noiseless: 100, Samples: []unit.Duration{100, 100, 100, 100, 100, slowest}}
}

// Each outcome of a search in words: where the bottleneck is, how sure that is, and what would help.
func TestSentences(t *testing.T) {
	for _, tc := range []struct {
		name     string
		found    whatif.Found
		complete bool
		want     []string
	}{
		{"between two counts", whatif.Found{Ranks: 2048, Below: 1024}, true,
			[]string{"The median slowdown reaches 2.5 between 1,024 and 2,048 ranks."}},
		{"at the first count", whatif.Found{Ranks: 4}, true,
			[]string{"The median slowdown reaches 2.5 already at 4 ranks; nothing smaller was tried."}},
		{"nowhere", whatif.Found{Below: 4096}, true, []string{"The median slowdown stays below 2.5 up to 8,192 ranks."}},
		{"interrupted", whatif.Found{Below: 1}, false,
			[]string{"The median slowdown stays below 2.5 up to 1 rank; the search was not finished."}},
		{"with an interval", whatif.Found{Ranks: 8, Below: 4, Points: []whatif.Point{six(2, 200), six(4, 300), six(8, 400)}}, true,
			[]string{"The median slowdown reaches 2.5 between 4 and 8 ranks.",
				"95 % confidence of the median slowdown: 1 to 3 at 4 ranks, 1 to 4 at 8 ranks."}},
		{"too few replicas", whatif.Found{Ranks: 8, Points: []whatif.Point{{Ranks: 8, Noiseless: 1, Samples: []unit.Duration{9}}}}, true,
			[]string{"The median slowdown reaches 2.5 already at 8 ranks; nothing smaller was tried."}},
		{"no relief needed", whatif.Found{Below: 64, Relief: &whatif.Relief{JobSize: 64, Slowdown: 1.23456}}, true,
			[]string{"The median slowdown stays below 2.5 up to 8,192 ranks.",
				"At 64 ranks the median slowdown is 1.235: the noise need not shrink."}},
		{"either", whatif.Found{Below: 8, Relief: &whatif.Relief{JobSize: 64, Slowdown: 4, Needed: true,
			Length: whatif.Shrink{Factor: 0.25, Slowdown: 1.5}, Rate: whatif.Shrink{Factor: 0.5, Slowdown: 2}}}, true,
			[]string{"The median slowdown stays below 2.5 up to 8,192 ranks.",
				"At 64 ranks the median slowdown is 4. To stay below 2.5 there, either of these is enough:",
				"  lengths x 0.25 (detours shorter by a factor of 4): median slowdown 1.5",
				"  rate x 0.5 (detours rarer by a factor of 2): median slowdown 2"}},
		{"relief", whatif.Found{Ranks: 8, Relief: &whatif.Relief{JobSize: 64, Slowdown: 4, Needed: true,
			Length: whatif.Shrink{Factor: 0.25, Slowdown: 1.5}, Rate: whatif.Shrink{Above: 0.0001}}}, true,
			[]string{"The median slowdown reaches 2.5 already at 8 ranks; nothing smaller was tried.",
				"At 64 ranks the median slowdown is 4. To stay below 2.5 there:",
				"  lengths x 0.25 (detours shorter by a factor of 4): median slowdown 1.5", "  rate: no factor down to 0.0001 is enough"}},
	} {
		s := &searchResult{question: &whatif.Bottleneck{Threshold: 2.5, To: 8192}, found: &tc.found, complete: tc.complete}
		if got := s.sentences(); !slices.Equal(got, tc.want) {
			t.Errorf("%s:\n%s\nwant\n%s", tc.name, strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
		}
	}
}

// Sentences are wrapped to the width of the screen.
func TestBottleneckText(t *testing.T) {
	s := &searchResult{question: &whatif.Bottleneck{Threshold: 2, To: 1 << 20}, found: &whatif.Found{Ranks: 2048, Below: 1024}, complete: true}
	var b strings.Builder
	s.writeText(&b, 40)
	for _, line := range strings.Split(b.String(), "\n") {
		if len(line) > 40 {
			t.Errorf("a line of %d columns: %s", len(line), line)
		}
	}
	if got := strings.Join(strings.Fields(b.String()), " "); got != s.sentences()[0] {
		t.Errorf("%q, want %q", got, s.sentences()[0])
	}
}
