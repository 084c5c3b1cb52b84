package pattern

// SameCall implements schedule.SPMD.
func (p *program) SameCall(step int) bool {
	_, ok := p.part(step).(*call)
	return ok
}
