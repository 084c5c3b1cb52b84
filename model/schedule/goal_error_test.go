package schedule

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the message of each file of errors/ must contain.
var wantErrors = map[string]string{
	"cycle.goal":             "cycle.goal:4: rank 0: a, b and c wait for each other",
	"self-cycle.goal":        "self-cycle.goal:5: rank 0: operation a requires itself (line 5)",
	"bad-peer.goal":          "bad-peer.goal:4: send to rank 2, but the file declares 2 ranks (0..1)",
	"bad-peer-negative.goal": "bad-peer-negative.goal:4: -1 (any source) is allowed for recv only",
	"bad-rank.goal":          "bad-rank.goal:5: block for rank 7, but the file declares 2 ranks (0..1)",
	"rank-twice.goal":        "rank-twice.goal:6: second block for rank 0 (the first is in line 3)",
	"label-undefined.goal":   "label-undefined.goal:5: label b is not defined in rank 0 (labels are local to a rank)",
	"label-twice.goal":       "label-twice.goal:5: label a is defined twice in rank 0 (first in line 4)",
	"size-overflow.goal":     "size-overflow.goal:4: the size 18446744073709551616 does not fit into 63 bits",
	"calc-overflow.goal":     "calc-overflow.goal:3: a time of 9223372036854775807 ns does not fit into 63 bits",
	"size-negative.goal":     "size-negative.goal:4: negative size",
	"cpu-overflow.goal":      "cpu-overflow.goal:3: cpu 255 is out of range (0 to 254)",
	"field-order.goal":       "field-order.goal:4: tag must come before cpu",
	"truncated.goal":         "truncated.goal:7: the file ends inside an operation, and the block of rank 1 is not closed",
	"no-num-ranks.goal":      "no-num-ranks.goal:1: num_ranks is missing",
	"unit-missing.goal":      "unit-missing.goal:4: the b after the size is missing",
	"garbage.goal":           "garbage.goal: neither GOAL text nor the binary form",
	"empty.goal":             "empty.goal: the file is empty",
	"truncated.bin": "truncated.bin: binary form: cut off: the data of rank 1 end at byte 400 of the file, before the end given " +
		"in the jump table",
	"jump-table.bin":  "jump-table.bin: binary form: byte 14: the start of rank 0 in the jump table lies beyond the end of the file",
	"invalidated.bin": "invalidated.bin: binary form: cookie 2342",
}

func TestReferenceErrors(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(referenceDir, "errors", "errors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ File, Stage string }
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		data, err := os.ReadFile(filepath.Join(referenceDir, "errors", c.File))
		if err != nil {
			t.Fatal(err)
		}
		_, err = Read(c.File, data)
		want, early := wantErrors[c.File]
		switch {
		case early && (err == nil || !strings.HasPrefix(err.Error(), want)):
			t.Errorf("Read(%s) = %v, want %s", c.File, err, want)
		case !early && err != nil:
			t.Errorf("Read(%s) = %v, want none", c.File, err)
		case !early && c.Stage == "read":
			t.Errorf("%s must be refused while reading, but no message is listed", c.File)
		}
	}
}

