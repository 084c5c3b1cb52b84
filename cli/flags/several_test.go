package flags

import (
	"slices"
	"strconv"
	"testing"

	"github.com/spf13/cobra"
)

// TestAddEach: a list takes every value it is given, in order, and its words name them all again.
func TestAddEach(t *testing.T) {
	var each []int
	var list []string
	c := &cobra.Command{Use: "verb", Run: func(*cobra.Command, []string) {}}
	c.Flags().StringArrayVar(&list, "list", nil, "")
	AddEach(c.Flags(), &each, strconv.Atoi, "each", "")
	c.SetArgs([]string{"--each", "2", "--list", "a", "--each", "1", "--list", "b"})
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	words := []string{"--each", "2", "--each", "1", "--list", "a", "--list", "b"}
	got := Words(c, "each", "list")
	if !slices.Equal(each, []int{2, 1}) || !slices.Equal(list, []string{"a", "b"}) || !slices.Equal(got, words) {
		t.Errorf("lists %v and %v, words %q; want %q", each, list, got, words)
	}
	if err := c.Flags().Set("each", "x"); err == nil || !slices.Equal(each, []int{2, 1}) {
		t.Errorf("a word that is not a number: %v, list %v", err, each)
	}
}

// TestRatio: numbers and percentages; what is not finite is refused, and the value stays.
func TestRatio(t *testing.T) {
	for text, want := range map[string]float64{
		"0": 0, "5%": 0.05, "2.5": 2.5, "-1": -1, "300%": 3, "nan": 0.5, "inf": 0.5, "%": 0.5, "x%": 0.5,
	} {
		r := Ratio(0.5)
		if err := r.Set(text); float64(r) != want || (err != nil) != (want == 0.5) {
			t.Errorf("Set(%q) = %g, %v; want %g", text, r, err, want)
		}
	}
}
