//go:build linux

package mpi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"slackline/internal/cluster"
	"slackline/internal/needed"
)

// roleVariable names what this program does as a process of a job, instead of tests.
const roleVariable = "SLACKLINE_TEST_ROLE"

// pieceVariable makes the messages of the bridge small, so that parts need several.
const pieceVariable = "SLACKLINE_TEST_PIECE"

// relayVariable is the number of processes from which on the bridge passes short parts on.
const relayVariable = "SLACKLINE_TEST_RELAY"

// apartVariable: all parts go through the bridge.
const apartVariable = "SLACKLINE_TEST_APART"

// startVariable is how long MPI may take to start, in s.
const startVariable = "SLACKLINE_TEST_START"

// roles are what processes of a job do in tests.
var roles = map[string]func(ctx context.Context, j *Job) error{
	"exchange": exchangeRole,
	"large":    largeRole,
	"mail":     mailRole,
	"fail":     failRole,
	"hungry":   hungryRole,
	"greedy":   greedyRole,
	"stop":     stopRole,
	"slow":     slowRole,
}

func TestMain(m *testing.M) {
	if piece := os.Getenv(pieceVariable); piece != "" {
		bridgeFlags = append(bridgeFlags, "-DLARGEST_PIECE=UINT64_C("+piece+")")
	}
	ByBridge = os.Getenv(apartVariable) != ""
	if from := os.Getenv(relayVariable); from != "" {
		bridgeFlags = append(bridgeFlags, "-DRELAY_FROM="+from)
	}
	if limit := os.Getenv(startVariable); limit != "" {
		bridgeFlags = append(bridgeFlags, "-DSTART_LIMIT="+limit)
	}
	if limits := os.Getenv(silenceVariable); limits != "" {
		bridgeFlags = append(bridgeFlags, strings.Fields(limits)...)
	}
	if file := os.Getenv(vmstatVariable); file != "" {
		bridgeFlags = append(bridgeFlags, "-DVMSTAT=getenv(\""+vmstatVariable+"\")")
	}
	role, is := os.LookupEnv(roleVariable)
	if !is {
		os.Exit(m.Run())
	}
	if err := play(role); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// play takes part in a job.
func play(role string) error {
	ctx := context.Background()
	if !Joined() {
		start, is, err := StartedIn(os.Getenv)
		if err != nil || !is {
			return fmt.Errorf("not in a job: %v", err)
		}
		if role == fmt.Sprint(absentRole, " ", start.Rank) {
			return nil
		}
		return start.Become(ctx, "", "a test", os.Args[1:])
	}
	j, err := Join()
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(role, " ")
	if err := roles[name](ctx, j); err != nil {
		if !errors.Is(err, cluster.ErrBroken) {
			j.Fail(1, fmt.Sprintf("process %d: %v", j.Rank(), err))
		}
		os.Exit(1)
	}
	return nil
}

// libraries are the MPI libraries of this machine that can start jobs.
func libraries(t testing.TB) []*Library {
	t.Helper()
	needed.Full(t, "MPI")
	list, _ := Find(context.Background())
	list = slices.DeleteFunc(list, func(l *Library) bool { return l.Launcher == "" || l.Kind == Unknown })
	needed.That(t, len(list) > 0, "an MPI library with a launcher")
	return list
}

// jobTimeout is far more than any job here needs.
const jobTimeout = 5 * time.Minute

// job runs a role on so many processes.
func job(t testing.TB, l *Library, size int, role string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), jobTimeout)
	defer cancel()
	args := []string{"-n", strconv.Itoa(size)}
	if l.Kind == OpenMPI {
		args = append(args, "--oversubscribe")
	}
	c := exec.CommandContext(ctx, l.Launcher, append(args, os.Args[0])...)
	c.Env = append(os.Environ(), roleVariable+"="+role, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	c.WaitDelay = 5 * time.Second
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err = c.Run()
	if ctx.Err() != nil {
		t.Fatalf("%s, %d processes, %s: not finished after %s; stderr:\n%s", l, size, role, jobTimeout, errs.String())
	}
	return out.String(), errs.String(), err
}

// eachJob runs a role under all libraries and on several numbers of processes, and wants process 0 to say "fine".
func eachJob(t *testing.T, role string, sizes ...int) {
	for _, l := range libraries(t) {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s/%s/%d", role, l.Kind, size), func(t *testing.T) {
				t.Parallel() // they wait for the launcher, and for each other, most of the time
				stdout, stderr, err := job(t, l, size, role)
				if err != nil || strings.TrimSpace(stdout) != "fine" {
					t.Errorf("%v, stdout %q, stderr:\n%s", err, stdout, stderr)
				}
			})
		}
	}
}

