package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/internal/provenance"
)

// writeRoff writes a page in the language of man.
func writeRoff(w io.Writer, p page) error {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" %q %q\n", strings.ToUpper(manualName(p.command)), flags.Tool+" "+provenance.Version(), flags.Tool+" manual")
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manualName(p.command)), roff(strings.TrimSuffix(p.short, ".")))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(p.usage))
	fmt.Fprint(&b, ".SH DESCRIPTION\n")
	for _, paragraph := range p.text {
		if paragraph == "" {
			fmt.Fprint(&b, ".PP\n")
			continue
		}
		fmt.Fprintf(&b, "%s\n.br\n", roff(paragraph))
	}
	roffPairs(&b, "ARGUMENTS", p.arguments)
	for _, g := range slices.Concat(p.verbs, p.groups) {
		roffPairs(&b, strings.ToUpper(g.title), g.pairs)
	}
	if len(p.examples) > 0 {
		fmt.Fprint(&b, ".SH EXAMPLES\n.nf\n")
		for _, line := range p.examples {
			fmt.Fprintf(&b, "%s\n", roff(line))
		}
		fmt.Fprint(&b, ".fi\n")
	}
	fmt.Fprintf(&b, ".SH EXIT STATUS\n%s\n", roff(exit.Help))
	roffSeeAlso(&b, p)
	_, err := io.WriteString(w, b.String())
	return err
}

// roffPairs writes names with texts below a heading.
func roffPairs(b *strings.Builder, title string, pairs []flags.Pair) {
	if len(pairs) == 0 {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", roff(title))
	for _, x := range pairs {
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(x.Name), roff(x.Text))
	}
}

// roffSeeAlso names the pages above and below.
func roffSeeAlso(b *strings.Builder, p page) {
	var others []string
	if p.command.HasParent() {
		others = append(others, manualName(p.command.Parent()))
	}
	for _, sub := range p.command.Commands() {
		if sub.IsAvailableCommand() {
			others = append(others, manualName(sub))
		}
	}
	if len(others) == 0 {
		return
	}
	fmt.Fprint(b, ".SH SEE ALSO\n")
	for i, name := range others {
		end := ","
		if i == len(others)-1 {
			end = ""
		}
		fmt.Fprintf(b, ".BR %s (1)%s\n", roff(name), end)
	}
}

// roff takes the meaning from characters that the language gives one.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
