package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"slackline/model/state"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// TestDamagedFiles damages the raw files of real runs in many ways: each is reported with the name of a file, nothing is removed, and
// what the rank does counts as unknown.
func TestDamagedFiles(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "ranks.c", "-Irecorder")
		keep := func() string {
			o := sampled(append(mpitest.Launch(l, 2), program, "ring", "4000")...)
			o.KeepRaw = true
			r := recorded(t, o)
			raw, _ := filepath.Glob(filepath.Join(filepath.Dir(r.result.Out), ".*-raw-*"))
			if len(raw) != 1 {
				t.Fatalf("raw files in %q", raw)
			}
			return raw[0]
		}
		whole, other := keep(), keep()
		if faults, talk, err := tryDamaged(t, whole, func(string) {}); err != nil || len(faults) > 0 || strings.Contains(talk, "damaged") {
			t.Fatalf("whole files: %v, %v, %q", faults, err, talk)
		}
		cut := func(name string, at int64) func(string) {
			return func(dir string) { must(t, os.Truncate(filepath.Join(dir, name), at)) }
		}
		change := func(name string, at int, how func(byte) byte) func(string) {
			return func(dir string) {
				data := readFile(t, filepath.Join(dir, name))
				data[at] = how(data[at])
				must(t, os.WriteFile(filepath.Join(dir, name), data, 0o666))
			}
		}
		flip := func(b byte) byte { return b ^ 4 }
		within := rawPage + int(usedOf(t, filepath.Join(whole, "r1-t0.evt")))/2
		for _, tc := range []struct {
			name, file string
			damage     func(dir string)
		}{
			{"cut in the head", "r1-t0.evt", cut("r1-t0.evt", 1000)},
			{"cut in a chunk", "r1-t0.evt", cut("r1-t0.evt", rawPage+100)},
			{"cut after the head", "r1-t0.evt", cut("r1-t0.evt", rawPage)},
			{"empty", "r1-t0.evt", cut("r1-t0.evt", 0)},
			{"a digit of the head", "r1-t0.evt", change("r1-t0.evt", 40, flip)},
			{"a digit of a record", "r1-t0.evt", change("r1-t0.evt", within, flip)},
			{"how much is valid", "r1-t0.evt", change("r1-t0.evt", rawPage+17, flip)},
			{"the sign of a chunk", "r1-t0.evt", change("r1-t0.evt", rawPage, flip)},
			{"a definition", "r0-t0.def", change("r0-t0.def", rawPage+rawChunkHead+40, flip)},
			{"no definitions", "r0-t0.def", func(dir string) { must(t, os.Remove(filepath.Join(dir, "r0-t0.def"))) }},
			{"no events", "r0-t0.evt", func(dir string) { must(t, os.Remove(filepath.Join(dir, "r0-t0.evt"))) }},
			{"a directory in its place", "r0-t0.def", func(dir string) {
				must(t, os.Remove(filepath.Join(dir, "r0-t0.def")))
				must(t, os.Mkdir(filepath.Join(dir, "r0-t0.def"), 0o777))
			}},
			{"one rank twice", "r1-t0.evt", func(dir string) { copyFile(t, filepath.Join(dir, "r0-t0.evt"), filepath.Join(dir, "r1-t0.evt")) }},
			{"definitions of another rank", "r1-t0.def", func(dir string) {
				copyFile(t, filepath.Join(dir, "r0-t0.def"), filepath.Join(dir, "r1-t0.def"))
			}},
			{"another run", "r1-t0.evt", func(dir string) { copyFile(t, filepath.Join(other, "r1-t0.evt"), filepath.Join(dir, "r1-t0.evt")) }},
			{"both of another run", "r1-t0.evt", func(dir string) {
				copyFile(t, filepath.Join(other, "r1-t0.evt"), filepath.Join(dir, "r1-t0.evt"))
				copyFile(t, filepath.Join(other, "r1-t0.def"), filepath.Join(dir, "r1-t0.def"))
			}},
		} {
			faults, talk, err := tryDamaged(t, whole, tc.damage)
			if !slices.ContainsFunc(faults, func(f Fault) bool { return strings.Contains(f.Error(), tc.file) }) {
				t.Errorf("%s: a look finds %v, want that it names %s", tc.name, faults, tc.file)
			}
			if err == nil && !strings.Contains(talk, tc.file) || err != nil && !strings.Contains(err.Error(), tc.file) {
				t.Errorf("%s: recovering says %v, %q, want that it names %s", tc.name, err, talk, tc.file)
			}
		}
	})
}

