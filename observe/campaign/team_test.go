package campaign

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"slackline/internal/cluster"
)

// TestMain lets the test be the supervisor of runs, too.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "supervise" {
		if err := Supervise(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestTeams(t *testing.T) {
	parse := func(text string) *Plan {
		p, err := parsePlan("plan.yaml", []byte("parameters: {p: 4}\n"+text))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	measured, computed := parse("command: ./solver {p}"), parse("command: slackline simulate ring --ranks {p}\nmetrics: [output]")
	timed := parse("command: slackline simulate ring --ranks {p}\nmetrics: [output, wall]")
	launched := parse("command: slackline simulate ring --ranks {p}\nmetrics: [output]\nlaunch: mpirun -n 2 {command}")
	batch := parse("command: slackline simulate ring --ranks {p}\nmetrics: [output]\nlaunch: sbatch")
	for i, tc := range []struct {
		hosts string
		jobs  int
		plan  *Plan
		want  string // process on host
	}{
		{"a", 0, measured, "0a"},
		{"a", 3, measured, "0a 0a 0a"},
		{"a", 0, computed, "0a"},
		{"a a a", 0, measured, "0a"},
		{"a b a b", 0, measured, "0a 1b"},
		{"a b a b a", 3, measured, "0a 1b 2a 3b 4a 1b"},
		{"a b a", 0, computed, "0a 1b 2a"},
		{"a b a", 1, computed, "0a 1b"},
		{"a b a", 0, timed, "0a 1b"},
		{"a b a", 0, launched, "0a 1b"},
		{"a b a", 0, batch, "0a"},
		{"a b a", 2, batch, "0a 0a"},
	} {
		var got []string
		team := newTeam(strings.Fields(tc.hosts), tc.jobs, tc.plan)
		for _, at := range team.places {
			got = append(got, fmt.Sprint(at.process)+at.host)
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("case %d: hosts %s, %d jobs: places %v, want %s", i, tc.hosts, tc.jobs, got, tc.want)
		}
	}
}

// crewOptions are the options of a process of a group on a host, whose runs know that host as TEST_HOST.
func crewOptions(t *testing.T, g cluster.Group, host string) Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Self: []string{self, "supervise"}, Name: "test", Group: g, Host: host, Environment: append(os.Environ(), "TEST_HOST="+host)}
}

// together carries out a plan by processes on hosts, of which any may be broken by the function that is given.
func together(t *testing.T, ctx context.Context, plan string, hosts []string, during func(members []*cluster.Member)) (*Summary, error) {
	t.Helper()
	members := cluster.Local(len(hosts))
	var all sync.WaitGroup
	for p := 1; p < len(hosts); p++ {
		all.Go(func() {
			err := Help(ctx, crewOptions(t, members[p], hosts[p]))
			if err != nil && !errors.Is(err, cluster.ErrBroken) && !errors.Is(err, context.Canceled) {
				t.Errorf("process %d: %v", p, err)
			}
		})
	}
	c, err := Open(plan, "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if during != nil {
		go during(members)
	}
	s, err := c.Run(ctx, crewOptions(t, members[0], hosts[0]))
	if err != nil {
		members[0].Break()
	}
	all.Wait()
	return s, err
}

func planFiles(t *testing.T, plan, program string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{"plan.yaml": plan, "program.sh": "#!/bin/sh\n" + program} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func linesOf(t *testing.T, path string) (list []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		list = append(list, s.Text())
	}
	return list
}

