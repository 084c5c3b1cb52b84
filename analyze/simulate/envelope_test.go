package simulate

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawEnvelope draws an envelope that is often like the one before.
func drawEnvelope(t *rapid.T, last envelope) envelope {
	n := last
	n.from++
	n.to++
	for _, change := range rapid.SliceOfN(rapid.IntRange(0, 30), 0, 3).Draw(t, "changes") {
		big := rapid.Int64().Draw(t, "value")
		switch change {
		case 0:
			n.time = big
		case 1:
			n.birth = big
		case 2:
			n.load = uint64(big)
		case 3:
			n.own = big
		case 4:
			n.order = uint32(big)
		case 5:
			n.place = uint32(big)
		case 6:
			n.from = int32(uint32(big) >> 1)
		case 7:
			n.to = int32(uint32(big) >> 1)
		case 8:
			n.index = int32(uint32(big) >> 1)
		case 9:
			n.tag = uint32(big)
		}
	}
	n.from, n.to = max(n.from, 0), max(n.to, 0)
	return n
}

func TestEnvelopesArriveAsTheyWereSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p packer
		for range 2 { // a packer is used again
			p.reset()
			var sent, got []envelope
			last := envelope{}
			for range rapid.IntRange(0, 40).Draw(t, "envelopes") {
				last = drawEnvelope(t, last)
				sent = append(sent, last)
				p.add(&last)
			}
			if p.count != int64(len(sent)) {
				t.Fatalf("%d envelopes counted, want %d", p.count, len(sent))
			}
			if err := unpack(p.end(), func(n *envelope) { got = append(got, *n) }); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, sent) {
				t.Fatalf("got %+v, want %+v", got, sent)
			}
		}
	})
}

// A step in which all ranks do the same takes a few bytes, however many ranks there are.
func TestEqualEnvelopesAreCounted(t *testing.T) {
	var p packer
	for i := range int32(1 << 16) {
		p.add(&envelope{time: 7640, birth: 2870, load: 1, order: 5, from: i, to: i + 4096, tag: 3})
	}
	if n := len(p.end()); n > 24 {
		t.Errorf("%d bytes", n)
	}
}

func TestUnpackRefuses(t *testing.T) {
	var p packer
	p.add(&envelope{time: math.MaxInt64, birth: 5, load: 9 << 48, from: 1, to: 7, index: 300, tag: 1 << 30, own: -9, place: 77})
	whole := p.end()
	for cut := 1; cut < len(whole); cut++ {
		if err := unpack(whole[:cut], func(*envelope) {}); err == nil {
			t.Errorf("cut at byte %d of %d: no error", cut, len(whole))
		}
	}
}
