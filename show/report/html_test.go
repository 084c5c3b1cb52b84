package report_test

import (
	"bytes"
	"html"
	"strings"
	"testing"
)

// The page has everything that the document has: title, summary, sections in their order with their questions, reasons of what is
// missing, and the data of figures.
func TestPageHoldsTheDocument(t *testing.T) {
	d := documentOf(t, inputOf(t, lateSender))
	var b bytes.Buffer
	if err := d.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	page := html.UnescapeString(strings.ReplaceAll(b.String(), "<wbr/>", ""))
	at := 0
	for _, s := range d.Sections {
		i := strings.Index(page[at:], `<section id="`+s.ID+`"`)
		if i < 0 {
			t.Fatalf("section %s is missing, or before the one above it", s.ID)
		}
		at += i
		for _, want := range []string{s.Title, s.Question} {
			if !strings.Contains(page[at:], want) {
				t.Errorf("section %s: %q is missing", s.ID, want)
			}
		}
		if s.Missing != nil && !strings.Contains(page[at:], s.Missing.Why) {
			t.Errorf("section %s: the reason %q is missing", s.ID, s.Missing.Why)
		}
		for _, block := range s.Blocks {
			if f := block.Figure; f != nil && !strings.Contains(page[at:], f.Data.Rows[0][0].Text) {
				t.Errorf("figure %s: its data are missing", f.ID)
			}
		}
	}
	if !strings.Contains(page, "<title>"+d.Title) {
		t.Error("the title is missing")
	}
}
