package phrase

import "strings"

// Circles names wait states that depend on each other in circles, which no execution has: clocks are wrong.
func Circles(states int) string {
	return Plural(states, "wait state") + " depend on each other in circles"
}

// Early names messages that arrived before they were sent, and collectives that a rank left before it could, such as a barrier that another
// one had not entered: no execution has them, clocks are wrong. The worst did so by that much.
func Early(messages, collectives int64, worst string) string {
	var list []string
	switch {
	case messages == 1:
		list = append(list, "1 message arrived before it was sent")
	case messages > 1:
		list = append(list, Plural(messages, "message")+" arrived before they were sent")
	}
	switch {
	case collectives == 1:
		list = append(list, "1 collective ended before it could")
	case collectives > 1:
		list = append(list, Plural(collectives, "collective")+" ended before they could")
	}
	if messages+collectives > 1 {
		worst = "up to " + worst
	}
	return strings.Join(list, " and ") + ", by " + worst
}
