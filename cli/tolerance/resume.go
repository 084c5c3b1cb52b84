package tolerance

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"slackline/cli/input"
	"slackline/cli/scenario"
	"slackline/internal/journal"
	"slackline/internal/phrase"
	"slackline/model/machine"
)

// keptHead is the first line of a file of answers.
type keptHead struct {
	Kind     string `json:"slackline"`
	Question string `json:"question"` // digest of everything that the answers depend on
}

const keptKind = "tolerance answers 2"

// keptLine holds answers by their numbers; a line has those of about a second.
type keptLine struct {
	Answers map[int]json.RawMessage `json:"answers"`
}

// answerKeeper keeps answers in a file as they come; nil keeps none.
type answerKeeper struct {
	journal *journal.Journal
	line    keptLine
	written time.Time
}

// keepEvery is how often answers are written.
const keepEvery = time.Second

// openKeeper opens the file of --resume and returns the answers that it holds.
func (r *run) openKeeper(answers []sharedAnswer) (k *answerKeeper, known []bool, err error) {
	known = make([]bool, len(answers))
	path := r.spread.resume
	if path == "" {
		return nil, known, nil
	}
	digest, err := r.digest()
	if err != nil {
		return nil, nil, err
	}
	j, lines, err := journal.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			j.Close()
		}
	}()
	head := keptHead{keptKind, digest}
	if len(lines) == 0 {
		return &answerKeeper{journal: j, written: time.Now()}, known, j.Append(head)
	}
	var found keptHead
	if err := json.Unmarshal(lines[0], &found); err != nil || found.Kind != keptKind {
		return nil, nil, fmt.Errorf("%s:1: expected a file of answers of tolerance; give another name, or remove it", path)
	}
	if found != head {
		return nil, nil, fmt.Errorf("%s holds answers to another question: the flags, the inputs or the machine differ; give "+
			"another file, or remove it", path)
	}
	for i, line := range lines[1:] {
		if err := takeLine(line, answers, known); err != nil {
			return nil, nil, fmt.Errorf("%s:%d: %w; remove this line and all after it, or give another file", path, i+2, err)
		}
	}
	if n := howMany(known); n > 0 {
		r.app.Note("%s holds %s", path, phrase.Plural(n, "answer"))
	}
	return &answerKeeper{journal: j, written: time.Now()}, known, nil
}

func howMany(list []bool) (n int) {
	for _, is := range list {
		if is {
			n++
		}
	}
	return n
}

// takeLine takes the answers of a line.
func takeLine(data []byte, answers []sharedAnswer, known []bool) error {
	var line keptLine
	if err := json.Unmarshal(data, &line); err != nil {
		return err
	}
	for i, text := range line.Answers {
		if i < 0 || i >= len(answers) {
			return fmt.Errorf("an answer %d of %d", i, len(answers))
		}
		if err := json.Unmarshal(text, &answers[i]); err != nil {
			return err
		}
		if answers[i].Answers == nil || answers[i].Answers.Path == nil {
			return fmt.Errorf("answer %d is not complete", i)
		}
		known[i] = true
	}
	return nil
}

// keep keeps an answer.
func (k *answerKeeper) keep(i int, answer []byte) error {
	if k == nil {
		return nil
	}
	if k.line.Answers == nil {
		k.line.Answers = map[int]json.RawMessage{}
	}
	k.line.Answers[i] = slices.Clone(answer)
	if time.Since(k.written) < keepEvery {
		return nil
	}
	return k.flush()
}

// flush writes the answers that are not written yet.
func (k *answerKeeper) flush() error {
	if k == nil || len(k.line.Answers) == 0 {
		return nil
	}
	err := k.journal.Append(k.line)
	k.line.Answers, k.written = nil, time.Now()
	return err
}

// close writes the rest and closes the file.
func (k *answerKeeper) close() error {
	if k == nil {
		return nil
	}
	err := k.flush()
	if closed := k.journal.Close(); err == nil {
		err = closed
	}
	return err
}

// digest names the question: equal ones have equal answers.
func (r *run) digest() (string, error) {
	h := sha256.New()
	add := func(name, value string) { fmt.Fprintf(h, "%s %d\n%s\n", name, len(value), value) }
	without := []string{"resume", "out", "format", "plot", "quiet", "no-progress", "color"}
	r.command.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(without, f.Name) {
			add("--"+f.Name, f.Value.String())
		}
	})
	add("format", fmt.Sprint(r.questionOf(&setting{}).Around)) // the form decides whether there is a curve
	add("machine", string(machine.Format(r.on)))
	add("seed", fmt.Sprint(r.program.Seed))
	add("mapping", r.mapping)
	for _, digest := range r.digests {
		add("input", digest)
	}
	for _, file := range slices.Concat([]string{r.wiring.hopFile()}, r.spread.noise.Files()) {
		if file == "" {
			continue
		}
		record, err := input.RecordFile(file, "")
		if err != nil {
			return "", err
		}
		add("file", record.SHA256)
	}
	mapping, err := scenario.MappingDigest(r.mapping)
	if err != nil {
		return "", err
	}
	if mapping != r.mapping {
		add("mapping", mapping)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
