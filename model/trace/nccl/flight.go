package nccl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"slackline/internal/jsonkeys"
	"slackline/model/trace/damage"
	"slackline/model/trace/kineto"
)

// FlightNames are the files of a directory that may be dumps of Flight Recorder: nccl_trace_rank_3, rank3.json.
func FlightNames(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !strings.HasSuffix(name, ".json") && !rankInName.MatchString(name)
	})
}

var rankInName = regexp.MustCompile(`(?i)rank[^0-9]{0,3}([0-9]{1,7})`)

// SniffFlight looks for the keys of a dump, in JSON or pickled.
func SniffFlight(head []byte) bool {
	text := bytes.TrimLeft(head, " \t\r\n")
	return (bytes.HasPrefix(text, []byte("{")) || isPickle(head)) && (bytes.Contains(head, []byte("collective_seq_id")) ||
		bytes.Contains(head, []byte("pg_status")) && bytes.Contains(head, []byte("pg_config")))
}

// isPickle reports whether a file begins as a pickle of protocol 2 to 5 does.
func isPickle(head []byte) bool {
	return len(head) > 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5
}

// entry is an operation of a dump.
type entry struct {
	Group    []any    `json:"process_group"` // name and description
	Record   *int64   `json:"record_id"`     // counts the entries of a process
	Sequence int64    `json:"collective_seq_id"`
	P2P      int64    `json:"p2p_seq_id"`
	IsP2P    bool     `json:"is_p2p"`
	Name     string   `json:"profiling_name"`
	Created  int64    `json:"time_created_ns"`
	State    string   `json:"state"`
	Millis   *float64 `json:"duration_ms"`
}

// configuration is a process group of a dump; its ranks are a list in a string.
type configuration struct {
	Description string `json:"desc"`
	Ranks       any    `json:"ranks"`
}

// everybody is the description of the group of all ranks.
const everybody = "default_pg"

// parseFlight reads a dump as far as it is whole.
func parseFlight(f *file, in fs.File) error {
	data, err := io.ReadAll(in)
	if err != nil {
		return damage.At(f.show, int64(len(data)), "%v", damage.Reason(err))
	}
	if err := jsonkeys.Check(data, nil); err != nil {
		return damage.At(f.show, -1, "%v", err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	cut := func(err error) error {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the file ends in the middle: it is truncated")
		}
		return damage.At(f.show, d.InputOffset(), "%v", damage.Reason(err))
	}
	expect := func(want json.Delim) error {
		if t, err := d.Token(); err != nil {
			return cut(err)
		} else if t != want {
			return damage.At(f.show, d.InputOffset(), "expected %q, got %q", want, fmt.Sprint(t))
		}
		return nil
	}
	if err := expect('{'); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return cut(err)
		}
		switch key {
		case "entries":
			if err := expect('['); err != nil {
				return err
			}
			for d.More() {
				var e entry
				if err := d.Decode(&e); err != nil {
					return cut(err)
				}
				f.takeEntry(&e)
			}
			err = expect(']')
		case "pg_config":
			var groups map[string]configuration
			if err = d.Decode(&groups); err == nil {
				f.takeGroups(groups)
			}
		default:
			var skipped json.RawMessage
			err = d.Decode(&skipped)
		}
		if err != nil {
			return cut(err)
		}
	}
	if err := expect('}'); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return damage.At(f.show, d.InputOffset(), "something follows the end of the dump; one file holds one dump")
	}
	return nil
}

// takeGroups keeps the ranks of the process groups.
func (f *file) takeGroups(groups map[string]configuration) {
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		var ranks []int
		text := strings.Trim(fmt.Sprint(groups[name].Ranks), "[]")
		for _, word := range strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' }) {
			n, err := strconv.Atoi(word)
			if err != nil || n < 0 || n >= maxRanks {
				ranks = nil
				break
			}
			ranks = append(ranks, n)
		}
		i := f.groupAt(name)
		f.groups[i].ranks = ranks
		f.groups[i].all = groups[name].Description == everybody
	}
}

var messageName = regexp.MustCompile(`^(send|recv) ([0-9]{1,7})(?:->|<-)([0-9]{1,7})$`)

// takeEntry keeps an operation. The parts of a batch stay scheduled; the batch itself, which completes, says nothing of them.
func (f *file) takeEntry(e *entry) {
	if e.Record != nil {
		f.records = append(f.records, *e.Record)
	}
	f.finished = f.finished || e.State == "completed"
	name := strings.TrimPrefix(e.Name, "nccl:")
	if name == "coalesced" {
		return
	}
	millis := 0.0
	if e.Millis != nil {
		millis = *e.Millis
	}
	if len(e.Group) == 0 || name == "" || e.Created <= 0 || e.Created >= maxTime || millis < 0 || millis > 1e12 {
		f.lost++
		return
	}
	op := operation{begin: e.Created, end: e.Created + int64(millis*1e6), group: fmt.Sprint(e.Group[0]), id: e.Sequence, peer: -1,
		done: e.State == "completed"}
	op.what = kineto.Communication{Operation: name, Root: -1, Peer: -1, Sequence: e.Sequence, In: -1, Out: -1}
	if m := messageName.FindStringSubmatch(name); m != nil {
		peer, _ := strconv.ParseInt(m[3], 10, 64)
		op.peer, op.id, name = peer, e.P2P, m[1]
		op.what.Operation, op.what.Peer, op.what.Sequence = name, peer, -1
	} else if e.IsP2P {
		f.lost++
		return
	}
	if op.done && e.Millis == nil {
		f.untimed++
	}
	op.name = name
	op.stream = f.groupAt(op.group)
	if len(e.Group) > 1 && e.Group[1] == everybody {
		f.groups[op.stream].all = true
	}
	f.ops = append(f.ops, op)
}

