package measure

// fixedWork does the same work again and again and records when each piece began and how long it took.
func (h *childHeader) fixedWork(records []uint64, q *childRequest, rate float64, end uint64) int {
	units := calibrateWork(float64(q.QuantumNS) * rate)
	h.First = readTicks()
	n := 0
	for 2*n+1 < len(records) {
		start := readTicks()
		if start >= end {
			break
		}
		work(units)
		records[2*n], records[2*n+1] = start, readTicks()-start
		n++
	}
	h.Iterations, h.Last = uint64(n), readTicks()
	return n
}

// fixedQuantum counts the pieces of work that get done in equal quanta of time, which follow each
// other without a gap, and records the start of each quantum and its count.
func (h *childHeader) fixedQuantum(records []uint64, q *childRequest, rate float64, end uint64) int {
	const pieces = 1000 // in an undisturbed quantum
	quantum := float64(q.QuantumNS) * rate
	unit := calibrateWork(quantum / pieces)
	h.First = readTicks()
	n := 0
	for 2*n+1 < len(records) {
		start := h.First + uint64(float64(n)*quantum)
		if start >= end {
			break
		}
		count, _ := countUnits(unit, h.First+uint64(float64(n+1)*quantum))
		records[2*n], records[2*n+1] = start, count
		n++
	}
	h.Iterations, h.Last = uint64(n), readTicks()
	return n
}

// calibrateWork returns how much work takes so many ticks when nothing disturbs it.
func calibrateWork(ticks float64) uint64 {
	const units, tries = 10000, 200
	best := ^uint64(0)
	for range tries {
		start := readTicks()
		work(units)
		best = min(best, readTicks()-start)
	}
	return max(uint64(ticks*units/float64(max(best, 1))), 1)
}
