//go:build linux

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"slackline/cli/clitest"
	"slackline/observe/mpi"
	"slackline/observe/mpi/mpitest"
)

// site is slackline on several hosts, with one of the MPIs.
type site struct {
	*mpitest.Hosts
	library *mpi.Library
	program string // slackline
}

// run runs a command on the first host and wants it to succeed.
func (s *site) run(t *testing.T, words ...string) (stdout, stderr string) {
	t.Helper()
	c := s.Command(t, s.library, words...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %v\n%s%s", words, err, &out, &errs)
	}
	return out.String(), errs.String()
}

// slackline runs it on the first host.
func (s *site) slackline(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	return s.run(t, append([]string{s.program}, args...)...)
}

// job runs it on all hosts.
func (s *site) job(t *testing.T, args ...string) string {
	t.Helper()
	stdout, _ := s.run(t, append(append(mpitest.Launch(s.library, 3), s.program), args...)...)
	return stdout
}

// build compiles a program of an MPI where all hosts see it.
func (s *site) build(t *testing.T, source string, flags ...string) string {
	t.Helper()
	return s.Share(t, mpitest.Build(t, s.library, source, flags...))
}

// TestHosts does on three hosts, with clocks 1000 s apart and a network between them, what is done on several hosts.
func TestHosts(t *testing.T) {
	self, err := exec.LookPath("slackline") // which TestMain provides
	if err != nil {
		t.Fatal(err)
	}
	mpitest.Each(t, func(t *testing.T, l *mpi.Library) {
		h := mpitest.NewHosts(t)
		s := &site{h, l, h.Share(t, self)}
		t.Run("CPUs", s.cpusOfHosts)
		t.Run("links", s.linksOfHosts)
		t.Run("record", s.recordOnHosts)
		if l.Kind == mpi.MPICH {
			t.Run("hang", s.hangOnHosts)
		}
		t.Run("jobs", s.jobsOnHosts)
		t.Run("inject", s.injectOnHosts)
		t.Run("clocks", s.clocksOnHosts)
		t.Run("network", s.networkOnHosts)
	})
}

