package inject

import (
	"fmt"
	"strings"

	"slackline/internal/phrase"
	"slackline/model/unit"
	"slackline/observe/inject"
)

// injectLines is the report of an injection for people.
func injectLines(r *inject.Result) []string {
	lines := []string{fmt.Sprintf("%s, %s, %s from start to end of the command",
		phrase.Plural(r.Ranks, "rank"), r.MPI, (unit.Duration(r.Elapsed.Nanoseconds()) * unit.Nanosecond).Short())}
	if r.Latency != "" {
		lines = append(lines, latencyLines(r)...)
	}
	if r.Noise != "" {
		sum := func(of func(*inject.RankReport) int64) int64 { return r.Sum(of) }
		share := 0.0
		if whole := sum(func(x *inject.RankReport) int64 { return x.NoiseNS }); whole > 0 {
			share = 100 * float64(sum(func(x *inject.RankReport) int64 { return x.DetourNS })) / float64(whole)
		}
		lines = append(lines, fmt.Sprintf("noise %s, seed %d: %s detours took %.2f %% of the time of all ranks, %s more passed while ranks "+
			"slept or had no CPU", r.Noise, r.Seed,
			phrase.Grouped(sum(func(x *inject.RankReport) int64 { return x.Detours })), share,
			phrase.Grouped(sum(func(x *inject.RankReport) int64 { return x.DetoursSlept }))))
	}
	if waited, ok := r.Waited(); ok {
		lines = append(lines, fmt.Sprintf("ranks waited for a CPU for %.2f %% of their time", 100*waited))
	}
	return lines
}

func latencyLines(r *inject.Result) []string {
	sum := func(of func(*inject.RankReport) int64) int64 { return r.Sum(of) }
	held := sum(func(x *inject.RankReport) int64 { return x.Held })
	lines := []string{fmt.Sprintf("latency %s: %s messages; %s calls were held, %s had nothing to wait for", r.Latency,
		phrase.Grouped(sum(func(x *inject.RankReport) int64 { return x.Sent })), phrase.Grouped(held),
		phrase.Grouped(sum(func(x *inject.RankReport) int64 { return x.Passed })))}
	if held > 0 {
		lines = append(lines, fmt.Sprintf("held for %s on average, %s at most; returned %s too late on average, %s at most",
			meanNS(sum(func(x *inject.RankReport) int64 { return x.HeldNS }), held),
			nsDuration(r.Most(func(x *inject.RankReport) int64 { return x.HeldMostNS })),
			meanNS(sum(func(x *inject.RankReport) int64 { return x.OverNS }), held),
			nsDuration(r.Most(func(x *inject.RankReport) int64 { return x.OverMostNS }))))
	}
	for _, list := range []struct {
		what  string
		calls []inject.Count
	}{{"collectives that became messages", r.Replaced}, {"one-sided calls with latency", r.OneSided}} {
		var parts []string
		for _, c := range list.calls {
			parts = append(parts, fmt.Sprintf("%s %s", c.Function, phrase.Grouped(c.Calls)))
		}
		if len(parts) > 0 {
			lines = append(lines, list.what+", calls of all ranks: "+strings.Join(parts, ", "))
		}
	}
	if r.Eager != nil {
		lines = append(lines, fmt.Sprintf("messages of more than %s have a handshake, each part of which gets the latency", unit.Size(*r.Eager)))
	}
	if len(r.Base) > 0 {
		var parts []string
		for _, b := range r.Base {
			if b.Bytes == 1 || b.Bytes == 1<<10 || b.Bytes == 1<<16 || b.Bytes == 1<<20 {
				parts = append(parts, fmt.Sprintf("%s %s", unit.Size(b.Bytes), nsDuration(b.NS)))
			}
		}
		lines = append(lines, "a message takes by itself: "+strings.Join(parts, ", "))
	}
	return lines
}

func nsDuration(ns int64) string { return (unit.Duration(ns) * unit.Nanosecond).Short() }

func meanNS(sum, n int64) string { return nsDuration(sum / n) }