func TestReadGOALErrors(t *testing.T) {
	const two = "num_ranks 2\nrank 0 {\n"
	for _, tc := range []struct{ text, want string }{
		{" \n\t", "f: the file is empty"},
		{"// nothing", "f:1: num_ranks is missing"},
		{"\n/* never", "f:2: the comment that begins with /* is not closed"},
		{"num_ranks", "f:1: the number of ranks is missing, here is the end of the file"},
		{"num_ranks\n2", "f:1: the number of ranks is missing, here is the end of the line"},
		{"num_ranks -2", "f:1: negative number of ranks"},
		{"num_ranks 0", "f:1: num_ranks 0 is out of range"},
		{"num_ranks 2147483648", "f:1: num_ranks 2147483648 is out of range"},
		{"num_ranks 2147483647", "f:1: num_ranks 2147483647 needs too much memory"},
		{"num_ranks 2rank 0 {}", `f:1: no blank between the number of ranks and "rank"`},
		{"num_ranks 2 num_ranks 2", "f:1: num_ranks is given a second time"},
		{"num_ranks 2\ncalc 5", "f:2: an operation outside of a block"},
		{"num_ranks 2\n}", "f:2: a } without an open block"},
		{"num_ranks 2\n\x00", "f:2: expected a block (rank N {), got a byte 0"},
		{"num_ranks 2\nrank {", `f:2: the number of the rank is missing, here is "{"`},
		{"num_ranks 2\nrank 0\n{", "f:2: the { after rank 0 is missing, here is the end of the line"},
		{"num_ranks 2\nrank 99999999999999999999999 {", "f:2: block for rank 99999999999999999999999, but"},
		{"num_ranks 1\nrank 1 {", "f:2: block for rank 1, but the file declares 1 rank (0)"},
		{"num_ranks 3\nrank 2 {}\nrank 1 {}\nrank 2 {}", "f:4: second block for rank 2 (the first is in line 2)"},
		{two, "f:3: the file ends, and the block of rank 0 is not closed"},
		{two + "calc 5", "f:3: the file ends, and the block of rank 0 is not closed"},
		{two + "a: ", "f:3: the file ends inside an operation, and the block of rank 0 is not closed"},
		{two + "a requires b /*", "f:3: the comment"},
		{two + "rank 1 {", "f:3: rank inside the block of rank 0: the } of that block is missing"},
		{two + "{", "f:3: a { inside the block of rank 0"},
		{two + "calc 5 }", "f:3: the } must not be on the line"},
		{two + "calc 5 calc 6\n", `f:3: "calc" after the operation`},
		{two + "calc 5\rcalc 6\n", "f:3: a carriage return without a line feed after the operation"},
		{two + "calc 5.5\n", "f:3: a fraction"},
		{two + "calc 5 # five\n", `f:3: "#" (comments begin with // in GOAL) after the operation`},
		{two + "calc 5 / 6\n", `f:3: "/" after the operation`},
		{two + "calc 9223372036854776\n", "f:3: a time of 9223372036854776 ns does not fit into 63 bits"},
		{two + "calc 5 tag 6\n", "f:3: calc has no tag"},
		{two + "calc 5 cpu 1 cpu 2\n", "f:3: cpu is given twice"},
		{two + "calc 5 cpu1\n", `f:3: "cpu1" after the operation`},
		{two + "calc -5\n", "f:3: negative time"},
		{two + "calc 5 cpu -1\n", "f:3: negative cpu; cpu must be 0 or more"},
		{two + "send 5b to 1 nic\n", "f:3: nic is missing, here is the end of the line"},
		{two + "send 5b to 1 tag 99999999999999999999\n", "f:3: tag 99999999999999999999 is out of range"},
		{two + "recv 5b from -1tag 2\n", "f:3: negative source"},
		{two + "a/* x", "f:3: the comment that begins with /* is not closed"},
		{two + "a: /* x", "f:3: the comment that begins with /* is not closed"},
		{two + "send 5 /* x", "f:3: the comment that begins with /* is not closed"},
		{two + "send 5b /* x", "f:3: the comment that begins with /* is not closed"},
		{two + "send 5b to /* x", "f:3: the comment that begins with /* is not closed"},
		{two + "send 5b to 1 /* x", "f:3: the comment that begins with /* is not closed"},
		{two + "calc: calc 5\n", "f:3: send, recv, calc, rank and num_ranks are keywords"},
		{two + "a: calc 5\na requires send\n", "f:4: send is a keyword and cannot be a label"},
		{two + "a: jump 5\n", `f:3: an operation (send, recv or calc) must follow the label a, here is "jump"`},
		{two + "_a: calc 5\n", "f:3: expected an operation, a dependency or }"},
		{two + ": calc 5\n", "f:3: the label before the : is missing"},
		{two + "a needs b\n", `f:3: "a" is neither an operation`},
		{two + "a requires\nb\n", "f:3: a label must follow requires, here is the end of the line"},
		{two + "send 5b from 1\n", `f:3: to and a rank must follow the size of a send, here is "from"`},
		{two + "send 5bto 1\n", "f:3: the b after the size is missing"},
		{two + "send 5kb to 1\n", "f:3: the b after the size is missing"},
		{two + "recv 5b from-1\n", "f:3: a blank is missing before -1"},
		{two + "recv 5b from -2\n", "f:3: negative source; only -1"},
		{two + "recv 5b from -1 tag -10\n", "f:3: negative tag; only -1"},
		{two + "send 5b to 1 tag -1\n", "f:3: -1 (any tag) is allowed for recv only"},
		{two + "send 5b to 1 tag 4294967295\n", "f:3: tag 4294967295 is out of range (0 to 4294967294)"},
		{two + "send 5b to 1 nic 255\n", "f:3: nic 255 is out of range (0 to 254)"},
		{two + "send 5b to 1tag 2\n", `f:3: no blank between the rank and "tag"`},
		{two + "send 5b to /* \n\n */ 7\n", "f:5: send to rank 7"},
		{two + "b requires b\n", "f:3: rank 0: operation b requires itself"},
		{two + "b irequires b\n", "f:3: rank 0: operation b irequires itself"},
		{two + "b requires a\na: calc 5\n}", "f:3: label b is not defined in rank 0"},
		{two + "l7: calc 5\nl7: calc 6\n}", "f:4: label l7 is defined twice in rank 0 (first in line 3)"},
		{two + "l7: calc 5\nl2000000: calc 6\nl2000000: calc 7\n}", "f:5: label l2000000 is defined twice in rank 0 (first in line 4)"},
	} {
		_, err := ReadGOAL("f", []byte(tc.text))
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("ReadGOAL(%q) = %v, want %s", tc.text, err, tc.want)
		}
	}
}

