// Package allprof reads the lines that liballprof, the tracer of LogGOPSim, writes: a call of MPI with its times and arguments. What the
// calls of a run mean together (requests, communicators, clocks) is up to model/trace.
package allprof

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"slackline/internal/plain"
	"slackline/model/timeline"
)

// Action is what a call does.
type Action uint8

// The actions.
const (
	DoNothing  Action = iota
	DoSend            // blocking, also together with a receive
	DoRecv            //
	DoSendrecv        //
	DoIsend           //
	DoIrecv           //
	DoInitSend        // persistent
	DoInitRecv        //
	DoStart           //
	DoWait            //
	DoTest            // completes something, perhaps
	DoFree            //
	DoCancel          //
	DoCollect         //
	DoSplit           //
	DoDup             //
	DoInit            // begins the time of the rank
	DoFinalize        //
)

// calls says of the calls that matter what they do and what their arguments are, one letter
// each: buffer b, count c, type t, peer p, tag g, communicator m, root r, request q, number n and address a of
// several requests, counts v (two fields), displacements w (two fields), color and key k, anything else x.
var calls = func() map[string]Call {
	calls := map[string]Call{}
	add := func(action Action, arguments, names string) {
		for name := range strings.FieldsSeq(names) {
			calls["MPI_"+name] = Call{Name: "MPI_" + name, Action: action, Arguments: arguments}
		}
	}
	add(DoSend, "bctpgm", "Send Bsend Ssend Rsend")
	add(DoRecv, "bctpgmx", "Recv")
	add(DoSendrecv, "bctpgbctpgmx", "Sendrecv")
	add(DoSendrecv, "bctpgpgmx", "Sendrecv_replace")
	add(DoIsend, "bctpgmq", "Isend Ibsend Issend Irsend")
	add(DoIrecv, "bctpgmq", "Irecv")
	add(DoInitSend, "bctpgmq", "Send_init Bsend_init Ssend_init Rsend_init")
	add(DoInitRecv, "bctpgmq", "Recv_init")
	add(DoStart, "q", "Start")
	add(DoStart, "na", "Startall")
	add(DoWait, "qx", "Wait")
	add(DoWait, "nax", "Waitall")
	add(DoTest, "qxx", "Test")
	add(DoTest, "naxx", "Waitany Testall")
	add(DoTest, "naxxx", "Waitsome Testany Testsome")
	add(DoFree, "q", "Request_free")
	add(DoCancel, "q", "Cancel")
	add(DoSplit, "mkkx", "Comm_split")
	add(DoDup, "mx", "Comm_dup")
	for name, arguments := range map[string]string{
		"Barrier": "m", "Bcast": "bctrm", "Reduce": "bbctxrm", "Allreduce": "bbctxm", "Scan": "bbctxm", "Exscan": "bbctxm",
		"Allgather": "bctbctm", "Alltoall": "bctbctm", "Gather": "bctbctrm", "Scatter": "bctbctrm",
		"Gatherv": "bctbvwtrm", "Scatterv": "bvwtbctrm", "Allgatherv": "bctbvwtm", "Alltoallv": "bvwtbvwtm",
		"Alltoallw": "bvwxbvwxm", "Reduce_scatter": "bbvtxm", "Reduce_scatter_block": "bbctxm",
	} {
		op, _ := timeline.OpNamed(strings.ToLower(name))
		later := "MPI_I" + strings.ToLower(name)
		calls["MPI_"+name] = Call{Name: "MPI_" + name, Action: DoCollect, Arguments: arguments, Op: op}
		calls[later] = Call{Name: later, Action: DoCollect, Arguments: arguments + "q", Op: op}
	}
	add(DoInit, "", "Init Init_thread")
	add(DoFinalize, "", "Finalize")
	return calls
}()

// Call is a call, as far as its line tells.
type Call struct {
	Action    Action
	Arguments string
	Op        timeline.Op

	Name       string
	Begin, End Time
	NoBegin    bool // the clock was not usable yet
	NoEnd      bool // or not any more
	Whole      bool // the arguments are there

	buffers  [2]uint64
	counts   [2]int64 // of send and receive, or the only one
	sizes    [2]int64 // of types
	lists    [2][]int64
	Peers    [2]int32
	Tags     [2]int32
	Comm     Comm
	Root     int32
	Request  uint64
	Requests uint64 // address of the first one
	Number   int64
	Color    int64
	Key      int64
	numLists int
}

// Comm is a communicator as a call names it.
type Comm struct {
	Handle     int64
	Rank, Size int
}

// Time is a time in picoseconds that needs more than 64 bits: microseconds since 1970 and the rest.
type Time struct {
	us int64
	ps int64
}

