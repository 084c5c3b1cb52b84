package waits

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// randomRun makes a run of one of several kinds.
func randomRun(seed uint64) *timeline.Timeline { return randomBuilder(seed).Finish(1) }

// randomBuilder makes a run that is not finished.
func randomBuilder(seed uint64) *timeline.Builder {
	switch seed % 8 {
	case 0: // clocks that are wrong
		m := newMachine(seed, 2+int(seed/8%4), 1+int(seed/16%3))
		for i := range m.skew {
			m.skew[i] = m.tick(60)
		}
		return m.run(120)
	case 1:
		return garbage(seed)
	case 2: // one process with threads
		return newMachine(seed, 1, 4).run(60)
	case 3: // long work: waits of several sizes
		m := newMachine(seed, 3, 2)
		m.longest = 5000
		return m.run(150)
	}
	if seed%8 >= 6 {
		return widely(seed)
	}
	return newMachine(seed, 2+int(seed/8%6), 1+int(seed/64%4)).run(150)
}

// summary is a result in a form that can be compared.
func summary(r *Result) map[string]string {
	s := map[string]string{}
	for _, w := range r.Waits {
		s[fmt.Sprintf("wait %s %d %s %s", w.Metric, w.Rank, r.Paths.Names[w.Path], w.Stream)] = fmt.Sprint(w.Split)
	}
	for _, d := range r.Delays {
		s[fmt.Sprintf("delay %d %s", d.Rank, r.Paths.Names[d.Path])] = fmt.Sprint(d.Cost)
	}
	s["unattributed"] = r.Totals.Unattributed.String()
	return s
}

// summary is what the definitions say, in the same form.
func (o *oracle) summary() map[string]string {
	waits := map[string]*Split{}
	add := func(m Metric, w *oracleWait, from, to unit.Duration) {
		if from == to {
			return
		}
		key := fmt.Sprintf("wait %s %d %s ", m, o.tl.Locations[w.location].Rank, w.path)
		if waits[key] == nil {
			waits[key] = &Split{}
		}
		share := func(of int64) unit.Duration { return roundedShare(of, to, w.amount) - roundedShare(of, from, w.amount) }
		waits[key].add(unit.SumOf(to-from), unit.SumOf(share(w.indirect)), unit.SumOf(share(w.propagating)))
	}
	for _, w := range o.waits {
		if w.metric == lateContributor.metric {
			add(earlyReduce.metric, w, 0, w.first)
		}
		add(w.metric, w, w.first, w.amount)
		if w.wrong {
			add(wrongOrder.metric, w, 0, w.amount)
		}
		if w.after > 0 {
			add(lateComplete.metric, w, w.amount-w.after, w.amount)
		}
	}
	s := o.costs()
	for key, w := range waits {
		s[key] = fmt.Sprint(*w)
	}
	return s
}

// costs are the part of a summary that is not waits.
func (o *oracle) costs() map[string]string {
	s := map[string]string{"unattributed": unit.Duration(o.unattributed).String()}
	for key := range o.short {
		c := Cost{unit.SumOf(unit.Duration(o.short[key])), unit.SumOf(unit.Duration(o.long[key]))}
		if c.Sum().Sign() > 0 {
			s[fmt.Sprintf("delay %d %s", key.rank, key.path)] = fmt.Sprint(c)
		}
	}
	return s
}

// roundedShare is of * part / whole, rounded to the nearest, up from a half.
func roundedShare(of int64, part, whole unit.Duration) unit.Duration {
	n := new(big.Int).Mul(big.NewInt(2*of), big.NewInt(int64(part)))
	n.Add(n, big.NewInt(int64(whole)))
	return unit.Duration(n.Div(n, big.NewInt(2*int64(whole))).Int64())
}

