package pattern

import "slackline/model/schedule"

// pipeline sends a message in pieces along a chain of all ranks that begins at the root.
type pipeline struct {
	ranks, root, pieces int
	size                int64
	turns               bool // a rank takes a piece only when it has passed the one before on
	send, recv          uint32
}

func (p *pipeline) fill(rank, _ int, b *schedule.Block) {
	place := (rank - p.root + p.ranks) % p.ranks
	passed := -1 // the send of the piece before
	for i := range p.pieces {
		size := p.size / int64(p.pieces)
		if int64(i) < p.size%int64(p.pieces) {
			size++
		}
		got := -1
		if place > 0 {
			got = b.Recv((rank+p.ranks-1)%p.ranks, size, 0)
			b.Ops[got].Origin = p.recv
			if p.turns && passed >= 0 {
				b.Require(got, passed)
			}
		}
		if place < p.ranks-1 {
			passed = b.Send((rank+1)%p.ranks, size, 0)
			b.Ops[passed].Origin = p.send
			if got >= 0 {
				b.Require(passed, got)
			}
		}
	}
	b.Link()
}

// pipelinePattern is a pipelined ring.
func pipelinePattern(name, info, details string, turns bool) definition {
	return definition{
		Info: Info{
			Name: name, Kind: Exchange,
			Info:    info,
			Details: "Each iteration is compute, then a message that goes from the root around the ring to the last rank in pieces. " + details,
			Params:  []string{"ranks", "size", "root", "pieces", "iterations", "compute", "jitter", "seed"},
			Example: "slackline simulate " + name + " --ranks 64 --size 64KiB --pieces 16 --machine altix",
		},
		defaults: Params{Size: 64 << 10, Pieces: 16},
		build: func(s *script) error {
			s.compute()
			s.prog.shape.Graphs = true
			s.p2p(&pipeline{
				ranks: s.Ranks, root: s.Root, pieces: s.Pieces, size: s.Size, turns: turns,
				send: s.origin("MPI_Isend", "pipeline"), recv: s.origin("MPI_Irecv", "pipeline"),
			})
			return nil
		},
	}
}
