package unit_test

import (
	"fmt"

	"slackline/model/unit"
)

// Times are integer picoseconds: they are parsed exactly and compared with ==.
func ExampleParseDuration() {
	latency, err := unit.ParseDuration("2.5us")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(int64(latency), latency, latency == 2500*unit.Nanosecond)
	// Output: 2500000 2.5us true
}

func ExampleParseSize() {
	size, err := unit.ParseSize("64KiB")
	fmt.Println(int64(size), size, err)
	// Output: 65536 64KiB <nil>
}

// A list of process counts has numbers, ranges and powers.
func ExampleParseCounts() {
	counts, err := unit.ParseCounts("2^1..2^4,20")
	fmt.Println(counts, err)
	// Output: [2 4 8 16 20] <nil>
}