// Sub returns the difference of two times in picoseconds.
func (t Time) Sub(u Time) float64 {
	return float64(t.us-u.us)*1e6 + float64(t.ps-u.ps)
}

// Since returns the picoseconds since another time; false if they do not fit.
func (t Time) Since(u Time) (int64, bool) {
	us := t.us - u.us
	const most = math.MaxInt64/1_000_000 - 1
	if us > most || us < -most {
		return 0, false
	}
	return us*1_000_000 + t.ps - u.ps, true
}

// parseAllprofTime reads microseconds with or without a fraction.
func parseAllprofTime(b []byte) (t Time, ok bool) {
	whole, fraction, _ := bytes.Cut(b, []byte("."))
	us, err := strconv.ParseUint(string(whole), 10, 62)
	if err != nil {
		return t, false
	}
	t.us = int64(us)
	scale := int64(100_000)
	for _, c := range fraction {
		if c < '0' || c > '9' {
			return t, false
		}
		t.ps += int64(c-'0') * scale
		scale /= 10
	}
	return t, true
}

// Parse reads a line into a call. Calls that are not known have only their name and times.
func (c *Call) Parse(line []byte) error {
	line = bytes.TrimRight(line, "\r \t")
	name, rest, _ := bytes.Cut(line, []byte(":"))
	*c = calls[string(name)] // no allocation
	if c.Name == "" {
		c.Name = string(name)
	}
	if bytes.IndexByte(line, 0) >= 0 {
		return fmt.Errorf("%s: a byte 0: a part of the file is lost", plain.Name(c.Name))
	}
	if !bytes.HasPrefix(name, []byte("MPI_")) || len(name) > maxAllprofName || !isWord(name) {
		return fmt.Errorf("the line begins with %.40q; MPI_ is expected", name)
	}
	begin, rest, ok := bytes.Cut(rest, []byte(":"))
	if !ok {
		return fmt.Errorf("%s: the line is cut off", c.Name)
	}
	at := bytes.LastIndexByte(rest, ':')
	end := rest[at+1:]
	arguments := rest[:max(at, 0)]
	if c.Begin, ok = parseAllprofTime(begin); !ok {
		if string(begin) != "-" {
			return fmt.Errorf("%s: the start %.40q is not a time", c.Name, begin)
		}
		c.NoBegin = true
	}
	if c.End, ok = parseAllprofTime(end); !ok {
		if string(end) != "-" {
			return fmt.Errorf("%s: the end %.40q is not a time", c.Name, end)
		}
		c.NoEnd = true
	}
	if c.Arguments != "" {
		c.Whole = c.parseArguments(arguments)
	}
	return nil
}

const maxAllprofName = 100

