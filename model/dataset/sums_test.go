package dataset

import (
	"strings"
	"testing"
)

// TestCheckSums: records of a result of waits or profile that are there twice or were lost.
func TestCheckSums(t *testing.T) {
	const waits = `{"waits":[{"metric":"late_sender","rank":0,"callpath":"a","seconds":0.1},` +
		`{"metric":"late_sender","rank":1,"callpath":"a","seconds":0.2},{"metric":"omp_idle","rank":1,"callpath":"a","seconds":3}],` +
		`"delays":[{"rank":0,"callpath":"a","short_s":0.1,"long_s":0},{"rank":1,"callpath":"a","short_s":0.2,"long_s":3}],` +
		`"totals":{"waiting_s":3.3,"delay_s":3.3,"by_metric":{"late_sender":0.3,"omp_idle":3}},` +
		`"run":{"ranks":2,"time_s":9},"callpaths":[{"callpath":"a","exclusive_s":9}]}`
	const profile = `{"run":{"ranks":2,"time_s":9},"composition":[{"kind":"computation","name":"computation","seconds":7.3},` +
		`{"kind":"outside","name":"outside","seconds":5},{"kind":"not_recorded","name":"not_recorded","seconds":2},` +
		`{"kind":"waiting","name":"omp_idle","seconds":3},{"kind":"waiting","name":"late_sender","seconds":0.3}],` +
		`"callpaths":[{"callpath":"a","exclusive_s":7},{"callpath":"b","exclusive_s":0.6}],` +
		`"waits":[{"metric":"late_sender","rank":0,"callpath":"a","seconds":0.3},{"metric":"omp_idle","rank":1,"callpath":"a","seconds":3},` +
		`{"metric":"device_wait","stream":"s","rank":1,"callpath":"a","seconds":3}]}`
	for _, tc := range []struct{ text, old, new, want string }{
		{waits, "", "", ""},
		{waits, `{"metric":"late_sender","rank":1`, `{"metric":"late_sender","rank":0`,
			"x:1: waits 1 and 2 (from 1) both are those of late_sender in a on rank 0"},
		{waits, `{"metric":"late_sender","rank":1,"callpath":"a","seconds":0.2},`, "",
			"the waits of late_sender are 0.1 s together, but totals.by_metric says 0.3 s: is the file damaged?"},
		{waits, `,"omp_idle":3`, "", "the waits of omp_idle are 3 s together, but totals.by_metric says 0 s"},
		{waits, `,{"metric":"omp_idle","rank":1,"callpath":"a","seconds":3}`, "", "omp_idle are 0 s together, but totals.by_metric says 3 s"},
		{waits, `{"rank":1,"callpath":"a","short_s":0.2,"long_s":3}`, `{"rank":0,"callpath":"a","short_s":0.2,"long_s":3}`,
			"delays 1 and 2 (from 1) both are those of delay in a on rank 0"},
		{waits, `"long_s":3`, `"long_s":2`, "the delays are 2.3 s together, but totals.delay_s says 3.3 s"},
		{profile, "", "", ""},
		{profile, `,{"callpath":"b","exclusive_s":0.6}`, "",
			"x:1: the call paths take 7 s together, but the composition says 7.6 s: is the file damaged?"},
		{profile, `{"metric":"omp_idle","rank":1,"callpath":"a","seconds":3},`, "",
			"the waits of omp_idle are 0 s together, but the composition says 3 s"},
		{profile, `,{"kind":"waiting","name":"late_sender","seconds":0.3}`, "",
			"the call paths take 7.6 s together, but the composition says 7.3 s"},
	} {
		text := strings.Replace(tc.text, tc.old, tc.new, 1)
		_, _, err := Read("x", []byte(text), "")
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("without %s: %v, want %q", tc.old, err, tc.want)
		}
	}
}
