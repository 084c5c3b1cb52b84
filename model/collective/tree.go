package collective

import "math/bits"

// Trees are trees of relative ranks: 0 is the root, p the number of ranks.
//
// In the k-nomial tree rank v, written in base k, has as its parent the number with the lowest
// digit that is not 0 set to 0. Its children differ from it in one of the zeros below that digit.
// The subtree of a rank is a range of ranks that begins with it. The binomial tree is the one of
// radix 2.

// treeWidth returns the power of k that belongs to the lowest digit of v that is not 0; for the
// root the smallest power that is not below p. It bounds the size of the subtree of v.
func treeWidth(v, k, p int) int {
	if k == 2 {
		if v == 0 {
			return 1 << bits.Len(uint(p-1))
		}
		return v & -v
	}
	w := 1
	if v == 0 {
		for w < p {
			w *= k
		}
		return w
	}
	for v%k == 0 {
		v /= k
		w *= k
	}
	return w
}

// treeParent returns the parent of v, which is not the root.
func treeParent(v, k, p int) int {
	if k == 2 {
		return v & (v - 1)
	}
	w := treeWidth(v, k, p)
	return v - v/w%k*w
}

// treeChildren returns the number of children of v.
func treeChildren(v, k, p int) int {
	if k == 2 {
		n := bits.Len(uint(p - 1 - v))
		if v > 0 {
			n = min(n, bits.TrailingZeros(uint(v)))
		}
		return n
	}
	n := 0
	for w, end := 1, treeWidth(v, k, p); w < end && v+w < p; w *= k {
		n += min(k-1, (p-1-v)/w)
	}
	return n
}

// treeChild returns child i of v; the children come in the order of their ranks, which is also
// that of the sizes of their subtrees.
func treeChild(v, k, i int) int {
	if k == 2 {
		return v + 1<<i
	}
	w := 1
	for ; i >= k-1; i -= k - 1 {
		w *= k
	}
	return v + (i+1)*w
}

// treeSpan returns the size of the subtree of v.
func treeSpan(v, k, p int) int { return min(treeWidth(v, k, p), p-v) }

// In the binary tree rank v has the children 2v+1 and 2v+2, as far as there are such ranks.

// binaryChildren returns the first child of v and the number of children.
func binaryChildren(v, p int) (first, n int) {
	first = 2*v + 1
	return first, max(0, min(2, p-first))
}

// binaryParent returns the parent of v, which is not the root.
func binaryParent(v int) int { return (v - 1) / 2 }
