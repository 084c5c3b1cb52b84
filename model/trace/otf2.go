package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"slackline/model/trace/otf2"
)

// How an archive becomes a Trace:
//
//   - The rank of a process is the place of its master thread in the group COMM_LOCATIONS of MPI. Only
//     CPU threads are taken.
//   - Ids of regions, communicators and calling contexts are local to a location: its mapping leads to
//     global ids, the definitions from there to indices.
//   - MPI_COMM_SELF is one communicator in OTF2; here every rank has one of its own.
//   - Times become picoseconds after the global offset. Offsets of clocks are kept, not applied.
//   - Attribute lists are left out. Events that have no counterpart (parameters, locks of threads, I/O of one process, metrics
//     that do not add up) become events of kind Other. The completion of one-sided operations becomes a flush of their target.
//
// What OTF2 has no record for is written in its own terms where that is possible: runs of
// unsuccessful tests, times without a CPU and lifetimes of threads as parameters, what was skipped while recording was off
// as three of them, the state of a location as a property of it, where a trace comes
// from as properties of the archive, all of them with the prefix SLACKLINE.
const (
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
	{Polls, "SLACKLINE::POLLS"}, {NoCPU, "SLACKLINE::NO_CPU_PS"}, {ThreadBegin, "SLACKLINE::THREAD_BEGIN"},
	{ThreadEnd, "SLACKLINE::THREAD_END"},
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

// otf2Events are the ids of events by kind, but for those of calls from a context and those that are written as parameters.
var otf2Events = [numKinds]uint8{
	Enter: otf2.EvtEnter, Leave: otf2.EvtLeave,
	Send: otf2.EvtSend, Isend: otf2.EvtIsend, IsendDone: otf2.EvtIsendComplete, IrecvPost: otf2.EvtIrecvRequest, Recv: otf2.EvtRecv,
	IrecvDone:   otf2.EvtIrecv,
	RequestTest: otf2.EvtRequestTest, RequestCancelled: otf2.EvtRequestCancelled,
	CollectiveBegin: otf2.EvtCollectiveBegin, CollectiveEnd: otf2.EvtCollectiveEnd, CollectiveIssue: otf2.EvtCollectiveRequest,
	CollectiveDone: otf2.EvtCollectiveDone,
	Fork:           otf2.EvtThreadFork, Join: otf2.EvtThreadJoin, TeamBegin: otf2.EvtTeamBegin, TeamEnd: otf2.EvtTeamEnd,
	Sample: otf2.EvtContextSample,
	Polls:  otf2.EvtParameterUnsigned, NoCPU: otf2.EvtParameterUnsigned, ThreadBegin: otf2.EvtParameterUnsigned,
	ThreadEnd:    otf2.EvtParameterUnsigned,
	RecordingOff: otf2.EvtMeasurementOnOff, RecordingOn: otf2.EvtMeasurementOnOff, CommCreate: otf2.EvtCommCreate,
	CommDestroy:  otf2.EvtCommDestroy,
	ProgramBegin: otf2.EvtProgramBegin, ProgramEnd: otf2.EvtProgramEnd, PartitionedSend: otf2.EvtIsend, PartitionedDone: otf2.EvtIrecv,
	Count: otf2.EvtMetric,
}

// otf2Kinds are the kinds of events by their ids; Other if there is none or if it depends on the fields.
var otf2Kinds = func() (kinds [256]Kind) {
	for id := range kinds {
		kinds[id] = Other
	}
	for kind, id := range otf2Events {
		if id != 0 && id != otf2.EvtParameterUnsigned && id != otf2.EvtMeasurementOnOff && kinds[id] == Other {
			kinds[id] = Kind(kind)
		}
	}
	kinds[otf2.EvtOmpFork], kinds[otf2.EvtOmpJoin] = Fork, Join
	kinds[otf2.EvtContextEnter], kinds[otf2.EvtContextLeave] = Enter, Leave
	return kinds
}()

var otf2Format = Format{
	Name: "otf2", Noun: "OTF2", Info: "OTF2 archive", Suffixes: []string{".otf2"},
	Sniff: otf2.Sniff, parts: true, startsAtZero: true,
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
	Beside: func(main, other string) bool { return other != main && slices.Contains(otf2Files(main), other) },
	read:   readOTF2,
	group:  &fileGroup{names: otf2Files, write: writeOTF2},
}

// otf2DefaultName is the name of an archive that fills a directory, as Score-P calls it.
const otf2DefaultName = "traces"

// otf2Files are the parts of an archive that is written at a path with this last element: an anchor file
// and its companions, or a directory that holds them.
func otf2Files(base string) []string {
	name, ok := strings.CutSuffix(base, ".otf2")
	if !ok || name == "" {
		return []string{base}
	}
	return []string{name, name + ".def", base}
}

// otf2ArchiveProperty is a field of Properties as a property of an archive.
type otf2ArchiveProperty struct {
	name string
	text *string
	list *[]string
	num  *int64
}

// otf2Properties are the fields of Properties, by their names in an archive.
func otf2Properties(p *Properties) []otf2ArchiveProperty {
	return []otf2ArchiveProperty{
		{name: "SLACKLINE::COMMAND", list: &p.Command},
		{name: "SLACKLINE::LAUNCH", list: &p.Launch},
		{name: "SLACKLINE::MPI", text: &p.MPI},
		{name: "SLACKLINE::CALLPATHS", text: &p.CallPaths},
		{name: "SLACKLINE::SAMPLE_PERIOD_PS", num: &p.SamplePeriod},
		{name: "SLACKLINE::RESOLUTION", num: &p.Resolution},
		{name: "SLACKLINE::YIELD", text: &p.Yield},
		{name: "SLACKLINE::RECORDING", text: &p.Recording},
		{name: "SLACKLINE::MISSING", text: &p.Missing},
	}
}

// setOTF2Properties fills an anchor file with where a trace comes from.
func setOTF2Properties(a *otf2.Anchor, p Properties) error {
	a.Machine, a.Creator = p.Machine, p.Tool
	for _, f := range otf2Properties(&p) {
		value := ""
		switch {
		case f.text != nil:
			value = *f.text
		case f.num != nil && *f.num != 0:
			value = strconv.FormatInt(*f.num, 10)
		case f.list != nil && len(*f.list) > 0:
			text, err := json.Marshal(*f.list)
			if err != nil {
				return err
			}
			value = string(text)
		}
		if value != "" {
			a.Properties = append(a.Properties, [2]string{f.name, strings.ReplaceAll(value, "\x00", "")})
		}
	}
	return nil
}

// propertiesOf returns where a trace comes from.
func propertiesOf(a *otf2.Anchor) (Properties, error) {
	p := Properties{Machine: a.Machine, Tool: a.Creator}
	var errs error
	for _, f := range otf2Properties(&p) {
		for _, given := range a.Properties {
			if given[0] != f.name {
				continue
			}
			var err error
			switch {
			case f.text != nil:
				*f.text = given[1]
			case f.num != nil:
				*f.num, err = strconv.ParseInt(given[1], 10, 64)
			default:
				err = json.Unmarshal([]byte(given[1]), f.list)
			}
			if err != nil {
				errs = errors.Join(errs, fmt.Errorf("the property %s cannot be read: %w", f.name, err))
			}
		}
	}
	return p, errs
}

// archiveName is the name that the files of an archive share, by its anchor file.
func archiveName(anchor string) string { return strings.TrimSuffix(path.Base(anchor), ".otf2") }
