package trace

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
)

// OTF2 archives, version 3 of their layout, read and written without the library.
//
//	NAME.otf2     anchor file: sizes of chunks, numbers of locations and definitions, properties
//	NAME.def      global definitions
//	NAME/L.evt    events of location L
//	NAME/L.def    local definitions of location L: mappings of ids, offsets of its clock; may be missing
//
// Files are sequences of chunks of equal size, each with a byte order of its own; records are an id, a
// length (some events have none) and fields, most of them integers without their leading zero bytes.
// Records that are not known are skipped by their length. How an archive becomes a Trace:
//
//   - The rank of a process is the place of its master thread in the group COMM_LOCATIONS of MPI. Only
//     CPU threads are taken.
//   - Ids of regions, communicators and calling contexts are local to a location: its mapping leads to
//     global ids, the definitions from there to indices.
//   - MPI_COMM_SELF is one communicator in OTF2; here every rank has one of its own.
//   - Times become picoseconds after the global offset. Offsets of clocks are kept, not applied.
//   - Attribute lists are left out. Events that have no counterpart (metrics, parameters, locks of threads, I/O of one process)
//     become events of kind Other. The completion of one-sided operations becomes a flush of their target.
//
// What OTF2 has no record for is written in its own terms where that is possible: runs of
// unsuccessful tests, times without a CPU and lifetimes of threads as parameters, what was skipped while recording was off
// as three of them, the state of a location as a property of it, where a trace comes
// from as properties of the archive, all of them with the prefix SLACKLINE.
const (
	otf2Little = 0x42 // byte order marks
	otf2Big    = 0x23

	otf2ChunkHeader = 18
	otf2MaxChunk    = 64 << 20 // the library writes up to 16 MiB

	otf2SkipsName = "SLACKLINE::SKIPPED_"
	otf2StateName = "SLACKLINE::STATE"
	otf2Truncated = "truncated"
	otf2Missing   = "missing"
)

// otf2Parameters are the kinds of events that are written as parameters, whose value is their size.
var otf2Parameters = []struct {
	kind Kind
	name string
}{
	{Polls, "SLACKLINE::POLLS"}, {NoCPU, "SLACKLINE::NO_CPU_PS"}, {ThreadBegin, "SLACKLINE::THREAD_BEGIN"}, {ThreadEnd, "SLACKLINE::THREAD_END"},
}

// otf2Parameter is the number of the parameter of a kind of events.
func otf2Parameter(k Kind) int {
	for i, p := range otf2Parameters {
		if p.kind == k {
			return i
		}
	}
	return -1
}

// Ids of records of all files.
const (
	otf2EndOfChunk  = 0
	otf2EndOfBuffer = 1
	otf2EndOfFile   = 2
	otf2ChunkBegin  = 3
	otf2Timestamp   = 5
	otf2Attributes  = 6
)

// Ids of definitions.
const (
	defClockProperties    = 5
	defString             = 10
	defSystemTreeNode     = 12
	defLocationGroup      = 13
	defLocation           = 14
	defRegion             = 15
	defGroup              = 18
	defComm               = 22
	defParameter          = 23
	defLocationProperty   = 29
	defCartDimension      = 30
	defCartTopology       = 31
	defCartCoordinate     = 32
	defCallingContext     = 34
	defInterruptGenerator = 36
	defInterComm          = 43

	localMapping     = 5
	localClockOffset = 6
)

// Ids of events.
const (
	evtBufferFlush       = 10
	evtMeasurementOnOff  = 11
	evtEnter             = 12
	evtLeave             = 13
	evtSend              = 14
	evtIsend             = 15
	evtIsendComplete     = 16
	evtIrecvRequest      = 17
	evtRecv              = 18
	evtIrecv             = 19
	evtRequestTest       = 20
	evtRequestCancelled  = 21
	evtCollectiveBegin   = 22
	evtCollectiveEnd     = 23
	evtOmpFork           = 24
	evtOmpJoin           = 25
	evtOmpTaskCreate     = 28
	evtOmpTaskComplete   = 30
	evtParameterUnsigned = 34
	evtThreadFork        = 53
	evtThreadJoin        = 54
	evtTeamBegin         = 55
	evtTeamEnd           = 56
	evtContextEnter      = 66
	evtContextLeave      = 67
	evtContextSample     = 68
	evtProgramBegin      = 83
	evtProgramEnd        = 84
	evtCollectiveRequest = 85
	evtCollectiveDone    = 86
	evtCommCreate        = 87
	evtCommDestroy       = 88
)

