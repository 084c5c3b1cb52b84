package waits

import "slackline/model/unit"

var lateSenderInfo = Info{
	Name:    "late_sender",
	Title:   "Late sender",
	Short:   "waits for a message that is not sent yet",
	Because: "%s sent late",
	Meaning: "Time in a receive, or in the call that completes it, before the send of its message began: " +
		"min(enter of the send, leave of the receive) - enter of the receive. The sender is held responsible. " +
		"Calls of the MPI_Test family never wait.",
	Advice: "Give the sender less work before the send, send earlier, or let the receiver work while it waits (post the receive early, complete it late).",
}

// lateSender is how long a receive waits for the send of its message.
func lateSender(send, receive span) unit.Duration {
	return min(send.enter, receive.leave) - receive.enter
}
