// Package journal keeps files of JSON lines that only ever grow, and notices every change to them:
// the last field of each line is a checksum of the file so far.
//
//	{"run":"p2.r1","status":"ok","crc32c":"5535352e"}
//
// A line counts once it is written and synced. What a crash leaves is a last line that is not
// complete; it is cut off when the file is opened again. This package does not know what lines mean.
package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"slackline/internal/atomicfile"
	"slackline/internal/source"
)

// SumField starts the last field of a line, its checksum.
const SumField = `,"crc32c":"`

const (
	sumEnd     = `"}`
	sumPattern = SumField + "%08x" + sumEnd
	sumLength  = len(SumField) + 8 + len(sumEnd)
)

// longest is the size of a file that is still read.
const longest = 1 << 30

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Chain is the checksum of the lines so far, each without its own checksum: no line can be changed,
// moved, doubled or left out unnoticed, except for the last ones.
type Chain uint32

// Add goes on by a line without its checksum, and returns the checksum.
func (c *Chain) Add(body []byte) uint32 {
	*c = Chain(crc32.Update(uint32(*c), castagnoli, body))
	return uint32(*c)
}

// Check takes the checksum off a line, and goes on by the line if it is right.
func (c *Chain) Check(line []byte) (body []byte, ok bool) {
	n := len(line) - sumLength
	if n < 1 {
		return nil, false
	}
	next := *c
	if fmt.Sprintf(sumPattern, next.Add(line[:n])) != string(line[n:]) {
		return nil, false
	}
	*c = next
	return append(line[:n:n], '}'), true
}

// Encode returns v, which must be an object with members, as a line.
func (c *Chain) Encode(v any) ([]byte, error) {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	line.Truncate(line.Len() - len("}\n"))
	sum := c.Add(line.Bytes())
	fmt.Fprintf(&line, sumPattern+"\n", sum)
	return line.Bytes(), nil
}

// Lines reads the lines of a journal, each as the JSON object that was written. The name is used in
// messages. A last line that is not complete is left out, and whole is the size of what is before it.
// A file that differs from what was written in any other way is refused.
func Lines(name string, data []byte) (lines [][]byte, whole int, err error) {
	lines, whole, _, err = read(name, data)
	return lines, whole, err
}

func read(name string, data []byte) (lines [][]byte, whole int, sum Chain, err error) {
	for n := 1; whole < len(data); n++ {
		rest := data[whole:]
		end := bytes.IndexByte(rest, '\n')
		if at := bytes.Index(rest, []byte(SumField)); end < 0 && (at < 0 || len(rest) <= at+sumLength) {
			break // torn; what is longer has a damaged end of a line
		}
		body, ok := sum.Check(rest[:max(end, 0)])
		if !ok || !json.Valid(body) {
			return nil, 0, 0, fmt.Errorf("%s:%d: the line is damaged, or lines before it were moved, added or removed; "+
				"remove this line and all after it; what they record is lost", name, n)
		}
		lines = append(lines, body)
		whole += end + 1
	}
	return lines, whole, sum, nil
}

// A Journal is a file that is open to be appended to, by one process at a time. Its methods may be
// called from several goroutines.
type Journal struct {
	mu   sync.Mutex
	f    *os.File
	sum  Chain
	fail error // of an earlier append: the end of the file is not known
}

// patience is how long Open waits for another process to let go of the journal: a process that was
// killed while it started another one has it open until that one has begun.
var patience = 3 * time.Second

// take locks the file for this process.
func (j *Journal) take() error {
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if err := lock(j.f); !errors.Is(err, ErrInUse) || time.Since(start) > patience {
			return err
		}
	}
}

// ErrInUse is returned when another process has the journal open.
var ErrInUse = errors.New("is in use by another process")

// Open opens or makes a journal, and returns the lines that it has. A last line that is not complete
// is removed.
func Open(path string) (*Journal, [][]byte, error) {
	if err := atomicfile.CheckLinks(path); err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, nil, err
	}
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		f.Close()
		return nil, nil, &fs.PathError{Op: "open", Path: path, Err: source.ErrNotAFile}
	}
	j := &Journal{f: f}
	lines, err := j.start(path)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return j, lines, nil
}

func (j *Journal) start(path string) ([][]byte, error) {
	if err := j.take(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	data, err := io.ReadAll(io.LimitReader(j.f, longest+1))
	if err != nil {
		return nil, err
	}
	if len(data) > longest {
		return nil, fmt.Errorf("%s: has more than %d MiB", path, longest>>20)
	}
	lines, whole, sum, err := read(path, data)
	if err != nil {
		return nil, err
	}
	j.sum = sum
	if whole < len(data) {
		if err := j.f.Truncate(int64(whole)); err != nil {
			return nil, err
		}
	}
	if _, err := j.f.Seek(int64(whole), io.SeekStart); err != nil {
		return nil, err
	}
	return lines, syncDir(filepath.Dir(path))
}

// syncDir makes the name of a new file last.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, fs.ErrInvalid) {
		return err
	}
	return nil
}

// Append adds a line, and returns when it is on disk.
func (j *Journal) Append(v any) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.fail != nil {
		return j.fail
	}
	line, err := j.sum.Encode(v)
	if err == nil {
		_, err = j.f.Write(line)
	}
	if err == nil {
		err = j.f.Sync()
	}
	j.fail = err
	return err
}

// Close closes the file, and lets others have it.
func (j *Journal) Close() error { return j.f.Close() }
