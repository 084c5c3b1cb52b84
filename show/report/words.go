package report

import (
	"strings"

	"slackline/internal/phrase"
	"slackline/internal/plain"
)

// toolName is the first word of commands.
const toolName = "slackline"

// command is the command line that shows the same.
func command(parts ...any) string {
	words := []string{toolName}
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			words = append(words, p)
		case []string:
			words = append(words, p...)
		}
	}
	return Command(words...)
}

// Command writes words as one line that a shell splits into the same words.
func Command(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(plain.Name(w))
	}
	return strings.Join(quoted, " ")
}

// quote writes a word so that a shell takes it literally.
func quote(word string) string {
	simple := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=:,+@%^", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !simple(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// code puts a name between backquotes, which the page shows as code.
func code(name string) string {
	if name == "" {
		return "no call"
	}
	return "`" + strings.ReplaceAll(name, "`", "'") + "`"
}

// known is the value, 0 if there is none.
func known(v float64) float64 {
	if phrase.Finite(v) == nil {
		return 0
	}
	return v
}

// list joins words as in a sentence.
func list(words []string) string {
	switch len(words) {
	case 0:
		return ""
	case 1:
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// capital returns the text with a capital letter in front.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
