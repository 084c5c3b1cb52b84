package machine

import "fmt"

// dragonfly is g groups of a routers with p nodes each. The routers of a group are wired to each
// other, and each has h wires to other groups. With h = 0 it is not known which router has the wire
// to a group, and three switches are counted between groups: the rule of the LLAMP paper.
//
// (Go takes a file whose name ends in _dragonfly for one of DragonFly BSD, hence the name of this one.)
type dragonfly struct{ g, a, p, h int }

func newDragonfly(n numbers) (network, error) {
	d := dragonfly{n["g"], n["a"], n["p"], n["h"]}
	if d.h > 0 && int64(d.a)*int64(d.h) < int64(d.g)-1 {
		return nil, fmt.Errorf("the %d*%d wires that leave a group (a*h) do not reach the %d others; give h=%d or more",
			d.a, d.h, d.g-1, (d.g-2)/d.a+1)
	}
	return d, nil
}

func (d dragonfly) nodes() int64 { return product(d.g, d.a, d.p) }

// router is the router of a node, counted over all groups.
func (d dragonfly) router(node int) int { return node / d.p }

func (d dragonfly) group(node int) int { return node / (d.a * d.p) }

// gateway is the router, counted over all groups, at which the wire from group x to group y ends.
func (d dragonfly) gateway(x, y int) int { return x*d.a + ((y-x-1+d.g)%d.g)/d.h }

func (d dragonfly) switches(i, j int) int {
	x, y := d.group(i), d.group(j)
	switch {
	case d.router(i) == d.router(j):
		return 1
	case x == y:
		return 2
	case d.h == 0:
		return 3
	}
	switches := 2
	if d.router(i) != d.gateway(x, y) {
		switches++
	}
	if d.router(j) != d.gateway(y, x) {
		switches++
	}
	return switches
}

func (d dragonfly) classes() []string { return []string{"node", "local", "global"} }

func (d dragonfly) count(i, j int, counts []int) {
	wires := d.switches(i, j) + 1
	counts[0] += 2
	if d.group(i) != d.group(j) {
		counts[2]++
		wires--
	}
	counts[1] += wires - 2
}

// Wires are numbered: those of the nodes, then those between the routers of a group, then those
// between groups, of which each pair has one.

func (d dragonfly) localPairs() Wire { return Wire(d.a) * Wire(d.a-1) / 2 }

func (d dragonfly) route(i, j int, way []Wire) []Wire {
	way = append(way, Wire(i))
	x, y := d.group(i), d.group(j)
	if x == y {
		way = d.appendLocal(way, d.router(i), d.router(j))
	} else {
		way = d.appendLocal(way, d.router(i), d.gateway(x, y))
		way = append(way, Wire(d.nodes())+Wire(d.g)*d.localPairs()+pairNumber(x, y, d.g))
		way = d.appendLocal(way, d.gateway(y, x), d.router(j))
	}
	return append(way, Wire(j))
}

// appendLocal appends the wire between two routers of a group, if they are different ones.
func (d dragonfly) appendLocal(way []Wire, from, to int) []Wire {
	if from == to {
		return way
	}
	x, y := min(from, to)%d.a, max(from, to)%d.a
	return append(way, Wire(d.nodes())+Wire(from/d.a)*d.localPairs()+pairNumber(x, y, d.a))
}

func (d dragonfly) describe(w Wire) (class int, ends string) {
	if n := Wire(d.nodes()); w < n {
		return 0, fmt.Sprintf("node %d - router %d", w, d.router(int(w)))
	} else {
		w -= n
	}
	if local := Wire(d.g) * d.localPairs(); w < local {
		first := int(w/d.localPairs()) * d.a
		x, y := pairOf(w%d.localPairs(), d.a)
		return 1, fmt.Sprintf("router %d - router %d", first+x, first+y)
	} else {
		w -= local
	}
	x, y := pairOf(w, d.g)
	return 2, fmt.Sprintf("router %d - router %d", d.gateway(x, y), d.gateway(y, x))
}
