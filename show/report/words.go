package report

import (
	"strings"

	"slackline/internal/phrase"
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
	return phrase.Command(words...)
}

// code puts a name between backquotes, which the page shows as code.
func code(name string) string {
	if name == "" {
		return "no call"
	}
	return "`" + strings.ReplaceAll(name, "`", "'") + "`"
}

// capital returns the text with a capital letter in front.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
