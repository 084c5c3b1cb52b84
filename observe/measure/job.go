package measure

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"slackline/internal/fault"
	"slackline/observe/mpi"
)

//go:embed bench/*.c bench/*.h
var benchFiles embed.FS

// benchSource is what runs inside MPI jobs.
func benchSource() (mpi.Source, error) {
	s := mpi.Source{Name: "bench", Flags: []string{"-std=c11", "-O2"}, Libs: []string{"-ldl"}, Program: true}
	if err := s.Add(benchFiles, "bench"); err != nil {
		return s, err
	}
	return s, s.AddHeaders()
}

// Job is an MPI job that carries out orders.
type Job struct {
	Library *mpi.Library
	Command []string // that started it
	Hosts   []string // by rank
	Version string   // what the library calls itself when it runs

	launch  []string
	parsed  *mpi.Command   // what is known of its command
	mark    []mpi.Variable // that only processes of the job have
	command *exec.Cmd
	stdin   io.WriteCloser
	lines   *bufio.Reader
	output  *tail
	over    bool  // it has ended
	ended   error // how

	interrupted func() bool
}

// answerLimit is how long an order may take at most.
const answerLimit = 10 * time.Minute

// StartJob starts a job of so many ranks. launch is the launcher with its options, without the number of
// ranks; empty: that of the library.
func StartJob(ctx context.Context, l *mpi.Library, ranks int, launch []string) (*Job, error) {
	source, err := benchSource()
	if err != nil {
		return nil, err
	}
	program, _, err := l.Compile(ctx, source)
	if err != nil {
		return nil, err
	}
	if len(launch) == 0 {
		if l.Launcher == "" {
			return nil, fmt.Errorf("%s has no launcher in PATH; name one", l)
		}
		launch = []string{l.Launcher}
		if l.Kind == mpi.OpenMPI {
			launch = append(launch, "--oversubscribe")
		}
	}
	args := append(append([]string{}, launch...), "-n", strconv.Itoa(ranks), program)
	launcher, err := mpi.ParseCommand(args)
	if err != nil {
		return nil, err
	}
	j := &Job{Library: l, Command: args, launch: launch, parsed: launcher, command: exec.CommandContext(ctx, args[0], args[1:]...),
		mark: []mpi.Variable{{Name: "SLACKLINE_BENCH", Value: rand.Text()}}, output: &tail{},
		interrupted: func() bool { return ctx.Err() != nil }}
	j.command.Env = append(os.Environ(), j.mark[0].Name+"="+j.mark[0].Value)
	j.command.Cancel = func() error { return launcher.Interrupt(j.command.Process) }
	j.command.WaitDelay = 5 * time.Second
	j.command.Stderr = j.output
	if j.stdin, err = j.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := j.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	j.lines = bufio.NewReaderSize(out, 1<<16)
	if err := j.command.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", args[0], err)
	}
	words, err := j.answer("slackline-version")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w%s", err, launcher.Hint(l)), j.Close())
	}
	j.Version = strings.Join(words, " ")
	words, err = j.answer("slackline-hosts")
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	if j.Hosts = words; len(words) != ranks {
		return nil, errors.Join(fmt.Errorf("asked for %d ranks, got %d%s", ranks, len(words), launcher.Hint(l)), j.Close())
	}
	return j, nil
}

// Restart ends the job and starts it again in the same way.
func (j *Job) Restart(ctx context.Context) error {
	if err := j.Close(); err != nil {
		return err
	}
	next, err := StartJob(ctx, j.Library, len(j.Hosts), j.launch)
	if err != nil {
		return err
	}
	if !slices.Equal(next.Hosts, j.Hosts) {
		return errors.Join(fmt.Errorf("the ranks are on other hosts after a new start: %v, before: %v", next.Hosts, j.Hosts), next.Close())
	}
	*j = *next
	return nil
}

// answer reads lines until one that starts with a word, and returns what follows on it.
func (j *Job) answer(first string) ([]string, error) {
	for {
		line, err := j.lines.ReadString('\n')
		if err != nil {
			j.Close() //nolint:errcheck // the next Close returns it; its whole output is known now
			return nil, fmt.Errorf("the job ended before its time (%s): %s", strings.Join(j.Command, " "), j.output.last())
		}
		if words := strings.Fields(line); len(words) > 0 && words[0] == first {
			return words[1:], nil
		}
	}
}

