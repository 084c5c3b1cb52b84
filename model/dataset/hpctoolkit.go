package dataset

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
)

// Databases of HPCToolkit, version 4, directories that hpcprof and hpcprof-mpi write. Of their files two are read, both little-endian
// with pointers that count bytes from the start of the file:
//
//	meta.db     metrics with their statistics; the tree of contexts (functions, loops, lines, instructions) below entry points
//	profile.db  values of contexts: first the summary profile, statistics over all threads, then a profile for each thread
//
// A call path has a name for each context that was called, also inline: its function, or, where the binary was not analyzed, its
// module and address. The main thread is <root>, which also has the totals. Loops, lines and instructions are parts of the function
// around them; many of the latter are not in meta.db although they have values. Values are the sums over all threads and streams,
// divided by the number of ranks, p, if threads have ranks: exclusive ones from the scope "function", inclusive ones from that of all
// descendants. The profiles of single threads are not read.

var hpctoolkitFormat = Format{
	Name: "hpctoolkit", Info: "HPCToolkit database", Binary: true, PlaceInName: true, OfRuns: true, Sniff: sniffHPCToolkit,
	Read: func(name string, _ []byte) (*Dataset, error) {
		return nil, fmt.Errorf("%s: is one file of an HPCToolkit database; give the directory with its %s and %s", name, hpcMeta, hpcProfile)
	},
	Mark: hpcMeta, ReadDir: readHPCToolkit,
}

const (
	hpcMagic   = "HPCTOOLKIT"
	hpcMeta    = "meta.db"
	hpcProfile = "profile.db"
)

func sniffHPCToolkit(head []byte) bool { return bytes.HasPrefix(head, []byte(hpcMagic)) }

// Limits of a database, beside those of files.
const (
	maxHPCValues = 1 << 21 // of call paths and metrics
	maxHPCIds    = 64      // that name one thread
)

// le reads numbers of the files.
var le = binary.LittleEndian

// hpcFile is an open file of a database.
type hpcFile struct {
	name string
	r    io.ReaderAt
	size uint64
}

// hpcPart is a part of a file in memory: its bytes from an offset on.
type hpcPart struct {
	name string
	from uint64
	data []byte
}

// withHPC opens a file of a database and checks its frame: kind, version, and the mark at its end.
func withHPC(db string, dir fs.FS, file, kind, end string, read func(*hpcFile) error) error {
	info, err := fs.Stat(dir, file)
	if err != nil {
		return fmt.Errorf("%s: %w; give a whole HPCToolkit database, with %s and %s", db, err, hpcMeta, hpcProfile)
	}
	name := path.Join(db, file)
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: is not a regular file, which is read at any place", name)
	}
	f, err := dir.Open(file)
	if err != nil {
		return err
	}
	r, ok := f.(io.ReaderAt)
	if !ok {
		return errors.Join(fmt.Errorf("%s: cannot be read at any place; copy the database to a file system", name), f.Close())
	}
	h := &hpcFile{name, r, uint64(info.Size())}
	err = h.checkFrame(kind, end)
	if err == nil {
		err = read(h)
	}
	return errors.Join(err, f.Close())
}

func (h *hpcFile) checkFrame(kind, end string) error {
	head, err := h.load(0, 16, "the header")
	if err != nil {
		return err
	}
	switch b := head.data; {
	case string(b[:14]) != hpcMagic+kind:
		return fmt.Errorf("%s: starts with %q, not with %q; is it that file of an HPCToolkit database?", h.name, b[:14], hpcMagic+kind)
	case b[14] != 4:
		return fmt.Errorf("%s: is of version %d.%d; version 4 is read, which hpcprof writes since 2022", h.name, b[14], b[15])
	}
	foot, err := h.load(h.size-8, 8, "the end")
	if err == nil && string(foot.data) != end {
		err = fmt.Errorf("%s: byte %d: ends with %q, not with %q; the file is not complete: copy it again", h.name, h.size-8, foot.data, end)
	}
	return err
}

