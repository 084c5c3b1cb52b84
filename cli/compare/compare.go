// Package compare is the verb compare: it compares runs and measurements.
package compare

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/compare"
	"slackline/analyze/waits"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/cli/input"
	"slackline/cli/scenario"
	"slackline/internal/phrase"
	"slackline/internal/plain"
	"slackline/internal/provenance"
)

// compareOptions are the flags of compare.
type compareOptions struct {
	run    scenario.RunOptions
	failIf []string
	alpha  flags.Fraction
	top    int
	result env.ResultFlags
}

// Verb is the entry of the registry.
var Verb = env.Verb{
	Name: "compare", Group: env.Analyze, Job: env.FirstOnly, New: command,
	Documents: env.Documents{"compare": {document{}}},
}

func command(a *env.Env) *cobra.Command {
	o := &compareOptions{alpha: flags.Fraction{Between: true}}
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two runs by call path and metric: what changed, and whether that is more than chance.",
		Long: "Compare the run time, and by call path the time, the waiting time, and the delay costs of two runs, the largest changes first; " +
			"if they count instructions and cycles, also how these change the computation. " +
			"Repetitions of a run are given as a list, a1,a2,a3; the launches of 'measure collectives' are repetitions, too: changes then come " +
			"with the probability of seeing them by chance (Mann-Whitney); at least four of each are needed to tell.",
		Annotations: flags.Arguments("A, B", "a recorded run, something to simulate, or what 'slackline waits --format json', 'slackline "+
			"profile --format json' or 'slackline measure collectives --format json' wrote; or several of them, with commas between"),
		Example: `  slackline compare before/traces.otf2 after/traces.otf2
  slackline compare a1.json,a2.json,a3.json,a4.json b1.json,b2.json,b3.json,b4.json --fail-if 'run_time>5%'
  slackline compare old.json new.json --fail-if 'waiting@main/solve>10%'
  slackline compare mpi-before.json mpi-after.json --fail-if 'time@*>5%'`,
		Args: flags.ExactArgs("A", "B"),
		RunE: func(c *cobra.Command, args []string) error { return o.execute(a, c, args) },
	}
	a.AddGroup(c, "Verdict", func(fs *pflag.FlagSet) {
		fs.StringArrayVar(&o.failIf, "fail-if", nil, "exit with 3 if `METRIC[@CALLPATH]>CHANGE`, e.g. 'run_time>5%', 'waiting>100ms', "+
			"'time@main/solve<-10%'; may be repeated")
		fs.Var(&o.alpha, "alpha", "`probability` of chance below which a change counts, with repetitions (default 0.05)")
	})
	a.AddGroup(c, "Output", func(fs *pflag.FlagSet) {
		flags.AddNumber(fs, &o.top, "top", 20, flags.AtLeast(0), "`number` of rows in the text output; 0: all")
		o.result.AddFlags(fs, "form of the output")
	})
	o.run.AddTo(a, c)
	o.run.Future.Program.GridOfRun = false // there are no maps
	return c
}

func (o *compareOptions) execute(a *env.Env, c *cobra.Command, args []string) error {
	var conditions []*compare.Condition
	for _, text := range o.failIf {
		condition, err := compare.ParseCondition(text)
		if err != nil {
			return exit.Usagef("--fail-if: %v", err)
		}
		conditions = append(conditions, condition)
	}
	if err := o.result.Check(args); err != nil {
		return err
	}
	report := &report{options: o, names: args}
	sides, err := o.openAll(a, c, report)
	if err != nil {
		return err
	}
	if len(sides[0]) == 1 && len(sides[1]) == 1 {
		a.WarnOfVoid(c, ": no side has repetitions", "alpha")
	}
	warnOfRanks(a, sides)
	report.Result = compare.Compare(sides[0], sides[1], o.significance())
	warnOfPaths(a, report)
	warnOfWays(a, report)
	for _, condition := range conditions {
		v := report.Judge(condition)
		if v.Warning != "" {
			a.Warn("--fail-if %s: %s", plain.Name(v.Condition), plain.Name(v.Warning))
		}
		report.verdicts = append(report.verdicts, v)
	}
	if err := a.WriteResult("compare", report, &o.result, args); err != nil {
		return err
	}
	return report.exit()
}

