package paraver

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	twoTasks = "#Paraver (1/2/03 at 4:5):900_ns:1(2):1:2(1:1,1:1),2\nc:1:1:2:1:2\nc:1:2:1:2\n"
	mpiNames = "EVENT_TYPE\n9 50000001 MPI Point-to-point\nVALUES\n1 MPI_Send\n2 MPI_Recv\n3 MPI_Isend\n4 MPI_Irecv\n" +
		"5 MPI_Wait\n6 MPI_Waitall\n\nEVENT_TYPE\n9 50000002 MPI Collective\nVALUES\n7 MPI_Bcast\n8 MPI_Barrier\n\n" +
		"EVENT_TYPE\n0 60000019 User function\nVALUES\n1 solve\n2 main\n"
)

// call is an MPI point-to-point call of a task, from when to when.
func call(task, value, from, to int) string {
	return fmt.Sprintf("2:1:1:%d:1:%d:50000001:%d\n2:1:1:%d:1:%d:50000001:0\n", task, from, value, task, to)
}

func message(from, sent, to, post, recv int) string {
	return fmt.Sprintf("3:1:1:%d:1:%d:%d:1:1:%d:1:%d:%d:64:9\n", from, sent, sent, to, post, recv)
}

func read(t *testing.T, body string) *Trace {
	t.Helper()
	tr, err := Read(strings.NewReader(twoTasks+body), strings.NewReader(mpiNames), nil, "x.prv", true, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// done lists what the calls of a task do with messages, as they do it.
func done(tr *Trace, task int) (list []string) {
	t := tr.Threads[task]
	at := 0
	for _, m := range t.Marks {
		if m.What == Sampled {
			continue
		}
		ends := m.What == Ends
		at = t.Parts(at, m.Index, ends, func(p Part) {
			what := []string{"sends", "starts to send", "posts", "ends the send of", "receives", "receives at once"}[p.What]
			list = append(list, fmt.Sprintf("%s at %d %s %d", tr.Names[t.Calls[m.Index].Name], m.Time/1000, what, p.Message))
		})
	}
	return list
}

// TestMessages: which call sends, posts, receives and completes a message, by the times of its record.
func TestMessages(t *testing.T) {
	for _, tc := range []struct {
		name, body string
		want       [2][]string
	}{
		{
			"blocking", call(1, 1, 100, 120) + call(2, 2, 90, 150) + message(1, 100, 2, 90, 150),
			[2][]string{{"MPI_Send at 100 sends 0"}, {"MPI_Recv at 150 receives at once 0"}},
		},
		{
			"non-blocking", call(1, 3, 100, 110) + call(1, 5, 200, 210) + call(2, 4, 50, 60) + call(2, 5, 150, 180) + message(1, 100, 2, 50, 180),
			[2][]string{
				{"MPI_Isend at 100 starts to send 0", "MPI_Wait at 210 ends the send of 0"},
				{"MPI_Irecv at 50 posts 0", "MPI_Wait at 180 receives 0"},
			},
		},
		{ // a wait that receives does not end a send, the next one does; of two sends the oldest
			"waits in turn", call(1, 3, 100, 110) + call(1, 4, 120, 130) + call(1, 3, 140, 150) + call(1, 5, 200, 210) + call(1, 5, 220, 230) +
				call(2, 1, 160, 170) + call(2, 2, 180, 190) + call(2, 2, 191, 199) +
				message(1, 100, 2, 180, 190) + message(2, 160, 1, 120, 210) + message(1, 140, 2, 191, 199),
			[2][]string{
				{
					"MPI_Isend at 100 starts to send 0", "MPI_Irecv at 120 posts 1", "MPI_Isend at 140 starts to send 2",
					"MPI_Wait at 210 receives 1", "MPI_Wait at 230 ends the send of 0",
				},
				{"MPI_Send at 160 sends 1", "MPI_Recv at 190 receives at once 0", "MPI_Recv at 199 receives at once 2"},
			},
		},
		{
			"all at once", call(1, 3, 100, 110) + call(1, 3, 120, 130) + call(1, 6, 200, 210) + call(2, 2, 100, 140) + call(2, 2, 150, 160) +
				message(1, 100, 2, 100, 140) + message(1, 120, 2, 150, 160),
			[2][]string{
				{
					"MPI_Isend at 100 starts to send 0", "MPI_Isend at 120 starts to send 1", "MPI_Waitall at 210 ends the send of 0",
					"MPI_Waitall at 210 ends the send of 1",
				},
				{"MPI_Recv at 140 receives at once 0", "MPI_Recv at 160 receives at once 1"},
			},
		},
		{ // where calls touch, a message begins in the later one and ends in the earlier one
			"calls that touch", call(1, 1, 100, 120) + call(1, 1, 120, 140) + call(2, 2, 100, 130) + call(2, 2, 130, 150) +
				message(1, 100, 2, 100, 130) + message(1, 120, 2, 130, 150),
			[2][]string{
				{"MPI_Send at 100 sends 0", "MPI_Send at 120 sends 1"},
				{"MPI_Recv at 130 receives at once 0", "MPI_Recv at 150 receives at once 1"},
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tr := read(t, tc.body)
			if diff := cmp.Diff(tc.want, [2][]string{done(tr, 0), done(tr, 1)}); diff != "" || len(tr.Warnings) > 0 {
				t.Errorf("warnings %q; (-want +got):\n%s", tr.Warnings, diff)
			}
		})
	}
}

// TestLostMessages: a message outside of calls of MPI is left out; one that overtakes another, or whose line is missing, is reported.
func TestLostMessages(t *testing.T) {
	calls := call(1, 1, 100, 110) + call(1, 1, 120, 130) + call(2, 2, 100, 150) + call(2, 2, 160, 180)
	for body, want := range map[string]string{
		message(1, 100, 2, 100, 150) + message(1, 115, 2, 160, 180): "x.prv: 1 messages begin or end outside of MPI calls; they are left out",
		message(1, 100, 2, 100, 155):                                "x.prv: 1 messages begin or end outside of MPI calls; they are left out",
		message(1, 100, 2, 100, 150):                                "x.prv: 2 calls that send or receive have no message",
		strings.Repeat(message(1, 120, 2, 160, 180), 2) + message(1, 100, 2, 100, 150): "x.prv: 1 messages have the same line (3:) as another, " +
			"the first of task 1 at 120: they count once more",
		message(1, 100, 2, 160, 180) + message(1, 120, 2, 100, 150): "x.prv: 1 messages overtake others with the same tag",
	} {
		tr := read(t, calls+body)
		if len(tr.Warnings) == 0 || !strings.HasPrefix(tr.Warnings[0], want) {
			t.Errorf("%s: warnings %q, want %q", body, tr.Warnings, want)
		}
	}
	if tr := read(t, calls+message(1, 100, 2, 100, 150)+message(1, 120, 2, 160, 180)); len(tr.Warnings) > 0 {
		t.Errorf("two messages in order: %q", tr.Warnings)
	}
}

// TestCollectives: the communicator, the number in it, the bytes, and the root, which only the root itself names.
func TestCollectives(t *testing.T) {
	event := func(task, from, to int, comm int, more string) string {
		return fmt.Sprintf("2:1:1:%d:1:%d:50000002:7:50100001:32:50100002:16:50100004:%d%s\n2:1:1:%d:1:%d:50000002:0\n",
			task, from, comm, more, task, to)
	}
	tr := read(t, event(1, 100, 110, 1, ":50100003:0")+event(2, 101, 111, 1, ":50100003:1")+event(2, 120, 130, 2, ":50100003:1")+
		event(1, 140, 150, 1, ":50100003:1")+event(2, 140, 150, 1, "")+event(1, 160, 170, 7, ""))
	var got []string
	for task, th := range tr.Threads {
		for i := range th.Calls {
			if c := &th.Calls[i]; c.Comm >= 0 {
				got = append(got, fmt.Sprint(task, " at ", c.Begin/1000, ": ", tr.Names[c.Name], " in ", tr.Comms[c.Comm], " root ", tr.Root(c),
					" ", c.Sent, " ", c.Received))
			}
		}
	}
	want := []string{
		"0 at 100: MPI_Bcast in [0 1] root 1 32 16", "0 at 140: MPI_Bcast in [0 1] root 0 32 16",
		"1 at 101: MPI_Bcast in [0 1] root 1 32 16", "1 at 120: MPI_Bcast in [1] root 0 32 16", "1 at 140: MPI_Bcast in [0 1] root 0 32 16",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCalls: functions and calls of MPI are nested; one that ends first ends what is innermost, which is counted.
func TestCalls(t *testing.T) {
	at := func(time int, pairs string) string { return fmt.Sprintf("2:1:1:1:1:%d:%s\n", time, pairs) }
	alone := func(n int) string { return fmt.Sprintf("x.prv: %d calls that send or receive have no message", n) }
	for _, tc := range []struct {
		name, body, want, warning string
	}{
		{
			"nested", at(10, "60000019:2") + at(20, "60000019:1") + at(30, "50000001:1") + at(40, "50000001:0") +
				at(50, "60000019:0") + at(60, "60000019:0"),
			"application 10-60, main 10-60, solve 20-50, MPI_Send 30-40", alone(1),
		},
		{ // what ends, ends before something begins at the same time
			"one after the other", at(10, "50000001:1") + at(20, "50000001:2:50000001:0") + at(30, "50000001:0"),
			"application 10-30, MPI_Send 10-20, MPI_Recv 20-30", alone(2),
		},
		{
			"began before the trace", at(10, "50000001:0") + at(20, "50000001:1") + at(30, "50000001:0"), "application 10-30, MPI_Send 20-30",
			alone(1),
		},
		{
			"torn", at(10, "60000019:1") + at(20, "50000001:1") + at(30, "60000019:0") + at(40, "50000001:0"),
			"application 10-40, solve 10-40, MPI_Send 20-30", "x.prv: 2 calls end where none or another one is open",
		},
		{
			"MPI inside of MPI", at(10, "50000001:1") + at(20, "50000001:2") + at(30, "50000001:0") + at(40, "50000001:0"),
			"application 10-40, MPI_Send 10-40, MPI_Recv 20-30", "x.prv: 1 calls end where none or another one is open, or begin in one of MPI",
		},
		{
			"without a name", at(10, "50000001:77") + at(20, "50000001:0"), "application 10-20, MPI call 77 of type 50000001 10-20",
			"x.prv: 1 MPI calls have no name in the .pcf file",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tr := read(t, tc.body)
			var calls []string
			for _, c := range tr.Threads[0].Calls {
				calls = append(calls, fmt.Sprintf("%s %d-%d", tr.Names[c.Name], c.Begin/1000, c.End/1000))
			}
			if got := strings.Join(calls, ", "); got != tc.want {
				t.Errorf("calls %s, want %s", got, tc.want)
			}
			if got := strings.Join(tr.Warnings, "; "); !strings.HasPrefix(got, tc.warning) || (got == "") != (tc.warning == "") {
				t.Errorf("warnings %q, want %q", got, tc.warning)
			}
		})
	}
}

// TestDamage: what is wrong, in which line; without strict the lines before it count.
func TestDamage(t *testing.T) {
	for line, want := range map[string]string{
		"x":                                      "neither a state (1:), an event (2:), a message (3:) nor a communicator (c:)",
		"9:1":                                    `a record of kind "9", which there is not`,
		"2:1:1:1:1:a:50000001:1":                 `"a" is not a number`,
		"2:1:1:1:1:10":                           "an event record without types and values",
		"2:1:1:1:1:10:50000001":                  "an event record without types and values",
		"2:1:1:1:1:10:50000001:1:5":              "an event record without types and values",
		"2:1:2:1:1:10:50000001:1":                "application 2 of 1",
		"2:1:1:0:1:10:50000001:1":                "task 0 of 2",
		"2:1:1:3:1:10:50000001:1":                "task 3 of 2",
		"2:1:1:1:2:10:50000001:1":                "thread 2 of 1 of task 1",
		"2:1:1:1:1:-1:50000001:1":                "the time -1 is out of range",
		"2:1:1:1:1:9223372036854776:1:1":         "the time 9223372036854776 is out of range",
		"2:1:1:1:1:4:50000001:1":                 "the events of thread 1 of task 1 are not in the order of their times",
		"3:1:1:1:1:10:10:1:1:2:1:10:10:8":        "a message of 13 fields instead of 14",
		message(1, 10, 3, 10, 10):                "task 3 of 2",
		"3:1:1:1:1:9:9:1:1:2:1:9:9:-1:1":         "a message of -1 bytes with tag 1",
		"3:1:1:1:1:9:9:1:1:2:1:9:9:1:2^31":       `"2^31" is not a number`,
		"3:1:1:1:1:9:9:1:1:2:1:9:9:1:2147483648": "a message of 1 bytes with tag 2147483648",
		"c:1:3:2:1":                              "a communicator with another number of tasks than it has",
		"c:1:3:1:3":                              "task 3 of 2",
		"c:2:3:1:1":                              "application 2 of 1",
	} {
		body := twoTasks + "2:1:1:1:1:5:50000001:1\n" + strings.TrimSuffix(line, "\n") + "\n2:1:1:1:1:9:50000001:0\n"
		_, err := Read(strings.NewReader(body), nil, nil, "x.prv", true, nil)
		if err == nil || err.Error() != "x.prv:5: "+want {
			t.Errorf("%s: %v, want x.prv:5: %s", line, err, want)
			continue
		}
		tr, err := Read(strings.NewReader(body), nil, nil, "x.prv", false, nil)
		if err != nil || strings.Join(tr.Warnings, "") != "x.prv:5: "+want+"; what follows is left out" || len(tr.Threads[0].Calls) != 2 {
			t.Errorf("%s: %+v, %v, want the call before it", line, tr, err)
		}
	}
	for header, want := range map[string]string{
		"#Paraver (1/2/03":                            "the header has no date",
		"#Paraver (1/2/03 at 4:5):9_s:1(4):1:1(1:1)":  `the unit of time "s" is unknown; it is ns, us or ms`,
		"#Paraver (1/2/03 at 4:5):9_us:1(4):2:1(1:1)": `the trace has "2" applications; only traces of one can be read`,
		"#Paraver (1/2/03 at 4:5):9_us:1(4):1:0()":    `"0" tasks; a number from 1 to 1048576 is expected`,
		"#Paraver (1/2/03 at 4:5):9_us:1(4):1:2(1:1)": "a list of 1 tasks in a trace of 2",
		"#Paraver (1/2/03 at 4:5):9_us:1(4):1:1(0:1)": `task 1 has "0" threads`,
		"#Paraver (1/2/03 at 4:5):9_us:1(4):1:1(1:x)": `task 1 is on node "x"`,
		"#Paraver (1/2/03 at 4:5):9_us":               "the header ends before the tasks",
		"#Paraver (1/2/03 at 4:5):9_us:1(4):1:1(1:1":  "the list of tasks has no end",
	} {
		if _, err := Read(strings.NewReader(header+"\n"), nil, nil, "x.prv", false, nil); err == nil || err.Error() != "x.prv:1: "+want {
			t.Errorf("%s: %v, want x.prv:1: %s", header, err, want)
		}
	}
	stop := errors.New("stop")
	long := twoTasks + strings.Repeat("1:1:1:1:1:0:1:1\n", 1<<16)
	if _, err := Read(strings.NewReader(long), nil, nil, "x.prv", false, func() error { return stop }); err != stop {
		t.Errorf("interrupted: %v", err)
	}
}

// TestStacks: callers are named level by level, the innermost first; addresses without names are left out.
func TestStacks(t *testing.T) {
	const names = "EVENT_TYPE\n0 70000000 Caller\nVALUES\n1 main\n2 solve\n3 halo [a.c]\n\n" +
		"EVENT_TYPE\n0 30000000 Sampled\nVALUES\n1 main\n2 solve\n"
	body := twoTasks + "2:1:1:1:1:5:50000001:1:70000001:3:70000002:99:70000003:2:70000004:1\n2:1:1:1:1:6:50000001:0\n" +
		"2:1:1:1:1:7:30000001:2:30000002:1\n2:1:1:1:1:8:50000001:1:70000001:1\n"
	tr, err := Read(strings.NewReader(body), strings.NewReader(names), nil, "x.prv", true, nil)
	if err != nil {
		t.Fatal(err)
	}
	path := func(stack int32) string {
		text := ""
		for ; stack != 0; stack = tr.Stacks[stack].Parent {
			text = "/" + tr.Names[tr.Stacks[stack].Name] + text
		}
		return text
	}
	var got []string
	for _, m := range tr.Threads[0].Marks {
		switch m.What {
		case Begins:
			got = append(got, fmt.Sprint("call of ", path(tr.Threads[0].Calls[m.Index].Stack)))
		case Sampled:
			got = append(got, fmt.Sprint("sample of ", path(m.Index)))
		}
	}
	if diff := cmp.Diff([]string{"call of ", "call of /main/solve/halo", "sample of /main/solve", "call of /main"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
