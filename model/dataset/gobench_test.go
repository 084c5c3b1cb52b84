package dataset_test

import "testing"

func TestReadGoBench(t *testing.T) {
	checkReading(t, "gobench", []reading{
		{name: "two parameters", input: "BenchmarkF/p=4/n=1e3-8 1 5 ns/op\n", want: "p n\nBenchmarkF ns/op [4 1000]=[5]"},
		{name: "a parameter twice belongs to the path",
			input: "BenchmarkF/n=4/n=5-8 1 5 ns/op\n", want: "n\nBenchmarkF->n=5 ns/op [4]=[5]"},
		{name: "a word with = is a name",
			input: "BenchmarkF/mode=fast/n=4-8 1 5 ns/op\n", want: "n\nBenchmarkF->mode=fast ns/op [4]=[5]"},
		{name: "a plain number counts if there is no other",
			input: "BenchmarkF/64/x-8 1 5 ns/op\nBenchmarkG/64/n=2-8 1 6 ns/op\n",
			want:  "n\nBenchmarkF->x ns/op [64]=[5]\nBenchmarkG->64 ns/op [2]=[6]"},
		{name: "one processor has no suffix", input: "BenchmarkF/n=4 1 5 ns/op\n", want: "n\nBenchmarkF ns/op [4]=[5]"},
		{name: "failed benchmarks",
			input: "BenchmarkF/n=4-8 1 5 ns/op\nBenchmarkG/n=4-8 --- FAIL\n", want: "n\nBenchmarkF ns/op [4]=[5]", warnings: 1},
		{name: "a value without a unit", input: "\nBenchmarkF/n=4-8 1 5 ns/op 7\n", want: "x:2:", bad: true},
		{name: "a value that is not a number", input: "BenchmarkF/n=4-8 1 many ns/op\n", want: "x:1:", bad: true},
		{name: "more than eight parameters",
			input: "BenchmarkF/a=1/b=1/c=1/d=1/e=1/f=1/g=1/h=1/i=1-8 1 5 ns/op\n", want: "x:1:", bad: true},
	})
}
