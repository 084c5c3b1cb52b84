package history

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"slackline/cli/exit"
	"slackline/internal/phrase"
	"slackline/internal/suggest"
	"slackline/model/history"
)

// hash is what commits of a git repository are called.
var hash = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// ancestors finds commits and their ancestors in the repository of the working directory, with their places in its order: parents come
// before their children, else the times decide. What the repository lacks has none.
func ancestors(ctx context.Context, ids ...string) map[string]int {
	ids = slices.DeleteFunc(ids, func(id string) bool { return !hash.MatchString(id) })
	if len(ids) == 0 {
		return nil
	}
	out, ok := git(ctx, append([]string{"rev-list", "--date-order", "--reverse", "--ignore-missing"}, ids...)...)
	if !ok {
		return nil
	}
	places := map[string]int{}
	for id := range strings.FieldsSeq(out) {
		places[id] = len(places)
	}
	return places
}

// order has the commits of a history in their order, and which of them the repository knows.
type order struct {
	states []*history.State
	known  map[string]int
}

// newOrder brings commits, which are in the order of their times, into that of the repository, as far as it has them.
func newOrder(ctx context.Context, states []*history.State) *order {
	ids := make([]string, len(states))
	for i, s := range states {
		ids[i] = s.ID
	}
	o := &order{slices.Clone(states), ancestors(ctx, ids...)}
	var known []*history.State
	for _, s := range states {
		if o.has(s) {
			known = append(known, s)
		}
	}
	slices.SortStableFunc(known, func(a, b *history.State) int { return cmp.Compare(o.known[a.ID], o.known[b.ID]) })
	for i, s := range states {
		if o.has(s) {
			o.states[i], known = known[0], known[1:]
		}
	}
	return o
}

// has reports whether the repository has a commit.
func (o *order) has(s *history.State) bool {
	_, ok := o.known[s.ID]
	return ok
}

// upTo are a commit and its ancestors; of commits that the repository lacks, and of all if it lacks this one, those that are before it.
func (o *order) upTo(ctx context.Context, commit *history.State, isBefore func(place int) bool) map[string]bool {
	var before map[string]int
	if o.has(commit) {
		before = ancestors(ctx, commit.ID)
	}
	set := map[string]bool{}
	for i, s := range o.states {
		if set[s.ID] = isBefore(i); before != nil && o.has(s) {
			_, set[s.ID] = before[s.ID]
		}
	}
	return set
}

// until leaves a commit and what came before it; it is the last one.
func (o *order) until(ctx context.Context, word, dir string) error {
	at, err := o.find(ctx, "until", word, dir)
	if err != nil {
		return err
	}
	last := o.states[at]
	set := o.upTo(ctx, last, func(i int) bool { return !o.states[i].Time.After(last.Time) })
	o.states = slices.DeleteFunc(o.states, func(s *history.State) bool { return s == last || !set[s.ID] })
	o.states = append(o.states, last)
	return nil
}

// since are a commit and what came before it.
func (o *order) since(ctx context.Context, word, dir string) (map[string]bool, error) {
	at, err := o.find(ctx, "since", word, dir)
	if err != nil {
		return nil, err
	}
	return o.upTo(ctx, o.states[at], func(i int) bool { return i <= at }), nil
}

// find is the place of a commit that the user names, as the history or the repository does.
func (o *order) find(ctx context.Context, flag, word, dir string) (int, error) {
	at, err := commitAt(o.states, flag, word, dir)
	if err == nil || strings.HasPrefix(word, "-") {
		return at, err
	}
	c, ok := describe(ctx, word)
	if !ok {
		return 0, err
	}
	if at = slices.IndexFunc(o.states, func(s *history.State) bool { return s.ID == c.ID }); at < 0 {
		return 0, exit.Usagef("--%s: nothing was measured at %s, which is %s; add it with '%s'", flag, word, c.Short(),
			phrase.Command("slackline", "history", "add", "RESULT", "--commit", word, "--dir", dir))
	}
	return at, nil
}

// commitAt is the place of a commit by its whole name or by a start that no other one has.
func commitAt(states []*history.State, flag, word, dir string) (int, error) {
	var found []int
	var names []string
	for i, s := range states {
		names = append(names, s.Short())
		if s.ID == word {
			return i, nil
		}
		if len(word) >= 4 && strings.HasPrefix(s.ID, word) {
			found = append(found, i)
		}
	}
	switch len(found) {
	case 0:
		way := suggest.Phrase(word, names)
		if way == "" {
			way = fmt.Sprintf("; '%s' lists its commits", phrase.Command("slackline", "history", "show", "--format", "csv", "--dir", dir))
		}
		return 0, exit.Usagef("--%s: the history has no commit %s%s", flag, word, way)
	case 1:
		return found[0], nil
	}
	return 0, exit.Usagef("--%s: %s is the start of several commits; give more of it", flag, word)
}

// unknown says that the order of some commits that were not accepted is not known; empty: it is.
func (o *order) unknown(accepted map[string]bool) string {
	at := map[time.Time][]*history.State{}
	for _, s := range o.states {
		at[s.Time] = append(at[s.Time], s)
	}
	var tied []string
	for _, s := range o.states {
		same := at[s.Time]
		lacks := func(s *history.State) bool { return !o.has(s) }
		matters := func(s *history.State) bool { return !accepted[s.ID] }
		if len(same) > 1 && slices.ContainsFunc(same, lacks) && slices.ContainsFunc(same, matters) {
			tied = append(tied, s.Short())
		}
	}
	switch n := len(tied); {
	case n == 0:
		return ""
	case n > 2:
		tied = []string{tied[0], tied[1], phrase.Plural(n-2, "other")}
	}
	return fmt.Sprintf("the order of commits with the same time is not known (%s): run this in a git repository that has them, or remove "+
		"their entries and add them again, each with another --time", strings.Join(tied, ", "))
}
