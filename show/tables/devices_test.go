package tables

import (
	"testing"

	"slackline/analyze/devices"
	"slackline/model/unit"
)

// The shares are those of the span of the device; a device without a span has none.
func TestDevices(t *testing.T) {
	tab := Devices([]devices.Use{
		{Rank: 3, Device: 1, Span: 200e6, Computing: 100e6, Exposed: 50e6, Waiting: 20e6, Idle: 20e6, Latency: 10e6,
			Hidden: unit.SumOf(5e6), Overlap: 40e6,
			Kernels: 1234},
		{Rank: 4, Device: 0},
	}, 0)
	wantText(t, tab, `
rank:device   time  computing  exposed  waiting    idle  latency  overlap  hidden  kernels
3:1          200us     50.0 %   25.0 %   10.0 %  10.0 %    5.0 %   20.0 %     5us    1,234
4:0              0        0 %      0 %      0 %     0 %      0 %      0 %       0        0`)
	if tab := Devices(make([]devices.Use, 5), 2); len(tab.Rows) != 2 || tab.Left != 3 {
		t.Errorf("of 5 devices, %d are shown and %d left out; want 2 and 3", len(tab.Rows), tab.Left)
	}
}

// The shares are those of all activities, also of those that are not shown.
func TestActivities(t *testing.T) {
	list := []devices.ActivityTime{
		{CallPath: "main/gemm", Kind: "kernel", Time: unit.SumOf(60e6), Count: 6, Worst: 2, Most: unit.SumOf(40e6)},
		{CallPath: "main/copy", Kind: "copy", Time: unit.SumOf(40e6), Count: 1},
	}
	wantText(t, Activities(list, 1).Pick("callpath", "time", "share", "count", "most", "kind"), `
on devices  time   share  count  most on rank  kind
main/gemm   60us  60.0 %      6       2: 40us  kernel`)
}
