package schedule

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// grammar is the grammar of GOAL without comments, as a regular expression: a second opinion on
// what the reader accepts.
var grammar = func() *regexp.Regexp {
	expand := strings.NewReplacer(
		" ", "",
		"_", `[ \t]+`, // blanks must stand here
		"~", `[ \t]*`, // blanks may stand here
		"NL", `\r?\n`,
		"INT", `[0-9]+`,
		"LABEL", `[A-Za-z][A-Za-z0-9_]*`,
		"RANKS", `num_ranks`,
	).Replace
	unit := `(_cpu_INT)? (_nic_INT)?`
	op := `(calc_INT (_cpu_INT)? | send_INT~b_to_INT (_tag_INT)? ` + unit + ` | recv_INT~b_from_(INT|-1) (_tag_(INT|-1))? ` + unit + `)`
	statement := `((LABEL~:~)?` + op + `|LABEL_i?requires_LABEL)`
	block := `rank_INT~\{ (~` + statement + `?~NL)* ~\}`
	space := `(~NL)*~`
	return regexp.MustCompile(expand(`^` + space + `RANKS_INT (((_|NL)+` + block + `)(` + space + block + `)*)?` + space + `$`))
}()

// withoutComments replaces block comments by a blank and removes line comments. It fails if a
// comment is not closed.
func withoutComments(text []byte) ([]byte, bool) {
	var out []byte
	for len(text) > 0 {
		switch {
		case bytes.HasPrefix(text, []byte("//")):
			n := bytes.IndexByte(text, '\n')
			if n < 0 {
				n = len(text)
			}
			text = text[n:]
		case bytes.HasPrefix(text, []byte("/*")):
			_, rest, ok := bytes.Cut(text[2:], []byte("*/"))
			if !ok {
				return nil, false
			}
			text = rest
			out = append(out, ' ')
		default:
			out = append(out, text[0])
			text = text[1:]
		}
	}
	return out, true
}

// otherReasons are parts of the messages about texts that follow the grammar and are refused
// nevertheless.
var otherReasons = []string{
	"out of range", "too much memory", "but the file declares", "second block", "is not defined in rank", "is defined twice",
	"wait for each other", "itself", "does not fit into 63 bits", "cannot be a label", "inside the block of rank",
}

// checkGrammar holds the reader against the grammar.
func checkGrammar(t interface{ Fatalf(string, ...any) }, text []byte) {
	plain, closed := withoutComments(text)
	follows := closed && grammar.Match(plain)
	_, err := ReadGOAL("f", text)
	switch {
	case err == nil && !follows:
		t.Fatalf("the reader accepts %q, the grammar does not", text)
	case err != nil && follows && !slices.ContainsFunc(otherReasons, func(s string) bool { return strings.Contains(err.Error(), s) }):
		t.Fatalf("the grammar accepts %q, the reader says %v", text, err)
	}
}

func FuzzGrammar(f *testing.F) {
	for _, text := range []string{
		"num_ranks 2 rank 1 { calc 5\n}",
		"num_ranks 2\n/**/rank 1{}rank 0 { a:calc 5 cpu 2\n b :send 4b to 1 tag 3 cpu 1 nic 0//\n a irequires b\r\n\n}\n",
		"//\nnum_ranks/**/1\nrank 0 { requires: recv 8 b from -1 tag -1\nirequires requires requires\nirequires:calc 1\n}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !declaresTooMany(text) {
			checkGrammar(t, text)
		}
	})
}

// Texts made of the words of GOAL are right now and then, and nearly right most of the time.
func TestGrammarOfRandomWords(t *testing.T) {
	words := []string{
		"num_ranks", "rank", "{", "}", "send", "recv", "calc", "b", "to", "from", "tag", "cpu", "nic", "requires", "irequires",
		"0", "1", "2", "-1", "8b", "a", "a1", "a:", ":", " ", " ", "\t", "\n", "\n", "\r\n", "/* c */", "// c\n", "/*\n*/", "/",
	}
	lines := []string{
		"calc 5\n", "a: calc 5 cpu 1\n", "b:send 8b to 1\n", "c : recv 8 b from -1 tag -1 nic 3\n", "a requires b\n", "b irequires a // x\n",
		"}", "rank 0 {", "rank 1{", "\n", "send 4b to 0 tag 9 cpu 0 nic 0\r\n",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := []byte("num_ranks 2\n")
		for range rapid.IntRange(0, 12).Draw(t, "lines") {
			line := rapid.SampledFrom(lines).Draw(t, "line")
			if rapid.IntRange(0, 5).Draw(t, "change") == 0 {
				at := rapid.IntRange(0, len(line)).Draw(t, "at")
				end := min(len(line), at+rapid.IntRange(0, 2).Draw(t, "cut"))
				line = line[:at] + rapid.SampledFrom(words).Draw(t, "word") + line[end:]
			}
			text = append(text, line...)
		}
		checkGrammar(t, text)
	})
}

