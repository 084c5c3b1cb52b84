package phrase

import (
	"strings"

	"slackline/internal/plain"
)

// Command writes words as one line that a shell splits into the same words.
func Command(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(plain.Name(w))
	}
	return strings.Join(quoted, " ")
}

// quote writes a word so that a shell takes it literally. Backquotes are written by their number: where commands are part of a
// text, a backquote in a file name would end or replace the quotes around it.
func quote(word string) string {
	simple := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=:,+@%^", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !simple(r) }) < 0 {
		return word
	}
	return "'" + strings.NewReplacer("'", `'\''`, "`", `'$'\140''`).Replace(word) + "'"
}