// do gives an order and returns the times that it took.
func (j *Job) do(what string, n, size, repeat int, pause float64, a, b int) ([]float64, error) {
	stamps, err := j.order(what, n, size, repeat, int64(pause), a, b)
	values := make([]float64, len(stamps))
	for i, s := range stamps {
		values[i] = float64(s)
	}
	return values, err
}

// stamps gives an order without a pause and returns so many whole numbers; -1: any number of them.
func (j *Job) stamps(count int, what string, n, size, repeat, b int) ([]int64, error) {
	values, err := j.order(what, n, size, repeat, 0, 0, b)
	if err == nil && count >= 0 && len(values) != count {
		err = errAnswer
	}
	return values, err
}

func (j *Job) order(what string, n, size, repeat int, pause int64, a, b int) ([]int64, error) {
	timer := time.AfterFunc(answerLimit, func() { j.command.Cancel() }) //nolint:errcheck // it ends the job
	defer timer.Stop()
	if _, err := fmt.Fprintf(j.stdin, "%s %d %d %d %d %d %d\n", what, n, size, repeat, pause, a, b); err != nil {
		return nil, fmt.Errorf("the job does not take orders: %s", j.output.last())
	}
	words, err := j.answer("slackline")
	if err != nil {
		return nil, err
	}
	if len(words) == 0 || words[0] != strconv.Itoa(len(words)-1) {
		return nil, errAnswer
	}
	values := make([]int64, len(words)-1)
	for i := range values {
		if values[i], err = strconv.ParseInt(words[i+1], 10, 64); err != nil {
			return nil, errAnswer
		}
	}
	return values, nil
}

// Close ends the job and waits for it; a job that was closed returns again how it ended.
func (j *Job) Close() error {
	if j.over {
		return j.ended
	}
	j.over = true
	err := j.stdin.Close()
	done := make(chan error, 1)
	fault.Go(func() { // until the launcher has ended: what it leaves behind may have its output
		_, e := io.Copy(io.Discard, j.lines)
		done <- e
	})
	err = errors.Join(err, j.command.Wait())
	if e := <-done; e != nil && !errors.Is(e, os.ErrClosed) {
		err = errors.Join(err, e)
	}
	j.parsed.EndLeft(j.command.ProcessState, j.interrupted(), j.mark)
	j.ended = err
	return j.ended
}

// closeInto closes the job at the end of a function, whose error it sets if there is none.
func (j *Job) closeInto(err *error) {
	if e := j.Close(); *err == nil {
		*err = e
	}
}

// Link returns the link between two ranks of the job.
func (j *Job) Link(a, b int) Link { return &mpiLink{job: j, a: a, b: b} }

type mpiLink struct {
	job  *Job
	a, b int
}

func (l *mpiLink) Burst(n int, pause float64, size, repeat int) ([]float64, error) {
	return l.job.do("burst", n, size, repeat, pause, l.a, l.b)
}

func (l *mpiLink) Drain(n int, pause float64, size, repeat int) ([]float64, error) {
	return l.job.do("drain", n, size, repeat, pause, l.a, l.b)
}

// Eager asks several times: a sender that loses its CPU looks like one that waits.
func (l *mpiLink) Eager(size int, polls bool) (bool, error) {
	n := 0
	if polls {
		n = 1
	}
	for range eagerTries {
		took, err := l.job.do("eager", n, size, 1, 0, l.a, l.b)
		if err != nil {
			return false, err
		}
		if took[0] < float64(earlyReturnNS) {
			return true, nil
		}
	}
	return false, nil
}

// eagerTries is how often a send may look as if it waited before it is believed.
const eagerTries = 3

// earlyReturnNS is just less than the time after which the late receiver receives: a send that waits for it takes
// longer in any case.
const earlyReturnNS = 49_000_000

// tail keeps the end of the output of a job.
type tail struct {
	mu   sync.Mutex
	data []byte
}

const tailSize = 4096

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if n := len(t.data) - tailSize; n > 0 {
		t.data = append(t.data[:0], t.data[n:]...)
	}
	return len(p), nil
}

func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text := string(bytes.TrimSpace(t.data)); text != "" {
		return text
	}
	return "it printed nothing"
}

// countOf counts the elements for which a condition holds.
func countOf[T any](list []T, holds func(*T) bool) (n int) {
	for i := range list {
		if holds(&list[i]) {
			n++
		}
	}
	return n
}

// orCause is the reason why the context ended, if it did: that is why the rest failed.
func orCause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
