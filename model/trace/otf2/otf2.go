// Package otf2 reads and writes the files of OTF2 archives, version 3 of their layout, without the library: records of definitions and
// events as they are in the files. What they mean for a run is up to model/trace.
//
//	NAME.otf2     anchor file: sizes of chunks, numbers of locations and definitions, properties
//	NAME.def      global definitions
//	NAME/L.evt    events of location L
//	NAME/L.def    local definitions of location L: mappings of ids, offsets of its clock; may be missing
//
// Files are sequences of chunks of equal size, each with a byte order of its own; records are an id, a
// length (some events have none) and fields, most of them integers without their leading zero bytes.
// Records that are not known are skipped by their length.
package otf2

import (
	"errors"
	"math"
)

// Marks of the byte order, and sizes.
const (
	Little = 0x42 // byte order marks
	Big    = 0x23

	ChunkHeader = 18
	maxChunk    = 64 << 20 // the library writes up to 16 MiB
)

// Ids of records of all files.
const (
	endOfChunk    = 0
	EndOfBuffer   = 1
	EndOfFile     = 2
	ChunkBegin    = 3
	Timestamp     = 5
	AttributeList = 6
)

// Ids of definitions.
const (
	DefClockProperties    = 5
	DefString             = 10
	DefSystemTreeNode     = 12
	DefLocationGroup      = 13
	DefLocation           = 14
	DefRegion             = 15
	DefGroup              = 18
	DefComm               = 22
	DefParameter          = 23
	DefLocationProperty   = 29
	DefCartDimension      = 30
	DefCartTopology       = 31
	DefCartCoordinate     = 32
	DefCallingContext     = 34
	DefInterruptGenerator = 36
	DefInterComm          = 43

	LocalMapping     = 5
	LocalClockOffset = 6
)

// Ids of events.
const (
	evtBufferFlush       = 10
	EvtMeasurementOnOff  = 11
	EvtEnter             = 12
	EvtLeave             = 13
	EvtSend              = 14
	EvtIsend             = 15
	EvtIsendComplete     = 16
	EvtIrecvRequest      = 17
	EvtRecv              = 18
	EvtIrecv             = 19
	EvtRequestTest       = 20
	EvtRequestCancelled  = 21
	EvtCollectiveBegin   = 22
	EvtCollectiveEnd     = 23
	EvtOmpFork           = 24
	EvtOmpJoin           = 25
	evtOmpTaskCreate     = 28
	evtOmpTaskComplete   = 30
	EvtParameterUnsigned = 34
	EvtThreadFork        = 53
	EvtThreadJoin        = 54
	EvtTeamBegin         = 55
	EvtTeamEnd           = 56
	EvtContextEnter      = 66
	EvtContextLeave      = 67
	EvtContextSample     = 68
	EvtProgramBegin      = 83
	EvtProgramEnd        = 84
	EvtCollectiveRequest = 85
	EvtCollectiveDone    = 86
	EvtCommCreate        = 87
	EvtCommDestroy       = 88
)

// Types of mappings.
const (
	MapString    = 0
	MapRegion    = 3
	MapComm      = 6
	MapParameter = 7
	MapContext   = 10
	numMappings  = 15
)

// Enumerations of definitions.
const (
	GroupCommLocations = 4
	GroupCommGroup     = 5
	GroupCommSelf      = 6
	GroupGlobalMembers = 1 // a flag

	paradigmUser        = 1
	ParadigmOpenMP      = 3
	ParadigmMPI         = 4
	paradigmMeasurement = 6

	LocationCPUThread = 1
	GroupProcess      = 1

	MeasurementOn  = 1
	MeasurementOff = 2
)

// Undefined32 and undefined64 stand for no reference.
const (
	Undefined32 = math.MaxUint32
	Undefined64 = math.MaxUint64
)

// noLength reports whether events of this id are an id and one compressed number only.
func noLength(id uint8) bool {
	switch id {
	case EvtEnter, EvtLeave, EvtIsendComplete, EvtIrecvRequest, EvtRequestTest, EvtRequestCancelled, EvtOmpFork:
		return true
	}
	return id >= evtOmpTaskCreate && id <= evtOmpTaskComplete
}

// Accelerators.
const (
	DefAttribute = 11

	MapAttribute = 1
	MapLocation  = 2

	LocationStream   = 2
	GroupAccelerator = 2

	AttributeU64      = 4
	AttributeLocation = 13

	ParadigmCUDA   = 5
	paradigmOpenCL = 19
	ParadigmHIP    = 23
)

// IsAccelerator reports whether communication of a paradigm is that between hosts and devices.
func IsAccelerator(paradigm uint8) bool {
	return paradigm == ParadigmCUDA || paradigm == ParadigmHIP || paradigm == paradigmOpenCL
}

// Events of windows and files.
const (
	EvtWinCreate        = 35
	EvtWinDestroy       = 36
	EvtWinBegin         = 37
	EvtWinCollective    = 38
	EvtGroupSync        = 39
	EvtRequestLock      = 40
	EvtReleaseLock      = 43
	EvtPut              = 46
	EvtGet              = 47
	EvtAtomic           = 48
	EvtCompleteBlocking = 49
	EvtCompleteLocal    = 50
	EvtCompleteRemote   = 52
	EvtFileOpen         = 69
	EvtFileClose        = 70
	EvtFileBegin        = 75
	EvtFileEnd          = 78
)

const (
	DefIoParadigm    = 8
	DefRmaWin        = 24
	DefIoRegularFile = 38
	DefIoHandle      = 40

	MapGroup    = 4
	MapRmaWin   = 8
	MapIoHandle = 13

	IoCollective = 2 // a flag of operations
	LockShared   = 1
)

// errCut states that a record is not all there.
var errCut = errors.New("the file ends in the middle: it is truncated")
