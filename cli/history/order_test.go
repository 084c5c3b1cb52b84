package history

import (
	"slices"
	"strings"
	"testing"
	"time"

	"slackline/model/history"
)

// named are commits of one second each; an equals sign takes the second of the one before.
func named(ids ...string) (states []*history.State) {
	second := int64(0)
	for _, id := range ids {
		if !strings.HasPrefix(id, "=") {
			second++
		}
		states = append(states, &history.State{Commit: history.Commit{ID: strings.TrimPrefix(id, "="), Time: time.Unix(second, 0)}})
	}
	return states
}

// A commit is named by its whole name, or by a start of four letters or more that no other one has.
func TestCommitAt(t *testing.T) {
	states := named("abcd1111", "abcd2222", "r7", "abcd")
	for word, want := range map[string]int{"abcd1111": 0, "abcd2": 1, "r7": 2, "abcd": 3} {
		if got, err := commitAt(states, "since", word, "perf"); err != nil || got != want {
			t.Errorf("%s: %d, error %v; want %d", word, got, err, want)
		}
	}
	states = states[:3]
	for word, want := range map[string]string{
		"abcd":      "--since: abcd is the start of several commits; give more of it",
		"abc":       "--since: the history has no commit abc",
		"abcd11112": "--since: the history has no commit abcd11112; did you mean abcd1111?",
		"nowhere":   "--since: the history has no commit nowhere; 'slackline history show --format csv --dir perf' lists its commits",
	} {
		if _, err := commitAt(states, "since", word, "perf"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", word, err, want)
		}
	}
}

// Commits with the same time have no order, unless the repository has all of them, or they were accepted.
func TestUnknownOrder(t *testing.T) {
	for _, tc := range []struct {
		ids, known, accepted, want string
	}{
		{"a b c", "", "", ""},
		{"a b =c", "", "", "(b, c)"},
		{"a b =c", "b c", "", ""},
		{"a b =c", "b", "", "(b, c)"},
		{"a =b =c =d e", "", "", "(a, b, 2 others)"},
		{"a =b c", "", "a b", ""},
		{"a =b c", "", "a", "(a, b)"},
	} {
		o := &order{named(strings.Fields(tc.ids)...), map[string]int{}}
		for i, id := range strings.Fields(tc.known) {
			o.known[id] = i
		}
		accepted := map[string]bool{}
		for _, id := range strings.Fields(tc.accepted) {
			accepted[id] = true
		}
		if got := o.unknown(accepted); (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%+v: %q", tc, got)
		}
	}
}

// Without a repository, what is later than a commit is left out, and of several with its time it is the last one.
func TestUntilByTime(t *testing.T) {
	for until, want := range map[string]string{"a": "a", "b": "a c b", "c": "a b c", "d": "a b c d", "e": "a b c d e"} {
		o := &order{states: named("a", "b", "=c", "d", "e")}
		if err := o.until(t.Context(), until, "perf"); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range o.states {
			got = append(got, s.ID)
		}
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("until %s: %v, want %s", until, got, want)
		}
	}
}
