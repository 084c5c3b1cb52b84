package timeline

import "slices"

// Programs that do not know what comes next look for a message before they receive it: MPI_Probe and MPI_Mprobe wait for its send, and so
// does a loop of MPI_Iprobe, which a recorder keeps as one call. The receive after it finds the message there.

// Probes finds the calls that looked for messages.
type Probes struct{ looks, communicates []bool } // by path

// looking are the names of these calls.
var looking = []string{"MPI_Probe", "MPI_Mprobe", "MPI_Iprobe", "MPI_Improbe"}

// Probes returns what finds the calls that looked for messages; nil if there are none.
func (t *Timeline) Probes() *Probes {
	looks := make([]bool, len(t.Paths))
	for id := 1; id < len(looks); id++ {
		looks[id] = slices.Contains(looking, t.RegionOf(PathID(id)).Name)
	}
	if !slices.Contains(looks, true) {
		return nil
	}
	return &Probes{looks, t.Communicating()}
}

// Before returns the call that looked for a message whose receive was posted in the given call: the last communication call before it, if
// that is a probe; else -1.
func (p *Probes) Before(c *Calls, post int32) int32 {
	if i := p.last(c, post); i >= 0 && p.looks[c.Path[i]] {
		return i
	}
	return -1
}

// last is the last communication call before another one, -1 if there is none.
func (p *Probes) last(c *Calls, before int32) int32 {
	for i := before - 1; i >= 0; i-- {
		if p.communicates[c.Path[i]] && c.Skip[i] <= before {
			return i
		}
	}
	return -1
}

// Communicating marks the paths of calls that let MPI make progress.
func (t *Timeline) Communicating() []bool {
	marks := make([]bool, len(t.Paths))
	for id := 1; id < len(marks); id++ {
		marks[id] = t.RegionOf(PathID(id)).Communicates()
	}
	return marks
}
