package machine

import (
	"fmt"
	"strconv"
)

// torus is a grid of routers with p nodes each, whose rows are closed to rings. The coordinates of
// router r are r mod d1, floor(r/d1) mod d2, and so on.
//
// Ways go along the dimensions in their order, from the node with the smaller number to the other,
// each ring the shorter way round; of two equal ones, upwards.
type torus struct {
	dims    []int
	p       int
	routers int64
}

func newTorus(n numbers, dims []int) (network, error) {
	return torus{dims: dims, p: max(n["p"], 1), routers: product(dims...)}, nil
}

func (t torus) nodes() int64 { return product(int(t.routers), t.p) }

// steps returns the distance of two coordinates on a ring, and whether the shorter way goes up.
func steps(from, to, extent int) (n int, up bool) {
	n = (to - from + extent) % extent
	if n <= extent-n {
		return n, true
	}
	return extent - n, false
}

// along calls visit for each dimension with the way there is to go.
func (t torus) along(i, j int, visit func(dim, from, steps int, up bool)) {
	from, to := i/t.p, j/t.p
	for dim, extent := range t.dims {
		n, up := steps(from%extent, to%extent, extent)
		visit(dim, from%extent, n, up)
		from, to = from/extent, to/extent
	}
}

func (t torus) switches(i, j int) int {
	switches := 1
	t.along(i, j, func(_, _, n int, _ bool) { switches += n })
	return switches
}

func (t torus) classes() []string {
	names := []string{"node"}
	for dim := range t.dims {
		names = append(names, "dim"+strconv.Itoa(dim+1))
	}
	return names
}

func (t torus) count(i, j int, counts []int) {
	counts[0] += 2
	t.along(i, j, func(dim, _, n int, _ bool) { counts[1+dim] += n })
}

// A wire of a dimension has the number of the router at its lower end. A ring of two routers is
// one wire.

func (t torus) route(i, j int, way []Wire) []Wire {
	way = append(way, Wire(i))
	router, stride := i/t.p, 1
	t.along(i, j, func(dim, at, n int, up bool) {
		extent := t.dims[dim]
		for range n {
			lower := at
			if up {
				at = (at + 1) % extent
			} else {
				at = (at + extent - 1) % extent
				lower = at
			}
			if extent == 2 {
				lower = 0
			}
			base := router - router/stride%extent*stride
			way = append(way, Wire(t.nodes())+Wire(dim)*Wire(t.routers)+Wire(base+lower*stride))
			router = base + at*stride
		}
		stride *= extent
	})
	return append(way, Wire(j))
}

func (t torus) describe(w Wire) (class int, ends string) {
	if w < Wire(t.nodes()) {
		return 0, fmt.Sprintf("node %d - router %d", w, int(w)/t.p)
	}
	w -= Wire(t.nodes())
	dim, router := int(w/Wire(t.routers)), int(w%Wire(t.routers))
	stride := 1
	for _, extent := range t.dims[:dim] {
		stride *= extent
	}
	at := router / stride % t.dims[dim]
	next := router + ((at+1)%t.dims[dim]-at)*stride
	return 1 + dim, fmt.Sprintf("router %d - router %d", router, next)
}
