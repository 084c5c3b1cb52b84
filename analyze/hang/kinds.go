package hang

// Kind is a reason why ranks can never go on.
type Kind struct {
	Name    string // hang_cycle
	Title   string
	Short   string // in a list
	Meaning string
	Advice  string
}

// The kinds of findings.
var (
	cyclicSends = Kind{
		"hang_cyclic_sends", "Blocking sends in a circle", "each sends before it receives, and the library keeps no message of that size",
		"Ranks send to each other in a circle with blocking calls, and none has come to its receive. It works as long as the library " +
			"keeps the messages itself (below its eager limit), and stops with larger messages, another MPI or another network.",
		"Use MPI_Sendrecv, post the receives with MPI_Irecv before the sends, or let every second rank receive first.",
	}
	cyclicReceives = Kind{
		"hang_cyclic_receives", "Blocking receives in a circle", "each receives before it sends",
		"Ranks wait in a circle for messages of each other, and none has come to its send.",
		"Send first where the order allows it, or use MPI_Sendrecv or MPI_Irecv.",
	}
	cycle = Kind{
		"hang_cycle", "Deadlock", "ranks wait for each other in a circle",
		"Each rank of the circle is inside a call that only the next one could end, which waits itself. No rank outside of it can help.",
		"Follow the circle from rank to rank: one of the calls stands in the wrong order, or in a branch that not all ranks take.",
	}
	mismatchedMessage = Kind{
		"hang_mismatched_message", "A message that does not fit", "the message was sent with another tag, communicator or to another rank",
		"A rank waits for a message, and one that no rank has received differs from it in its tag, its communicator or its sender.",
		"Compare source, tag and communicator of the receive with those of the send.",
	}
	mismatchedCollective = Kind{
		"hang_mismatched_collective", "Different collectives", "the ranks of a communicator call different collectives",
		"All ranks of a communicator must call the same collectives in the same order. Here the calls with the same number differ: " +
			"in the operation, or one is blocking and the other is not.",
		"Compare the call paths of the ranks: all members of the communicator must come through the same collectives in the same order.",
	}
	mismatchedRoot = Kind{
		"hang_mismatched_root", "Different roots", "the ranks of a collective name different roots",
		"All ranks of a collective must name the same root. A rank that names another one waits for a message that no rank sends.",
		"Compute the root from values that are equal on all ranks.",
	}
	mismatchedSize = Kind{
		"hang_mismatched_size", "Different sizes", "the ranks of a collective give different sizes",
		"The ranks gave sizes that do not fit, so that the library chooses different algorithms on them, or waits for the rest of a message.",
		"Give the same count and type on all ranks.",
	}
	otherCommunicator = Kind{
		"hang_other_communicator", "Collectives on different communicators",
		"ranks that share several communicators are in collectives on different ones",
		"Some ranks are in a collective on one communicator and some on another one, and each needs ranks that are in the other.",
		"Call collectives on communicators that overlap in the same order on all ranks.",
	}
	finishedRank = Kind{
		"hang_finished_rank", "A rank has finished", "others wait for a rank that is in MPI_Finalize or done",
		"A rank came to MPI_Finalize, and others still wait for it: for a message, a receive, or its part in a collective.",
		"Look for a receive without a send, for a number of iterations that depends on the rank, or for a collective in a branch.",
	}
	exitedRank = Kind{
		"hang_exited_rank", "A rank ended without MPI_Finalize", "others wait for a rank that ended by itself",
		"A process of the program ended by itself (exit, return from main) without MPI_Finalize, and the launcher did not end the others.",
		"Look at its output and exit code; call MPI_Abort where the program gives up.",
	}
	lostRank = Kind{
		"hang_lost_rank", "A rank is gone", "others wait for a rank that crashed or was killed",
		"A process of the program is gone without MPI_Finalize: it crashed, or was killed, for example because there was no memory.",
		"Look at its output and at the log of the system.",
	}
	stoppedRank = Kind{
		"hang_stopped_rank", "A rank was stopped", "others wait for a rank that is stopped by a signal",
		"A process of the program was stopped by a signal (SIGSTOP, SIGTSTP, or a debugger), and others wait for it.",
		"Continue it: kill -CONT with its number, or in the debugger.",
	}
	heldLock = Kind{
		"hang_lock", "A lock that is not given back", "others wait for a lock of a window whose holder waits itself",
		"A rank holds the lock of a window and waits for something that only ranks which need the lock could do.",
		"Unlock before calls that wait for others.",
	}
	nobodyLeft = Kind{
		"hang_no_sender", "A message that no rank can send", "no rank is left that could send the message",
		"A rank waits for a message from any rank, and every rank that could send it has finished or waits itself.",
		"Count the messages: one more receive than sends, or an end of the loop of receives that was missed.",
	}
	endlessLoop = Kind{
		"hang_endless", "A computation without end", "all wait for a rank that computes much longer than ever before",
		"No deadlock: a rank computes, and others wait for it. It has computed for more than ten times as long as between any two " +
			"of its MPI calls before, so it may be in an endless loop. Only the program can tell: " +
			"it is named, and so is the function that it is in.",
		"Look at the function that is named; look again later. If the loop is meant to take that long, nothing is wrong.",
	}
	slowRank = Kind{
		"hang_slow", "A slow rank", "all wait for a rank that computes as it did before",
		"No deadlock: a rank computes, and others wait for it.",
		"'slackline waits' on the finished run shows what it costs.",
	}
)

// Kinds are all of them, in the order of explanations.
func Kinds() []*Kind {
	return []*Kind{
		&cyclicSends, &cyclicReceives, &cycle, &mismatchedMessage, &mismatchedCollective, &mismatchedRoot, &mismatchedSize, &otherCommunicator,
		&finishedRank, &exitedRank, &lostRank, &stoppedRank, &heldLock, &nobodyLeft, &endlessLoop, &slowRank,
	}
}
