package campaign

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A template is text with formulas and names in braces, e.g. "-n {p}" or "{n/p}". Doubled braces are
// braces.
type template struct{ parts []templatePart }

type templatePart struct {
	text string
	name string      // of a text that is put here
	expr *expression // whose value is put here
}

// parseTemplate parses a template over parameters; texts are the further names that it may use.
func parseTemplate(text string, parameters, texts []string) (*template, error) {
	t := &template{}
	var plain strings.Builder
	flush := func() {
		if plain.Len() > 0 {
			t.parts = append(t.parts, templatePart{text: plain.String()})
			plain.Reset()
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case (c == '{' || c == '}') && i+1 < len(text) && text[i+1] == c:
			plain.WriteByte(c)
			i++
		case c == '}':
			return nil, errors.New("has a closing brace without an opening one; write }} for a brace")
		case c == '{':
			end := strings.IndexByte(text[i:], '}')
			if end < 0 {
				return nil, errors.New("has an opening brace without a closing one; write {{ for a brace")
			}
			flush()
			inner := strings.TrimSpace(text[i+1 : i+end])
			i += end
			if slices.Contains(texts, inner) {
				t.parts = append(t.parts, templatePart{name: inner})
				continue
			}
			e, err := parseExpression(inner, parameters)
			if err != nil {
				return nil, fmt.Errorf("{%s}: %w, and the names %s", inner, err, strings.Join(texts, ", "))
			}
			t.parts = append(t.parts, templatePart{expr: e})
		default:
			plain.WriteByte(c)
		}
	}
	flush()
	return t, nil
}

// is reports whether the template is one name and nothing else.
func (t *template) is(name string) bool { return len(t.parts) == 1 && t.parts[0].name == name }

// fill returns the text at a point.
func (t *template) fill(at map[string]float64, texts map[string]string) string {
	var b strings.Builder
	for _, p := range t.parts {
		switch {
		case p.expr != nil:
			b.WriteString(decimal(p.expr.value(at)))
		case p.name != "":
			b.WriteString(texts[p.name])
		default:
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// splitWords splits a command into words as a shell does: at white space, except in quotes; a
// backslash takes its meaning from the character after it. Nothing else of a shell is known.
func splitWords(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	begun, quote := false, rune(0)
	rest := []rune(text)
	for i := 0; i < len(rest); i++ {
		c := rest[i]
		switch {
		case quote == 0 && strings.ContainsRune(" \t\n", c):
			if begun {
				words = append(words, word.String())
				word.Reset()
			}
			begun = false
			continue
		case quote == 0 && (c == '\'' || c == '"'):
			quote, begun = c, true
			continue
		case quote != 0 && c == quote:
			quote = 0
			continue
		case c == '\\' && quote != '\'':
			if i++; i == len(rest) {
				return nil, errors.New("ends with a backslash")
			}
			c = rest[i]
		}
		word.WriteRune(c)
		begun = true
	}
	if quote != 0 {
		return nil, fmt.Errorf("has a quote %c that is not closed", quote)
	}
	if begun {
		words = append(words, word.String())
	}
	if len(words) == 0 {
		return nil, errors.New("is empty")
	}
	return words, nil
}

// quoteWord writes a word so that a shell reads it as it is.
func quoteWord(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Quote writes a command so that a shell reads it as it is.
func Quote(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quoteWord(w)
	}
	return strings.Join(quoted, " ")
}
