package streams

import (
	"bytes"
	"cmp"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"slackline/internal/chunk"
	"slackline/internal/memory"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// hosts makes a run of two ranks with three calls each.
func hosts() *timeline.Timeline {
	b := timeline.NewBuilder(2)
	r := b.Region(timeline.Region{Name: "cudaLaunchKernel"})
	for rank := range 2 {
		l := b.Location(rank, 0, "master", "")
		for i := range 3 {
			l.Enter(unit.Duration(10*i), r)
			l.Leave(unit.Duration(10*i) + 5)
		}
	}
	return b.Finish(1)
}

// run makes the run with a device for each rank, a collective and a message.
func run() *timeline.Timeline {
	tl := hosts()
	b := timeline.NewDeviceBuilder(tl)
	for rank := range 2 {
		s := b.Stream(rank, 0, 7, "0:7")
		s.Add(3, 12, b.Region("gemm"), timeline.ComputeKernel, timeline.Launch{Thread: int32(rank), Call: 0})
		s.Add(13, 25, b.Region("ncclDevKernel"), timeline.CommunicationKernel, timeline.Launch{Thread: int32(rank), Call: 1})
		s.Add(25, 30, b.Region("Memcpy HtoD"), timeline.Copy, timeline.NoLaunch)
	}
	d := b.Finish([]timeline.Reference{{Location: 1, Call: 2, Stream: 1, Device: -1, Event: 1, Recorded: 10},
		{Location: 0, Call: 2, Stream: timeline.NoStream, Device: 0, Event: -1}})
	d.Overlaps = 3
	d.Comms = []timeline.Comm{{Name: "world", Members: []int32{0, 1}}}
	d.Collectives = []timeline.Collective{{Op: timeline.OpAllreduce, Root: -1}}
	d.Members = []timeline.Member{{Location: 0, Issue: 1, Complete: 1, Sent: 8, Received: 8, Counts: -1},
		{Location: 1, Issue: 1, Complete: 1, Sent: 8, Received: 8, Counts: -1, Seq: 2}}
	d.Messages = []timeline.Message{{From: 0, To: 1, Send: 1, SendDone: 1, Post: 1, Recv: 1, RecvSeq: 1, Size: 8, Sent: 13, Received: 25}}
	return tl
}

// read makes the devices of a run out of a file.
func read(data []byte, tl *timeline.Timeline, wanted func(int) bool) error {
	b := NewBuilder(tl, wanted)
	if err := Read(bytes.NewReader(data), b.Add); err != nil {
		return cmp.Or(b.Cut(), err) // what is left is valid
	}
	return b.Finish()
}

func all(int) bool { return true }

func TestWrittenAndRead(t *testing.T) {
	want := run()
	var file bytes.Buffer
	if _, err := Write(&file, want); err != nil {
		t.Fatal(err)
	}
	got := hosts()
	if err := read(file.Bytes(), got, all); err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(want.Devices, got.Devices); diff != "" {
		t.Errorf("devices (-want +got):\n%s", diff)
	}
	if want.End != got.End {
		t.Errorf("end = %v, want %v", got.End, want.End)
	}
	moved := hosts()
	moved.Shift(100, 1)
	if err := read(file.Bytes(), moved, all); err != nil {
		t.Fatal(err)
	}
	if got := moved.Devices.Streams[0].Begin[0]; got != 103 {
		t.Errorf("hosts moved by 100, the first activity from 3 to %v", got)
	}
	one := hosts()
	if err := read(file.Bytes(), one, func(rank int) bool { return rank == 1 }); err != nil {
		t.Fatal(err)
	}
	if d := one.Devices; len(d.Streams) != 1 || len(d.Collectives)+len(d.Messages) != 0 || d.References[1].Stream != 0 {
		t.Errorf("rank 1 alone: %+v", d)
	}
}

// TestRefused checks that records that cannot be are refused, and what came before is kept.
func TestRefused(t *testing.T) {
	for name, r := range map[string]Record{
		"rank":      {Word: Stream, Numbers: []int64{2, 0}},
		"kind":      {Word: Activity, Numbers: []int64{9, 40, 41, -1, -1}},
		"order":     {Word: Activity, Numbers: []int64{0, 4, 5, -1, -1}},
		"length":    {Word: Activity, Numbers: []int64{0, 50, 45, -1, -1}},
		"numbers":   {Word: Host, Numbers: []int64{1}},
		"word":      {Word: 99},
		"event":     {Word: Reference, Numbers: []int64{0, 0, 0, -1, -1, 7, 0}},
		"group":     {Word: Group, Numbers: []int64{0, 0}},
		"operation": {Word: Collective, Numbers: []int64{200, 0, -1}},
		"root":      {Word: Collective, Numbers: []int64{1, 0, 2}},
		"member":    {Word: Member, Numbers: []int64{0, 0, 0, 0, 0}},
		"message":   {Word: Message, Numbers: []int64{0, 9, 0, 1, 0, 0, 0, 0, 8, 0, 0}},
	} {
		tl := hosts()
		b := NewBuilder(tl, all)
		if err := Records(run(), func(r Record) error { return b.Add(&r) }); err != nil {
			t.Fatal(err)
		}
		if err := b.Add(&r); err == nil {
			t.Errorf("%s: %+v is taken", name, r)
		}
		if err := b.Cut(); err != nil || len(tl.Devices.Streams) != 2 {
			t.Errorf("%s: the rest is lost: %v", name, err)
		}
	}
}

// FuzzRead reads arbitrary records in a file whose checksums are right: whatever is taken can be written and read again.
func FuzzRead(f *testing.F) {
	var raw []byte
	if err := Records(run(), func(r Record) error { raw = r.append(raw); return nil }); err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, data []byte) {
		var file, again bytes.Buffer
		w := chunk.NewWriter(&file, &layout)
		w.Chunk(kind, data)
		if err := w.Finish(index, nil); err != nil {
			return // too long for a chunk
		}
		tl := hosts()
		_ = read(file.Bytes(), tl, all) // the index is wrong at least
		if tl.Devices == nil {
			return
		}
		if _, err := Write(&again, tl); err != nil {
			t.Fatal(err)
		}
		back := hosts()
		if err := read(again.Bytes(), back, all); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(tl.Devices, back.Devices); diff != "" {
			t.Errorf("devices (-want +got):\n%s", diff)
		}
	})
}

// BenchmarkRead reads streams of many activities into a timeline.
func BenchmarkRead(b *testing.B) {
	const activities = 100_000
	tl := hosts()
	d := timeline.NewDeviceBuilder(tl)
	s := d.Stream(0, 0, 7, "0:7")
	for i := range activities {
		at := unit.Duration(i) * 1_234_567
		name := []string{"gemm", "add", "norm"}[i%3]
		s.Add(at, at+1_000_000, d.Region(name), timeline.ComputeKernel, timeline.Launch{Thread: 0, Call: int32(i % 3)})
	}
	d.Finish(nil)
	var file bytes.Buffer
	if _, err := Write(&file, tl); err != nil {
		b.Fatal(err)
	}
	passes, cpu := 0, memory.CPU()
	for b.Loop() {
		if err := read(file.Bytes(), hosts(), all); err != nil {
			b.Fatal(err)
		}
		passes++
	}
	b.ReportMetric(float64(passes*activities)/(memory.CPU()-cpu).Seconds()/1e6, "Mactivities/cpu-s")
	b.ReportMetric(float64(file.Len())/activities, "bytes/activity")
}
