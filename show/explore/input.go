package explore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"slackline/analyze/advise"
	"slackline/internal/fault"
	"slackline/model/collective"
	"slackline/model/dataset"
	"slackline/model/machine"
	"slackline/model/schedule"
	"slackline/model/timeline"
)

// Source is an input that can be opened, and opened again when its files have changed.
type Source struct {
	Name  string
	Files []string // files and directories that are read; empty: it never changes
	Open  func(context.Context) (*Opened, error)
	// Whole opens it with the start and the end of MPI, which Open leaves out; nil: there is no such choice.
	Whole func(context.Context) (*Opened, error)
	// AsWhole opens it so at first.
	AsWhole bool
}

// Opened is what an input holds: a run or a dataset.
type Opened struct {
	Timeline *timeline.Timeline // of a run
	Machine  string             // on which it was simulated
	Dataset  *dataset.Dataset   // of a dataset
	Warnings []string
	// Program is what was simulated; nil: the recorded run as a schedule.
	Program schedule.Program
	Mapping *collective.Mapping // by which collectives of that choose their algorithms; nil: the default
	// Advise asks what pays in the program of the run; nil: that is not known.
	Advise func(schedule.Program) (*advise.Question, error)
	// Machines are those that tolerance may be asked for; empty: none.
	Machines []*machine.Machine
	// OwnMachine is the one of them that the run was made on or that the user named; empty: none.
	OwnMachine string
}

// openInput is an input of the server.
type openInput struct {
	index  int
	source *Source
	server *Server
	view   atomic.Pointer[view]

	mu        sync.Mutex
	reloading bool
	whole     bool      // the start and the end of MPI are shown
	problem   string    // why it could not be read again
	looked    time.Time // when its files were last looked at
	seen      stamp     // what they were then
}

// open opens the input for the first time.
func (in *openInput) open(ctx context.Context) error {
	in.whole = in.source.AsWhole && in.source.Whole != nil
	v, err := in.read(ctx, 1, in.whole)
	if err != nil {
		return err
	}
	in.view.Store(v)
	return nil
}

// read reads the input and prepares what a first view needs.
func (in *openInput) read(ctx context.Context, generation int, whole bool) (*view, error) {
	before := stampOf(in.source.Files)
	open := in.source.Open
	if whole {
		open = in.source.Whole
	}
	opened, err := open(ctx)
	if err != nil {
		return nil, err
	}
	v, err := newView(ctx, in.server.context, opened, in.server.options.Threads)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.source.Name, err)
	}
	v.generation, v.stamp, v.name, v.turns = generation, before, in.source.Name, in.server.turns
	return v, nil
}

// analyze begins the analysis of what is open.
func (in *openInput) analyze() {
	if v := in.view.Load(); v != nil {
		v.startAnalysis()
	}
}

// reload reads the input again in the background, with or without the start and the end of MPI. What was read before is served until
// the new view is there, and goes on to be served if that fails.
func (in *openInput) reload(whole bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	whole = whole && in.source.Whole != nil
	if in.reloading || len(in.source.Files) == 0 && whole == in.whole {
		return
	}
	in.reloading, in.problem = true, ""
	old := in.view.Load()
	fault.Go(func() {
		v, err := in.readSafely(in.server.context, old.generation+1, whole)
		in.mu.Lock()
		defer in.mu.Unlock()
		in.reloading = false
		if err != nil {
			in.problem = "it could not be read again, what was read before is shown: " + err.Error()
			return
		}
		in.view.Store(v)
		in.whole = whole
		in.looked = time.Time{}
		old.cancel()
		v.startAnalysis()
	})
}

// readSafely is read; a mistake of the program is an error, too: what was read before can still be looked at.
func (in *openInput) readSafely(ctx context.Context, generation int, whole bool) (v *view, err error) {
	defer fault.Catch(&err)
	return in.read(ctx, generation, whole)
}

// lookInterval is how often files are looked at, at most.
const lookInterval = 500 * time.Millisecond

// state adds to the description of a view what became of the files since they were read, and how they were read.
func (in *openInput) state(v *view, r *Run) {
	in.mu.Lock()
	defer in.mu.Unlock()
	r.Reloading, r.Problem, r.Whole = in.reloading, in.problem, in.whole
	r.CanWhole = in.whole || in.source.Whole != nil && v.tl != nil && v.tl.LeftOut.Any()
	if len(in.source.Files) > 0 {
		if now := time.Now(); now.Sub(in.looked) >= lookInterval {
			in.looked, in.seen = now, stampOf(in.source.Files)
		}
		r.Changed = in.seen != v.stamp
	}
}

// stamp shows whether files have changed: how many there are, their sizes together, and the latest change.
type stamp struct {
	files int
	bytes int64
	last  int64 // ns
}

// mostFiles is how many files are looked at: those of a trace, but not of a whole disk.
const mostFiles = 100_000

var errEnough = errors.New("enough")

func stampOf(paths []string) stamp {
	var s stamp
	for _, path := range paths {
		err := filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil // what cannot be read does not count
			}
			if s.files++; s.files > mostFiles {
				return errEnough
			}
			if info, err := os.Stat(file); err == nil { // also of what a link leads to
				s.bytes += info.Size()
				s.last = max(s.last, info.ModTime().UnixNano())
			}
			return nil
		})
		if err != nil {
			break
		}
	}
	return s
}
