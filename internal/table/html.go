package table

import (
	"bufio"
	"fmt"
	"html"
	"io"
)

// WriteHTML writes the table as an HTML table. Cells on the right have the class right, bars below them the class cellbar. The
// function text makes safe HTML of the text of a cell.
func (t *Table) WriteHTML(w io.Writer, text func(Cell) string) error {
	out := bufio.NewWriter(w)
	out.WriteString("<table>\n<thead><tr>")
	for i, c := range t.Columns {
		class := ""
		if c.Align == Right {
			class = ` class="right"`
		}
		fmt.Fprintf(out, "<th%s>%s</th>", class, html.EscapeString(t.title(i)))
	}
	out.WriteString("</tr></thead>\n<tbody>")
	for _, row := range t.Rows {
		out.WriteString("<tr>")
		for i, c := range row {
			class, bar := c.Mark, ""
			if t.Columns[i].Align == Right {
				class = "right " + class
			}
			if c.Share != 0 {
				bar = fmt.Sprintf(`<span class="cellbar"><span style="width:%.2f%%"></span></span>`, 100*min(max(c.Share, 0), 1))
			}
			fmt.Fprintf(out, `<td class="%s"><span class="cell">%s</span>%s</td>`, html.EscapeString(class), text(c), bar)
		}
		out.WriteString("</tr>\n")
	}
	out.WriteString("</tbody></table>")
	return out.Flush()
}
