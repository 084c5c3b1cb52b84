package measure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/observe/measure"
	"slackline/observe/mpi/mpitest"
)

// TestLibrary: the flag chooses the MPI, and without it the variable.
func TestLibrary(t *testing.T) {
	for _, l := range mpitest.Libraries(t) {
		t.Setenv(env.VariableOf("mpi"), string(l.Kind))
		if got, err := (&jobFlags{}).library(t.Context()); err != nil || got.Kind != l.Kind {
			t.Errorf("%s=%s chooses %v, %v", env.VariableOf("mpi"), l.Kind, got, err)
		}
		t.Setenv(env.VariableOf("mpi"), "nompi")
		if got, err := (&jobFlags{mpi: l.Compiler}).library(t.Context()); err != nil || got.Kind != l.Kind {
			t.Errorf("--mpi %s chooses %v, %v", l.Compiler, got, err)
		}
	}
	if _, err := (&jobFlags{}).library(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "SLACKLINE_MPI: there is no such MPI") {
		t.Errorf("a variable that names no MPI: %v", err)
	}
}

func TestInjections(t *testing.T) {
	var o measure.ClockOptions
	seed, err := parseInjections("offset=5s,drift=100,seed=7", 8, &o)
	if err != nil || seed == nil || *seed != 7 || len(o.Inject) != 8 {
		t.Fatalf("%v, %v, %v", seed, o.Inject, err)
	}
	for _, i := range o.Inject {
		if math.Abs(i.Offset.Seconds()) > 5 || math.Abs(i.Drift) > 100e-6 || i.Offset == 0 || i.Drift == 0 {
			t.Errorf("drawn: %+v", i)
		}
	}
	seed, err = parseInjections("drift=0/-100/42.5ppm,offset=0s/2s/-1.5s", 3, &o)
	if err != nil || seed != nil || o.Inject[2].Offset.Seconds() != -1.5 || math.Abs(o.Inject[1].Drift+100e-6) > 1e-15 {
		t.Errorf("%v, %v, %v", seed, o.Inject, err)
	}
	for _, bad := range []string{"x", "offset=", "seed=1", "seed=x,drift=1", "offset=1s/2s", "drift=NaN", "offset=5", "drift=1/2/x"} {
		if _, err := parseInjections(bad, 3, &o); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestMomentsOf(t *testing.T) {
	for _, tc := range []struct {
		duration, every time.Duration
		want            int
	}{
		{14 * time.Hour, time.Second, 50401}, {10 * time.Second, 3 * time.Second, 4}, {time.Second, 2 * time.Second, 1},
		{time.Second, 0, 0}, {time.Second, -1, 0}, {math.MaxInt64, 1, math.MaxInt32},
	} {
		if got := momentsOf(tc.duration, tc.every); got != tc.want {
			t.Errorf("momentsOf(%s, %s) = %d, want %d", tc.duration, tc.every, got, tc.want)
		}
	}
}

// Up to three hosts are named, in the order of the ranks; more are counted.
func TestHostsText(t *testing.T) {
	for _, tc := range []struct {
		hosts, want string
	}{{"a", "a"}, {"a a", "a"}, {"b a b", "b, a"}, {"a b c", "a, b, c"}, {"a b c d a", "4 hosts"}, {"", ""}} {
		if got := hostsText(strings.Fields(tc.hosts)); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.hosts, got, tc.want)
		}
	}
}

func TestParseRanks(t *testing.T) {
	for text, want := range map[string]string{"2": "[2]", "8,2,4,2": "[2 4 8]", "2^1..2^3": "[2 4 8]", "3..5": "[3 4 5]", "x": "[]",
		"": "[]"} {
		list, err := parseRanks(text)
		if got := fmt.Sprint(list); got != want || (err == nil) != (want != "[]") {
			t.Errorf("%q: %s, error %v; want %s", text, got, err, want)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "--ranks: ") {
			t.Errorf("%q: %v does not name the flag", text, err)
		}
	}
}

// An interrupt is why the rest failed; a cause that makes a result inconclusive is reported with exit code 4.
func TestEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	fault := errors.New("connection lost")
	if err := interruptedOr(ctx, fault); err != fault {
		t.Errorf("%v, want %v", err, fault)
	}
	cancel()
	if err := interruptedOr(ctx, fault); err != context.Canceled {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	var said bytes.Buffer
	a := env.New(nil, nil, &bytes.Buffer{}, &said)
	if err := inconclusiveIf(a, fault, io.EOF); err != io.EOF || said.Len() > 0 {
		t.Errorf("another error: %v, %q", err, &said)
	}
	err := inconclusiveIf(a, fault, fmt.Errorf("round 3: %w", fault))
	if err != exit.Verdict(exit.Inconclusive) || said.String() != "slackline: round 3: connection lost\n" {
		t.Errorf("%v, %q; want inconclusive and the reason", err, &said)
	}
}
