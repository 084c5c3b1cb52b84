package scenario

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"slackline/analyze/simulate"
	"slackline/cli/input"
	"slackline/model/schedule"
)

func TestCheckMemory(t *testing.T) {
	gib := func() (int64, bool) { return 1 << 30, true }
	unknown := func() (int64, bool) { return 0, false }
	if err := CheckMemory(1<<20, 1, gib); err != nil {
		t.Errorf("a million ranks in 1 GiB: %v", err)
	}
	if err := CheckMemory(1<<27, 1, unknown); err != nil {
		t.Errorf("unknown memory: %v", err)
	}
	err := CheckMemory(1<<27, 1, gib)
	if want := "134,217,728 ranks need at least 20.0 GiB of memory, but only 1.0 GiB are free"; err == nil || err.Error() != want {
		t.Errorf("checkMemory = %v, want %s", err, want)
	}
	// Each of several processes on a host has all ranks.
	if err := CheckMemory(4<<20, 1, gib); err != nil {
		t.Errorf("4 million ranks in 1 GiB: %v", err)
	}
	err = CheckMemory(4<<20, 2, gib)
	if want := "4,194,304 ranks in each of 2 processes on a host need at least 1.2 GiB of memory, but only 1.0 GiB are free"; err == nil ||
		err.Error() != want {
		t.Errorf("checkMemory = %v, want %s", err, want)
	}
}

// TestNamed wants errors to say which input they are about, once.
func TestNamed(t *testing.T) {
	in := &input.Input{Name: "folder"}
	for _, tc := range []struct {
		err   error
		named bool
	}{
		{&schedule.UnmatchedError{Sends: 1, Name: "b1"}, true},
		{&schedule.UnmatchedError{Sends: 1, Name: "b1", File: "a.goal"}, false},
		{fmt.Errorf("ranks %w", simulate.ErrNoTimeline), true},
		{errors.New("interrupted"), false},
	} {
		got := Named(in, tc.err)
		if !errors.Is(got, tc.err) || strings.HasPrefix(got.Error(), "folder: ") != tc.named {
			t.Errorf("%v: %v, want the name: %v", tc.err, got, tc.named)
		}
	}
}
