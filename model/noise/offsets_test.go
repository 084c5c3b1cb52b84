package noise

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestOffsetsDraw(t *testing.T) {
	const period = 1_000_000_000
	draw := func(o Offsets, n int) []int64 {
		list := make([]int64, n)
		o.Draw(list, period)
		return list
	}
	long, short := draw(Offsets{Seed: 5}, 10_000), draw(Offsets{Seed: 5}, 10)
	if !slices.Equal(long[:10], short) {
		t.Error("the offset of a rank depends on the number of ranks")
	}
	if slices.Equal(short, draw(Offsets{Seed: 6}, 10)) {
		t.Error("the seed makes no difference")
	}
	// Ten classes of 1,000 expected; six standard deviations are 180.
	var classes [10]int
	for _, o := range long {
		if o < 0 || o >= period || o%1000 != 0 {
			t.Fatalf("offset %d is no whole number of ns in [0, %d)", o, period)
		}
		classes[o/(period/10)]++
	}
	for i, n := range classes {
		if n < 820 || n > 1180 {
			t.Errorf("class %d has %d offsets of 10000", i, n)
		}
	}
	node := draw(Offsets{Alignment: ByNode, Node: func(r int) int { return r / 4 }, Seed: 5}, 12)
	for r := range node {
		if node[r] != short[r/4] {
			t.Errorf("the offset of rank %d is not that of its node", r)
		}
	}
	for _, o := range draw(Offsets{Alignment: CoScheduled, Seed: 5}, 12) {
		if o != short[0] {
			t.Errorf("co-scheduled offsets differ: %d and %d", o, short[0])
		}
	}
	tiny := make([]int64, 100)
	Offsets{}.Draw(tiny, 1500)
	if !slices.Contains(tiny, 0) || !slices.Contains(tiny, 1000) || slices.Max(tiny) > 1000 {
		t.Errorf("offsets for a period of 1.5 ns = %v", tiny)
	}
	if ReplicaSeed(1, 0) == ReplicaSeed(1, 1) || ReplicaSeed(1, 0) == ReplicaSeed(2, 0) {
		t.Error("replicas share seeds")
	}
}

func TestOffsetsFile(t *testing.T) {
	offsets := []int64{0, 5000, 123_456_789_000}
	var b bytes.Buffer
	if err := WriteOffsets(&b, offsets); err != nil {
		t.Fatal(err)
	}
	if b.String() != "0\n5\n123456789\n" {
		t.Errorf("WriteOffsets wrote %q", b.String())
	}
	got, err := ReadOffsets("f", strings.NewReader(b.String()+"\n\n"), 3)
	if err != nil || !slices.Equal(got, offsets) {
		t.Errorf("ReadOffsets = %v, %v; want %v", got, err, offsets)
	}
	for content, want := range map[string]string{
		"1\n2\n":                      "2 offsets for 3 ranks",
		"":                            "0 offsets for 3 ranks",
		"1\n2\n3\n4\n":                "f:4: is one offset more",
		"1\n-2\n3\n":                  "f:2: offset \"-2\"",
		"1\n2.5\n3\n":                 "f:2: offset \"2.5\"",
		"1\n\n3\n":                    "f:2: is empty",
		"1\n9223372036854775807\n3\n": "f:2: offset",
	} {
		if _, err := ReadOffsets("f", strings.NewReader(content), 3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadOffsets(%q) = %v, want an error with %q", content, err, want)
		}
	}
	if err := WriteOffsets(&b, []int64{5}); err == nil {
		t.Error("an offset of 5 ps was written")
	}
}

// FuzzReadOffsets: offsets that are read are written as a file that is read as the same.
func FuzzReadOffsets(f *testing.F) {
	f.Add([]byte("0\n5\n123456789\n"), 3)
	f.Add([]byte("1\n\n2"), 2)
	f.Fuzz(func(t *testing.T, data []byte, ranks int) {
		offsets, err := ReadOffsets("f", bytes.NewReader(data), ranks)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteOffsets(&b, offsets); err != nil {
			t.Fatal(err)
		}
		again, err := ReadOffsets("f", &b, ranks)
		if err != nil || !slices.Equal(offsets, again) {
			t.Fatalf("%v, then %v and %v", offsets, again, err)
		}
	})
}
