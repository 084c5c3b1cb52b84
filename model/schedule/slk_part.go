package schedule

import (
	"errors"
	"fmt"
	"io"

	"slackline/internal/chunk"
)

// ReadSLKPart reads some ranks of an slk file of the given size, and no more of the file than the
// chunks in which they stand, the definitions and the index. has is asked, once the number of ranks
// is known, for the function that names the ranks. What is returned is a Part of the graph. Files of
// version 1 have no chunks at which one can begin, so that all of them is read.
func ReadSLKPart(name string, file io.ReaderAt, size int64, has func(ranks int) (func(rank int) bool, error)) (*Graph, error) {
	p := &slkPart{file: file, size: size}
	g, err := p.read(has)
	if err != nil {
		if wrong := (&FileError{}); errors.As(err, &wrong) {
			return nil, err
		}
		return nil, p.wrap(name, err)
	}
	return g, nil
}

// slkPart is the state of ReadSLKPart.
type slkPart struct {
	slkReader
	file  io.ReaderAt
	size  int64
	bytes int64 // read so far
	from  int64 // where the current chunk begins
}

// slkPlace is a chunk as the index names it, and where it stands.
type slkPlace struct {
	slkChunkInfo
	at int64
}

func (p *slkPart) wrap(name string, err error) error {
	return &FileError{File: name, What: fmt.Sprintf("byte %d: %v", p.from, err)}
}

// read reads what the ranks need.
func (p *slkPart) read(has func(ranks int) (func(rank int) bool, error)) (*Graph, error) {
	places, err := p.open()
	if err != nil {
		return nil, err
	}
	defer p.unzip.Close()
	if len(places) == 0 || places[0].kind != slkMeta {
		return nil, errors.New("the index names no META at the start")
	}
	raw, err := p.content(&places[0])
	if err != nil {
		return nil, err
	}
	if err := p.readMeta(raw); err != nil {
		return nil, fmt.Errorf("META: %w", err)
	}
	for i := range places[1:] {
		c := &places[1+i]
		if c.kind != slkDefs {
			continue
		}
		raw, err := p.content(c)
		if err == nil {
			err = p.table.read(raw)
		}
		if err != nil {
			return nil, fmt.Errorf("DEFS: %w", err)
		}
	}
	wanted, err := has(p.table.ranks)
	if err != nil {
		return nil, err
	}
	if err := p.readSegments(places[1:], wanted); err != nil {
		return nil, err
	}
	return Part(p.finish(), wanted), nil
}

// open checks header and trailer and reads the index.
func (p *slkPart) open() ([]slkPlace, error) {
	if p.size < chunk.HeaderLen {
		return nil, chunk.ErrTruncated
	}
	head, err := p.piece(0, chunk.HeaderLen)
	if err != nil {
		return nil, err
	}
	r, err := newSLKReader(head)
	if err != nil {
		return nil, err
	}
	p.slkReader = *r
	if p.size < chunk.HeaderLen+chunk.FrameLen+chunk.TrailerLen {
		return nil, chunk.ErrTruncated
	}
	end := p.size - chunk.TrailerLen
	p.from = end
	tail, err := p.piece(end, chunk.TrailerLen)
	if err != nil {
		return nil, err
	}
	offset, err := slkLayout.CheckTrailer(tail)
	if err != nil {
		return nil, err
	}
	if offset < chunk.HeaderLen || offset > uint64(end) {
		return nil, errors.New("the trailer is wrong: the file is damaged")
	}
	index := slkPlace{slkChunkInfo{kind: slkIndex, length: uint64(end) - offset}, int64(offset)}
	raw, err := p.content(&index)
	if err != nil {
		return nil, err
	}
	_, chunks, err := readIndex(raw)
	if err != nil {
		return nil, err
	}
	return placesOf(chunks, int64(offset))
}

