package nccl

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"
)

// Dumps are what dumps say of a job that stands still.
type Dumps struct {
	Ranks    int // that left a dump
	Missing  []Missing
	Partial  []int // ranks whose dump was cut, or has entries that are left out: what they wait for may be lost
	Entries  int   // of operations, of all dumps
	Warnings []string
}

// Missing says that ranks have not come to a collective that others are in, or that it is not known whether they have.
type Missing struct {
	Group, Operation string
	Number           int64 // of the collective in its group
	Late, Waiting    []int
	Unknown          []int // ranks of the group without a complete dump
	Open             bool  // no dump says which ranks are in the group: there may be more
}

// String says it in a sentence without end.
func (m Missing) String() string {
	what := fmt.Sprintf("%s number %d", m.Operation, m.Number)
	text := subject(m.Waiting, " is in ", " are in ") + what
	if len(m.Late) > 0 {
		text = subject(m.Late, " has not come to ", " have not come to ") + what + ", in which " + subject(m.Waiting, " is", " are")
	}
	if len(m.Unknown) > 0 {
		text += "; there is no complete dump of " + subject(m.Unknown, "", "")
	}
	if m.Open {
		text += "; no dump says which ranks are in this group (pg_config)"
	}
	return fmt.Sprintf("group %q: %s", m.Group, text)
}

// ReadMissing finds out which ranks of a job others wait for.
func ReadMissing(fsys fs.FS, dir string, names []string, show func(string) string, interrupt func() error) (*Dumps, error) {
	files, err := readFlight(fsys, dir, names, show, interrupt)
	if err != nil {
		return nil, err
	}
	d := &Dumps{Ranks: len(files), Missing: missing(files), Warnings: contradictions(files)}
	for _, f := range files {
		d.Entries += len(f.ops)
		if !f.whole() {
			d.Partial = append(d.Partial, f.rank)
		}
		if f.damage != nil {
			d.Warnings = append(d.Warnings, f.damage.Error())
		}
	}
	return d, nil
}

// whole reports whether a dump says everything that its rank came to.
func (f *file) whole() bool { return f.damage == nil && f.lost == 0 }

// roll is what all dumps together say of a group.
type roll struct {
	last   map[int]int64 // by rank: the newest collective that it came to
	listed bool          // a dump says which ranks are in the group
	all    bool          // all ranks of the job are
}

// never is the number of the newest collective of a rank that has come to none.
const never = math.MinInt64

// add takes a rank that has come to a collective.
func (r *roll) add(rank int, number int64) {
	if last, ok := r.last[rank]; !ok || last < number {
		r.last[rank] = number
	}
}

// rolls calls the roll of each group.
func rolls(files []*file) map[string]*roll {
	groups := map[string]*roll{}
	for _, f := range files {
		for i := range f.groups {
			g := &f.groups[i]
			r := groups[g.name]
			if r == nil {
				r = &roll{last: map[int]int64{}}
				groups[g.name] = r
			}
			r.listed, r.all = r.listed || g.ranks != nil, r.all || g.all
			for _, rank := range g.ranks {
				r.add(rank, never)
			}
		}
		for i := range f.ops {
			if op := &f.ops[i]; op.peer < 0 {
				groups[op.group].add(f.rank, op.id)
			}
		}
	}
	for _, r := range groups {
		if r.all && !r.listed {
			for _, f := range files {
				r.add(f.rank, never)
			}
		}
	}
	return groups
}

// missing finds the ranks that have not come to a collective that others are in. What is lost of a dump may be what its rank came to.
func missing(files []*file) []Missing {
	dumps := map[int]*file{}
	for _, f := range files {
		dumps[f.rank] = f
	}
	whole := func(rank int) bool { return dumps[rank] != nil && dumps[rank].whole() }
	groups := rolls(files)
	var list []Missing
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		r := groups[name]
		m := Missing{Group: name, Open: !r.listed}
		ranks := slices.Sorted(maps.Keys(r.last))
		least, most := int64(math.MaxInt64), int64(never)
		for _, rank := range ranks {
			most = max(most, r.last[rank])
			if whole(rank) {
				least = min(least, r.last[rank])
			}
		}
		if least >= most {
			least = never // all of which it is known have come: the others may be late
		}
		var op *operation
		for _, rank := range ranks {
			if whole(rank) && r.last[rank] == least {
				m.Late = append(m.Late, rank)
			} else if x := dumps[rank].open(name, least); x != nil {
				m.Waiting = append(m.Waiting, rank)
				if op == nil || x.id < op.id {
					op = x
				}
			}
		}
		if op == nil {
			continue
		}
		m.Operation, m.Number = op.name, op.id
		m.Unknown = slices.DeleteFunc(ranks, func(rank int) bool { return whole(rank) || r.last[rank] >= op.id })
		if len(m.Late)+len(m.Unknown) > 0 || m.Open {
			list = append(list, m)
		}
	}
	return list
}

// open is the first collective of a group after a number that is not completed; nil if there is none.
func (f *file) open(group string, after int64) *operation {
	if f == nil {
		return nil
	}
	for i := range f.ops {
		if x := &f.ops[i]; x.group == group && x.peer < 0 && x.id > after && !x.done {
			return x
		}
	}
	return nil
}

// subject names ranks, and says one thing of one, another of several.
func subject(ranks []int, one, many string) string {
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d%s", ranks[0], one)
	}
	return fmt.Sprintf("ranks %s%s", someRanks(ranks), many)
}

// someRanks lists ranks, not all if they are many.
func someRanks(ranks []int) string {
	const most = 10
	text := strings.Trim(rankList(ranks[:min(most, len(ranks))]), "[]")
	if n := len(ranks) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