// layout writes words with blanks, comments and line ends as they may stand in a file.
type layout struct {
	t    *rapid.T
	text strings.Builder
}

// words writes words of one line. Words that begin with a ~ need no blank before them.
func (l *layout) words(words ...string) {
	for i, word := range words {
		word, glued := strings.CutPrefix(word, "~")
		blanks := []string{" ", "\t", "  ", "/**/", " /* a\n } b */\t"}
		if glued || i == 0 {
			blanks = append(blanks, "", "", "")
		}
		l.text.WriteString(rapid.SampledFrom(blanks).Draw(l.t, "blank"))
		l.text.WriteString(word)
	}
}

func (l *layout) endLine() {
	l.text.WriteString(rapid.SampledFrom([]string{"\n", "\r\n", " \n", "// }\n", "\t// x\r\n", "/* */\n\n\n", "\n\r\n"}).Draw(l.t, "end"))
}

// op writes an operation with its label.
func (l *layout) op(label string, op *Op) {
	var words []string
	if label != "" {
		words = append(words, label, "~:")
	}
	kind := op.Kind.String()
	if label != "" {
		kind = "~" + kind
	}
	switch op.Kind {
	case Calc:
		words = append(words, kind, fmt.Sprint(op.Size/psPerNs))
	case Send:
		words = append(words, kind, fmt.Sprint(op.Size), "~b", "to", fmt.Sprint(op.Peer))
	case Recv:
		words = append(words, kind, fmt.Sprint(op.Size), "~b", "from", fmt.Sprint(op.Peer))
	}
	say := func() bool { return rapid.Bool().Draw(l.t, "say 0") }
	if op.Tag == AnyTag {
		words = append(words, "tag", "-1")
	} else if op.Kind != Calc && (op.Tag != 0 || say()) {
		words = append(words, "tag", fmt.Sprint(op.Tag))
	}
	if op.CPU != 0 || say() {
		words = append(words, "cpu", fmt.Sprint(op.CPU))
	}
	if op.Kind != Calc && (op.NIC != 0 || say()) {
		words = append(words, "nic", fmt.Sprint(op.NIC))
	}
	l.words(words...)
	l.endLine()
}

// block writes a rank with dependencies at any place.
func (l *layout) block(g *Graph, rank int, labels []string) {
	var b Block
	l.words("rank", fmt.Sprint(rank), "~{")
	var edges [][]string
	if g.Steps(rank) > 0 {
		g.Block(rank, 0, &b)
		for i := range b.Ops {
			for _, d := range dependentsOf(&b, i) {
				word := "requires"
				if d.OnStart() {
					word = "irequires"
				}
				edges = append(edges, []string{labels[d.Index()], word, labels[i]})
			}
		}
		edges = rapid.Permutation(edges).Draw(l.t, "edges")
	}
	for i := range b.Ops {
		for len(edges) > 0 && rapid.Bool().Draw(l.t, "edge here") {
			l.words(edges[0]...)
			l.endLine()
			edges = edges[1:]
		}
		l.op(labels[i], &b.Ops[i])
	}
	for _, edge := range edges {
		l.words(edge...)
		l.endLine()
	}
	l.words("~}")
}

func TestReadGOALAnyLayout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(1, 4).Draw(t, "ranks")
		g := drawBlocks(t, ranks)
		for i := range g.ops {
			if g.ops[i].Kind == Calc {
				g.ops[i].Size -= g.ops[i].Size % psPerNs
			}
		}
		g = flatWritten(t, g)
		l := &layout{t: t}
		l.words("num_ranks", fmt.Sprint(ranks))
		l.endLine()
		order := make([]int, ranks)
		for i := range order {
			order[i] = i
		}
		kind := rapid.IntRange(0, 2).Draw(t, "labels")
		for _, rank := range rapid.Permutation(order).Draw(t, "order") {
			if g.Steps(rank) == 0 && rapid.Bool().Draw(t, "leave out") {
				continue
			}
			var labels []string
			for i := range g.RankOps(rank) {
				labels = append(labels, []string{fmt.Sprintf("l%d", i), fmt.Sprintf("r%d_%d", rank, 7*i), strings.Repeat("x", i+1)}[kind])
			}
			l.block(g, rank, labels)
		}
		text := l.text.String()
		again, err := ReadGOAL("f", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if got, want := describe(again), describe(g); got != want {
			t.Fatalf("the text\n%s\nis read as\n%s\nwant\n%s", text, got, want)
		}
		checkGrammar(t, []byte(text))
		for rank := range ranks { // lines must be those of the text, however many a comment spans
			for i := range again.RankOps(rank) {
				line := strings.Split(text, "\n")[again.Line(rank, i)-1]
				if label := again.Label(rank, i); !strings.Contains(line, label) && !strings.Contains(line, again.RankOps(rank)[i].Kind.String()) {
					t.Fatalf("operation %s of rank %d is said to be in line %q", label, rank, line)
				}
			}
		}
	})
}