func analyze(t *testing.T, tl *timeline.Timeline, threads int) *Result {
	t.Helper()
	r, err := Analyze(context.Background(), tl, Options{Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// runs is how many random runs the tests try.
func runs() uint64 {
	if testing.Short() {
		return 200
	}
	return 1200
}

func TestAgainstDefinitions(t *testing.T) {
	metrics, handed := map[Metric]int{}, map[string]int{}
	cyclic := 0
	for seed := range runs() {
		tl := randomRun(seed)
		r := analyze(t, tl, 1)
		for _, w := range r.Waits {
			metrics[w.Metric]++
		}
		r.countHanded(handed)
		o := newOracle(tl)
		if o.cyclic != (r.Cyclic > 0) {
			t.Fatalf("seed %d: cyclic = %d, want some: %v", seed, r.Cyclic, o.cyclic)
		}
		if o.cyclic {
			cyclic++
			continue
		}
		if diff := cmp.Diff(o.summary(), summary(r)); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
		}
	}
	for _, m := range Metrics() {
		if metrics[m] == 0 && !kinds[m].inside {
			t.Errorf("no run has %s", m)
		}
	}
	for _, what := range []string{"sends", "receives", "collectives", "operations on files", "late_sender", "late_receiver", "nxn", "barrier",
		"late_broadcast", "early_scan", "late_contributor"} {
		if handed[what] == 0 {
			t.Errorf("no run has %s of requests that one thread hands to another one", what)
		}
	}
	t.Logf("%v, %d runs with circles, handed from thread to thread: %v", metrics, cyclic, handed)
}

// countHanded counts what one thread began and another one of its rank completed, and the wait states at it.
func (r *Result) countHanded(counts map[string]int) {
	tl := r.Timeline
	for i := range tl.Messages {
		if tl.Messages[i].DoneBy != 0 {
			counts["sends"]++
		}
		if tl.Messages[i].PostedBy != 0 {
			counts["receives"]++
		}
	}
	for i := range tl.Collectives {
		c := &tl.Collectives[i]
		for _, m := range tl.MembersOf(c) {
			switch {
			case m.IssuedBy != 0 && c.Scope == timeline.ByFile:
				counts["operations on files"]++
			case m.IssuedBy != 0:
				counts["collectives"]++
			}
		}
	}
	for i := range r.a.states {
		s := &r.a.states[i]
		handed := false
		switch {
		case s.metric == lateSender.metric:
			handed = tl.Messages[s.reference].PostedBy != 0
		case s.metric == lateReceiver.metric:
			handed = tl.Messages[s.reference].DoneBy != 0 || tl.Messages[s.reference].PostedBy != 0
		case s.reference >= 0 && len(kinds[s.metric].collectives) > 0:
			handed = slices.ContainsFunc(tl.MembersOf(&tl.Collectives[s.reference]), func(m timeline.Member) bool {
				return m.IssuedBy != 0 && (m.Location == s.location || m.Issuer() == s.cause)
			})
		}
		if handed {
			counts[s.metric.String()]++
		}
	}
}

func TestLaws(t *testing.T) {
	for seed := range runs() {
		tl := randomRun(seed)
		r := analyze(t, tl, 1)
		checkLaws(t, fmt.Sprintf("seed %d", seed), r)
	}
}

// checkLaws checks what holds for every run.
func checkLaws(t *testing.T, name string, r *Result) {
	t.Helper()
	costs := r.Totals.Delay.Sum().Plus(r.Totals.Unattributed)
	if costs != r.Totals.Waiting.Amount {
		t.Fatalf("%s: delay costs and unattributed time = %v, want %v as waited", name, costs, r.Totals.Waiting.Amount)
	}
	var delays, byWait unit.Sum
	for i := range r.Delays {
		delays.AddSum(r.Delays[i].Sum())
		for _, c := range r.Delays[i].ByWait {
			byWait.AddSum(c.Sum())
		}
		if d := &r.Delays[i]; d.Short.Sign() < 0 || d.Long.Sign() < 0 || d.Sum().Sign() == 0 {
			t.Errorf("%s: cost of %s = %v", name, r.Paths.Names[d.Path], d.Cost)
		}
	}
	if delays != r.Totals.Delay.Sum() || byWait != delays {
		t.Errorf("%s: sum of delays = %v, by kind of wait %v, want %v", name, delays, byWait, r.Totals.Delay.Sum())
	}
	for i := range r.Waits {
		w := &r.Waits[i]
		if w.Direct.Plus(w.Indirect) != w.Amount || w.Propagating.Plus(w.Terminal) != w.Amount {
			t.Errorf("%s: %s splits into %v", name, w.Metric, w.Split)
		}
		if w.Amount.Sign() <= 0 || w.Direct.Sign() < 0 || w.Indirect.Sign() < 0 || w.Propagating.Sign() < 0 || w.Terminal.Sign() < 0 {
			t.Errorf("%s: %s has negative parts: %v", name, w.Metric, w.Split)
		}
	}
	a := r.a
	for i := range a.states {
		s := &a.states[i]
		c := a.spanOf(s.location, s.call)
		hidden := a.devices != nil && s.amount == 0 && a.devices.details[i].form == betweenProcesses
		elsewhere := a.isInner(i) && a.devices.details[i].form != hostForDevice // before its call
		if s.amount <= 0 && !hidden || s.amount > c.leave-c.enter && !elsewhere {
			t.Fatalf("%s: a wait of %v in a call of %v", name, s.amount, c.leave-c.enter)
		}
		if i > 0 && a.states[i-1].location == s.location && a.states[i-1].call >= s.call && int(s.location) < a.hosts {
			t.Fatalf("%s: two wait states in one call", name)
		}
		if s.location == s.cause && !a.isInner(i) {
			t.Fatalf("%s: location %d waits for itself", name, s.location)
		}
	}
}

// TestUnattributed checks the property of real executions: waits without cause exist only between locations that had not met before,
// or if the one that came late was in no call, as threads are that have nothing to do.
func TestUnattributed(t *testing.T) {
	for seed := range runs() {
		if seed%8 < 2 {
			continue // wrong clocks and garbage
		}
		r := analyze(t, randomRun(seed), 1)
		c := newCauses(r.a.paths)
		for i := range r.a.states {
			s := &r.a.states[i]
			if cause := &r.Timeline.Locations[s.cause]; s.since < cause.First || cause.Thread > 0 { // or began later than the waiting thread
				continue
			}
			c.find(r.a, i)
			if c.total < int64(s.amount) {
				t.Fatalf("seed %d: the causes of a wait of %v weigh %d", seed, s.amount, c.total)
			}
		}
	}
}

// Without the backward pass the waits are the same; there are no classes and no delays.
func TestForward(t *testing.T) {
	for seed := range runs() / 4 {
		want := analyze(t, randomRun(seed), 1)
		want.declassify()
		got, err := Analyze(t.Context(), randomRun(seed), Options{Threads: 2, Forward: true})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Waits, got.Waits); diff != "" {
			t.Fatalf("seed %d (-full +forward):\n%s", seed, diff)
		}
		if got.Totals.Waiting != want.Totals.Waiting || got.Totals.ByMetric != want.Totals.ByMetric || got.States != want.States ||
			len(got.Delays) > 0 {
			t.Fatalf("seed %d: totals %+v, want %+v", seed, got.Totals, want.Totals)
		}
	}
}

func TestThreadsDoNotMatter(t *testing.T) {
	for seed := range runs() / 4 {
		tl := randomRun(seed)
		want := summary(analyze(t, tl, 1))
		for _, threads := range []int{2, 5} {
			if diff := cmp.Diff(want, summary(analyze(t, tl, threads))); diff != "" {
				t.Fatalf("seed %d, %d threads (-one +several):\n%s", seed, threads, diff)
			}
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Analyze(ctx, figure3(), Options{Threads: 2}); err != context.Canceled {
		t.Errorf("error = %v, want %v", err, context.Canceled)
	}
}

func TestEmptyRun(t *testing.T) {
	for _, b := range []*timeline.Builder{timeline.NewBuilder(0), timeline.NewBuilder(3)} {
		r := analyze(t, b.Finish(1), 2)
		if r.Totals.Waiting.Amount.Sign() != 0 || len(r.Waits) != 0 {
			t.Errorf("an empty run waits %v", r.Totals.Waiting.Amount)
		}
	}
}
