package machine

import "fmt"

// fatTree is a three-level tree of switches with k ports: k pods of k/2 edge and k/2 aggregation
// switches, and k*k/4 core switches. An edge switch has k/2 nodes. Core switch a*k/2 + c is wired to
// aggregation switch a of every pod.
//
// Of the equal ways up, that to the node with the larger number j is taken at aggregation switch
// j mod k/2 and core port floor(j / (k/2)) mod k/2, which spreads the nodes over all of them.
type fatTree struct{ k int }

func newFatTree(n numbers) (network, error) {
	k := n["k"]
	if k%2 != 0 {
		return nil, fmt.Errorf("k is %d; the switches of a fat tree have an even number of ports, e.g. k=16", k)
	}
	return fatTree{k}, nil
}

func (t fatTree) half() int { return t.k / 2 }

func (t fatTree) nodes() int64 { return product(t.k, t.half(), t.half()) }

func (t fatTree) switches(i, j int) int {
	h := t.half()
	switch {
	case i/h == j/h:
		return 1
	case i/(h*h) == j/(h*h):
		return 3
	}
	return 5
}

func (t fatTree) classes() []string { return []string{"node", "edge", "core"} }

func (t fatTree) count(i, j int, counts []int) {
	switches := t.switches(i, j)
	counts[0] += 2
	if switches >= 3 {
		counts[1] += 2
	}
	if switches == 5 {
		counts[2] += 2
	}
}

// The wires of a class are as many as the nodes, and are numbered class by class.

func (t fatTree) route(i, j int, way []Wire) []Wire {
	h, n := t.half(), Wire(t.nodes())
	up, core := Wire(j%h), Wire(j/h%h)
	fromEdge := func(node int) Wire { return n + Wire(node/h)*Wire(h) + up }
	fromPod := func(node int) Wire { return 2*n + (Wire(node/(h*h))*Wire(h)+up)*Wire(h) + core }
	way = append(way, Wire(i))
	switch t.switches(i, j) {
	case 3:
		way = append(way, fromEdge(i), fromEdge(j))
	case 5:
		way = append(way, fromEdge(i), fromPod(i), fromPod(j), fromEdge(j))
	}
	return append(way, Wire(j))
}

func (t fatTree) describe(w Wire) (class int, ends string) {
	h, n := Wire(t.half()), Wire(t.nodes())
	switch w / n {
	case 0:
		return 0, fmt.Sprintf("node %d - edge switch %d", w, w/h)
	case 1:
		w -= n
		edge, up := w/h, w%h
		return 1, fmt.Sprintf("edge switch %d - aggregation switch %d", edge, edge/h*h+up)
	}
	w -= 2 * n
	aggregation, core := w/h, w%h
	return 2, fmt.Sprintf("aggregation switch %d - core switch %d", aggregation, aggregation%h*h+core)
}
