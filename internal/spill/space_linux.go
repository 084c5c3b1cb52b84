package spill

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"slackline/internal/fault"
)

const (
	segmentSize = 64 << 20 // that the file grows by, or more for one list
	alignment   = 64
	lookEvery   = 10 * time.Millisecond
)

// Space is a file that lists are kept in. Its methods can be called from several goroutines.
type Space struct {
	Smallest int // bytes from which on a list is kept in the file; it may be set before there is one

	mu       sync.Mutex
	file     *os.File
	size     int64
	segments [][]byte
	used     int // bytes of the last segment
	err      error

	resident int64 // bytes that may be resident
	stop     chan struct{}
	stopped  chan struct{}
}

// New returns a space in a file of a directory, of which about so many bytes are resident at a time. The system keeps more in its
// cache while nobody else needs the memory.
func New(dir string, resident int64) (*Space, error) {
	file, err := os.CreateTemp(dir, ".slackline-")
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			at.Path = dir // the name of the file means nothing to the user
		}
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	s := &Space{Smallest: smallest, file: file, resident: resident, stop: make(chan struct{}), stopped: make(chan struct{})}
	fault.Go(s.keepSmall)
	return s, nil
}

// Err is why lists are on the heap although there is a space, nil if none is.
func (s *Space) Err() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// take returns memory, nil if there is none: the disk is full, or its file system cannot promise space.
func (s *Space) take(n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	n = (n + alignment - 1) / alignment * alignment
	if len(s.segments) == 0 || s.used+n > len(s.segments[len(s.segments)-1]) {
		if s.err == nil {
			s.err = s.extend(max(segmentSize, (n+segmentSize-1)/segmentSize*segmentSize))
		}
		if s.err != nil {
			return nil
		}
	}
	memory := s.segments[len(s.segments)-1][s.used : s.used+n]
	s.used += n
	return memory
}

// extend adds a segment. Its space is allocated at once, for a page that has no room on the disk would end the process.
func (s *Space) extend(n int) error {
	if err := unix.Fallocate(int(s.file.Fd()), 0, s.size, int64(n)); err != nil {
		// Some file systems keep what they could get, which is all that was left for others.
		return errors.Join(os.NewSyscallError("fallocate", err), s.file.Truncate(s.size))
	}
	memory, err := unix.Mmap(int(s.file.Fd()), s.size, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return os.NewSyscallError("mmap", err)
	}
	s.size += int64(n)
	s.segments, s.used = append(s.segments, memory), 0
	return nil
}

// free gives the pages of a list back to the file system, if it is one of the space. Errors cost disk space only.
func (s *Space) free(list []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	page := os.Getpagesize()
	for _, segment := range s.segments {
		at := int(uintptr(unsafe.Pointer(unsafe.SliceData(list))) - uintptr(unsafe.Pointer(unsafe.SliceData(segment))))
		if at < 0 || at >= len(segment) {
			continue
		}
		from, to := (at+page-1)/page*page, (at+len(list))/page*page
		if from < to {
			_ = unix.Madvise(segment[from:to], unix.MADV_REMOVE)
		}
		return
	}
}

// keepSmall unmaps the pages of the file whenever too many are resident. They stay in the file, and are mapped again when
// they are used.
func (s *Space) keepSmall() {
	defer close(s.stopped)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		if residentFiles() > s.resident {
			s.drop()
		}
	}
}

func (s *Space) drop() {
	s.mu.Lock()
	segments := s.segments[:len(s.segments):len(s.segments)]
	s.mu.Unlock()
	for _, segment := range segments {
		_ = unix.Madvise(segment, unix.MADV_DONTNEED)
	}
}

// residentFiles is the number of bytes of mapped files that are resident in this process; 0: not known.
func residentFiles() int64 {
	data, err := os.ReadFile("/proc/self/statm")
	fields := bytes.Fields(data)
	if err != nil || len(fields) < 3 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[2]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// Close makes all lists void.
func (s *Space) Close() error {
	if s == nil {
		return nil
	}
	close(s.stop)
	<-s.stopped
	var errs []error
	for _, segment := range s.segments {
		errs = append(errs, unix.Munmap(segment))
	}
	s.segments = nil
	return errors.Join(append(errs, s.file.Close())...)
}
