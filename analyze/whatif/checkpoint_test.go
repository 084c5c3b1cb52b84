package whatif

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"slackline/internal/journal"
	"slackline/model/unit"
)

var testSeries = []Property{{"input", "dissemination"}, {"seed", "1"}}

// Lines without checksum; see sign.
const (
	testHead = `{"slackline_replicas":2,"series":[{"name":"input","value":"dissemination"},{"name":"seed","value":"1"}]}` + "\n"
	testLine = `{"ranks":8,"ops":48,"noiseless_ps":31530000,"first":0,"makespans_ps":[31530000,-1,40000000]}` + "\n"
)

// sign gives all lines their checksums.
func sign(text string) string {
	var sum journal.Chain
	var out strings.Builder
	for line := range strings.Lines(text) {
		line, _ = strings.CutSuffix(line, "\n")
		body := strings.TrimSuffix(line, "}")
		fmt.Fprintf(&out, "%s"+journal.SumField+"%08x\"}\n", body, sum.Add([]byte(body)))
	}
	return out.String()
}

func TestCheckpoint(t *testing.T) {
	text := sign(testHead + testLine)
	for _, given := range []string{text, strings.TrimSuffix(text, "\n")} { // an editor may cut the last end of line
		c, err := ReadCheckpoint("f", strings.NewReader(given), testSeries)
		if err != nil {
			t.Fatal(err)
		}
		if c.Replicas() != 2 || c.Torn() != 0 {
			t.Errorf("%d replicas, torn %d, want 2 and 0", c.Replicas(), c.Torn())
		}
		if got := written(t, c); got != text {
			t.Errorf("written:\n%swant:\n%s", got, text)
		}
	}
}

// TestCheckpointExample compares with the lines that Write shows, so that others can write them.
func TestCheckpointExample(t *testing.T) {
	c := NewCheckpoint([]Property{{"input", "ring"}, {"seed", "1"}})
	*c.at(8) = kept{Noiseless: 31530000, Ops: 48, makespans: []unit.Duration{31530000, unknown}}
	want := `{"slackline_replicas":2,"series":[{"name":"input","value":"ring"},{"name":"seed","value":"1"}],"crc32c":"fba69141"}
{"ranks":8,"ops":48,"noiseless_ps":31530000,"first":0,"makespans_ps":[31530000,-1],"crc32c":"5535352e"}
`
	if got := written(t, c); got != want {
		t.Errorf("written:\n%swant:\n%s", got, want)
	}
}

func written(t interface{ Fatal(...any) }, c *Checkpoint) string {
	var out bytes.Buffer
	if err := c.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCheckpointErrors(t *testing.T) {
	const otherHead = `{"slackline_replicas":2,"series":[{"name":"input","value":"dissemination"},{"name":"delay","value":"1@0:1us"}]}`
	for _, tc := range []struct{ text, want string }{
		{"", "f:1: this is not a file of replicas"},
		{"num_ranks 2\n", "f:1: this is not a file of replicas"},
		{sign("{}\n"), "f:1: this is not a file of replicas"},
		{sign(`{"slackline_replicas":3}`), "f:1: the file has version 3, this slackline reads 2; remove it"},
		{strings.Replace(testHead, ":2", ":1", 1), "f:1: the file has version 1, which has no checksums, this slackline reads 2; remove it"},
		{testHead, "f:1: the line is damaged: the series of these replicas is unknown; remove the file"},
		{sign(strings.Replace(testHead, `"1"`, `"2"`, 1)), "f holds replicas of another series: its seed is 2, not 1"},
		{sign(strings.Replace(testHead, "dissemination", "ring", 1)), "its input is ring, not dissemination"},
		{sign(strings.Replace(testHead, "dissemination", strings.Repeat("x", 99), 1)), "its input differs"},
		{sign(otherHead), "its seed is none, not 1, its delay is 1@0:1us, not none"},
		{sign(testHead) + testLine, "f:2: the line is damaged, or lines before it were moved, added or removed; remove this line and all " +
			"after it"},
		{sign(testHead) + "\n", "f:2: the line is damaged"},
		{sign(testHead) + strings.Repeat("x", longestLine+1), "f:2: the line has more than 1048576 bytes"},
		{sign(testHead + "x\n"), "f:2: invalid"},
		{sign(testHead + testLine + testLine), "f:3: begins at replica 0 instead of 3 of 8 ranks"},
		{sign(testHead + strings.Replace(testLine, `"ops":48`, `"ops":0`, 1)), "f:2: a number is out of range"},
		{sign(testHead + strings.Replace(testLine, "-1", "-2", 1)), "f:2: a makespan is negative"},
		{sign(testHead + testLine + strings.NewReplacer(`"first":0`, `"first":3`, "48", "49").Replace(testLine)), "f:3: contradicts"},
	} {
		if _, err := ReadCheckpoint("f", strings.NewReader(tc.text), testSeries); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%.200q: error %v, want %q", tc.text, err, tc.want)
		}
	}
}

// drawCheckpoint returns a checkpoint whose file has several lines.
func drawCheckpoint(t *rapid.T) *Checkpoint {
	c := NewCheckpoint(testSeries)
	for _, ranks := range rapid.SliceOfNDistinct(rapid.IntRange(1, 1<<20), 1, 4, rapid.ID).Draw(t, "ranks") {
		p := c.at(ranks)
		p.Ops, p.Noiseless = rapid.Int64Range(1, 1<<40).Draw(t, "ops"), unit.Duration(rapid.Int64Range(0, 1<<50).Draw(t, "noiseless"))
		for i := range rapid.IntRange(0, 5).Draw(t, "replicas") {
			p.set(i, unit.Duration(rapid.Int64Range(-1, 1<<50).Draw(t, "makespan")))
		}
		if rapid.IntRange(0, 9).Draw(t, "long") == 0 {
			p.set(lineReplicas+2, 1) // two lines
		}
	}
	return c
}

