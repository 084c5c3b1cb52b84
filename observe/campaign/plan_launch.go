package campaign

import (
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
			}
		case "setup":
			if b.Setup, _ = q.Value.Text("setup"); b.Setup != "" {
				r.signature = append(r.signature, "setup: "+b.Setup)
			}
		case "poll":
			b.Poll = duration(q)
		}
	}
	r.plan.batch = b
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
