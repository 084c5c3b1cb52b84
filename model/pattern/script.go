package pattern

import (
	"fmt"
	"math"
	"slices"

	"slackline/model/schedule"
)

// script puts a program together for one set of parameters.
type script struct {
	Params      // with defaults filled in
	name        string
	prog        *program
	section     *[]part
	withoutP2P  bool
	withoutColl bool
}

func newScript(name string, p Params) *script {
	s := &script{
		Params: p,
		name:   name,
		prog: &program{
			ranks:      p.Ranks,
			tile:       p.Ranks,
			iterations: p.Iterations,
			shape:      schedule.Shape{CPUs: 1, NICs: 1},
			origins:    []schedule.Origin{{}},
		},
		withoutP2P:  slices.Contains(p.Without, PointToPoint),
		withoutColl: slices.Contains(p.Without, Collectives),
	}
	if p.Tile > 0 { // everything else is made for a copy
		s.Ranks = p.Tile
		s.prog.tile = p.Tile
	}
	s.section = &s.prog.body
	return s
}

// begin, loop and end choose where the parts that follow are put: once before the body, into the
// body, or once after it. A script starts in the body.
func (s *script) begin() { s.section = &s.prog.before }
func (s *script) loop()  { s.section = &s.prog.body }
func (s *script) end()   { s.section = &s.prog.after }

// add appends a part.
func (s *script) add(p part) { *s.section = append(*s.section, p) }

// p2p appends point-to-point communication, unless the program is to do without.
func (s *script) p2p(parts ...part) {
	for _, p := range parts {
		if s.withoutP2P {
			p = silence{}
		}
		s.add(p)
	}
}

// collective appends a collective, unless the program is to do without.
func (s *script) collective(c collectivePart) {
	if s.withoutColl {
		s.add(silence{})
		return
	}
	s.prog.shape.Collectives = true
	s.add(c)
}

// call appends a blocking collective of all ranks.
func (s *script) call(c schedule.Call, path ...string) {
	s.collective(newCall(c, s.origin(mpiName(c.Op), path...)))
}

// calls appends a blocking collective several times.
func (s *script) calls(times int, c schedule.Call, path ...string) {
	for range times {
		s.call(c, path...)
	}
}

// origin returns the index of an origin below the pattern's name, made once.
func (s *script) origin(mpi string, path ...string) uint32 {
	path = append([]string{s.name}, path...)
	for i, o := range s.prog.origins {
		if i > 0 && o.Call == mpi && slices.Equal(o.Path, path) {
			return uint32(i)
		}
	}
	s.prog.origins = append(s.prog.origins, schedule.Origin{Path: path, Call: mpi})
	return uint32(len(s.prog.origins) - 1)
}

// finish returns the program.
func (s *script) finish() (*program, error) {
	p := s.prog
	if len(p.body) > 0 && p.iterations > (math.MaxInt32-len(p.before)-len(p.after))/len(p.body) {
		return nil, fmt.Errorf("iterations: %d of %d steps each are too many; give at most %d",
			p.iterations, len(p.body), (math.MaxInt32-len(p.before)-len(p.after))/len(p.body))
	}
	return p, nil
}
