package record

import (
	"cmp"
	"fmt"
	"slices"

	"slackline/model/timeline"
)

// rawObject is a window or a file as one rank knows it.
type rawObject struct {
	id, comm uint32
	function uint16 // that made it
	isFile   bool
	name     string
}

// object is a window or a file in a trace.
type object struct {
	number    uint32
	allocated bool // MPI made the memory of the window
}

func parseObject(rec *rawRecord) rawObject {
	o := rawObject{id: rec.path, comm: uint32(rec.word(0)), function: uint16(rec.word(1)), isFile: rec.kind == rawDefFile}
	if rec.words() > 2 {
		o.name = cString(rec.data[16:])
	}
	return o
}

// objectTable finds which windows and files of different ranks are the same. No rank told another: one is known by the communicator
// that it was made on and by how many its ranks had made on it before, which is the same on all of them because making one
// is a collective operation.
type objectTable struct {
	byKey          map[objectKey]uint32
	windows, files []timeline.Object
}

type objectKey struct {
	isFile bool
	comm   uint32
	number int
}

// addRank takes the windows and files of a rank, whose communicators have numbers in the trace, and returns theirs.
func (t *objectTable) addRank(list []rawObject, comms map[uint32]uint32, calls []mpiCall) map[uint32]object {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b rawObject) int { return cmp.Compare(a.id, b.id) }) // the order of their making
	seen := map[objectKey]int{}
	objects := map[uint32]object{}
	for _, o := range list {
		comm, known := comms[o.comm]
		if !known {
			continue
		}
		key := objectKey{isFile: o.isFile, comm: comm}
		key.number, seen[key] = seen[key], seen[key]+1
		of := &t.windows
		if o.isFile {
			of = &t.files
		}
		number, known := t.byKey[key]
		if !known {
			number = uint32(len(*of))
			t.byKey[key] = number
			name := cmp.Or(o.name, fmt.Sprintf("w%d", number))
			*of = append(*of, timeline.Object{Name: name, Comm: int32(comm)})
		}
		made := int(o.function) < len(calls) && calls[o.function].window.Op == timeline.OpCreateHandleAllocate
		objects[o.id] = object{number: number, allocated: made}
	}
	return objects
}

// skippedObject notes that collective operations on a window or a file, or epochs of a window, were not recorded. Those after them can no
// longer be counted, and are calls alone.
func (s *eventStream) skippedObject(id uint32) {
	if s.lost == nil {
		s.lost = map[uint32]bool{}
	}
	s.lost[id] = true
}
