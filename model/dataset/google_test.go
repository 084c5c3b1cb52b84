package dataset_test

import "testing"

func TestReadGoogle(t *testing.T) {
	entry := func(name, rest string) string { return `{"benchmarks":[{"name":"` + name + `",` + rest + `}]}` }
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
		{name: "an unknown unit", input: entry("BM/8", `"real_time":2,"time_unit":"minutes"`), want: "x:", bad: true},
	})
}
