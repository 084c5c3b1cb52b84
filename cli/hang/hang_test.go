package hang

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"slackline/analyze/hang"
	"slackline/cli/env"
	"slackline/internal/parallel"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
	"slackline/observe/record"
)

// fortran is the case that is a program of its own.
const fortran = "fortran"

// planted is a program that stands still, or is only slow, and what is to be said of it.
type planted struct {
	name     string
	outcome  hang.Outcome
	kinds    []string // any of them
	culprits []int    // that must be named: of the finding, or the roots
	says     string   // a part of the text
	after    bool     // it is looked at after its end
}

var cases = []planted{
	{name: "cyclic_sends", outcome: hang.Hang, kinds: []string{"hang_cyclic_sends"}, culprits: []int{0, 1, 2, 3}, says: "1048576 bytes"},
	{name: "cyclic_receives", outcome: hang.Hang, kinds: []string{"hang_cyclic_receives"}, culprits: []int{0, 1, 2, 3}},
	{
		name: "receive_without_send", outcome: hang.Hang, kinds: []string{"hang_finished_rank"}, culprits: []int{1},
		says: "rank 1 is in MPI_Finalize",
	},
	{
		name: "send_without_receive", outcome: hang.Hang, kinds: []string{"hang_finished_rank"}, culprits: []int{3},
		says: "The receive of rank 3 is missing",
	},
	{
		name: "wrong_tag", outcome: hang.Hang, kinds: []string{"hang_mismatched_message"}, culprits: []int{0, 1},
		says: "the receive has tag 5",
	},
	{name: "wrong_tag_large", outcome: hang.Hang, kinds: []string{"hang_mismatched_message"}, culprits: []int{0, 1}, says: "tag 6"},
	{
		name: "wrong_communicator", outcome: hang.Hang, kinds: []string{"hang_mismatched_message"}, culprits: []int{0, 1},
		says: "the receive is on MPI_COMM_WORLD",
	},
	{
		name: "collective_order", outcome: hang.Hang, kinds: []string{"hang_mismatched_collective"}, culprits: []int{3},
		says: "MPI_Allreduce on rank 3",
	},
	{name: "different_roots", outcome: hang.Hang, kinds: []string{"hang_mismatched_root"}, culprits: []int{3}, says: "rank 1 on rank 3"},
	{
		name: "one_finished", outcome: hang.Hang, kinds: []string{"hang_finished_rank"}, culprits: []int{2},
		says: "finished without this call",
	},
	{name: "endless", outcome: hang.Endless, culprits: []int{2}, says: "loop_for_ever"},
	{name: "stopped", outcome: hang.Hang, kinds: []string{"hang_stopped_rank"}, culprits: []int{2}, says: "stopped by a signal"},
	{name: "held_lock", outcome: hang.Hang, kinds: []string{"hang_lock"}, culprits: []int{0, 2}, says: "Rank 0 holds the lock"},
	{name: "fence", outcome: hang.Hang, kinds: []string{"hang_cycle"}, culprits: []int{0, 3}, says: "MPI_Win_fence"},
	{name: "no_post", outcome: hang.Hang, kinds: []string{"hang_cycle"}, culprits: []int{0, 1}, says: "MPI_Win_post"},
	{name: "wait_never", outcome: hang.Hang, kinds: []string{"hang_cycle"}, culprits: []int{0, 1}, says: "MPI_Wait"},
	{name: "waitall", outcome: hang.Hang, kinds: []string{"hang_cycle"}, culprits: []int{0, 2}, says: "a message from rank 0 (tag 9"},
	{
		name: "waitany", outcome: hang.Hang, kinds: []string{"hang_cyclic_receives", "hang_cycle"}, culprits: []int{0, 1},
		says: "MPI_Waitany",
	},
	{name: "any_source", outcome: hang.Hang, kinds: []string{"hang_no_sender"}, culprits: []int{0}, says: "from any rank"},
	{name: "probe", outcome: hang.Hang, kinds: []string{"hang_cyclic_receives"}, culprits: []int{0, 1}, says: "MPI_Probe"},
	{
		name: "broken_ring", outcome: hang.Hang, kinds: []string{"hang_cycle", "hang_mismatched_message"}, culprits: []int{3},
		says: "MPI_Sendrecv",
	},
	{name: "barrier_in_branch", outcome: hang.Hang, kinds: []string{"hang_finished_rank"}, culprits: []int{1, 3}, says: "in a branch"},
	{name: "circle_of_communicators", outcome: hang.Hang, kinds: []string{"hang_other_communicator"}, culprits: []int{0, 1, 2}},
	{name: "other_communicator", outcome: hang.Hang, kinds: []string{"hang_other_communicator"}, culprits: []int{3}},
	{name: "not_started", outcome: hang.Hang, kinds: []string{"hang_finished_rank"}, culprits: []int{3}, says: "MPI_Ibarrier"},
	{
		name: "blocking_with_other", outcome: hang.Hang, kinds: []string{"hang_mismatched_collective"}, culprits: []int{3},
		says: "MPI_Ibarrier on rank 3",
	},
	{name: "test_loop", outcome: hang.Hang, kinds: []string{"hang_cycle"}, culprits: []int{0, 1}, says: "polls: MPI_Test"},
	{name: "testall_loop", outcome: hang.Hang, kinds: []string{"hang_cycle"}, culprits: []int{0}, says: "polls: MPI_Testall"},
	{name: "testany_loop", outcome: hang.Hang, kinds: []string{"hang_cycle"}, culprits: []int{0}, says: "polls: MPI_Testany"},
	{name: "waitsome", outcome: hang.Hang, kinds: []string{"hang_cycle"}, culprits: []int{0}, says: "MPI_Waitsome"},
	{name: "threads", outcome: hang.Hang, kinds: []string{"hang_cycle"}, culprits: []int{0}, says: "tag 5"},
	{name: "ended_thread", outcome: hang.Hang, kinds: []string{"hang_cyclic_receives"}, culprits: []int{0, 1, 2, 3}},
	{name: fortran, outcome: hang.Hang, kinds: []string{"hang_mismatched_message"}, culprits: []int{0, 1}, says: "the receive has tag 5"},
	{name: "to_self", outcome: hang.Hang, kinds: []string{"hang_cyclic_sends"}, culprits: []int{0}, says: "MPI_Ssend"},
	{name: "split", outcome: hang.Hang, kinds: []string{"hang_cycle"}, culprits: []int{0, 1}, says: "MPI_Comm_split"},
	{name: "asleep", outcome: hang.Endless, culprits: []int{1}, says: "waits outside of MPI"},
	{name: "crashed", outcome: hang.Slow, culprits: []int{2}, says: "wait", after: true},
	{name: "slow", outcome: hang.Slow, culprits: []int{1}, says: "only slow"},
	{name: "slow_halo", outcome: hang.Slow, culprits: []int{1}, says: "only slow"},
	{name: "tests_in_turn", outcome: hang.Slow, culprits: []int{2}, says: "only slow"},
	{name: "probes_in_turn", outcome: hang.Slow, culprits: []int{2}, says: "only slow"},
	{name: "imbalanced", outcome: hang.Running},
	{name: "messages", outcome: hang.Running},
}

