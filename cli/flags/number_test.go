package flags

import (
	"testing"

	"github.com/spf13/pflag"
)

// TestNumber: what is outside a range or no whole number is refused, and the value stays.
func TestNumber(t *testing.T) {
	for _, tc := range []struct {
		in    Range
		given string
		want  int
		wrong string
	}{
		{AtLeast(0), "0", 0, ""},
		{AtLeast(0), "4", 4, ""},
		{AtLeast(0), "-1", 7, "-1 is too few; give 0 or more"},
		{AtLeast(1), "0", 7, "0 is too few; give 1 or more"},
		{AtLeast(0), "x", 7, `"x" is not a whole number; give e.g. 4`},
		{AtLeast(0), "", 7, `"" is not a whole number; give e.g. 4`},
		{AtLeast(0), "1.5", 7, `"1.5" is not a whole number; give e.g. 4`},
		{Between(5, 9), "5", 5, ""},
		{Between(5, 9), "9", 9, ""},
		{Between(5, 9), "4", 7, "4 is not in 5 to 9"},
		{Between(5, 9), "10", 7, "10 is not in 5 to 9"},
	} {
		n, fs := 0, pflag.NewFlagSet("test", pflag.ContinueOnError)
		AddNumber(fs, &n, "n", 7, tc.in, "")
		f := fs.Lookup("n")
		wrong := ""
		if err := f.Value.Set(tc.given); err != nil {
			wrong = err.Error()
		}
		if n != tc.want || wrong != tc.wrong || f.DefValue != "7" {
			t.Errorf("Set(%q) in %v = %d, %q, default %s; want %d, %q, 7", tc.given, tc.in, n, wrong, f.DefValue, tc.want, tc.wrong)
		}
	}
}
