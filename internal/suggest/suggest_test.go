package suggest

import "testing"

func TestNearest(t *testing.T) {
	machines := []string{"altix", "chic", "cnl", "cscs-testbed", "piz-daint", "piz-daint-32", "piz-daint-64", "xt4", "zeptoos"}
	flags := []string{"machine", "size", "seed", "threads", "ranks", "root"}
	for _, tc := range []struct {
		word  string
		known []string
		want  string
	}{
		{"chick", machines, "chic"},
		{"hcic", machines, "chic"},
		{"CHIC", machines, "chic"},
		{"piz_daint", machines, "piz-daint"},
		{"pizdaint", machines, "piz-daint"},
		{"zepto", machines, "zeptoos"},
		{"xt5", machines, "xt4"},
		{"thread", flags, "threads"},
		{"rank", flags, "ranks"},
		{"roots", flags, "root"},
		{"mach", flags, "machine"},
		{"bluegene", machines, ""},
		{"", machines, ""},
		{"x", []string{"L"}, ""},
		{"ßeed", flags, "seed"},
		{"seed", nil, ""},
	} {
		if got := Nearest(tc.word, tc.known); got != tc.want {
			t.Errorf("Nearest(%q) = %q, want %q", tc.word, got, tc.want)
		}
	}
}

func TestPhrase(t *testing.T) {
	if got, want := Phrase("chick", []string{"chic"}), "; did you mean chic?"; got != want {
		t.Errorf("Phrase = %q, want %q", got, want)
	}
	if got := Phrase("unlike", []string{"chic"}); got != "" {
		t.Errorf("Phrase = %q, want nothing", got)
	}
}

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0},
		{"abc", "acb", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 1}, {"größe", "grösse", 2},
	} {
		if got := Distance(tc.a, tc.b); got != tc.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", tc.a, tc.b, got, tc.want)
		}
		if got := Distance(tc.b, tc.a); got != tc.want {
			t.Errorf("Distance(%q, %q) = %d, want %d (symmetry)", tc.b, tc.a, got, tc.want)
		}
	}
}
