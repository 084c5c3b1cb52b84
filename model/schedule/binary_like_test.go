package schedule

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// alike returns a ring in which all ranks do the same for durations of their own, but for the last one.
func alike(ranks int) *Graph {
	build := NewBuilder(ranks)
	for rank := range ranks {
		var b Block
		for i := range 3 {
			b.Calc(int64(1000 * (rank*rank + i)))
			b.Send((rank+1)%ranks, 8, uint32(i))
			b.Recv((rank+ranks-1)%ranks, 8, uint32(i))
			b.Require(3*i+1, 3*i)
			b.Require(3*i+2, 3*i)
			if i > 0 {
				b.Require(3*i, 3*i-1)
				b.Require(3*i, 3*i-2)
			}
		}
		if rank == ranks-1 {
			b.Calc(7000)
		}
		b.Link()
		build.Add(rank, &b)
	}
	return build.Graph()
}

// Ranks that do the same share their steps, and each keeps its peers and durations.
func TestPackBinaryAlike(t *testing.T) {
	const ranks = 9
	var out bytes.Buffer
	if _, err := writeBinary(&out, alike(ranks)); err != nil {
		t.Fatal(err)
	}
	if diff := samePacked(binaryFormat, out.Bytes()); diff != "" {
		t.Error(diff)
	}
	p, err := packBinary("ring", bytes.NewReader(out.Bytes()), int64(out.Len()), PackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if steps := len(p.stores[0].steps); steps != p.Steps(0)+p.Steps(ranks-1) {
		t.Errorf("%d steps are kept, want %d of all ranks but the last, and %d of that", steps, p.Steps(0), p.Steps(ranks-1))
	}
}

// A rank that does nearly the same as one before it is read as it is, with its errors: every bit of it matters.
func TestPackBinaryNearlyAlike(t *testing.T) {
	var out bytes.Buffer
	if _, err := writeBinary(&out, alike(4)); err != nil {
		t.Fatal(err)
	}
	data := out.Bytes()
	begin := binary.LittleEndian.Uint64(data[binaryHeader+2*binaryJump:]) + binaryBase
	end := binary.LittleEndian.Uint64(data[binaryHeader+2*binaryJump+8:]) + binaryBase
	for at := begin; at < end; at++ {
		for _, bit := range []byte{1, 0x80} {
			data[at] ^= bit
			if diff := samePacked(binaryFormat, data); diff != "" {
				t.Fatalf("byte %d changed: %s", at, diff)
			}
			data[at] ^= bit
		}
	}
}

// wide returns ranks that do the same, in a block that is too long for distances.
func wide(ranks int) *Graph {
	build := NewBuilder(ranks)
	for rank := range ranks {
		var b Block
		for i := range maxDistances {
			b.Send((rank+i+1)%ranks, 8, 0)
			b.Recv((rank+ranks*maxDistances-i-1)%ranks, 8, 0)
		}
		build.Add(rank, &b)
	}
	return build.Graph()
}

// Ranks with long blocks, which have peers instead of distances, are not taken for others.
func TestPackWideAlike(t *testing.T) {
	for _, f := range []Format{binaryFormat, goalFormat} {
		var out bytes.Buffer
		if _, err := f.Write(&out, wide(5)); err != nil {
			t.Fatal(err)
		}
		if diff := samePacked(f, out.Bytes()); diff != "" {
			t.Errorf("%s: %s", f.Name, diff)
		}
	}
}
