package tolerance

import (
	"context"
	"fmt"

	"slackline/cli/env"
	"slackline/cli/input"
	"slackline/cli/scenario"
	"slackline/internal/cluster"
	"slackline/internal/provenance"
)

// openInputs opens the inputs. Of several of them each is opened by the one process of a job whose task it is; only the
// standard input is read by process 0, for all.
func (r *run) openInputs() error {
	r.inputs = make([]*input.Input, len(r.words))
	r.program.ShareWhole(r.app)
	for i, word := range r.words {
		if r.app.Shares() && len(r.words) > 1 && word != input.Stdin {
			continue
		}
		var err error
		if r.inputs[i], err = r.openInput(word); err != nil {
			return err
		}
	}
	r.program.Share = nil
	return nil
}

func (r *run) openInput(word string) (*input.Input, error) {
	return r.program.Open(r.app, r.command, word, r.result.IsJSON() || r.spread.resume != "")
}

// inputFacts is what process 0 has to know of an input that another process has opened.
type inputFacts struct {
	Pattern, Format string
	Record          provenance.Input
	Mapped          bool         // the mapping matters
	Remarks         []env.Remark // to the user
}

// answerInput answers the question about one of several inputs, and opens it if it is not open.
func (r *run) answerInput(i int) (*sharedAnswer, error) {
	facts := &inputFacts{}
	in := r.inputs[i]
	if in == nil {
		r.app.OnRemark = func(said env.Remark) { facts.Remarks = append(facts.Remarks, said) }
		defer func() { r.app.OnRemark = nil }()
		var err error
		if in, err = r.openInput(r.words[i]); err != nil {
			return nil, err
		}
		r.program.WarnOfMapping(r.app, r.command, in)
	}
	schedule, err := r.prepare(in, r.mapping)
	if err != nil {
		return nil, err
	}
	set, err := r.setting(schedule.Ranks())
	if err != nil {
		return nil, err
	}
	found, err := ask(schedule, set.network, r.questionOf(set))
	if err != nil {
		return nil, err
	}
	facts.Pattern, facts.Format, facts.Record, facts.Mapped = in.Pattern, in.Format, in.Record, r.program.Mapped(in)
	found.Input = facts
	return found, nil
}

// takeInputs takes note of the inputs that tasks have opened, and passes their notes and warnings on to the user.
func (r *run) takeInputs(answers []sharedAnswer) error {
	for i := range answers {
		if r.inputs[i] != nil {
			continue
		}
		facts := answers[i].Input
		if facts == nil {
			return fmt.Errorf("nothing was received about %s", r.words[i])
		}
		for _, said := range facts.Remarks {
			if said.Warning {
				r.app.Warn("%s", said.Text)
			} else {
				r.app.Note("%s", said.Text)
			}
		}
		r.inputs[i] = &input.Input{Name: r.words[i], Pattern: facts.Pattern, Format: facts.Format, Record: facts.Record}
		if i == 0 {
			r.mappedElsewhere = facts.Mapped
		}
	}
	return nil
}

// findDigests names the inputs by their content, for process 0, which keeps answers by it. The processes of a job read
// them one by one.
func (r *run) findDigests() error {
	r.digests = make([]string, len(r.words))
	if r.spread.resume == "" {
		return nil
	}
	return cluster.Tasks(r.context, r.app.Group(), len(r.words), 1, func(_ context.Context, i int) ([]byte, error) {
		in := r.inputs[i]
		if in == nil {
			r.app.OnRemark = func(env.Remark) {} // it will be opened once more
			defer func() { r.app.OnRemark = nil }()
			var err error
			if in, err = r.openInput(r.words[i]); err != nil {
				return nil, err
			}
		}
		digest, err := digestOf(in)
		return []byte(digest), err
	}, func(i int, digest []byte) error {
		r.digests[i] = string(digest)
		return nil
	})
}

// digestOf names an input by its content.
func digestOf(in *input.Input) (string, error) {
	switch {
	case in.Replay != nil:
		digest, err := scenario.ProgramDigest(in.Replay)
		return "run " + digest, err
	case in.IsFile():
		return "file " + in.Record.SHA256, nil
	}
	return "pattern " + in.Pattern, nil
}
