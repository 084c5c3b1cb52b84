package devices

import (
	"regexp"
	"slices"
	"sort"
	"strings"

	"slackline/internal/parallel"
	"slackline/model/timeline"
	"slackline/model/unit"
)

// syncKind is what a host call waits for.
type syncKind uint8

const (
	noSync syncKind = iota
	streamSync
	deviceSync
	eventSync
	copySync  // a blocking copy
	asyncCopy // a copy that may block: from or to pageable memory
)

// syncCalls are the calls that wait, by name.
var syncCalls = func() map[string]syncKind {
	calls := map[string]syncKind{}
	for kind, names := range map[syncKind]string{
		streamSync: "cuStreamSynchronize cudaStreamSynchronize hipStreamSynchronize clFinish",
		deviceSync: "cuCtxSynchronize cudaDeviceSynchronize cudaThreadSynchronize hipDeviceSynchronize hipCtxSynchronize",
		eventSync:  "cuEventSynchronize cudaEventSynchronize hipEventSynchronize clWaitForEvents",
	} {
		for _, name := range strings.Fields(names) {
			calls[name] = kind
		}
	}
	calls["DEVICE SYNCHRONIZE"] = deviceSync
	return calls
}()

var versionSuffix = regexp.MustCompile(`_v[0-9]+$`)

// baseName is the name of a call without its version.
func baseName(name string) string {
	if strings.Contains(name, "_v") {
		return versionSuffix.ReplaceAllString(name, "")
	}
	return name
}

// syncKindOf is what a call of this name waits for.
func syncKindOf(name string) syncKind {
	name = baseName(name)
	if kind := syncCalls[name]; kind != noSync {
		return kind
	}
	for _, prefix := range []string{"cuMemcpy", "cudaMemcpy", "hipMemcpy"} {
		if strings.HasPrefix(name, prefix) {
			if strings.Contains(name, "Async") {
				return asyncCopy
			}
			return copySync
		}
	}
	return noSync
}

// isEventWait reports whether a call of this name makes a stream wait for an event.
func isEventWait(name string) bool {
	switch baseName(name) {
	case "cudaStreamWaitEvent", "cuStreamWaitEvent", "hipStreamWaitEvent":
		return true
	}
	return false
}

// HostWait is a wait of a host thread, from the start of a call, for an activity.
type HostWait struct {
	Thread, Call int32
	For          Op
	Amount       unit.Duration // 0 or less: it had ended before
}

// HostWaits finds the waits of host threads for activities, by thread and call.
func (r *Run) HostWaits() []HostWait {
	return slices.DeleteFunc(slices.Concat(r.Syncs()...), func(w HostWait) bool { return w.Amount <= 0 })
}

// Syncs finds by thread the calls that require the end of an activity, by call, whether they waited for it or not.
func (r *Run) Syncs() [][]HostWait {
	kinds := make([]syncKind, len(r.tl.Paths))
	for id := 1; id < len(kinds); id++ {
		kinds[id] = syncKindOf(r.tl.Regions[r.tl.Paths[id].Region].Name)
	}
	copies := r.copies()
	found := make([][]HostWait, len(r.tl.Locations))
	parallel.Each(len(found), r.threads, func(i int) {
		if !r.HasStreams(r.tl.Locations[i].Rank) {
			return
		}
		c := &r.tl.Locations[i].Calls
		var list []HostWait
		for call, path := range c.Path {
			kind := kinds[path]
			if kind == noSync {
				continue
			}
			on := r.awaited(int32(i), int32(call), kind, copies)
			if on == None && kind >= copySync { // it launched no copy that blocks
				continue
			}
			for n := len(list) - 1; n >= 0 && c.Skip[list[n].Call] > int32(call); n-- { // the innermost one counts
				list = list[:n]
			}
			if on == None {
				continue
			}
			amount := min(r.end(on), c.Leave[call]) - c.Enter[call]
			list = append(list, HostWait{int32(i), int32(call), on, amount})
		}
		found[i] = list
	})
	return found
}

// copies finds the copy that each call launched, the one that ends last.
func (r *Run) copies() map[Op]Op {
	found := map[Op]Op{}
	for i := range r.streams {
		s := &r.streams[i]
		for j, l := range s.Launch {
			if s.Kind[j] != timeline.Copy || !l.Known() {
				continue
			}
			by := Op{l.Thread, l.Call}
			best, ok := found[by]
			if !ok {
				best = None
			}
			r.later(&best, Op{int32(i), int32(j)})
			found[by] = best
		}
	}
	return found
}

// awaited is what a call waited for.
func (r *Run) awaited(thread, call int32, kind syncKind, copies map[Op]Op) Op {
	l := &r.tl.Locations[thread]
	enter, leave := l.Calls.Enter[call], l.Calls.Leave[call]
	ref := r.refs[Op{thread, call}]
	switch {
	case kind == copySync || kind == asyncCopy:
		on, ok := copies[Op{thread, call}]
		if !ok || kind == asyncCopy && leave < r.end(on) {
			return None
		}
		return on
	case kind == deviceSync:
		return r.lastOfDevice(l.Rank, ref, enter)
	case kind == streamSync && ref != nil && ref.Stream == timeline.NoStream:
		return None
	case kind == streamSync && ref != nil && ref.Stream >= 0:
		return r.lastBefore(ref.Stream, enter)
	case kind == eventSync && ref != nil && ref.Event >= 0:
		return r.lastBefore(ref.Event, ref.Recorded)
	}
	return r.lastEnded(l.Rank, enter, leave)
}

// lastOfDevice is, of the last activities of the streams of a device that were launched before a moment, the one that ends last; of
// all streams of the rank if the device is not known.
func (r *Run) lastOfDevice(rank int, ref *timeline.Reference, t unit.Duration) Op {
	of := r.byRank[rank]
	known := false
	for k := of[0]; k < of[1] && ref != nil && ref.Device >= 0; k++ {
		known = known || r.streams[k].Device == int(ref.Device)
	}
	best := None
	for k := of[0]; k < of[1]; k++ {
		if known && r.streams[k].Device != int(ref.Device) {
			continue
		}
		if o := r.lastBefore(k, t); o != None {
			r.later(&best, o)
		}
	}
	return best
}

// lastEnded is, of all activities of a rank that were launched before a call, the one that ended last, not after the call.
func (r *Run) lastEnded(rank int, enter, leave unit.Duration) Op {
	best := None
	for k := r.byRank[rank][0]; k < r.byRank[rank][1]; k++ {
		s := &r.streams[k]
		i := sort.Search(s.Len(), func(i int) bool { return s.End[i] > leave }) - 1
		for ; i >= 0 && s.launched[i] >= enter; i-- {
		}
		for i > 0 && s.End[i-1] == s.End[i] && s.launched[i-1] < enter {
			i--
		}
		if i >= 0 {
			r.later(&best, Op{k, int32(i)})
		}
	}
	return best
}
