package campaign

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"slackline/internal/journal"
	"slackline/internal/provenance"
	"slackline/internal/source"
	"slackline/internal/trusted"
)

// Campaign is a plan with the directory in which its runs are kept.
type Campaign struct {
	Plan *Plan
	Dir  string // absolute
	Base string // where programs run; absolute
	Seed uint64

	hash    string
	journal *journal.Journal // nil: the campaign is only looked at
	state   *state
	runs    []*Run // in the order of the seed
}

const journalFile = "journal.jsonl"

// Load reads a plan file and what has been done of it. dir is the directory of its runs; empty: beside
// the plan, with its name and the ending .runs.
func Load(file, dir string) (*Campaign, error) {
	c, err := load(file, dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(c.Dir, journalFile)
	data, err := source.ReadKept(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	lines, _, err := journal.Lines(path, data)
	if err != nil {
		return nil, err
	}
	return c, c.resume(path, lines)
}

// Open reads a plan file to carry it out: no other process can do so until Close.
func Open(file, dir string) (*Campaign, error) {
	c, err := load(file, dir)
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{c.Dir, filepath.Join(c.Dir, "runs")} { // commands are kept in them
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
		if err := trusted.Owned(dir); err != nil {
			return nil, fmt.Errorf("%w; give another directory with --dir", err)
		}
	}
	path := filepath.Join(c.Dir, journalFile)
	j, lines, err := journal.Open(path)
	if errors.Is(err, journal.ErrInUse) {
		return nil, fmt.Errorf("%s: the campaign is being run by another process", c.Dir)
	}
	if err != nil {
		return nil, err
	}
	c.journal = j
	if err := c.resume(path, lines); err != nil {
		j.Close()
		return nil, err
	}
	if err := c.knowsRuns(path); err != nil {
		j.Close()
		return nil, err
	}
	if c.state.head == nil {
		c.state.head = &headLine{journalVersion, eventHead, c.Seed, c.Plan.signature}
		if err := j.Append(c.state.head); err != nil {
			j.Close()
			return nil, err
		}
	}
	return c, nil
}

// Files are the files of a campaign: its journal, and all that its runs left.
func (c *Campaign) Files() []string {
	list := []string{filepath.Join(c.Dir, journalFile)}
	_ = filepath.WalkDir(filepath.Join(c.Dir, "runs"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			list = append(list, path)
		}
		return nil // who reads it reports what is wrong
	})
	return list
}

// Close lets other processes open the campaign.
func (c *Campaign) Close() error { return c.journal.Close() }

func load(file, dir string) (*Campaign, error) {
	data, err := source.Disk(file, source.All)
	if err != nil {
		return nil, err
	}
	plan, err := parsePlan(file, data)
	if err != nil {
		return nil, err
	}
	full, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	if dir == "" {
		dir = full[:len(full)-len(filepath.Ext(full))] + ".runs"
	}
	c := &Campaign{Plan: plan, Base: plan.Directory}
	if c.Dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if !filepath.IsAbs(c.Base) {
		c.Base = filepath.Join(filepath.Dir(full), c.Base)
	}
	sum := sha256.Sum256(data)
	c.hash = hex.EncodeToString(sum[:])
	return c, nil
}

// resume takes over what the journal contains.
func (c *Campaign) resume(path string, lines [][]byte) error {
	var err error
	if c.state, err = replay(path, lines); err != nil {
		return err
	}
	head := c.state.head
	switch {
	case head != nil && head.Signature != c.Plan.signature:
		return fmt.Errorf("%s: these are runs of something else:\n%s\nbut the plan has:\n%s\n"+
			"remove the directory, or give another one with --dir",
			c.Dir, head.Signature, c.Plan.signature)
	case head != nil:
		c.Seed = head.Seed
	case c.Plan.Seed != nil:
		c.Seed = *c.Plan.Seed
	default:
		c.Seed = rand.Uint64N(1 << 32)
	}
	c.runs, err = c.Plan.runs(c.Seed)
	return err
}

// knowsRuns returns an error if a run was started, or has a result, that the journal does not know of: it is cut off, or was removed, and
// the run would be done again. An attempt is in the journal before it starts.
func (c *Campaign) knowsRuns(path string) error {
	for _, run := range c.runs {
		dir, attempts := c.RunDir(run.Name), 0
		if h := c.state.runs[run.Name]; h != nil {
			attempts = h.attempts
		}
		file := filepath.Join(dir, resultFile)
		data, err := source.ReadKept(file)
		var r result
		unknown := err == nil && json.Unmarshal(data, &r) == nil && r.Attempt > attempts
		for _, name := range []string{lockFile, scriptFile} { // are made when an attempt is in the journal
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil && !unknown {
				file = filepath.Join(dir, orderFile)
				o, err := readOrder(file)
				unknown = err == nil && o.Attempt > attempts
			}
		}
		if unknown {
			return fmt.Errorf("%s is cut off, or not the journal of these runs: it does not know of %s; "+
				"put the whole journal there, or move the directory away to do all runs again", path, file)
		}
	}
	return nil
}

// Started reports whether the campaign has a journal.
func (c *Campaign) Started() bool { return c.state.head != nil }

// Sessions are the starts of the campaign so far.
func (c *Campaign) Sessions() []Session { return c.state.sessions }

// Used is what the runs took so far, in core hours.
func (c *Campaign) Used() float64 { return c.state.used / 3600 }

// RunDir is the directory of a run.
func (c *Campaign) RunDir(name string) string { return filepath.Join(c.Dir, "runs", name) }

// RunState is a run with what became of it.
type RunState struct {
	*Run
	Attempts int
	Open     bool // an attempt was started and is not known to have ended
	Last     *End // nil: none has ended
}

// Done reports whether the run is finished.
func (r *RunState) Done() bool { return r.Last != nil && r.Last.Status == OK && !r.Open }

// States returns all runs of the plan by point and repetition.
func (c *Campaign) States() []RunState {
	runs, _ := c.Plan.ordered() // was checked when the plan was read
	list := make([]RunState, len(runs))
	for i, r := range runs {
		list[i].Run = r
		if h := c.state.runs[r.Name]; h != nil {
			list[i].Attempts, list[i].Open, list[i].Last = h.attempts, h.open, h.end
		}
	}
	return list
}

// session notes a start of the campaign and what the commands of versions print.
func (c *Campaign) session(ctx context.Context, environment []string) error {
	s := Session{Event: eventSession, Time: now(), Tool: provenance.Version(), Platform: provenance.Platform(), PlanHash: c.hash}
	s.Host, _ = os.Hostname()
	for _, words := range c.Plan.Versions {
		s.Versions = append(s.Versions, c.version(ctx, words, environment))
	}
	c.state.sessions = append(c.state.sessions, s)
	return c.journal.Append(s)
}

// version runs a command that prints the version of something.
func (c *Campaign) version(ctx context.Context, words, environment []string) VersionOutput {
	const longest, patience = 4096, 20 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Dir, command.Env, command.WaitDelay = c.Base, environment, time.Second
	out, err := command.CombinedOutput()
	if err != nil {
		out = append(out, []byte("("+err.Error()+")")...)
	}
	return VersionOutput{Quote(words), string(out[:min(len(out), longest)])}
}

// Left are the runs that are not finished, in the order in which they will be started.
func (c *Campaign) Left() []*Run {
	var list []*Run
	for _, r := range c.runs {
		if h := c.state.runs[r.Name]; !h.ok() || h.open {
			list = append(list, r)
		}
	}
	return list
}

// Command is the command of a run, with its launcher.
func (c *Campaign) Command(r *Run) []string { return r.words(c.RunDir(r.Name)) }
