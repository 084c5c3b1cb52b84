package machine

import (
	"math"
	"testing"

	"slackline/model/unit"
)

func TestScaleNetwork(t *testing.T) {
	m := FromParams("m", Params{
		Latency: 4770 * unit.Nanosecond, Gap: 2040 * unit.Nanosecond, Overhead: One(2870 * unit.Nanosecond),
		PerByte: Pieces[unit.PerByte]{{From: 0, Value: 2671}, {From: 1024, Value: 15}}, CPUByte: 7, Eager: 100,
	})
	fast, err := ScaleNetwork(m, 10)
	if err != nil {
		t.Fatal(err)
	}
	p := fast.Classes[Far]
	if p.Latency != 477*unit.Nanosecond || p.Gap != 204*unit.Nanosecond || p.PerByte[0].Value != 267 || p.PerByte[1].Value != 2 {
		t.Errorf("10 times as fast: L %v, g %v, G %v; want 477ns, 204ns, 267 and 2 fs", p.Latency, p.Gap, p.PerByte)
	}
	if p.Overhead[0].Value != 2870*unit.Nanosecond || p.CPUByte != 7 || p.Eager != 100 {
		t.Errorf("o, O or S changed: %+v", p)
	}
	if m.Classes[Far].PerByte[0].Value != 2671 {
		t.Error("the machine itself changed")
	}
	slow, err := ScaleNetwork(m, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	if got := slow.Classes[Node].Latency; got != 47700*unit.Nanosecond {
		t.Errorf("L of a network 10 times as slow = %v, want 47.7us", got)
	}
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1), 1e-18} {
		if _, err := ScaleNetwork(m, bad); err == nil {
			t.Errorf("ScaleNetwork(%g): no error", bad)
		}
	}
}
