//go:build amd64 || arm64

package measure

// The loops are written in assembly: a compiler may change what a loop costs from one version to the
// next, and the Go runtime must not put a check into it. None of them is ever interrupted by
// the runtime, so the callers bound them by time.

// hasTicks reports whether the counter of this kind of processor is known.
const hasTicks = true

// readTicks reads the counter of the processor.
func readTicks() uint64

// shortest returns the smallest difference of two consecutive readings of the counter.
func shortest(iterations uint64) uint64

// watch reads the counter again and again until it reaches end or the room for records is used up,
// and writes both readings of every pair that are more than threshold apart. It returns the number
// of pairs written, how many readings there were, and the first and the last one.
func watch(records []uint64, threshold, end uint64) (n int, iterations, first, last uint64)

// work does a fixed amount of work that touches no memory.
func work(units uint64)

// countUnits does pieces of work, unit each, until the counter reaches end, and returns how many
// there were and the last reading. unit must not be 0.
func countUnits(unit, end uint64) (n, last uint64)
