// Package chunk writes and reads files that are sequences of checked, compressed chunks: what the
// binary formats of this project have in common.
//
// # Grammar
//
// Numbers of fixed width are little-endian. CRC is CRC-32C.
//
//	file    = header chunk* index trailer
//	header  = magic:8 version:u32 crc:u32             crc of the 12 bytes before it
//	chunk   = kind:4 raw:u32 stored:u32 crc:u32 zstd  crc of the 12 bytes before it and the data
//	trailer = offset of the index:u64 crc:u32 end:4   crc of the 8 bytes before it
//
// A chunk is a kind (four letters), the length of its content (at most MaxRaw), the length of the
// zstd data that follows, and those. The index is the last chunk. This package does not know
// what the chunks contain.
package chunk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	// HeaderLen is the length of the header of a file.
	HeaderLen = 16
	// FrameLen is the length of what precedes the data of a chunk.
	FrameLen = 16
	// TrailerLen is the length of what follows the index.
	TrailerLen = 16
	// MaxRaw is the largest length of the content of a chunk.
	MaxRaw = 16 << 20
)

// ErrTruncated means that a file ends too early.
var ErrTruncated = errors.New("the file is truncated")

// errChecksum means that a chunk is not what was written.
var errChecksum = errors.New("the checksum of the chunk does not agree: the file is damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Layout distinguishes the files of one format from others.
type Layout struct {
	Magic   string // 8 bytes at the start
	End     string // 4 bytes at the end
	Version uint32 // the newest version that is known, and the one that is written
	What    string // in messages, e.g. "slackline schedule"
}

// Is reports whether a file that starts with head has this layout.
func (l *Layout) Is(head []byte) bool { return bytes.HasPrefix(head, []byte(l.Magic)) }

// Header returns the first bytes of a file.
func (l *Layout) Header() []byte {
	b := binary.LittleEndian.AppendUint32([]byte(l.Magic), l.Version)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// CheckHeader checks the first bytes of a file.
func (l *Layout) CheckHeader(head []byte) error {
	if !l.Is(head) {
		if len(head) > 0 && len(head) < len(l.Magic) && bytes.HasPrefix([]byte(l.Magic), head) {
			return ErrTruncated
		}
		return fmt.Errorf("not a %s: the file does not start with %s", l.What, l.Magic)
	}
	if len(head) < HeaderLen {
		return ErrTruncated
	}
	if binary.LittleEndian.Uint32(head[12:]) != crc32.Checksum(head[:12], castagnoli) {
		return errors.New("the checksum of the header does not agree: the file is damaged")
	}
	switch v := binary.LittleEndian.Uint32(head[8:]); {
	case v == 0:
		return errors.New("version 0 of the format does not exist")
	case v > l.Version:
		return fmt.Errorf("the file needs a slackline that reads version %d of the format; this one reads versions 1 to %d", v, l.Version)
	}
	return nil
}

// Trailer returns the last bytes of a file whose index starts at an offset.
func (l *Layout) Trailer(offset uint64) []byte {
	t := binary.LittleEndian.AppendUint64(nil, offset)
	t = binary.LittleEndian.AppendUint32(t, crc32.Checksum(t, castagnoli))
	return append(t, l.End...)
}

// CheckTrailer checks the last bytes of a file and returns where its index starts.
func (l *Layout) CheckTrailer(tail []byte) (offset uint64, err error) {
	if len(tail) < TrailerLen {
		return 0, ErrTruncated
	}
	if binary.LittleEndian.Uint32(tail[8:]) != crc32.Checksum(tail[:8], castagnoli) || string(tail[12:TrailerLen]) != l.End {
		return 0, errors.New("the trailer is wrong: the file is damaged")
	}
	return binary.LittleEndian.Uint64(tail), nil
}

// Identity tells a file from others, if its index has the sum of the chunks before it.
type Identity struct {
	Length int64
	Sum    uint32 // of the index
}

// Identify returns the identity of a file of a length, by its end. What comes before that may be damaged.
func (l *Layout) Identify(file io.ReaderAt, length int64) (id Identity, err error) {
	var tail [TrailerLen]byte
	if _, err := file.ReadAt(tail[:], length-TrailerLen); err != nil {
		return id, ErrTruncated
	}
	offset, err := l.CheckTrailer(tail[:])
	if err != nil {
		return id, err
	}
	index := length - TrailerLen - int64(offset)
	if index < FrameLen || index > MaxRaw {
		return id, fmt.Errorf("according to the trailer the index is at byte %d, but the file has %d", offset, length)
	}
	b := make([]byte, index)
	if _, err := file.ReadAt(b, int64(offset)); err != nil {
		return id, ErrTruncated
	}
	id = Identity{length, binary.LittleEndian.Uint32(b[12:])}
	if id.Sum != sum(b[:12], b[FrameLen:]) {
		return id, errChecksum
	}
	return id, nil
}

// Zip compresses chunks. It is not safe for several goroutines.
type Zip struct{ encoder *zstd.Encoder }

// NewZip returns a Zip.
func NewZip() (*Zip, error) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
	return &Zip{e}, err
}

// Close releases what compression holds.
func (z *Zip) Close() { z.encoder.Close() }

// Append appends a chunk with the given content to b.
func (z *Zip) Append(b []byte, kind string, raw []byte) ([]byte, error) {
	if len(raw) > MaxRaw {
		return b, fmt.Errorf("a chunk of %d bytes is too long; the limit is %d", len(raw), MaxRaw)
	}
	var head [FrameLen]byte
	at := len(b)
	b = z.encoder.EncodeAll(raw, append(b, head[:]...))
	frame := b[at:]
	copy(frame, kind)
	binary.LittleEndian.PutUint32(frame[4:], uint32(len(raw)))
	binary.LittleEndian.PutUint32(frame[8:], uint32(len(frame)-FrameLen))
	binary.LittleEndian.PutUint32(frame[12:], sum(frame[:12], frame[FrameLen:]))
	return b, nil
}

// Unzip unpacks chunks. It is not safe for several goroutines.
type Unzip struct{ decoder *zstd.Decoder }

// NewUnzip returns an Unzip.
func NewUnzip() (*Unzip, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxRaw), zstd.WithDecoderLowmem(true))
	return &Unzip{d}, err
}

