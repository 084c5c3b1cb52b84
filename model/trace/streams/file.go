package streams

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"slackline/internal/chunk"
	"slackline/model/timeline"
)

// # Records as a file
//
// A file is a sequence of chunks as package internal/chunk has them:
//
//	file   = header("SLTSTRMS") STRM* INDX trailer("SLTS")
//	STRM   = record*
//	record = word:byte count:uint count*int name:string
//	INDX   = records:uint sum:4 bytes
//
// uint, int, string and sum are as in the format slt. Version 1 has no sum.

// Name is that of the file, beside the definitions of a trace or in its directory.
const Name = "streams.slt"

const (
	kind  = "STRM"
	index = "INDX"
	piece = 1 << 20 // the writer ends a chunk beyond this many bytes
)

var layout = chunk.Layout{Magic: "SLTSTRMS", End: "SLTS", Version: 2, What: "file of streams of a slackline trace"}

// append appends a record to a chunk.
func (r *Record) append(raw []byte) []byte {
	raw = append(raw, byte(r.Word))
	raw = binary.AppendUvarint(raw, uint64(len(r.Numbers)))
	for _, n := range r.Numbers {
		raw = chunk.AppendInt(raw, n)
	}
	return chunk.AppendString(raw, r.Name)
}

// Identify returns what tells a file from others.
func Identify(file io.ReaderAt, length int64) (chunk.Identity, error) {
	return layout.Identify(file, length)
}

// Write writes what ran on the devices of a timeline. It returns what tells the file from others.
func Write(out io.Writer, tl *timeline.Timeline) (chunk.Identity, error) {
	w := chunk.NewWriter(out, &layout)
	var raw []byte
	count := uint64(0)
	err := Records(tl, func(r Record) error {
		raw = r.append(raw)
		if count++; len(raw) > piece {
			w.Chunk(kind, raw)
			raw = raw[:0]
		}
		return w.Err()
	})
	if err != nil {
		return chunk.Identity{}, err
	}
	if len(raw) > 0 {
		w.Chunk(kind, raw)
	}
	err = w.Finish(index, binary.LittleEndian.AppendUint32(binary.AppendUvarint(nil, count), w.Sum()))
	return w.Identity(), err
}

// Read reads the records of a file, as far as it is whole. The error says where and why it is not.
func Read(in io.Reader, visit func(*Record) error) error {
	file, err := chunk.NewReader(in, &layout, index)
	if err != nil {
		return err
	}
	defer file.Close()
	r, count := Record{}, uint64(0)
	room := int64(16 << 20) // hostile files unpack to thousands of times their size
	for {
		word, raw, err := file.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("byte %d: %w", file.Offset(), err)
		}
		c := chunk.Column{B: raw}
		switch word {
		case index:
			n := c.Uint()
			sum := c.Bytes(uint64(min(c.Left(), 4))) // none in version 1
			if c.Bad || c.Left() > 0 || n != count {
				return fmt.Errorf("byte %d: the index announces %d records, but there are %d", file.Offset(), n, count)
			}
			if len(sum) > 0 && !bytes.Equal(sum, binary.LittleEndian.AppendUint32(nil, file.Sum())) {
				return fmt.Errorf("byte %d: the index does not agree with the records", file.Offset())
			}
			continue
		case kind:
		default:
			return fmt.Errorf("byte %d: there are no chunks of kind %q", file.Offset(), word)
		}
		if room += int64(file.Stored())*200 - int64(len(raw)); room < 0 {
			return fmt.Errorf("byte %d: the records are too many for so small a file", file.Offset())
		}
		for c.Left() > 0 {
			r.Word, r.Numbers = Word(c.Byte()), r.Numbers[:0]
			for n := min(c.Uint(), uint64(c.Left())+1); n > 0 && !c.Bad; n-- {
				r.Numbers = append(r.Numbers, c.Int())
			}
			if r.Name = c.String(); c.Bad {
				return fmt.Errorf("byte %d: record %d is cut off", file.Offset(), count)
			}
			if err := visit(&r); err != nil {
				return fmt.Errorf("byte %d: record %d: %w", file.Offset(), count, err)
			}
			count++
		}
	}
}
