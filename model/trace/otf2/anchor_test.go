package otf2

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/trace/damage"
)

func TestAnchor(t *testing.T) {
	want := &Anchor{
		EventChunk: 1 << 20, DefChunk: 4 << 20, Locations: 7, Definitions: 99, Machine: "a machine", Creator: "slackline",
		Properties: [][2]string{{"NAME", "value"}, {"EMPTY", ""}}, Identifier: 1 << 63,
	}
	data := want.Encode()
	got, err := ReadAnchor(data, "traces.otf2")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Anchor{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for cut := range len(data) - 3 { // after that only the mark of the end is missing
		got, err := ReadAnchor(data[:cut], "traces.otf2")
		if !errors.Is(err, damage.Err) || !strings.Contains(err.Error(), "traces.otf2") {
			t.Fatalf("cut at %d: error %v", cut, err)
		}
		if got != nil && got.DefChunk != want.DefChunk {
			t.Errorf("cut at %d: chunks of %d bytes", cut, got.DefChunk)
		}
	}
}

func TestAnchorRefused(t *testing.T) {
	good := (&Anchor{EventChunk: 1 << 20, DefChunk: 1 << 20}).Encode()
	change := func(at int, with ...byte) []byte {
		b := bytes.Clone(good)
		copy(b[at:], with)
		return b
	}
	for want, data := range map[string][]byte{
		"not an anchor file of OTF2":                      change(2, 'X'),
		"version 4 of the OTF2 format":                    change(7, 4),
		"chunks of 0 bytes":                               change(12, 0, 0, 0),
		"substrate 2 and compression 1; only plain files": change(28, 2),
	} {
		if a, err := ReadAnchor(data, "x"); err == nil || a != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("anchor %v, error %v; want an error with %q", a, err, want)
		}
	}
	if Sniff(good[:7]) || !Sniff(good) {
		t.Error("the mark is not recognized, or its start is enough")
	}
}
