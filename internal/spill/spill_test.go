//go:build linux

package spill

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"slackline/internal/needed"
)

// open returns a space that keeps all lists in its file.
func open(t *testing.T, resident int64) *Space {
	t.Helper()
	dir := t.TempDir()
	s, err := New(dir, resident)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the file has a name: %v, %v", left, err)
	}
	s.Smallest = 1
	return s
}

type pair struct {
	a int64
	b [3]int32
}

func TestListsAreApart(t *testing.T) {
	s := open(t, 1<<30)
	lists := make([][]pair, 200)
	for round := range 300 {
		for i := range lists {
			lists[i] = Append(s, lists[i], pair{int64(i), [3]int32{int32(round)}})
		}
	}
	large := Make[int32](s, 0, segmentSize/2) // longer than a segment
	if large = large[:cap(large)]; len(large) != segmentSize/2 || large[0] != 0 || large[len(large)-1] != 0 {
		t.Errorf("a long list has %d elements from %d to %d, want zeros", len(large), large[0], large[len(large)-1])
	}
	Free(s, large)
	for i, list := range lists {
		for round, got := range list {
			if want := (pair{int64(i), [3]int32{int32(round)}}); got != want {
				t.Fatalf("list %d, element %d is %v, want %v", i, round, got, want)
			}
		}
	}
	if err := s.Err(); err != nil {
		t.Error(err)
	}
}

// What is resident stays small, and what is not resident is still there.
func TestResidentStaysSmall(t *testing.T) {
	const n = 4 << 20 // 32 MiB
	before := residentFiles()
	s := open(t, before+8<<20)
	list := Make[int64](s, n, n)
	for i := range list {
		list[i] = int64(i)
	}
	for residentFiles() > before+8<<20 { // ends when they have been unmapped; the test would time out otherwise
		time.Sleep(lookEvery)
	}
	for i := range list {
		if list[i] != int64(i) {
			t.Fatalf("element %d is %d", i, list[i])
		}
	}
}

func TestNoSpaceIsTheHeap(t *testing.T) {
	var none *Space
	list := Append(none, Make[string](none, 0, 3), "pointers are fine")
	Free(none, list)
	if cap(list) != 3 || list[0] != "pointers are fine" || none.Err() != nil || none.Close() != nil {
		t.Errorf("list %v with room for %d", list, cap(list))
	}
	s := open(t, 1<<30)
	s.err = os.ErrDeadlineExceeded // as if the disk were full
	if got := Make[int32](s, 5, 7); len(got) != 5 || cap(got) != 7 || s.Err() == nil {
		t.Errorf("without disk: %d of %d elements", len(got), cap(got))
	}
}

func TestPointersAreRefused(t *testing.T) {
	s := open(t, 1<<30)
	defer func() {
		if recover() == nil {
			t.Error("a list of strings is kept in a file")
		}
	}()
	Make[struct {
		n    int
		name string
	}](s, 1, 1)
}

// TestFullDiskIsLeftToOthers wants a file that cannot grow to give back what it got: ext4 keeps that.
func TestFullDiskIsLeftToOthers(t *testing.T) {
	image, dir := filepath.Join(t.TempDir(), "image"), t.TempDir()
	out, err := exec.Command("sh", "-c", `truncate -s 8M "$0" && mkfs.ext4 -q "$0" && mount -o loop "$0" "$1"`, image, dir).CombinedOutput()
	needed.That(t, err == nil, "a file system of its own: "+string(out))
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	s, err := New(dir, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Smallest = 1
	if list := Make[int32](s, 5, 7); len(list) != 5 || s.Err() == nil {
		t.Errorf("%d elements, %v, want 5 and an error", len(list), s.Err())
	}
	if err := os.WriteFile(filepath.Join(dir, "other"), make([]byte, 1<<20), 0o666); err != nil {
		t.Errorf("another file: %v", err)
	}
}

// A folder in which no file can be made is named, and the hidden file is not.
func TestErrorOfFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing")
	if _, err := New(dir, 1); err == nil || !strings.HasSuffix(err.Error(), dir+": no such file or directory") {
		t.Errorf("error %v, want one of %s", err, dir)
	}
}
