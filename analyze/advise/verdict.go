package advise

import (
	"context"
	"fmt"
	"math"
	"strings"

	"slackline/analyze/simulate"
	"slackline/model/unit"
)

// Verdict is what became of the predicted gains.
type Verdict struct {
	Before    unit.Nanoseconds `json:"before_ns"` // run times: measured, or simulated if the runs were not recorded
	After     unit.Nanoseconds `json:"after_ns"`
	Gain      float64          `json:"gain"`
	Predicted *float64         `json:"predicted_gain,omitempty"` // of the changes that were made, together
	CameTrue  *bool            `json:"came_true,omitempty"`      // the gain is as predicted, within the noise and a tenth
	Changes   []Fate           `json:"changes"`
	Sentence  string           `json:"sentence"`
}

// Fate is what became of one predicted gain.
type Fate struct {
	Text      string  `json:"change"`
	Predicted float64 `json:"predicted_gain"`
	Left      float64 `json:"gain_left"` // what the same change would still gain
	State     string  `json:"state"`     // made, partly made or open
}

// The states of a prediction.
const (
	Made       = "made"
	PartlyMade = "partly made"
	Open       = "open"
)

// tenth is how far a measured gain may be from the predicted one.
const tenth = 0.1

// Judge says which of the gains that were predicted for a run came true in another one. A change counts as made if it would gain little
// in the other run: less than the noise, or less than a quarter of the prediction.
func Judge(ctx context.Context, r *Result, after Scenario, measured unit.Duration) (*Verdict, error) {
	now, err := after.Run(ctx, simulate.Options{})
	if err != nil {
		return nil, err
	}
	v := &Verdict{Before: r.RunTime, After: unit.Nanoseconds(now.Makespan), Changes: []Fate{}}
	if r.Measured != nil && measured > 0 {
		v.Before, v.After = *r.Measured, unit.Nanoseconds(measured)
	}
	v.Gain = gainOf(unit.Duration(v.Before), unit.Duration(v.After))
	var made []Change
	var names []string
	for i := range r.Advice {
		a := &r.Advice[i]
		f := Fate{Text: a.Text, Predicted: a.Gain}
		if x, err := after.Apply(ctx, a.Change); err == nil {
			result, err := x.Run(ctx, simulate.Options{})
			if err != nil {
				return nil, err
			}
			f.Left = gainOf(now.Makespan, result.Makespan)
		} else if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		switch {
		case f.Left < r.Noise.Share || f.Left < f.Predicted/4:
			f.State = Made
			made, names = append(made, a.Change), append(names, a.Text)
		case f.Left < 0.75*f.Predicted:
			f.State = PartlyMade
		default:
			f.State = Open
		}
		v.Changes = append(v.Changes, f)
	}
	if len(made) > 0 {
		// Changes that fix the same cause disappear together: the first one that explains the gain is the one that counts.
		best, name := math.Inf(1), ""
		for i := range made {
			g := gainAt(r, made[i])
			if d := math.Abs(g - v.Gain); d < best {
				best, name = d, names[i]
				v.Predicted = &g
			}
		}
		ok := math.Abs(v.Gain-*v.Predicted) <= max(r.Noise.Share, tenth**v.Predicted)
		v.CameTrue = &ok
		v.Sentence = fmt.Sprintf("The run takes %s. Of the predicted gains, that of %s (%s) fits best and %s.", thanBefore(v.Gain), name,
			percent(*v.Predicted), map[bool]string{true: "came true", false: "did not come true"}[ok])
		if len(names) > 1 {
			v.Sentence += fmt.Sprintf(" What can be gained no more: %s.", strings.Join(names, ", "))
		}
		return v, nil
	}
	v.Sentence = fmt.Sprintf("The run takes %s; ", thanBefore(v.Gain))
	if len(v.Changes) == 0 {
		v.Sentence += "no gain was predicted."
	} else {
		v.Sentence += "all predicted gains are still open."
	}
	return v, nil
}

// thanBefore compares the run time with that before the change.
func thanBefore(gain float64) string {
	switch text := percent(math.Abs(gain)); {
	case math.Abs(gain) < 0.0005:
		return "as long as before"
	case gain < 0:
		return text + " more than before"
	default:
		return text + " less than before"
	}
}

// gainAt is the predicted gain of a change.
func gainAt(r *Result, c Change) float64 {
	for i := range r.Advice {
		if r.Advice[i].Change == c {
			return r.Advice[i].Gain
		}
	}
	return 0
}