// hangOnHosts wants the watchdog, which runs where the launcher was started, to see the ranks of all hosts.
func (s *site) hangOnHosts(t *testing.T) {
	program := s.build(t, filepath.Join("hang", "testdata", "cases.c"), "-g", "-O1")
	args := append([]string{s.program, "record", "--quiet", "--watchdog", "1s", "--out", "hang.slt", "--"}, mpitest.Launch(s.library, 3)...)
	c := s.Command(t, s.library, append(args, program, "cyclic_sends", "5")...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	const says = "rank 2 is in MPI_Send and waits for rank 0 to receive"
	if err := c.Run(); err == nil || !strings.Contains(strings.Join(strings.Fields(stderr.String()), " "), says) {
		t.Errorf("got %v, want the end by a signal, and %q in\n%s", err, says, &stderr)
	}
}

// warned reports whether there is a warning of something else than that the machine is busy.
func warned(stderr string) bool {
	for line := range strings.Lines(stderr) {
		if strings.Contains(line, "warning") && !strings.Contains(line, "without a CPU") && !strings.Contains(line, "--yield") {
			return true
		}
	}
	return false
}

// cpusOfHosts wants every rank to have all CPUs: the hosts are one machine, and a launcher that binds the first rank of each host to
// its first CPU puts all of them on the same.
func (s *site) cpusOfHosts(t *testing.T) {
	show := []string{"grep", "Cpus_allowed_list", "/proc/self/status"}
	one, _ := s.run(t, show...)
	all, _ := s.run(t, append(mpitest.Launch(s.library, 3), show...)...)
	if want := strings.Repeat(one, 3); all != want {
		t.Errorf("CPUs of the ranks:\n%swant\n%s", all, want)
	}
}

// sent is how many bytes the network interface of each host has sent.
func (s *site) sent(t *testing.T) (bytes [3]int64) {
	t.Helper()
	for i := range bytes {
		host := fmt.Sprint("node", i+1)
		on := exec.Command(filepath.Join(s.Dir, "on"), host, "grep", "eth0", "/proc/net/dev")
		on.Dir = s.Dir // which all hosts have
		out, err := on.Output()
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(strings.ReplaceAll(string(out), ":", " ")) // name, 8 counters of what was received, and of what was sent
		if bytes[i], err = strconv.ParseInt(words[9], 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	return bytes
}

// linksOfHosts wants what ranks on different hosts exchange to go over the network between them, which the interfaces count: messages
// of a program, and what processes of a job exchange. The memory of the machine, which all hosts have in common, must not be a way.
func (s *site) linksOfHosts(t *testing.T) {
	const size, rounds = 1 << 20, 4
	program := s.build(t, "testdata/hosts/exchange.c", "-O1")
	exchange := append(mpitest.Launch(s.library, 3), program, strconv.Itoa(size), strconv.Itoa(rounds))
	job := append(mpitest.Launch(s.library, 3), s.program, "simulate", "dissemination", "--ranks", "2^14", "--machine", "chic", "--noise",
		"1000Hz:100us", "--share", "always", "--format", "json")
	for _, tc := range []struct {
		name    string
		command []string
	}{
		{"program", exchange},
		{"job", job},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := s.sent(t)
			stdout, _ := s.run(t, tc.command...)
			after := s.sent(t)
			want := int64(size * rounds) // of each host
			if tc.name == "job" {
				var result struct {
					Provenance struct{ Cluster struct{ Bytes int64 } }
				}
				if err := json.Unmarshal([]byte(stdout), &result); err != nil || result.Provenance.Cluster.Bytes < 1<<16 {
					t.Fatalf("%v: %d bytes", err, result.Provenance.Cluster.Bytes)
				}
				want = result.Provenance.Cluster.Bytes / 6 // each sends about a third of what all do
			}
			for i := range before {
				if got := after[i] - before[i]; got < want {
					t.Errorf("node%d has sent %d bytes, want at least %d", i+1, got, want)
				}
			}
		})
	}
}

// recordOnHosts wants the waits of a recorded run to be those that the program itself saw, without a warning. Load puts many
// milliseconds between the program's look at the clock and the call, and into the messages by which clocks are compared: one of
// five runs must agree.
func (s *site) recordOnHosts(t *testing.T) {
	program := s.build(t, "testdata/waiting.c", "-O1")
	for try := 1; ; try++ {
		wrong := s.recordWaiting(t, program, filepath.Join(s.Dir, fmt.Sprintf("waiting%d.slt", try)))
		if wrong == "" {
			return
		}
		if t.Log(wrong); try == 5 {
			t.Fatal("no run agrees with what the program saw")
		}
	}
}

// recordWaiting records the program, and returns what differs from what it saw.
func (s *site) recordWaiting(t *testing.T, program, trace string) (wrong string) {
	t.Helper()
	stdout, stderr := s.slackline(t, append([]string{"record", "--quiet", "--out", trace, "--"},
		append(mpitest.Launch(s.library, 3), program)...)...)
	var late, barrier float64
	if _, err := fmt.Sscan(stdout, &late, &barrier); err != nil {
		t.Fatalf("%v in %q", err, stdout)
	}
	if warned(stderr) {
		wrong += "record: " + stderr
	}
	code, text, stderr := clitest.Run("", "waits", trace, "--format", "json")
	if code != 0 {
		t.Fatalf("waits: exit code = %d, %s", code, stderr)
	}
	if warned(stderr) {
		wrong += "waits: " + stderr
	}
	var result struct {
		Waits []struct {
			Metric  string
			Seconds float64
		}
	}
	if err := json.Unmarshal([]byte(text), &result); err != nil {
		t.Fatal(err)
	}
	sum := map[string]float64{}
	for _, w := range result.Waits {
		sum[w.Metric] += w.Seconds
	}
	for metric, want := range map[string]float64{"late_sender": late / 1e9, "barrier": barrier / 1e9} {
		if got := sum[metric]; math.Abs(got-want) > 0.1*want+0.02 {
			wrong += fmt.Sprintf("%s: %.3f s, the program saw %.3f s\n", metric, got, want)
		}
	}
	return wrong
}

// jobsOnHosts wants jobs over all hosts to give what one process gives.
func (s *site) jobsOnHosts(t *testing.T) {
	trace := filepath.Join(s.Dir, "late.slt")
	if err := os.CopyFS(trace, os.DirFS("../examples/late/late.slt")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"simulate", "halo2d", "--ranks", "16", "--machine", "chic", "--replicas", "20", "--noise", "1000Hz:100us", "--seed", "3"},
		{"simulate", "halo2d", "--ranks", "16", "--machine", "chic"},
		{"waits", trace},
		{"tolerance", trace, "--machine", "chic", "--noise", "1000Hz:100us", "--replicas", "6"},
	} {
		t.Run(args[0], func(t *testing.T) {
			args := append(args, "--format", "json")
			if args[0] != "tolerance" {
				args = append(args, "--threads", "1") // which is in the result
			}
			code, want, stderr := clitest.Run("", args...)
			if code != 0 {
				t.Fatalf("exit code = %d, %s", code, stderr)
			}
			if got, want := clitest.WithoutProvenance(t, s.job(t, args...)), clitest.WithoutProvenance(t, want); got != want {
				t.Errorf("result\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// injectOnHosts wants every message between hosts to be late by the latency, each way, with clocks that are 2000 s apart and
// run apart by 300 us in a second.
func (s *site) injectOnHosts(t *testing.T) {
	program := s.build(t, "../observe/inject/testdata/oneway.c", "-O1", "-rdynamic", "-ldl")
	const latency, early, drift = 10e6, 300e3, "300" // ns, ns, ppm
	for _, bytes := range []int{8, 1 << 20} {
		t.Run(strconv.Itoa(bytes), func(t *testing.T) {
			command := append(mpitest.Launch(s.library, 3), program, drift, "8", "400000000", strconv.Itoa(bytes))
			out := filepath.Join(s.Dir, "report.json")
			flags := []string{"inject", "--quiet", "--latency", "10ms", "--sleep", "on", "--format", "json", "--out", out}
			if bytes > 1<<16 {
				flags = append(flags, "--base", "0") // on a busy machine it is many milliseconds
			}
			stdout, stderr := s.slackline(t, slices.Concat(flags, []string{"--"}, command)...)
			if strings.Contains(stderr, "clocks") {
				t.Error(stderr)
			}
			want := float64(latency)
			if bytes > 1<<16 { // with a handshake
				want *= 3
			}
			least := [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)}
			for line := range strings.Lines(stdout) {
				var took [3]float64
				if _, err := fmt.Sscan(line, &took[0], &took[1], &took[2]); err != nil {
					t.Fatalf("%v in %q", err, line)
				}
				for i, ns := range took {
					least[i] = min(least[i], ns)
				}
			}
			// Load makes messages later, never earlier.
			for i, way := range []string{"there", "back"} {
				if least[i] < want-early || least[i] > want+latency {
					t.Errorf("the fastest message %s took %.2f ms, want %.0f ms", way, least[i]/1e6, want/1e6)
				}
			}
			if bytes == 8 && least[2] > latency {
				t.Errorf("a late receiver waited for %.2f ms", least[2]/1e6)
			}
		})
	}
}

// clocksOnHosts wants offsets that are within the bounds that were proven, whatever the load: hosts are 1000 s apart to the nanosecond.
func (s *site) clocksOnHosts(t *testing.T) {
	stdout, stderr := s.slackline(t, "measure", "clocks", "--mpi", s.library.Compiler, "--ranks", "3", "--moments", "3", "--duration", "200ms",
		"--wait", "100ms", "--round-trips", "100", "--patience", "10", "--max-pings", "40", "--format", "json")
	if strings.Contains(stderr, "true error") {
		t.Error(stderr)
	}
	var result struct {
		OneClock bool `json:"one_clock"`
		Clocks   []struct {
			Rank   int
			Offset float64 `json:"offset_ns"`
			Models []struct {
				Model string
				Bound *float64 `json:"bound_ns"`
				True  *float64 `json:"error_ns"`
			}
		}
		Remarks []string
	}
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatal(err)
	}
	if result.OneClock || len(result.Clocks) != 2 || len(result.Remarks) > 0 {
		t.Errorf("one clock: %v, of %d ranks, remarks %q", result.OneClock, len(result.Clocks), result.Remarks)
	}
	for _, c := range result.Clocks {
		for _, m := range c.Models {
			if m.True != nil {
				t.Errorf("rank %d: the true error of %s is reported as %.0f ns, but it is unknown", c.Rank, m.Model, *m.True)
			}
			if off := math.Abs(c.Offset - 1000e9*float64(c.Rank)); m.Model == "envelope" {
				if m.Bound == nil {
					t.Errorf("rank %d: no bound is proven", c.Rank)
				} else if off > *m.Bound+1 {
					t.Errorf("rank %d: the offset of %.0f ns is wrong by %.0f ns, bound %.0f ns", c.Rank, c.Offset, off, *m.Bound)
				}
			}
		}
	}
}

// networkOnHosts wants parameters of the network between hosts.
func (s *site) networkOnHosts(t *testing.T) {
	file := filepath.Join(s.Dir, "machine.yaml")
	c := s.Command(t, s.library, s.program, "measure", "network", "--mpi", s.library.Compiler, "--max-size", "1KiB", "--repeat", "20",
		"--rounds", "3",
		"--machine-file", file, "--quiet")
	out, err := c.CombinedOutput()
	busy := strings.Contains(string(out), "makes no sense") || strings.Contains(string(out), "is inconclusive")
	if err != nil && busy { // so it is refused on a busy machine, by the places where it was measured
		t.Logf("%s", out)
		return
	}
	if err != nil || !strings.Contains(string(out), "node1") || !strings.Contains(string(out), "node2") {
		t.Fatalf("%v: %s", err, out)
	}
	code, _, stderr := clitest.Run("", "simulate", "ring", "--ranks", "4", "--machine", file, "--quiet")
	if code != 0 {
		t.Errorf("simulate: exit code = %d, %s", code, stderr)
	}
}
