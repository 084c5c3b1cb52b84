package flags

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"slackline/model/unit"
)

// Count is a flag with one count, which may be written as a power.
type Count int

// Set implements pflag.Value.
func (n *Count) Set(s string) error {
	var list Counts
	if err := list.Set(s); err != nil {
		return err
	}
	if len(list) != 1 {
		return fmt.Errorf("%q names %d counts, but one is needed", s, len(list))
	}
	*n = Count(list[0])
	return nil
}

func (n *Count) String() string {
	if *n == 0 {
		return ""
	}
	return strconv.Itoa(int(*n))
}

// Type implements pflag.Value.
func (n *Count) Type() string { return "number" }

// Counts is a flag with one number of ranks or several, which may be written as
// powers and ranges.
type Counts []int

// Set implements pflag.Value.
func (n *Counts) Set(s string) error {
	list, err := unit.ParseCounts(s)
	if err != nil {
		return err
	}
	*n = nil
	for _, v := range list {
		if v < 1 {
			return fmt.Errorf("%d is too few; give at least 1", v)
		}
		if v > math.MaxInt32 {
			return fmt.Errorf("%d is too many; give at most %d", v, math.MaxInt32)
		}
		if !slices.Contains(*n, v) {
			*n = append(*n, v)
		}
		if len(*n) > maxCounts {
			return fmt.Errorf("%q names more than %d counts; use larger steps, e.g. 2^1..2^20", s, maxCounts)
		}
	}
	return nil
}

// maxCounts is the largest number of counts that a flag takes.
const maxCounts = 10_000

// First is the first count; 0: none was given.
func (n Counts) First() int {
	if len(n) == 0 {
		return 0
	}
	return n[0]
}

func (n *Counts) String() string {
	words := make([]string, len(*n))
	for i, v := range *n {
		words[i] = strconv.Itoa(v)
	}
	return strings.Join(words, ",")
}

// Type implements pflag.Value.
func (n *Counts) Type() string { return "number" }
