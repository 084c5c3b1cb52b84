package measure

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"slackline/observe/mpi"
)

// Omission is why some operations are not measured.
type Omission struct {
	Reason     string
	Operations []string // in the order of the measurement
}

// libraryFault is an operation that does not work in some versions of a library.
type libraryFault struct {
	kind      mpi.Kind
	before    [2]int // the version without the fault: major, minor
	operation string
	ranks     int // it shows from so many ranks on
	what      string
}

// libraryFaults are known to the makers of the libraries: pmodels/mpich 7078 and 7550.
var libraryFaults = []libraryFault{
	{mpi.MPICH, [2]int{5, 0}, "MPI_Scatter_init", 3, "its second start ends the job from 3 ranks on"},
	{mpi.MPICH, [2]int{4, 3}, "MPI_Gather_init", 1, "it takes the data of its creation at every start"},
}

// reason tells why an operation cannot be measured with so many ranks; it is empty if it can be.
func (o *Operation) reason(l *mpi.Library, persistent bool, ranks int) string {
	if o.Kind == PersistentOperations && !persistent {
		return fmt.Sprintf("%s has no persistent collectives, which came with MPI 4", l)
	}
	for _, f := range libraryFaults {
		if o.Name == f.operation && l.Kind == f.kind && ranks >= f.ranks && olderThan(l.Version, f.before) {
			return fmt.Sprintf("%s has a fault in %s: %s", l, f.operation, f.what)
		}
	}
	return ""
}

// olderThan compares a version such as 4.0.2 or 4.3.0rc1 with a major and a minor number; one that cannot be read is not older.
func olderThan(version string, than [2]int) bool {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, err := strconv.Atoi(major)
	if err != nil {
		return false
	}
	b, err := strconv.Atoi(minor)
	return a < than[0] || a == than[0] && err == nil && b < than[1]
}

// omit removes the points that the library cannot do with so many ranks and keeps the reasons.
func (c *Collectives) omit(l *mpi.Library, persistent bool, ranks int) error {
	c.Points = slices.DeleteFunc(c.Points, func(p *CollectivePoint) bool {
		if p.Ranks != ranks {
			return false
		}
		reason := p.Operation.reason(l, persistent, ranks)
		if reason == "" {
			return false
		}
		i := slices.IndexFunc(c.Omitted, func(o Omission) bool { return o.Reason == reason })
		if i < 0 {
			i = len(c.Omitted)
			c.Omitted = append(c.Omitted, Omission{Reason: reason})
		}
		if !slices.Contains(c.Omitted[i].Operations, p.Operation.Name) {
			c.Omitted[i].Operations = append(c.Omitted[i].Operations, p.Operation.Name)
		}
		return true
	})
	if len(c.Points) == 0 {
		return fmt.Errorf("%s: nothing is left to measure; choose other operations or another MPI", c.Omitted[0].Reason)
	}
	return nil
}
