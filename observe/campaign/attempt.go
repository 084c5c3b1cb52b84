package campaign

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"slackline/internal/fault"
	"slackline/internal/source"
)

// attempt does one attempt of a run at a place, or takes over one that an earlier session started. No end
// means that it goes on without us.
func (x *execution) attempt(ctx context.Context, t *task, at place) (*End, error) {
	x.mu.Lock()
	h := x.state.run(t.run.Name)
	attempt := h.attempts
	x.mu.Unlock()
	if !t.adopt {
		attempt++
		if err := x.prepare(t.run, attempt); err != nil {
			return nil, err
		}
	}
	dir := x.RunDir(t.run.Name)
	var known *result // from another process
	var err error
	switch {
	case x.Plan.batch != nil && t.adopt:
		err = x.awaitJob(ctx, t.run, attempt)
	case x.Plan.batch != nil:
		err = x.submit(ctx, t.run, attempt)
	case t.adopt:
		err = x.adopt(ctx, t.run, attempt)
	case at.process != 0:
		known, err = x.crew.ask(ctx, at, dir, attempt)
	default:
		err = x.options.launch(ctx, dir, attempt)
	}
	if err != nil {
		return nil, err
	}
	return x.end(ctx, t.run, attempt, known)
}

// prepare makes the directory of a run and notes in the journal that an attempt starts.
func (x *execution) prepare(run *Run, attempt int) error {
	dir := x.RunDir(run.Name)
	if err := x.moveAway(run, attempt-1); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	o := order{
		Run: run.Name, Attempt: attempt, Command: run.words(dir), Environment: run.environment(dir), Directory: x.Base,
		Timeout: int64(x.Plan.Timeout), Unbind: x.options.Unbind && !x.team.Each, Point: run.point(),
	}
	if x.Plan.batch != nil {
		o.Job = x.jobName(run, attempt)
	}
	if err := writeJSON(filepath.Join(dir, orderFile), &o); err != nil {
		return err
	}
	line := &beginLine{eventBegin, run.Name, attempt, now(), o.Command}
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.journal.Append(line); err != nil {
		return err
	}
	x.state.begin(line)
	return nil
}

// moveAway keeps what an earlier attempt left in another directory.
func (x *execution) moveAway(run *Run, attempt int) error {
	dir := x.RunDir(run.Name)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	to := filepath.Join(x.Dir, "failed", run.Name+".a"+strconv.Itoa(attempt))
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	for n := 1; ; n++ {
		if _, err := os.Stat(to); errors.Is(err, fs.ErrNotExist) {
			return os.Rename(dir, to)
		}
		to = filepath.Join(x.Dir, "failed", fmt.Sprintf("%s.a%d.%d", run.Name, attempt, n))
	}
}

// launch starts the supervisor of an attempt in the directory of a run and waits for it. When ctx is done the
// run is ended.
func (o *Options) launch(ctx context.Context, dir string, attempt int) error {
	lock, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer lock.Close()
	if ok, err := takeLock(lock); err != nil || !ok {
		return fmt.Errorf("%s: the run has a supervisor already (%v)", dir, err)
	}
	words := o.supervisor(dir, attempt)
	c := exec.Command(words[0], words[1:]...)
	c.Args[0], c.Env = o.Name, o.Environment
	c.ExtraFiles = []*os.File{lock} // its descriptor keeps the lock as long as it lives
	complaints, err := os.Create(filepath.Join(dir, complaintFile))
	if err != nil {
		return err
	}
	defer complaints.Close()
	// Blank lines keep room for a message, for a program that fills the disk.
	if _, err := complaints.WriteAt(bytes.Repeat([]byte("\n"), complaintRoom), 0); err != nil {
		return err
	}
	c.Stderr = complaints
	ownSession(c)
	if err := c.Start(); err != nil {
		return fmt.Errorf("the supervisor of a run cannot be started: %w", err)
	}
	lock.Close()
	ended := make(chan error, 1)
	fault.Go(func() { ended <- c.Wait() })
	select {
	case <-ended:
	case <-ctx.Done():
		_ = c.Process.Signal(syscall.SIGTERM)
		<-ended
	}
	return nil
}

// complaintRoom is how large the file for messages of a supervisor is at least.
const complaintRoom = 1024

// supervisor is the command that supervises an attempt.
func (o *Options) supervisor(dir string, attempt int) []string {
	return append(slices.Clone(o.Self), dir, strconv.Itoa(attempt))
}

