// Package nsys reads exports of Nsight Systems (nsys export --type sqlite): a database for each node, with all its processes. Ranks are
// the processes with kernels, by node and process id; the wall clocks at the starts of the sessions bring the nodes together. Runtime and
// driver calls and ranges of NVTX are calls, nested by containment; kernels, copies and memsets are activities, which the call with the
// same correlation launched. How these become a timeline is said in package kineto.
//
// Kernels of NCCL are collectives of all ranks, the k-th with the k-th; one that sends and receives counts as one of all with all. Tables
// and columns come and go with versions: what is missing is not there. Names of hosts, command lines and environments are not read.
package nsys

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"slackline/model/trace/device"
	"slackline/model/trace/kineto"
	"slackline/model/trace/sqlite"
)

// Sniff looks for the mark of a database.
func Sniff(head []byte) bool { return strings.HasPrefix(string(head), sqlite.Magic) }

// Names are those files of a directory that may be exports.
func Names(names []string) (list []string) {
	for _, name := range names {
		if strings.HasSuffix(name, ".sqlite") {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// The tables that are read.
const (
	kernels = "CUPTI_ACTIVITY_KIND_KERNEL"
	copies  = "CUPTI_ACTIVITY_KIND_MEMCPY"
	memsets = "CUPTI_ACTIVITY_KIND_MEMSET"
	calls   = "CUPTI_ACTIVITY_KIND_RUNTIME"
	syncs   = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"
	events  = "CUPTI_ACTIVITY_KIND_CUDA_EVENT"
	ranges  = "NVTX_EVENTS"
	strs    = "StringIds"
	started = "TARGET_INFO_SESSION_START_TIME"
)

// pushPop is the type of ranges of NVTX that are nested.
const pushPop = 59

var (
	version   = regexp.MustCompile(`_v[0-9]+$`)
	numbering = regexp.MustCompile(`, (op_id|seq) = [0-9]+`)
)

// reader is an export on its way into a profile.
type reader struct {
	db       *sqlite.DB
	strings  map[int64]string
	ranks    map[int64]*kineto.Rank // by process id
	show     string
	session  int64    // its start, ns since 1970; 0: not known
	earliest int64    // the time from which the others count, in ns since then
	damage   []string // what cannot be read
}

// File is an export: one node. Messages call it what Show says.
type File struct {
	At   io.ReaderAt
	Size int64
	Show string
}

// Read reads the exports of the nodes of a run. Ranks are numbered node by node, in the order of the files.
func Read(files []File, interrupt func() error) (*kineto.Profile, error) {
	var nodes []*reader
	var list []*kineto.Rank
	var others []error // of what are no exports
	for _, f := range files {
		r, err := open(f)
		if err != nil {
			others = append(others, err)
			continue
		}
		for _, pid := range r.survey() {
			rank := kineto.NewRank(len(list), f.Show)
			r.ranks[pid], list = rank, append(list, rank)
		}
		nodes = append(nodes, r)
	}
	if len(nodes) == 0 {
		return nil, others[0]
	}
	together := align(nodes)
	for _, r := range nodes {
		for _, part := range []func(){r.hostCalls, r.activities, r.synchronization} {
			if interrupt != nil {
				if err := interrupt(); err != nil {
					return nil, err
				}
			}
			part()
		}
		r.strings = nil
	}
	p, err := kineto.NewProfile(list, len(nodes) == 1)
	if err != nil || len(list) == 0 {
		return nil, fmt.Errorf("%s: %w", nodes[0].show, errors.Join(err, errors.New("no process of it has kernels"),
			errors.New(strings.Join(nodes[0].damage, "; "))))
	}
	for _, err := range others {
		p.Warnings = append(p.Warnings, err.Error()+"; it is left out")
	}
	p.Lost = len(others)
	for _, r := range nodes {
		if len(r.damage) > 0 {
			for _, rank := range r.ranks {
				rank.Cut()
			}
			if len(r.ranks) == 0 {
				p.Lost++
			}
		}
		for _, d := range r.damage {
			p.Warnings = append(p.Warnings, fmt.Sprintf("%s: %s; what comes before it is read", r.show, d))
		}
	}
	if !together {
		p.Warnings = append(p.Warnings, "an export does not say when its session began ("+started+"): the first events of all nodes are taken "+
			"to be at the same time")
	}
	return p, nil
}

// open opens an export and reads its names.
func open(f File) (*reader, error) {
	db, err := sqlite.Open(f.At, f.Size)
	r := &reader{db: db, show: f.Show, strings: map[int64]string{}, ranks: map[int64]*kineto.Rank{}}
	if db == nil {
		return nil, fmt.Errorf("%s: %w", f.Show, err)
	}
	if err != nil {
		r.damage = append(r.damage, err.Error())
	}
	if db.Tables[kernels] == nil && db.Tables[calls] == nil {
		return nil, fmt.Errorf("%s: %w", f.Show, errors.Join(err, errors.New("the database has no table of kernels or calls; is it an "+
			"export of Nsight Systems?")))
	}
	r.each(strs, "id value", func(v []int64, text func(int) string) { r.strings[v[0]] = text(1) })
	r.each(started, "utcEpochNs", func(v []int64, _ func(int) string) { r.session = v[0] })
	return r, nil
}

// align lets the times of all nodes count from the first event of the run, by the wall clocks at the starts of their sessions. It reports
// whether they are known, or one node is all there is; else each counts from its own first event.
func align(nodes []*reader) bool {
	if len(nodes) == 1 {
		return true
	}
	first := int64(math.MaxInt64)
	for _, r := range nodes {
		if r.session <= 0 || r.session > math.MaxInt64/2 || r.earliest > math.MaxInt64/4 {
			return false
		}
		first = min(first, r.session+r.earliest)
	}
	for _, r := range nodes {
		r.earliest = first - r.session
	}
	return true
}

// each calls yield for the rows of a table, with the integers of some columns, -1 if they are missing, and a function that returns texts.
func (r *reader) each(table, names string, yield func(v []int64, text func(int) string)) {
	t := r.db.Tables[table]
	if t == nil {
		return
	}
	var places []int
	for _, name := range strings.Fields(names) {
		places = append(places, t.Column(name))
	}
	values := make([]int64, len(places))
	err := t.Each(func(row sqlite.Row) error {
		for i, at := range places {
			v, known := row.Known(at)
			if values[i] = v; !known {
				values[i] = -1
			}
		}
		yield(values, func(i int) string { return row.Text(places[i]) })
		return nil
	})
	if err != nil {
		r.damage = append(r.damage, err.Error())
	}
}

// processOf and threadOf are parts of a global id.
func processOf(id int64) int64 { return id >> 24 & (1<<24 - 1) }
func threadOf(id int64) int64  { return id & (1<<24 - 1) }

// survey finds the processes with kernels, and the first time.
func (r *reader) survey() []int64 {
	seen := map[int64]bool{}
	some, known := false, len(r.damage)
	note := func(t int64) {
		if t >= 0 && (!some || t < r.earliest) {
			r.earliest, some = t, true
		}
	}
	for _, table := range []string{kernels, copies, memsets} {
		r.each(table, "globalPid start", func(v []int64, _ func(int) string) {
			if v[0] >= 0 && table == kernels {
				seen[processOf(v[0])] = true
			}
			note(v[1])
		})
	}
	for _, table := range []string{calls, ranges} {
		r.each(table, "start", func(v []int64, _ func(int) string) { note(v[0]) })
	}
	r.damage = r.damage[:known] // what was found here will be found again
	return slices.Sorted(maps.Keys(seen))
}

// hostCalls adds ranges of NVTX and calls.
func (r *reader) hostCalls() {
	r.each(ranges, "globalTid start end eventType textId text", func(v []int64, text func(int) string) {
		rank := r.ranks[processOf(v[0])]
		if rank == nil || v[3] != pushPop || v[2] < 0 {
			return
		}
		name := cmp.Or(text(5), r.strings[v[4]])
		rank.Call(processOf(v[0]), threadOf(v[0]), v[1]-r.earliest, v[2]-r.earliest, numbering.ReplaceAllString(name, ""), 0)
	})
	r.each(calls, "globalTid start end nameId correlationId", func(v []int64, _ func(int) string) {
		if rank := r.ranks[processOf(v[0])]; rank != nil {
			rank.Call(processOf(v[0]), threadOf(v[0]), v[1]-r.earliest, v[2]-r.earliest, version.ReplaceAllString(r.strings[v[3]], ""), v[4])
		}
	})
}

var copyNames = map[int64]string{1: "Memcpy HtoD", 2: "Memcpy DtoH", 8: "Memcpy DtoD", 10: "Memcpy PtoP"}

// activities adds kernels, copies and memsets.
func (r *reader) activities() {
	const common = "globalPid deviceId streamId start end correlationId "
	r.each(kernels, common+"demangledName shortName", func(v []int64, _ func(int) string) {
		rank := r.ranks[processOf(v[0])]
		if rank == nil {
			return
		}
		name := cmp.Or(r.strings[v[6]], r.strings[v[7]])
		operation := ""
		if device.IsCommunication(name) {
			if operation = device.KernelOperation(name); operation == "" && strings.Contains(name, "_SendRecv") {
				operation = "alltoall"
			}
		}
		rank.Kernel(v[1], v[2], v[3]-r.earliest, v[4]-r.earliest, name, v[5], operation)
	})
	r.each(copies, common+"copyKind", func(v []int64, _ func(int) string) {
		if rank := r.ranks[processOf(v[0])]; rank != nil {
			rank.Copy(v[1], v[2], v[3]-r.earliest, v[4]-r.earliest, cmp.Or(copyNames[v[6]], "Memcpy"), v[5])
		}
	})
	r.each(memsets, common, func(v []int64, _ func(int) string) {
		if rank := r.ranks[processOf(v[0])]; rank != nil {
			rank.Memset(v[1], v[2], v[3]-r.earliest, v[4]-r.earliest, "Memset", v[5])
		}
	})
}

// synchronization adds what calls wait for. Events are joined by the number of their synchronization, for handles are used again.
func (r *reader) synchronization() {
	type recorded struct{ stream, correlation int64 }
	records := map[[2]int64]recorded{} // by process and number
	r.each(events, "globalPid eventSyncId streamId correlationId", func(v []int64, _ func(int) string) {
		if v[1] > 0 {
			records[[2]int64{processOf(v[0]), v[1]}] = recorded{v[2], v[3]}
		}
	})
	kinds := map[int64]string{1: kineto.EventSync, 2: kineto.StreamWait, 3: kineto.StreamSync, 4: kineto.ContextSync}
	r.each(syncs, "globalPid syncType deviceId streamId correlationId eventSyncId", func(v []int64, _ func(int) string) {
		rank, kind := r.ranks[processOf(v[0])], kinds[v[1]]
		if rank == nil || kind == "" {
			return
		}
		on, ok := records[[2]int64{processOf(v[0]), v[5]}]
		if !ok {
			on = recorded{-1, 0}
		}
		rank.Sync(kind, v[2], v[3], on.stream, v[4], on.correlation)
	})
}