// otf2Events are the ids of events by kind, but for those of calls from a context and those that are written as parameters.
var otf2Events = [numKinds]uint8{
	Enter: evtEnter, Leave: evtLeave,
	Send: evtSend, Isend: evtIsend, IsendDone: evtIsendComplete, IrecvPost: evtIrecvRequest, Recv: evtRecv, IrecvDone: evtIrecv,
	RequestTest: evtRequestTest, RequestCancelled: evtRequestCancelled,
	CollectiveBegin: evtCollectiveBegin, CollectiveEnd: evtCollectiveEnd, CollectiveIssue: evtCollectiveRequest, CollectiveDone: evtCollectiveDone,
	Fork: evtThreadFork, Join: evtThreadJoin, TeamBegin: evtTeamBegin, TeamEnd: evtTeamEnd, Sample: evtContextSample,
	Polls: evtParameterUnsigned, NoCPU: evtParameterUnsigned, ThreadBegin: evtParameterUnsigned, ThreadEnd: evtParameterUnsigned,
	RecordingOff: evtMeasurementOnOff, RecordingOn: evtMeasurementOnOff, CommCreate: evtCommCreate, CommDestroy: evtCommDestroy,
	ProgramBegin: evtProgramBegin, ProgramEnd: evtProgramEnd, PartitionedSend: evtIsend, PartitionedDone: evtIrecv,
}

// otf2Kinds are the kinds of events by their ids; Other if there is none or if it depends on the fields.
var otf2Kinds = func() (kinds [256]Kind) {
	for id := range kinds {
		kinds[id] = Other
	}
	for kind, id := range otf2Events {
		if id != 0 && id != evtParameterUnsigned && id != evtMeasurementOnOff && kinds[id] == Other {
			kinds[id] = Kind(kind)
		}
	}
	kinds[evtOmpFork], kinds[evtOmpJoin] = Fork, Join
	kinds[evtContextEnter], kinds[evtContextLeave] = Enter, Leave
	return kinds
}()

// Types of mappings.
const (
	mapString    = 0
	mapRegion    = 3
	mapComm      = 6
	mapParameter = 7
	mapContext   = 10
	numMappings  = 15
)

// Enumerations of definitions.
const (
	groupCommLocations = 4
	groupCommGroup     = 5
	groupCommSelf      = 6
	groupGlobalMembers = 1 // a flag

	paradigmUser        = 1
	paradigmOpenMP      = 3
	paradigmMPI         = 4
	paradigmMeasurement = 6

	locationCPUThread = 1
	groupProcess      = 1

	measurementOn  = 1
	measurementOff = 2
)

// undefined32 and undefined64 stand for no reference.
const (
	undefined32 = math.MaxUint32
	undefined64 = math.MaxUint64
)

// noLength reports whether events of this id are an id and one compressed number only.
func noLength(id uint8) bool {
	switch id {
	case evtEnter, evtLeave, evtIsendComplete, evtIrecvRequest, evtRequestTest, evtRequestCancelled, evtOmpFork:
		return true
	}
	return id >= evtOmpTaskCreate && id <= evtOmpTaskComplete
}

var otf2Format = Format{
	Name: "otf2", Noun: "OTF2", Info: "OTF2 archive", Suffixes: []string{".otf2"},
	Sniff: sniffOTF2, parts: true, startsAtZero: true,
	Main: func(names []string) string {
		var anchors []string
		for _, name := range names {
			if strings.HasSuffix(name, ".otf2") {
				anchors = append(anchors, name)
			}
		}
		if len(anchors) > 1 && slices.Contains(anchors, otf2DefaultName+".otf2") {
			return otf2DefaultName + ".otf2"
		}
		if len(anchors) != 1 {
			return ""
		}
		return anchors[0]
	},
	read:  readOTF2,
	group: &fileGroup{names: otf2Files, write: writeOTF2},
}

// otf2DefaultName is the name of an archive that fills a directory, as Score-P calls it.
const otf2DefaultName = "traces"

// sniffOTF2 looks at the start of an anchor file.
func sniffOTF2(head []byte) bool {
	return len(head) > 7 && head[0] == otf2ChunkBegin && (head[1] == otf2Little || head[1] == otf2Big) &&
		bytes.HasPrefix(head[2:], []byte("OTF2\x00"))
}

// otf2Files are the parts of an archive that is written at a path with this last element: an anchor file
// and its companions, or a directory that holds them.
func otf2Files(base string) []string {
	name, ok := strings.CutSuffix(base, ".otf2")
	if !ok || name == "" {
		return []string{base}
	}
	return []string{name, name + ".def", base}
}

// errOTF2Cut states that a record is not all there.
var errOTF2Cut = errors.New("the file ends in the middle: it is truncated")
