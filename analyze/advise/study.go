package advise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"slackline/analyze/profile"
	"slackline/analyze/simulate"
	"slackline/analyze/waits"
	"slackline/analyze/whatif"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// study is what is known of the run as it is: what kinds of changes propose from.
type study struct {
	base     Scenario
	source   func(callPath string) string // where the code of a call path is; nil: not known
	graph    *schedule.Graph
	ops      int64 // of the program
	runTime  unit.Duration
	critical *waits.CriticalPath
	result   *waits.Result

	slack      unit.Duration // what the run takes longer than its busiest rank computes and sends
	idealTime  unit.Duration // on a network that costs nothing
	idealGain  unit.Duration
	rendezvous int64 // messages above S
	eagerLimit int64 // the smallest S of all classes

	largestMessage int64
	calls          []*callInfo // sends, receives and collectives by call path
	sums           map[string]*computation
	irregular      unit.Duration // see disturbance; -1: not known yet
}

// callInfo is what the bounds need to know about the calls of a call path.
type callInfo struct {
	name  string
	kind  schedule.Kind
	op    schedule.Operation
	inner bool // part of another call, such as a fence

	count, largest int64
	afterWork      int64 // sends right after computation
	beforeWork     int64 // receives with computation between them and the next one
	inRow          int64 // sends that follow another one to the same rank
	toAll          bool  // a rank sends to, or receives from, all others one after the other
	waiting        unit.Sum
}

// maxOps is the largest number of operations of a program that is studied: all of them are in memory.
const maxOps = 50_000_000

// newStudy simulates the run as it is, and on an ideal network.
func newStudy(ctx context.Context, base Scenario, source func(string) string) (*study, error) {
	s := &study{base: base, source: source, sums: map[string]*computation{}, irregular: -1}
	var b schedule.Block
	for rank := range base.Program.Ranks() {
		for step := range base.Program.Steps(rank) {
			if s.ops > maxOps {
				return nil, fmt.Errorf("the program has more than %d operations; cut the run by time (--begin, --end) or take fewer ranks", maxOps)
			}
			base.Program.Block(rank, step, &b)
			s.ops += int64(len(b.Ops))
		}
	}
	result, err := base.Run(ctx, simulate.Options{Calls: true, Breakdown: true})
	if err != nil {
		return nil, err
	}
	if result.Calls == nil {
		return nil, errors.New("the simulation gave no timeline")
	}
	s.runTime, s.rendezvous = result.Makespan, result.Queues.Rendezvous
	busiest := unit.Duration(0)
	for i := range result.Ranks {
		r := &result.Ranks[i]
		busiest = max(busiest, r.Compute+r.Overhead+r.Noise)
	}
	s.slack = max(0, s.runTime-busiest)
	if s.result, err = waits.Analyze(ctx, result.Calls, waits.Options{Threads: base.Threads}); err != nil {
		return nil, err
	}
	if s.critical, err = s.result.FindCriticalPath(ctx); err != nil {
		return nil, err
	}
	ideal := base
	ideal.Machine = whatif.IdealNetwork()
	free, err := ideal.Run(ctx, simulate.Options{})
	if err != nil {
		return nil, err
	}
	s.idealTime = free.Makespan
	s.idealGain = max(0, s.runTime-free.Makespan)
	s.graph = graphOf(base.Program)
	s.eagerLimit = base.Machine.Classes[0].Eager
	for i := range base.Machine.Classes {
		s.eagerLimit = min(s.eagerLimit, base.Machine.Classes[i].Eager)
	}
	s.findCalls()
	return s, nil
}

func (s *study) ranks() int { return s.base.Program.Ranks() }

