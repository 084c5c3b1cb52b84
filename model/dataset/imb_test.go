package dataset_test

import "testing"

func TestReadIMB(t *testing.T) {
	const head = "# Benchmarking Bcast\n# #processes = 4\n"
	checkReading(t, "imb", []reading{
		{name: "a barrier has no sizes",
			input: "# Benchmarking Barrier\n# #processes = 4\n#repetitions t_min[usec] t_max[usec] t_avg[usec]\n1000 1 3 2\n",
			want:  "p\nBarrier t_min [us] [4]=[1]\nBarrier t_max [us] [4]=[3]\nBarrier t_avg [us] [4]=[2]"},
		{name: "blocks of several process counts",
			input: head + "#bytes #repetitions t_avg[usec]\n8 10 1\n# Benchmarking Bcast\n# #processes = 8\n#bytes #repetitions t_avg[usec]\n" +
				"8 10 2\n",
			want: "p bytes\nBcast t_avg [us] [4 8]=[1] [8 8]=[2]"},
		{name: "unknown columns",
			input: head + "#bytes #repetitions t_avg[usec] speed\n8 10 1 9\n",
			want:  "p bytes\nBcast t_avg [us] [4 8]=[1]", warnings: 1},
		{name: "messages of the launcher",
			input: head + "#bytes #repetitions t_avg[usec]\n8 10 1\nnode7: link flapped again\n16 10 2\n",
			want:  "p bytes\nBcast t_avg [us] [4 8]=[1] [4 16]=[2]", warnings: 1},
		{name: "an empty block",
			input: head + "#bytes #repetitions t_avg[usec]\n8 10 1\n# Benchmarking Reduce\n# #processes = 4\n",
			want:  "p bytes\nBcast t_avg [us] [4 8]=[1]", warnings: 1},
		{name: "a first block without its title",
			input: "#bytes #repetitions t_avg[usec]\n8 10 1\n" + head + "#bytes #repetitions t_avg[usec]\n8 10 1\n",
			want:  "p bytes\nBcast t_avg [us] [4 8]=[1]", warnings: 1},
		{name: "no number of processes",
			input: "# Benchmarking Bcast\n#bytes #repetitions t_avg[usec]\n8 10 1\n", want: "x:3:", bad: true},
		{name: "a row that is too short", input: head + "#bytes #repetitions t_avg[usec]\n8 10\n", want: "x:4:", bad: true},
		{name: "a block without its title",
			input: head + "#bytes #repetitions t_avg[usec]\n8 10 1\n# #processes = 8\n", want: "x:5:", bad: true},
	})
}
