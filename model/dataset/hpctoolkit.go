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

// hpcFault is the first error in a file. What is read after it is empty, and not used.
type hpcFault struct{ err error }

func (f *hpcFault) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

// hpcFile is an open file of a database.
type hpcFile struct {
	hpcFault
	name string
	r    io.ReaderAt
	size uint64
}

// hpcPart is a part of a file in memory: its bytes from an offset on.
type hpcPart struct {
	*hpcFault
	name string
	from uint64
	data []byte
}

// withHPC opens a file of a database and checks its frame: kind, version, and the mark at its end.
func withHPC(db string, dir fs.FS, file, kind, end string, read func(*hpcFile)) error {
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
	h := &hpcFile{name: name, r: r, size: uint64(info.Size())}
	if h.checkFrame(kind, end); h.err == nil {
		read(h)
	}
	return errors.Join(h.err, f.Close())
}

func (h *hpcFile) checkFrame(kind, end string) {
	switch b := h.load(0, 16, "the header").data; {
	case h.err != nil:
	case string(b[:14]) != hpcMagic+kind:
		h.fail("%s: starts with %q, not with %q; is it that file of an HPCToolkit database?", h.name, b[:14], hpcMagic+kind)
	case b[14] != 4:
		h.fail("%s: is of version %d.%d; version 4 is read, which hpcprof writes since 2022", h.name, b[14], b[15])
	}
	if foot := h.load(h.size-8, 8, "the end"); string(foot.data) != end {
		h.fail("%s: byte %d: ends with %q, not with %q; the file is not complete: copy it again", h.name, h.size-8, foot.data, end)
	}
}

// emptyHPC is what there is instead of n bytes: as many as the fields of any record need.
func emptyHPC(n uint64) []byte { return make([]byte, min(n, 64)) }

// load reads a part of the file.
func (h *hpcFile) load(from, n uint64, what string) *hpcPart {
	part := &hpcPart{&h.hpcFault, h.name, from, emptyHPC(n)}
	if h.check(from, n, what); n > maxFileBytes {
		h.fail("%s: byte %d: %s has %d MiB; at most %d are read", h.name, from, what, n>>20, maxFileBytes>>20)
	}
	if h.err != nil {
		return part
	}
	part.data = make([]byte, n)
	if _, err := io.ReadFull(io.NewSectionReader(h.r, int64(from), int64(n)), part.data); err != nil {
		h.fail("%s: byte %d: %w", h.name, from, err)
	}
	return part
}

// section loads the part that the header names at an offset: its size, then its place.
func (h *hpcFile) section(at uint64, what string) *hpcPart {
	head := h.load(at, 16, "the header").data
	return h.load(le.Uint64(head[8:]), le.Uint64(head), what)
}

func (h *hpcFile) check(from, n uint64, what string) {
	if from > h.size || n > h.size-from {
		h.fail("%s: byte %d: %s should have %d bytes here, but the file ends at byte %d; it is damaged: copy it again, or write it "+
			"again with hpcprof", h.name, from, what, n, h.size)
	}
}

// at returns n bytes from an offset in the file on.
func (p *hpcPart) at(from, n uint64, what string) []byte {
	i, size := from-p.from, uint64(len(p.data))
	if from < p.from || i > size || n > size-i {
		p.fail("%s: byte %d: %s should have %d bytes here, outside of bytes %d to %d that can hold it; the file is damaged: "+
			"copy it again, or write it again with hpcprof", p.name, from, what, n, p.from, p.from+size)
	}
	if p.err != nil {
		return emptyHPC(n)
	}
	return p.data[i : i+n]
}

// array returns the elements of an array, which may be longer than the fields that are known.
func (p *hpcPart) array(from, count, stride, known uint64, what string) [][]byte {
	if count > 0 && stride < known {
		p.fail("%s: byte %d: %s: elements of %d bytes cannot hold their %d bytes of fields; the file is damaged", p.name, from,
			what, stride, known)
	}
	if count == 0 || p.err != nil {
		return nil
	}
	all := p.at(from, count*stride, what) // at most 32 and 16 bits
	if p.err != nil {
		return nil
	}
	return slices.Collect(slices.Chunk(all, int(stride)))
}

// text returns the name at an offset, which ends with a zero. A longer one than any name may be is cut.
func (p *hpcPart) text(from uint64, what string) string {
	if p.at(from, 1, what); p.err != nil {
		return ""
	}
	rest := p.data[from-p.from:]
	rest = rest[:min(len(rest), maxNameBytes+1)]
	if i := bytes.IndexByte(rest, 0); i >= 0 {
		return string(rest[:i])
	}
	if len(rest) <= maxNameBytes {
		p.fail("%s: byte %d: %s does not end; the file is damaged", p.name, from, what)
	}
	return string(rest)
}

// hpcKey names a value: its call path and the number of its metric.
type hpcKey struct {
	path   int32
	metric uint16
}

func readHPCToolkit(name string, dir fs.FS) (*Dataset, error) {
	d := New()
	err := withHPC(name, dir, hpcMeta, "meta", "_meta.db", func(h *hpcFile) {
		m := readHPCMeta(h.load(0, h.size, "the file"))
		if h.err == nil {
			h.err = withHPC(name, dir, hpcProfile, "prof", "_prof.db", func(h *hpcFile) { h.values(m, d) })
		}
	})
	return d, err
}