// TestPlanted wants the culprit of every planted mistake to be named, and no alarm for programs that are only slow. Each program runs
// under one of the two MPIs; TestPlantedBoth has all with both.
func TestPlanted(t *testing.T) {
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		var list []*planted
		for i := range cases {
			if (i%2 == 0) == (l.Kind == mpi.MPICH) {
				list = append(list, &cases[i])
			}
		}
		tryCases(t, l, list)
	})
}

func tryCases(t *testing.T, l *mpi.Library, list []*planted) {
	t.Helper()
	program := mpitest.Build(t, l, filepath.Join("testdata", "cases.c"), "-g", "-O1", "-pthread")
	inFortran := mpitest.Build(t, l, filepath.Join("testdata", "fortran.F90"), "-g")
	dir := t.TempDir()
	texts := make([]string, len(list))
	const atOnce = 4
	parallel.Each(len(list), atOnce, func(i int) {
		run := program
		if list[i].name == fortran {
			run = inFortran
		}
		texts[i] = tryCase(list[i], append(mpitest.Launch(l, 4), run, list[i].name), filepath.Join(dir, fmt.Sprint(i)+".slt"))
	})
	for i, text := range texts {
		if text != "" {
			t.Errorf("%s: %s", list[i].name, text)
		}
	}
}

