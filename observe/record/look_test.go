package record

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"slackline/model/state"
)

// madeUp is a run of ranks that were in MPI_Allreduce often and exchanged messages with their neighbors; the last one has not come to the
// last MPI_Allreduce: it is in MPI_Recv.
type madeUp struct {
	dir   string
	ranks int
}

func makeUp(t testing.TB, ranks, rounds int) madeUp {
	t.Helper()
	m := madeUp{t.TempDir(), ranks}
	order := `{"command": ["mpirun", "./app"], "program": ["./app"], "out": "/tmp/app.slt"}`
	if err := os.WriteFile(filepath.Join(m.dir, orderFile), []byte(order), 0o666); err != nil {
		t.Fatal(err)
	}
	allreduce, send, recv := numberOf(t, "Allreduce"), numberOf(t, "Isend"), numberOf(t, "Irecv")
	wait, receive := numberOf(t, "Waitall"), numberOf(t, "Recv")
	for r := range ranks {
		right, left := int32((r+1)%ranks), int32((r+ranks-1)%ranks)
		var list [][]uint64
		now, id := uint64(1e9), uint64(0)
		next := func() uint64 { now += 1000; return now }
		for range rounds {
			list = append(list,
				entry(rawPost, recv, 1, 0, next(), next(), 8, pair(left, 5), 0, id+1),
				entry(rawSend, send, 1, 0, next(), next(), 8, pair(right, 5), 0, id+2),
				entry(rawComplete, wait, 1, 0, next(), next(), 0,
					id+1, uint64(recv)<<16|requestRecv, pair(left, 5), 0, 8, id+2, uint64(send)<<16|requestSend, pair(right, 5), 8, 0),
				entry(rawCollective, allreduce, 1, 0, next(), next(), 8, 8, pair(-4, 0), 0))
			id += 2
		}
		open := entry(rawCollective, allreduce, 1, 0, next(), 0, 8, 8, pair(-4, 0), 0)
		if r == ranks-1 {
			open = entry(rawRecv, receive, 1, 0, next(), 0, 8, pair(0, 7), 0)
		}
		m.write(t, r, "evt", append(list, open), 1)
		members := []uint64{pair(0, int32(ranks)), uint64(r)}
		for i := 0; i < ranks; i += 2 {
			members = append(members, pair(int32(i+1), int32(i)))
		}
		m.write(t, r, "def", [][]uint64{entry(rawDefComm, 0, 0, 0, 0, 0, append(members, 0)...), entry(rawDefPath, 0, 1, 0, 0, 0, 0, 0x1000)}, 0)
	}
	return m
}

// write writes the file of a rank as one chunk.
func (m madeUp) write(t testing.TB, rank int, kind string, records [][]uint64, behind int) {
	t.Helper()
	b := newRawBuilder(kind == "def")
	const size = 1 << 20
	file := append(slices.Clone(b.Bytes()), make([]byte, rawChunkHead)...)
	le := binary.LittleEndian
	le.PutUint32(file[16:], uint32(rank))
	le.PutUint32(file[20:], uint32(m.ranks))
	le.PutUint32(file[32:], size)
	le.PutUint64(file[64:], rawOpenEnd)
	copy(file[144:], "elsewhere\x00")
	used := 0
	for i, r := range records {
		if i == len(records)-behind {
			used = len(file) - rawPage
		}
		for _, w := range r {
			file = le.AppendUint64(file, w)
		}
	}
	if behind == 0 {
		used = len(file) - rawPage
	}
	sealHead(file[:rawPage])
	le.PutUint64(file[rawPage:], rawChunkMagic)
	le.PutUint64(file[rawPage+16:], uint64(used))
	if len(file) > rawPage+size {
		t.Fatalf("%d bytes do not fit into a chunk", len(file))
	}
	file = append(file, make([]byte, rawPage+size-len(file))...)
	if err := os.WriteFile(filepath.Join(m.dir, fmt.Sprintf("r%d-t0.%s", rank, kind)), file, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestLook reads the state of a made-up run.
func TestLook(t *testing.T) {
	const rounds = 10
	m := makeUp(t, 4, rounds)
	s, err := Look(t.Context(), []string{m.dir}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Ranks) != 4 || s.Calls != 4*(4*rounds+1) || len(s.Comms) != 1 || !s.Alive {
		t.Fatalf("%d ranks, %d calls, %d communicators, alive %v", len(s.Ranks), s.Calls, len(s.Comms), s.Alive)
	}
	for r, rank := range s.Ranks {
		thread := rank.Threads[0]
		c := thread.Call
		if rank.Status != state.Running || len(rank.Open) != 0 || rank.Partial || c == nil || thread.Moved {
			t.Errorf("rank %d: %+v", r, rank)
			continue
		}
		if n := rank.Sent[state.Channel{Peer: int32((r + 1) % 4), Tag: 5}]; n != rounds {
			t.Errorf("rank %d has sent %d messages, want %d", r, n, rounds)
		}
		if n := rank.Received[state.Channel{Peer: int32((r + 3) % 4), Tag: 5}]; n != rounds {
			t.Errorf("rank %d has received %d messages, want %d", r, n, rounds)
		}
		want := state.Call{Kind: state.Together, Name: "MPI_Allreduce", HasComm: true, Number: rounds, Peer: state.Nobody}
		if r == 3 {
			want = state.Call{Kind: state.Receive, Name: "MPI_Recv", HasComm: true, Peer: 0, Tag: 7, Bytes: 8}
		}
		if c.Kind != want.Kind || c.Name != want.Name || c.Number != want.Number || r == 3 && (c.Peer != want.Peer || c.Tag != want.Tag) {
			t.Errorf("rank %d is in %+v, want %+v", r, *c, want)
		}
	}
}

// TestPulse wants a call to count as a movement, and a test that finds nothing not.
func TestPulse(t *testing.T) {
	before, after := pulse{mark: 1}, pulse{mark: 2}
	if !before.movedTo(after) || before.movedTo(before) {
		t.Error("a call is not seen")
	}
	if (pulse{mark: 1, polls: true}).movedTo(pulse{mark: 2, polls: true}) {
		t.Error("a test that finds nothing counts as a movement")
	}
	m := makeUp(t, 2, 3)
	paths, err := eventFiles([]string{m.dir})
	if err != nil || len(paths) != 2 {
		t.Fatal(paths, err)
	}
	for _, p := range pulses(paths, nil) {
		if !p.seen || p.mark == 0 {
			t.Errorf("%+v", p)
		}
	}
}

// BenchmarkLook reads the files of 1,024 ranks, with both looks.
func BenchmarkLook(b *testing.B) {
	const rounds = 250 // 1,000 calls
	m := makeUp(b, 1024, rounds)
	b.ResetTimer()
	for b.Loop() {
		if _, err := Look(b.Context(), []string{m.dir}, 1); err != nil {
			b.Fatal(err)
		}
	}
}
