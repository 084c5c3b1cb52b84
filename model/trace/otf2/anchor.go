package otf2

import (
	"bytes"
	"fmt"

	"slackline/model/trace/damage"
)

// Sniff looks at the start of an anchor file.
func Sniff(head []byte) bool {
	return len(head) > 7 && head[0] == ChunkBegin && (head[1] == Little || head[1] == Big) &&
		bytes.HasPrefix(head[2:], []byte("OTF2\x00"))
}

// Anchor is what an anchor file says.
type Anchor struct {
	EventChunk, DefChunk uint64
	Locations            uint64
	Definitions          uint64
	Machine              string
	Creator              string
	description          string
	Properties           [][2]string // name, value
	Identifier           uint64
}

// Versions that are written.
const (
	anchorFormat = 3
	traceFormat  = 2
)

// ReadAnchor reads an anchor file. If only its end is damaged, what can be read comes with the error.
func ReadAnchor(data []byte, show string) (*Anchor, error) {
	if !Sniff(data) {
		return nil, damage.At(show, 0, "not an anchor file of OTF2, or the file is truncated")
	}
	r := Bytes{Data: data, Big: data[1] == Big, At: 2}
	r.str() // OTF2
	format := r.U8()
	if format > anchorFormat {
		return nil, &damage.Error{File: show, Offset: -1, What: fmt.Sprintf(
			"the archive is in version %d of the OTF2 format; this slackline reads versions 1 to %d", format, anchorFormat)}
	}
	r.Take(4) // trace format, version of the library
	a := &Anchor{EventChunk: r.Full(8), DefChunk: r.Full(8)}
	substrate, compression := r.U8(), r.U8()
	a.Locations, a.Definitions = r.Full(8), r.Full(8)
	if r.Short {
		return nil, damage.At(show, int64(len(data)), "%v", errCut)
	}
	if substrate != 1 || compression != 1 {
		return nil, &damage.Error{File: show, Offset: -1, What: fmt.Sprintf(
			"the archive uses substrate %d and compression %d; only plain files without compression can be read (otf2 tools convert others)",
			substrate, compression)}
	}
	for _, size := range []uint64{a.EventChunk, a.DefChunk} {
		if size < ChunkHeader+2 || size > maxChunk {
			return nil, damage.At(show, 12, "chunks of %d bytes; there are chunks of up to %d", size, maxChunk)
		}
	}
	a.Machine, a.Creator, a.description = r.str(), r.str(), r.str()
	if format > 1 {
		for n := r.Full(4); n > 0 && !r.Short; n-- {
			a.Properties = append(a.Properties, [2]string{r.str(), r.str()})
		}
		a.Identifier = r.Full(8)
	}
	if format > 2 {
		r.Full(4) // snapshots
		r.Full(4) // thumbnails
	}
	if r.Short || r.U8() != EndOfFile {
		return a, damage.At(show, int64(r.At), "%v", errCut)
	}
	return a, nil
}

// Encode is the anchor file.
func (a *Anchor) Encode() []byte {
	w := &Record{Data: []byte{ChunkBegin, Little}}
	w.str("OTF2")
	w.Data = append(w.Data, anchorFormat, traceFormat, 3, 0, 0)
	w.Full64(a.EventChunk, a.DefChunk)
	w.Data = append(w.Data, 1, 1) // plain files, no compression
	w.Full64(a.Locations, a.Definitions)
	w.str(a.Machine, a.Creator, a.description)
	w.full32(uint32(len(a.Properties)))
	for _, p := range a.Properties {
		w.str(p[:]...)
	}
	w.Full64(a.Identifier)
	w.full32(0) // snapshots
	w.full32(0) // thumbnails
	return append(w.Data, EndOfFile, EndOfBuffer, 0)
}