func (o *compareOptions) significance() float64 {
	if o.alpha.Given {
		return o.alpha.Value
	}
	return 0.05
}

// openAll takes the numbers of all runs. Results come first: the start and the end of MPI are in all runs, or in none, and what a result
// has can no longer be changed.
func (o *compareOptions) openAll(a *env.Env, c *cobra.Command, report *report) (sides [2][]compare.Run, err error) {
	if err := checkRepetitions(report.names); err != nil {
		return sides, err
	}
	heads := map[string][]byte{}      // of results
	var records [2][]provenance.Input // of the runs of a side
	for _, results := range []bool{true, false} {
		if o.run.Start = scenario.LeaveStart; slices.ContainsFunc(slices.Concat(sides[0], sides[1]), compare.Run.KeepsStart) {
			o.run.Start = scenario.KeepStart
		}
		for i, arg := range report.names {
			for word := range strings.SplitSeq(arg, ",") {
				if results {
					heads[word] = resultHead(word)
				}
				if (heads[word] != nil) != results {
					continue
				}
				open := o.openRun
				if results {
					open = o.openResult
				}
				before := len(report.records)
				runs, err := open(a, c, report, word, heads[word])
				if err != nil {
					return sides, err
				}
				sides[i] = append(sides[i], runs...)
				records[i] = append(records[i], report.records[before]) // that of the run, not those of its machine and noise
			}
		}
	}
	for _, side := range records {
		a.WarnOfCopies(side)
	}
	warnOfSame(a, report.names, records)
	return sides, nil
}

// warnOfSame warns of a run that both sides have, under the same name or another one: nothing can have changed.
func warnOfSame(a *env.Env, names []string, records [2][]provenance.Input) {
	if word := inBoth(names); word != "" {
		a.Warn("%s is in A and in B: it is compared with itself", word)
		return
	}
	for _, x := range records[0] {
		for _, y := range records[1] {
			if x.SHA256 == y.SHA256 && x.SHA256 != "" && x.Kind == y.Kind {
				a.Warn("%s in B holds the same bytes as %s in A: if it is a copy, the run is compared with itself", y.Path, x.Path)
				return
			}
		}
	}
}

// resultHead is the head of a result in JSON, nil of anything else: recorded runs may be JSON, too.
func resultHead(word string) []byte {
	head, err := input.Head(word)
	if err != nil || !bytes.HasPrefix(head, []byte("{")) || input.IsTrace(word) { // OpenRun reports mistakes
		return nil
	}
	return head
}

// checkRepetitions refuses a side that has a run twice: it would count as two that agree.
func checkRepetitions(names []string) error {
	for i, arg := range names {
		words := strings.Split(arg, ",")
		for k, word := range words {
			if slices.ContainsFunc(words[:k], func(other string) bool { return same(word, other) }) {
				return exit.Usagef("%s is in %s twice; give different runs as repetitions, each of them once", word, []string{"A", "B"}[i])
			}
		}
	}
	return nil
}

// inBoth is a run that both sides have; empty: there is none.
func inBoth(names []string) string {
	for word := range strings.SplitSeq(names[0], ",") {
		for other := range strings.SplitSeq(names[1], ",") {
			if same(word, other) {
				return other
			}
		}
	}
	return ""
}

// same reports whether two words name the same file or directory, or the same schedule to simulate.
func same(word, other string) bool {
	if word == other {
		return true
	}
	x, err := os.Stat(word)
	if err != nil {
		return false // openRun reports mistakes
	}
	y, err := os.Stat(other)
	return err == nil && os.SameFile(x, y)
}

