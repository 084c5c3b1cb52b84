package dataset_test

import "testing"

func TestReadSimulation(t *testing.T) {
	checkReading(t, "simulation", []reading{
		{name: "one run", input: `{"input":"bcast","ranks":8,"makespan_ns":5e8}`, want: "p\nbcast makespan [s] [8]=[0.5]"},
		{name: "replicas are repetitions",
			input: `{"input":"a","results":[{"ranks":2,"replicas":2,"noiseless_ns":1,"median_ns":7e8,"samples_ns":[5e8,1e9]}]}`,
			want:  "p\na makespan [s] [2]=[0.5 1]"},
		{name: "without samples the median is all there is",
			input: `{"input":"a","results":[{"ranks":2,"replicas":3,"noiseless_ns":1,"median_ns":5e8}]}`,
			want:  "p\na makespan [s] [2]=[0.5]", warnings: 1},
		{name: "a run without ranks", input: `{"input":"a","makespan_ns":1}`, want: "x:", bad: true},
		{name: "a result without times", input: `{"input":"a","results":[{"ranks":2,"noiseless_ns":1}]}`, want: "x:", bad: true},
		{name: "no result", input: `{"input":"a","results":[],"noiseless_ns":1}`, want: "x:", bad: true},
	})
}
