package compare

import (
	"maps"
	"testing"

	"slackline/analyze/waits"
	"slackline/model/trace/tracetest"
)

// analyzed returns the waits of a run.
func analyzed(t *testing.T, text string) *waits.Result {
	t.Helper()
	r, err := waits.Analyze(t.Context(), tracetest.Timeline(t, text), waits.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestOf: the numbers of a run, worked out by hand from its trace.
func TestOf(t *testing.T) {
	got := Of(analyzed(t, tracetest.LateSender))
	want := map[Number]float64{
		{RunTime, ""}:                    40e-6,
		{Time, "main"}:                   (8 + 7) * 1e-6,
		{Time, "main/MPI_Barrier"}:       4e-6,
		{Time, "main/solve"}:             36e-6,
		{Time, "main/MPI_Send"}:          2e-6,
		{Time, "main/MPI_Recv"}:          23e-6,
		{Waiting, ""}:                    20e-6,
		{Waiting, "main/MPI_Recv"}:       20e-6,
		{"late_sender", "main/MPI_Recv"}: 20e-6,
		{Delay, "main/solve"}:            20e-6,
	}
	if !maps.Equal(got.Values, want) {
		t.Errorf("%v, want %v", got.Values, want)
	}
	if got.Kinds != Times|Waits|Delays {
		t.Errorf("kinds %b", got.Kinds)
	}
}

// TestReadKinds: what a document does not list was not measured; an empty list says that there is none.
func TestReadKinds(t *testing.T) {
	for text, want := range map[string]Kinds{
		`{"run": {"time_s": 1}}`:                                                                                0,
		`{"run": {"time_s": 1}, "waits": []}`:                                                                   Waits,
		`{"run": {"time_s": 1}, "waits": null, "delays": []}`:                                                   Delays,
		`{"run": {"time_s": 1}, "waits": [], "delays": [], "totals": {"forward": true}}`:                        Waits,
		`{"run": {"time_s": 0}, "callpaths": []}`:                                                               Times,
		`{"run": {"time_s": 1}, "waits": [], "delays": [], "callpaths": [{"callpath": "f", "exclusive_s": 1}]}`: Times | Waits | Delays,
		`{"provenance": {"version": "0.1"}, "run": {"time_s": 1, "ranks": 1e9}}`:                                0,
	} {
		if r, err := Read([]byte(text)); err != nil || r.Kinds != want {
			t.Errorf("%s: kinds %b, %v; want %b", text, r.Kinds, err, want)
		}
	}
	for _, text := range []string{`{"run": {"time_s": 1}, "waits": [{"metric": "late_sender", "callpath": "a"}]}`,
		`{"run": {"time_s": 1, "not_recorded_shra": 0.5}}`, `{"run": {"time_s": 1}, "callpahts": []}`, `{"run": {"time_s": 1, "Time_s": 2}}`,
		`{"run": {"time_s": 1}, "delays": [{"callpath": "a", "short_s": 1}]}`, `{"run": {"time_s": 1}, "callpaths": [{"callpath": "a"}]}`,
		`{"run": {"time_s": 1}, "callpaths": [{"callpath": "a", "exclusive_s": -1}]}`, `{"run": {"time_s": -1}}`,
		`{"run": {"time_s": 1, "incomplete_ranks": -1}}`, `{"run": {"time_s": 1, "not_recorded_share": -0.5}}`,
		`{"run": {"time_s": 1, "part_end_s": -2}}`, `{"run": {"time_s": 1, "kept_before_s": -2}}`,
		`{"run": {"time_s": 1}, "waits": [{"metric": "late_sneder", "callpath": "a", "seconds": 1}]}`,
		`{"run": {"time_s": 1}, "waits": [{"metric": "waiting", "callpath": "a", "seconds": 1}]}`,
		`{"run": {"time_s": 1}, "delays": [{"callpath": "a", "short_s": 1e308, "long_s": 0}, {"callpath": "a", "short_s": 1e308, "long_s": 0}]}`,
		`{"run": {"time_s": 1}, "callpaths": [{"callpath": "a", "exclusive_s": 1e308}, {"callpath": "a", "exclusive_s": 1e308}]}`,
		`{"run": {"time_s": 1}, "waits": [], "totals": {"by_metric": {"nxn": 1}}}`, // of which the waits were lost
		`{"run": {"time_s": "1"}}`, `{"run": null}`, `{"run": {"time_s": null}}`, `null`, ``, `{"waits": []}`} {
		if _, err := Read([]byte(text)); err == nil {
			t.Errorf("%q is taken for a result", text)
		}
	}
}

// TestReadTwice: a call path that is listed twice, as by a merge of two files, is an error with its place; its times were added up.
func TestReadTwice(t *testing.T) {
	_, err := Read([]byte(`{"run": {"time_s": 1}, "callpaths": [{"callpath": "a", "exclusive_s": 8}, {"callpath": "b", "exclusive_s": 1},
		{"callpath": "a", "exclusive_s": 16}]}`))
	if want := "the call path a is in callpaths twice (entries 1 and 3, from 1): write the result again"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestReadSums: several waits of a call path, those of its ranks, are one number.
func TestReadSums(t *testing.T) {
	r, err := Read([]byte(`{"run": {"time_s": 1},
		"waits": [{"metric": "late_sender", "callpath": "a", "seconds": 1}, {"metric": "late_sender", "callpath": "a", "seconds": 2},
			{"metric": "late_sender_wrong_order", "callpath": "a", "seconds": 3}, {"metric": "late_receiver", "callpath": "b", "seconds": 4}],
		"callpaths": [{"callpath": "a", "exclusive_s": 24}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[Number]float64{
		{RunTime, ""}: 1, {"late_sender", "a"}: 3, {"late_sender_wrong_order", "a"}: 3, {"late_receiver", "b"}: 4,
		{Waiting, "a"}: 3, {Waiting, "b"}: 4, {Waiting, ""}: 7, {Time, "a"}: 24,
	}
	if !maps.Equal(r.Values, want) {
		t.Errorf("%v, want %v", r.Values, want)
	}
}

// TestKindOf: of each metric it is known which runs have measured it.
func TestKindOf(t *testing.T) {
	for metric, want := range map[string]Kinds{
		Time: Times, Delay: Delays, Waiting: Waits, "late_sender": Waits, "late_sender_wrong_order": Waits, RunTime: 0, UsefulTime: 0,
		Instructions: 0, IPC: 0, Frequency: 0, "time_median_us": 0,
	} {
		if got := kindOf(metric); got != want {
			t.Errorf("%s is of kind %b, want %b", metric, got, want)
		}
	}
}

func TestRead(t *testing.T) {
	r, err := Read([]byte(`{"run": {"time_s": 2}, "waits": [
		{"metric": "late_sender", "callpath": "main/MPI_Recv", "seconds": 0.5},
		{"metric": "late_sender_wrong_order", "callpath": "main/MPI_Recv", "seconds": 0.25}], "delays": [{"callpath": "main", "short_s": 1, "long_s": 2}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[Number]float64{
		{RunTime, ""}: 2, {Waiting, ""}: 0.5, {"late_sender_wrong_order", "main/MPI_Recv"}: 0.25, {Delay, "main"}: 3,
	} {
		if r.Values[n] != want {
			t.Errorf("%v = %v, want %v", n, r.Values[n], want)
		}
	}
	if r.Kinds != Waits|Delays {
		t.Errorf("kinds %v, want those of waits and delays", r.Kinds)
	}
	for _, text := range []string{
		`{"run": {"time_s": 1}, "callpaths": [{"exclusive_s": 1}]}`, `{"run": {"time_s": 1}, "delays": [{"short_s": 1, "long_s": 1}]}`,
		`{"run": {"time_s": 1, "time_s": 2}}`,
		"[]", `{"run": {}}`, "{", `{"run": {"time_s": -1}}`, `{"run": {"time_s": 1}, "callpaths": [{"callpath": "f", "exclusive_s": -1}]}`,
		`{"run": {"time_s": 1}, "waits": [{"metric": "late_sender", "callpath": "f", "seconds": -1}]}`,
		`{"run": {"time_s": 1}, "waits": [{"metric": "late_sender", "seconds": 1}]}`, `{"run": {"time_s": 1}, "delays": [{"long_s": -1}]}`,
	} {
		if _, err := Read([]byte(text)); err == nil {
			t.Errorf("%s is taken for a result", text)
		}
	}
}
