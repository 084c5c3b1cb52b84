package trace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// protoFields decodes a message: values of numbers and contents of messages and strings, by field.
func protoFields(t *testing.T, b []byte) map[int][]any {
	t.Helper()
	fields := map[int][]any{}
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			t.Fatal("a tag is cut off")
		}
		b = b[n:]
		field := int(tag >> 3)
		switch tag & 7 {
		case 0:
			v, n := binary.Uvarint(b)
			if n <= 0 {
				t.Fatal("a number is cut off")
			}
			fields[field] = append(fields[field], v)
			b = b[n:]
		case 1:
			fields[field] = append(fields[field], binary.LittleEndian.Uint64(b))
			b = b[8:]
		case 2:
			length, n := binary.Uvarint(b)
			if n <= 0 || length > uint64(len(b)-n) {
				t.Fatal("a message is cut off")
			}
			fields[field] = append(fields[field], b[n:n+int(length)])
			b = b[n+int(length):]
		default:
			t.Fatalf("wire type %d", tag&7)
		}
	}
	return fields
}

// perfettoSlices describes what a viewer would show: slices with their thread, time and arrows.
func perfettoSlices(t *testing.T, file []byte) (list []string, names map[uint64]string) {
	t.Helper()
	names = map[uint64]string{}
	known := map[string]string{}
	tracks := map[uint64]uint64{}
	for _, packet := range protoFields(t, file)[fieldPacket] {
		p := protoFields(t, packet.([]byte))
		if d := p[packetDescriptor]; d != nil {
			track := protoFields(t, d[0].([]byte))
			uuid := track[trackUUID][0].(uint64)
			if process := track[trackProcess]; process != nil {
				names[uuid] = string(protoFields(t, process[0].([]byte))[processName][0].([]byte))
			} else {
				names[uuid] = string(protoFields(t, track[trackThread][0].([]byte))[threadName][0].([]byte))
			}
			continue
		}
		sequence := p[packetSequence][0].(uint64)
		if d := p[packetDefaults]; d != nil {
			if p[packetFlags][0].(uint64) != flagNeedsState|flagStateCleared {
				t.Errorf("the first packet of a sequence has flags %d", p[packetFlags][0])
			}
			defaults := protoFields(t, d[0].([]byte))[defaultTrackEvent][0].([]byte)
			tracks[sequence] = protoFields(t, defaults)[eventTrack][0].(uint64)
		}
		if interned := p[packetInterned]; interned != nil {
			for kind, entries := range protoFields(t, interned[0].([]byte)) {
				for _, e := range entries {
					entry := protoFields(t, e.([]byte))
					known[fmt.Sprint(sequence, kind, entry[entryID][0])] = string(entry[entryName][0].([]byte))
				}
			}
		}
		e := protoFields(t, p[packetTrackEvent][0].([]byte))
		line := fmt.Sprintf("%d %d ", tracks[sequence], p[packetTimestamp][0])
		if e[eventType][0].(uint64) == typeEnd {
			line += "end"
		} else {
			line += known[fmt.Sprint(sequence, internedCategories, e[eventCategory][0])] + ":" +
				known[fmt.Sprint(sequence, internedNames, e[eventName][0])]
		}
		for _, f := range e[eventFlow] {
			line += fmt.Sprintf(" >%d", f)
		}
		for _, f := range e[eventFlowEnd] {
			line += fmt.Sprintf(" <%d", f)
		}
		for _, a := range e[eventAnnotation] {
			note := protoFields(t, a.([]byte))
			line += fmt.Sprintf(" %s=%d", known[fmt.Sprint(sequence, internedAnnotations, note[annotationName][0])], note[annotationInt][0])
		}
		list = append(list, line)
	}
	return list, names
}

func TestPerfetto(t *testing.T) {
	tr, err := parse(example)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := perfettoFormat.Stream(&b, tr, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	got, names := perfettoSlices(t, b.Bytes())
	if want := []string{
		"1 0 user:main", "1 0 user:compute", "1 30000 end", "1 30000 MPI:MPI_Send >1 to rank=1 bytes=8 tag=0", "1 32000 end",
		"1 32000 MPI:MPI_Barrier", "1 40000 end", "1 40000 end",
		"2 0 user:main", "2 0 user:compute", "2 10000 end", "2 10000 MPI:MPI_Recv", "2 33000 end <1 from rank=0 bytes=8 tag=0",
		"2 33000 MPI:MPI_Barrier", "2 40000 end", "2 40000 end",
	}; !slices.Equal(got, want) {
		t.Errorf("slices\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if names[3] != "rank 0" || names[4] != "rank 1" || names[1] != "thread 0" {
		t.Errorf("names = %v", names)
	}
}

// All slices are closed, all arrows have two ends, threads of a rank are in one process.
func TestPerfettoCases(t *testing.T) {
	cases, err := filepath.Glob(casesDir + "/*")
	if err != nil || len(cases) != 20 {
		t.Fatalf("%d cases, error %v", len(cases), err)
	}
	for _, dir := range cases {
		tl := toTimeline(t, mustOpen(t, dir), TimelineOptions{})
		var b bytes.Buffer
		if err := writePerfetto(&b, tl, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		list, names := perfettoSlices(t, b.Bytes())
		calls := 0
		for i := range tl.Locations {
			calls += tl.Locations[i].Calls.Len()
		}
		text := strings.Join(list, "\n")
		if len(list) != 2*calls || strings.Count(text, " end") != calls || len(names) != len(tl.Locations)+tl.Ranks {
			t.Errorf("%s: %d slices of %d calls, %d tracks", dir, len(list), calls, len(names))
		}
		if a, b := strings.Count(text, " >"), strings.Count(text, " <"); a != b || a != len(tl.Messages) {
			t.Errorf("%s: %d arrows begin and %d end, but there are %d messages", dir, a, b, len(tl.Messages))
		}
	}
}
