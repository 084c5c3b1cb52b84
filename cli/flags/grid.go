package flags

import (
	"fmt"
	"strings"

	"slackline/model/pattern"
)

// Grid is a flag with a process grid.
type Grid []int

// Set implements pflag.Value.
func (g *Grid) Set(s string) error {
	v, err := pattern.ParseGrid(s)
	if err != nil {
		return err
	}
	*g = v
	return nil
}

func (g *Grid) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint([]int(*g)), " ", "x"), "[]")
}

// Type implements pflag.Value.
func (g *Grid) Type() string { return "grid" }
