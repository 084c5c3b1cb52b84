package device

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/timeline"
	"slackline/model/unit"
)

func TestNames(t *testing.T) {
	for name, want := range map[string]timeline.Op{
		"all_reduce": timeline.OpAllreduce, "_AllGather": timeline.OpAllgather, "allgather_into_tensor": timeline.OpAllgather,
		"reduce_scatter_tensor": timeline.OpReduceScatter, "AllToAllv": timeline.OpAlltoall, "Broadcast": timeline.OpBcast,
		"reduce": timeline.OpReduce, "gather": timeline.OpGather, "scatter": timeline.OpScatter, "barrier": timeline.OpBarrier,
	} {
		if op, ok := Operation(OperationName(name)); !ok || op != want {
			t.Errorf("%s = %v, %v; want %v", name, op, ok, want)
		}
	}
	if op, ok := Operation(OperationName("send")); ok {
		t.Errorf("send is the collective %v", op)
	}
	for kernel, want := range map[string]string{
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL": "allreduce", "ncclKernel_ReduceScatter_Sum": "reducescatter",
		"ncclDevKernel_Reduce_Sum_f32": "reduce", "rcclDevKernel_Generic": "", "ncclDevKernel_SendRecv": "",
	} {
		if got := KernelOperation(kernel); got != want || !IsCommunication(kernel) {
			t.Errorf("%s: operation %q, communicates %v; want %q, true", kernel, got, IsCommunication(kernel), want)
		}
	}
	if IsCommunication("sgemm_nccl") {
		t.Error("a kernel that has nccl somewhere in its name communicates")
	}
}

// devices has a stream for each rank, whose k-th activity is from 10 k to 10 k + 5, moved by shift.
func devices(ranks, activities int, shift ...unit.Duration) *timeline.Devices {
	d := &timeline.Devices{}
	for r := range ranks {
		var s timeline.Stream
		for k := range activities {
			begin := unit.Duration(10 * k)
			if r < len(shift) {
				begin += shift[r]
			}
			s.Begin, s.End = append(s.Begin, begin), append(s.End, begin+5)
		}
		d.Streams = append(d.Streams, s)
	}
	return d
}

// op is the operation of the k-th kernel of a rank in a group of two.
func op(rank, k int32, name string, sequence int64) Op {
	return Op{Rank: rank, Stream: rank, Act: k, Name: name, Group: "g", Ranks: []int32{0, 1}, Root: -1, Peer: 1 - rank, Sequence: sequence,
		Sent: 8, Received: 8, Launched: unit.Duration(k), Takes: true}
}

// match returns the collectives, each with the kernels of its members, and the warnings.
func match(d *timeline.Devices, has func(int32) bool, ops ...Op) (found, warnings []string) {
	Match(d, ops, has, func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) })
	for i := range d.Collectives {
		c := &d.Collectives[i]
		text := c.Op.String()
		if c.Root >= 0 {
			text += fmt.Sprintf(" root %d", c.Root)
		}
		for _, m := range d.Members[c.First:][:d.Comms[c.Comm].Size()] {
			text += fmt.Sprintf(" %d.%d", m.Location, m.Issue)
		}
		found = append(found, text)
	}
	return found, warnings
}

func all(int32) bool { return true }

