package record

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"slackline/internal/source"
	"slackline/observe/counters"
	"slackline/observe/mpi"
)

// The raw files of a run lie in a folder beside the trace until that is written. If slackline is killed before, they stay,
// and Recover makes the trace from them.

// orderFile describes the run in its folder of raw files. Who records or recovers the run has it locked.
const orderFile = "run.json"

// spareFile is empty. A recorder that cannot make a file, because the file system has none left, gives it the name that says why.
const spareFile = "spare"

// order is what must be known to make a trace from raw files.
type order struct {
	Command  []string `json:"command"`
	Program  []string `json:"program"` // with its arguments
	Recorder string   `json:"recorder"`
	MPI      mpi.Kind `json:"mpi"`
	Version  string   `json:"version"`
	CallPath string   `json:"call_path"`
	Out      string   `json:"out"`
	Counters []string `json:"counters,omitempty"` // the names of what is counted
	Run      uint64   `json:"run,omitempty"`      // the number of the run

	From time.Duration `json:"from_ns,omitempty"` // the window that was recorded
	To   time.Duration `json:"to_ns,omitempty"`
	Sum  string        `json:"sum,omitempty"` // SHA-256 of all this without it
}

func (o order) sum() string {
	o.Sum = ""
	data, _ := json.Marshal(o) // it has nothing that cannot be written
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

// writeOrder describes the run and locks its folder.
func (r *run) writeOrder() (err error) {
	out, err := filepath.Abs(r.Out)
	if err != nil {
		return err
	}
	l := r.result.Library
	from := order{
		Command: r.Command, Program: r.command.Programs[0].Args, Recorder: r.library, MPI: l.Kind, Version: l.Version, CallPath: r.CallPath,
		Out: out, Counters: counters.NamesOf(r.Counters), Run: r.number,
		From: r.From, To: r.To,
	}
	from.Sum = from.sum()
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.raw, spareFile), nil, 0o666); err != nil {
		return err
	}
	path := filepath.Join(r.raw, orderFile)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		return err
	}
	r.lock, err = lockRun(path)
	return err
}

// readOrder reads the description of the run in a folder of raw files.
func readOrder(dir string) (*order, error) {
	path := filepath.Join(dir, orderFile)
	data, err := source.ReadKept(path)
	if errors.Is(err, os.ErrNotExist) {
		if _, statErr := os.Stat(dir); statErr != nil {
			return nil, fmt.Errorf("%s: no such directory", dir)
		}
		if left, _ := filepath.Glob(filepath.Join(quoteGlob(dir), "r[0-9]*-t*.*")); len(left) > 0 {
			return nil, fmt.Errorf("%s holds the rest of a run: its %s is missing, which is removed first when the trace is written; "+
				"remove the directory", dir, orderFile)
		}
		return nil, fmt.Errorf("%s holds no raw files of a recorded run: there is no %s in it; give a directory such as .app.slt-raw-123456", dir,
			orderFile)
	}
	if err != nil {
		return nil, err
	}
	o := &order{}
	if err := json.Unmarshal(data, o); err != nil || len(o.Command) == 0 || o.Out == "" {
		return nil, fmt.Errorf("%s is damaged: expected the command of a recorded run", path)
	}
	if o.Sum != "" && o.Sum != o.sum() {
		return nil, fmt.Errorf("%s is damaged: it does not match its checksum; if it is right, remove its field \"sum\"", path)
	}
	return o, nil
}

var errLocked = errors.New("is being recorded or recovered by another process; wait for its end")

// lockRun locks a run until the file is closed, at the latest with the process. Where files cannot be locked it does without.
func lockRun(path string) (*os.File, error) {
	f, err := source.Kept(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		f.Close()
		return nil, fmt.Errorf("%s %w", filepath.Dir(path), errLocked)
	}
	return f, nil
}

// Recover makes a trace from the raw files that a killed slackline has left in a folder. Of the options it takes Out, Force,
// KeepRaw, Note and Warn.
func Recover(dir string, o Options) (*Result, error) {
	path := filepath.Join(dir, orderFile)
	lock, err := lockRun(path)
	if errors.Is(err, os.ErrNotExist) {
		_, err = readOrder(dir)
	}
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	from, err := readOrder(dir)
	if err != nil {
		return nil, err
	}
	o.Command, o.CallPath, o.From, o.To = from.Command, from.CallPath, from.From, from.To
	if o.Counters, err = counters.Parse(from.Counters); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if o.Out == "" {
		o.Out = from.Out
	}
	command := &mpi.Command{Args: from.Command, Programs: []mpi.Program{{Args: from.Program}}}
	if err := chooseOut(&o, command); err != nil {
		return nil, err
	}
	r := &run{Options: &o, command: command, library: from.Recorder, raw: dir, number: from.Run, recovers: true}
	r.result = &Result{Library: &mpi.Library{Kind: from.MPI, Version: from.Version}}
	if err := r.wantEnded(); err != nil {
		return nil, err
	}
	err = r.collect()
	if errors.Is(err, ErrNothing) {
		return nil, fmt.Errorf("%s: no rank had done MPI_Init when it ended, or its raw files were removed; "+
			"there is nothing to recover, remove the directory", dir)
	}
	if err == nil {
		r.cleanUp()
	}
	return r.result, err
}

// wantEnded returns an error if a rank on this host still writes.
func (r *run) wantEnded() error {
	files, _, err := findThreads(r.raw, 0)
	if err != nil {
		return err
	}
	for _, f := range files {
		if isHere(f.head) && hasMapped(f.head.pid, f.events) {
			return fmt.Errorf("rank %d is still running (process %d); wait for its end, or end it, before its trace is recovered", f.rank,
				f.head.pid)
		}
	}
	return nil
}

// tellLeftovers names earlier runs to the same place that were never made a trace.
func tellLeftovers(o *Options) {
	for _, order := range ordersBeside(o.Out) {
		lock, err := lockRun(order)
		if err != nil {
			continue
		}
		lock.Close()
		o.Note("an earlier run was not completed: 'slackline record --recover %s' makes a trace of it", filepath.Dir(order))
	}
}

func quoteGlob(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

// failures returns why recorders could not begin, by rank, as they left it in the names of files.
func failures(dir string) map[int]syscall.Errno {
	list, _ := filepath.Glob(filepath.Join(quoteGlob(dir), "r*.failed-*"))
	why := map[int]syscall.Errno{}
	for _, path := range list {
		var rank, thread, number int
		var kind string
		name := strings.NewReplacer(".", " ", "-", " ").Replace(filepath.Base(path))
		if n, _ := fmt.Sscanf(name, "r%d t%d %s failed %d", &rank, &thread, &kind, &number); n == 4 && number > 0 {
			why[rank] = syscall.Errno(number)
		}
	}
	return why
}
