package waits

import "slackline/model/timeline"

var lateSender = kind{
	Info: Info{
		Name:    "late_sender",
		Title:   "Late sender",
		Short:   "waits for a message that is not sent yet",
		Because: "%s sent late",
		Meaning: "Time in a receive, in the call that completes it, or in the MPI_Probe that looked for the message before, before its send began: " +
			"min(enter of the send, leave of the receive) - enter of the receive. The cause is the sender. " +
			"Calls of the MPI_Test family never wait.",
		Advice: "Give the sender less work before the send, send earlier, or let the receiver work while it waits (post the receive early, complete it late).",
		Color:  Color{"#D55E00", "#F0722B"},
	},
	precedence: messageFirst,
	message: func(a *analysis, m *timeline.Message, e *messageEnds) candidate {
		if e.recvTests || !a.isHere(m.To) {
			return candidate{}
		}
		return candidate{
			amount:   min(e.send.enter, e.recv.leave) - e.recv.enter,
			location: m.To, call: m.Recv, cause: m.From, causeCall: m.Send, seq: m.RecvSeq,
		}
	},
}
