package replay

import (
	"fmt"

	"slackline/model/missing"
	"slackline/model/unit"
)

// Report describes what became of a run. Counts are those of the recorded ranks, without copies.
type Report struct {
	Missing         missing.Parts // of the recorded run
	Recorded, Ranks int           // ranks of the run, of the schedule
	Calls           int64         // calls of all threads
	Ops, Blocks     int64
	Messages        int64 // that became operations
	Collectives     int64 // instances that became operations
	InnerMessages   int64 // messages that no call of the program names: of one-sided communication, neighbors, groups
	OfAllRanks      int64 // those of them whose communicators have all ranks

	// Span is the longest time that a rank took for what became its schedule: from the end of
	// MPI_Init to the start of MPI_Finalize. A simulation on the machine of the run should come near.
	Span unit.Duration
	// Sums over ranks.
	Compute unit.Sum // computation of the program, before it was scaled
	Opaque  unit.Sum // time of MPI calls that was kept: independent I/O, local calls, messages of ranks to themselves
	Polls   int64    // calls that found nothing
	Idle    unit.Sum // time between polls that was waiting
	NoCPU   unit.Sum // time in which ranks could have run but had no CPU, which is left out
	Spans   unit.Sum // of all ranks
	// ForcedYield: the recorder made MPI give up the CPU while it waits.
	ForcedYield bool

	// What was left out, at both ends.
	UnmatchedSends, UnmatchedReceives int64 // ends of messages without the other end
	IncompleteCollectives             int64 // not every member has them
	CutMessages, CutCollectives       int64 // not recorded at both ends, or by all members
	OtherThreads                      int64 // messages and collectives of threads that are not the master
	OutsideMPI                        int64 // messages whose records are not in an MPI call
	ToItself                          int64 // messages of ranks to themselves, of whose calls the time was kept
	Neighborhoods                     int64 // calls of collectives among neighbors that are not known
	OneSided                          int64 // calls of one-sided communication whose time was kept: their window or epoch is not whole
	Between                           int64 // collectives between two groups, of which the time was dropped
	Averaged                          int64 // collectives with sizes by rank that got the mean size, for copies have none

	// Accelerators: the run has streams of accelerators.
	Accelerators bool
	// OwnMachine: nothing but these communicates, and that takes as long as in the run (see Options.KeepTransfers).
	OwnMachine bool

	// Asynchronous: in the run, locks were served while their target computed, and so they are in the schedule.
	Asynchronous bool

	// Partitioned are partitioned messages, which are sent whole with their last partition.
	Partitioned int64

	// MixedStarts are sends of ranks that prepared buffered and other ones, which became others.
	MixedStarts int64
	// Synchronous are sends that wait for their receive whatever their size, which became standard ones.
	Synchronous int64

	// What Denoise did.
	Denoised                      int64 // computations that were replaced
	BeforeDenoise, AfterDenoising unit.Sum
}

// add adds what was found at a rank.
func (r *Report) add(w *walkReport) {
	r.Span = max(r.Span, w.span)
	r.Compute.Add(w.compute)
	r.Opaque.Add(w.opaque)
	r.Polls += w.polls
	r.Idle.Add(w.idle)
	r.NoCPU.Add(w.noCPU)
	r.Spans.Add(w.span)
	r.Neighborhoods += w.neighborhoods
	r.Denoised += w.denoised
	r.BeforeDenoise.Add(w.before)
	r.AfterDenoising.Add(w.after)
}

// Extrapolation describes what a schedule with more ranks than the run assumes; empty: it has no more.
func (r *Report) Extrapolation(ranks int) string {
	if ranks <= r.Recorded {
		return ""
	}
	copies := ranks / r.Recorded
	text := fmt.Sprintf("%d ranks are %d copies of the %d recorded: each repeats the computation as it is", ranks, copies, r.Recorded)
	if r.Messages > 0 {
		text += fmt.Sprintf("; its %d point-to-point messages stay inside it, and no rank gets new neighbors", r.Messages)
	}
	if r.OfAllRanks > 0 {
		text += fmt.Sprintf("; %d collectives of all ranks become collectives of all %d, with the same sizes per rank", r.OfAllRanks, ranks)
	}
	if rest := r.Collectives - r.OfAllRanks; rest > 0 {
		text += fmt.Sprintf("; %d collectives of smaller communicators stay inside their copy", rest)
	}
	return text
}

// Circumstances are sentences about what made the recorded run take another time than the schedule.
func (r *Report) Circumstances() []string {
	var list []string
	if share := r.NoCPU.Over(r.Spans); share >= 0.01 {
		list = append(list, fmt.Sprintf("in the recorded run the ranks were without a CPU for %s, %.1f %% of their time: that is left out, "+
			"because every simulated rank has a CPU of its own",
			r.NoCPU.Short(), 100*share))
	}
	if r.ForcedYield {
		list = append(list, "when the run was recorded, MPI was made to give up the CPU while it waits (--yield): without that it "+
			"may take much longer")
	}
	return list
}

// Warnings are sentences about what the schedule lacks.
func (r *Report) Warnings() []string {
	var list []string
	say := func(n int64, format string) {
		if n > 0 {
			list = append(list, fmt.Sprintf(format, n))
		}
	}
	say(int64(r.Missing.Ranks), "events of %d of the ranks are missing: not all that they did is simulated")
	say(r.UnmatchedSends, "%d sends without a receive were left out")
	say(r.UnmatchedReceives, "%d receives without a send were left out")
	say(r.IncompleteCollectives, "%d collectives that not all members have were left out")
	say(r.CutMessages, "%d messages that were recorded at one end only were left out: recording was off at the other")
	say(r.CutCollectives, "%d collectives that not all members recorded were left out")
	say(r.OtherThreads, "%d messages and collectives of threads other than the first of their rank were left out")
	say(r.OutsideMPI, "%d messages that were not recorded inside of MPI calls were left out")
	say(r.Neighborhoods, "%d calls of neighborhood collectives were left out: the neighbors are not in the trace")
	say(r.OneSided, "%d calls of one-sided communication became computation: the creation of their window, or the other side of their "+
		"epoch, is not in the trace")
	say(r.Between, "%d collectives between two groups were left out")
	say(r.Partitioned, "%d partitioned messages are sent whole when their last partition is ready: single partitions are not in the trace")
	say(r.MixedStarts, "%d sends begun by MPI_Start may be buffered: their ranks prepared some by MPI_Bsend_init and some by other calls; "+
		"all are taken as not buffered")
	say(r.Synchronous, "%d synchronous sends (MPI_Ssend, MPI_Issend) are taken as standard ones: up to S bytes (-S) they do not wait for "+
		"their receives")
	say(r.Averaged, "%d collectives with sizes by rank got the mean size: the sizes between copies are not known, or too many")
	return list
}
