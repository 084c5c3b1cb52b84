package timeline

import (
	"cmp"
	"slices"

	"slackline/internal/stat"
	"slackline/model/unit"
)

// Devices is what ran on the accelerators of a run: streams of kernels, copies and memsets, the host calls that launched them, and
// the collectives and messages that kernels carry out. It lies beside the locations of the timeline, which are host threads.
type Devices struct {
	Streams    []Stream    // by rank, then device, then order of the streams there
	References []Reference // by location, then call
	Comms      []Comm      // groups of ranks whose kernels communicate; ranks that left no trace are not among the members

	// As those of the timeline; their locations are indices into Streams, their calls activities there.
	Collectives []Collective
	Members     []Member
	Messages    []Message

	Overlaps int64 // activities that began before the one before them on their stream had ended
}

// Stream is a queue of a device: its activities run one after the other.
type Stream struct {
	Rank   int
	Device int    // streams of a rank with the same number share a device
	Name   string // such as 0:7 or CUDA[0:7]
	Activities
}

// Activities are what ran on a stream, in order; none begins before the one before it has ended.
type Activities struct {
	Begin, End []unit.Duration
	Path       []PathID // of the call that launched it, and its name below that; its name alone if that is not known
	Kind       []ActivityKind
	Launch     []Launch
}

// Len is the number of activities.
func (a *Activities) Len() int { return len(a.Begin) }

// ActivityKind is what runs on a stream.
type ActivityKind uint8

// The kinds of activities.
const (
	ComputeKernel       ActivityKind = iota
	CommunicationKernel              // carries out collectives or messages
	Copy
	Memset
)

// String names the kind.
func (k ActivityKind) String() string {
	return [...]string{"compute kernel", "communication kernel", "copy", "memset"}[k]
}

// Launch is the host call that launched an activity: the location of its thread and the call there; -1: not known.
type Launch struct{ Thread, Call int32 }

// NoLaunch is that of an activity whose launch is not known.
var NoLaunch = Launch{-1, -1}

// Known reports whether the launching call is known.
func (l Launch) Known() bool { return l.Thread >= 0 }

// Reference says which stream, device or event a host call concerns, as far as the trace names it.
type Reference struct {
	Location, Call int32
	Stream         int32         // -1: none is named; NoStream: one on which nothing ran
	Device         int32         // -1: none is named
	Event          int32         // stream on which the event was recorded; -1: none is named
	Recorded       unit.Duration // start of the call that recorded the event; of this call, if that is not known
}

// NoStream is a stream that is named but has no activity.
const NoStream = -2

// LaunchedAt is when an activity was launched: the start of the launching call, or its own start if that is not known.
func (t *Timeline) LaunchedAt(s *Stream, i int32) unit.Duration {
	if l := s.Launch[i]; l.Known() {
		return t.Locations[l.Thread].Calls.Enter[l.Call]
	}
	return s.Begin[i]
}

// bounds are the first start and the last end of an activity; false if there is none.
func (d *Devices) bounds() (first, last unit.Duration, ok bool) {
	for i := range d.Streams {
		s := &d.Streams[i]
		n := s.Len()
		if n == 0 {
			continue
		}
		if !ok {
			first, last, ok = s.Begin[0], s.End[n-1], true
		}
		first, last = min(first, s.Begin[0]), max(last, s.End[n-1])
	}
	return first, last, ok
}

// window returns what happened from start to end: activities that run then, cut at the edges; launches among the calls that are
// kept; collectives and messages that lie inside as a whole.
func (d *Devices) window(begin, end unit.Duration, kept []keptCalls) *Devices {
	w := *d
	w.Streams = make([]Stream, len(d.Streams))
	acts := make([]keptCalls, len(d.Streams))
	for i := range d.Streams {
		s := &d.Streams[i]
		k := keptCalls{before: make([]int32, s.Len()+1)}
		out := Stream{Rank: s.Rank, Device: s.Device, Name: s.Name}
		for j := range s.Len() {
			k.before[j+1] = k.before[j]
			if s.Begin[j] >= end || s.End[j] <= begin {
				continue
			}
			k.before[j+1]++
			l := s.Launch[j]
			if l.Known() && kept[l.Thread].has(l.Call) {
				l.Call = kept[l.Thread].number(l.Call)
			} else {
				l = NoLaunch
			}
			out.add(max(s.Begin[j], begin), min(s.End[j], end), s.Path[j], s.Kind[j], l)
		}
		w.Streams[i], acts[i] = out, k
	}
	w.References = nil
	for _, r := range d.References {
		if kept[r.Location].has(r.Call) {
			r.Call = kept[r.Location].number(r.Call)
			w.References = append(w.References, r)
		}
	}
	inside := func(stream, act int32) bool {
		s := &d.Streams[stream]
		return s.Begin[act] >= begin && s.End[act] <= end && acts[stream].has(act)
	}
	w.Collectives, w.Members = keepCollectives(d.Collectives, d.Members, d.Comms,
		func(m *Member) bool { return inside(m.Location, m.Issue) }, acts, false)
	w.Messages = nil
	for _, m := range d.Messages {
		if inside(m.From, m.Send) && inside(m.To, m.Recv) {
			m.Send, m.Recv = acts[m.From].number(m.Send), acts[m.To].number(m.Recv)
			m.SendDone, m.Post = m.Send, m.Recv
			w.Messages = append(w.Messages, m)
		}
	}
	return &w
}

