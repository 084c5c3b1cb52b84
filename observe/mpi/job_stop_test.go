//go:build linux

package mpi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// silenceVariable makes the bridge impatient with those that are stopped or silent.
const silenceVariable = "SLACKLINE_TEST_SILENCE"

// stopRole stops a part of a process, or all of it, as on a host that has gone; the others wait for it.
func stopRole(ctx context.Context, j *Job) error {
	var part string
	var rank int
	if _, err := fmt.Sscanf(os.Getenv(roleVariable), "stop %s %d", &part, &rank); err != nil {
		return err
	}
	if j.Rank() != rank {
		_, err := j.Exchange(ctx, make([][]byte, j.Size()))
		return err
	}
	bridge := os.Getppid()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", bridge))
	if err != nil {
		return err
	}
	behind := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:])) // the name: state, parent, ...
	guard, err := strconv.Atoi(behind[1])
	if err != nil {
		return err
	}
	if part == "writer" { // in the middle of a message
		h := headOf(orderSend, 0, 1<<20)
		if _, err := syscall.Write(fdOrders, append(h[:], 1, 2, 3)); err != nil {
			return err
		}
	}
	for _, pid := range map[string][]int{"child": {os.Getpid()}, "writer": {os.Getpid()}, "bridge": {bridge},
		"all": {guard, bridge, os.Getpid()}}[part] {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			return err
		}
		if pid == os.Getpid() { // this thread runs on until the signal has reached the one that takes it
			time.Sleep(time.Minute)
			return errors.New("I was not stopped")
		}
	}
	_, err = j.Exchange(ctx, make([][]byte, j.Size()))
	return err
}

// TestStoppedProcess wants a job to end, with a message, of which a process is stopped and does not go on.
func TestStoppedProcess(t *testing.T) {
	host, _ := os.Hostname()
	t.Setenv(silenceVariable, "-DSTOP_LIMIT=3 -DSILENCE_LIMIT=8")
	for _, l := range libraries(t) {
		for role, said := range map[string]string{
			"stop child 1":  "process 1 on " + host + " was stopped by signal 19 (Stopped (signal)) and has not gone on for 3 s",
			"stop child 0":  "process 0 on " + host + " was stopped by signal 19 (Stopped (signal)) and has not gone on for 3 s",
			"stop writer 1": "process 1 on " + host + " was stopped by signal 19 (Stopped (signal)) and has not gone on for 3 s",
			"stop bridge 1": "process 1 on " + host + " was stopped by signal 19 (Stopped (signal)) and has not gone on for 3 s",
			"stop all 1":    "process 1 on " + host + " has not answered for 8 s: it is stopped, or its host or the connection to it is gone",
			"stop all 0":    "process 0 on " + host + " has not answered for 8 s: it is stopped, or its host or the connection to it is gone",
		} {
			t.Run(string(l.Kind)+"/"+role, func(t *testing.T) {
				t.Parallel() // they wait most of the time
				_, stderr, err := job(t, l, 3, role)
				if err == nil || strings.Count(stderr, "slackline: "+said) != 1 {
					t.Errorf("%v, stderr:\n%s\nwant %q once", err, stderr, said)
				}
			})
		}
	}
}

// slowRole lets a process do something else for longer than one may be silent, and then exchanges.
func slowRole(ctx context.Context, j *Job) error {
	if j.Rank() == 1 {
		time.Sleep(12 * time.Second)
	}
	if _, err := j.Exchange(ctx, make([][]byte, j.Size())); err != nil {
		return err
	}
	if j.Rank() == 0 {
		fmt.Println("fine")
	}
	return nil
}

// TestSlowProcess: one that only works for long is not taken for one that is stopped.
func TestSlowProcess(t *testing.T) {
	t.Setenv(silenceVariable, "-DSTOP_LIMIT=3 -DSILENCE_LIMIT=8")
	eachJob(t, "slow", 3)
}

// TestLeavesNoMessages: all that processes signal each other is received before they end. MPICH over UCX warns of the rest, on the
// standard output, among the results.
func TestLeavesNoMessages(t *testing.T) {
	t.Setenv(silenceVariable, "-DBEAT=1")
	for range 3 {
		eachJob(t, "exchange", 2, 4)
	}
}
