package simulate

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"slackline/analyze/whatif"
	"slackline/cli/env"
	"slackline/internal/phrase"
	"slackline/internal/table"
)

// findBottleneck looks for the number of ranks where noise becomes the
// bottleneck, and prints what it found, also if it was interrupted.
func (r *seriesRun) findBottleneck(a *env.Env, c *cobra.Command) error {
	search := &whatif.Bottleneck{
		Series: r.series, Threshold: r.replicas.threshold.Value,
		From: slices.Min(r.series.Counts), To: slices.Max(r.series.Counts),
		Precise: r.replicas.precise, JobSize: int(r.replicas.jobSize),
	}
	return r.carryOut(a, c, func() (*seriesReport, error) {
		search.Series = r.series // as it is watched
		found, failed := search.Find(c.Context())
		if found == nil {
			found = &whatif.Found{}
		}
		return &seriesReport{points: found.Points, search: &searchResult{search, found, failed == nil}}, failed
	})
}

// searchResult is the outcome of a search for the bottleneck.
type searchResult struct {
	question *whatif.Bottleneck
	found    *whatif.Found
	complete bool
}

// writeText says in words where the bottleneck is.
func (s *searchResult) writeText(w io.Writer, width int) {
	fmt.Fprintln(w)
	for _, sentence := range s.sentences() {
		for _, line := range table.Wrap(sentence, width) {
			fmt.Fprintln(w, line)
		}
	}
}

func (s *searchResult) sentences() []string {
	q, f := s.question, s.found
	threshold := shortFactor(q.Threshold)
	var list []string
	switch {
	case f.Ranks > 0 && f.Below > 0:
		list = append(list, fmt.Sprintf("The median slowdown reaches %s between %s and %s.", threshold, phrase.Grouped(f.Below),
			phrase.Plural(f.Ranks, "rank")))
	case f.Ranks > 0:
		list = append(list, fmt.Sprintf("The median slowdown reaches %s already at %s; nothing smaller was tried.", threshold,
			phrase.Plural(f.Ranks, "rank")))
	case s.complete:
		list = append(list, fmt.Sprintf("The median slowdown stays below %s up to %s.", threshold, phrase.Plural(q.To, "rank")))
	default:
		list = append(list, fmt.Sprintf("The median slowdown stays below %s up to %s; the search was not finished.", threshold,
			phrase.Plural(f.Below, "rank")))
	}
	list = append(list, s.intervals()...)
	r := f.Relief
	switch {
	case r == nil:
	case !r.Needed:
		list = append(list, fmt.Sprintf("At %s the median slowdown is %s: the noise need not shrink.", phrase.Plural(r.JobSize, "rank"),
			shortFactor(r.Slowdown)))
	default:
		either := ", either of these is enough"
		if r.Length.Factor == 0 || r.Rate.Factor == 0 {
			either = ""
		}
		list = append(list, fmt.Sprintf("At %s the median slowdown is %s. To stay below %s there%s:",
			phrase.Plural(r.JobSize, "rank"), shortFactor(r.Slowdown), threshold, either),
			shrinkSentence("lengths", "shorter", &r.Length), shrinkSentence("rate", "rarer", &r.Rate))
	}
	return list
}

// intervals says how sure the place of the bottleneck is.
func (s *searchResult) intervals() []string {
	var words []string
	for i := range s.found.Points {
		p := &s.found.Points[i]
		if p.Ranks != s.found.Ranks && p.Ranks != s.found.Below {
			continue
		}
		d := p.Distribution()
		if low, high, ok := d.MedianSlowdowns(); ok {
			words = append(words, fmt.Sprintf("%s to %s at %s", shortFactor(low), shortFactor(high), phrase.Plural(p.Ranks, "rank")))
		}
	}
	if len(words) == 0 {
		return nil
	}
	return []string{"95 % confidence of the median slowdown: " + strings.Join(words, ", ") + "."}
}

// shrinkSentence says how much one property of the noise must shrink.
func shrinkSentence(what, how string, s *whatif.Shrink) string {
	if s.Factor == 0 {
		return fmt.Sprintf("  %s: no factor down to %.3g is enough", what, s.Above)
	}
	return fmt.Sprintf("  %s x %.3g (detours %s by a factor of %.3g): median slowdown %s", what, s.Factor, how, 1/s.Factor,
		shortFactor(s.Slowdown))
}
