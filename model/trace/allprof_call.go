package trace

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"slackline/model/timeline"
)

// allprofAction is what a call does.
type allprofAction uint8

const (
	doNothing  allprofAction = iota
	doSend                   // blocking, also together with a receive
	doRecv                   //
	doSendrecv               //
	doIsend                  //
	doIrecv                  //
	doInitSend               // persistent
	doInitRecv               //
	doStart                  //
	doWait                   //
	doTest                   // completes something, perhaps
	doFree                   //
	doCancel                 //
	doCollect                //
	doSplit                  //
	doDup                    //
	doInit                   // begins the time of the rank
	doFinalize               //
)

// allprofCalls says of the calls that matter what they do and what their arguments are, one letter
// each: buffer b, count c, type t, peer p, tag g, communicator m, root r, request q, number n and address a of
// several requests, counts v (two fields), displacements w (two fields), color and key k, anything else x.
var allprofCalls = func() map[string]allprofCall {
	calls := map[string]allprofCall{}
	add := func(action allprofAction, arguments, names string) {
		for name := range strings.FieldsSeq(names) {
			calls["MPI_"+name] = allprofCall{name: "MPI_" + name, action: action, arguments: arguments}
		}
	}
	add(doSend, "bctpgm", "Send Bsend Ssend Rsend")
	add(doRecv, "bctpgmx", "Recv")
	add(doSendrecv, "bctpgbctpgmx", "Sendrecv")
	add(doSendrecv, "bctpgpgmx", "Sendrecv_replace")
	add(doIsend, "bctpgmq", "Isend Ibsend Issend Irsend")
	add(doIrecv, "bctpgmq", "Irecv")
	add(doInitSend, "bctpgmq", "Send_init Bsend_init Ssend_init Rsend_init")
	add(doInitRecv, "bctpgmq", "Recv_init")
	add(doStart, "q", "Start")
	add(doStart, "na", "Startall")
	add(doWait, "qx", "Wait")
	add(doWait, "nax", "Waitall")
	add(doTest, "qxx", "Test")
	add(doTest, "naxx", "Waitany Testall")
	add(doTest, "naxxx", "Waitsome Testany Testsome")
	add(doFree, "q", "Request_free")
	add(doCancel, "q", "Cancel")
	add(doSplit, "mkkx", "Comm_split")
	add(doDup, "mx", "Comm_dup")
	for name, arguments := range map[string]string{
		"Barrier": "m", "Bcast": "bctrm", "Reduce": "bbctxrm", "Allreduce": "bbctxm", "Scan": "bbctxm", "Exscan": "bbctxm",
		"Allgather": "bctbctm", "Alltoall": "bctbctm", "Gather": "bctbctrm", "Scatter": "bctbctrm",
		"Gatherv": "bctbvwtrm", "Scatterv": "bvwtbctrm", "Allgatherv": "bctbvwtm", "Alltoallv": "bvwtbvwtm",
		"Alltoallw": "bvwxbvwxm", "Reduce_scatter": "bbvtxm", "Reduce_scatter_block": "bbctxm",
	} {
		op, _ := timeline.OpNamed(strings.ToLower(name))
		later := "MPI_I" + strings.ToLower(name)
		calls["MPI_"+name] = allprofCall{name: "MPI_" + name, action: doCollect, arguments: arguments, op: op}
		calls[later] = allprofCall{name: later, action: doCollect, arguments: arguments + "q", op: op}
	}
	add(doInit, "", "Init Init_thread")
	add(doFinalize, "", "Finalize")
	return calls
}()

// allprofCall is a call, as far as its line tells.
type allprofCall struct {
	action    allprofAction
	arguments string
	op        timeline.Op

	name       string
	begin, end allprofTime
	noBegin    bool // the clock was not usable yet
	noEnd      bool // or not any more
	whole      bool // the arguments are there

	buffers  [2]uint64
	counts   [2]int64 // of send and receive, or the only one
	sizes    [2]int64 // of types
	lists    [2][]int64
	peers    [2]int32
	tags     [2]int32
	comm     allprofComm
	root     int32
	request  uint64
	requests uint64 // address of the first one
	number   int64
	color    int64
	key      int64
	numLists int
}