// load reads a part of the file.
func (h *hpcFile) load(from, n uint64, what string) (*hpcPart, error) {
	if err := h.check(from, n, what); err != nil {
		return nil, err
	}
	if n > maxFileBytes {
		return nil, fmt.Errorf("%s: byte %d: %s has %d MiB; at most %d are read", h.name, from, what, n>>20, maxFileBytes>>20)
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(io.NewSectionReader(h.r, int64(from), int64(n)), data); err != nil {
		return nil, fmt.Errorf("%s: byte %d: %w", h.name, from, err)
	}
	return &hpcPart{h.name, from, data}, nil
}

// section loads the part that the header names at an offset: its size, then its place.
func (h *hpcFile) section(at uint64, what string) (*hpcPart, error) {
	head, err := h.load(at, 16, "the header")
	if err != nil {
		return nil, err
	}
	return h.load(le.Uint64(head.data[8:]), le.Uint64(head.data), what)
}

func (h *hpcFile) check(from, n uint64, what string) error {
	if from > h.size || n > h.size-from {
		return fmt.Errorf("%s: byte %d: %s should have %d bytes here, but the file ends at byte %d; it is damaged: copy it again, or write it "+
			"again with hpcprof", h.name, from, what, n, h.size)
	}
	return nil
}

// at returns n bytes from an offset in the file on.
func (p *hpcPart) at(from, n uint64, what string) ([]byte, error) {
	i, size := from-p.from, uint64(len(p.data))
	if from < p.from || i > size || n > size-i {
		return nil, fmt.Errorf("%s: byte %d: %s should have %d bytes here, outside of bytes %d to %d that can hold it; the file is damaged: "+
			"copy it again, or write it again with hpcprof", p.name, from, what, n, p.from, p.from+size)
	}
	return p.data[i : i+n], nil
}

// array returns the elements of an array, which may be longer than the fields that are known.
func (p *hpcPart) array(from, count, stride, known uint64, what string) ([][]byte, error) {
	if count > 0 && stride < known {
		return nil, fmt.Errorf("%s: byte %d: %s: elements of %d bytes cannot hold their %d bytes of fields; the file is damaged", p.name, from,
			what, stride, known)
	}
	if count == 0 {
		return nil, nil
	}
	all, err := p.at(from, count*stride, what) // at most 32 and 16 bits
	if err != nil {
		return nil, err
	}
	return slices.Collect(slices.Chunk(all, int(stride))), nil
}

// text returns the name at an offset, which ends with a zero. A longer one than any name may be is cut.
func (p *hpcPart) text(from uint64, what string) (string, error) {
	if _, err := p.at(from, 1, what); err != nil {
		return "", err
	}
	rest := p.data[from-p.from:]
	rest = rest[:min(len(rest), maxNameBytes+1)]
	if i := bytes.IndexByte(rest, 0); i >= 0 {
		return string(rest[:i]), nil
	}
	if len(rest) <= maxNameBytes {
		return "", fmt.Errorf("%s: byte %d: %s does not end; the file is damaged", p.name, from, what)
	}
	return string(rest), nil
}

// hpcKey names a value: its call path and the number of its metric.
type hpcKey struct {
	path   int32
	metric uint16
}

func readHPCToolkit(name string, dir fs.FS) (*Dataset, error) {
	d := New()
	err := withHPC(name, dir, hpcMeta, "meta", "_meta.db", func(h *hpcFile) error {
		meta, err := h.load(0, h.size, "the file")
		if err != nil {
			return err
		}
		m, err := readHPCMeta(meta)
		if err != nil {
			return err
		}
		return withHPC(name, dir, hpcProfile, "prof", "_prof.db", func(h *hpcFile) error { return h.values(m, d) })
	})
	return d, err
}

// values adds the values of the summary profile to a dataset.
func (h *hpcFile) values(m *hpcTree, d *Dataset) error {
	profiles, err := h.section(0x10, "the list of profiles")
	if err != nil {
		return err
	}
	head, err := profiles.at(profiles.from, 0xd, "the head of the list of profiles")
	if err != nil {
		return err
	}
	infos, err := profiles.array(le.Uint64(head), uint64(le.Uint32(head[8:])), uint64(head[0xc]), 0x2c, "the list of profiles")
	if err != nil {
		return err
	}
	if len(infos) == 0 || infos[0][0x28]&1 == 0 {
		return fmt.Errorf("%s: byte %d: the first profile is not the summary over all threads; the file is damaged", h.name, le.Uint64(head))
	}
	ranks, err := h.ranks(infos[1:], m.rankKind)
	if err != nil {
		return err
	}
	sums, order, err := h.sums(infos[0], m)
	if err != nil {
		return err
	}
	return m.put(h.name, d, sums, order, ranks)
}

// put adds sums over threads of a number of ranks to a dataset, in an order. file is in messages.
func (m *hpcTree) put(file string, d *Dataset, sums map[hpcKey]float64, order []hpcKey, ranks int) error {
	var at []float64
	if ranks > 0 {
		d.Parameters, at = []string{"p"}, []float64{float64(ranks)}
	}
	paths, size := map[int32]string{}, 0
	for _, key := range order {
		text, ok := paths[key.path]
		if !ok {
			text = m.callPath(key.path)
			paths[key.path] = text
			if size += len(text); size > maxFileBytes {
				return fmt.Errorf("%s: the call paths have more than %d MiB together; such a database is not read", file, maxFileBytes>>20)
			}
		}
		s := d.Get(text, m.metrics[key.metric].name)
		s.Unit = m.metrics[key.metric].unit
		s.Add(at, sums[key]/float64(max(ranks, 1)))
	}
	m.without.warn(d, "%s: metrics without a sum over threads, which 'hpcprof -M sum' computes, are left out", file)
	m.long.warn(d, "%s: functions whose call paths have more than %d bytes count as parts of their callers", file, maxNameBytes)
	return nil
}

// ranks counts the ranks of the threads, which names of a kind are; 0 if they have none.
func (h *hpcFile) ranks(infos [][]byte, kind int) (int, error) {
	tuples, err := h.section(0x20, "the names of threads")
	if err != nil {
		return 0, err
	}
	ranks := map[uint32]bool{}
	for _, info := range infos {
		from := le.Uint64(info[0x20:])
		if from == 0 || info[0x28]&1 != 0 {
			continue
		}
		n, err := tuples.at(from, 2, "the name of a thread")
		if err != nil {
			return 0, err
		}
		if le.Uint16(n) > maxHPCIds {
			return 0, fmt.Errorf("%s: byte %d: the name of a thread has %d parts, more than %d; the file is damaged", h.name, from, le.Uint16(n),
				maxHPCIds)
		}
		ids, err := tuples.at(from+8, 16*uint64(le.Uint16(n)), "the name of a thread")
		if err != nil {
			return 0, err
		}
		for id := range slices.Chunk(ids, 16) {
			if int(id[0]) == kind {
				ranks[le.Uint32(id[4:])] = true
			}
		}
	}
	return len(ranks), nil
}

// sums adds up the values of a profile by call path, and returns the order in which they came. Values of other contexts than
// called ones are part of those.
func (h *hpcFile) sums(info []byte, m *hpcTree) (map[hpcKey]float64, []hpcKey, error) {
	n, from := le.Uint64(info), le.Uint64(info[8:])
	if err := h.check(from, max(n, 10*n), "the values of the summary"); err != nil { // the latter may overflow
		return nil, nil, err
	}
	index, err := h.load(le.Uint64(info[0x18:]), 12*uint64(le.Uint32(info[0x10:])), "the index of the summary")
	if err != nil {
		return nil, nil, err
	}
	r := bufio.NewReaderSize(io.NewSectionReader(h.r, int64(from), int64(10*n)), 1<<16)
	sums, order, next, b := map[hpcKey]float64{}, []hpcKey(nil), uint64(0), make([]byte, 10)
	for i := 0; i < len(index.data); i += 12 {
		start, end := le.Uint64(index.data[i+4:]), n
		if i+12 < len(index.data) {
			end = le.Uint64(index.data[i+16:])
		}
		if start < next || start > end || end > n {
			return nil, nil, fmt.Errorf("%s: byte %d: a context has the values %d to %d of %d; the file is damaged", h.name,
				index.from+uint64(i), start, end, n)
		}
		frame, called := m.frames[le.Uint32(index.data[i:])]
		if !called {
			continue
		}
		if _, err := r.Discard(int(10 * (start - next))); err != nil {
			return nil, nil, fmt.Errorf("%s: byte %d: %w", h.name, from+10*next, err)
		}
		for next = start; next < end; next++ {
			if _, err := io.ReadFull(r, b); err != nil {
				return nil, nil, fmt.Errorf("%s: byte %d: %w", h.name, from+10*next, err)
			}
			key := hpcKey{frame.path, le.Uint16(b)}
			metric, ok := m.metrics[key.metric]
			if !ok || metric.inclusive && !frame.whole {
				continue
			}
			old, there := sums[key]
			sum := old + math.Float64frombits(le.Uint64(b[2:]))
			if math.IsNaN(sum) || math.IsInf(sum, 0) {
				return nil, nil, fmt.Errorf("%s: byte %d: a value is not a number, or too large to be added; the file is damaged", h.name,
					from+10*next)
			}
			if sums[key] = sum; !there {
				if order = append(order, key); len(order) > maxHPCValues {
					return nil, nil, fmt.Errorf("%s: has more than %d values of call paths; such a database is not read", h.name, maxHPCValues)
				}
			}
		}
	}
	return sums, order, nil
}
