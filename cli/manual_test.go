package cli

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"slackline/cli/env"
	"slackline/cli/flags"
	"slackline/internal/needed"
)

var updatePages = flag.Bool("update-pages", false, "write the references of the verbs into docs/verbs anew")

const (
	referenceBegin = "<!-- What follows is made from the help texts: go test ./cli -run TestVerbPages -update-pages -->\n"
	referenceTitle = "## Reference\n\n"
)

// TestVerbPages holds the reference at the end of every verb's page against its help.
func TestVerbPages(t *testing.T) {
	a := env.New(nil, strings.NewReader(""), io.Discard, io.Discard)
	root := rootCommand(a)
	others := filepath.Join("..", "docs", "verbs", "others.md")
	references := map[string]*bytes.Buffer{}
	for _, c := range root.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		path := filepath.Join("..", "docs", "verbs", c.Name()+".md")
		if _, err := os.Stat(path); err != nil {
			path = others
		}
		if references[path] == nil {
			references[path] = &bytes.Buffer{}
		}
		eachCommand(c, func(sub *cobra.Command) {
			if err := writeMarkdown(references[path], pageOf(a, sub), 3); err != nil {
				t.Fatal(err)
			}
		})
	}
	checkIndex(t, root)
	for path, reference := range references {
		want := referenceBegin + referenceTitle + strings.TrimRight(reference.String(), "\n") + "\n"
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		prose, got, _ := strings.Cut(string(data), referenceBegin)
		if referenceBegin+got == want {
			continue
		}
		if got != "" && !strings.HasPrefix(got, referenceTitle) {
			t.Errorf("%s: move what stands behind the line\n%sin front of it; it would be lost", path, referenceBegin)
			continue
		}
		if !*updatePages {
			t.Errorf("%s does not end with the help of its verb as it is; run go test ./cli -run TestVerbPages -update-pages", path)
			continue
		}
		if err := os.WriteFile(path, []byte(strings.TrimRight(prose, "\n")+"\n\n"+want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// checkIndex holds the list of verbs in docs/verbs/README.md against the registry.
func checkIndex(t *testing.T, root *cobra.Command) {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Verbs\n\n<!-- This page is made from the registry of verbs: go test ./cli -run TestVerbPages -update-pages -->\n")
	for _, g := range verbGroups(root) {
		fmt.Fprintf(&b, "\n## %s\n\n| verb | what |\n| --- | --- |\n", g.title)
		for _, v := range g.pairs {
			page := v.Name + ".md"
			if _, err := os.Stat(filepath.Join("..", "docs", "verbs", page)); err != nil {
				page = "others.md"
			}
			fmt.Fprintf(&b, "| [%s](%s) | %s |\n", v.Name, page, escapeMarkdown(v.Text))
		}
	}
	b.WriteString("\n[settings.md](settings.md) has the flags of all verbs, variables, the settings file and the exit codes.\n")
	path := filepath.Join("..", "docs", "verbs", "README.md")
	data, err := os.ReadFile(path)
	switch {
	case err == nil && string(data) == b.String():
	case !*updatePages:
		t.Errorf("%s is not the list of verbs; run go test ./cli -run TestVerbPages -update-pages", path)
	default:
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestManualPages lets man's own formatter read every page.
func TestManualPages(t *testing.T) {
	groff := needed.Tool(t, "groff")
	a := env.New(nil, strings.NewReader(""), io.Discard, io.Discard)
	eachCommand(rootCommand(a), func(c *cobra.Command) {
		var page bytes.Buffer
		if err := writeRoff(&page, pageOf(a, c)); err != nil {
			t.Fatal(err)
		}
		formatter := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z")
		formatter.Stdin = &page
		if out, err := formatter.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", c.CommandPath(), err, out)
		}
	})
}

func TestRoffEscapes(t *testing.T) {
	for in, want := range map[string]string{".x": `\&.x`, "'x": `\&'x`, `a\b`: `a\eb`, "--out": `\-\-out`} {
		if got := roff(in); got != want {
			t.Errorf("roff(%q) = %q, want %q", in, got, want)
		}
	}
}

// writeMarkdown writes a page as a part of a document. Level is that of its headings.
func writeMarkdown(w io.Writer, p page, level int) error {
	var b strings.Builder
	head := strings.Repeat("#", level)
	fmt.Fprintf(&b, "%s `%s`\n\n", head, p.command.CommandPath())
	fmt.Fprintf(&b, "```\n%s\n```\n\n", p.usage)
	for _, paragraph := range p.text {
		if paragraph != "" {
			fmt.Fprintf(&b, "%s\n\n", escapeMarkdown(paragraph))
		}
	}
	list := func(title, column string, pairs []flags.Pair) {
		if len(pairs) == 0 {
			return
		}
		fmt.Fprintf(&b, "| %s | %s |\n| --- | --- |\n", column, title)
		for _, x := range pairs {
			fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(x.Name, "|", `\|`), escapeMarkdown(x.Text))
		}
		b.WriteByte('\n')
	}
	list("", "argument", p.arguments)
	for _, g := range p.verbs {
		list("", "verb", g.pairs)
	}
	for _, g := range p.groups {
		if g.title != "Common flags" { // docs/verbs/settings.md has them
			list("", g.title, g.pairs)
		}
	}
	if len(p.examples) > 0 {
		fmt.Fprintf(&b, "```sh\n%s\n```\n\n", strings.Join(p.examples, "\n"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// escapeMarkdown takes the meaning from characters that Markdown gives one.
func escapeMarkdown(s string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "<", "&lt;", "_", `\_`).Replace(s)
}
