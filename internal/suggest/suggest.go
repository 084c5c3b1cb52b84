// Package suggest finds the word that a user probably meant.
//
// It compares by edit distance, so it helps against slips of the keyboard and
// forgotten endings, not against wrong ideas: when nothing is near, it returns
// nothing.
package suggest

import "strings"

// Nearest returns the entry of known that is closest to word, or "" if none is
// close enough to be a likely slip. Case, and the difference between '-', '_'
// and a space, count for nothing. Of equally near words the first one wins, so
// a sorted list gives the same answer every time.
func Nearest(word string, known []string) string {
	w := fold(word)
	if w == "" {
		return ""
	}
	best, bestDist := "", -1
	for _, k := range known {
		f := fold(k)
		d := Distance(w, f)
		if d > limit(w, f) {
			continue
		}
		if bestDist < 0 || d < bestDist {
			best, bestDist = k, d
		}
	}
	return best
}

// Phrase returns "; did you mean X?" for the nearest known word, or "" if there
// is none: the end of an error message.
func Phrase(word string, known []string) string {
	n := Nearest(word, known)
	if n == "" {
		return ""
	}
	return "; did you mean " + n + "?"
}

// limit is the largest distance that still counts as a slip: one for words of
// up to three letters, two up to six, then a third of the longer word. A word
// that the other one starts with (of at least three letters) is an
// abbreviation, and always counts.
func limit(a, b string) int {
	long, short := len([]rune(a)), len([]rune(b))
	if long < short {
		long, short = short, long
	}
	if short >= 3 && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a)) {
		return long
	}
	switch {
	case long <= 1:
		return 0
	case long <= 3:
		return 1
	case long <= 6:
		return 2
	}
	return long / 3
}

func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == ' ' {
			return '-'
		}
		return r
	}, strings.ToLower(strings.TrimSpace(s)))
}

// Distance is the number of letters to insert, delete, replace, or swap with
// their neighbor, to turn a into b (optimal string alignment).
func Distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before := make([]int, len(t)+1) // the row before the previous one
	prev := make([]int, len(t)+1)
	row := make([]int, len(t)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(t)]
}