func TestJobExchanges(t *testing.T) { eachJob(t, "exchange", 1, 2, 3, 8) }

// TestJobExchangesByBridge exchanges as processes of several hosts do.
func TestJobExchangesByBridge(t *testing.T) {
	t.Setenv(apartVariable, "1")
	eachJob(t, "exchange", 2, 8)
}

// TestJobInPieces exchanges parts and messages that are larger than one message of MPI may be.
func TestJobInPieces(t *testing.T) {
	t.Setenv(apartVariable, "1")
	t.Setenv(pieceVariable, "1000")
	eachJob(t, "exchange", 3)
	eachJob(t, "mail", 3)
}

// TestJobRelays exchanges parts that other processes pass on, as among many processes.
func TestJobRelays(t *testing.T) {
	t.Setenv(apartVariable, "1")
	t.Setenv(relayVariable, "2")
	eachJob(t, "exchange", 2, 3, 5, 8)
}

// TestJobRelaysInPieces does both.
func TestJobRelaysInPieces(t *testing.T) {
	t.Setenv(apartVariable, "1")
	t.Setenv(relayVariable, "2")
	t.Setenv(pieceVariable, "1000")
	eachJob(t, "exchange", 3)
}

// edges are lengths where the bridge changes its ways.
var edges = []int{0, 1, 7, 8, 9, 511, 512, 513, 4087, 4088, 4089}

// part is what a process gives to another in a round: now nothing, now little, now much.
func part(from, to, round int) []byte {
	n := (from*7 + to*31 + round*round*97) % 9000 * ((from + to + round) % 3)
	if round%2 == 1 {
		n = edges[(from+2*to+round/2)%len(edges)]
	}
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(from + 3*to + 5*round + i)
	}
	return data
}

func exchangeRole(ctx context.Context, j *Job) error {
	for round := range 60 {
		out := make([][]byte, j.Size())
		for p := range out {
			out[p] = part(j.Rank(), p, round)
		}
		in, err := j.Exchange(ctx, out)
		if err != nil {
			return err
		}
		for p := range in {
			if want := part(p, j.Rank(), round); !bytes.Equal(in[p], want) {
				return fmt.Errorf("round %d, from %d: %d bytes, want %d", round, p, len(in[p]), len(want))
			}
		}
	}
	if n := j.Traffic().Exchanges; n != 60 {
		return fmt.Errorf("%d exchanges counted", n)
	}
	fmt.Println("fine")
	return nil
}

func TestJobExchangesMuch(t *testing.T) { eachJob(t, "large", 2) }

// largeRole gives tens of MB, and then what was received: parts may lie where the last ones were received.
func largeRole(ctx context.Context, j *Job) error {
	const n = 40 << 20
	out := make([][]byte, j.Size())
	for p := range out {
		out[p] = bytes.Repeat([]byte{byte(10*j.Rank() + p)}, n+p)
	}
	in, err := j.Exchange(ctx, out)
	if err != nil {
		return err
	}
	in, err = j.Exchange(ctx, in) // everything goes back
	if err != nil {
		return err
	}
	for p := range in {
		if !bytes.Equal(in[p], out[p]) {
			return fmt.Errorf("what came back from %d differs", p)
		}
	}
	fmt.Println("fine")
	return nil
}

func TestJobMail(t *testing.T) { eachJob(t, "mail", 1, 2, 4) }

// mailRole lets everyone ask process 0 for echoes while process 0 works.
func mailRole(ctx context.Context, j *Job) error {
	const each = 20
	if j.Rank() != 0 {
		for i := range each {
			data := part(j.Rank(), i, i)
			if err := j.Send(ctx, 0, data); err != nil {
				return err
			}
			if from, got, err := j.Receive(ctx); err != nil || from != 0 || !bytes.Equal(got, data) {
				return fmt.Errorf("echo %d: %d bytes from %d, %v", i, len(got), from, err)
			}
		}
		return nil
	}
	for range each * (j.Size() - 1) {
		from, data, err := j.Receive(ctx)
		if err != nil {
			return err
		}
		if err := j.Send(ctx, from, data); err != nil {
			return err
		}
	}
	if err := j.Send(ctx, 0, []byte("self")); err != nil {
		return err
	}
	if from, data, err := j.Receive(ctx); err != nil || from != 0 || string(data) != "self" {
		return fmt.Errorf("%q from %d, %v", data, from, err)
	}
	fmt.Println("fine")
	return nil
}

