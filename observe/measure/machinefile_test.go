//go:build linux

package measure

import (
	"context"
	"math/rand/v2"
	"reflect"
	"testing"

	"slackline/model/machine"
)

func TestMachineOf(t *testing.T) {
	o := DefaultNetwork()
	o.Rounds, o.Repeat = 2, 5
	of := func(l float64) *Network {
		m := &modelLink{
			l: l, send: 900, receive: 700, gap: 1500, perByte: 0.4, limit: 8192,
			gap2: 3000, perByte2: 0.1, extra: 9000, noise: 1e-4, r: rand.New(rand.NewPCG(1, 2)),
		}
		n, err := MeasureNetwork(context.Background(), m, o)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	class := func(name string, l float64, others ...int) ClassNetwork {
		c := ClassNetwork{Class: Class{Name: name}, Network: of(l)}
		for _, r := range others {
			c.Class.Pairs = append(c.Class.Pairs, [2]int{0, r})
		}
		return c
	}
	hosts := []string{"a", "a", "b", "b", "c", "c"}
	for name, tc := range map[string]struct {
		list                []ClassNetwork
		ranks, switches     int
		node, inSwitch, far float64
	}{
		"one host":   {[]ClassNetwork{class("node", 500, 1)}, 1, 0, 500, 500, 500},
		"two hosts":  {[]ClassNetwork{class("node", 500, 1), class("far", 4000, 2, 3)}, 2, 0, 500, 4000, 4000},
		"switches":   {[]ClassNetwork{class("node", 500, 1), class("switch", 2000, 2, 3), class("far", 4000, 4, 5)}, 2, 2, 500, 2000, 4000},
		"only far":   {[]ClassNetwork{class("far", 4000, 2)}, 1, 0, 4000, 4000, 4000},
		"no far one": {[]ClassNetwork{class("node", 500, 1), class("switch", 2000, 2)}, 2, 0, 500, 2000, 2000},
	} {
		m, err := MachineOf("measured", "a note", tc.list, hosts, &o)
		if err != nil {
			t.Fatal(err)
		}
		if m.RanksPerNode != tc.ranks || m.NodesPerSwitch != tc.switches {
			t.Errorf("%s: %d ranks on a node, %d nodes on a switch", name, m.RanksPerNode, m.NodesPerSwitch)
		}
		for c, want := range []float64{tc.node, tc.inSwitch, tc.far} {
			within(t, name+": L", float64(m.Classes[c].Latency)/1000, want, 0.05)
		}
		far := m.Classes[machine.Far]
		if len(far.PerByte) != 2 || far.PerByte[1].From != 8193 || far.Eager != 8192 || len(far.Overhead) != 2 {
			t.Errorf("%s: %+v", name, far)
		}
		again, err := machine.Read("measured.yaml", machine.Format(m))
		if err != nil || !reflect.DeepEqual(again.Classes, m.Classes) {
			t.Errorf("%s: as a file: %v\n%s", name, err, machine.Format(m))
		}
	}
	if _, err := MachineOf("measured", "", nil, nil, &o); err == nil {
		t.Error("a machine of nothing")
	}
}