// together is what the operations of the ranks that belong together have in common.
type together struct {
	group    string
	number   int64
	from, to int64 // of a message
}

func (f *file) together(op *operation) together {
	t := together{op.group, op.id, -1, -1}
	if op.peer >= 0 {
		t.from, t.to = int64(slices.Index(f.groups[op.stream].ranks, f.rank)), op.peer
		if op.name == "recv" {
			t.from, t.to = t.to, t.from
		}
	}
	return t
}

// readFlight reads the dumps of the ranks of a job.
func readFlight(fsys fs.FS, dir string, names []string, show func(string) string, interrupt func() error) ([]*file, error) {
	files, err := read(fsys, dir, names, show, interrupt, parseFlight)
	if err != nil {
		return nil, err
	}
	setRanks(files, func(f *file) int {
		if m := rankInName.FindStringSubmatch(f.name); m != nil {
			n, _ := strconv.Atoi(m[1])
			return n
		}
		return -1
	})
	return files, nil
}

// ReadFlight reads the dumps of the ranks of a job as a profile.
func ReadFlight(fsys fs.FS, dir string, names []string, show func(string) string, interrupt func() error) (*kineto.Profile, error) {
	files, err := readFlight(fsys, dir, names, show, interrupt)
	if err != nil {
		return nil, err
	}
	last, untimed := map[together]int64{}, int64(0)
	for _, f := range files {
		untimed += f.untimed
		for i := range f.ops {
			t := f.together(&f.ops[i])
			last[t] = max(last[t], f.ops[i].begin)
		}
	}
	for _, f := range files {
		for i := range f.ops {
			op := &f.ops[i]
			op.end = max(op.end, last[f.together(op)])
			op.what.Group = op.group
			if ranks := f.groups[op.stream].ranks; ranks != nil {
				op.what.Ranks = rankList(ranks)
			}
		}
	}
	var warnings []string
	for _, m := range missing(files) {
		warnings = append(warnings, m.String())
	}
	if untimed > 0 {
		warnings = append(warnings, fmt.Sprintf("%d completed entries have no duration (duration_ms) and count as 0; PyTorch measures them if "+
			"TORCH_NCCL_ENABLE_TIMING=1 is set", untimed))
	}
	return profile(files, append(warnings, contradictions(files)...))
}

// contradictions says what cannot be: entries without a group or time, and dumps that name other ranks of the same group.
func contradictions(files []*file) (warnings []string) {
	lost := int64(0)
	ranks := map[string][]int{}
	differ := map[string]bool{}
	for _, f := range files {
		lost += f.lost
		for i := range f.groups {
			g := &f.groups[i]
			if before, ok := ranks[g.name]; ok && g.ranks != nil && !slices.Equal(before, g.ranks) {
				differ[g.name] = true
			} else if g.ranks != nil {
				ranks[g.name] = g.ranks
			}
		}
	}
	warnings = append(warnings, names(files)...)
	gaps := 0
	for _, f := range files {
		if slices.Sort(f.records); f.finished && f.damage == nil { // a dump of what is not finished has gaps by its nature
			for i := range f.records[:max(0, len(f.records)-1)] {
				if f.records[i]+1 != f.records[i+1] {
					gaps++
				}
			}
		}
	}
	if gaps > 0 {
		warnings = append(warnings, fmt.Sprintf("in %d places the numbers of entries (record_id) do not follow one another: entries are lost "+
			"or repeated", gaps))
	}
	if lost > 0 {
		warnings = append(warnings, fmt.Sprintf("%d entries have no group, no peer, or a time that is not possible, and are left out", lost))
	}
	for _, name := range slices.Sorted(maps.Keys(differ)) {
		warnings = append(warnings, fmt.Sprintf("group %q: the dumps name different ranks; its operations may not be found to belong together",
			name))
	}
	return warnings
}

// names says where the dumps contradict one another in what a collective is, name a group that no dump has, or have numbers that go back.
func names(files []*file) (warnings []string) {
	type collective struct {
		group  string
		number int64
	}
	first := map[collective]string{}
	differ, unknown, back := 0, 0, 0
	for _, f := range files {
		last := map[string]int64{}
		configured := slices.ContainsFunc(f.groups, func(g group) bool { return g.ranks != nil })
		for i := range f.ops {
			op := &f.ops[i]
			if configured && f.groups[op.stream].ranks == nil {
				unknown++
			}
			if op.peer >= 0 {
				continue
			}
			if op.id < last[op.group] {
				back++
			}
			last[op.group] = op.id
			if c := (collective{op.group, op.id}); first[c] == "" {
				first[c] = op.name
			} else if first[c] != op.name {
				differ++
			}
		}
	}
	if differ > 0 {
		warnings = append(warnings, fmt.Sprintf("%d entries are of another operation than that of the same number and group in another dump: "+
			"the ranks did not call the same, or dumps are damaged or of several runs", differ))
	}
	if back > 0 {
		warnings = append(warnings, fmt.Sprintf("in %d places the numbers of the collectives of a group (collective_seq_id) go back: "+
			"entries are damaged", back))
	}
	if unknown > 0 {
		warnings = append(warnings, fmt.Sprintf("%d entries are of a group that their dump does not list (pg_config)", unknown))
	}
	return warnings
}
