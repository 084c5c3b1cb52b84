package campaign

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"slackline/internal/atomicfile"
)

// submit hands a run to the batch system and waits for its end.
func (x *execution) submit(ctx context.Context, run *Run, attempt int) error {
	dir, b := x.RunDir(run.Name), x.Plan.batch
	script := filepath.Join(dir, scriptFile)
	err := atomicfile.Write(script, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "#!/bin/bash\ncd %s || exit 1\n%s\nexec -a %s %s\n", quoteWord(x.Base), strings.TrimSpace(b.Setup),
			quoteWord(x.options.Name), Quote(x.options.supervisor(dir, attempt)))
		return err
	})
	if err != nil {
		return err
	}
	words := append([]string{}, b.Submit...)
	words = append(words, "--output="+filePattern(filepath.Join(dir, jobFile)))
	for _, o := range b.Options {
		words = append(words, o.fill(x.Plan.named(run.At), run.texts(dir)))
	}
	words = append(words, "--job-name="+x.jobName(run, attempt), script) // whatever name the options give
	for {
		// An interrupt does not wait for sbatch, which tries for minutes while the queue is full. Its job may be there already: the
		// next start looks for it.
		c := exec.CommandContext(ctx, words[0], words[1:]...)
		c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
		c.WaitDelay = grace
		c.Env = x.without("SBATCH_ARRAY_INX") // a run is one job
		out, err := c.CombinedOutput()
		if err == nil {
			break
		}
		refused := fmt.Errorf("%s: %w: %s", Quote(words), err, strings.TrimSpace(string(out)))
		there, away, err := x.inQueue(ctx, run, attempt)
		if err != nil {
			return errors.Join(refused, err)
		}
		if there { // the answer was lost
			break
		}
		if r, err := readResult(dir, attempt); r != nil || err != nil {
			return err
		}
		if !away { // it would be refused again
			return refused
		}
	}
	return x.awaitJob(ctx, run, attempt)
}

// filePattern is a path as sbatch takes it: % starts a placeholder, unless the path has a backslash, which then quotes what follows.
func filePattern(path string) string {
	if strings.Contains(path, `\`) {
		return strings.ReplaceAll(path, `\`, `\\`)
	}
	return strings.ReplaceAll(path, "%", "%%")
}

// jobName is the name of the job of an attempt, by which it is found again: also if the directory has another path by then, such as
// that of a link.
func (x *execution) jobName(run *Run, attempt int) string {
	if o, err := readOrder(filepath.Join(x.RunDir(run.Name), orderFile)); err == nil && o.Attempt == attempt && o.Job != "" {
		return o.Job
	}
	return fmt.Sprintf("slackline-%08x-%s.a%d", crc32.ChecksumIEEE([]byte(x.Dir)), run.Name, attempt)
}

// awayPatience is how long a batch system may not answer: controllers are restarted, and servers updated.
const awayPatience = 10 * time.Minute

// questionPatience is how long a question to it may take: several times as long as squeue waits by default.
var questionPatience = time.Minute

// without is the environment of the batch system without variables whose names begin so.
func (x *execution) without(prefix string) []string {
	env := x.options.Environment
	if env == nil {
		env = os.Environ()
	}
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, prefix) })
}

// inQueue asks the batch system whether a job is in its queue, again and again if it does not answer: then it was away.
func (x *execution) inQueue(ctx context.Context, run *Run, attempt int) (there, away bool, err error) {
	b := x.Plan.batch
	words := append(append([]string{}, b.Queue...), "--name="+x.jobName(run, attempt))
	for start := time.Now(); ; away = true {
		out, why, err := x.ask(ctx, words)
		switch {
		case ctx.Err() != nil:
			return false, away, ctx.Err()
		case err == nil:
			x.waitsFor(run, attempt, out)
			return len(bytes.TrimSpace(out)) > 0, away, nil
		case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist), time.Since(start) > awayPatience:
			return false, away, fmt.Errorf("%s: %w: %s", Quote(words), err, why)
		}
		x.noteAway(fmt.Sprintf("the batch system does not answer (%s: %s); jobs are waited for until it does", words[0],
			cmp.Or(why, err.Error())))
		if err := pause(ctx, b.Poll); err != nil {
			return false, away, err
		}
	}
}

// ask runs a command that asks the batch system something, and returns what it answers; with an error, why is what it complained of.
func (x *execution) ask(ctx context.Context, words []string) (out []byte, why string, err error) {
	ctx, cancel := context.WithTimeout(ctx, questionPatience)
	defer cancel()
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	c.Env = x.without("SQUEUE_") // what the user likes to see of the queue, such as running jobs only
	c.WaitDelay = time.Second
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err = c.Output()
	switch {
	case errors.Is(err, exec.ErrWaitDelay): // it has ended; something that it started, such as a connection of ssh, goes on
		err = nil
	case ctx.Err() != nil:
		err = fmt.Errorf("no answer in %v", questionPatience)
	}
	return out, lastLineOf(stderr.String()), err
}

// noteAway notes that the batch system does not answer: once for all jobs, which find out one after the other.
func (x *execution) noteAway(text string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if time.Since(x.away) > awayPatience {
		x.away = time.Now()
		x.options.Note(text)
	}
}

// reason is why a job waits, as squeue shows it instead of the nodes.
var reason = regexp.MustCompile(`(?m)\(([A-Za-z][^()[:cntrl:]]*)\)\s*$`)

// usualReasons are those of every job that waits for its turn. For another one the user may have to do something.
func usualReasons() []string { return []string{"None", "Priority", "Resources"} }

// waitsFor takes the reason why a run has not started from what the batch system says of its job. One that is not usual is noted once.
func (x *execution) waitsFor(run *Run, attempt int, queue []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	m := reason.FindSubmatch(queue)
	if m == nil {
		delete(x.queued, run)
		return
	}
	why := string(m[1])
	x.queued[run] = why
	if !slices.Contains(x.told, why) {
		x.told = append(x.told, why)
		x.options.Note(fmt.Sprintf("%s waits in the queue: %s; its job is %s", run.Name, why, x.jobName(run, attempt)))
	}
}

// awaitJob waits until a job has left a result, or is no longer in the queue. A run that was ended counts only then: the batch
// system may have put its job back into the queue, because of a node that failed or of a job that is more urgent.
func (x *execution) awaitJob(ctx context.Context, run *Run, attempt int) error {
	for gone := 0; ; {
		r, err := readResult(x.RunDir(run.Name), attempt)
		if err != nil || r.fine() {
			return err
		}
		if gone == 2 || gone == 1 && r != nil { // the file system of the nodes may need a moment
			return nil
		}
		there, _, err := x.inQueue(ctx, run, attempt)
		if err != nil {
			return err
		}
		if gone++; there {
			gone = 0
		} else if r != nil {
			continue // it may have begun and ended again since the result was read
		}
		if err := pause(ctx, x.Plan.batch.Poll); err != nil {
			return err
		}
	}
}
