package hang

import (
	"fmt"
	"slices"
	"strings"

	"slackline/model/state"
)

// instance is one collective operation: the number of a call on a communicator, a window or a file.
type instance struct {
	of     of
	object uint32
	number int64
}

type of uint8

const (
	ofComm of = iota
	ofWindow
	ofFile
	ofEnd // all ranks
)

// collective is the needs of a collective call: those who have not come, and those who came with something else.
func (a *analysis) collective(rank int, at instance, name string) []need {
	ranks, where := a.ranksOf(at)
	if len(ranks) == 0 {
		return []need{{unknown: true}}
	}
	mine := a.seriesOf(rank, at).At(at.number)
	if mine == nil {
		mine = &state.Collective{Name: name, Root: state.NoRoot}
	}
	if list, ok := a.instances[at]; ok && !a.rooted(mine.Name) { // all who have arrived need the same
		return list
	}
	between := a.between(at)
	var missing []int32
	others, how := map[int32]string{}, ""
	for _, m := range ranks {
		if int(m) == rank {
			continue
		}
		switch call, came := a.arrived(int(m), at, name); {
		case !came:
			missing = append(missing, m)
		case call != nil && differ(mine, call, int(m), between) != "":
			others[m] = differ(mine, call, int(m), between)
		}
	}
	list := a.missing(rank, mine, missing, at, where)
	if len(others) > 0 {
		var who []int32
		for m, text := range others {
			who = append(who, m)
			if len(who) == 1 || m == slices.Min(who) {
				how = text
			}
		}
		slices.Sort(who)
		list = []need{{
			any: who, why: forCollective, never: true, differs: how, instance: &at,
			what: fmt.Sprintf("all ranks of %s in %s, but %s", where, mine.Name, how),
		}}
		return list // it depends on who asks
	}
	if !a.rooted(mine.Name) {
		a.instances[at] = list
	}
	return list
}

// ranksOf are the ranks that take part, and what they do it on.
func (a *analysis) ranksOf(at instance) (ranks []int32, where string) {
	comm := at.object
	switch {
	case at.of == ofWindow && int(at.object) < len(a.run.Windows):
		comm, where = uint32(a.run.Windows[at.object].Comm), "window "+a.run.Windows[at.object].Name
	case at.of == ofFile && int(at.object) < len(a.run.Files):
		comm, where = uint32(a.run.Files[at.object].Comm), "file "+a.run.Files[at.object].Name
	case at.of == ofComm:
		where = a.comm(comm)
	default:
		return nil, ""
	}
	return a.members(comm), where
}

func (a *analysis) seriesOf(rank int, at instance) *state.Series {
	r := &a.run.Ranks[rank]
	switch at.of {
	case ofWindow:
		return r.OnWindow[at.object]
	case ofFile:
		return r.OnFile[at.object]
	}
	return r.Collectives[at.object]
}

// arrived reports whether a rank has come to an instance, and with which call, if that is still known.
func (a *analysis) arrived(rank int, at instance, name string) (call *state.Collective, came bool) {
	r := &a.run.Ranks[rank]
	if r.Partial { // its calls are not counted: what it is in tells
		return nil, slices.ContainsFunc(r.Threads, func(t state.Thread) bool {
			return t.Call != nil && t.Call.Name == name && (at.of != ofComm || t.Call.Comm == at.object)
		})
	}
	s := a.seriesOf(rank, at)
	return s.At(at.number), s != nil && s.Count > at.number
}

// rooted reports whether a collective has a root: who waits for whom depends on it.
func (a *analysis) rooted(name string) bool {
	switch base(name) {
	case "bcast", "scatter", "scatterv", "gather", "gatherv", "reduce", "scan", "exscan":
		return true
	}
	return strings.Contains(name, "eighbor")
}

// base is the operation of a function: bcast of MPI_Ibcast.
func base(name string) string {
	name = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(name, "MPI_"), "_init"))
	if rest, found := strings.CutPrefix(name, "i"); found {
		return rest
	}
	return name
}

// missing is the needs of a rank that some have not come. With a root, those who have come may not need all of them.
func (a *analysis) missing(rank int, mine *state.Collective, missing []int32, at instance, where string) []need {
	from := func(who []int32) need {
		what := fmt.Sprintf("rank %d to come to %s on %s", who[0], mine.Name, where)
		if len(who) > 1 {
			what = fmt.Sprintf("%d ranks to come to %s on %s", len(who), mine.Name, where)
		}
		return need{any: who, why: forCollective, instance: &at, what: what}
	}
	if len(missing) == 0 {
		return nil
	}
	root := slices.Contains(missing, mine.Root)
	switch op := base(mine.Name); {
	case root && op != "scan" && op != "exscan":
		return []need{from([]int32{mine.Root})}
	case a.rooted(mine.Name) && !(int32(rank) == mine.Root && (strings.HasPrefix(op, "gather") || op == "reduce")):
		return []need{from(missing)}
	}
	var list []need
	for _, m := range missing {
		list = append(list, from([]int32{m}))
	}
	return list
}

// between reports whether a collective is one between two groups, whose calls differ.
func (a *analysis) between(at instance) bool {
	return at.of == ofComm && int(at.object) < len(a.run.Comms) && len(a.run.Comms[at.object].Remote) > 0
}

// differ says how two calls of one instance do not fit; empty: they do. Roots and sizes are compared where they must be equal.
func differ(mine, other *state.Collective, them int, between bool) string {
	size := func(c *state.Collective) int64 {
		switch base(c.Name) {
		case "bcast":
			return max(c.Sent, c.Received)
		case "allreduce", "reduce", "scan", "exscan":
			return max(c.Sent, c.Received)
		case "allgather", "alltoall":
			return c.Received
		}
		return 0
	}
	switch {
	case mine.Name != other.Name:
		return fmt.Sprintf("rank %d is in %s", them, other.Name)
	case between:
	case mine.Root != other.Root && mine.Root >= 0 && other.Root >= 0:
		return fmt.Sprintf("rank %d has the root %d instead of %d", them, other.Root, mine.Root)
	case size(mine) != size(other):
		return fmt.Sprintf("rank %d has %d bytes instead of %d", them, size(other), size(mine))
	}
	return ""
}
