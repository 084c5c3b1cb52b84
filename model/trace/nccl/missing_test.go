package nccl

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMissing(t *testing.T) {
	first := func(at int) string { return collective("0", "all_reduce", 1, at, done, "") }
	barrier := collective("0", "barrier", 2, 30, enqueued, "")
	inAll := strings.Replace(barrier, `"x"`, `"default_pg"`, 1)
	noTime := strings.Replace(barrier, `"time_created_ns": 1`, `"time_created_ns": -1`, 1)
	const notListed = "no dump says which ranks are in this group (pg_config)"
	cut := func(text string) string { return text[:strings.LastIndex(text, "]}")] }
	for _, tc := range []struct {
		name  string
		texts []string
		want  []string
	}{
		{
			"all have come",
			[]string{dump(allOfThree, first(1), barrier), dump(allOfThree, first(2), barrier), dump(allOfThree, first(3), barrier)}, nil,
		},
		{"all is done", []string{dump(allOfThree, first(1)), dump(allOfThree, first(2)), dump(allOfThree, first(3))}, nil},
		{
			"one is late", []string{dump(allOfThree, first(1), barrier), dump(allOfThree, first(2)), dump(allOfThree, first(3), barrier)},
			[]string{`group "0": rank 1 has not come to barrier number 2, in which ranks 0, 2 are`},
		},
		{
			"two are late", []string{dump(allOfThree, first(1), barrier), dump(allOfThree, first(2)), dump(allOfThree, first(3))},
			[]string{`group "0": ranks 1, 2 have not come to barrier number 2, in which rank 0 is`},
		},
		{
			"one never came to any", []string{dump(allOfThree, first(1), barrier), dump(allOfThree), dump(allOfThree, first(3))},
			[]string{`group "0": rank 1 has not come to barrier number 2, in which rank 0 is`},
		},
		{ // rank 2 is in the second, rank 0 in the third: those who are late lack the second
			"at different places", []string{
				dump(allOfThree, first(1), barrier, collective("0", "all_reduce", 3, 40, enqueued, "")), dump(allOfThree, first(2)),
				dump(allOfThree, first(3), barrier),
			},
			[]string{`group "0": rank 1 has not come to barrier number 2, in which ranks 0, 2 are`},
		},
		{ // a collective that is done without the others, such as a broadcast of a root, is not what it waits for
			"what is done is no wait", []string{
				dump(allOfThree, first(1), collective("0", "broadcast", 2, 30, done, ""), collective("0", "barrier", 3, 40, enqueued, "")),
				dump(allOfThree, first(2)), dump(allOfThree, first(3)),
			},
			[]string{`group "0": ranks 1, 2 have not come to barrier number 3, in which rank 0 is`},
		},
		{ // numbers of messages are not those of collectives
			"messages are no collectives", []string{
				dump(allOfThree, first(1), transfer("0", "send 0->1", 7, 20)), dump(allOfThree, first(2)), dump(allOfThree, first(3)),
			},
			nil,
		},
		{
			"one left no dump", []string{dump(allOfThree, first(1), barrier), dump(allOfThree, first(2), barrier), ""},
			[]string{`group "0": ranks 0, 1 are in barrier number 2; there is no complete dump of rank 2`},
		},
		{
			"one left no dump, and all is done", []string{dump(allOfThree, first(1)), dump(allOfThree, first(2)), ""}, nil,
		},
		{ // its last entries may be those that were cut
			"a dump that was cut", []string{
				dump(allOfThree, first(1), barrier), cut(dump(allOfThree, first(2), "")), dump(allOfThree, first(3), barrier),
			},
			[]string{`group "0": ranks 0, 2 are in barrier number 2; there is no complete dump of rank 1`},
		},
		{
			"one is late, of one it is not known", []string{dump(allOfThree, first(1), barrier), dump(allOfThree, first(2)), ""},
			[]string{`group "0": rank 1 has not come to barrier number 2, in which rank 0 is; there is no complete dump of rank 2`},
		},
		{
			"two groups", []string{
				dump(`{"0": {"ranks": "[0, 1]"}, "1": {"ranks": "[0, 2]"}}`, first(1), barrier, collective("1", "all_to_all", 4, 50, enqueued, "")),
				dump(`{"0": {"ranks": "[0, 1]"}}`, first(2)), dump(`{"1": {"ranks": "[0, 2]"}}`, collective("1", "all_to_all", 3, 40, done, "")),
			},
			[]string{
				`group "0": rank 1 has not come to barrier number 2, in which rank 0 is`,
				`group "1": rank 2 has not come to all_to_all number 4, in which rank 0 is`,
			},
		},
		{ // others list it
			"one does not list the group", []string{dump(allOfThree, first(1), barrier), dump(`{}`), dump(allOfThree, first(3), barrier)},
			[]string{`group "0": rank 1 has not come to barrier number 2, in which ranks 0, 2 are`},
		},
		{
			"one does not list the group, and left no dump of a group of others",
			[]string{dump(allOfThree, first(1), barrier), dump(`{"7": {"ranks": "[1, 4]"}}`), dump(allOfThree, first(3), barrier)},
			[]string{`group "0": rank 1 has not come to barrier number 2, in which ranks 0, 2 are`},
		},
		{
			"no dump lists the group of all", []string{dump(`{}`, inAll), dump(`{}`), dump(`{}`, inAll)},
			[]string{`group "0": rank 1 has not come to barrier number 2, in which ranks 0, 2 are; ` + notListed},
		},
		{
			"no dump lists the ranks of the group of all",
			[]string{dump(`{"0": {"desc": "default_pg"}}`, barrier), dump(`{}`), dump(`{}`, barrier)},
			[]string{`group "0": rank 1 has not come to barrier number 2, in which ranks 0, 2 are; ` + notListed},
		},
		{
			"no dump lists a group", []string{dump(`{}`, first(1), barrier), dump(`{}`, first(2), barrier), dump(`{}`)},
			[]string{`group "0": ranks 0, 1 are in barrier number 2; ` + notListed},
		},
		{
			"one is late in a group that no dump lists", []string{dump(`{}`, first(1), barrier), dump(`{}`, first(2)), ""},
			[]string{`group "0": rank 1 has not come to barrier number 2, in which rank 0 is; ` + notListed},
		},
		{"no dump lists a group, and all is done", []string{dump(`{}`, first(1)), dump(`{}`, first(2))}, nil},
		{ // what is left of it says that it is in the barrier
			"a dump that was cut after what it waits for", []string{
				dump(allOfThree, first(1)), cut(dump(allOfThree, first(2), barrier, "")), dump(allOfThree, first(3), barrier),
			},
			[]string{`group "0": rank 0 has not come to barrier number 2, in which ranks 1, 2 are`},
		},
		{ // it may be of the barrier
			"an entry that is left out", []string{
				dump(allOfThree, first(1), barrier), dump(allOfThree, first(2), noTime), dump(allOfThree, first(3), barrier),
			},
			[]string{`group "0": ranks 0, 2 are in barrier number 2; there is no complete dump of rank 1`},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			fsys, names := dumps(tc.texts...)
			d, err := ReadMissing(fsys, "job", names, shown, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range d.Missing {
				got = append(got, m.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || d.Ranks != len(names) {
				t.Errorf("%d dumps, want %d; (-want +got):\n%s", d.Ranks, len(names), diff)
			}
		})
	}
}

func TestSomeRanks(t *testing.T) {
	var ranks []int
	for r := range 12 {
		ranks = append(ranks, r)
	}
	for n, want := range map[int]string{2: "0, 1", 10: "0, 1, 2, 3, 4, 5, 6, 7, 8, 9", 12: "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"} {
		if got := someRanks(ranks[:n]); got != want {
			t.Errorf("%d ranks: %q, want %q", n, got, want)
		}
	}
}