// TestHostsTakeOneRunAtATime: runs on different hosts are done at the same time, those on one host one after the other.
func TestHostsTakeOneRunAtATime(t *testing.T) {
	dir := planFiles(t, "parameters: {p: 1..8}\ncommand: ./program.sh {p}\nseed: 2\ntimeout: 1m\n", `
echo "begin $TEST_HOST $1" >> calls
touch seen.$TEST_HOST
until test -e seen.a -a -e seen.b -a -e seen.c; do sleep 0.01; done
echo "end $TEST_HOST $1" >> calls
`)
	s, err := together(t, context.Background(), filepath.Join(dir, "plan.yaml"), strings.Fields("a b a c b"), nil)
	if err != nil || s.Done != 8 || s.Executed != 8 {
		t.Fatalf("summary %+v, error %v", s, err)
	}
	working, ended := map[string]string{}, map[string]int{}
	for _, line := range linesOf(t, filepath.Join(dir, "calls")) {
		words := strings.Fields(line)
		what, host, run := words[0], words[1], words[2]
		if what == "begin" {
			if other := working[host]; other != "" {
				t.Errorf("on host %s run %s begins while %s is at work", host, run, other)
			}
			working[host] = run
			continue
		}
		working[host] = ""
		ended[run]++
	}
	for p := 1; p <= 8; p++ {
		if n := ended[fmt.Sprint(p)]; n != 1 {
			t.Errorf("run %d ended %d times", p, n)
		}
	}
}

// TestCrewReportsFailures: a run that fails on another process is tried again and reported as one of process 0 is.
func TestCrewReportsFailures(t *testing.T) {
	dir := planFiles(t, "parameters: {p: 1..6}\ncommand: ./program.sh {p}\nretries: 1\njobs: 2\n", `
echo $1 >> calls
test $1 -ne 3 || { echo "no luck" >&2; exit 7; }
`)
	s, err := together(t, context.Background(), filepath.Join(dir, "plan.yaml"), strings.Fields("a b"), nil)
	if err != nil || s.Done != 5 || len(s.Failed) != 1 {
		t.Fatalf("summary %+v, error %v", s, err)
	}
	if f := s.Failed[0]; f.Attempts != 2 || f.Last.Reason != "exit code 7: no luck" {
		t.Errorf("failed run %s: %d attempts, %s", f.Name, f.Attempts, f.Last.Reason)
	}
	if got := len(linesOf(t, filepath.Join(dir, "calls"))); got != 7 {
		t.Errorf("the program was called %d times, want 7", got)
	}
}

// TestCrewCannotStart: a program that is not there ends all.
func TestCrewCannotStart(t *testing.T) {
	dir := planFiles(t, "parameters: {p: 1..6}\ncommand: ./nothing {p}\n", "")
	_, err := together(t, context.Background(), filepath.Join(dir, "plan.yaml"), strings.Fields("a b b"), nil)
	if err == nil || !strings.Contains(err.Error(), "there is no program ./nothing") {
		t.Errorf("error = %v, want that there is no program", err)
	}
}

// TestBrokenCrewGoesOn breaks the group when some runs are finished: these are kept, and the next start does the rest.
func TestBrokenCrewGoesOn(t *testing.T) {
	dir := planFiles(t, "parameters: {p: 1..9}\ncommand: ./program.sh {p}\nseed: 1\ntimeout: 1m\n", `
test $1 -le 5 || test -e fast || { touch stuck.$1; sleep 60; }
echo $1 >> ended
`)
	plan := filepath.Join(dir, "plan.yaml")
	hosts := strings.Fields("a b c")
	_, err := together(t, context.Background(), plan, hosts, func(members []*cluster.Member) {
		for {
			if stuck, _ := filepath.Glob(filepath.Join(dir, "stuck.*")); len(stuck) == len(hosts) {
				members[1].Break()
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	if !errors.Is(err, cluster.ErrBroken) {
		t.Fatalf("error = %v, want that the group is broken", err)
	}
	finished := len(linesOf(t, filepath.Join(dir, "ended")))
	if finished == 0 {
		t.Fatal("no run is finished; choose another seed")
	}
	if err := os.WriteFile(filepath.Join(dir, "fast"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := together(t, context.Background(), plan, hosts[:2], nil)
	if err != nil || s.Done != 9 || s.Executed != 9-finished {
		t.Fatalf("summary %+v, error %v; %d of 9 runs were finished in the first start", s, err, finished)
	}
	count := map[string]int{}
	for _, run := range linesOf(t, filepath.Join(dir, "ended")) {
		count[run]++
	}
	for p := 1; p <= 9; p++ {
		if n := count[fmt.Sprint(p)]; n != 1 {
			t.Errorf("run %d ended %d times", p, n)
		}
	}
}