// The same text with CR LF must give the same errors, and every cut-off text must be refused.
func TestReadGOALCutOff(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(referenceDir, "vectors", "cpu-nic.goal"))
	if err != nil {
		t.Fatal(err)
	}
	last := strings.LastIndexByte(string(data), '}')
	for n := strings.IndexByte(string(data), '{') + 1; n < last; n++ {
		if closed := strings.Count(string(data[:n]), "}"); closed > 0 && strings.Count(string(data[:n]), "{") == closed {
			continue
		}
		if _, err := ReadGOAL("f", data[:n]); err == nil {
			t.Errorf("the first %d bytes were accepted: %q", n, data[:n])
		}
	}
	crlf := strings.ReplaceAll(string(data), "\n", "\r\n")
	if got, want := describe(mustReadGOAL(t, crlf)), describe(mustReadGOAL(t, string(data))); got != want {
		t.Errorf("with CR LF the schedule is\n%s\nwant\n%s", got, want)
	}
}

func TestReadGOALCycles(t *testing.T) {
	var chain strings.Builder
	chain.WriteString("num_ranks 1\nrank 0 {\n")
	for i := range 1000 {
		fmt.Fprintf(&chain, "l%d: calc 1\nl%d requires l%d\n", i, i, (i+999)%1000)
	}
	chain.WriteString("}\n")
	_, err := ReadGOAL("f", []byte(chain.String()))
	want := "f:3: rank 0: l0, l1, l2, l3, l4, l5, l6, l7, l8, l9 and 990 more wait for each other; remove one of these dependencies"
	if err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
	// Operations before and behind a cycle are no part of it.
	_, err = ReadGOAL("f", []byte("num_ranks 1\nrank 0 {\nbefore: calc 1\na: calc 1\nb: calc 1\nbehind: calc 1\n"+
		"a requires before\na requires b\nb irequires a\nbehind requires b\n}\n"))
	if want := "f:4: rank 0: a and b wait for each other"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error = %v, want %s", err, want)
	}
}

// Large useless files must be refused at their first fault, without memory for the rest.
func TestReadGOALGarbage(t *testing.T) {
	for name, text := range map[string]string{
		"garbage lines": "num_ranks 2\n" + strings.Repeat("?!$ garbage\n", 1<<20),
		"one line":      "num_ranks 2\nrank 0 {\n" + strings.Repeat("x", 20<<20),
		"one number":    "num_ranks 2\nrank 0 {\ncalc " + strings.Repeat("9", 20<<20),
		"open comment":  "num_ranks 2\nrank 0 {\n/*" + strings.Repeat("\n", 20<<20),
	} {
		allocated := testing.AllocsPerRun(1, func() {
			_, err := ReadGOAL("f", []byte(text))
			if err == nil || len(err.Error()) > 300 {
				t.Errorf("%s: error = %.400v", name, err)
			}
		})
		if allocated > 100 {
			t.Errorf("%s: %v allocations, want few", name, allocated)
		}
	}
}

func TestSniff(t *testing.T) {
	for _, tc := range []struct{ head, format, want string }{
		{"num_ranks 2\n", "goal", ""},
		{" // c\n/* d */ num_ranks/**/2\n", "goal", ""},
		{"rank 0 {\n", "goal", ""},
		{"/* long comment", "goal", ""},
		{"// long comment", "goal", ""},
		{"\x7f\x10\x00\x00\x00\x00\x00\x00", "bin", ""},
		{"\x26\x09\x00\x00\x00\x00\x00\x00", "bin", ""},
		{"digraph slackline {", "", "Graphviz picture"},
		{"", "", "f: the file is empty"},
		{"\r\n \n", "", "only blanks and empty lines"},
		{"hello world\nsecond", "", `the text begins with "hello world"`},
		{"\x7f\x10\x00\x00", "", "the file begins with the bytes 7f 10 00 00, which are not text"},
		{"\x1f\x8b\x08", "", "compressed with gzip"},
		{"\xef\xbb\xbfnum_ranks 2", "", "byte order mark"},
	} {
		f, err := Sniff("f", []byte(tc.head))
		switch {
		case tc.format != "" && (err != nil || f.Name != tc.format):
			t.Errorf("Sniff(%q) = %s, %v, want %s", tc.head, f.Name, err, tc.format)
		case tc.format == "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("Sniff(%q) = %s, %v, want an error with %s", tc.head, f.Name, err, tc.want)
		}
	}
}
