package phrase

// Circles is why waits and delays of a run may be wrong: wait states that depend on each other in circles, which no execution has; empty:
// there are none.
func Circles(states int) string {
	if states == 0 {
		return ""
	}
	return Plural(states, "wait state") + " depend on each other in circles, so the clocks are wrong"
}
