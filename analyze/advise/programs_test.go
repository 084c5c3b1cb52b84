package advise_test

import (
	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// us is a time of computation.
const us = int64(unit.Microsecond)

// program is a small program of blocking calls, written rank by rank.
type program struct {
	build   *schedule.Builder
	rank    int
	origins []schedule.Origin
}

func newProgram(ranks int) *program {
	return &program{build: schedule.NewBuilder(ranks), origins: []schedule.Origin{{}}}
}

func (p *program) on(rank int) *program { p.rank = rank; return p }

// origin numbers a call path, whose last name may be an MPI call.
func (p *program) origin(function, call string) uint32 {
	path := []string{"main"}
	if function != "" {
		path = append(path, function)
	}
	for i := range p.origins {
		if o := &p.origins[i]; i > 0 && o.Call == call && o.Path[len(o.Path)-1] == path[len(path)-1] {
			return uint32(i)
		}
	}
	p.origins = append(p.origins, schedule.Origin{Path: path, Call: call})
	return uint32(len(p.origins) - 1)
}

func (p *program) put(op schedule.Op) *program {
	var b schedule.Block
	b.Add(op)
	p.build.Add(p.rank, &b)
	return p
}

func (p *program) calc(function string, ps int64) *program {
	return p.put(schedule.Op{Kind: schedule.Calc, Size: ps, Origin: p.origin(function, "")})
}

func (p *program) send(to int, size int64) *program {
	return p.put(schedule.Op{Kind: schedule.Send, Peer: int32(to), Size: size, Origin: p.origin("", "MPI_Send")})
}

func (p *program) recv(from int, size int64) *program {
	return p.put(schedule.Op{Kind: schedule.Recv, Peer: int32(from), Size: size, Origin: p.origin("", "MPI_Recv")})
}

func (p *program) collective(op schedule.Operation, call string, size int64, root int, algorithm string) *program {
	var b schedule.Block
	b.Call(schedule.Call{Op: op, Size: size, Root: int32(root), Algorithm: algorithm})
	b.Ops[0].Origin = p.origin("", call)
	p.build.Add(p.rank, &b)
	return p
}

func (p *program) barrier() *program { return p.collective(schedule.Barrier, "MPI_Barrier", 0, 0, "") }

// overlapped puts an operation beside others that follow each other; what comes next requires all.
func (p *program) overlapped(first schedule.Op, then ...schedule.Op) *program {
	var b schedule.Block
	last, onStart := b.Add(first), true
	for _, op := range then {
		i := b.Add(op)
		if onStart {
			b.RequireStart(i, last)
		} else {
			b.Require(i, last)
		}
		last, onStart = i, false
	}
	b.Link()
	p.build.Add(p.rank, &b)
	return p
}

func (p *program) done() schedule.Program {
	p.build.SetOrigins(p.origins)
	return p.build.Graph()
}

// network is a machine with an eager limit of 8 KiB.
func network() *machine.Machine {
	return machine.FromParams("test", machine.Params{
		Latency: 5 * unit.Microsecond, Gap: 3 * unit.Microsecond,
		Overhead: machine.One(2 * unit.Microsecond), PerByte: machine.One(unit.PerByte(100_000)), Eager: 8192,
	})
}
