package dataset_test

import (
	"strings"
	"testing"
)

func TestReadGoogle(t *testing.T) {
	entry := func(name, rest string) string { return `{"benchmarks":[{"name":"` + name + `",` + rest + `}]}` }
	file := func(entries ...string) string { return `{"benchmarks":[` + strings.Join(entries, ",\n") + `]}` }
	aggregate := func(run, of, seconds string) string {
		return `{"name":"` + run + "_" + of + `","run_name":"` + run + `","run_type":"aggregate","repetitions":3,"aggregate_name":"` + of +
			`","real_time":` + seconds + `,"cpu_time":` + seconds + `,"time_unit":"s"}`
	}
	const times = `"real_time":2,"cpu_time":1,"time_unit":"ms"`
	checkReading(t, "google", []reading{
		{name: "several plain numbers",
			input: entry("BM/8/9", times), want: "n n2\nBM real_time [s] [8 9]=[0.002]\nBM cpu_time [s] [8 9]=[0.001]"},
		{name: "named arguments",
			input: entry("BM/size:8/fast/threads:4", times),
			want:  "size threads\nBM->fast real_time [s] [8 4]=[0.002]\nBM->fast cpu_time [s] [8 4]=[0.001]"},
		{name: "options are not parameters",
			input: entry("BM/8/min_time:2.000/real_time", times), want: "n\nBM real_time [s] [8]=[0.002]\nBM cpu_time [s] [8]=[0.001]"},
		{name: "nanoseconds by default", input: entry("BM/8", `"real_time":2e9`), want: "n\nBM real_time [s] [8]=[2]", warnings: 1},
		{name: "failed runs",
			input: `{"benchmarks":[{"name":"A/8","error_occurred":true},{"name":"B/8","real_time":1,"cpu_time":1,"time_unit":"s"}]}`,
			want:  "n\nB real_time [s] [8]=[1]\nB cpu_time [s] [8]=[1]", warnings: 1},
		{name: "only aggregates",
			input: file(aggregate("A/8", "stddev", "9"), aggregate("A/8", "median", "3"), aggregate("A/8", "mean", "2")),
			want:  "n\nA real_time [s] [8]=[2]\nA cpu_time [s] [8]=[2]", warnings: 1},
		{name: "only aggregates of one",
			input: file(aggregate("A/8", "median", "3"), `{"name":"B/8","run_type":"iteration","real_time":1,"cpu_time":1,"time_unit":"s"}`,
				aggregate("B/8", "mean", "7"), aggregate("B", "BigO", "5")),
			want: "n\nA real_time [s] [8]=[3]\nA cpu_time [s] [8]=[3]\nB real_time [s] [8]=[1]\nB cpu_time [s] [8]=[1]", warnings: 1},
		{name: "neither mean nor median",
			input: file(aggregate("A/8", "cv", "3"), `{"name":"B/8","run_type":"iteration","real_time":1,"cpu_time":1,"time_unit":"s"}`),
			want:  "n\nB real_time [s] [8]=[1]\nB cpu_time [s] [8]=[1]", warnings: 1},
		{name: "an unknown unit", input: entry("BM/8", `"real_time":2,"time_unit":"minutes"`), want: "x:", bad: true},
	})
}
