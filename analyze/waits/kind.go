package waits

import (
	"cmp"
	"slices"
	"strings"

	"slackline/analyze/profile"
	"slackline/internal/phrase"
	"slackline/model/timeline"
)

// table lists all wait states in the order of their numbers. A new wait state is a file that describes it and a line
// here: results, text, report, explorer, Cube files and 'slackline explain' follow from this table.
var table = [...]*kind{
	&lateSender,
	&lateReceiver,
	&barrier,
	&nxn,
	&lateBroadcast,
	&earlyReduce,
	&earlyScan,
	&finalize,
	&openMPBarrier,
	&openMPIdle,
	&wrongOrder,
	&lateContributor,
	&lateNeighbor,
	&windowCreate,
	&fence,
	&windowFree,
	&latePost,
	&earlyWait,
	&lateComplete,
	&lockContention,
	&waitForProgress,
	&commCreate,
	&collectiveIO,
	&hostWait,
	&deviceIdle,
	&streamWait,
}

// Metric is the number of a wait state in the table.
type Metric uint8

// None is the metric of something that is not a wait state.
const None = Metric(len(table))

// kind is a wait state: its description and how it is found.
type kind struct {
	Info
	precedence int   // decides between causes of the same amount in one call, the lowest wins
	parent     *kind // of a sub-state: the wait state that it is a part of
	before     *kind // the wait state that counts for the first part of the time, if there is one

	// How the wait state is found; each has one of these. Idle threads (openmp.go) have none, nor has what is only the first
	// part of another one.
	message     messageRule              // by the calls of a message
	collectives []collective             // by the calls of a collective
	epochs      func(*analysis, *epochs) // by the epochs of one-sided communication
	find        func(*analysis, *kind)   // by synchronization points that it adds
	mark        func(*analysis, *kind)   // of a sub-state: finds which wait states of the parent belong to it
	inside      bool                     // it is a wait inside of a process with streams (devices.go)

	metric Metric // number in the table
}

// Precedences: messages that were not there come first, then collectives, then receivers that were not ready, then one-sided
// communication.
const (
	messageFirst = iota
	collectiveNext
	receiverLast
	exposureEnd
	exposureBegin
	lockNext
	progressLast
	deviceLast
)

// Info describes a wait state.
type Info struct {
	Name    string // as in results, e.g. late_sender
	Title   string // e.g. Late sender
	Short   string // half a sentence: what the waiting location does
	Who     string // who waits, with %d for the rank, if it is not the rank: "Threads of rank %d waited"
	Because string // why, with %s for the ranks that caused it: "%s sent late"
	Meaning string // what is measured, and what counts as the cause
	Advice  string // what usually helps
	Within  string // of a sub-state: its part of the parent: "with messages in the wrong order"
	Color   Color
}

// Color is the color of a wait state on a light and on a dark background, #RRGGBB.
type Color struct{ Light, Dark string }

// kinds is the table without its initializers, which depend on functions that use it.
var kinds [None]*kind

// rules are the rules of collectives, from number 1 on; ruleOf are their numbers by scope and operation, 0 if there is none.
// ofMessages are the wait states that messages cause.
var (
	rules      = []*collective{nil}
	ruleOf     [timeline.ByConnection + 1][256]uint8
	ofMessages []*kind
)

func init() {
	kinds = table
	for m, k := range kinds {
		k.metric = Metric(m)
		if k.message != nil {
			ofMessages = append(ofMessages, k)
		}
		for i := range k.collectives {
			c := &k.collectives[i]
			c.kind = k
			for _, op := range c.ops {
				ruleOf[c.scope][op] = uint8(len(rules))
			}
			rules = append(rules, c)
		}
	}
}

// Info describes the wait state.
func (m Metric) Info() *Info { return &kinds[m].Info }

// String is the name of the wait state.
func (m Metric) String() string {
	if m < None {
		return kinds[m].Name
	}
	return "none"
}

// Say is the title of the wait state inside a sentence.
func (m Metric) Say() string { return phrase.Lower(m.Info().Title) }

// PartTitle names a part of the composition of a run for people.
func PartTitle(p *profile.Part) string {
	if p.Kind != profile.Waiting {
		return p.Kind.Title()
	}
	title := ByName(p.Name).Say()
	if strings.HasPrefix(title, "wait") {
		return title
	}
	return "waiting: " + title
}

// MarshalText returns the name of the wait state.
func (m Metric) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// IsZero reports whether there is no wait state; JSON leaves it out.
func (m Metric) IsZero() bool { return m == None }

// Parent is the wait state that a sub-state is a part of; None for wait states that count by themselves.
func (m Metric) Parent() Metric {
	if m.IsPart() {
		return kinds[m].parent.metric
	}
	return None
}

// IsPart reports whether the metric is a sub-state, whose time is also that of its parent.
func (m Metric) IsPart() bool { return m < None && kinds[m].parent != nil }

// Metrics returns all wait states and their sub-states, by name.
func Metrics() []Metric {
	all := make([]Metric, 0, None)
	for m := range None {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b Metric) int { return cmp.Compare(a.String(), b.String()) })
	return all
}

// ByName finds a metric by its name; None if there is none.
func ByName(name string) Metric {
	for m, k := range kinds {
		if k.Name == name {
			return Metric(m)
		}
	}
	return None
}

// messageRule finds the wait that a message causes; its amount is 0 or less if there is none.
type messageRule func(a *analysis, m *timeline.Message, e *messageEnds) candidate