// harmless describes what is wrong with what was read from a changed file: all that it knows must be in
// the checkpoint that was written, so that the rest is run again and the result is the same.
func harmless(read, want *Checkpoint) string {
	for ranks, p := range read.points {
		w := want.points[ranks]
		if w == nil || p.Ops != w.Ops || p.Noiseless != w.Noiseless || len(p.makespans) > len(w.makespans) {
			return fmt.Sprintf("%d ranks: read %v, want %v", ranks, p, w)
		}
		for i, m := range p.makespans {
			if m != unknown && m != w.makespans[i] {
				return fmt.Sprintf("replica %d of %d ranks is %d, want %d", i, ranks, m, w.makespans[i])
			}
		}
	}
	return ""
}

// checkDamaged reads a changed file: it must be refused with file and line, or be harmless.
func checkDamaged(t *rapid.T, what string, text []byte, want *Checkpoint) {
	read, err := ReadCheckpoint("f", bytes.NewReader(text), testSeries)
	if err != nil {
		if !strings.HasPrefix(err.Error(), "f:") || !strings.Contains(err.Error(), "remove") {
			t.Fatalf("%s: error %q, want one with file, line and what to do", what, err)
		}
		return
	}
	if wrong := harmless(read, want); wrong != "" {
		t.Fatalf("%s: %s\n%s", what, wrong, text)
	}
	if whole := bytes.HasSuffix(text, []byte("\n")); whole && read.Torn() > 0 {
		t.Fatalf("%s: torn in line %d", what, read.Torn())
	}
}

// TestCheckpointDamage: no damage gives other makespans.
func TestCheckpointDamage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCheckpoint(t)
		text := []byte(written(t, c))

		flipped := bytes.Clone(text)
		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		flipped[at] ^= rapid.ByteRange(1, 255).Draw(t, "bits")
		checkDamaged(t, "flipped", flipped, c)

		checkDamaged(t, "cut", text[:at], c)
		checkDamaged(t, "cut in the middle", slices.Concat(text[:at], text[rapid.IntRange(at, len(text)).Draw(t, "end"):]), c)
		checkDamaged(t, "byte added", slices.Insert(bytes.Clone(text), at, rapid.Byte().Draw(t, "byte")), c)

		lines := bytes.SplitAfter(text, []byte("\n"))
		lines = lines[:len(lines)-1]
		i, j := rapid.IntRange(0, len(lines)-1).Draw(t, "i"), rapid.IntRange(0, len(lines)-1).Draw(t, "j")
		checkDamaged(t, "doubled", bytes.Join(slices.Insert(slices.Clone(lines), j, lines[i]), nil), c)
		checkDamaged(t, "left out", bytes.Join(slices.Delete(slices.Clone(lines), i, i+1), nil), c)
		lines[i], lines[j] = lines[j], lines[i]
		checkDamaged(t, "moved", bytes.Join(lines, nil), c)
	})
}

// TestCheckpointFlips changes every bit, and makes every byte an end of line. Only the last line can be
// lost.
func TestCheckpointFlips(t *testing.T) {
	text := []byte(sign(testHead + testLine + strings.Replace(testLine, ":8", ":9", 1)))
	want, err := ReadCheckpoint("f", bytes.NewReader(text), testSeries)
	if err != nil {
		t.Fatal(err)
	}
	for at := range text {
		for _, bits := range []byte{1, 2, 4, 8, 16, 32, 64, 128, 255, text[at] ^ '\n'} {
			if bits == 0 {
				continue
			}
			text[at] ^= bits
			read, err := ReadCheckpoint("f", bytes.NewReader(text), testSeries)
			switch last := at == len(text)-1; {
			case !last && err == nil:
				t.Fatalf("byte %d is changed by %02x and accepted", at, bits)
			case last && (err != nil || read.Torn() != 3 || harmless(read, want) != "" || read.Replicas() != 2):
				t.Fatalf("the last byte is changed by %02x: error %v", bits, err)
			}
			text[at] ^= bits
		}
	}
}

func TestCheckpointTorn(t *testing.T) {
	text := sign(testHead + testLine)
	head := len(sign(testHead))
	for cut := head + 1; cut < len(text)-1; cut++ {
		c, err := ReadCheckpoint("f", strings.NewReader(text[:cut]), testSeries)
		if err != nil || c.Torn() != 2 || c.Replicas() != 0 {
			t.Fatalf("cut at %d: error %v", cut, err)
		}
	}
}

// FuzzCheckpoint: what can be read can be written and read again.
func FuzzCheckpoint(f *testing.F) {
	f.Add(testHead + testLine)
	f.Add(testHead)
	f.Add(testHead + `{"ranks":1,"ops":1,"makespans_ps":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ReadCheckpoint("f", strings.NewReader(sign(text)), testSeries)
		if err != nil {
			return
		}
		one := written(t, c)
		again, err := ReadCheckpoint("f", strings.NewReader(one), testSeries)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, one)
		}
		if two := written(t, again); one != two {
			t.Fatalf("written twice:\n%s\n%s", one, two)
		}
	})
}
