package phrase

import "fmt"

// Circles names wait states that depend on each other in circles, which no execution has: clocks are wrong.
func Circles(states int) string {
	return Plural(states, "wait state") + " depend on each other in circles"
}

// Early names messages that arrived before they were sent, which no execution has: clocks are wrong. The worst did so by that much.
func Early(messages int64, worst string) string {
	if messages == 1 {
		return fmt.Sprintf("1 message arrived before it was sent, by %s", worst)
	}
	return fmt.Sprintf("%s arrived before they were sent, by up to %s", Plural(messages, "message"), worst)
}