func TestMatchCollectives(t *testing.T) {
	late, rooted := op(1, 0, "allreduce", -1), op(0, 1, "broadcast", 1)
	late.Takes, rooted.Root = false, 1
	other := op(1, 0, "allreduce", 0)
	other.Group = "h"
	for name, tc := range map[string]struct {
		ops  []Op
		want []string
		warn string
	}{
		"by number": {
			[]Op{op(0, 0, "allreduce", 4), op(0, 1, "allgather", 5), op(1, 0, "allgather", 5), op(1, 1, "allreduce", 4), op(1, 2, "reduce", 6)},
			[]string{"allreduce 0.0 1.1", "allgather 0.1 1.0"}, "",
		},
		"by count": {
			[]Op{op(0, 1, "allgather", -1), op(0, 0, "allreduce", -1), op(1, 0, "allreduce", 3), op(1, 1, "allgather", 4), op(1, 2, "barrier", 5)},
			[]string{"allreduce 0.0 1.0", "allgather 0.1 1.1"}, "",
		},
		"one does not take part": {
			[]Op{op(0, 0, "allreduce", -1), late, op(1, 1, "allreduce", -1)}, []string{"allreduce 0.0 1.1"}, "",
		},
		"they disagree": {
			[]Op{op(0, 0, "allreduce", -1), op(1, 0, "allgather", -1)}, nil, `group "g": its members do not agree`,
		},
		"root":            {[]Op{rooted, op(1, 0, "broadcast", 1)}, []string{"bcast root 1 0.1 1.0"}, ""},
		"no root":         {[]Op{op(0, 0, "broadcast", 1), op(1, 0, "broadcast", 1)}, nil, ""},
		"no operation":    {[]Op{op(0, 0, "coalesced", 1), op(1, 0, "coalesced", 1)}, nil, ""},
		"different group": {[]Op{op(0, 0, "allreduce", 0), other}, nil, ""},
		"one member only": {[]Op{op(0, 0, "allreduce", 0)}, nil, ""},
	} {
		found, warnings := match(devices(2, 3), all, tc.ops...)
		if diff := cmp.Diff(tc.want, found); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if text := strings.Join(warnings, "\n"); !strings.Contains(text, tc.warn) || (tc.warn == "") != (text == "") {
			t.Errorf("%s: warnings %q, want %q", name, text, tc.warn)
		}
	}
}

// A group of which one member left a trace is none.
func TestMatchOneTrace(t *testing.T) {
	d := devices(2, 1)
	found, _ := match(d, func(r int32) bool { return r == 0 }, op(0, 0, "allreduce", 1), op(1, 0, "allreduce", 1))
	if len(found) > 0 || len(d.Comms) > 0 {
		t.Errorf("collectives %v, communicators %v; want none", found, d.Comms)
	}
}

// The k-th send belongs with the k-th receive; what is left has no partner.
func TestMatchMessages(t *testing.T) {
	d := devices(2, 3)
	match(d, all, op(0, 1, Send, -1), op(0, 0, Send, -1), op(0, 2, Send, -1), op(1, 0, Recv, -1), op(1, 2, Recv, -1), op(1, 1, Send, -1))
	var got []string
	for _, m := range d.Messages {
		got = append(got, fmt.Sprintf("%d.%d to %d.%d, %d bytes from %d to %d", m.From, m.Send, m.To, m.Recv, m.Size, m.Sent, m.Received))
	}
	want := []string{"0.0 to 1.0, 8 bytes from 0 to 5", "0.1 to 1.2, 8 bytes from 10 to 25"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

// Clocks move only where a collective of all with all ended before another member began, and then its ends meet.
func TestClocks(t *testing.T) {
	for name, tc := range map[string]struct {
		op    string
		shift unit.Duration
		want  []unit.Duration
	}{
		"overlap":  {"allreduce", 4, nil},
		"too late": {"allreduce", 40, []unit.Duration{0, -40}},
		"early":    {"barrier", -40, []unit.Duration{0, 40}},
		"rooted":   {"broadcast", 40, nil},
	} {
		d := devices(2, 2, 0, tc.shift)
		var ops []Op
		for k := range int32(2) {
			for rank := range int32(2) {
				o := op(rank, k, tc.op, int64(k))
				o.Root = 0
				ops = append(ops, o)
			}
		}
		if found, _ := match(d, all, ops...); len(found) != 2 {
			t.Fatalf("%s: collectives %v, want 2", name, found)
		}
		if diff := cmp.Diff(tc.want, Clocks(d, 2)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
