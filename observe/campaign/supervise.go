package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"slackline/internal/atomicfile"
	"slackline/internal/fault"
	"slackline/internal/source"
	"slackline/internal/trusted"
)

// The files in the directory of a run.
const (
	orderFile  = "order.json"
	resultFile = "result.json"
	lockFile   = "lock" // held by the supervisor
	stdoutFile = "stdout"
	stderrFile = "stderr"
	scriptFile = "job.sh"
	// what went wrong outside of the program: messages of the supervisor, and of a job
	complaintFile = "supervisor"
	jobFile       = "job.out"
)

// lockDescriptor is the file descriptor at which a supervisor finds its lock.
const lockDescriptor = 3

// order is what a supervisor is asked to do.
type order struct {
	Run         string   `json:"run"`
	Attempt     int      `json:"attempt"`
	Command     []string `json:"command"`
	Environment []string `json:"environment"` // added to that of the supervisor
	Directory   string   `json:"directory"`
	Timeout     int64    `json:"timeout_ns"` // 0: none
	Unbind      bool     `json:"unbind,omitempty"`
	Point       []Value  `json:"point,omitempty"` // the parameters, for those who find a trace here
	Job         string   `json:"job,omitempty"`   // name of the job of a batch system
}

// result is how a run ended.
type result struct {
	Attempt int     `json:"attempt"`
	Status  string  `json:"status"` // ended, timeout, interrupted or unstarted
	Exit    int     `json:"exit"`   // -1: by a signal
	Reason  string  `json:"reason,omitempty"`
	Begin   string  `json:"begin,omitempty"`
	Wall    float64 `json:"wall_s"`
	CPU     float64 `json:"cpu_s"`
	MaxRSS  int64   `json:"max_rss_bytes"`
	Host    string  `json:"host,omitempty"`
}

// fine reports whether the program has ended well; nil is a result that is not known.
func (r *result) fine() bool { return r != nil && r.Status == endedItself && r.Exit == 0 }

// How a supervised run can end.
const (
	endedItself    = "ended"
	endedByTimeout = "timeout"
	interrupted    = "interrupted"
	unstarted      = "unstarted"
)

// grace is how long a program that was asked to end may take.
const grace = 5 * time.Second

// Supervise carries out the order of an attempt in the directory of a run: it starts the program, waits for its end
// and notes that. It works on when the campaign is killed; an interrupt or the end of the time ends
// the program and all that it started.
func Supervise(dir, attempt string) error {
	closeOnExec(lockDescriptor)
	o, err := ordered(dir, attempt)
	if err != nil {
		return err
	}
	if o.Job != "" {
		turn, err := awaitTurn(dir)
		if err != nil {
			return err
		}
		defer turn.Close()
		if o, err = ordered(dir, attempt); err != nil {
			return err
		}
	}
	if done, err := readResult(dir, o.Attempt); err != nil || done.fine() {
		return err // a job that has ended was put back into the queue, or another task of its array has done it
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	said := filepath.Join(dir, jobFile)
	earlier := sizeOf(said) // what was written at an earlier start of the job
	r, err := o.carryOut(dir, stop)
	if err != nil {
		return err
	}
	if r.Status == endedItself && slices.ContainsFunc(endOf(said, earlier), endedJob.MatchString) {
		r.Status = interrupted // the program was asked to end at the same time, and was the first to
	}
	if _, err := ordered(dir, attempt); err != nil {
		return err // the directory is that of a later attempt by now
	}
	return writeJSON(filepath.Join(dir, resultFile), r)
}

// ordered reads what is to be done in the directory of a run, if it is still this attempt.
func ordered(dir, attempt string) (*order, error) {
	o, err := readOrder(filepath.Join(dir, orderFile))
	if err == nil && attempt != strconv.Itoa(o.Attempt) {
		err = fmt.Errorf("%s: attempt %s was given up", dir, attempt)
	}
	return o, err
}

// awaitTurn waits until no other job carries out the order. There are others if the options ask for an array, and if the batch
// system starts a job anew because it cannot reach the node, which works on. Closing the file ends the turn.
func awaitTurn(dir string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	for {
		if free, err := takeLock(lock); free || err != nil {
			return lock, nil // an error: the file system has no locks
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// readOrder reads what is to be done.
func readOrder(path string) (*order, error) {
	if err := trusted.Owned(path); err != nil {
		return nil, err
	}
	data, err := source.ReadKept(path)
	if err != nil {
		return nil, err
	}
	var o order
	if err := json.Unmarshal(data, &o); err != nil || len(o.Command) == 0 {
		return nil, fmt.Errorf("%s: expected an order of a campaign", path)
	}
	return &o, nil
}

func writeJSON(path string, v any) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		return e.Encode(v)
	})
}

// carryOut runs the program.
func (o *order) carryOut(dir string, stop <-chan os.Signal) (*result, error) {
	stdout, err := os.Create(filepath.Join(dir, stdoutFile))
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	stderr, err := os.Create(filepath.Join(dir, stderrFile))
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	c := exec.Command(o.Command[0], o.Command[1:]...)
	c.Dir, c.Stdout, c.Stderr = o.Directory, stdout, stderr
	c.Env = append(os.Environ(), o.Environment...)
	ownGroup(c)
	runtime.LockOSThread() // the program ends when the thread that started it does
	defer runtime.UnlockOSThread()
	if o.Unbind {
		unbindThread() // the program may use what the thread that starts it may
	}
	start := time.Now()
	r := &result{Attempt: o.Attempt, Status: endedItself, Begin: start.UTC().Format(time.RFC3339Nano)}
	r.Host, _ = os.Hostname()
	if err := c.Start(); err != nil {
		r.Status, r.Exit, r.Reason = unstarted, -1, startError(o.Command[0], err)
		return r, nil
	}
	ended := make(chan string, 1)
	watched := make(chan struct{})
	fault.Go(func() {
		defer close(ended)
		if why := o.watch(stop, watched); why != "" {
			endGroup(c.Process.Pid, watched)
			ended <- why
		}
	})
	err = c.Wait()
	r.Wall = time.Since(start).Seconds()
	close(watched)
	if why := <-ended; why != "" {
		r.Status = why
	}
	r.usage(c.ProcessState)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.Status, r.Reason = interrupted, err.Error()
	}
	return r, errors.Join(stdout.Sync(), stderr.Sync())
}

// watch waits until the program has to be ended, and returns why; empty: it ended itself.
func (o *order) watch(stop <-chan os.Signal, ended <-chan struct{}) string {
	var late <-chan time.Time
	if o.Timeout > 0 {
		timer := time.NewTimer(time.Duration(o.Timeout))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-ended:
		return ""
	case <-stop:
		return interrupted
	case <-late:
		return endedByTimeout
	}
}

// usage takes what the system knows of a process that has ended.
func (r *result) usage(p *os.ProcessState) {
	r.Exit = p.ExitCode()
	if r.Exit < 0 && r.Reason == "" {
		r.Reason = p.String()
	}
	r.CPU = (p.UserTime() + p.SystemTime()).Seconds()
	r.MaxRSS = maxRSS(p)
}

// startError describes why a program cannot be started.
func startError(program string, err error) string {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Sprintf("there is no program %s in PATH", program)
	case errors.Is(err, os.ErrNotExist):
		return fmt.Sprintf("there is no program %s, or no directory to run it in", program)
	case errors.Is(err, os.ErrPermission):
		return fmt.Sprintf("%s cannot be run; is it a program, and executable?", program)
	}
	return err.Error()
}
