package trace

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// nsysFile is a self-made export: two processes that launch a kernel and an all-reduce in each of 20 steps; the kernel
// of rank 1 takes 10 us longer.
const nsysFile = "../../testdata/accelerator/nsys/profile.sqlite"

func readNsysFile(t testing.TB, data []byte, o Options) (*Trace, *timeline.Timeline, error) {
	t.Helper()
	tr, err := Open(fstest.MapFS{"profile.sqlite": {Data: data}}, "profile.sqlite", o)
	if err != nil {
		return nil, nil, err
	}
	tl, err := ToTimeline(tr, TimelineOptions{})
	return tr, tl, err
}

func TestNsys(t *testing.T) {
	data, err := os.ReadFile(nsysFile)
	if err != nil {
		t.Fatal(err)
	}
	tr, tl, err := readNsysFile(t, data, Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	if tr.Format != "nsys" || tl.Ranks != 2 || len(tr.Warnings) > 0 {
		t.Errorf("format %s with %d ranks, warnings %q", tr.Format, tl.Ranks, tr.Warnings)
	}
	d := tl.Devices
	if len(d.Streams) != 4 || d.Streams[2].Len() != 40 || d.Streams[2].Name != "0:7" || len(d.Collectives) != 20 {
		t.Fatalf("%d streams, %d collectives", len(d.Streams), len(d.Collectives))
	}
	if s := &d.Streams[2]; s.Begin[0] != 6*unit.Microsecond || s.End[0] != 36*unit.Microsecond || s.Kind[1] != timeline.CommunicationKernel {
		t.Errorf("the first kernel of rank 1 runs from %s to %s, the second is a %s", s.Begin[0], s.End[0], s.Kind[1])
	}
	path := strings.Join(tl.PathNames(d.Streams[2].Path[0]), "/")
	if !strings.HasPrefix(path, "host/aten::mm/cudaLaunchKernel/void gemm<float, float") || len(path) < 1000 {
		t.Errorf("path %q", path)
	}
	if len(d.References) != 40 || d.References[0].Stream != 0 || d.References[39].Stream != 2 {
		t.Errorf("%d references, %+v", len(d.References), d.References[0])
	}
}

// A directory of exports is one run, with the ranks of one node after those of the other.
func TestNsysNodes(t *testing.T) {
	data, err := os.ReadFile(nsysFile)
	if err != nil {
		t.Fatal(err)
	}
	other := slices.Clone(data)
	other[63]++ // the user version: a copy of a node's export is left out
	tr, err := Open(fstest.MapFS{"run/node0.sqlite": {Data: data}, "run/node1.sqlite": {Data: other}, "run/notes.txt": {}}, "run", Options{})
	if err != nil {
		t.Fatal(err)
	}
	tl, err := ToTimeline(tr, TimelineOptions{})
	if err != nil || tl.Ranks != 4 || len(tl.Devices.Streams) != 8 || len(tl.Devices.Collectives) != 20 {
		t.Fatalf("%v: %d ranks, want 4 in 20 collectives", err, tl.Ranks)
	}
	if n := len(tl.Devices.Comms[0].Members); n != 4 {
		t.Errorf("%d members of a collective, want all 4 ranks", n)
	}
}

// A file that is cut or damaged gives what can be read, with a warning, or an error.
func TestNsysDamage(t *testing.T) {
	data, err := os.ReadFile(nsysFile)
	if err != nil {
		t.Fatal(err)
	}
	some := 0
	for n := 0; n < len(data); n += 512 {
		tr, tl, err := readNsysFile(t, data[:n], Options{})
		if err != nil {
			continue
		}
		if some++; len(tr.Warnings) == 0 || tl.Ranks < 1 {
			t.Errorf("cut to %d bytes: no warning", n)
		}
		if _, _, err := readNsysFile(t, data[:n], Options{Strict: true}); err == nil {
			t.Errorf("cut to %d bytes: read as a whole", n)
		}
	}
	if some == 0 {
		t.Error("nothing is read of a file that is cut")
	}
}

func FuzzNsys(f *testing.F) {
	data, err := os.ReadFile(nsysFile)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add(data[:100])
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<20 {
			return
		}
		_, tl, err := readNsysFile(t, data, Options{})
		if err != nil || tl.Devices == nil {
			return
		}
		for i := range tl.Devices.Streams {
			s := &tl.Devices.Streams[i]
			for k := range s.Begin {
				if s.End[k] < s.Begin[k] || k > 0 && s.Begin[k] < s.End[k-1] {
					t.Fatalf("activity %d of stream %s runs from %s to %s", k, s.Name, s.Begin[k], s.End[k])
				}
			}
		}
	})
}
