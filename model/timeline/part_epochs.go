package timeline

import (
	"encoding/binary"

	"slackline/internal/chunk"
	"slackline/internal/cluster"
)

// shareEpochs sends all processes the records of one-sided communication, so that each finds the epochs of all: which epochs follow
// each other at a target is decided by origins everywhere.
func (x *partExchange) shareEpochs() error {
	var own []byte
	for i := x.First; i < x.Last; i++ {
		if list := x.locations[i].epochs; len(list) > 0 {
			own = binary.AppendUvarint(own, uint64(i))
			own = binary.AppendUvarint(own, uint64(len(list)))
			for k := range list {
				own = list[k].append(own)
			}
		}
	}
	all, err := cluster.AllGather(x.ctx, x.Group, own)
	if err != nil {
		return err
	}
	if err := x.takeAll(all, x.takeEpochs); err != nil {
		return err
	}
	x.matchEpochs()
	return nil
}

func (r *WindowRecord) append(b []byte) []byte {
	flag := byte(0)
	if r.Flag {
		flag = 1
	}
	b = append(b, byte(r.Kind), flag)
	for _, v := range []int32{r.Window, r.Target, r.Call, r.Seq, int32(len(r.Group))} {
		b = chunk.AppendInt(b, int64(v))
	}
	for _, v := range r.Group {
		b = chunk.AppendInt(b, int64(v))
	}
	return chunk.AppendInt(chunk.AppendInt(b, r.Sent), r.Received)
}

func (x *partExchange) takeEpochs(_ int, b []byte) bool {
	c := chunk.Column{B: b}
	for c.Left() > 0 && !c.Bad {
		location, n := c.Uint(), c.Uint()
		if location >= uint64(len(x.locations)) || x.here(int32(location)) || n > uint64(c.Left()) {
			return false
		}
		list := make([]WindowRecord, n)
		for i := range list {
			r := &list[i]
			r.Kind, r.Flag = WindowAction(c.Byte()), c.Byte() != 0
			var size int32
			for _, v := range []*int32{&r.Window, &r.Target, &r.Call, &r.Seq, &size} {
				*v = int32(c.Int())
			}
			if c.Bad || size < 0 || int(size) > c.Left() {
				return false
			}
			for range size {
				r.Group = append(r.Group, int32(c.Int()))
			}
			r.Sent, r.Received = c.Int(), c.Int()
		}
		x.locations[location].epochs = list
	}
	return !c.Bad
}

// shareEpochCalls sends all processes the calls of the epochs here, and of the targets of locks all calls that let MPI make progress.
func (x *partExchange) shareEpochCalls(share func(p int, location int32, calls ...int32)) {
	others := func(location int32, call int32) {
		for p := range x.shared {
			if p != x.Group.Rank() {
				share(p, location, call)
			}
		}
	}
	x.t.Epochs.eachCall(func(location int32, c *EpochCall) {
		if x.Here(location) {
			others(location, c.Call)
		}
	})
	targets := map[int32]bool{}
	for i := range x.t.Epochs.Locks {
		if t := x.t.Epochs.Locks[i].Target; x.Here(t) {
			targets[t] = true
		}
	}
	if len(targets) == 0 {
		return
	}
	communicating := x.t.Communicating()
	for t := range targets {
		for call, path := range x.locations[t].calls.Path {
			if communicating[path] {
				others(t, int32(call))
			}
		}
	}
}
