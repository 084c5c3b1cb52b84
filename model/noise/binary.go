package noise

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strings"

	"slackline/internal/chunk"

	"github.com/klauspost/compress/zstd"
)

// The binary format holds one trace. Numbers are little-endian.
//
//	offset  type    meaning
//	0       8 bytes "SLKNOISE"
//	8       u16     version, 1
//	10      u16     0
//	12      u32     CRC-32C of what follows
//	16      u64     size of the body before compression
//	24              the body, one zstd frame
//
// The body: name and note (each a varint length and the bytes), the period, the number of labels and
// the labels, the number of detours, then for each its start minus the start of the one before, its
// length, and, with two labels or more, the index of its label. All numbers are unsigned varints,
// times in picoseconds. A reader refuses another magic, a newer version, a wrong checksum, a body of
// another size, bytes that are left over, and everything that NewLabeled refuses.
const (
	binaryMagic   = "SLKNOISE"
	binaryVersion = 1
	binaryHeader  = 24
	maxLabels     = 1 << 16
	maxText       = 1 << 20 // bytes of a name, note or label
	maxBody       = 256 << 20
)

var binaryFormat = Format{
	Name: "binary", Info: "slackline's binary trace, exact to the picosecond", Suffixes: []string{".bin"},
	Sniff: func(head string) bool { return strings.HasPrefix(head, binaryMagic) },
	Read:  readBinary,
	Write: func(w io.Writer, p *Profile, d *Detours) error { return WriteBinary(w, d, p.Name, p.Note) },
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// WriteBinary writes a trace in our binary format, with a name and a note.
func WriteBinary(w io.Writer, d *Detours, name, note string) error {
	var body []byte
	text := func(s string) { body = chunk.AppendString(body, s[:min(len(s), maxText)]) }
	number := func(x int64) { body = binary.AppendUvarint(body, uint64(x)) }
	text(name)
	text(note)
	number(d.period)
	number(int64(len(d.labels)))
	for _, l := range d.labels {
		text(l)
	}
	number(int64(len(d.list)))
	before := int64(0)
	for i := range d.list {
		x, label := d.At(i)
		number(x.Start - before)
		number(x.Length)
		if len(d.labels) > 1 {
			number(int64(label))
		}
		before = x.Start
	}
	if len(d.labels) > maxLabels || len(body) > maxBody {
		return errors.New("noise: the trace is too large for the binary format")
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	defer encoder.Close()
	out := make([]byte, binaryHeader, binaryHeader+len(body)/2)
	copy(out, binaryMagic)
	binary.LittleEndian.PutUint16(out[8:], binaryVersion)
	binary.LittleEndian.PutUint64(out[16:], uint64(len(body)))
	out = encoder.EncodeAll(body, out)
	binary.LittleEndian.PutUint32(out[12:], crc32.Checksum(out[16:], castagnoli))
	_, err = w.Write(out)
	return err
}

// What can be wrong with a binary file.
var (
	// ErrNewer reports that the file was written by a newer slackline.
	ErrNewer = errors.New("the format is newer than this slackline")
	// ErrDamaged reports that the file is not what was written.
	ErrDamaged = errors.New("the file is damaged")
)

func readBinary(name string, data []byte, _ openTrace) (*Profile, error) {
	p, err := decodeBinary(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

func decodeBinary(data []byte) (*Profile, error) {
	if len(data) < binaryHeader {
		return nil, fmt.Errorf("%w: it ends within its header", ErrDamaged)
	}
	if v := binary.LittleEndian.Uint16(data[8:]); v > binaryVersion || v == 0 {
		return nil, fmt.Errorf("%w: the file has version %d, this slackline reads 1 to %d", ErrNewer, v, binaryVersion)
	}
	if crc32.Checksum(data[16:], castagnoli) != binary.LittleEndian.Uint32(data[12:]) {
		return nil, fmt.Errorf("%w: its checksum is wrong", ErrDamaged)
	}
	size := binary.LittleEndian.Uint64(data[16:])
	if size > maxBody {
		return nil, fmt.Errorf("%w: its size is out of range", ErrDamaged)
	}
	decoder, err := zstd.NewReader(bytes.NewReader(data[binaryHeader:]),
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBody), zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	// The declared size is not trusted: memory grows with what is really there.
	body, err := io.ReadAll(io.LimitReader(decoder, int64(size)+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if uint64(len(body)) != size {
		return nil, fmt.Errorf("%w: its size is wrong", ErrDamaged)
	}
	return decodeBody(body)
}

// bodyReader takes the fields of a body one after the other.
type bodyReader struct{ chunk.Column }

func (r *bodyReader) number(most uint64) int64 {
	x := r.Uint()
	if x > most {
		r.Bad, x = true, 0
	}
	return int64(x)
}

func (r *bodyReader) text() string { return string(r.Bytes(uint64(r.number(maxText)))) }

func decodeBody(body []byte) (*Profile, error) {
	r := &bodyReader{chunk.Column{B: body}}
	p := &Profile{Name: r.text(), Note: r.text()}
	t := &Trace{Period: r.number(math.MaxInt64)}
	for range r.number(maxLabels) {
		if r.Bad {
			break
		}
		t.Labels = append(t.Labels, r.text())
	}
	n := r.number(MaxDetours)
	at := int64(0)
	for range n {
		d := Detour{Start: at + r.number(math.MaxInt64), Length: r.number(math.MaxInt64)}
		if len(t.Labels) > 1 {
			t.Of = append(t.Of, int32(r.number(uint64(len(t.Labels)-1))))
		}
		if r.Bad {
			break
		}
		if at = d.Start; at < 0 {
			return nil, fmt.Errorf("%w: a detour starts beyond 63 bits", ErrDamaged)
		}
		t.List = append(t.List, d)
	}
	if r.Bad || r.Left() > 0 {
		return nil, fmt.Errorf("%w: its fields do not fill it", ErrDamaged)
	}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrDamaged, strings.TrimPrefix(err.Error(), "noise: "))
	}
	p.Parts = []Part{{Label: "noise", Kind: KindTrace, Trace: t}}
	return p, nil
}
