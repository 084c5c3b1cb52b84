package schedule

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

// binaryForm returns the binary form of a text.
func binaryForm(t testing.TB, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := writeBinary(&out, mustReadGOAL(t, text)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// What txt2bin has made comes back the same after it has been written again.
func TestWriteBinary(t *testing.T) {
	for _, name := range []string{"cpu-nic", "irequires", "reduce-root-23"} {
		g := mustRead(t, "vectors/bin/"+name+".bin")
		var out bytes.Buffer
		if _, err := writeBinary(&out, g); err != nil {
			t.Fatal(err)
		}
		again, err := readBinary(name, out.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if describe(again) != describe(g) {
			t.Errorf("%s comes back as %s, want %s", name, describe(again), describe(g))
		}
	}
}

func TestReadBinaryErrors(t *testing.T) {
	// Rank 0: three operations and two dependencies; rank 1: one operation.
	valid := binaryForm(t, "num_ranks 2\nrank 0 {\na: calc 1\nb: send 8b to 1 tag 2\nc: recv 8b from -1\nb requires a\nc irequires a\n}\n"+
		"rank 1 {\na: send 8b to 0\n}\n")
	const (
		rank0    = binaryHeader + 2*binaryJump
		ops0     = rank0 + 8 + 4 // one root
		appendix = ops0 + 3*binaryOp
		rank1    = appendix + 2*4
	)
	put := func(at int, bytes ...byte) func([]byte) []byte {
		return func(b []byte) []byte { copy(b[at:], bytes); return b }
	}
	for _, tc := range []struct {
		name   string
		change func([]byte) []byte
		want   string
	}{
		{"nothing", put(0), ""},
		{"largest cpu is not used", put(12, 99), ""},
		{"roots are ignored", put(rank0+8, 77), ""},
		{"header cut", func(b []byte) []byte { return b[:13] }, "cut off: the file has 13 bytes"},
		{"table cut", func(b []byte) []byte { return b[:40] }, "cut off: the jump table of 2 ranks ends at byte 46"},
		{"data cut", func(b []byte) []byte { return b[:len(b)-1] }, "cut off: the data of rank 1 end at byte"},
		{"longer", func(b []byte) []byte { return append(b, 0) }, "1 bytes follow the data of the last rank"},
		{"cookie", put(0, 0x80), "cookie 4224 instead of 4223"},
		{"no ranks", put(8, 0, 0, 0, 0), "byte 8: 0 ranks are out of range"},
		{"negative ranks", put(8, 0, 0, 0, 0x80), "byte 8: 2147483648 ranks are out of range"},
		{"many ranks", put(8, 0, 0, 0, 0x7f), "byte 8: 2130706432 ranks need too much memory"},
		{"begin outside", put(14, 0, 0, 0, 0, 0, 0, 0, 0x80), "byte 14: the start of rank 0 in the jump table lies beyond the end"},
		{"begin behind end", put(22, 0), "byte 14: the data of rank 0 begin after their end"},
		{"gap", put(14, 42), "byte 14: the data of rank 0 begin at byte 50 instead of 46"},
		{"shared", func(b []byte) []byte { copy(b[30:46], b[14:30]); return b }, "byte 30: the data of rank 1 begin at byte 46"},
		{"many operations", put(rank0, 0xff, 0xff, 0xff, 0xff), "byte 46: rank 0: 4294967295 operations and 1 roots need"},
		{"many roots", put(rank0+4, 0xff, 0xff, 0xff, 0xff), "byte 46: rank 0: 3 operations and 4294967295 roots need"},
		{"odd appendix", put(rank0, 2), "which is not a multiple of 4"},
		{"type 0", put(ops0+4, 0), "rank 0: operation 0 has the type 0"},
		{"type 4", put(ops0+4, 4), "rank 0: operation 0 has the type 4"},
		{"peer of calc", put(ops0+5, 1), "operation 0 is a calc with peer 1"},
		{"tag of calc", put(ops0+17, 1), "operation 0 is a calc with peer 0 and tag 1"},
		{"long calc", put(ops0+16, 0x7f), "operation 0: a time of 9151314442816847873 ns does not fit into 63 bits"},
		{"cpu", put(ops0+21, 255), "operation 0: cpu 255, nic 0 is out of range"},
		{"nic", put(ops0+22, 255), "operation 0: cpu 0, nic 255 is out of range"},
		{"peer", put(ops0+binaryOp+5, 2), "operation 1: send with rank 2 as partner, but there are 2 ranks"},
		{"any peer", put(ops0+binaryOp+5, 255, 255, 255, 255), "operation 1: send with rank 4294967295 as partner"},
		{"any tag", put(ops0+binaryOp+17, 255, 255, 255, 255), "operation 1: any tag is allowed for recv only"},
		{"size", put(ops0+binaryOp+16, 0x80), "operation 1: the size 9223372036854775816 does not fit into 63 bits"},
		{"count", put(ops0+23, 3), "operation 0: entries 0 to 2 of the appendix, which has 2"},
		{"position", put(ops0+35, 255, 255, 255, 255), "operation 0: entries 4294967295 to 4294967295 of the appendix"},
		{"overlap", put(ops0+23, 2), "operation 0: the lists of dependent operations overlap"},
		{"index", put(appendix, 3), "operation 3 is named in the appendix, but there are 3"},
		{"counter", put(ops0+2*binaryOp, 2), "operation 2 waits for 2 operations, but the lists of dependent operations name it 1 times"},
		{"itself", func(b []byte) []byte {
			b[appendix] = 0 // a waits for a instead of b for a
			b[ops0] = 1
			b[ops0+binaryOp] = 0
			return b
		}, "rank 0: operation #0 waits for itself"},
		{"no data", func(b []byte) []byte {
			binary.LittleEndian.PutUint64(b[38:], rank1-binaryBase)
			return b[:rank1]
		}, "rank 1: 0 bytes of data"},
	} {
		_, err := readBinary("f", tc.change(bytes.Clone(valid)))
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: ReadBinary = %v, want none", tc.name, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: ReadBinary = %v, want %s", tc.name, err, tc.want)
		}
	}
	for n := range valid {
		if _, err := readBinary("f", valid[:n]); err == nil {
			t.Errorf("the first %d bytes were accepted", n)
		}
	}
}
