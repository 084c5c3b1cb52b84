package waits

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"slackline/internal/phrase"
	"slackline/model/unit"
)

// maxNamed is how many causes a sentence names.
const maxNamed = 4

// Sentence is a part of an explanation in words; sentences that explain others are deeper.
type Sentence struct {
	Depth int
	Text  string
}

// Sentences is the explanation in words.
func (e *Explanation) Sentences() []Sentence {
	var list []Sentence
	e.say(0, e.Amount, &list)
	if text := e.sayRoots(); text != "" {
		list = append(list, Sentence{0, text})
	}
	return list
}

// say adds the sentences of an explanation and of its causes. Shares are parts of the whole.
func (e *Explanation) say(depth int, whole unit.Sum, list *[]Sentence) {
	var parts []string
	for i := range e.Causes {
		if i == maxNamed && len(e.Causes) > maxNamed+1 {
			parts = append(parts, fmt.Sprintf("%s %d other causes", phrase.PercentOf(e.sumFrom(i), whole), len(e.Causes)-i))
			break
		}
		parts = append(parts, e.Causes[i].phrase(whole, kinds[e.Metric].inside))
	}
	*list = append(*list, Sentence{depth, fmt.Sprintf("%s: %s.", e.headline(), strings.Join(parts, ", "))})
	for i := range e.Causes {
		c := &e.Causes[i]
		if i < maxNamed && c.Because != nil && c.Share.Times(10).Cmp(whole) >= 0 {
			c.Because.say(depth+1, whole, list)
		}
	}
}

// sumFrom is the sum of the causes from number i on.
func (e *Explanation) sumFrom(i int) (sum unit.Sum) {
	for _, c := range e.Causes[i:] {
		sum.AddSum(c.Share)
	}
	return sum
}

// headline is who waited where and for whom.
func (e *Explanation) headline() string {
	info := e.Metric.Info()
	times := ""
	if e.Count > 1 {
		times = fmt.Sprintf(", in %d wait states", e.Count)
	}
	who, because := fmt.Sprintf(cmp.Or(info.Who, "Rank %d waited"), e.Rank), strings.ReplaceAll(info.Because, "%s", e.late())
	return fmt.Sprintf("%s %s in %s%s, because %s", who, e.Amount.Short(), e.Say(), times, because)
}

// late names the ranks that came late, those with the largest shares first.
func (e *Explanation) late() string {
	var ranks []string
	seen := map[int]bool{}
	for i := range e.Causes {
		if r := e.Causes[i].Rank; !seen[r] {
			seen[r] = true
			ranks = append(ranks, fmt.Sprintf("rank %d", r))
		}
	}
	switch n := len(ranks); {
	case n == 0:
		return "no rank"
	case n == 1:
		return ranks[0]
	case n <= 3:
		return strings.Join(ranks[:n-1], ", ") + " or " + ranks[n-1]
	default:
		return fmt.Sprintf("%s, %s or %d others", ranks[0], ranks[1], n-2)
	}
}

// phrase is a cause and its share in words. What went on during a wait inside of a process is compared with nothing.
func (c *Cause) phrase(whole unit.Sum, inside bool) string {
	part := phrase.PercentOf(c.Share, whole)
	switch {
	case c.Kind == Excess && inside:
		return fmt.Sprintf("%s %s on rank %d", part, c.Say(), c.Rank)
	case c.Kind == Excess:
		return fmt.Sprintf("%s excess time of rank %d in %s", part, c.Rank, c.Say())
	case c.Kind == Waited:
		return fmt.Sprintf("%s waits of rank %d in %s (%s)", part, c.Rank, c.Say(), c.Metric.Say())
	}
	return fmt.Sprintf("%s without known cause on rank %d: the two had not synchronized before", part, c.Rank)
}

// sayRoots is where the chains of causes start, in words; nothing if the causes are not waits.
func (e *Explanation) sayRoots() string {
	if len(e.Roots) == 0 || !slices.ContainsFunc(e.Causes, func(c Cause) bool { return c.Kind == Waited }) {
		return ""
	}
	var parts []string
	rest := e.Rest
	for i, r := range e.Roots {
		if i < maxNamed {
			parts = append(parts, fmt.Sprintf("%s %s on rank %d", phrase.PercentOf(r.Share, e.Amount), r.Say(), r.Rank))
		} else {
			rest.AddSum(r.Share)
		}
	}
	if rest.Sign() > 0 {
		parts = append(parts, phrase.PercentOf(rest, e.Amount)+" others")
	}
	return "In the end it is due to " + strings.Join(parts, ", ") + "."
}
