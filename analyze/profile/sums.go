package profile

import "slackline/model/unit"

// Sums are times by call path that are made, read and cleared many times. They hold two columns: the
// first takes every path; the second, between Second and Clear, only those that the first one has.
type Sums struct {
	Touched []int32 // the paths of the first column, in no order
	cells   []sumCell
	round   uint32
	second  bool
}

type sumCell struct {
	first, second unit.Duration
	round         uint32
}

// NewSums returns empty sums of the given paths.
func NewSums(p *Paths) *Sums { return &Sums{cells: make([]sumCell, p.Len()), round: 1} }

// Clear empties both columns.
func (s *Sums) Clear() {
	s.Touched, s.second = s.Touched[:0], false
	if s.round++; s.round == 0 {
		clear(s.cells)
		s.round = 1
	}
}

// Second turns to the second column.
func (s *Sums) Second() { s.second = true }

// Add adds time to a path of the present column.
func (s *Sums) Add(path int32, d unit.Duration) { s.add(path, d) }

// Subtract takes time from a path of the present column.
func (s *Sums) Subtract(path int32, d unit.Duration) { s.add(path, -d) }

// First is the time of a path in the first column.
func (s *Sums) First(path int32) unit.Duration { return s.cells[path].first }

// Excess is what the first column has more than the second, for paths of the first one.
func (s *Sums) Excess(path int32) unit.Duration { return s.cells[path].first - s.cells[path].second }

func (s *Sums) add(path int32, d unit.Duration) {
	c := &s.cells[path]
	if c.round != s.round {
		if s.second {
			return
		}
		*c = sumCell{round: s.round}
		s.Touched = append(s.Touched, path)
	}
	if s.second {
		c.second += d
	} else {
		c.first += d
	}
}
