package schedule

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"testing"
)

// haloText is the GOAL text of a halo exchange on a ring: a typical generated file. Labels are the
// prefix and a number.
func haloText(ranks, iterations int, prefixes [3]string) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "num_ranks %d\n\n", ranks)
	for rank := range ranks {
		fmt.Fprintf(&out, "rank %d {\n", rank)
		n := 0
		calc, send, recv := prefixes[0], prefixes[1], prefixes[2]
		for i := range iterations {
			left, right := (rank+ranks-1)%ranks, (rank+1)%ranks
			fmt.Fprintf(&out, "%s%d: calc %d\n", calc, n+1, 10000+i%100)
			if i > 0 {
				fmt.Fprintf(&out, "%s%d requires %s%d\n", calc, n+1, recv, n-1)
				fmt.Fprintf(&out, "%s%d requires %s%d\n", calc, n+1, recv, n)
			}
			fmt.Fprintf(&out, "%s%d: send 1024b to %d tag %d\n", send, n+2, left, 1)
			fmt.Fprintf(&out, "%s%d requires %s%d\n", send, n+2, calc, n+1)
			fmt.Fprintf(&out, "%s%d: send 1024b to %d tag %d\n", send, n+3, right, 2)
			fmt.Fprintf(&out, "%s%d requires %s%d\n", send, n+3, calc, n+1)
			fmt.Fprintf(&out, "%s%d: recv 1024b from %d tag %d\n", recv, n+4, right, 1)
			fmt.Fprintf(&out, "%s%d: recv 1024b from %d tag %d\n", recv, n+5, left, 2)
			n += 5
		}
		out.WriteString("}\n")
	}
	return out.Bytes()
}

func BenchmarkReadGOAL(b *testing.B) {
	for _, labels := range []struct {
		name     string
		prefixes [3]string
	}{
		{"one-prefix", [3]string{"l", "l", "l"}},
		{"three-prefixes", [3]string{"c", "s", "r"}},
		{"not-numbered", [3]string{"l", "l", "l"}},
	} {
		text := haloText(1024, 300, labels.prefixes)
		if labels.name == "not-numbered" {
			text = regexp.MustCompile(`l(\d+)`).ReplaceAll(text, []byte("l${1}x"))
		}
		b.Run("labels="+labels.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ReadGOAL("halo", text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkWriteGOAL(b *testing.B) {
	text := haloText(1024, 100, [3]string{"l", "l", "l"})
	g := mustReadGOAL(b, string(text))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := WriteGOAL(io.Discard, g); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadBinary(b *testing.B) {
	g := mustReadGOAL(b, string(haloText(1024, 100, [3]string{"l", "l", "l"})))
	var out bytes.Buffer
	if _, err := writeBinary(&out, g); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(out.Len()))
	for b.Loop() {
		if _, err := readBinary("halo", out.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}
