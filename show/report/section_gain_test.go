package report_test

import "testing"

// Without network costs the run takes 36 us: 28 us in solve and 8 us in main on rank 0. With solve balanced, 18 us on each rank, it
// takes 26 us.
func TestGainSection(t *testing.T) {
	section := sectionOf(documentOf(t, inputOf(t, lateSender)), "gain")
	found := false
	for _, row := range rowsOf(t, section) {
		if len(row) > 4 && row[1] == "26000" && row[2] == "0.2777777777777778" && row[3] == "8000" && row[4] == "28000" {
			found = true
		}
	}
	if !found {
		t.Errorf("no change to 26 us, 10/36 less, from 8 and 28 us on the ranks; the rows are %q", rowsOf(t, section))
	}
}

// A run that cannot be simulated says why.
func TestNoGain(t *testing.T) {
	in := inputOf(t, lateSender)
	in.Runs[0].Program, in.Runs[0].NoProgram = nil, "the trace has no messages"
	for _, id := range []string{"gain", "tolerance"} {
		if s := sectionOf(documentOf(t, in), id); s.Missing == nil || s.Missing.Why != "the trace has no messages" {
			t.Errorf("section %s: missing = %+v, want the reason", id, s.Missing)
		}
	}
}
