package flags

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"testing"

	"github.com/spf13/cobra"
)

// TestRefuseRepeats wants one value of each flag, of all verbs and of the root, and all values of lists.
func TestRefuseRepeats(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string // of the error; empty: none
	}{
		{args: []string{"verb", "--top", "3", "--quiet"}},
		{args: []string{"verb", "--top", "3", "--top", "3", "--each", "1", "--each", "2", "--list", "a", "--list", "b"}},
		{[]string{"verb", "--top", "3", "--top", "4"}, `is given twice, as "3" and as "4"; give it once`},
		{[]string{"--quiet", "verb", "--quiet=false"}, `is given twice, as "true" and as "false"; give it once`},
		{[]string{"verb", "--threads", "1", "--threads=2"}, `is given twice, as "1" and as "2"; give it once`},
	} {
		var each []int
		var list []string
		var threads int
		root := &cobra.Command{Use: "root", SilenceErrors: true, SilenceUsage: true}
		root.PersistentFlags().Bool("quiet", false, "")
		verb := &cobra.Command{Use: "verb", Run: func(*cobra.Command, []string) {}}
		verb.Flags().Int("top", 1, "")
		verb.Flags().StringArrayVar(&list, "list", nil, "")
		AddEach(verb.Flags(), &each, strconv.Atoi, "each", "")
		AddThreads(verb.Flags(), &threads, 2, "")
		root.AddCommand(verb)
		RefuseRepeats(root)
		root.SetArgs(tc.args)
		root.SetErr(io.Discard)
		err := root.Execute()
		var twice *TwiceError
		if tc.want == "" && err != nil || tc.want != "" && (!errors.As(err, &twice) || twice.Error() != tc.want) {
			t.Errorf("%q: %v, want %q", tc.args, err, tc.want)
		}
		if tc.want == "" && len(tc.args) > 4 {
			words := []string{"--each", "1", "--each", "2", "--list", "a", "--list", "b", "--top", "3"}
			got := Words(verb, "each", "list", "top")
			if !slices.Equal(each, []int{1, 2}) || !slices.Equal(list, []string{"a", "b"}) || !slices.Equal(got, words) {
				t.Errorf("%q: lists %v and %v, words %q", tc.args, each, list, got)
			}
		}
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

// TestThreads: 0 or more.
func TestThreads(t *testing.T) {
	for text, want := range map[string]Threads{"0": 0, "4": 4, "-1": 7, "x": 7, "": 7, "1.5": 7} {
		n := Threads(7)
		if err := n.Set(text); n != want || (err != nil) != (want == 7) {
			t.Errorf("Set(%q) = %d, %v; want %d", text, n, err, want)
		}
	}
}
