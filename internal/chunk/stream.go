package chunk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

// Writer writes a file, chunk after chunk. After an error it writes nothing more.
type Writer struct {
	layout *Layout
	w      io.Writer
	zip    *Zip
	at     int64
	packed []byte
	sums
	err error
}

// sums are the checksums of the chunks of a file.
type sums struct {
	sum  uint32 // of those of all chunks but the last
	last uint32 // that of the last one
	any  bool   // there is one
}

// add takes in the frame of a chunk.
func (s *sums) add(frame []byte) {
	if s.any {
		s.sum = crc32.Update(s.sum, castagnoli, binary.LittleEndian.AppendUint32(nil, s.last))
	}
	s.last, s.any = binary.LittleEndian.Uint32(frame[12:]), true
}

// NewWriter writes the header of a file.
func NewWriter(w io.Writer, l *Layout) *Writer {
	zip, err := NewZip()
	c := &Writer{layout: l, w: w, zip: zip, err: err}
	c.write(l.Header())
	return c
}

func (c *Writer) write(b []byte) {
	if c.err != nil {
		return
	}
	n, err := c.w.Write(b)
	c.at += int64(n)
	c.err = err
}

// Chunk writes a chunk and returns its length.
func (c *Writer) Chunk(kind string, raw []byte) int {
	if c.err != nil {
		return 0
	}
	if c.packed, c.err = c.zip.Append(c.packed[:0], kind, raw); c.err == nil {
		c.add(c.packed)
		c.write(c.packed)
	}
	return len(c.packed)
}

// Sum is the checksum of the checksums of all chunks so far. In the index it lets that stand for the whole file.
func (c *Writer) Sum() uint32 {
	all := c.sums
	all.add(make([]byte, FrameLen))
	return all.sum
}

// Identity tells a file that is finished from others.
func (c *Writer) Identity() Identity { return Identity{c.at, c.last} }

// Finish writes the index, a chunk, and the trailer. The writer cannot be used any more.
func (c *Writer) Finish(kind string, index []byte) error {
	offset := c.at
	c.Chunk(kind, index)
	c.write(c.layout.Trailer(uint64(offset)))
	c.zip.Close()
	return c.err
}

// Err is the first error.
func (c *Writer) Err() error { return c.err }

// Reader reads a file, chunk after chunk, from start to end.
type Reader struct {
	layout *Layout
	index  string
	r      io.Reader
	unzip  *Unzip
	at     int64 // where the current chunk starts
	next   int64
	chunk  []byte
	raw    []byte
	sums
	ended bool
}

// NewReader reads the header of a file, whose last chunk is of kind index.
func NewReader(r io.Reader, l *Layout, index string) (*Reader, error) {
	var head [HeaderLen]byte
	n, err := io.ReadFull(r, head[:])
	if err != nil && !atEnd(err) {
		return nil, err
	}
	if err := l.CheckHeader(head[:n]); err != nil {
		return nil, err
	}
	unzip, err := NewUnzip()
	return &Reader{layout: l, index: index, r: r, unzip: unzip, at: HeaderLen, next: HeaderLen}, err
}

// Close releases what unpacking holds.
func (c *Reader) Close() { c.unzip.Close() }

// Offset is where the current chunk starts.
func (c *Reader) Offset() int64 { return c.at }

// Stored is the length of the chunk in hand, with its frame.
func (c *Reader) Stored() int { return len(c.chunk) }

// Sum is the checksum of the checksums of all chunks before the one in hand.
func (c *Reader) Sum() uint32 { return c.sum }

// Next returns the next chunk. The content is valid until the next call. After the index, which the
// caller gets, and the trailer comes io.EOF. Everything else after it is an error.
func (c *Reader) Next() (kind string, raw []byte, err error) {
	c.at = c.next
	if c.ended {
		return "", nil, c.end()
	}
	c.chunk = slices.Grow(c.chunk[:0], FrameLen)[:FrameLen]
	if err := c.fill(c.chunk); err != nil {
		return "", nil, err
	}
	f := ParseFrame(c.chunk)
	if c.chunk, err = c.take(f.Stored); err != nil {
		return "", nil, err
	}
	if c.raw, err = c.unzip.Content(c.chunk, c.raw[:0]); err != nil {
		return "", nil, err
	}
	c.add(c.chunk)
	c.next = c.at + int64(len(c.chunk))
	c.ended = f.Kind == c.index
	return f.Kind, c.raw, nil
}

// take reads the data of a chunk after its frame. Memory grows with what is there, not with what is
// announced.
func (c *Reader) take(stored int) ([]byte, error) {
	const step = 1 << 20
	b := c.chunk
	for stored > 0 {
		n := min(stored, max(step, len(b)))
		b = slices.Grow(b, n)
		if err := c.fill(b[len(b) : len(b)+n]); err != nil {
			return b, err
		}
		b = b[:len(b)+n]
		stored -= n
	}
	return b, nil
}

// end checks the trailer.
func (c *Reader) end() error {
	var tail [TrailerLen + 1]byte
	n, err := io.ReadFull(c.r, tail[:])
	if err != nil && !atEnd(err) {
		return err
	}
	offset, err := c.layout.CheckTrailer(tail[:n])
	if err != nil {
		return err
	}
	if n > TrailerLen {
		return errors.New("something follows where the file should end")
	}
	if index := c.next - int64(len(c.chunk)); offset != uint64(index) {
		return fmt.Errorf("according to the trailer the index is at byte %d, but it is at %d", offset, index)
	}
	return io.EOF
}

// fill reads len(b) bytes.
func (c *Reader) fill(b []byte) error {
	if _, err := io.ReadFull(c.r, b); atEnd(err) {
		return ErrTruncated
	} else if err != nil {
		return err
	}
	return nil
}

func atEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
