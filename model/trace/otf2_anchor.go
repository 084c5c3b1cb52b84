package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"slackline/model/trace/damage"
)

// otf2Anchor is what an anchor file says.
type otf2Anchor struct {
	eventChunk, defChunk uint64
	locations            uint64
	definitions          uint64
	machine              string
	creator              string
	description          string
	properties           [][2]string // name, value
	identifier           uint64
}

// Versions that are written.
const (
	otf2AnchorFormat = 3
	otf2TraceFormat  = 2
)

// readOTF2Anchor reads an anchor file. If only its end is damaged, what can be read comes with the error.
func readOTF2Anchor(data []byte, show string) (*otf2Anchor, error) {
	if !sniffOTF2(data) {
		return nil, damage.At(show, 0, "not an anchor file of OTF2, or the file is truncated")
	}
	r := otf2Bytes{b: data, big: data[1] == otf2Big, at: 2}
	r.str() // OTF2
	format := r.u8()
	if format > otf2AnchorFormat {
		return nil, &damage.Error{File: show, Offset: -1, What: fmt.Sprintf(
			"the archive is in version %d of the OTF2 format; this slackline reads versions 1 to %d", format, otf2AnchorFormat)}
	}
	r.take(4) // trace format, version of the library
	a := &otf2Anchor{eventChunk: r.full(8), defChunk: r.full(8)}
	substrate, compression := r.u8(), r.u8()
	a.locations, a.definitions = r.full(8), r.full(8)
	if r.short {
		return nil, damage.At(show, int64(len(data)), "%v", errOTF2Cut)
	}
	if substrate != 1 || compression != 1 {
		return nil, &damage.Error{File: show, Offset: -1, What: fmt.Sprintf(
			"the archive uses substrate %d and compression %d; only plain files without compression can be read (otf2 tools convert others)", substrate, compression)}
	}
	for _, size := range []uint64{a.eventChunk, a.defChunk} {
		if size < otf2ChunkHeader+2 || size > otf2MaxChunk {
			return nil, damage.At(show, 12, "chunks of %d bytes; there are chunks of up to %d", size, otf2MaxChunk)
		}
	}
	a.machine, a.creator, a.description = r.str(), r.str(), r.str()
	if format > 1 {
		for n := r.full(4); n > 0 && !r.short; n-- {
			a.properties = append(a.properties, [2]string{r.str(), r.str()})
		}
		a.identifier = r.full(8)
	}
	if format > 2 {
		r.full(4) // snapshots
		r.full(4) // thumbnails
	}
	if r.short || r.u8() != otf2EndOfFile {
		return a, damage.At(show, int64(r.at), "%v", errOTF2Cut)
	}
	return a, nil
}

// bytes is the anchor file.
func (a *otf2Anchor) bytes() []byte {
	w := &otf2Record{b: []byte{otf2ChunkBegin, otf2Little}}
	w.str("OTF2")
	w.b = append(w.b, otf2AnchorFormat, otf2TraceFormat, 3, 0, 0)
	w.full64(a.eventChunk, a.defChunk)
	w.b = append(w.b, 1, 1) // plain files, no compression
	w.full64(a.locations, a.definitions)
	w.str(a.machine, a.creator, a.description)
	w.full32(uint32(len(a.properties)))
	for _, p := range a.properties {
		w.str(p[:]...)
	}
	w.full64(a.identifier)
	w.full32(0) // snapshots
	w.full32(0) // thumbnails
	return append(w.b, otf2EndOfFile, otf2EndOfBuffer, 0)
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
	}
}

// setProperties fills an anchor file with where a trace comes from.
func (a *otf2Anchor) setProperties(p Properties) error {
	a.machine, a.creator = p.Machine, p.Tool
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
			a.properties = append(a.properties, [2]string{f.name, strings.ReplaceAll(value, "\x00", "")})
		}
	}
	return nil
}

// properties returns where a trace comes from.
func (a *otf2Anchor) toProperties() (Properties, error) {
	p := Properties{Machine: a.machine, Tool: a.creator}
	var errs error
	for _, f := range otf2Properties(&p) {
		for _, given := range a.properties {
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
