package measure

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"slackline/cli/env"
	"slackline/observe/measure"
)

// TestLongMeasurementSaysSo wants to know how long a measurement takes, once, if that is longer than a minute.
func TestLongMeasurementSaysSo(t *testing.T) {
	for _, tc := range []struct {
		name    string
		elapsed time.Duration
		done    int
		want    string
	}{
		{"first sizes", time.Second, 3, ""},
		{"long before the end of the first round", 40 * time.Second, 5, "all 2 rounds will take at least 3 min"},
		{"short round", 20 * time.Second, 10, ""},
		{"long round", 40 * time.Second, 10, "all 2 rounds will take about 80 s"},
	} {
		var errs bytes.Buffer
		a := env.New(nil, nil, nil, &errs)
		r := &measuredNetwork{options: &measure.NetworkOptions{Sizes: make([]int, 10), Rounds: 2}}
		r.begin = time.Now().Add(-tc.elapsed)
		r.progress(a, "ranks 0 and 1")
		r.options.Progress(tc.done, 20)
		r.options.Progress(tc.done, 20)
		if got := errs.String(); strings.Count(got, "rounds will take") != min(len(tc.want), 1) || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q once", tc.name, got, tc.want)
		}
	}
}
