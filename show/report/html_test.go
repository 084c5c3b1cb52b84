package report_test

import (
	"bytes"
	"html"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"slackline/internal/needed"
	"slackline/model/trace/tracetest"
)

// The page has everything that the document has: title, summary, sections in their order with their questions, reasons of what is
// missing, and the data of figures.
func TestPageHoldsTheDocument(t *testing.T) {
	d := documentOf(t, inputOf(t, tracetest.LateSender))
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

// The names of files cannot make other commands of those on the page, however long they are: with a backquote, which marks code in
// texts, and with a quote where a name would be cut. A shell reads each command as the words that were asked for.
func TestCommandsOfHostileNames(t *testing.T) {
	shown := regexp.MustCompile(`(?:<span class="cell">|<code>)(?:<span>)?(slackline(?:</span>)? .*?)(?:</code>|</td>)`)
	quotes := "it's " + strings.Repeat("'", 60) + "$(touch planted)" + strings.Repeat("y", 80)
	for _, name := range []string{"x`$(touch planted)`.slt", quotes} {
		in := inputOf(t, tracetest.LateSender)
		in.Runs[0].Words, in.Runs[0].Simulate = []string{name}, []string{name}
		in.Advise.Words[2] = name
		d := documentOf(t, in)
		var b bytes.Buffer
		if err := d.WriteHTML(&b); err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, c := range shown.FindAllStringSubmatch(b.String(), -1) {
			command := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(c[1], ""))
			shell := exec.Command(needed.Tool(t, "bash"), "-c", `slackline() { printf '%s\n' "$@"; }; `+command)
			shell.Dir = t.TempDir()
			words, err := shell.Output()
			if err != nil {
				t.Errorf("%s: %v", command, err)
			}
			if made, _ := os.ReadDir(shell.Dir); len(made) > 0 {
				t.Errorf("%s: a shell runs what the name asks for", command)
			}
			if slices.Contains(strings.Split(string(words), "\n"), name) {
				found++
			} else if strings.Contains(command, "planted") {
				t.Errorf("%s: a shell reads %q", command, words)
			}
		}
		if found < 5 {
			t.Errorf("%d commands have the name, want 5 or more", found)
		}
	}
}