// TestJobFails wants a failure of one process to be reported once and to end all.
func TestJobFails(t *testing.T) {
	for _, l := range libraries(t) {
		t.Run(string(l.Kind), func(t *testing.T) {
			_, stderr, err := job(t, l, 3, "fail")
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 || strings.Count(stderr, "process 1: out of luck") != 1 {
				t.Errorf("%v, stderr:\n%s", err, stderr)
			}
		})
	}
}

func failRole(ctx context.Context, j *Job) error {
	if j.Rank() == 1 {
		return errors.New("out of luck")
	}
	_, err := j.Exchange(ctx, make([][]byte, j.Size()))
	return err
}

// vmstatVariable names a file in which the bridge looks how many processes the kernel has killed for want of memory.
const vmstatVariable = "SLACKLINE_TEST_VMSTAT"

// TestJobRunsOutOfMemory wants the job to end and to say which process had no memory, where, and what helps: a process
// that gets none, also process 0, whose own words are many, and one that the kernel kills.
func TestJobRunsOutOfMemory(t *testing.T) {
	host, _ := os.Hostname()
	for _, l := range libraries(t) {
		for _, tc := range []struct{ role, said string }{
			{"hungry 1", "process 1 on " + host + " ran out of memory, with .* MB; take more hosts, or fewer processes on each: runtime: out " +
				"of memory: "},
			{"hungry 0", "process 0 on " + host + " ran out of memory, with .* MB; take more hosts, or fewer processes on each\n"},
			{"greedy", `process 1 on ` + host + ` was killed by signal 9 \(Killed\), with .* MB: the memory of its host was used up; take more hosts, or fewer`},
		} {
			t.Run(string(l.Kind)+"/"+tc.role, func(t *testing.T) {
				t.Setenv(vmstatVariable, filepath.Join(t.TempDir(), "vmstat"))
				_, stderr, err := job(t, l, 3, tc.role)
				if err == nil || len(regexp.MustCompile("slackline: "+tc.said).FindAllString(stderr, -1)) != 1 {
					t.Errorf("%v, stderr:\n%s", err, stderr)
				}
			})
		}
	}
}

// greedyRole lets the kernel, as it seems, kill process 1.
func greedyRole(ctx context.Context, j *Job) error {
	if j.Rank() == 1 {
		if err := os.WriteFile(os.Getenv(vmstatVariable), []byte("nr_free_pages 1\noom_kill 1\n"), 0o666); err != nil {
			return err
		}
		if err := unix.Kill(os.Getpid(), unix.SIGKILL); err != nil {
			return err
		}
	}
	_, err := j.Exchange(ctx, make([][]byte, j.Size()))
	return err
}

// hungryRole lets a process ask for more memory than it may have.
func hungryRole(ctx context.Context, j *Job) error {
	if _, victim, _ := strings.Cut(os.Getenv(roleVariable), " "); victim == strconv.Itoa(j.Rank()) {
		const most, wanted = 4 << 30, 1 << 40
		if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
		fmt.Println(len(make([]byte, wanted)))
	}
	_, err := j.Exchange(ctx, make([][]byte, j.Size()))
	return err
}

// absentRole is the end of a process that has not joined its job.
const absentRole = "absent"

// TestJobWithoutAProcess: a process that never joins does not keep the others waiting for ever.
func TestJobWithoutAProcess(t *testing.T) {
	host, _ := os.Hostname()
	t.Setenv(startVariable, "4")
	for _, l := range libraries(t) {
		for absent := range 2 {
			role := fmt.Sprint(absentRole, " ", absent)
			t.Run(string(l.Kind)+"/"+role, func(t *testing.T) {
				t.Parallel()
				_, stderr, err := job(t, l, 2, role)
				want := fmt.Sprintf("slackline: process %d on %s has waited for 4 s for others to join the job", 1-absent, host)
				// Open MPI itself ends the job if the other process was quick enough to start MPI before.
				told := strings.Count(stderr, want) == 1 || l.Kind == OpenMPI && strings.Contains(stderr, "exiting improperly")
				if err == nil || !told {
					t.Errorf("%v, stderr:\n%s", err, stderr)
				}
			})
		}
	}
}
