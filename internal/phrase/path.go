package phrase

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"slackline/internal/table"
)

// PathTable is a table with a column callpath, in which call paths are shortened where the table is too wide.
func PathTable(columns ...string) *table.Table {
	t := table.Of(columns...)
	for i := range t.Columns {
		if t.Columns[i].Key == "callpath" {
			t.Columns[i].Short = ShortPath
		}
	}
	return t
}

// ShortPath returns a call path or the name of a function in at most so many letters, as far as that is possible: first
// without the arguments of templates and functions, then without names in the middle of the path, then without its start and the
// namespaces of the callers, at last without the middle of the name. What is called, and by whom, stay readable.
func ShortPath(name string, most int) string {
	const minimum = 12
	most = max(most, minimum)
	if utf8.RuneCountInString(name) <= most {
		return name
	}
	parts, joint := splitPath(name)
	for i := range parts {
		parts[i] = withoutArguments(parts[i])
	}
	n := len(parts)
	text, ok := joined(parts, joint, most)
	least := min(2, n) // what is called, and its caller: without that, rows of a table look the same
	if strings.ContainsAny(parts[n-1], " [") {
		least = min(3, n) // "no CPU" and "[noise]" are no functions
	}
	for more := true; more && !ok; more = withoutNamespace(parts[:n-1]) {
		for tail := n - 2; tail >= least && !ok; tail-- { // main/.../solve/MPI_Recv, with as much before the end as fits
			text, ok = joined(append([]string{parts[0], "..."}, parts[n-tail:]...), joint, most)
		}
		if !ok && n > least {
			text, ok = joined(append([]string{"..."}, parts[n-least:]...), joint, most)
		}
	}
	if ok {
		return text
	}
	if n > 1 { // ...end_of_caller/MPI_Recv
		const some = 4 // letters of the caller; with less it is left out
		last := []rune(joint + parts[n-1])
		before := []rune(strings.Join(parts[max(0, n-least):n-1], joint))
		switch room := most - len("...") - len(last); {
		case room >= some:
			return "..." + string(before[max(0, len(before)-room):]) + string(last)
		case room >= 0:
			return "..." + string(last)
		}
		text = "..." + string(last)
	}
	letters := []rune(text)
	head := (most - 3) / 2
	return string(letters[:head]) + "..." + string(letters[len(letters)-(most-3-head):])
}

// joined is a path of these parts, and whether it has at most so many letters.
func joined(parts []string, joint string, most int) (string, bool) {
	text := strings.Join(parts, joint)
	return text, utf8.RuneCountInString(text) <= most
}

// withoutNamespace takes the outermost namespace or class from the names that have one: of N::Class::method Class::method. False: none has.
func withoutNamespace(names []string) bool {
	some := false
	for i, name := range names {
		if outer, rest, ok := strings.Cut(name, "::"); ok && rest != "" && strings.IndexFunc(outer, isNoNameLetter) < 0 {
			names[i], some = rest, true
		}
	}
	return some
}

// splitPath splits a call path at "->", or else at slashes that are not inside brackets.
func splitPath(path string) (parts []string, joint string) {
	joint = "/"
	if strings.Contains(path, "->") {
		joint = "->"
	}
	depth, start := 0, 0
	for i := 0; i < len(path); i++ {
		switch {
		case depth == 0 && strings.HasPrefix(path[i:], joint):
			parts = append(parts, path[start:i])
			start = i + len(joint)
			i = start - 1
		case strings.HasPrefix(path[i:], "->"):
			i++
		case path[i] == '<' || path[i] == '(':
			depth++
		case (path[i] == '>' || path[i] == ')') && depth > 0:
			depth--
		}
	}
	if depth > 0 { // brackets that are none, as in operator<
		return strings.Split(path, joint), joint
	}
	return append(parts, path[start:]), joint
}

// withoutArguments replaces what is in the brackets after a name by two dots: of vector<double, allocator<double>> vector<..>. Names
// such as <module>, (anonymous namespace) and operator<< stay as they are.
func withoutArguments(name string) string {
	letters := []rune(name)
	var out []rune
	for i := 0; i < len(letters); i++ {
		c := letters[i]
		out = append(out, c)
		if c != '<' && c != '(' || i == 0 || !isNameLetter(letters[i-1]) || strings.HasSuffix(string(out[:len(out)-1]), "operator") {
			continue
		}
		end := closing(letters[i:])
		if end < 0 || end < 4 { // f(), f(x), vector<T>
			continue
		}
		out = append(out, '.', '.', letters[i+end])
		i += end
	}
	return string(out)
}

func isNoNameLetter(c rune) bool { return !isNameLetter(c) }

func isNameLetter(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) }

// closing returns the place of the bracket that closes the first letter, -1 if there is none.
func closing(letters []rune) int {
	var open []rune
	for i, c := range letters {
		switch c {
		case '<', '(', '[', '{':
			open = append(open, c)
		case '>', ')', ']', '}':
			if c == '>' && i > 0 && letters[i-1] == '-' {
				continue // ->
			}
			if len(open) == 0 || !slices.Contains([]string{"<>", "()", "[]", "{}"}, string([]rune{open[len(open)-1], c})) {
				return -1
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				return i
			}
		}
	}
	return -1
}
