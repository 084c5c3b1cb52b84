package allprof

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/timeline"
)

func parsed(t *testing.T, line string) *Call {
	t.Helper()
	var c Call
	if err := c.Parse([]byte(line)); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return &c
}

// What point-to-point calls and calls on requests tell.
func TestParse(t *testing.T) {
	c := parsed(t, "MPI_Send:1000.5:4096:10:7,8,3:5:42:0,1,4:1002.25\r")
	if c.Action != DoSend || !c.Whole || c.Peers[0] != 5 || c.Tags[0] != 42 || c.Comm != (Comm{0, 1, 4}) || c.BytesOf(0) != 80 {
		t.Errorf("send = %+v", c)
	}
	for _, line := range []string{"MPI_Send:1:4096:-10:7,8,3:5:42:0,1,4:2", "MPI_Send:1:4096:10:7,-8,3:5:42:0,1,4:2"} {
		if bad := parsed(t, line); bad.Whole {
			t.Errorf("%s: a message of less than no bytes is whole", line)
		}
	}
	for _, line := range []string{
		"MPI_Allreduce:1:5:6:-2:0,8:7:0,1,4:2", "MPI_Bcast:1:5:2:0,-8:0:0,1,4:2", "MPI_Alltoall:1:5:2:0,8:6:-2:0,8:0,1,4:2",
		"MPI_Gather:1:5:2:0,8:6:-2:0,8:1:0,1,4:2", "MPI_Allgatherv:1:5:2:0,8:6:9:1,-2,3,4:9:0,1,2,3:0,8:0,1,4:2",
		"MPI_Allreduce:1:5:6:9223372036854775807:0,8:7:0,1,4:2",
	} {
		if bad := parsed(t, line); bad.Whole {
			t.Errorf("%s: a collective of an impossible size is whole", line)
		}
	}
	if c := parsed(t, "MPI_Gather:1:5:2:0,8:6:-2:0,-8:0:0,1,4:2"); !c.Whole { // only at the root is there something to receive
		t.Errorf("gather = %+v; its receive arguments have no meaning", c)
	}
	if d, ok := c.End.Since(c.Begin); !ok || d != 1_750_000 {
		t.Errorf("it takes %d ps, %v; want 1750000", d, ok)
	}
	c = parsed(t, "MPI_Sendrecv:1:1:2:0,4:1:11:2:3:0,8:2:12:0,0,4:9:2")
	if c.Action != DoSendrecv || c.BytesOf(0) != 8 || c.BytesOf(1) != 24 || c.Peers != [2]int32{1, 2} || c.Tags != [2]int32{11, 12} {
		t.Errorf("sendrecv = %+v", c)
	}
	c = parsed(t, "MPI_Sendrecv_replace:1:1:2:0,4:1:11:2:12:0,0,4:9:2")
	if c.BytesOf(0) != 8 || c.BytesOf(1) != 8 || c.Peers != [2]int32{1, 2} {
		t.Errorf("sendrecv_replace = %+v", c)
	}
	c = parsed(t, "MPI_Irecv:1:1:2:0,4:-2:-1:0,0,4:18446744073709551615:2")
	if c.Action != DoIrecv || c.Request != 1<<64-1 || c.Peers[0] != -2 || c.Tags[0] != -1 {
		t.Errorf("irecv = %+v", c)
	}
	if c = parsed(t, "MPI_Waitall:1:3:140000:0:2"); c.Action != DoWait || c.Number != 3 || c.Requests != 140000 {
		t.Errorf("waitall = %+v", c)
	}
	if c = parsed(t, "MPI_Comm_split:1:0,1,4:1:7:5:2"); c.Action != DoSplit || c.Color != 1 || c.Key != 7 {
		t.Errorf("split = %+v", c)
	}
	if c = parsed(t, "MPI_Ibarrier:1:0,1,4:33:2"); c.Action != DoCollect || c.Op != timeline.OpBarrier || c.Request != 33 || !c.Whole {
		t.Errorf("ibarrier = %+v", c)
	}
}

// Calls that are not known, and arguments that are not as they should be, leave name and times.
func TestParseUnknown(t *testing.T) {
	if c := parsed(t, "MPI_Whatever:3:a:b:c:4"); c.Action != DoNothing || c.Whole || c.Name != "MPI_Whatever" {
		t.Errorf("an unknown call = %+v", c)
	}
	for _, line := range []string{
		"MPI_Send:1:4096:10:7,8:5:42:2",                     // no communicator
		"MPI_Send:1:4096:10:7,8:5:42:0,4,4:2",               // rank 4 of 4
		"MPI_Send:1:4096:10:7,8:5:42:0,1,4:9:2",             // one field too many
		"MPI_Send:1:4096:ten:7,8:5:42:0,1,4:2",              // not a number
		"MPI_Send:1:4096:10:7:5:42:0,1,4:2",                 // a type without size
		"MPI_Send:1:4096:10:7,8:99999999999:42:0,1,4:2",     // not a rank
		"MPI_Allgatherv:1:1:1:0,4:1:77:1,x:9:8:0,4:0,0,2:2", // counts
	} {
		if c := parsed(t, line); c.Whole || c.Action == DoNothing {
			t.Errorf("%s: whole %v, action %d; want a known call without its arguments", line, c.Whole, c.Action)
		}
	}
	if c := parsed(t, "MPI_Init:-:-:4.5"); !c.NoBegin || c.NoEnd {
		t.Errorf("before the clock: no start %v, no end %v", c.NoBegin, c.NoEnd)
	}
	if c := parsed(t, "MPI_Finalize:4.5:-"); c.NoBegin || !c.NoEnd {
		t.Errorf("after the clock: no start %v, no end %v", c.NoBegin, c.NoEnd)
	}
}

