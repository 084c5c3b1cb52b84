package inject

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"slackline/model/unit"
)

func TestLatency(t *testing.T) {
	for _, tc := range []struct {
		add  []string
		want string // rules for the library
	}{
		{[]string{"100us"}, "0 -1 0 -1 100000"},
		{[]string{"100us@0-3"}, "3 3 0 0 100000;0 0 3 3 100000"},
		{[]string{"1.5us@0>3"}, "0 0 3 3 1500"},
		{[]string{"10us", "1ms@0..1>*"}, "0 1 0 -1 1000000;0 -1 0 -1 10000"},
		{[]string{"2us@0-1,2..3-*"}, "0 -1 2 3 2000;2 3 0 -1 2000;1 1 0 0 2000;0 0 1 1 2000"},
	} {
		var l Latency
		for _, text := range tc.add {
			if err := l.Add(text); err != nil {
				t.Fatalf("Add(%q): %v", text, err)
			}
		}
		if got := l.shimRules(); got != tc.want {
			t.Errorf("%v: rules = %q, want %q", tc.add, got, tc.want)
		}
		if _, uniform := l.uniform(); uniform != (len(tc.add) == 1 && !strings.Contains(tc.add[0], "@")) {
			t.Errorf("%v: uniform = %v", tc.add, uniform)
		}
	}
	for text, want := range map[string]string{
		"": "write e.g.", "100": "write e.g.", "1us@": "expected a pair", "1us@3": "expected a pair of ranks", "1us@a-b": "expected a rank",
		"1us@3..1-2": "expected a rank",
		"1us@0-1,":   "expected a pair", "-5us": "negative", "1h": "not between",
	} {
		var l Latency
		if err := l.Add(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Add(%q) = %v, want an error with %q", text, err, want)
		}
	}
	var l Latency
	if l.given() {
		t.Error("the zero value touches messages")
	}
	_ = l.Add("1us")
	_ = l.Add("5us@0-7")
	if l.most() != 5*unit.Microsecond || l.highest() != 7 || l.String() != "1us 5us@0-7" {
		t.Errorf("most = %s, highest = %d, text = %q", l.most(), l.highest(), l.String())
	}
}

func FuzzLatency(f *testing.F) {
	for _, seed := range []string{"100us", "1ms@0-3,1-*", "2us@0..4>5", "@", "1us@-"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var l Latency
		if l.Add(text) == nil && !l.given() {
			t.Error("read, but nothing is injected")
		}
	})
}

func TestBases(t *testing.T) {
	list := make([]int64, reportBases)
	for i := range list {
		list[i] = int64(500 + 10*i)
	}
	path := filepath.Join(t.TempDir(), "base")
	if got := readBases(path); got != nil {
		t.Errorf("of no file %v was read", got)
	}
	if err := keepBases(path, &RankReport{hosts: 1, base: [2][]int64{list}}); err != nil {
		t.Fatal(err)
	}
	if got := readBases(path); !slices.Equal(got, list) {
		t.Errorf("got %v, want %v", got, list)
	}
	// Times of several hosts, and of runs that measured none, are not kept.
	for _, r := range []*RankReport{{hosts: 2, base: [2][]int64{list}}, {hosts: 1, base: [2][]int64{make([]int64, reportBases)}}} {
		if err := keepBases(path, r); err != nil || !slices.Equal(readBases(path), list) {
			t.Errorf("%v was kept (%v)", r.base, err)
		}
	}
	for _, text := range []string{"", "1,2,3", strings.Repeat("5,", reportBases-1) + "x", strings.Repeat("5,", reportBases-1) + "4"} {
		if got := parseBases(text); got != nil {
			t.Errorf("parseBases(%q) = %v", text, got)
		}
	}
}

func FuzzReport(f *testing.F) {
	f.Add(make([]byte, 8*(reportFields+2*reportBases+2*reportFunctions)))
	f.Add([]byte("inject"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parseReport(data)
		if (r == nil) == (err == nil) {
			t.Errorf("parseReport = %v, %v", r, err)
		}
	})
}
