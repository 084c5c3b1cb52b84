package dataset_test

import (
	"strings"
	"testing"
)

// raw is a file of measure collectives: the head, and a line for each row.
func raw(rows ...string) string {
	return "scheme,operation,ranks,size,launch,repetition,rank,start_ns,end_ns,flags,executions,counts\n" + strings.Join(rows, "\n") + "\n"
}

func TestReadMeasured(t *testing.T) {
	checkReading(t, "measured", []reading{
		{name: "the slowest rank counts",
			input: raw("round-time,A,2,8,0,0,0,0,100,0,1,1", "round-time,A,2,8,0,0,1,50,250,0,1,1"), want: "p\nA time [ns] [2]=[200]"},
		{name: "rank 0 counts in loops on rank 0",
			input: raw("mpbench,A,2,8,0,0,1,0,900,0,10,1", "mpbench,A,2,8,0,0,0,0,500,0,10,1"), want: "p\nA time [ns] [2]=[50]"},
		{name: "invalid executions",
			input: raw("round-time,A,1,8,0,0,0,0,1,0,1,1", "round-time,A,1,8,0,1,0,0,2,4,1,1"),
			want:  "p\nA time [ns] [1]=[1]", warnings: 1},
		{name: "half of the launches suffice",
			input: raw("round-time,A,1,8,0,0,0,0,1,0,1,1", "round-time,A,1,8,1,0,0,0,2,0,1,0"),
			want:  "p\nA time [ns] [1]=[1]", warnings: 1},
		{name: "most launches are left out",
			input: raw("round-time,A,1,8,0,0,0,0,1,0,1,1", "round-time,A,1,8,1,0,0,0,2,0,1,0", "round-time,A,1,8,2,0,0,0,3,0,1,0",
				"round-time,B,1,8,0,0,0,0,9,0,1,1"), want: "p\nB time [ns] [1]=[9]", warnings: 1},
		{name: "two sizes are a parameter",
			input: raw("imb,A,1,8,0,0,0,0,1,0,1,1", "imb,A,1,64,0,0,0,0,2,0,1,1"), want: "p size\nA time [ns] [1 8]=[1] [1 64]=[2]"},
		{name: "no ranks", input: raw("imb,A,0,8,0,0,0,0,1,0,1,1"), want: "x:2:", bad: true},
		{name: "no name", input: raw("imb,A,1,8,0,0,0,0,1,0,1,1", "imb,,1,8,0,0,0,0,1,0,1,1"), want: "x:3:", bad: true},
		{name: "a time that overflows",
			input: raw("imb,A,1,8,0,0,0,-9223372036854775808,9223372036854775807,0,1,1"), want: "x:2:", bad: true},
	})
}
