package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"slackline/internal/cluster"
	"slackline/internal/provenance"
	"slackline/model/schedule"
)

// Share means that several processes open an input together, each for some of its ranks or all of them
// for all. Of a pattern every process has what it needs; parts of a schedule of ours are read by all,
// each its own; anything else is read by process 0, which gives it to the others.
type Share struct {
	Group cluster.Group
	// Ranks returns which of so many ranks a process wants; nil: all want all.
	Ranks func(ranks, process int) (has func(rank int) bool, err error)
}

// several reports whether there are other processes.
func (s *Share) several() bool { return s != nil && s.Group.Size() > 1 }

// openShared is Open for several processes and an input that is not a pattern.
func openShared(ctx context.Context, word string, o Options) (*Input, error) {
	s := o.Share
	if s.Ranks == nil {
		return openWhole(ctx, word, o)
	}
	if o.Kinds[word] == KindSLK {
		file, err := os.Open(word)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return s.openPart(word, file, o.Hash)
	}
	if s.Group.Rank() != 0 {
		return s.take(ctx, word)
	}
	o.Share, o.Kinds, o.ToRun = nil, nil, nil // parts of a graph are given away
	in, err := Open(ctx, word, o)
	if err != nil {
		return nil, err // it ends the job
	}
	if word == Stdin { // it cannot be read again
		whole := *in
		in.Whole = &whole
	}
	return in, s.give(ctx, in)
}

// openPart reads the ranks of this process from a schedule of ours.
func (s *Share) openPart(word string, file *os.File, hash bool) (*Input, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	graph, err := schedule.ReadSLKPart(word, file, info.Size(), s.mine)
	if err != nil {
		return nil, err
	}
	in := &Input{
		Name: word, Format: "slk", Program: graph, Graph: graph,
		Record: provenance.Input{Path: word, Kind: "slk", Bytes: info.Size()},
	}
	if hash && s.Group.Rank() == 0 {
		in.Record, err = RecordFile(word, "slk")
	}
	return in, err
}

// mine returns which of so many ranks this process wants.
func (s *Share) mine(ranks int) (func(rank int) bool, error) { return s.Ranks(ranks, s.Group.Rank()) }

// What process 0 sends before a part: whether the program was a graph, which is run in another way
// than one that is made on demand.
const (
	partOfGraph   = 'g'
	partOfProgram = 'p'
)

// give sends the other processes their parts of a program, one after the other so that only one of
// them is in memory, and leaves its own to this one.
func (s *Share) give(ctx context.Context, in *Input) error {
	kind := byte(partOfProgram)
	var program schedule.Program = in.Program
	if in.Graph != nil {
		kind, program = partOfGraph, in.Graph
	}
	encode := func(process int) ([]byte, error) {
		has, err := s.Ranks(program.Ranks(), process)
		if err != nil {
			return nil, err
		}
		data, err := schedule.EncodePart(program, has)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", in.Name, err)
		}
		return append([]byte{kind}, data...), nil
	}
	out := make([][]byte, s.Group.Size())
	for process := 1; process < len(out); process++ {
		data, err := encode(process)
		if err != nil {
			return err
		}
		out[process] = data
		if _, err := s.Group.Exchange(ctx, out); err != nil {
			return err
		}
		out[process] = nil
	}
	data, err := encode(0)
	if err != nil {
		return err
	}
	return in.become(data)
}

// take gets the part of this process from process 0.
func (s *Share) take(ctx context.Context, word string) (*Input, error) {
	out := make([][]byte, s.Group.Size())
	var mine []byte
	for process := 1; process < len(out); process++ {
		in, err := s.Group.Exchange(ctx, out)
		if err != nil {
			return nil, err
		}
		if process == s.Group.Rank() {
			mine = bytes.Clone(in[0])
		}
	}
	in := &Input{Name: word}
	return in, in.become(mine)
}

// become makes the encoded part the program of an input.
func (in *Input) become(data []byte) error {
	if len(data) == 0 {
		return errors.New("process 0 gave no part of " + in.Name)
	}
	part, err := schedule.DecodePart(in.Name, data[1:])
	if err != nil {
		return err
	}
	if data[0] == partOfGraph {
		in.Graph, in.Program = part, part
	} else {
		in.Graph, in.Program = nil, onDemand{part}
	}
	return nil
}

// onDemand hides that a program is in memory, so that engines treat the part as they treat the whole.
type onDemand struct{ schedule.Program }
