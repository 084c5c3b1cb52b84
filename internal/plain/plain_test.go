package plain

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestEscapes(t *testing.T) {
	for _, tc := range []struct{ name, want string }{
		{"MPI_Send", "MPI_Send"},
		{"größe — ≈ 日本 😀", "größe — ≈ 日本 😀"},
		{"\x1b]0;title\x07", `\u001b]0;title\u0007`},
		{"a\nb\tc\rd\x7f", `a\nb\tc\u000dd\u007f`},
		{"\u009b31m", `\u009b31m`},
		{"\x9b31m\xff", `\x9b31m\xff`},
		{"a\u202eb\u2066c\u200fd\u061ce", `a\u202eb\u2066c\u200fd\u061ce`},
		{"\u2028\u2029\ufeff\u200b\u00ad", `\u2028\u2029\ufeff\u200b\u00ad`},
		{"\U000e0041", `\udb40\udc41`},
		{"می\u200cخواهم 👩\u200d💻", "می\u200cخواهم 👩\u200d💻"},
		{"\ufffd", "\ufffd"},
	} {
		if got := Name(tc.name); got != tc.want {
			t.Errorf("Name(%q) = %s, want %s", tc.name, got, tc.want)
		}
	}
	if got, want := Text("a\n\tb\x1b"), "a\n\tb\\u001b"; got != want {
		t.Errorf("Text = %q, want %q", got, want)
	}
}

// TestShort: what cannot be read is cut, at whole characters.
func TestShort(t *testing.T) {
	if text := strings.Repeat("x", longest) + "\n" + strings.Repeat("y", longest); Short(text) != text {
		t.Error("lines that are short enough are changed")
	}
	for _, c := range []string{"1", "ä", "€", "😀"} {
		got := Short("x: " + strings.Repeat(c, 300_000) + "\nend")
		if len(got) > longest || !utf8.ValidString(got) || !strings.HasPrefix(got, "x: "+c) || !strings.HasSuffix(got, c+"\nend") ||
			!strings.Contains(got, c+" ... (") {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	}
}

// TestWriter writes text in pieces: what comes out is the same as in one piece, and JSON keeps its meaning.
func TestWriter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		var b bytes.Buffer
		w := NewWriter(&b)
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if got, want := b.String(), Text(text); got != want {
			t.Errorf("in pieces %q, at once %q", got, want)
		}
		if !utf8.ValidString(b.String()) || strings.ContainsAny(b.String(), "\x1b\u009b\u202e\r") {
			t.Errorf("%q became %q", text, b.String())
		}
		if utf8.ValidString(text) {
			encoded, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			var back string
			if err := json.Unmarshal([]byte(Text(string(encoded))), &back); err != nil || back != text {
				t.Errorf("JSON of %q means %q, %v", text, back, err)
			}
		}
	})
}

func TestMarksPass(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b).Pass("{{bold}}", "\x1b[1m")
	w.Write([]byte("{{bold}}a\x1b[1mb"))
	if got, want := b.String(), "\x1b[1ma\\u001b[1mb"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