func isWord(b []byte) bool {
	for _, c := range b {
		if c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// parseArguments reads the arguments of a known call. It reports whether they are what they should be.
func (c *Call) parseArguments(rest []byte) bool {
	more := true
	next := func() []byte {
		if !more {
			return nil
		}
		var field []byte
		field, rest, more = bytes.Cut(rest, []byte(":"))
		return field
	}
	buffers, counts, types, peers, tags := 0, 0, 0, 0, 0
	fine := true
	number := func(b []byte) int64 {
		v, err := strconv.ParseInt(string(b), 10, 64)
		if err != nil {
			fine = false
		}
		return v
	}
	address := func(b []byte) uint64 {
		v, err := strconv.ParseUint(string(b), 10, 64)
		if err != nil {
			fine = false
		}
		return v
	}
	small := func(b []byte) int32 {
		v := number(b)
		if v != int64(int32(v)) {
			fine = false
		}
		return int32(v)
	}
	for _, letter := range c.Arguments {
		f := next()
		if f == nil {
			return false
		}
		switch letter {
		case 'b':
			c.buffers[min(buffers, 1)] = address(f)
			buffers++
		case 'c':
			c.counts[min(counts, 1)] = number(f)
			counts++
		case 't':
			_, size, ok := bytes.Cut(f, []byte(","))
			size, _, _ = bytes.Cut(size, []byte(","))
			c.sizes[min(types, 1)] = number(size)
			fine = fine && ok
			types++
		case 'p':
			c.Peers[min(peers, 1)] = small(f)
			peers++
		case 'g':
			c.Tags[min(tags, 1)] = small(f)
			tags++
		case 'r':
			c.Root = small(f)
		case 'm':
			fine = c.Comm.parse(f) && fine
		case 'q':
			c.Request = address(f)
		case 'a':
			c.Requests = address(f)
		case 'n':
			c.Number = number(f)
		case 'k':
			c.Color, c.Key = c.Key, number(f)
		case 'v':
			list, ok := parseList(next())
			fine = fine && ok
			c.lists[min(c.numLists, 1)] = list
			c.numLists++
		case 'w':
			next()
		}
	}
	if counts == 1 && peers == 2 { // Sendrecv_replace
		c.counts[1], c.sizes[1] = c.counts[0], c.sizes[0]
	}
	return fine && !more && !c.impossible()
}

// impossible reports whether a call moves less than no bytes, or more than there can be. Of a collective, arguments may be without meaning.
func (c *Call) impossible() bool {
	if c.Action != DoCollect {
		return min(c.counts[0], c.counts[1], c.sizes[0], c.sizes[1], c.BytesOf(0), c.BytesOf(1)) < 0
	}
	sent, received, counts := c.Volumes()
	return min(sent, received) < 0 || len(counts) > 0 && slices.Min(counts) < 0
}

func (m *Comm) parse(b []byte) bool {
	list, ok := parseList(b)
	if !ok || len(list) != 3 || list[2] < 1 || list[2] > math.MaxInt32 || list[1] < -1 || list[1] >= list[2] {
		return false
	}
	*m = Comm{list[0], int(list[1]), int(list[2])}
	return true
}

// parseList reads numbers separated by commas.
func parseList(b []byte) ([]int64, bool) {
	var list []int64
	for field := range bytes.SplitSeq(b, []byte(",")) {
		v, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return nil, false
		}
		list = append(list, v)
	}
	return list, true
}

// BytesOf returns the bytes of send (0) or receive (1), -1 if they are impossible.
func (c *Call) BytesOf(i int) int64 { return bytesOf(c.counts[i], c.sizes[i]) }

// bytesOf is the size of a number of things, -1 if it is impossible.
func bytesOf(count, each int64) int64 {
	size := count * each
	if count < 0 || each < 0 || each != 0 && size/each != count {
		return -1
	}
	return size
}

// inPlace reports whether a collective works in place: the send buffer is the address that an MPI library
// uses for that.
func (c *Call) inPlace() bool { return c.buffers[0] == 1 || c.buffers[0] == math.MaxUint64 }

// Volumes returns the bytes of the send and of the receive buffer, and bytes by peer where they differ.
func (c *Call) Volumes() (sent, received int64, counts []int64) {
	n := int64(c.Comm.Size)
	root := int(c.Root) == c.Comm.Rank
	first, second := c.BytesOf(0), c.BytesOf(1)
	ownPart := first
	if c.inPlace() {
		ownPart = second
	}
	switch c.Op {
	case timeline.OpBcast:
		if root {
			return first, 0, nil
		}
		return 0, first, nil
	case timeline.OpReduce:
		if root {
			return first, first, nil
		}
		return first, 0, nil
	case timeline.OpAllreduce, timeline.OpScan, timeline.OpExscan:
		return first, first, nil
	case timeline.OpReduceScatterBlock:
		return bytesOf(first, n), first, nil
	case timeline.OpGather:
		if !root {
			return first, 0, nil
		}
		return ownPart, bytesOf(second, n), nil
	case timeline.OpAllgather:
		return ownPart, bytesOf(second, n), nil
	case timeline.OpAlltoall:
		return bytesOf(ownPart, n), bytesOf(second, n), nil
	case timeline.OpScatter:
		if !root {
			return 0, second, nil
		}
		return bytesOf(first, n), second, nil
	}
	return c.listVolumes(first, root)
}

// listVolumes is volumes for operations with lists of counts.
func (c *Call) listVolumes(first int64, root bool) (sent, received int64, counts []int64) {
	switch c.Op {
	case timeline.OpGatherv:
		if root {
			counts, received = scaled(c.lists[0], c.sizes[1])
		}
		return first, received, counts
	case timeline.OpScatterv:
		received = bytesOf(c.counts[0], c.sizes[1])
		if root {
			counts, sent = scaled(c.lists[0], c.sizes[0])
		}
		return sent, received, counts
	case timeline.OpAllgatherv:
		counts, received = scaled(c.lists[0], c.sizes[1])
		return first, received, counts
	case timeline.OpReduceScatter:
		counts, sent = scaled(c.lists[0], c.sizes[0])
		if c.Comm.Rank >= 0 && c.Comm.Rank < len(counts) {
			received = counts[c.Comm.Rank]
		}
		return sent, received, counts
	case timeline.OpAlltoallv:
		to, sent := scaled(c.lists[0], c.sizes[0])
		from, received := scaled(c.lists[1], c.sizes[1])
		if c.inPlace() {
			to, sent = from, received
		}
		return sent, received, slices.Concat(to, from)
	}
	return 0, 0, nil
}

// scaled returns counts in bytes, and their sum.
func scaled(counts []int64, size int64) (list []int64, sum int64) {
	list = make([]int64, len(counts))
	for i, n := range counts {
		list[i] = bytesOf(n, size)
		sum += list[i]
	}
	return list, sum
}