// openResult takes the numbers of runs from a result in JSON.
func (o *compareOptions) openResult(a *env.Env, c *cobra.Command, report *report, word string, head []byte) ([]compare.Run, error) {
	o.warnOfVoid(a, c, word)
	if bytes.Contains(head[:min(64, len(head))], []byte(`"slackline_dataset"`)) {
		return readLaunches(report, word)
	}
	data, record, err := input.ReadSmall(c.Context(), word, "result", a.Stdin)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(data) {
		a.Warn("%s: is not UTF-8 text: is the file damaged?", word)
	}
	run, err := compare.Read(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", word, err)
	}
	report.records = append(report.records, record)
	return doubted(a, word, run), nil
}

// openRun takes the numbers of a run that is read or simulated.
func (o *compareOptions) openRun(a *env.Env, c *cobra.Command, report *report, word string, _ []byte) ([]compare.Run, error) {
	r, err := o.run.OpenRun(a, c, word, true) // the hashes show copies
	if err != nil {
		return nil, err
	}
	report.records = append(report.records, r.Records...)
	found, err := waits.Analyze(c.Context(), r.Timeline, waits.Options{Threads: o.run.Threads})
	if err != nil {
		return nil, err
	}
	return doubted(a, word, compare.Of(found)), nil
}

// doubted warns of a run whose waits and delays may be wrong.
func doubted(a *env.Env, word string, run compare.Run) []compare.Run {
	if n := run.Missing.Circles; n > 0 {
		a.Warn("%s: %s, so the clocks are wrong", word, phrase.Circles(n))
	}
	return []compare.Run{run}
}

// warnOfRanks warns of runs on different numbers of ranks: what changed may be due to that.
func warnOfRanks(a *env.Env, sides [2][]compare.Run) {
	var ranks [2]string
	for i, runs := range sides {
		var list []string
		for _, run := range runs {
			if n := fmt.Sprint(run.Ranks); run.Ranks > 0 && !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
		ranks[i] = strings.Join(list, ", ")
	}
	if ranks[0] != ranks[1] && ranks[0] != "" && ranks[1] != "" {
		a.Warn("the number of ranks is %s in A and %s in B: changes may be due to that", ranks[0], ranks[1])
	}
}

// warnOfPaths warns of what only one side has.
func warnOfPaths(a *env.Env, r *report) {
	for i, side := range []string{"A", "B"} {
		const most = 3
		if only := r.OnlyIn(i); len(only) > 0 {
			more := ""
			if len(only) > most {
				more = ", ..."
			}
			names := plain.Name(strings.Join(only[:min(most, len(only))], ", "))
			a.Warn("%s only in %s: %s%s", phrase.Plural(len(only), "call path"), side, names, more)
		}
	}
	if n := r.Left(); n > 0 {
		a.Warn("left out, because one side does not have them: %s", phrase.Plural(n, "measurement"))
	}
}

// warnOfVoid warns of flags of runs beside a result, in which they cannot change anything any more.
func (o *compareOptions) warnOfVoid(a *env.Env, c *cobra.Command, word string) {
	a.WarnOfAllBut(c, " on "+word+", which is a result", "fail-if", "alpha", "top", "format", "out", "threads")
}

// report is a comparison with everything that its output names.
type report struct {
	*compare.Result
	options  *compareOptions
	names    []string
	verdicts []compare.Verdict
	records  []provenance.Input

	libraries []library // of measurements of collectives
}

// exit is the exit code of the verdicts.
func (r *report) exit() error {
	has := func(verdict string) bool {
		return slices.ContainsFunc(r.verdicts, func(v compare.Verdict) bool { return v.Verdict == verdict })
	}
	switch {
	case has(compare.Failed):
		return exit.Verdict(exit.CheckFailed)
	case has(compare.Inconclusive):
		return exit.Verdict(exit.Inconclusive)
	}
	return nil
}
