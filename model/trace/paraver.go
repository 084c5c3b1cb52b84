package trace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"slackline/model/timeline"
	"slackline/model/trace/paraver"
)

// Traces of Paraver: a .prv file with a .pcf and a .row file of the same name. How it becomes a Trace:
//
//   - MPI calls and functions are calls, within one that is the whole application; the functions that called MPI, and sampled
//     ones, are call paths as deep as they were recorded.
//   - A message was sent in the call in which its first time lies, and received in the one in which its last time lies; if its
//     receive began in another call, it was posted there.
//   - The call that ends a non-blocking send is not recorded: it is the next that waits for all, or for one without receiving
//     anything.
//   - Messages are those of the communicator of all tasks, because theirs is not recorded. Non-blocking collectives and one-sided
//     operations are calls only.
var paraverFormat = Format{
	Name: "paraver", Noun: "a trace of Paraver", Info: "text of Paraver and Extrae: .prv with .pcf and .row beside it",
	Text: true, Sniff: paraver.Sniff, startsAtZero: true,
	Main: func(names []string) string {
		for _, name := range names {
			if path.Ext(name) == ".prv" {
				return name
			}
		}
		return ""
	},
	Beside: func(main, other string) bool {
		stem := strings.TrimSuffix(main, path.Ext(main))
		return other == stem+".pcf" || other == stem+".row"
	},
	read: readParaver,
}

func readParaver(src source, o Options) (*Trace, error) {
	file, err := src.fsys.Open(src.main)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var beside [2]io.Reader
	missing := ""
	for i, suffix := range []string{".pcf", ".row"} {
		name := strings.TrimSuffix(path.Base(src.main), path.Ext(src.main)) + suffix
		f, err := src.open(name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && suffix == ".pcf":
			missing = src.showBeside(name)
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		default:
			defer f.Close()
			beside[i] = f
		}
	}
	p, err := paraver.Read(file, beside[0], beside[1], src.show, o.Strict, o.Interrupt)
	if err != nil {
		return nil, err
	}
	if missing != "" {
		p.Warnings = append(p.Warnings, missing+": the file is missing: MPI calls and functions have numbers instead of names")
	}
	if o.Strict && len(p.Warnings) > 0 {
		return nil, errors.New(p.Warnings[0])
	}
	t := &Trace{Warnings: p.Warnings}
	t.Ranks, t.Tool = len(p.Tasks), "Extrae"
	collectives := make([]paraverCollective, len(p.Names))
	for i, name := range p.Names {
		t.Regions = append(t.Regions, timeline.RegionNamed(name))
		collectives[i] = blockingCollective(name)
	}
	for _, s := range p.Stacks {
		t.Stacks = append(t.Stacks, Stack{Parent: uint32(s.Parent), Region: uint32(s.Name)})
	}
	for i, members := range p.Comms {
		name := "MPI_COMM_WORLD"
		if i > 0 {
			name = fmt.Sprintf("communicator %d", i)
		}
		t.Comms = append(t.Comms, timeline.Comm{Name: name, Members: members})
	}
	idle := func(t *paraver.Thread) bool { return t.Number > 0 && len(t.Marks) == 0 }
	p.Threads = slices.DeleteFunc(p.Threads, idle)
	for i, thread := range p.Threads {
		l := Location{
			ID: uint64(i), Rank: thread.Task, Thread: thread.Number, Host: p.Tasks[thread.Task].Host, Events: uint64(len(thread.Marks)),
			Missing: len(thread.Marks) == 0,
		}
		if l.Missing {
			l.Unreadable = fmt.Sprintf("%s: there is no event of rank %d in it", src.show, thread.Task)
		}
		t.Locations = append(t.Locations, l)
	}
	t.Open = func(i int) (EventReader, error) {
		return &paraverReader{trace: p, collectives: collectives, thread: p.Threads[i]}, nil
	}
	return t, nil
}

// paraverReader turns the marks of a thread into events.
type paraverReader struct {
	trace       *paraver.Trace
	collectives []paraverCollective // by name
	thread      *paraver.Thread
	mark, at    int // next mark, next part
	queue       []Event
}

// Read implements EventReader.
func (r *paraverReader) Read(events []Event) (int, error) {
	for len(r.queue) < len(events) && r.mark < len(r.thread.Marks) {
		r.next(r.thread.Marks[r.mark])
		r.mark++
	}
	n := copy(events, r.queue)
	r.queue = slices.Delete(r.queue, 0, n)
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Close implements EventReader.
func (r *paraverReader) Close() error { return nil }

// next adds the events of a mark.
func (r *paraverReader) next(m paraver.Mark) {
	if m.What == paraver.Sampled {
		r.put(Event{Time: m.Time, Kind: Sample, Stack: uint32(m.Index)})
		return
	}
	c := &r.thread.Calls[m.Index]
	op, root := r.collectives[c.Name].op, int32(NoRoot)
	collective := r.collectives[c.Name].is && c.Comm >= 0
	if collective {
		root = r.trace.Root(c)
		collective = root != NoRoot || !op.Rooted()
	}
	ends := m.What == paraver.Ends
	messages := func() {
		r.at = r.thread.Parts(r.at, m.Index, ends, func(p paraver.Part) { r.part(m.Time, p) })
	}
	if !ends {
		r.put(Event{Time: m.Time, Kind: Enter, Region: uint32(c.Name), Stack: uint32(c.Stack)})
		if collective {
			r.put(Event{Time: m.Time, Kind: CollectiveBegin})
		}
		messages()
		return
	}
	messages()
	if collective {
		r.put(Event{Time: m.Time, Kind: CollectiveEnd, Op: op, Comm: uint32(c.Comm), Root: root, Sent: c.Sent, Received: c.Received})
	}
	r.put(Event{Time: m.Time, Kind: Leave, Region: uint32(c.Name)})
}

func (r *paraverReader) put(e Event) { r.queue = append(r.queue, e) }

// part adds what a call does with a message.
func (r *paraverReader) part(time int64, p paraver.Part) {
	m := &r.trace.Message[p.Message]
	e := Event{Time: time, Request: uint64(p.Message)}
	if p.What != paraver.EndsSend && p.What != paraver.Posts {
		e.Tag, e.Size = m.Tag, m.Size
	}
	switch p.What {
	case paraver.Sends:
		e.Kind, e.Peer, e.Request = Send, m.To, 0
	case paraver.StartsSend:
		e.Kind, e.Peer = Isend, m.To
	case paraver.EndsSend:
		e.Kind = IsendDone
	case paraver.Posts:
		e.Kind = IrecvPost
	case paraver.Receives:
		e.Kind, e.Peer = IrecvDone, m.From
	case paraver.Receive:
		e.Kind, e.Peer, e.Request = Recv, m.From, 0
	}
	r.put(e)
}

// paraverCollective is the operation of a call, if it is a blocking collective.
type paraverCollective struct {
	op timeline.Op
	is bool
}

// blockingCollective is the operation of a call by its name.
func blockingCollective(name string) paraverCollective {
	call, isMPI := strings.CutPrefix(strings.ToLower(name), "mpi_")
	op, known := timeline.OpNamed(call)
	return paraverCollective{op, isMPI && known}
}
