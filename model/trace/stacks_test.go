package trace

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"testing"

	"slackline/model/timeline"
)

// stackedRun is a run in which rank 0 is in main for 10 ns, of which 4 in f and 1 of these in g, and rank 1 is in main for 6.5 ns.
func stackedRun() *timeline.Timeline {
	b := timeline.NewBuilder(2)
	main, f, g := b.Region(timeline.Region{Name: "main", File: "a.c", Line: 7}), b.Region(timeline.Region{Name: "f;x"}),
		b.Region(timeline.Region{Name: "g"})
	l := b.Location(0, 0, "", "")
	l.Enter(0, main)
	l.Enter(2000, f)
	l.Enter(3000, g)
	l.Leave(4000)
	l.Leave(6000)
	l.Leave(10_000)
	l = b.Location(1, 0, "", "")
	l.Enter(0, main)
	l.Leave(6500)
	return b.Finish(1)
}

func TestFolded(t *testing.T) {
	var b bytes.Buffer
	if err := writeFolded(&b, stackedRun(), WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if want := "rank 0;main 6\nrank 0;main;f,x 3\nrank 0;main;f,x;g 1\nrank 1;main 6\n"; b.String() != want {
		t.Errorf("folded stacks are\n%swant\n%s", b.String(), want)
	}
}

// TestHatchet wants the tree of both ranks, to the picosecond.
func TestHatchet(t *testing.T) {
	var b bytes.Buffer
	if err := writeHatchet(&b, stackedRun(), WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	const want = `[
{"frame":{"name":"main","type":"function"},"metrics":{"time":0.000000012500,"time (inc)":0.000000016500,"time (max rank)":0.000000006500,"calls":2},"children":[
{"frame":{"name":"f;x","type":"function"},"metrics":{"time":0.000000003000,"time (inc)":0.000000004000,"time (max rank)":0.000000003000,"calls":1},"children":[
{"frame":{"name":"g","type":"function"},"metrics":{"time":0.000000001000,"time (inc)":0.000000001000,"time (max rank)":0.000000001000,"calls":1},"children":[]}]}]}]
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	if !json.Valid(b.Bytes()) {
		t.Error("not valid JSON")
	}
}

func TestSpeedscope(t *testing.T) {
	var b bytes.Buffer
	if err := writeSpeedscope(&b, stackedRun(), WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	var file struct {
		Shared struct {
			Frames []struct {
				Name, File string
				Line       int
			}
		}
		Profiles []struct {
			Name     string
			EndValue float64
			Events   []struct {
				Type  string
				Frame int
				At    float64
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &file); err != nil {
		t.Fatalf("%v: %s", err, b.String())
	}
	text, depth, last := "", 0, 0.0
	for _, e := range file.Profiles[0].Events {
		text += e.Type + file.Shared.Frames[e.Frame].Name + " "
		depth += map[string]int{"O": 1, "C": -1}[e.Type]
		if e.At < last || depth < 0 {
			t.Errorf("event %+v at depth %d after %v", e, depth, last)
		}
		last = e.At
	}
	if want := "Omain Of;x Og Cg Cf;x Cmain "; text != want || depth != 0 || file.Profiles[1].Name != "rank 1" ||
		file.Profiles[1].Events[1].At != 6.5 {
		t.Errorf("events %q, then %+v, want %q and an end at 6.5", text, file.Profiles[1], want)
	}
}

func TestPprof(t *testing.T) {
	var b bytes.Buffer
	if err := writePprof(&b, stackedRun(), WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	unzip, err := gzip.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(unzip)
	if err != nil {
		t.Fatal(err)
	}
	// The sample of g on rank 0: locations 3, 2, 1; one call, 1 ns; the label rank.
	sample := []byte{1<<3 | 2, 3, 3, 2, 1, 2<<3 | 2, 2, 1, 1, 3<<3 | 2}
	if !bytes.Contains(data, sample) || !bytes.Contains(data, []byte("nanoseconds")) || !bytes.Contains(data, []byte("a.c")) {
		t.Errorf("the profile is %q", data)
	}
}
