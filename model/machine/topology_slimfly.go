package machine

import "fmt"

// slimFly is the graph of McKay, Miller and Siran, whose diameter is 2, with p nodes at each of its
// 2*q*q routers. Router r < q*q is (0, x = floor(r/q), y = r mod q), router q*q + r is (1, m =
// floor(r/q), c = r mod q). Let X be the even powers of the smallest primitive root of q, and Y the
// odd ones: (0, x, y) and (0, x, y') are wired if y - y' is in X, (1, m, c) and (1, m, c') if c - c'
// is in Y, and (0, x, y) and (1, m, c) if y = m*x + c, all modulo q.
//
// Of several routers between two others, the one with the smallest number is taken.
type slimFly struct {
	q, p int
	even []bool // by residue: an even power of the primitive root
}

// maxSlimFly bounds q, so that looking for a root stays short.
const maxSlimFly = 1 << 15

func newSlimFly(n numbers) (network, error) {
	q := n["q"]
	if q > maxSlimFly {
		return nil, fmt.Errorf("q is %d, more than %d; give a smaller one", q, maxSlimFly)
	}
	if q%4 != 1 || !isPrime(q) {
		return nil, fmt.Errorf("q is %d; a Slim Fly needs a prime that is 1 modulo 4, e.g. 5, 13, 17, 29 or 37", q)
	}
	s := slimFly{q: q, p: n["p"], even: make([]bool, q)}
	root := primitiveRoot(q)
	for i, power := 0, 1; i < q-1; i, power = i+1, power*root%q {
		s.even[power] = i%2 == 0
	}
	return s, nil
}

func isPrime(n int) bool {
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return n > 1
}

// primitiveRoot returns the smallest number whose powers are all residues of the prime q but 0.
func primitiveRoot(q int) int {
	for root := 2; ; root++ {
		order, power := 1, root
		for power != 1 {
			power = power * root % q
			order++
		}
		if order == q-1 {
			return root
		}
	}
}

func (s slimFly) routers() int { return 2 * s.q * s.q }

func (s slimFly) nodes() int64 { return product(s.routers(), s.p) }

// adjacent reports whether there is a wire between two different routers, a < b.
func (s slimFly) adjacent(a, b int) bool {
	q, half := s.q, s.q*s.q
	switch {
	case b < half: // both are (0, x, y)
		return a/q == b/q && s.even[b-a]
	case a >= half: // both are (1, m, c)
		return a/q == b/q && !s.even[b-a]
	}
	b -= half
	return a%q == (b/q*(a/q)+b%q)%q
}

// between returns the router between two that are not adjacent: the first neighbor of a that is one
// of b.
func (s slimFly) between(a, b int) int {
	found := -1
	s.neighbors(a, func(r int) bool {
		if s.adjacent(min(b, r), max(b, r)) {
			found = r
		}
		return found < 0
	})
	if found < 0 {
		panic("machine: a Slim Fly with a diameter above 2")
	}
	return found
}

// neighbors visits the neighbors of a router, ascending, until visit returns false.
func (s slimFly) neighbors(router int, visit func(int) bool) {
	q, half := s.q, s.q*s.q
	row := func(first, at int, wired func(distance int) bool) bool {
		for to := range q {
			if to != at && wired((to-at+q)%q) && !visit(first+to) {
				return false
			}
		}
		return true
	}
	if router < half {
		x, y := router/q, router%q
		if !row(x*q, y, func(d int) bool { return s.even[d] }) {
			return
		}
		for m := range q {
			if !visit(half + m*q + ((y-m*x)%q+q)%q) {
				return
			}
		}
		return
	}
	m, c := router/q-q, router%q
	for x := range q {
		if !visit(x*q + (m*x+c)%q) {
			return
		}
	}
	row(half+m*q, c, func(d int) bool { return !s.even[d] })
}

func (s slimFly) switches(i, j int) int {
	a, b := i/s.p, j/s.p
	switch {
	case a == b:
		return 1
	case s.adjacent(a, b):
		return 2
	}
	return 3
}

func (s slimFly) classes() []string { return []string{"node", "local", "cross"} }

// class reports whether a wire between two routers, a < b, joins routers of one kind or of both.
func (s slimFly) class(a, b int) int {
	if half := s.q * s.q; a < half && b >= half {
		return 2
	}
	return 1
}

func (s slimFly) count(i, j int, counts []int) {
	var room [4]Wire
	for _, w := range s.route(i, j, room[:0]) {
		class, _, _ := s.ends(w)
		counts[class]++
	}
}

// The number of a wire between routers a < b is nodes + a*routers + b.

func (s slimFly) route(i, j int, way []Wire) []Wire {
	a, b := i/s.p, j/s.p
	way = append(way, Wire(i))
	switch {
	case a == b:
	case s.adjacent(a, b):
		way = append(way, s.wire(a, b))
	default:
		middle := s.between(a, b)
		way = append(way, s.wire(a, middle), s.wire(middle, b))
	}
	return append(way, Wire(j))
}

func (s slimFly) wire(a, b int) Wire {
	return Wire(s.nodes()) + Wire(min(a, b))*Wire(s.routers()) + Wire(max(a, b))
}

// ends returns the class of a wire and the numbers at its ends: a node and its router, or two routers.
func (s slimFly) ends(w Wire) (class, a, b int) {
	if w < Wire(s.nodes()) {
		return 0, int(w), int(w) / s.p
	}
	w -= Wire(s.nodes())
	a, b = int(w/Wire(s.routers())), int(w%Wire(s.routers()))
	return s.class(a, b), a, b
}

func (s slimFly) describe(w Wire) (class int, ends string) {
	class, a, b := s.ends(w)
	if class == 0 {
		return 0, fmt.Sprintf("node %d - router %d", a, b)
	}
	return class, fmt.Sprintf("router %d - router %d", a, b)
}
