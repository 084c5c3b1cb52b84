package waits

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"slackline/model/timeline"
	"slackline/model/unit"
)

var (
	deviceCount = flag.Int("cases", 400, "random programs for TestDevicesAgainstDefinitions")
	deviceFirst = flag.Uint64("first", 0, "seed of the first of them")
)

// TestDevicesAgainstDefinitions compares the waits of random programs with devices, and their causes, with what the definitions say, to the
// picosecond.
func TestDevicesAgainstDefinitions(t *testing.T) {
	metrics, cyclic, hidden := map[Metric]int{}, 0, 0
	for seed := *deviceFirst; seed < *deviceFirst+uint64(*deviceCount); seed++ {
		p := newDevicePlayer(seed)
		steps := 20 + int(seed%60)
		if seed%20 == 11 {
			steps = 250
		}
		tl := p.play(steps)
		p.checkOrder(t, seed, tl)
		r := analyze(t, tl, 1+int(seed%2))
		checkLaws(t, fmt.Sprintf("seed %d", seed), r)
		checkExplanations(t, fmt.Sprintf("seed %d", seed), r)
		for _, w := range r.Waits {
			metrics[w.Metric]++
		}
		o := newDeviceOracle(tl, unit.Microsecond)
		if o.cyclic != (r.Cyclic > 0) {
			t.Fatalf("seed %d: cyclic = %d, want some: %v", seed, r.Cyclic, o.cyclic)
		}
		for _, w := range o.all {
			if len(w.counts) == 0 {
				hidden++
			}
		}
		if o.cyclic {
			cyclic++
			continue
		}
		if diff := gocmp.Diff(o.summary(), summary(r)); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
		}
	}
	for _, k := range []*kind{&hostWait, &deviceIdle, &streamWait, &nxn, &barrier, &lateBroadcast, &earlyReduce, &lateContributor, &lateSender,
		&lateReceiver} {
		if metrics[k.metric] == 0 {
			t.Errorf("no run has %s", k.metric)
		}
	}
	t.Logf("%d seeds from %d: %v, %d hidden waits, %d runs with circles", *deviceCount, *deviceFirst, metrics, hidden, cyclic)
}

// checkOrder checks that activities are sorted by begin, end and position, and that none begins before the one before it has ended.
func (p *devicePlayer) checkOrder(t *testing.T, seed uint64, tl *timeline.Timeline) {
	t.Helper()
	for i, s := range p.streams {
		acts := slices.Clone(s.acts)
		slices.SortStableFunc(acts, func(x, y playedAct) int { return cmp.Or(cmp.Compare(x.begin, y.begin), cmp.Compare(x.end, y.end)) })
		got, before := &tl.Devices.Streams[i], unit.Duration(0)
		for j, a := range acts {
			b := max(p.at(s.rank, a.begin), before)
			before = max(p.at(s.rank, a.end), b)
			if got.Begin[j] != b || got.End[j] != before || !strings.HasSuffix(tl.PathName(got.Path[j]), a.name) {
				t.Fatalf("seed %d: activity %d of stream %d is %s %v..%v, want %s %v..%v", seed, j, i, tl.PathName(got.Path[j]), got.Begin[j],
					got.End[j], a.name, b, before)
			}
		}
	}
}