// Close releases what unpacking holds.
func (u *Unzip) Close() { u.decoder.Close() }

// Frame is what precedes the data of a chunk.
type Frame struct {
	Kind        string
	Raw, Stored int // lengths of the content and of the data
}

// ParseFrame reads the start of a chunk, of FrameLen bytes.
func ParseFrame(head []byte) Frame {
	return Frame{
		Kind: string(head[:4]),
		Raw:  int(binary.LittleEndian.Uint32(head[4:])), Stored: int(binary.LittleEndian.Uint32(head[8:])),
	}
}

// Content checks and unpacks a whole chunk, of FrameLen + Stored bytes. The content is appended to buffer.
func (u *Unzip) Content(chunk, buffer []byte) ([]byte, error) {
	f := ParseFrame(chunk)
	if binary.LittleEndian.Uint32(chunk[12:]) != sum(chunk[:12], chunk[FrameLen:]) {
		return buffer, errChecksum
	}
	if f.Raw > MaxRaw {
		return buffer, fmt.Errorf("a chunk of %d bytes is too long; the limit is %d", f.Raw, MaxRaw)
	}
	before := len(buffer)
	buffer, err := u.decoder.DecodeAll(chunk[FrameLen:], buffer)
	if err != nil {
		return buffer, fmt.Errorf("the chunk cannot be unpacked: %w", err)
	}
	if len(buffer)-before != f.Raw {
		return buffer, fmt.Errorf("the chunk holds %d bytes, but declares %d", len(buffer)-before, f.Raw)
	}
	return buffer, nil
}

// sum is the checksum of a chunk: of its head and its data.
func sum(head, data []byte) uint32 {
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, data)
}
