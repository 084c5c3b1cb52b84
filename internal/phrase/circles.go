package phrase

// Circles names wait states that depend on each other in circles, which no execution has: clocks are wrong.
func Circles(states int) string {
	return Plural(states, "wait state") + " depend on each other in circles"
}
