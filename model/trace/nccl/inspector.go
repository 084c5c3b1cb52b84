package nccl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"slackline/internal/jsonkeys"
	"slackline/internal/phrase"
	"slackline/model/trace/damage"
	"slackline/model/trace/kineto"
)

// maxLine is the longest line of a log.
const maxLine = 16 << 20

// InspectorNames are the files of a directory that may be logs of NCCL Inspector.
func InspectorNames(names []string) []string {
	var list []string
	for _, name := range names {
		if strings.HasSuffix(name, ".log") || strings.HasSuffix(name, ".jsonl") {
			list = append(list, name)
		}
	}
	return list
}

// SniffInspector looks for the keys of the first record.
func SniffInspector(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.HasPrefix(head, []byte("{")) && bytes.Contains(line, []byte(`"header"`)) &&
		(bytes.Contains(line, []byte(`"coll_perf"`)) || bytes.Contains(line, []byte(`"p2p_perf"`)))
}

// record is a line of a log.
type record struct {
	Header struct {
		ID    string `json:"id"`
		Rank  int    `json:"rank"`
		Ranks int    `json:"n_ranks"`
	} `json:"header"`
	Coll *performance `json:"coll_perf"`
	P2P  *performance `json:"p2p_perf"`
}

// performance is an operation of a record.
type performance struct {
	Coll      string `json:"coll"`
	CollSN    int64  `json:"coll_sn"`
	CollBytes int64  `json:"coll_msg_size_bytes"`
	P2P       string `json:"p2p"`
	P2PSN     int64  `json:"p2p_sn"`
	Peer      int64  `json:"p2p_peer"`
	P2PBytes  int64  `json:"p2p_msg_size_bytes"`
	Times     struct {
		Kernels []struct {
			Start int64 `json:"kernel_start_ts"`
			Stop  int64 `json:"kernel_stop_ts"`
		} `json:"kernel_events"`
	} `json:"event_trace_ts"`
}

// parseInspector reads a log line by line. A line that is no record ends it.
func parseInspector(f *file, in fs.File) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	at, next := int64(0), int64(0) // of the line, and of the one after it
	lines.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		n, line, err := bufio.ScanLines(data, atEOF)
		next += int64(n)
		return n, line, err
	})
	for ; lines.Scan(); at = next {
		line := lines.Bytes()
		if len(bytes.TrimSpace(line)) > 0 {
			var r record
			if err := json.Unmarshal(line, &r); err != nil {
				return damage.At(f.show, at, "not a record of NCCL Inspector: it is truncated or damaged")
			}
			if err := jsonkeys.Check(line, nil); err != nil {
				return damage.At(f.show, at, "not a record of NCCL Inspector: %v", strings.TrimPrefix(err.Error(), "line 1: "))
			}
			f.take(&r)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return damage.At(f.show, at, "a line is longer than %d MiB", maxLine>>20)
	} else if err != nil && !errors.Is(err, io.EOF) {
		return damage.At(f.show, at, "%v", damage.Reason(err))
	}
	return nil
}

// take keeps a record. Of its channels the one that took longest tells when it ran.
func (f *file) take(r *record) {
	p := r.Coll
	if p == nil {
		p = r.P2P
	}
	h := &r.Header
	if p == nil || h.Ranks < 1 || h.Ranks > maxRanks || h.Rank < 0 || h.Rank >= h.Ranks {
		f.lost++
		return
	}
	op := operation{group: h.ID, id: p.CollSN, peer: -1, begin: -1}
	op.what = kineto.Communication{Operation: p.Coll, Root: -1, Peer: -1, Sequence: p.CollSN, In: p.CollBytes, Out: p.CollBytes}
	if r.Coll == nil {
		op.peer, op.id = p.Peer, p.P2PSN
		op.what = kineto.Communication{Operation: p.P2P, Root: -1, Peer: -1, Sequence: -1, In: p.P2PBytes, Out: p.P2PBytes}
	}
	op.name = op.what.Operation
	for _, k := range p.Times.Kernels {
		if k.Start <= 0 || k.Stop < k.Start || k.Stop >= maxTime/1000 {
			f.channels++
			continue
		}
		begin, end := 1000*k.Start, 1000*k.Stop
		if longer := (end - begin) - (op.end - op.begin); op.begin < 0 || longer > 0 || longer == 0 && begin < op.begin {
			op.begin, op.end = begin, end
		}
	}
	if op.begin < 0 || op.name == "" {
		f.lost++
		return
	}
	g := f.groupAt(h.ID)
	f.groups[g].rank, f.groups[g].size = h.Rank, h.Ranks
	op.stream = g
	f.ops = append(f.ops, op)
}