func TestParseErrors(t *testing.T) {
	for line, want := range map[string]string{
		"# a comment":                       "MPI_ is expected",
		"MPI_A b:1:2":                       "MPI_ is expected",
		"MPI_" + strings.Repeat("a", 200):   "MPI_ is expected",
		"MPI_Init:-:1\x00\x00:1:2":          "MPI_Init: a byte 0: a part of the file is lost",
		"MPI_Send":                          "the line is cut off",
		"MPI_Send:1":                        "the line is cut off",
		"MPI_Send:1x:2":                     `the start "1x" is not a time`,
		"MPI_Send:1.2y:2":                   `the start "1.2y" is not a time`,
		"MPI_Send:1:late":                   `the end "late" is not a time`,
		"MPI_Send:99999999999999999999:2":   "is not a time",
		"MPI_Barrier:1:0,0,2:-2":            `the end "-2" is not a time`,
		"MPI_Barrier:" + "\x1b[31m" + ":5:": `the start "\x1b[31m" is not a time`,
	} {
		if err := new(Call).Parse([]byte(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", line, err, want)
		}
	}
}

// Bytes that members of collectives send and receive; rank 1 of 4, so that root 1 is this one.
func TestVolumes(t *testing.T) {
	const comm = "0,1,4"
	type volume struct {
		Sent, Received int64
		Counts         []int64
	}
	for line, want := range map[string]volume{
		"MPI_Barrier:1:" + comm + ":2":                               {},
		"MPI_Bcast:1:5:10:0,8:1:" + comm + ":2":                      {80, 0, nil},
		"MPI_Bcast:1:5:10:0,8:0:" + comm + ":2":                      {0, 80, nil},
		"MPI_Reduce:1:5:6:10:0,8:3:1:" + comm + ":2":                 {80, 80, nil},
		"MPI_Reduce:1:5:6:10:0,8:3:2:" + comm + ":2":                 {80, 0, nil},
		"MPI_Allreduce:1:5:6:10:0,8:3:" + comm + ":2":                {80, 80, nil},
		"MPI_Reduce_scatter_block:1:5:6:10:0,8:3:" + comm + ":2":     {320, 80, nil},
		"MPI_Gather:1:5:10:0,8:6:10:0,8:1:" + comm + ":2":            {80, 320, nil},
		"MPI_Gather:1:5:10:0,8:6:10:0,8:0:" + comm + ":2":            {80, 0, nil},
		"MPI_Gather:1:1:0:0,8:6:10:0,8:1:" + comm + ":2":             {80, 320, nil}, // in place
		"MPI_Scatter:1:5:10:0,8:6:10:0,4:1:" + comm + ":2":           {320, 40, nil},
		"MPI_Scatter:1:5:10:0,8:6:10:0,4:0:" + comm + ":2":           {0, 40, nil},
		"MPI_Allgather:1:5:10:0,8:6:10:0,8:" + comm + ":2":           {80, 320, nil},
		"MPI_Alltoall:1:5:10:0,8:6:10:0,8:" + comm + ":2":            {320, 320, nil},
		"MPI_Gatherv:1:5:3:0,8:6:7:1,2,3,4:0:0:0,8:1:" + comm + ":2": {24, 80, []int64{8, 16, 24, 32}},
		"MPI_Gatherv:1:5:3:0,8:6:7:1,2,3,4:0:0:0,8:0:" + comm + ":2": {24, 0, nil},
		"MPI_Allgatherv:1:5:2:0,8:6:7:1,2,3,4:0:0:0,8:" + comm + ":2": {
			16, 80, []int64{8, 16, 24, 32}},
		"MPI_Reduce_scatter:1:5:6:7:1,2,3,4:0,8:3:" + comm + ":2": {80, 16, []int64{8, 16, 24, 32}},
	} {
		c := parsed(t, line)
		if !c.Whole {
			t.Errorf("%s: the arguments are not understood", line)
		}
		sent, received, counts := c.Volumes()
		if diff := cmp.Diff(want, volume{sent, received, counts}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

// Times are kept to the picosecond, and differences that do not fit are reported.
func TestTime(t *testing.T) {
	a, _ := parseAllprofTime([]byte("1234567890123456.000001"))
	b, ok := parseAllprofTime([]byte("1234567890123457"))
	if d, fits := b.Since(a); !ok || !fits || d != 999_999 || b.Sub(a) != 999_999 {
		t.Errorf("difference = %d ps, %v (%g); want 999999", d, fits, b.Sub(a))
	}
	if d, fits := a.Since(b); !fits || d != -999_999 {
		t.Errorf("difference = %d ps, %v; want -999999", d, fits)
	}
	if _, fits := a.Since(Time{}); fits {
		t.Error("1234567890 s fit into 64 bits of picoseconds")
	}
}