// findCalls looks at all calls of the program.
func (s *study) findCalls() {
	type key struct {
		name string
		kind schedule.Kind
		op   schedule.Operation
	}
	known := map[key]*callInfo{}
	origins := s.graph.Origins()
	names := make([]string, max(len(origins), 1))
	for i := range origins {
		names[i] = nameOf(&origins[i])
	}
	infoOf := func(op *schedule.Op, operation schedule.Operation) *callInfo {
		k := key{kind: op.Kind, op: operation}
		if int(op.Origin) < len(names) {
			k.name = names[op.Origin]
		}
		c := known[k]
		if c == nil {
			c = &callInfo{name: k.name, kind: k.kind, op: k.op}
			known[k] = c
			s.calls = append(s.calls, c)
		}
		return c
	}
	var b schedule.Block
	var views []blockView
	ops := s.graph.Ops()
	all := targets{all: true}
	for rank := range s.graph.Ranks() {
		for step := range s.graph.Steps(rank) {
			s.graph.Block(rank, step, &b)
			for i := range b.Ops {
				op := &b.Ops[i]
				switch {
				case op.Kind == schedule.Calc:
				case op.Kind == schedule.Collective:
					c := infoOf(op, b.Calls[op.Size].Op)
					c.count++
					c.inner = c.inner || op.IsInner()
				case op.World() == schedule.UserContext:
					c := infoOf(op, 0)
					c.count++
					c.largest = max(c.largest, op.Size)
					s.largestMessage = max(s.largestMessage, op.Size)
				}
			}
		}
		views = blocksOf(s.graph, rank, views)
		for i := range views {
			c := &callInfo{}
			if k := views[i].kind; k == sendBlock || k == recvBlock {
				c = infoOf(&ops[views[i].from], 0)
			}
			switch {
			case views[i].kind == sendBlock && i > 0 && views[i-1].kind == calcBlock:
				c.afterWork++
			case views[i].kind == recvBlock && i+2 < len(views) && views[i+1].kind == calcBlock:
				if len(receiveUnits(ops, views[i:min(i+16, len(views))], &all)) > 1 {
					c.beforeWork++
				}
			}
		}
		if s.graph.Ranks() >= minLoopRanks {
			for _, kind := range []schedule.Kind{schedule.Send, schedule.Recv} {
				for _, l := range loopsOf(s.graph, rank, views, &all, kind) {
					infoOf(&ops[l.ops[0]], 0).toAll = true
				}
			}
		}
	}
	for _, set := range messageSets(s.graph, &all) {
		for _, i := range set[1:] {
			infoOf(&ops[i], 0).inRow++
		}
	}
	for i := range s.result.Waits {
		w := &s.result.Waits[i]
		for _, c := range s.calls {
			if c.name == w.CallPath && !w.Metric.IsPart() {
				c.waiting.AddSum(w.Amount)
			}
		}
	}
}

// callNamed is what is known of the sends of a call path.
func (s *study) callNamed(name string) *callInfo {
	i := slices.IndexFunc(s.calls, func(c *callInfo) bool { return c.name == name && c.kind == schedule.Send })
	if i < 0 {
		return &callInfo{}
	}
	return s.calls[i]
}

// proposeCalls proposes a change of the calls of one kind that may be worth it.
func (s *study) proposeCalls(name string, of schedule.Kind, worth func(c *callInfo) bool) []candidate {
	var list []candidate
	for _, c := range s.calls {
		if c.kind != of || c.inner || !worth(c) {
			continue
		}
		bound := s.slack + s.idealGain
		if name == "arrival_order" {
			if bound = s.slack; c.waiting.Cmp(unit.SumOf(bound)) < 0 {
				bound = c.waiting.Duration()
			}
		}
		list = append(list, candidate{Change{Kind: name, Target: c.name}, bound})
	}
	return list
}

// criticalTime is the time of a call path, and of what it calls, on the critical path; "": all computation.
func (s *study) criticalTime(name string) unit.Duration {
	sum := unit.Duration(0)
	for i := range s.critical.Paths {
		p := &s.critical.Paths[i]
		if name == "" && s.computes(p.Path) || name != "" && (p.CallPath == name || strings.HasPrefix(p.CallPath, name+"/")) {
			sum += p.Time
		}
	}
	return sum
}