// adopt waits for the supervisor that an earlier session left, if it is still there.
func (x *execution) adopt(ctx context.Context, run *Run, attempt int) error {
	dir := x.RunDir(run.Name)
	lock, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR, 0)
	if err != nil {
		r, readErr := readResult(dir, attempt)
		if _, started := os.Stat(filepath.Join(dir, complaintFile)); r != nil || readErr != nil || errors.Is(started, fs.ErrNotExist) {
			return readErr // it has ended, or was never started
		}
		return fmt.Errorf("%w: whether the run, which an earlier session started, still works is unknown; when no process "+
			"\"supervise %s\" is left on its host, put an empty file there, and start again", err, dir)
	}
	defer lock.Close()
	for noted := false; ; noted = true {
		free, err := takeLock(lock)
		if err != nil || free {
			return err
		}
		if !noted {
			x.options.Note(fmt.Sprintf("%s, started by an earlier session, is still running; waiting for it", run.Name))
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// readResult reads how an attempt ended; nil: it is not known.
func readResult(dir string, attempt int) (*result, error) {
	data, err := source.ReadKept(filepath.Join(dir, resultFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var r result
	if err := json.Unmarshal(data, &r); err != nil || r.Attempt != attempt {
		return nil, nil
	}
	return &r, nil
}

// hasDamagedResult reports whether the result in a directory of a run is none.
func hasDamagedResult(dir string) bool {
	data, err := source.ReadKept(filepath.Join(dir, resultFile))
	var r result
	return err == nil && json.Unmarshal(data, &r) != nil
}

// end classifies an attempt that has ended, with a result if it is known already.
func (x *execution) end(ctx context.Context, run *Run, attempt int, r *result) (*End, error) {
	if r == nil {
		var err error
		if r, err = readResult(x.RunDir(run.Name), attempt); err != nil {
			return nil, err
		}
	}
	e := &End{Event: eventEnd, Run: run.Name, Cores: run.Cores, Status: OK}
	if r == nil {
		e.Attempt, e.Exit = attempt, -1
		e.Status, e.Reason = Lost, "it ended without a result"+x.complaints(run)+x.damage(run)
		return e, nil
	}
	e.result = *r
	e.Reason = r.Reason
	switch {
	case r.Status == unstarted && x.Plan.batch == nil: // all others would fail alike
		e.Status = Failed
		x.mu.Lock()
		defer x.mu.Unlock()
		return nil, errors.Join(x.note(e), fmt.Errorf("%s: %s", run.Name, x.team.onHost(r)))
	case r.Status == interrupted:
		if e.Status = Interrupted; ctx.Err() == nil { // not this campaign
			e.Status, e.Reason = Failed, "it was interrupted"+x.complaints(run)
		}
	case r.Status == endedByTimeout:
		e.Status, e.Reason = TimedOut, fmt.Sprintf("it took longer than %v", x.Plan.Timeout)
	case r.Status == unstarted:
		e.Status = Failed
	case r.Exit != 0:
		e.Status = Failed
		if e.Reason == "" {
			e.Reason = "exit code " + strconv.Itoa(r.Exit)
		}
		if line := lastWords(x.RunDir(run.Name), x.options.Name, run.words("")); line != "" {
			e.Reason += ": " + line
		}
	default:
		if _, err := run.measure(x.Base, x.RunDir(run.Name), r); err != nil {
			e.Status, e.Reason = Unread, err.Error()
		} else if e.Output, err = outputSum(x.RunDir(run.Name)); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// complaints is what is known from outside of a program that did not end by itself, e.g. that the time of its job was over.
func (x *execution) complaints(run *Run) (text string) {
	for _, file := range []string{complaintFile, jobFile} {
		if lines := withoutRules(endOf(filepath.Join(x.RunDir(run.Name), file), 0)); len(lines) > 0 {
			text += ": " + lines[len(lines)-1]
		}
	}
	return text
}

// damage names the files that would say more of a run without a result, and do not.
func (x *execution) damage(run *Run) (text string) {
	dir := x.RunDir(run.Name)
	if hasDamagedResult(dir) {
		text += ": " + resultFile + " is damaged"
	}
	_, err := os.Stat(filepath.Join(dir, lockFile)) // is made first
	if size := sizeOf(filepath.Join(dir, complaintFile)); err == nil && x.Plan.batch == nil && size < complaintRoom {
		text += fmt.Sprintf(": %s, with the messages of its supervisor, is damaged: it has %d bytes instead of at least %d", complaintFile,
			size, complaintRoom)
	}
	return text
}

func lastLineOf(text string) string {
	text = strings.TrimSpace(strings.ToValidUTF8(text, ""))
	return text[strings.LastIndexByte(text, '\n')+1:]
}
