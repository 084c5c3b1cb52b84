package scenario

import (
	"testing"

	"slackline/model/pattern"
)

func TestStragglers(t *testing.T) {
	for text, want := range map[string]pattern.Straggler{
		"5:20%": {Rank: 5, Slower: 0.2}, "0:0.5": {Rank: 0, Slower: 0.5}, " 3 : 150% ": {Rank: 3, Slower: 1.5}, "7:0": {Rank: 7},
	} {
		list, err := parseStragglers(text)
		if err != nil || len(list) != 1 || list[0] != want {
			t.Errorf("%q: %v, error %v; want %v", text, list, err, want)
		}
	}
	for _, text := range []string{"", "5", "5:", ":1", "-1:1", "5:-1", "5:NaN", "5:inf", "x:1", "5:1:2", "1:1,x"} {
		if list, err := parseStragglers(text); err == nil {
			t.Errorf("%q is read as %v", text, list)
		}
	}
	if list, err := parseStragglers("1:10%,2:0.3"); err != nil || len(list) != 2 || list[1].Rank != 2 {
		t.Errorf("a list: %v, error %v", list, err)
	}
}
