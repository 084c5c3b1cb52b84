package campaign

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"slackline/internal/yamlfile"
)

// launch reads how the command is started.
func (r *planReader) launch(e yamlfile.Entry) {
	text, ok := e.Value.Scalar()
	switch {
	case ok && text == launchLocal:
		return
	case ok && text == launchSbatch:
		r.sbatch = true
		r.signature = append(r.signature, "launch: sbatch")
		return
	case ok && text == launchMPIRun:
		if !slices.Contains(r.names, "p") {
			e.Value.Errorf("launch: mpirun starts p processes, but there is no parameter p; write e.g. \"launch: mpirun -n 4 {command}\"")
			return
		}
		r.signature = append(r.signature, "launch: mpirun -n {p} {command}")
		r.plan.launch = r.templates(e.Value, e.Key, []string{"mpirun", "-n", "{p}", "{command}"}, launchText)
		return
	}
	r.plan.launch = r.words(e, launchText)
	if r.plan.launch != nil && !slices.ContainsFunc(r.plan.launch, func(t *template) bool { return t.is("command") }) {
		e.Value.Errorf("launch has no word {command}; give local, mpirun, sbatch, " +
			"or a command such as \"mpirun -n {p} --bind-to core {command}\"")
	}
}

// The defaults of a batch system: Slurm. Without --all, squeue does not show jobs in partitions that are hidden.
func newBatch() *Batch {
	return &Batch{Submit: []string{"sbatch"}, Queue: []string{"squeue", "--noheader", "--all"}, Poll: 5 * time.Second}
}

// batch reads the options of the batch system.
func (r *planReader) batch(e yamlfile.Entry) {
	b := newBatch()
	for _, q := range e.Value.Mapping("batch", &batchKeys) {
		switch q.Key {
		case "submit":
			if words, ok := wordsOf(q.Value, "submit"); ok {
				b.Submit = words
				refuseArrays(q.Value, words)
			}
		case "queue":
			if words, ok := wordsOf(q.Value, "queue"); ok {
				b.Queue = words
			}
		case "options":
			words, ok := wordsOf(q.Value, "options")
			if ok {
				r.signature = append(r.signature, "options: "+Quote(words))
				b.Options = r.templates(q.Value, "options", words, textNames)
				refuseArrays(q.Value, words)
			}
		case "setup":
			if b.Setup, _ = q.Value.Text("setup"); b.Setup != "" {
				r.signature = append(r.signature, "setup: "+b.Setup)
			}
			if directive.MatchString(b.Setup) {
				q.Value.Errorf("setup: sbatch does not read %s lines, which come after a command here; write what they say into options",
					batchMark)
			}
		case "poll":
			b.Poll = duration(q)
		}
	}
	r.plan.batch = b
}

// array is an option that makes a job several ones; sbatch takes shortened names, and letters without a value in one word.
var array = regexp.MustCompile(`^(--ar(r(ay?)?)?(=|$)|-[HhIkOQsvW]*a)`)

// Options in a script begin with batchMark.
const batchMark = "#SBATCH"

var directive = regexp.MustCompile(`(?m)^\s*` + batchMark)

// refuseArrays reports options by which each run would be done several times, with all jobs of an array writing the same files.
func refuseArrays(n yamlfile.Node, words []string) {
	if i := slices.IndexFunc(words, array.MatchString); i >= 0 {
		n.Errorf("%s makes an array of jobs of each run, which is then done several times; leave it out: each run is a job of its own, and "+
			"\"repetitions\" repeats runs", words[i])
	}
}

func (r *planReader) environment(e yamlfile.Entry) {
	entries, ok := e.Value.Entries()
	if !ok {
		e.Errorf("environment must be names with values, as in \"OMP_NUM_THREADS: 4\"")
		return
	}
	for _, q := range entries {
		text, ok := q.Value.Text(q.Key)
		if !ok {
			continue
		}
		if q.Key == "" || strings.ContainsAny(q.Key, "=\x00 ") {
			q.Errorf("expected the name of an environment variable, got %s", yamlfile.Quote(q.Key))
			continue
		}
		for _, t := range r.templates(q.Value, q.Key, []string{text}, textNames) {
			r.plan.environment = append(r.plan.environment, variable{q.Key, t})
		}
		r.signature = append(r.signature, "environment: "+q.Key+"="+text)
	}
}