// tryDamaged damages a copy of raw files. It returns what a look finds, and what making a trace of them says.
func tryDamaged(t *testing.T, whole string, damage func(dir string)) (faults []Fault, talk string, err error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "raw")
	must(t, os.CopyFS(dir, os.DirFS(whole)))
	damage(dir)
	sight, err := Look(t.Context(), []string{dir}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(sight.Faults) > 0 != (len(sight.Unreadable()) > 0) {
		t.Errorf("faults %v, but the ranks %v are unreadable", sight.Faults, sight.Unreadable())
	}
	say := func(format string, args ...any) { talk += fmt.Sprintf(format, args...) + "\n" }
	_, err = Recover(dir, Options{Out: filepath.Join(t.TempDir(), "out.slt"), Note: say, Warn: say})
	if _, gone := os.Stat(filepath.Join(dir, orderFile)); len(sight.Faults) > 0 && gone != nil {
		t.Errorf("the damaged raw files were removed: %v", gone)
	}
	return sight.Faults, talk, err
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return data
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	must(t, os.WriteFile(to, readFile(t, from), 0o666))
}

// usedOf is how much of the first chunk of a file is valid.
func usedOf(t testing.TB, path string) uint64 {
	t.Helper()
	return binary.LittleEndian.Uint64(readFile(t, path)[rawPage+16:])
}

