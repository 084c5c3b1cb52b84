package waits

import "slackline/model/unit"

var lateReceiverInfo = Info{
	Name:    "late_receiver",
	Title:   "Late receiver",
	Short:   "waits in a send for a receive that is not posted yet",
	Because: "%s was not ready to receive",
	Meaning: "Time in a send, or in the call that completes it, before the receive was posted, if the call had not ended by then: " +
		"enter of the posting - enter of the send. The receiver is held responsible. Messages that the library buffers do not wait.",
	Advice: "Post receives earlier (MPI_Irecv before the work), or use sends that need not wait (MPI_Isend, smaller messages).",
}

// lateReceiver is how long the completion of a send waits for the posting of its receive.
func lateReceiver(done, post span) unit.Duration {
	if post.enter >= done.leave {
		return 0
	}
	return post.enter - done.enter
}