// tryCase runs a program, looks at it until it says what is wanted, or often, and returns what is wrong with the last look.
func tryCase(p *planted, command []string, out string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	var group parallel.Group
	silent := func(string, ...any) {}
	var runErr error
	ended := make(chan struct{})
	group.Go(func() {
		defer close(ended)
		_, runErr = record.Run(ctx, record.Options{
			Command: command, Out: out, Sample: record.DefaultPeriod, Yield: "on", KeepRaw: p.after,
			Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Note: silent, Warn: silent,
		})
	})
	defer group.Wait()
	defer cancel()
	if p.after {
		<-ended
	}
	wrong := "not looked at"
	var processes []int
	defer func() { // the launcher would ask them first, and wait
		for _, pid := range processes {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}()
	const looks, pause = 80, 300 * time.Millisecond
	for look := 0; look < looks && ctx.Err() == nil; { // looks at all ranks are counted: the machine may stand still itself
		dir, err := record.RawDir(out) // is there when the recorder is built
		if err != nil {
			wrong = err.Error()
			time.Sleep(pause)
			continue
		}
		sight, err := record.Look(ctx, []string{dir}, 200*time.Millisecond)
		if err != nil || len(sight.Ranks) < 4 {
			wrong = fmt.Sprint("not all there: ", err)
			time.Sleep(pause)
			continue
		}
		look++
		processes = nil
		for _, r := range sight.Ranks {
			if r.PID > 0 && sight.Alive {
				processes = append(processes, r.PID)
			}
		}
		var alarm bool
		if wrong, alarm = judge(p, newReport(sight)); alarm {
			return wrong
		}
		if wrong == "" {
			wrong = comparePage(p.name, sight)
		}
		select {
		case <-ended:
			if !p.after {
				return fmt.Sprintf("the program ended: %v", runErr)
			}
		default:
		}
		if wrong == "" || p.after {
			break
		}
	}
	return wrong
}

// passing is what differs from one look to the next: times, and the number of a collective call.
var passing = regexp.MustCompile(`\b[0-9.]+(us|ms|s)\b|\bcall [0-9]+\b`)

// comparePage holds what is said about a case against the example on the page of the verb, if it is there: all but what passes, and line
// breaks.
func comparePage(name string, sight *record.Sight) (wrong string) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "verbs", "hang.md"))
	if err != nil {
		return err.Error()
	}
	plainly := func(text string) string {
		return passing.ReplaceAllString(strings.Join(strings.Fields(text), " "), "...")
	}
	for _, block := range strings.Split(string(page), "```") {
		if !strings.Contains(block, " main/"+name+"/") {
			continue
		}
		var b strings.Builder
		Write(&env.Env{Stdout: io.Discard}, &b, sight)
		if got, want := plainly(b.String()), plainly(block); got != want {
			return fmt.Sprintf("the page says\n%s\nbut the verb\n%s", want, got)
		}
	}
	return ""
}

// judge says what is wrong with a report, and whether it is an alarm for a program that can go on.
func judge(p *planted, r *report) (wrong string, alarm bool) {
	var b strings.Builder
	fmt.Fprintln(&b, r.Outcome, r.Reason, r.Summary)
	culprits := r.Roots
	for _, f := range r.Findings {
		fmt.Fprintln(&b, f.Kind, f.Culprits, f.What, f.Mistake)
	}
	if len(r.Findings) > 0 {
		culprits = r.Findings[0].Culprits
	}
	for _, s := range r.States {
		fmt.Fprintln(&b, s.Ranks, s.Doing, s.Since, s.CallPath)
	}
	text := b.String()
	named := !slices.ContainsFunc(p.culprits, func(c int) bool { return !slices.Contains(culprits, c) })
	switch {
	case r.Outcome == hang.Hang && p.outcome != hang.Hang:
		return "a false alarm:\n" + text, true
	case r.Outcome != p.outcome:
		return fmt.Sprintf("want the outcome %s, got\n%s", p.outcome, text), false
	case len(p.kinds) > 0 && !slices.Contains(p.kinds, r.Reason):
		return fmt.Sprintf("want one of %v, got\n%s", p.kinds, text), false
	case p.outcome != hang.Running && !named:
		return fmt.Sprintf("want the culprits %v, got\n%s", p.culprits, text), false
	case !strings.Contains(text, p.says):
		return fmt.Sprintf("want %q in\n%s", p.says, text), false
	}
	return "", false
}
