package plot

import (
	"strings"

	"slackline/internal/phrase"
)

// Sizes of texts.
const (
	titleSize   = 15
	textSize    = 12
	smallSize   = 11
	lineSpacing = 1.35 // distance of base lines, in sizes
	capHeight   = 0.36 // from the base line to the middle of digits, in sizes
)

// maxTextLength bounds what is kept of a text, in bytes; more would not be read in a figure.
const maxTextLength = 2000

// wrap breaks a text into lines that fit the width, at most limit of them. What does not fit is
// replaced by an ellipsis. Line feeds break lines.
func wrap(s string, size, width float64, bold bool, limit int) []string {
	s = strings.TrimSpace(s)
	if len(s) > maxTextLength {
		s = strings.ToValidUTF8(s[:maxTextLength], "") + "…"
	}
	var lines []string
	for paragraph := range strings.SplitSeq(s, "\n") {
		current := ""
		for word := range strings.FieldsSeq(paragraph) {
			joined := word
			if current != "" {
				joined = current + " " + word
			}
			if current != "" && textRoom(joined, size, bold) > width {
				lines = append(lines, current)
				joined = word
			}
			current = joined
		}
		if current != "" {
			lines = append(lines, current)
		}
	}
	if len(lines) > limit {
		lines = lines[:limit]
		lines[limit-1] += " …"
	}
	for i, l := range lines {
		lines[i] = shorten(l, size, width, bold)
	}
	return lines
}

// shorten cuts a text that is wider than width and marks the cut by an ellipsis.
func shorten(s string, size, width float64, bold bool) string {
	if textRoom(s, size, bold) <= width {
		return s
	}
	runes := []rune(strings.TrimSuffix(s, " …"))
	if len(runes) > maxTextLength {
		runes = runes[:maxTextLength]
	}
	for len(runes) > 0 {
		runes = runes[:len(runes)-1]
		if cut := strings.TrimRight(string(runes), " ") + "…"; textRoom(cut, size, bold) <= width {
			return cut
		}
	}
	return "…"
}

// words are the texts that every kind of figure has, and its legend.
type words struct {
	title, subtitle, caption []string
	legend                   legend
}

// newWords breaks the texts and the legend to the width of the figure.
func newWords(title, subtitle, caption string, width float64, entries []legendEntry) words {
	inner := width - 2*margin
	return words{
		title:    wrap(title, titleSize, inner, true, 3),
		subtitle: wrap(phrase.Spaced(subtitle), textSize, inner, false, 3),
		caption:  wrap(caption, smallSize, inner, false, 6),
		legend:   newLegend(entries, inner),
	}
}

// margin is the free space around a figure.
const margin = 16

// headHeight is the space of title, subtitle and legend, with the margin above them.
func (w words) headHeight() float64 {
	return margin + float64(len(w.title))*titleSize*lineSpacing + float64(len(w.subtitle))*textSize*lineSpacing + w.legend.height
}

// footHeight is the space of the caption, with the margin below it.
func (w words) footHeight() float64 {
	if len(w.caption) == 0 {
		return margin
	}
	return margin + 8 + float64(len(w.caption))*smallSize*lineSpacing
}

// draw writes title, subtitle and legend at the top and the caption at the bottom.
func (w words) draw(c canvas, th *theme, height float64) {
	y := float64(margin)
	for _, l := range w.title {
		c.text(point{margin, y + titleSize*0.9}, l, textStyle{size: titleSize, bold: true, color: th.ink})
		y += titleSize * lineSpacing
	}
	for _, l := range w.subtitle {
		c.text(point{margin, y + textSize*0.9}, l, textStyle{size: textSize, color: th.muted})
		y += textSize * lineSpacing
	}
	y = height - margin - float64(len(w.caption))*smallSize*lineSpacing
	for _, l := range w.caption {
		c.text(point{margin, y + smallSize}, l, textStyle{size: smallSize, color: th.muted})
		y += smallSize * lineSpacing
	}
	w.legend.draw(c, th, point{margin, w.headHeight() - w.legend.height + 2})
}