// add appends an activity.
func (a *Activities) add(begin, end unit.Duration, path PathID, kind ActivityKind, l Launch) {
	a.Begin, a.End = append(a.Begin, begin), append(a.End, end)
	a.Path, a.Kind, a.Launch = append(a.Path, path), append(a.Kind, kind), append(a.Launch, l)
}

// WithStreams returns the timeline with its streams as further locations, after the threads, and with what their kernels communicate
// among the collectives and messages. Activities are calls there, none inside another one.
func (t *Timeline) WithStreams() *Timeline {
	d := t.Devices
	if d == nil {
		return t
	}
	w := *t
	threads, comms, members := int32(len(t.Locations)), int32(len(t.Comms)), len(t.Members)
	w.Locations = t.Locations[:threads:threads]
	for i := range d.Streams {
		s := &d.Streams[i]
		l := Location{Rank: s.Rank, Thread: -1 - i, Name: s.Name, ClockError: unknownClock, Calls: Calls{Enter: s.Begin, Leave: s.End,
			Path: s.Path}}
		l.Calls.Skip = make([]int32, s.Len())
		for j := range l.Calls.Skip {
			l.Calls.Skip[j] = int32(j) + 1
		}
		if n := s.Len(); n > 0 {
			l.First, l.Last = s.Begin[0], s.End[n-1]
		}
		w.Locations = append(w.Locations, l)
	}
	w.Comms = append(t.Comms[:comms:comms], d.Comms...)
	w.Collectives = t.Collectives[:len(t.Collectives):len(t.Collectives)]
	for _, c := range d.Collectives {
		c.Comm += comms
		c.First += members
		w.Collectives = append(w.Collectives, c)
	}
	w.Members = t.Members[:members:members]
	for _, m := range d.Members {
		m.Location += threads
		w.Members = append(w.Members, m)
	}
	w.Messages = t.Messages[:len(t.Messages):len(t.Messages)]
	for _, m := range d.Messages {
		m.From, m.To = m.From+threads, m.To+threads
		m.Comm += comms
		w.Messages = append(w.Messages, m)
	}
	return &w
}

// ByRank lists all locations by rank; of each, threads come before streams.
func (t *Timeline) ByRank() []int {
	return stat.Order(len(t.Locations), func(x, y int) int { return cmp.Compare(t.Locations[x].Rank, t.Locations[y].Rank) })
}

// StreamsAsThreads returns the timeline with its streams as further threads of their ranks, for those that know threads only. What kernels
// communicate and one-sided communication are not in it.
func (t *Timeline) StreamsAsThreads() *Timeline {
	if t.Devices == nil {
		return t
	}
	w := *t
	w.Devices, w.Locations, w.Epochs = nil, nil, Epochs{}
	threads, streams := t.Locations, t.WithStreams().Locations[len(t.Locations):]
	now := make([]int32, len(threads)) // numbers of the threads
	for i, k := 0, 0; i < len(threads) || k < len(streams); {
		if k == len(streams) || i < len(threads) && threads[i].Rank <= streams[k].Rank {
			now[i] = int32(len(w.Locations))
			w.Locations = append(w.Locations, threads[i])
			i++
			continue
		}
		s := streams[k]
		s.Name, s.Thread = "stream "+s.Name, 0
		if n := len(w.Locations); n > 0 && w.Locations[n-1].Rank == s.Rank {
			s.Thread, s.Host = w.Locations[n-1].Thread+1, w.Locations[n-1].Host
		}
		w.Locations = append(w.Locations, s)
		k++
	}
	w.Messages, w.Members, w.Teams = slices.Clone(t.Messages), slices.Clone(t.Members), slices.Clone(t.Teams)
	for i := range w.Messages {
		m := &w.Messages[i]
		m.From, m.To = now[m.From], now[m.To] // threads of a rank stay as far from each other as they were
	}
	for i := range w.Members {
		w.Members[i].Location = now[w.Members[i].Location]
	}
	for i := range w.Teams {
		team := &w.Teams[i]
		team.Master, team.Members = now[team.Master], slices.Clone(team.Members)
		for k := range team.Members {
			team.Members[k].Location = now[team.Members[k].Location]
		}
	}
	return &w
}
