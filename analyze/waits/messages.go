package waits

import (
	"slackline/model/timeline"
)

var lateSender = kind{
	Info: Info{
		Name:    "late_sender",
		Title:   "Late sender",
		Short:   "waits for a message that is not sent yet",
		Because: "%s sent late",
		Meaning: "Time in a receive, in the call that completes it, or in the MPI_Probe that looked for the message before, before its " +
			"send began: min(enter of the send, leave of the receive) - enter of the receive. The cause is the sender. Calls of the " +
			"MPI_Test family never wait.",
		Advice: "Give the sender less work before the send, send earlier, or let the receiver work while it waits (post the receive " +
			"early, complete it late).",
		Color: Color{"#D55E00", "#F0722B"},
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

var lateReceiver = kind{
	Info: Info{
		Name:    "late_receiver",
		Title:   "Late receiver",
		Short:   "waits in a send for a receive that is not posted yet",
		Because: "%s was not ready to receive",
		Meaning: "Time in a send, or in the call that completes it, before the receive was posted, if the call had not ended by then: " +
			"enter of the posting - enter of the send. The cause is the receiver. Messages that the library buffers do not wait.",
		Advice: "Post receives earlier (MPI_Irecv before the work), or use sends that need not wait (MPI_Isend, smaller messages).",
		Color:  Color{"#B8336A", "#D9538B"},
	},
	precedence: receiverLast,
	message: func(a *analysis, m *timeline.Message, e *messageEnds) candidate {
		if !e.isDone || e.doneTests || !a.isHere(m.From) || e.post.enter >= e.done.leave {
			return candidate{}
		}
		return candidate{
			amount:   e.post.enter - e.done.enter,
			location: m.Completer(), call: m.SendDone, cause: m.Poster(), causeCall: m.Post, seq: m.SendDoneSeq,
		}
	},
}
