package flags

import (
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/pflag"
)

// Range are the numbers that a flag takes.
type Range struct{ least, most int }

// AtLeast is a number and all above it.
func AtLeast(n int) Range { return Range{n, math.MaxInt} }

// Between is two numbers and all between them.
func Between(least, most int) Range { return Range{least, most} }

// number is a flag with a whole number in a range.
type number struct {
	to *int
	in Range
}

// AddNumber adds a flag with a whole number in a range; to begins with value, which may be outside: nothing was given then.
func AddNumber(fs *pflag.FlagSet, to *int, name string, value int, in Range, usage string) {
	*to = value
	fs.Var(&number{to, in}, name, usage)
}

// maxThreads is more than machines have cores. Each thread takes memory, whether there is a core for it or not.
const maxThreads = 4096

// AddThreads adds --threads; value is its default, of which 0 is one for each core.
func AddThreads(fs *pflag.FlagSet, to *int, value int, usage string) {
	AddNumber(fs, to, "threads", value, Between(1, maxThreads), usage)
}

// Set implements pflag.Value.
func (n *number) Set(s string) error {
	v, err := strconv.Atoi(s)
	switch {
	case err != nil:
		return fmt.Errorf("%q is not a whole number; give e.g. 4", s)
	case v >= n.in.least && v <= n.in.most:
		*n.to = v
		return nil
	case n.in.most == math.MaxInt:
		return fmt.Errorf("%d is too few; give %d or more", v, n.in.least)
	}
	return fmt.Errorf("%d is not in %d to %d", v, n.in.least, n.in.most)
}

func (n *number) String() string { return strconv.Itoa(*n.to) }

// Type implements pflag.Value.
func (n *number) Type() string { return "number" }
