package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"slackline/internal/plain"
	"slackline/internal/table"
	"slackline/model/dataset"
	"slackline/model/unit"
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

// count prints a number with separators of thousands and its noun.
func count[T int | int64](n T, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "s"):
		noun += "es"
	default:
		noun += "s"
	}
	return grouped(int64(n)) + " " + noun
}

// grouped prints a number with separators of thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// percent prints a share of a whole.
func percent(share float64) string {
	p := 100 * share
	switch {
	case p > -0.05 && p <= 0:
		return "0 %"
	case p > 0 && p < 0.05:
		return "< 0.1 %"
	}
	return fmt.Sprintf("%.1f %%", p)
}

// part is what a time is of another one.
func part(d, whole unit.Duration) float64 {
	if whole == 0 {
		return 0
	}
	return float64(d) / float64(whole)
}

// The cells of tables.

func text(s string) table.Cell { return table.Cell{Text: s} }

// named is a cell with a call path.
func named(path string) table.Cell {
	if path == "" {
		return table.Cell{Text: "(no call)", Value: ""}
	}
	if path == dataset.RootPath {
		return table.Cell{Text: "(the whole run)", Value: path}
	}
	return table.Cell{Text: path, Value: path}
}

func whole[T int | int64](n T) table.Cell {
	return table.Cell{Text: grouped(int64(n)), Value: int64(n)}
}

// span is a cell with a time, whose value is in nanoseconds.
func span(d unit.Duration) table.Cell { return table.Cell{Text: d.Short(), Value: unit.Nanoseconds(d)} }

// shareOf is a cell with a share and a bar as long as it.
func shareOf(share float64) table.Cell {
	if !isNumber(share) {
		return text("-")
	}
	return table.Cell{Text: percent(share), Value: share, Share: min(max(share, 0), 1)}
}

// decimal is a cell with a plain number.
func decimal(v float64) table.Cell {
	if !isNumber(v) {
		return text("-")
	}
	return table.Cell{Text: strconv.FormatFloat(v, 'g', 4, 64), Value: v}
}

// isNumber reports whether a value is a finite number.
func isNumber(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// known is the value, 0 if there is none.
func known(v float64) float64 {
	if !isNumber(v) {
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

// lower returns the text with a small letter in front, unless it starts with an abbreviation such as MPI.
func lower(s string) string {
	if s == "" || len(s) > 1 && s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
