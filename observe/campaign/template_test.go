package campaign

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestTemplates: braces hold formulas and names, doubled ones are braces.
func TestTemplates(t *testing.T) {
	at, texts := map[string]float64{"p": 4, "n": 10}, map[string]string{"run": "p4.r1", "dir": "/d/{p}"}
	for text, want := range map[string]string{
		"": "", "plain": "plain", "{p}": "4", "-n{p}x{n/p}": "-n4x2.5", "{{p}}": "{p}", "{{{p}}}": "{4}", "{ p * n }": "40",
		"{run}.out": "p4.r1.out", "{dir}/x": "/d/{p}/x", "}}{{": "}{", "{p}{n}": "410", "ä{p}ö": "ä4ö", "{p}}}": "4}",
	} {
		tm, err := parseTemplate(text, []string{"p", "n"}, []string{"run", "dir"})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := tm.fill(at, texts); got != want {
			t.Errorf("%q = %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"{p":      "opening brace without a closing one",
		"p}":      "closing brace without an opening one",
		"{{p}":    "closing brace without an opening one",
		"{}":      "{}: expected a number or a parameter at the end, and the names run, dir",
		"{q}":     `{q}: there is no parameter "q"`,
		"{runs}":  `{runs}: there is no parameter "runs"`,
		"{p}{p+}": "{p+}: expected a number or a parameter at the end",
	} {
		if _, err := parseTemplate(text, []string{"p", "n"}, []string{"run", "dir"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestTemplateIs(t *testing.T) {
	for text, want := range map[string]bool{
		"{command}": true, "{ command }": true, "x{command}": false, "{command}{command}": false, "command": false,
	} {
		tm, err := parseTemplate(text, nil, []string{"command"})
		if err != nil || tm.is("command") != want {
			t.Errorf("%q is the name alone: %t, %v", text, !want, err)
		}
	}
}

// TestQuotedWordsAreReadAgain: a command that is written for a shell has the same words again, whatever is in them.
func TestQuotedWordsAreReadAgain(t *testing.T) {
	characters := []rune(`ab '"\$*~{}=-ä` + "\t\n")
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 2))
		words := make([]string, 1+random.IntN(4))
		for i := range words {
			var b strings.Builder
			for range random.IntN(6) {
				b.WriteRune(characters[random.IntN(len(characters))])
			}
			words[i] = b.String()
		}
		if got, err := splitWords(Quote(words)); err != nil || !slices.Equal(got, words) {
			t.Fatalf("seed %d: %q is %s, read again as %q, %v", seed, words, Quote(words), got, err)
		}
	}
}

func TestQuote(t *testing.T) {
	for want, words := range map[string][]string{
		"a -b --c=d/e.f": {"a", "-b", "--c=d/e.f"}, "''": {""}, "'a b'": {"a b"}, `'it'\''s'`: {"it's"}, "'$x' '*' '~'": {"$x", "*", "~"},
	} {
		if got := Quote(words); got != want {
			t.Errorf("%q = %s, want %s", words, got, want)
		}
	}
}