func (s *study) computes(path int32) bool {
	return path != 0 && profile.KindOf(&s.result.Paths.Region[path]) == profile.Computation
}

// criticalPaths are call paths with computation on the critical path, the longest first: functions, and those that call several of them.
func (s *study) criticalPaths(most int) []string {
	times := map[string]unit.Duration{}
	below := map[string]unit.Duration{} // the longest of the call paths below
	for i := range s.critical.Paths {
		p := &s.critical.Paths[i]
		if !s.computes(p.Path) || !s.named(p.CallPath) {
			continue
		}
		for name := p.CallPath; name != ""; name = parentOf(name) {
			times[name] += p.Time
		}
	}
	for name, t := range times {
		if parent := parentOf(name); parent != "" {
			below[parent] = max(below[parent], t)
		}
	}
	var list []string
	for name, t := range times {
		if t > below[name]+s.runTime/200 {
			list = append(list, name)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b)) })
	return list[:min(len(list), most)]
}

// named reports whether the program itself names a call path: without names, computation is called compute.
func (s *study) named(name string) bool {
	origins := s.graph.Origins()
	return slices.ContainsFunc(origins, func(o schedule.Origin) bool { return o.On(name) })
}

func parentOf(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i]
	}
	return ""
}

// place names a call path, with where its code is.
func (s *study) place(name string) string {
	if name == "" {
		return "the program"
	}
	text := "`" + strings.ReplaceAll(name, "`", "'") + "`"
	if s.source != nil {
		if at := s.source(name); at != "" {
			text += " (" + at + ")"
		}
	}
	return text
}

// computation is what the ranks compute in a call path.
type computation struct {
	byRank         []unit.Duration
	min, max, mean unit.Duration
}

// computation sums what is computed in a call path; "": everywhere.
func (s *study) computation(path string) *computation {
	if c := s.sums[path]; c != nil {
		return c
	}
	c, total := &computation{byRank: make([]unit.Duration, s.ranks())}, unit.Sum{}
	t := targetsOf(s.graph, path)
	ops := s.graph.Ops()
	for rank := range c.byRank {
		for i := s.graph.FirstOp(rank); i < s.graph.FirstOp(rank+1); i++ {
			if op := &ops[i]; op.Kind == schedule.Calc && t.has(op) {
				c.byRank[rank] += unit.Duration(op.Size)
			}
		}
		total.Add(c.byRank[rank])
	}
	c.min, c.max, c.mean = slices.Min(c.byRank), slices.Max(c.byRank), total.Mean(s.ranks()).Duration()
	s.sums[path] = c
	return c
}

// heavy names the ranks that have clearly more than the mean.
func (c *computation) heavy() string {
	limit := c.mean + (c.max-c.mean)/2
	var ranks []int
	for r, t := range c.byRank {
		if t >= limit {
			ranks = append(ranks, r)
		}
	}
	return ranksInWords(ranks)
}

// ranksInWords is a list of ranks for people.
func ranksInWords(ranks []int) string {
	switch {
	case len(ranks) == 0:
		return "no rank"
	case len(ranks) == 1:
		return fmt.Sprintf("rank %d", ranks[0])
	case ranks[len(ranks)-1]-ranks[0] == len(ranks)-1:
		return fmt.Sprintf("ranks %d to %d", ranks[0], ranks[len(ranks)-1])
	case len(ranks) > 6:
		return fmt.Sprintf("%d ranks, the first is %d", len(ranks), ranks[0])
	}
	text := fmt.Sprint(ranks[0])
	for _, r := range ranks[1 : len(ranks)-1] {
		text += fmt.Sprintf(", %d", r)
	}
	return fmt.Sprintf("ranks %s and %d", text, ranks[len(ranks)-1])
}

// capital begins a text with a capital letter.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
