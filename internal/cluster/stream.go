package cluster

import (
	"bufio"
	"context"
	"io"
)

// streamPiece is the largest piece in which a stream goes from process to process, in bytes.
const streamPiece = 1 << 20

// What the first byte of a piece means.
const (
	pieceInside = 0 // more will follow
	pieceLast   = 1 // the stream ends with it
)

// Stream gives all other processes what process 0 writes, piece by piece, so that
// no process needs memory for all of it. Process 0 calls write alone, the others
// read alone; a reader need not read to the end. All processes call it. If write
// fails, the others are left waiting: the caller ends the job.
func Stream(ctx context.Context, g Group, write func(w io.Writer) error, read func(r io.Reader) error) error {
	if g.Rank() == 0 {
		if g.Size() == 1 {
			return write(io.Discard)
		}
		out := &streamOut{ctx: ctx, group: g, piece: make([]byte, 1, 1+streamPiece), out: make([][]byte, g.Size())}
		if err := write(out); err != nil {
			return err
		}
		return out.send(pieceLast)
	}
	in := &streamIn{ctx: ctx, group: g, out: make([][]byte, g.Size())}
	if err := read(bufio.NewReaderSize(in, 1<<16)); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, in) // all processes stay in step
	return err
}

// streamOut is the end of a stream at process 0.
type streamOut struct {
	ctx   context.Context
	group Group
	piece []byte // after its first byte
	out   [][]byte
}

// Write implements io.Writer.
func (s *streamOut) Write(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(s.piece) == cap(s.piece) {
			if err := s.send(pieceInside); err != nil {
				return n, err
			}
		}
		room := min(cap(s.piece)-len(s.piece), len(p)-n)
		s.piece = append(s.piece, p[n:n+room]...)
		n += room
	}
	return n, nil
}

// send gives the piece in hand to all other processes.
func (s *streamOut) send(kind byte) error {
	s.piece[0] = kind
	for p := 1; p < len(s.out); p++ {
		s.out[p] = s.piece
	}
	_, err := s.group.Exchange(s.ctx, s.out)
	s.piece = s.piece[:1]
	return err
}

// streamIn is the end of a stream at another process.
type streamIn struct {
	ctx   context.Context
	group Group
	out   [][]byte // nothing
	rest  []byte   // valid until the next exchange
	ended bool
}

// Read implements io.Reader.
func (s *streamIn) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.ended {
			return 0, io.EOF
		}
		in, err := s.group.Exchange(s.ctx, s.out)
		if err != nil {
			return 0, err
		}
		if len(in[0]) == 0 {
			return 0, ErrGarbled
		}
		s.ended, s.rest = in[0][0] == pieceLast, in[0][1:]
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}
