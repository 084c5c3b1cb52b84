package schedule

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func writeGOAL(t *testing.T, g *Graph) (string, []string) {
	t.Helper()
	var out bytes.Buffer
	warnings, err := WriteGOAL(&out, g)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), warnings
}

func TestWriteGOALText(t *testing.T) {
	text := `num_ranks 3

rank 0 {
a: calc 5 cpu 3
b: send 8b to 1 tag 7 cpu 1 nic 2
c: recv 0b from -1 tag -1 nic 1
b requires a
c irequires a
c requires b
}

rank 1 {
}

rank 2 {
l0: calc 0
}
`
	if got, _ := writeGOAL(t, mustReadGOAL(t, text)); got != text {
		t.Errorf("WriteGOAL = %s, want %s", got, text)
	}
}

func TestWriteGOALMakesLabels(t *testing.T) {
	got, _ := writeGOAL(t, mustReadGOAL(t, "num_ranks 1\nrank 0 {\ncalc 0\nl0: calc 1\nl3: calc 2\ncalc 3\nl0 requires l3\n}\n"))
	want := "num_ranks 1\n\nrank 0 {\nl0_: calc 0\nl0: calc 1\nl3: calc 2\nl3_: calc 3\nl0 requires l3\n}\n"
	if got != want {
		t.Errorf("WriteGOAL = %s, want %s", got, want)
	}
	// Labels may come twice if blocks were put together, and be no labels of GOAL at all.
	build := NewBuilder(1)
	var b Block
	for range 4 {
		b.Calc(1000)
	}
	build.Add(0, &b)
	g := build.Graph()
	g.Names = &Names{File: "made"}
	for _, label := range []string{"a", "a", "no label1", "send"} {
		g.Names.add([]byte(label), 0)
	}
	got, _ = writeGOAL(t, g)
	if want := "num_ranks 1\n\nrank 0 {\na: calc 1\nl1: calc 1\nl2: calc 1\nl3: calc 1\n}\n"; got != want {
		t.Errorf("WriteGOAL = %s, want %s", got, want)
	}
}

func TestWriteGOALRounds(t *testing.T) {
	build := NewBuilder(1)
	var b Block
	for _, ps := range []int64{0, 499, 500, 1499, 1500, 2000, 1<<63 - 1} {
		b.Calc(ps)
	}
	build.Add(0, &b)
	got, warnings := writeGOAL(t, build.Graph())
	want := "num_ranks 1\n\nrank 0 {\nl0: calc 0\nl1: calc 0\nl2: calc 1\nl3: calc 1\nl4: calc 2\nl5: calc 2\nl6: calc 9223372036854775\n}\n"
	if got != want {
		t.Errorf("WriteGOAL = %s, want %s", got, want)
	}
	if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "5 calc operations") {
		t.Errorf("warnings = %q, want one about 5 operations", warnings)
	}
	mustReadGOAL(t, got)
}

func TestWriteGOALContexts(t *testing.T) {
	build := NewBuilder(2)
	var b Block
	b.Send(1, 8, 0)
	b.Send(1, 8, 5)
	b.Ops[b.Send(1, 8, 0)].Context = CollectiveContext
	b.Ops[b.Send(1, 8, 9)].Context = CollectiveContext
	b.Ops[b.Send(1, 8, 0)].Context = 2
	build.Add(0, &b)
	b.Reset()
	b.Recv(0, 8, 0)
	b.Recv(0, 8, 5)
	b.Ops[b.Recv(0, 8, 0)].Context = CollectiveContext
	b.Ops[b.Recv(0, 8, 9)].Context = CollectiveContext
	b.Ops[b.Recv(0, 8, 0)].Context = 2
	build.Add(1, &b)
	got, warnings := writeGOAL(t, build.Graph())
	want := `num_ranks 2

rank 0 {
l0: send 8b to 1
l1: send 8b to 1 tag 5
l2: send 8b to 1 tag 6
l3: send 8b to 1 tag 7
l4: send 8b to 1 tag 8
}

rank 1 {
l0: recv 8b from 0
l1: recv 8b from 0 tag 5
l2: recv 8b from 0 tag 6
l3: recv 8b from 0 tag 7
l4: recv 8b from 0 tag 8
}
`
	if got != want || len(warnings) > 0 {
		t.Errorf("WriteGOAL = %s, warnings %q, want %s", got, warnings, want)
	}
}

func TestWriteGOALContextsNearTheLimit(t *testing.T) {
	build := NewBuilder(1)
	var b Block
	b.Send(0, 1, maxTag)
	b.Send(0, 1, 0)
	b.Recv(0, 1, AnyTag)
	b.Ops[b.Recv(0, 1, 3)].Context = CollectiveContext
	b.Ops[b.Send(0, 1, 3)].Context = CollectiveContext
	build.Add(0, &b)
	got, warnings := writeGOAL(t, build.Graph())
	if !strings.Contains(got, "l3: recv 1b from 0 tag 1\nl4: send 1b to 0 tag 1\n") {
		t.Errorf("WriteGOAL = %s, want tag 1 for the collective", got)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "1 ranks (e.g. rank 0) receive any tag") {
		t.Errorf("warnings = %q, want one about receives of any tag", warnings)
	}
}

func TestWritersRefuseCollectives(t *testing.T) {
	build := NewBuilder(1)
	var b Block
	b.Call(Call{Op: Barrier})
	build.Add(0, &b)
	g := build.Graph()
	for _, f := range []Format{goalFormat, binaryFormat, dotFormat} {
		if _, err := f.Write(&bytes.Buffer{}, g); err == nil || !strings.Contains(err.Error(), "expand") {
			t.Errorf("%s: Write = %v, want an error that says to expand the collectives", f.Name, err)
		}
	}
}

// fullDisk fails like a disk without space.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWritersTellErrors(t *testing.T) {
	g := mustReadGOAL(t, string(haloText(32, 20, [3]string{"l", "l", "l"})))
	for _, f := range Formats() {
		if f.Write == nil {
			continue
		}
		if _, err := f.Write(fullDisk{}, g); err == nil {
			t.Errorf("%s: Write to a full disk = nil, want an error", f.Name)
		}
	}
}