// allprofComm is a communicator as a call names it.
type allprofComm struct {
	handle     int64
	rank, size int
}

// allprofTime is a time in picoseconds that needs more than 64 bits: microseconds since 1970 and the rest.
type allprofTime struct {
	us int64
	ps int64
}

// sub returns the difference of two times in picoseconds.
func (t allprofTime) sub(u allprofTime) float64 {
	return float64(t.us-u.us)*1e6 + float64(t.ps-u.ps)
}

// since returns the picoseconds since another time; false if they do not fit.
func (t allprofTime) since(u allprofTime) (int64, bool) {
	us := t.us - u.us
	const most = math.MaxInt64/1_000_000 - 1
	if us > most || us < -most {
		return 0, false
	}
	return us*1_000_000 + t.ps - u.ps, true
}

// parseAllprofTime reads microseconds with or without a fraction.
func parseAllprofTime(b []byte) (t allprofTime, ok bool) {
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

// parse reads a line into a call. Calls that are not known have only their name and times.
func (c *allprofCall) parse(line []byte) error {
	line = bytes.TrimRight(line, "\r \t")
	name, rest, _ := bytes.Cut(line, []byte(":"))
	*c = allprofCalls[string(name)] // no allocation
	if c.name == "" {
		c.name = string(name)
	}
	if !bytes.HasPrefix(name, []byte("MPI_")) || len(name) > maxAllprofName || !isWord(name) {
		return fmt.Errorf("the line begins with %.40q; MPI_ is expected", name)
	}
	begin, rest, ok := bytes.Cut(rest, []byte(":"))
	if !ok {
		return fmt.Errorf("%s: the line is cut off", c.name)
	}
	at := bytes.LastIndexByte(rest, ':')
	end := rest[at+1:]
	arguments := rest[:max(at, 0)]
	if c.begin, ok = parseAllprofTime(begin); !ok {
		if string(begin) != "-" {
			return fmt.Errorf("%s: the start %.40q is not a time", c.name, begin)
		}
		c.noBegin = true
	}
	if c.end, ok = parseAllprofTime(end); !ok {
		if string(end) != "-" {
			return fmt.Errorf("%s: the end %.40q is not a time", c.name, end)
		}
		c.noEnd = true
	}
	if c.arguments != "" {
		c.whole = c.parseArguments(arguments)
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
func (c *allprofCall) parseArguments(rest []byte) bool {
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
	for _, letter := range c.arguments {
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
			c.peers[min(peers, 1)] = small(f)
			peers++
		case 'g':
			c.tags[min(tags, 1)] = small(f)
			tags++
		case 'r':
			c.root = small(f)
		case 'm':
			fine = c.comm.parse(f) && fine
		case 'q':
			c.request = address(f)
		case 'a':
			c.requests = address(f)
		case 'n':
			c.number = number(f)
		case 'k':
			c.color, c.key = c.key, number(f)
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
	return fine && !more
}

func (m *allprofComm) parse(b []byte) bool {
	list, ok := parseList(b)
	if !ok || len(list) != 3 || list[2] < 1 || list[2] > math.MaxInt32 || list[1] < -1 || list[1] >= list[2] {
		return false
	}
	*m = allprofComm{list[0], int(list[1]), int(list[2])}
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

// bytesOf returns the bytes of send (0) or receive (1).
func (c *allprofCall) bytesOf(i int) int64 {
	size := c.counts[i] * c.sizes[i]
	if c.counts[i] < 0 || c.sizes[i] < 0 || c.sizes[i] != 0 && size/c.sizes[i] != c.counts[i] {
		return 0
	}
	return size
}

// inPlace reports whether a collective works in place: the send buffer is the address that an MPI library
// uses for that.
func (c *allprofCall) inPlace() bool { return c.buffers[0] == 1 || c.buffers[0] == math.MaxUint64 }
