package otf2

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"

	"slackline/internal/chunk"
	"slackline/model/trace/damage"
)

// OTF2 has no checksums, and nothing in a file says of which archive or location it is. Archives that slackline writes have them as
// properties, which other programs ignore: the anchor file those of itself and of the definitions, each location those of its files.

// SumName is the name of these properties. That of the anchor file has four hexadecimal numbers: its own CRC-32C (with zeros in place of
// this number), that of the global definitions, and length and CRC of the file of streams, 0 if there is none. That of a location is a
// number: the CRC of its events in the upper half, that of its local definitions in the lower one.
const SumName = "SLACKLINE::CRC32C"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum writes to another writer and keeps the CRC of what it wrote.
type Checksum struct {
	To  io.Writer
	CRC uint32
}

func (c *Checksum) Write(b []byte) (int, error) {
	c.CRC = crc32.Update(c.CRC, castagnoli, b)
	return c.To.Write(b)
}

// Sums are the checksums in an anchor file.
type Sums struct {
	Definitions uint32
	Streams     chunk.Identity
}

const sumFormat = "%08x %08x %x %08x"

// EncodeWith is the anchor file, with checksums.
func (a *Anchor) EncodeWith(s Sums) []byte {
	own := *a
	with := func(crc uint32) []byte {
		text := fmt.Sprintf(sumFormat, crc, s.Definitions, s.Streams.Length, s.Streams.Sum)
		own.Properties = append(a.Properties[:len(a.Properties):len(a.Properties)], [2]string{SumName, text})
		return own.Encode()
	}
	return with(crc32.Checksum(with(0), castagnoli))
}

// Sums returns the checksums in an anchor file; nil if there are none. The error says that the file is not what it was.
func (a *Anchor) Sums(data []byte, show string) (*Sums, error) {
	for _, p := range a.Properties {
		if p[0] != SumName {
			continue
		}
		var own uint32
		s := &Sums{}
		if n, _ := fmt.Sscanf(p[1], sumFormat, &own, &s.Definitions, &s.Streams.Length, &s.Streams.Sum); n == 4 {
			place := SumName + "\x00"
			text := fmt.Appendf(nil, place+"%08x", own)
			if data = bytes.Replace(data, text, []byte(place+"00000000"), 1); crc32.Checksum(data, castagnoli) == own {
				return s, nil
			}
		}
		return s, damage.At(show, -1, "%s", changed)
	}
	return nil, nil
}

const changed = "the file does not match its checksum: it is damaged, of another archive or location, " +
	"or was changed since slackline wrote it"

// CheckSum compares a file that was read up to its last record with its checksum.
func (f *File) CheckSum(want uint32) error {
	sum := Checksum{io.Discard, f.sum}
	if _, err := io.Copy(&sum, f.In); err != nil {
		return err
	}
	if sum.CRC != want {
		return &damage.Error{File: f.Show, Offset: -1, What: changed, Whole: true}
	}
	return nil
}
