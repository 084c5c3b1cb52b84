package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strings"

	"slackline/internal/phrase"
	"slackline/internal/table"
)

//go:embed page
var page embed.FS

var pageTemplate = template.Must(template.New("report.html").Funcs(template.FuncMap{
	"prose": prose, "typed": typed, "cell": cell, "table": tableHTML, "width": barWidth, "picture": notBound, "narrow": notBound,
	"fill":    func(Share) template.CSS { return "" },
	"shell":   func(tool string, words []string) string { return phrase.Command(append([]string{tool}, words...)...) },
	"percent": func(share float64) string { return phrase.Percent(share, 1) },
	"inc":     func(i int) int { return i + 1 },
}).ParseFS(page, "page/report.html"))

// notBound takes the names of functions that each page brings itself, so that the template can be parsed without a page.
func notBound(*Figure) template.HTML { return "" }

// prose shows what is between backquotes as code. Everything is escaped.
func prose(text string) template.HTML { return marked(text, template.HTMLEscapeString) }

// cell is prose that may be broken after slashes, as call paths need it.
func cell(text string) template.HTML {
	return marked(brief(text), func(s string) string {
		return strings.ReplaceAll(template.HTMLEscapeString(s), "/", "/<wbr/>")
	})
}

// tableHTML is a table; the cells are safe. Commands are shown whole: half of one would be another.
func tableHTML(t *table.Table) (template.HTML, error) {
	var b strings.Builder
	err := t.WriteHTML(&b, func(c table.Cell) string {
		if c.Mark == "command" {
			return string(typed(c.Text))
		}
		return string(cell(c.Text))
	})
	return template.HTML(b.String()), err
}

// mostLetters is how long a name may be on a page, mostOfSentence a sentence; of longer ones the middle is left out. The JSON form has
// them whole.
const (
	mostLetters    = 200
	mostOfSentence = 2000
)

// brief leaves the middle of what is too long for a page out. Sentences end with a period; no word of them is cut.
func brief(text string) string {
	most, letters := mostLetters, []rune(text)
	sentence := strings.HasSuffix(text, ".")
	if sentence {
		most = mostOfSentence
	}
	if len(letters) <= most {
		return text
	}
	head, tail := string(letters[:most/2]), string(letters[len(letters)-most/2:])
	if sentence {
		head = head[:max(strings.LastIndexByte(head, ' '), 0)]
		_, tail, _ = strings.Cut(tail, " ")
	}
	return head + " … " + tail
}

// marked marks code; plain makes a piece of text safe. Names are cut, commands are not.
func marked(text string, plain func(string) string) template.HTML {
	var b strings.Builder
	for i, piece := range strings.Split(text, "`") {
		if i%2 == 1 {
			if !strings.HasPrefix(piece, toolName+" ") {
				piece = brief(piece)
			}
			b.WriteString("<code>" + plain(piece) + "</code>")
			continue
		}
		b.WriteString(plain(percents.ReplaceAllString(piece, "$1\u00a0$2")))
	}
	return template.HTML(b.String())
}

// percents are the spaces of "5 %" and "< 0.1 %": no line ends there.
var percents = regexp.MustCompile(`([0-9<>]) ([%0-9])`)

// typed is a command whose words are broken only where they are longer than a line.
func typed(command string) template.HTML {
	var b strings.Builder
	for i, word := range strings.Split(command, " ") {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("<span>" + template.HTMLEscapeString(word) + "</span>")
	}
	return template.HTML(b.String())
}

// barWidth is the style of a bar.
func barWidth(share float64) template.CSS {
	return template.CSS(fmt.Sprintf("width:%.2f%%", 100*min(max(share, 0), 1)))
}

// WriteHTML writes the document as one page that needs nothing else.
func (d *Document) WriteHTML(w io.Writer) error {
	colors := &palette{}
	wide, narrow := map[*Figure]template.HTML{}, map[*Figure]template.HTML{}
	for _, s := range d.Sections {
		for _, b := range s.Blocks {
			if b.Shares != nil {
				for _, p := range b.Shares.Parts {
					colors.variable(p.color.Light, p.color.Dark) // before the page names it
				}
			}
			if b.Figure == nil {
				continue
			}
			wide[b.Figure] = colors.picture(b.Figure, wideFigure)
			narrow[b.Figure] = colors.picture(b.Figure, narrowFigure)
		}
	}
	style, err := page.ReadFile("page/report.css")
	if err != nil {
		return err
	}
	t, err := pageTemplate.Clone()
	if err != nil {
		return err
	}
	t.Funcs(template.FuncMap{
		"picture": func(f *Figure) template.HTML { return wide[f] },
		"narrow":  func(f *Figure) template.HTML { return narrow[f] },
		"fill": func(s Share) template.CSS {
			return template.CSS("background-color:var(" + colors.variable(s.color.Light, s.color.Dark) + ")")
		},
	})
	return t.Execute(w, map[string]any{
		"Document": d, "Style": template.CSS(style), "Light": colors.css(false), "Dark": colors.css(true),
	})
}
