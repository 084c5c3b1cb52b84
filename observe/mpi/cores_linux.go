package mpi

import "golang.org/x/sys/unix"

// Cores returns the cores that this process may use, one bit each; nil: not known.
func Cores() []uint64 {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil
	}
	words := make([]uint64, 0, len(set))
	last := 0
	for i, w := range set {
		words = append(words, uint64(w))
		if w != 0 {
			last = i + 1
		}
	}
	return words[:last]
}