// TestMixedDirectories wants directories of different runs, and one run twice, to be refused.
func TestMixedDirectories(t *testing.T) {
	a, b := makeUp(t, 2, 3), makeUp(t, 2, 3)
	if _, err := Look(t.Context(), []string{a.dir, b.dir}, 0); err == nil || !strings.Contains(err.Error(), "are both of rank 0") {
		t.Errorf("the same rank twice: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(b.dir, orderFile), []byte(`{"command": ["mpirun", "./b"], "out": "/tmp/b.slt"}`), 0o666))
	if _, err := Look(t.Context(), []string{a.dir, b.dir}, 0); err == nil || !strings.Contains(err.Error(), "are of different runs") {
		t.Errorf("two runs: %v", err)
	}
}

// TestEndedThread wants a thread that has ended not to count as one that computes: its rank waits if the others do.
func TestEndedThread(t *testing.T) {
	m := makeUp(t, 2, 3)
	for _, kind := range []string{"evt", "def"} {
		data := readFile(t, filepath.Join(m.dir, "r1-t0."+kind))
		le := binary.LittleEndian
		le.PutUint32(data[24:], 1) // thread
		le.PutUint64(data[64:], rawClosed)
		sealHead(data[:rawPage])
		sealChunk(data[rawPage:])
		must(t, os.WriteFile(filepath.Join(m.dir, "r1-t1."+kind), data, 0o666))
	}
	s, err := Look(t.Context(), []string{m.dir}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if r := s.Ranks[1]; len(s.Faults) > 0 || r.Status != state.Running || len(r.Threads) != 1 || r.Threads[0].Call == nil {
		t.Errorf("faults %v, rank 1 = %+v, want the thread that waits", s.Faults, r)
	}
}

// TestMissingFiles wants the files of a rank, and of a thread, to be missed.
func TestMissingFiles(t *testing.T) {
	m := makeUp(t, 3, 3)
	for _, kind := range []string{"evt", "def"} {
		must(t, os.Remove(filepath.Join(m.dir, "r1-t0."+kind)))
	}
	s, err := Look(t.Context(), []string{m.dir}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Faults) != 1 || !strings.Contains(s.Faults[0].Error(), "rank 1 are missing") || !slices.Equal(s.Unreadable(), []int{1}) {
		t.Errorf("%v, %v, want that rank 1 is missed", s.Faults, err)
	}
	data := readFile(t, filepath.Join(m.dir, "r2-t0.evt"))
	le := binary.LittleEndian
	le.PutUint32(data[28:], 3) // threads
	le.PutUint64(data[64:], rawClosed)
	sealChunk(data[rawPage:])
	must(t, os.WriteFile(filepath.Join(m.dir, "r2-t0.evt"), data, 0o666))
	_, faults, err := findThreads(m.dir, 0)
	if err != nil || len(faults) != 1 || !strings.Contains(faults[0].Error(), "rank 2 had 3 threads, the files of 2 are missing") {
		t.Errorf("%v, %v, want that threads are missed", faults, err)
	}
}

// goesOn is a file whose thread ended when its head was read, and is used by another one since.
type goesOn struct{ *bytes.Reader }

func (f goesOn) ReadAt(b []byte, at int64) (int, error) {
	n, err := f.Reader.ReadAt(b, at)
	if len(b) < rawPage { // all but the first look at the head
		for i := range b[:n] {
			if k := at + int64(i); k == rawClosedAt || k >= rawPage+24 && k < rawPage+32 {
				b[i] = 0
			}
		}
	}
	return n, err
}

// TestThreadGoesOn wants a file not to be taken for damaged because a further thread has begun to write to it between two looks.
func TestThreadGoesOn(t *testing.T) {
	b := newRawBuilder(false)
	b.chunk(0, 0, entry(rawSample, 0, 1, 0, 1e6, 1e6))
	raw, err := newRawFile(goesOn{bytes.NewReader(b.Bytes())}, int64(b.Len()))
	if err != nil || raw.head.closed != rawClosed {
		t.Fatalf("%v, %+v, want a thread that has ended", err, raw)
	}
	if err := raw.sealedAtEnd(); err != nil {
		t.Errorf("a thread that goes on: %v", err)
	}
}

// TestKilledBetweenChunks wants a file whose last chunk is whole, and whose head does not say that it is the last one, not to be taken for
// damaged; the other way round it is.
func TestKilledBetweenChunks(t *testing.T) {
	for at, want := range map[int]bool{rawClosedAt: false, rawPage + 24: true} {
		b := newRawBuilder(false)
		b.chunk(0, 0, entry(rawSample, 0, 1, 0, 1e6, 1e6))
		data := b.Bytes()
		clear(data[at : at+8])
		raw, err := newRawFile(bytes.NewReader(data), int64(len(data)))
		if err != nil || raw.damage != nil {
			t.Fatal(err, raw)
		}
		if err := raw.sealedAtEnd(); (err != nil) != want {
			t.Errorf("with 0 at %d: %v", at, err)
		}
	}
}

// failsAt is a file on a disk that fails from an offset on.
type failsAt struct {
	*bytes.Reader
	offset int64
}

func (f failsAt) ReadAt(b []byte, offset int64) (int, error) {
	if offset >= f.offset {
		return 0, syscall.EIO
	}
	return f.Reader.ReadAt(b, offset)
}

// TestDiskFails wants an error of the disk not to be taken for the end of a file.
func TestDiskFails(t *testing.T) {
	b := newRawBuilder(false)
	for i := range uint64(3) {
		b.chunk(i, 0, entry(rawSample, 0, 1, 0, 1e6+i, 1e6+i))
	}
	for _, offset := range []int64{0, rawPage, rawPage + rawLeastChunk, rawPage + 2*rawLeastChunk} {
		if raw, err := newRawFile(failsAt{bytes.NewReader(b.Bytes()), offset}, int64(b.Len())); !errors.Is(err, syscall.EIO) {
			t.Errorf("the disk fails at byte %d: %v, %+v, want %v", offset, err, raw, syscall.EIO)
		}
	}
}

// TestOddRecords wants records that make no sense to be found in the last chunk of a thread that was killed, which has no checksum.
func TestOddRecords(t *testing.T) {
	barrier, send := numberOf(t, "Barrier"), numberOf(t, "Send")
	list, err := mpi.Functions()
	must(t, err)
	of := func(odd ...uint64) error {
		b := newRawBuilder(false)
		le := binary.LittleEndian
		le.PutUint64(b.Bytes()[40:], 50) // when it began
		le.PutUint64(b.Bytes()[rawClosedAt:], rawOpenEnd)
		sealHead(b.Bytes()[:rawPage])
		b.chunk(0, 0, entry(rawSend, send, 1, 0, 100, 200, 8, pair(0, 3), pair(0, 0), 0), odd,
			entry(rawSample, 0, 1, 0, 250, 0), entry(rawCollective, barrier, 1, 0, 500, 600, 0, 0, pair(0, 0), 0))
		le.PutUint64(b.Bytes()[rawPage+24:], 0)
		path := filepath.Join(t.TempDir(), "r1-t0.evt")
		must(t, os.WriteFile(path, b.Bytes(), 0o666))
		tables := &streamTables{calls: callTable(list, newRegionTable()), stacks: []uint32{0, 1}, code: map[uint64]uint32{}}
		damage, err := findCode(path, tables, &resolver{}, true)
		must(t, err)
		return damage
	}
	whole := entry(rawCollective, barrier, 1, 0, 300, 400, 0, 0, pair(0, 0), 0)
	if err := of(whole...); err != nil {
		t.Errorf("a whole file: %v", err)
	}
	for what, odd := range map[string][]uint64{
		"it begins before the call before it has ended": entry(rawCollective, barrier, 1, 0, 199, 400, 0, 0, pair(0, 0), 0),
		"it ends after the call after it begins":        entry(rawCollective, barrier, 1, 0, 300, 501, 0, 0, pair(0, 0), 0),
		"it ends before it begins":                      entry(rawCollective, barrier, 1, 0, 300, 299, 0, 0, pair(0, 0), 0),
		"a sample of before the run":                    entry(rawSample, 0, 1, 0, 49, 0),
		"a call path that is not defined":               entry(rawCollective, barrier, 2, 0, 300, 400, 0, 0, pair(0, 0), 0),
		"a function that there is not":                  entry(rawCollective, 1<<15, 1, 0, 300, 400, 0, 0, pair(0, 0), 0),
		"a collective that is a send":                   entry(rawCollective, send, 1, 0, 300, 400, 0, 0, pair(0, 0), 0),
		"a send without its peer":                       entry(rawSend, send, 1, 0, 300, 400, 8),
		"a kind that there is not":                      entry(39, barrier, 1, 0, 300, 400),
	} {
		if err := of(odd...); err == nil {
			t.Errorf("%s: not noticed", what)
		}
	}
}

// TestRunsOn wants threads whose functions go on after MPI_Finalize to leave the files alone, which are complete by then.
func TestRunsOn(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		program := build(t, l, "runson.c", "-pthread", "-finstrument-functions")
		for range 4 {
			r := recorded(t, sampled(append(mpitest.Launch(l, 2), program)...)) // also looks for damage
			if r.stdout != "done\n" || r.result.ExitCode != 0 || strings.Contains(r.stderr+strings.Join(r.talk, "\n"), "recording has stopped") {
				t.Errorf("exit code %d, %q, %q, %q", r.result.ExitCode, r.stdout, r.stderr, r.talk)
			}
			steps := int64(0)
			for i := range r.Locations {
				steps += r.calls(t, i)["step"]
			}
			if steps < 2*20000 {
				t.Errorf("%d steps, want all before MPI_Finalize, 20000 of each rank or more", steps)
			}
		}
	})
}