// placesOf finds the chunks that the index names, which must fill the file up to the index.
func placesOf(chunks []slkChunkInfo, end int64) ([]slkPlace, error) {
	places := make([]slkPlace, len(chunks))
	at := int64(chunk.HeaderLen)
	for i, c := range chunks {
		if c.length < chunk.FrameLen || c.length > uint64(end-at) {
			return nil, errors.New("the index does not agree with the length of the file")
		}
		places[i] = slkPlace{c, at}
		at += int64(c.length)
	}
	if at != end {
		return nil, errors.New("the index is too short or too long")
	}
	return places, nil
}

// piece reads bytes of the file.
func (p *slkPart) piece(at, n int64) ([]byte, error) {
	b := make([]byte, n)
	p.bytes += n
	if k, err := p.file.ReadAt(b, at); int64(k) < n {
		if errors.Is(err, io.EOF) || err == nil {
			err = chunk.ErrTruncated
		}
		return nil, err
	}
	return b, nil
}

// content reads a chunk that the index names and unpacks it. It is valid until the next call.
func (p *slkPart) content(c *slkPlace) ([]byte, error) {
	p.from = c.at
	if c.length > chunk.FrameLen+2*chunk.MaxRaw {
		return nil, errors.New("the index names a chunk that is too long")
	}
	b, err := p.piece(c.at, int64(c.length))
	if err != nil {
		return nil, err
	}
	p.data, p.at = b, 0
	kind, raw, length, err := p.chunk()
	switch {
	case err != nil:
		return nil, err
	case kind != c.kind || length != len(b):
		return nil, fmt.Errorf("the index names a chunk %s of %d bytes, but there is a %s of %d", c.kind, c.length, kind, length)
	}
	return raw, nil
}

// readSegments reads the operations of the ranks. A segment goes from a chunk that begins with a
// rank to the next one; those without a rank that is wanted are left out.
func (p *slkPart) readSegments(places []slkPlace, wanted func(rank int) bool) error {
	var chunks []slkPlace
	for _, c := range places {
		switch c.kind {
		case slkOps, slkRank:
			chunks = append(chunks, c)
		case slkDefs:
		default:
			return fmt.Errorf("a chunk %s where it must not be", c.kind)
		}
	}
	for i := 0; i < len(chunks); {
		end, last := i+1, p.ranks
		for end < len(chunks) && chunks[end].kind != slkRank {
			end++
		}
		if end < len(chunks) {
			last = int64(min(chunks[end].ranks, uint64(p.ranks)))
		}
		first := int64(min(chunks[i].ranks, uint64(last)))
		needed := false
		for rank := first; rank < last && !needed; rank++ {
			needed = wanted(int(rank))
		}
		if needed {
			if err := p.readSegment(chunks[i:end], first, last); err != nil {
				return err
			}
		}
		i = end
	}
	for int64(len(p.g.steps)) <= p.ranks {
		p.g.steps = append(p.g.steps, len(p.g.blocks)-1)
	}
	return nil
}

// readSegment reads the operations of the ranks first .. last-1, which are in chunks of their own.
// Ranks between the last one read and the first one get no blocks.
func (p *slkPart) readSegment(chunks []slkPlace, first, last int64) error {
	for int64(len(p.g.steps)) <= first {
		p.g.steps = append(p.g.steps, len(p.g.blocks)-1)
	}
	if first > 0 { // the decoder notes the end of the rank before
		p.g.steps = p.g.steps[:first]
	}
	p.begun = first
	for i := range chunks {
		raw, err := p.content(&chunks[i])
		if err != nil {
			return err
		}
		if _, _, err := p.readOperations(chunks[i].kind, raw); err != nil {
			return fmt.Errorf("%s: %w", chunks[i].kind, err)
		}
	}
	if p.begun != last {
		return fmt.Errorf("the operations end in rank %d, but the next chunk begins with rank %d", max(p.begun-1, 0), last)
	}
	return p.endRank()
}