// ReadInspector reads the logs of the processes of a job.
func ReadInspector(fsys fs.FS, dir string, names []string, show func(string) string, interrupt func() error) (*kineto.Profile, error) {
	files, err := read(fsys, dir, names, show, interrupt, parseInspector)
	if err != nil {
		return nil, err
	}
	setRanks(files, func(f *file) int {
		for _, g := range f.groups { // ranks of a communicator of all are those of the job
			if g.size == len(files) {
				return g.rank
			}
		}
		return -1
	})
	var warnings []string
	lost, channels, some := int64(0), int64(0), false
	members := map[string]map[int]int{} // by communicator: ranks of the job by rank in it
	sizes := map[string]int{}
	for _, f := range files {
		lost += f.lost
		channels += f.channels
		some = some || len(f.ops) > 0
		for _, g := range f.groups {
			if members[g.name] == nil {
				members[g.name] = map[int]int{}
			}
			members[g.name][g.rank], sizes[g.name] = f.rank, g.size
		}
	}
	if !some {
		return nil, damage.At(files[0].show, -1, "no record has times of kernels; set NCCL_INSPECTOR_DUMP_VERBOSE=1 while the program runs")
	}
	if lost > 0 {
		warnings = append(warnings, fmt.Sprintf("%d records have no times of kernels and are left out", lost))
	}
	if channels > 0 {
		warnings = append(warnings, fmt.Sprintf("%d channels of records have no valid times and are left out", channels))
	}
	warnings = append(warnings, incomplete(files, members, sizes)...)
	places, lists := map[string]map[int]int64{}, map[string]string{}
	for name, of := range members {
		places[name], lists[name] = known(of, sizes[name])
	}
	messages := map[message]int{}
	for _, f := range files {
		for i := range f.ops {
			if m, ok := f.message(&f.ops[i], members); ok {
				messages[m]++
			}
		}
	}
	single := 0
	for _, f := range files {
		kept := f.ops[:0]
		for _, op := range f.ops {
			op.what.Ranks, op.what.Group = lists[op.group], op.group
			if op.peer < 0 {
				op.what.Group += " " + op.name // numbers count the operations of one name
			} else if m, ok := f.message(&op, members); !ok || messages[m] != 2 {
				single++
				continue
			} else {
				op.what.Peer = places[op.group][int(op.peer)]
			}
			kept = append(kept, op)
		}
		f.ops = kept
	}
	if single > 0 {
		warnings = append(warnings, fmt.Sprintf("%d sends and receives are left out, because their other end has no record with times of kernels",
			single))
	}
	return profile(files, warnings)
}

// incomplete says which logs and records are missing: a rank of which nothing is known may be the one that others wait for.
func incomplete(files []*file, members map[string]map[int]int, sizes map[string]int) (warnings []string) {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if n := len(members[name]); n < sizes[name] {
			warnings = append(warnings, fmt.Sprintf("communicator %s has %s, but there are logs of %d only: what others wait for may be missing",
				name, phrase.Plural(sizes[name], "rank"), n))
		}
	}
	type collective struct {
		group, name string
		number      int64
	}
	ranks := map[collective]int{}
	bytes := map[collective]int64{}
	twice, differ := 0, 0
	for _, f := range files {
		own := map[collective]bool{}
		for i := range f.ops {
			if op := &f.ops[i]; op.peer < 0 {
				c := collective{op.group, op.name, op.id}
				if size, known := bytes[c]; known && size != op.what.In {
					differ++
				}
				bytes[c] = op.what.In
				if own[c] {
					twice++
				} else {
					own[c] = true
					ranks[c]++
				}
			}
		}
	}
	part := 0
	for c, n := range ranks {
		if n < len(members[c.group]) {
			part++
		}
	}
	if part > 0 {
		warnings = append(warnings, fmt.Sprintf("%s recorded on some ranks only: their logs begin late, end early, or have lost records",
			phrase.Plural(part, "collective")))
	}
	if differ > 0 {
		warnings = append(warnings, fmt.Sprintf("%s with another size than on other ranks (coll_msg_size_bytes)",
			phrase.Plural(differ, "collective")))
	}
	if twice > 0 {
		warnings = append(warnings, fmt.Sprintf("%s recorded twice in a log", phrase.Plural(twice, "collective")))
	}
	return warnings
}

// message is what both ends of a message have in common.
type message struct {
	group    string
	from, to int
	number   int64
}

// message returns the message that an operation is an end of; false if it is none, or if the other end left no log.
func (f *file) message(op *operation, members map[string]map[int]int) (message, bool) {
	own := f.groups[op.stream].rank
	if _, ok := members[op.group][int(op.peer)]; op.peer < 0 || op.peer == int64(own) || !ok {
		return message{}, false
	}
	if strings.EqualFold(op.name, "recv") {
		return message{op.group, int(op.peer), own, op.id}, true
	}
	return message{op.group, own, int(op.peer), op.id}, true
}

// known lists the ranks of a communicator that left a log, as ranks of the job, and says where in the list each one is.
func known(members map[int]int, size int) (at map[int]int64, list string) {
	at = map[int]int64{}
	var ranks []int
	for r := range size {
		if job, ok := members[r]; ok {
			at[r] = int64(len(ranks))
			ranks = append(ranks, job)
		}
		if len(ranks) == len(members) {
			break
		}
	}
	return at, rankList(ranks)
}
