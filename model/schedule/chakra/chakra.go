// Package chakra reads the nodes of Chakra execution traces, as they are written.
//
// A trace is one file for each rank, NAME.RANK.et, packed by gzip or not: protobuf messages one after the other, each with its length in
// front. The first message describes the file, each other one is a node of a graph. The package knows the fields and nothing of what
// they mean for a schedule.
package chakra

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// Type is what a node does.
type Type uint8

// The types of nodes. Others are not known.
const (
	Metadata Type = 1 + iota
	Load
	Store
	Compute
	Send
	Recv
	Collective
)

// The values of comm_type.
const (
	AllReduce = iota
	Reduce
	AllGather
	Gather
	Scatter
	Broadcast
	AllToAll
	ReduceScatter
	ReduceScatterBlock
	Barrier
)

// Number is a whole number that a node may have.
type Number struct {
	Value int64
	Given bool
}

// Node is a node of the graph of a rank.
type Node struct {
	ID       uint64
	Name     string
	Type     Type
	DataDeps []uint64 // nodes that end before this one starts
	Duration uint64   // microseconds

	Operation, Size, Source, Destination, Root, Tag Number // comm_type, comm_size, ...
	Group                                           string // pg_name
	Thread                                          Number // tid
	OnHost                                          bool   // is_cpu_op
	Operations                                      Number // num_ops
}

// maxMessage is the length of the largest message that is read: nodes carry the values of their inputs, which can be long.
const maxMessage = 256 << 20

// DamageError is a fault in a file: at which byte of its content, and what is wrong.
type DamageError struct {
	At   int64
	What string
}

func (e *DamageError) Error() string { return fmt.Sprintf("at byte %d: %s", e.At, e.What) }

// Read calls node for each node of a file, which is packed or not; what it gets is valid until it returns. A file that ends too early,
// or whose packed content is damaged, gives all complete nodes before, and cut is true.
func Read(file io.Reader, node func(*Node) error) (cut bool, err error) {
	source := &source{in: file}
	r := reader{in: bufio.NewReaderSize(source, 64<<10)}
	if head, _ := r.in.Peek(len(gzipMagic)); bytes.Equal(head, gzipMagic) {
		unpacked, err := gzip.NewReader(r.in)
		if err != nil {
			return true, source.err
		}
		r.in = bufio.NewReaderSize(unpacked, 64<<10)
	}
	var n Node
	for first := true; ; first = false {
		at := r.at
		message, err := r.message()
		var damage *DamageError
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case errors.As(err, &damage):
			return false, err
		case err != nil:
			return true, source.err
		case first:
			continue
		}
		n = Node{DataDeps: n.DataDeps[:0]}
		if !n.decode(message) {
			return false, &DamageError{at, "this is not a node of a Chakra execution trace"}
		}
		if err := node(&n); err != nil {
			return false, err
		}
	}
}

// source remembers why a file could not be read on.
type source struct {
	in  io.Reader
	err error // other than its end
}

func (s *source) Read(b []byte) (int, error) {
	n, err := s.in.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

var gzipMagic = []byte{0x1f, 0x8b}

// reader reads messages with their lengths in front.
type reader struct {
	in     *bufio.Reader
	at     int64 // bytes so far
	buffer bytes.Buffer
}

// message returns the next message: io.EOF at the end of the file, another error if the file ends or is damaged within a message. A
// length that the file does not have takes no memory.
func (r *reader) message() ([]byte, error) {
	at := r.at
	size := uint64(0)
	for shift := 0; ; shift += 7 {
		b, err := r.in.ReadByte()
		if errors.Is(err, io.EOF) && shift > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		r.at++
		size |= uint64(b&0x7f) << shift
		if b < 0x80 {
			break
		}
		if shift >= 56 {
			return nil, &DamageError{at, "the length of a message has too many bytes"}
		}
	}
	if size > maxMessage {
		return nil, &DamageError{at, fmt.Sprintf("a message of %d bytes; the largest that is read has %d", size, maxMessage)}
	}
	r.buffer.Reset()
	n, err := io.CopyN(&r.buffer, r.in, int64(size))
	r.at += n
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return r.buffer.Bytes(), err
}

// Sniff reports whether a file that begins with head is a Chakra execution trace.
func Sniff(head []byte) bool {
	if bytes.HasPrefix(head, gzipMagic) {
		unpacked, err := gzip.NewReader(bytes.NewReader(head))
		if err != nil {
			return false
		}
		first := make([]byte, 4<<10)
		n, _ := io.ReadFull(unpacked, first)
		head = first[:n]
	}
	size, rest, ok := varint(head)
	if !ok {
		return false
	}
	if size > 0 {
		return isMetadata(rest[:min(uint64(len(rest)), size)], size)
	}
	// A description without a field: the first node decides.
	if size, rest, ok = varint(rest); !ok || size == 0 || size > uint64(len(rest)) {
		return false
	}
	var n Node
	return n.decode(rest[:size]) && n.Type <= Collective && n.Name != ""
}

// isMetadata reports whether a message of the given size, of which b is the start, describes a trace: a version, or attributes
// with names.
func isMetadata(b []byte, size uint64) bool {
	const version, attribute = 1<<3 | 2, 2<<3 | 2
	if len(b) < 4 || b[0] != version && b[0] != attribute {
		return false
	}
	n, rest, ok := varint(b[1:])
	if !ok || n == 0 || n > size-uint64(len(b)-len(rest)) {
		return false
	}
	if b[0] == attribute {
		if len(rest) < 2 || rest[0] != 1<<3|2 {
			return false
		}
		if n, rest, ok = varint(rest[1:]); !ok || n == 0 {
			return false
		}
	}
	for _, c := range rest[:min(n, uint64(len(rest)))] {
		if letter := c|0x20 >= 'a' && c|0x20 <= 'z'; !letter && (c < '0' || c > '9') && c != '.' && c != '-' && c != '_' {
			return false
		}
	}
	return true
}
