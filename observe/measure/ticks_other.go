//go:build !amd64 && !arm64

package measure

// hasTicks reports whether the counter of this kind of processor is known; without it nothing is measured.
const hasTicks = false

func readTicks() uint64                                                      { return 0 }
func shortest(uint64) uint64                                                 { return 0 }
func watch([]uint64, uint64, uint64) (n int, iterations, first, last uint64) { return 0, 0, 0, 0 }
func work(uint64)                                                            {}
func countUnits(uint64, uint64) (n, last uint64)                             { return 0, 0 }
