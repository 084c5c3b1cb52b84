package input

import (
	"context"
	"fmt"
	"io"

	"slackline/analyze/replay"
	"slackline/internal/cluster"
	"slackline/model/schedule"
)

// What process 0 sends before a whole program.
const (
	wholeGraph  = 'g' // as an slk file
	wholeReplay = 'r' // as package replay encodes it
)

// openWhole lets process 0 open an input that is not a pattern and give it to all others, in pieces. They
// have the program and nothing of the rest.
func openWhole(ctx context.Context, word string, o Options) (*Input, error) {
	in := &Input{Name: word}
	err := cluster.Stream(ctx, o.Share.Group, func(w io.Writer) error {
		var err error
		in, err = openAndWrite(ctx, w, word, o)
		return err
	}, in.readWhole)
	if err != nil {
		return nil, err
	}
	return in, nil
}

// openAndWrite opens an input and writes it for readWhole.
func openAndWrite(ctx context.Context, w io.Writer, word string, o Options) (*Input, error) {
	isTrace := o.Kinds.IsTrace(word)
	o.Share, o.Kinds, o.ToRun = nil, nil, nil // it is given away as a graph
	if isTrace {
		in, err := openReplay(ctx, word, o)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write([]byte{wholeReplay}); err != nil {
			return nil, err
		}
		return in, in.Replay.Encode(w)
	}
	_, notes, err := classify(word)
	if err != nil {
		return nil, err
	}
	in, data, err := openFile(ctx, word, o, notes)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write([]byte{wholeGraph}); err != nil {
		return nil, err
	}
	if schedule.IsSLK(data) {
		_, err = w.Write(data) // it is packed already
		return in, err
	}
	if err := schedule.WriteSLK(w, in.Graph); err != nil {
		return nil, fmt.Errorf("%s: %w", word, err)
	}
	return in, nil
}

// readWhole reads the program that process 0 gives out.
func (in *Input) readWhole(r io.Reader) error {
	var kind [1]byte
	if _, err := io.ReadFull(r, kind[:]); err != nil {
		return err
	}
	switch kind[0] {
	case wholeReplay:
		program, err := replay.Decode(r)
		if err != nil {
			return err
		}
		in.Program, in.Replay = program, program
		return nil
	case wholeGraph:
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		graph, err := schedule.ReadSLK(in.Name, data)
		if err != nil {
			return err
		}
		in.Program, in.Graph = graph, graph
		return nil
	}
	return cluster.ErrGarbled
}