// values adds the values of the summary profile to a dataset.
func (h *hpcFile) values(m *hpcTree, d *Dataset) {
	profiles := h.section(0x10, "the list of profiles")
	head := profiles.at(profiles.from, 0xd, "the head of the list of profiles")
	infos := profiles.array(le.Uint64(head), uint64(le.Uint32(head[8:])), uint64(head[0xc]), 0x2c, "the list of profiles")
	if len(infos) == 0 || infos[0][0x28]&1 == 0 {
		h.fail("%s: byte %d: the first profile is not the summary over all threads; the file is damaged", h.name, le.Uint64(head))
		return
	}
	ranks := h.ranks(infos[1:], m.rankKind)
	sums, order := h.sums(infos[0], m)
	if 2*m.used < len(m.frames) && h.err == nil {
		d.warnf("%s: has values of %d of the %d contexts that %s has: are they of the same database?", h.name, m.used, len(m.frames), hpcMeta)
	}
	h.checkNested(m, sums, order)
	if h.err == nil {
		h.err = m.put(h.name, d, sums, order, ranks)
	}
}

// checkNested refuses inclusive values that are less than those of what was called: the contexts of meta.db are not those of the values.
func (h *hpcFile) checkNested(m *hpcTree, sums map[hpcKey]float64, order []hpcKey) {
	called := map[hpcKey]float64{}
	for _, key := range order {
		if key.path == 0 || !m.metrics[key.metric].inclusive {
			continue
		}
		caller := hpcKey{m.steps[key.path].caller, key.metric}
		called[caller] += sums[key]
		if sum := called[caller]; sum > sums[caller]+1e-6*math.Abs(sum) {
			h.fail("%s: %s has a sum of %g of %s, but what it called has %g: %s is not of the same database, or one of them is damaged; "+
				"copy the whole database again", h.name, m.callPath(caller.path), sums[caller], m.metrics[key.metric].name, sum, hpcMeta)
			return
		}
	}
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
func (h *hpcFile) ranks(infos [][]byte, kind int) int {
	tuples := h.section(0x20, "the names of threads")
	ranks := map[uint32]bool{}
	for _, info := range infos {
		from := le.Uint64(info[0x20:])
		if from == 0 || info[0x28]&1 != 0 {
			continue
		}
		n := le.Uint16(tuples.at(from, 2, "the name of a thread"))
		if n > maxHPCIds {
			h.fail("%s: byte %d: the name of a thread has %d parts, more than %d; the file is damaged", h.name, from, n, maxHPCIds)
		}
		ids := tuples.at(from+8, 16*uint64(n), "the name of a thread")
		if h.err != nil {
			return 0
		}
		for id := range slices.Chunk(ids, 16) {
			if int(id[0]) == kind {
				ranks[le.Uint32(id[4:])] = true
			}
		}
	}
	return len(ranks)
}

// sums adds up the values of a profile by call path, and returns the order in which they came. Values of other contexts than
// called ones are part of those.
func (h *hpcFile) sums(info []byte, m *hpcTree) (sums map[hpcKey]float64, order []hpcKey) {
	n, from := le.Uint64(info), le.Uint64(info[8:])
	h.check(from, max(n, 10*n), "the values of the summary") // the latter may overflow
	index := h.load(le.Uint64(info[0x18:]), 12*uint64(le.Uint32(info[0x10:])), "the index of the summary")
	r := bufio.NewReaderSize(io.NewSectionReader(h.r, int64(from), int64(10*n)), 1<<16)
	sums = map[hpcKey]float64{}
	next, b := uint64(0), make([]byte, 10)
	last := int64(-1) // context
	for i := 0; i < len(index.data) && h.err == nil; i += 12 {
		start, end := le.Uint64(index.data[i+4:]), n
		if i+12 < len(index.data) {
			end = le.Uint64(index.data[i+16:])
		}
		if start < next || start > end || end > n {
			h.fail("%s: byte %d: a context has the values %d to %d of %d; the file is damaged", h.name, index.from+uint64(i), start, end, n)
		}
		id := le.Uint32(index.data[i:])
		if int64(id) <= last || i == 0 && start > 0 {
			h.fail("%s: byte %d: context %d has the values %d to %d of %d after context %d, which had those up to %d; the file is damaged",
				h.name, index.from+uint64(i), id, start, end, n, last, next)
		}
		last = int64(id)
		frame, called := m.frames[id]
		if !called || h.err != nil {
			continue
		}
		m.used++
		if _, err := r.Discard(int(10 * (start - next))); err != nil {
			h.fail("%s: byte %d: %w", h.name, from+10*next, err)
		}
		for next = start; next < end && h.err == nil; next++ {
			if _, err := io.ReadFull(r, b); err != nil {
				h.fail("%s: byte %d: %w", h.name, from+10*next, err)
			}
			key := hpcKey{frame.path, le.Uint16(b)}
			if !m.known[key.metric] {
				h.fail("%s: byte %d: a value of metric %d, which %s does not have: it is not of the same database, or one of them is damaged; copy "+
					"the whole database again", h.name, from+10*next, key.metric, hpcMeta)
			}
			metric, ok := m.metrics[key.metric]
			if !ok || metric.inclusive && !frame.whole {
				continue
			}
			old, there := sums[key]
			sum := old + math.Float64frombits(le.Uint64(b[2:]))
			if math.IsNaN(sum) || math.IsInf(sum, 0) {
				h.fail("%s: byte %d: a value is not a number, or too large to be added; the file is damaged", h.name, from+10*next)
			}
			if sums[key] = sum; !there {
				if order = append(order, key); len(order) > maxHPCValues {
					h.fail("%s: has more than %d values of call paths; such a database is not read", h.name, maxHPCValues)
				}
			}
		}
	}
	return sums, order
}
