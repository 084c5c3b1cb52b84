package job

import (
	"testing"
)

// TestShareOf divides the cores of a host among its processes, and finds jobs that cannot be faster than one process.
func TestShareOf(t *testing.T) {
	at := func(host string, cores ...uint64) place { return place{host, cores} }
	for name, tc := range map[string]struct {
		all  []place
		rank int
		want share
	}{
		"alone":                         {[]place{at("a", 15)}, 0, share{1, 4, 0}},
		"a core each":                   {[]place{at("a", 1), at("a", 2)}, 1, share{2, 1, 0}},
		"two each":                      {[]place{at("a", 15), at("a", 15)}, 1, share{2, 2, 0}},
		"one core":                      {[]place{at("a", 1), at("a", 1)}, 1, share{2, 0.5, 1}},
		"beyond 64 cores":               {[]place{at("a", 0, 1), at("a", 0, 1)}, 0, share{2, 0.5, 1}},
		"four on two":                   {[]place{at("a", 3), at("a", 3), at("a", 3), at("a", 3)}, 3, share{4, 0.5, 2}},
		"four on two, in pairs":         {[]place{at("a", 1), at("a", 1), at("a", 2), at("a", 2)}, 0, share{4, 0.5, 0}},
		"process 0 has one of two":      {[]place{at("a", 1), at("a", 3), at("a", 3)}, 0, share{3, 1. / 3, 0}},
		"two hosts with one core each":  {[]place{at("a", 1), at("a", 1), at("b", 1), at("b", 1)}, 2, share{2, 0.5, 0}},
		"two hosts, a process on each":  {[]place{at("a", 1), at("b", 1)}, 0, share{1, 1, 0}},
		"cores are not known, by share": {[]place{at("a"), at("a")}, 0, share{2, 4, 0}},
	} {
		if got := shareOf(tc.all, tc.rank, 8); got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}
