package whatif

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"slackline/analyze/simulate"
	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// Attribution describes what the noise of one run did: how much of it lengthened the run, by source and
// by rank, and what became of the rest.
//
// Injected is the CPU time that detours and delays took while there was work. Every picosecond of
// it is either on the critical path or absorbed. The critical path is the chain of causes that
// leads from the last finish back to time 0; its parts add up to the makespan, and
//
//	growth = noise on the path + path change
//
// where the path change is the length of the path without its noise minus the noiseless makespan.
// It is below 0 where noise overtakes a wait: the path then goes another way, on which there is
// less to do. It is above 0 where noise lets work pile up that was spread over time before, such as
// the overhead of messages that arrive while a rank is held up.
//
// Noise moves everything whose start its end determined, directly or through others. If that
// reaches the makespan the noise is on the path; if not, it is absorbed where its influence ends
// last: in a wait, at a busy receiver, at the end of a rank that is not the last one, or beside
// another cause that was just as late.
type Attribution struct {
	Makespan   unit.Nanoseconds `json:"makespan_ns"`
	Noiseless  unit.Nanoseconds `json:"noiseless_ns"` // makespan without noise
	Growth     unit.Nanoseconds `json:"growth_ns"`    // of the makespan
	PathChange unit.Nanoseconds `json:"path_change_ns"`

	// FinishGrowth is the growth of the sum of the finish times of all ranks. Amplification is
	// that over the injected noise, 0 if there is none.
	FinishGrowth  unit.Nanoseconds `json:"finish_growth_ns"`
	Amplification float64          `json:"amplification"`

	Total   Account         `json:"total"`
	Path    CriticalPath    `json:"path"`
	Sources []SourceAccount `json:"sources"` // the largest noise on the path first
	Ranks   []RankAccount   `json:"by_rank"` // the largest noise on the path first
}

// Account is what became of noise: Injected = Critical + Absorbed, and Absorbed is the sum of
// what follows it.
type Account struct {
	Injected unit.Nanoseconds `json:"injected_ns"`
	Critical unit.Nanoseconds `json:"critical_ns"` // on the critical path
	Absorbed unit.Nanoseconds `json:"absorbed_ns"`

	Waiting  unit.Nanoseconds `json:"waiting_ns"`  // before a CPU waited for something else anyway
	Busy     unit.Nanoseconds `json:"busy_ns"`     // in a message that found its receiver busy
	Transfer unit.Nanoseconds `json:"transfer_ns"` // hidden behind the bytes of a message on their way in
	Tied     unit.Nanoseconds `json:"tied_ns"`     // beside a cause that was just as late
	Finish   unit.Nanoseconds `json:"finish_ns"`   // until the finish of a rank that was not the last one
}

// SourceAccount is the account of a source of noise.
type SourceAccount struct {
	Source string `json:"source"`
	Account
}

// RankAccount is the account of the noise on a rank.
type RankAccount struct {
	Rank int `json:"rank"`
	Account
	// AbsorbedHere is the noise, of any rank, whose influence ended at this rank.
	AbsorbedHere unit.Nanoseconds `json:"absorbed_here_ns"`
}

// MaxAttributionSteps is the largest number of operations of a run that can be attributed: all
// of them are held in memory, with about 80 bytes each.
const MaxAttributionSteps = 20_000_000

// Attribute simulates a program with and without the noise of the options and reports what the noise
// did.
func Attribute(ctx context.Context, p schedule.Program, m *machine.Machine, o simulate.Options) (*Attribution, error) {
	return attribute(ctx, p, m, o, MaxAttributionSteps)
}

func attribute(ctx context.Context, p schedule.Program, m *machine.Machine, o simulate.Options, most int64) (*Attribution, error) {
	if o.Model != "" && o.Model != simulate.LogGOPS {
		return nil, fmt.Errorf("the model %s has no noise that could be attributed; use the model %s", o.Model, simulate.LogGOPS)
	}
	o.Detail, o.Breakdown = false, false
	quiet, err := noiseless(ctx, p, m, o, most)
	if err != nil {
		return nil, err
	}
	o.Causes = true
	noisy, err := simulate.Run(ctx, p, m, o)
	if err != nil {
		return nil, err
	}
	in := o.Noise
	if in != nil && in.Empty() {
		in = nil
	}
	w := newAttributionWork(noisy, in)
	path := w.walk()
	w.settle()
	if w.overflow {
		return nil, simulate.ErrOverflow
	}
	a := &Attribution{
		Makespan:  unit.Nanoseconds(noisy.Makespan),
		Noiseless: unit.Nanoseconds(quiet.Makespan),
		Growth:    unit.Nanoseconds(noisy.Makespan - quiet.Makespan),
		Path:      path,
	}
	a.PathChange = a.Growth - path.Noise
	return a, a.take(w, quiet, noisy)
}

// noiseless runs the program without noise, and breaks off if it is too large to be attributed.
func noiseless(ctx context.Context, p schedule.Program, m *machine.Machine, o simulate.Options, most int64) (*simulate.Result, error) {
	tooLarge := fmt.Errorf("the run has more than %d operations, too many to keep the cause of each; take fewer ranks or fewer steps", most)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	report := o.Progress
	o.Noise = nil
	o.Progress = func(now unit.Duration, messages int64) {
		if messages > most/2 { // a message has two ends
			cancel(tooLarge)
		}
		if report != nil {
			report(now, messages)
		}
	}
	r, err := simulate.Run(ctx, p, m, o)
	switch {
	case errors.Is(context.Cause(ctx), tooLarge):
		return nil, tooLarge
	case err != nil:
		return nil, err
	case r.Ops > most:
		return nil, tooLarge
	}
	return r, nil
}

// take fills in the accounts.
func (a *Attribution) take(w *attributionWork, quiet, noisy *simulate.Result) error {
	for rank, l := range w.byRank {
		a.Ranks = append(a.Ranks, RankAccount{rank, l.account(), unit.Nanoseconds(w.here[rank])})
		a.FinishGrowth += unit.Nanoseconds(noisy.Finish[rank] - quiet.Finish[rank])
		if f := a.FinishGrowth; f > finishBound || f < -finishBound {
			return simulate.ErrOverflow
		}
	}
	slices.SortStableFunc(a.Ranks, func(x, y RankAccount) int { return x.compare(&y.Account) })
	a.Total = w.total.account()
	for i, label := range w.labels {
		if l := w.bySource[i]; label != noise.DelayLabel || l != (ledger{}) {
			a.Sources = append(a.Sources, SourceAccount{label, l.account()})
		}
	}
	slices.SortStableFunc(a.Sources, func(x, y SourceAccount) int { return x.compare(&y.Account) })
	if a.Total.Injected > 0 {
		a.Amplification = float64(a.FinishGrowth) / float64(a.Total.Injected)
	}
	return nil
}

// finishBound bounds the growth of the sum of finish times. Adding one more difference to a sum
// within it may wrap around, but then lands outside of it.
const finishBound = unit.Nanoseconds(1 << 62)

// compare puts the account with more noise on the path first, then that with more noise.
func (x *Account) compare(y *Account) int {
	return cmp.Or(cmp.Compare(y.Critical, x.Critical), cmp.Compare(y.Injected, x.Injected))
}
