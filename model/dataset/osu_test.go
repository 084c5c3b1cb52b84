package dataset_test

import (
	"strings"
	"testing"
)

func TestReadOSU(t *testing.T) {
	const title, names = "# OSU MPI Bcast Latency Test v7.3\n", "# Size       Avg Latency(us)\n"
	const head = title + names
	table := func(datatype, rows string) string { return title + "# Datatype: " + datatype + ".\n" + names + rows }
	checkReading(t, "osu", []reading{
		{name: "a barrier has no sizes",
			input: "# OSU MPI Barrier Latency Test v7.3\n# Avg Latency(us)\n2.5\n", want: "\nBarrier Avg Latency(us) []=[2.5]"},
		{name: "bandwidth",
			input: "# OSU MPI Bandwidth Test v7.3\n# Size      Bandwidth (MB/s)\n8 100\n",
			want:  "bytes\nBandwidth Bandwidth(MB/s) [8]=[100]"},
		{name: "several runs in one file are repetitions",
			input: head + "8 1\n" + head + "8 2\n", want: "bytes\nBcast Avg Latency(us) [8]=[1 2]"},
		{name: "a data type", input: table("MPI_INT", "8 1\n"), want: "bytes\nBcast Avg Latency(us) [8]=[1]"},
		{name: "several data types",
			input: table("MPI_CHAR", "8 1\n") + strings.TrimPrefix(table("MPI_INT", "8 2\n"), title) + head + "8 3\n",
			want: "bytes\nMPI_CHAR->Bcast Avg Latency(us) [8]=[1]\nMPI_INT->Bcast Avg Latency(us) [8]=[2]\n" +
				"Bcast Avg Latency(us) [8]=[3]"},
		{name: "lines before the title", input: "1 2\n" + head + "8 1\n", want: "bytes\nBcast Avg Latency(us) [8]=[1]",
			warnings: 1},
		{name: "messages of the launcher",
			input: head + "8 1\n[node7] retrying\n16 2\n", want: "bytes\nBcast Avg Latency(us) [8]=[1] [16]=[2]", warnings: 1},
		{name: "a damaged row", input: head + "8 1\n16 2x\n", want: "x:4:", bad: true},
		{name: "a row that is too long", input: head + "8 1 7\n", want: "x:3:", bad: true},
		{name: "rows without names of columns", input: "# OSU MPI Bcast Latency Test v7.3\n8 1\n", want: "x:2:", bad: true},
	})
}
